//! `passdock reduce`: a model shrunk to the ops on which a pipeline still goes wrong.

use std::path::Path;
use std::time::Duration;

use passdock::judge::{Judge, Verdict};
use passdock::model_file::{self, Format, Output, ReadOptions, WriteOptions, is_standard};
use passdock::pipeline::Request;
use passdock::{ErrorKind, ModuleRef, PassError};
use passdock_tools::reduce::{self, ReduceOptions, ReduceStep, Reduction};
use serde::Serialize;

use crate::args::ReduceArgs;
use crate::check_command::CheckCommand;
use crate::plugins;
use crate::progress::Progress;
use crate::show;

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    ok: bool,
    #[serde(flatten)]
    reduction: Option<Reduction>,
    output: Option<String>,
    exit_status: u8,
    diagnostics: Vec<passdock::Diagnostic>,
}

pub(crate) fn reduce(args: ReduceArgs) -> u8 {
    let (json, output) = (args.json, args.output.clone());
    let result = shrink(args);
    let mut status = 0;
    let mut diagnostics = Vec::new();
    if let Err(error) = &result {
        status = super::fail(error);
        diagnostics.push(error.to_diagnostic());
    }
    let reduction = result.ok();
    if json {
        show::print_json(&Report {
            ok: status == 0,
            output: (output.filter(|_| reduction.is_some())).map(|path| path.display().to_string()),
            reduction,
            exit_status: status,
            diagnostics,
        });
        return status;
    }
    if let Some(reduction) = &reduction {
        let text = render(reduction, output.as_deref());
        match output.is_some_and(is_standard) {
            true => show::print_error(&text),
            false => show::print(&text),
        }
    }
    status
}

fn shrink(args: ReduceArgs) -> Result<Reduction, PassError> {
    let output = args.output.as_deref();
    output.map(Format::of).transpose()?;
    let to_stdout = output.is_some_and(is_standard);
    if args.json && to_stdout {
        let message = "With --json standard output is the report's; give `-o` a file.";
        return Err(PassError::new(ErrorKind::Usage, message));
    }
    let has_passes = !args.context.passes.is_empty();
    let (pipeline, model) = super::inputs(&args.inputs, "reduce", has_passes)?;
    let mut command = match &args.check.check {
        Some(_) => Some(CheckCommand::new(&args.check, &model)?),
        None => None,
    };
    let request = Request {
        model: model.clone(),
        jobs: args.jobs,
        ..super::request(pipeline.as_deref(), args.context, args.plugins)?
    };
    let progress = Progress::start(&format!("reading {}", model.display()));
    let reading = ReadOptions {
        outside_data: args.allow_outside_data,
    };
    let place = output.map(Output::new).transpose()?;
    let module = model_file::read_with(&model, reading)?;
    place
        .iter()
        .try_for_each(|place| place.check_source(&module))?;
    progress.say("running the pipeline");
    let to_stderr = args.json || to_stdout;
    let mut note = |step: &ReduceStep| {
        progress.say(&format!("{} ops, {} runs", step.ops, step.checks));
        if !to_stderr {
            let ops = show::count_of(step.ops as u64, "op");
            progress.line(&format!("{ops:>12}  {}\n", step.change));
        }
    };
    let options = ReduceOptions {
        max_checks: args.max_checks,
        max_time: args.max_time.map(Duration::from_secs_f64),
    };
    let check = command.as_mut().map(|command| {
        let check = |before: &ModuleRef, after: &ModuleRef| -> Result<Verdict, PassError> {
            command.check(after, before)
        };
        Box::new(check) as Box<Judge<'_>>
    });
    let reduction = reduce::reduce(
        &plugins::registry(),
        &request,
        &module,
        check,
        options,
        &mut note,
    );
    drop(progress);
    let reduction = reduction.map_err(|error| match &command {
        Some(command) => command.with_said(error),
        None => error,
    })?;
    if let (Some(place), Some(output)) = (place, output) {
        for warning in model_file::remarks(&reduction.module, output) {
            show::diagnostic(&warning);
        }
        let gone = place.write(&reduction.module, WriteOptions::default())?;
        model_file::removed(&gone).for_each(|note| show::diagnostic(&note));
    }
    Ok(reduction)
}

fn render(reduction: &Reduction, output: Option<&Path>) -> String {
    let place = match output {
        Some(path) if is_standard(path) => "written to standard output".to_owned(),
        Some(path) => format!("written to {}", path.display()),
        None => "not written (no -o)".to_owned(),
    };
    let still = match &reduction.failure {
        Some(failure) => format!("still {failure}\n"),
        None => "still good before the pipeline and bad after it\n".to_owned(),
    };
    let end = match reduction.minimal {
        true => "",
        false => "; more could go: raise --max-checks or --max-time",
    };
    format!(
        "{still}{} → {} ops after {} of the pipeline{end}, {place}\n",
        reduction.ops_before,
        reduction.ops_after,
        show::count_of(reduction.checks as u64, "run"),
    )
}
