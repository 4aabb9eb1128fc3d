//! `passdock reduce`: a model shrunk to the ops on which a pipeline still goes wrong.

use std::time::Duration;

use passdock::judge::{Judge, Verdict};
use passdock::model_file::{Format, Output, WriteOptions, is_standard};
use passdock::{ErrorKind, Module, PassError};
use passdock_tools::reduce::{self, ReduceOptions, ReduceStep, Reduction};
use serde::Serialize;

use super::worker;
use crate::args::search::ReduceArgs;
use crate::check_command::CheckCommand;
use crate::progress::Progress;
use crate::{request, show};

/// The output of `--json`.
#[derive(Serialize)]
struct ReduceOutput<'r> {
    #[serde(flatten)]
    reduction: Option<&'r Reduction>,
    output: Option<String>,
}

pub(crate) fn reduce(args: ReduceArgs) -> u8 {
    let (json, output) = (args.search.json, args.output.clone());
    let shrunk = shrink(args);
    let (reduction, error) = (shrunk.as_ref().ok(), shrunk.as_ref().err());
    let status = error.map_or(0, show::fail);
    let output = output.map(|path| path.display().to_string());
    if json {
        let output = output.filter(|_| reduction.is_some());
        show::print_answer(status, ReduceOutput { reduction, output }, error);
    } else if let Some(reduction) = reduction {
        let text = render(reduction, output.as_deref());
        show::print_beside(&text, output.is_some_and(is_standard));
    }
    status
}

fn shrink(args: ReduceArgs) -> Result<Reduction, PassError> {
    let output = args.output.as_deref();
    output.map(Format::of).transpose()?;
    let to_stdout = output.is_some_and(is_standard);
    let json = args.search.json;
    if json && to_stdout {
        let message = "With --json standard output is the report's; give `-o` a file.";
        return Err(PassError::new(ErrorKind::Usage, message));
    }
    let process = args.search.process.clone();
    let request = request::of_search("reduce", args.search)?;
    let checked = args.check.check.is_some();
    let command = checked.then(|| CheckCommand::new(&args.check, &request.model));
    let mut command = command.transpose()?;
    let progress = Progress::start(&format!("reading {}", request.model.display()));
    let place = output.map(Output::new).transpose()?;
    let module = request.read_model()?;
    if let Some(place) = &place {
        place.check_source(&module)?;
    }
    progress.say("running the pipeline");
    let to_stderr = json || to_stdout;
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
        let check = |before: &Module, after: &Module| -> Result<Verdict, PassError> {
            command.check(after, before)
        };
        Box::new(check) as Box<Judge<'_>>
    });
    let reduction = worker::trials(&request, &process, |trials| {
        reduce::reduce(trials, &module, check, options, &mut note)
    });
    drop(progress);
    let reduction = reduction.map_err(|error| match &command {
        Some(command) => command.with_said(error),
        None => error,
    })?;
    if let Some(place) = place {
        let options = WriteOptions::default();
        let output = place.stage(&reduction.module, options, None, &mut |said| {
            show::diagnostic(&said)
        })?;
        show::place(Some(output));
    }
    Ok(reduction)
}

fn render(reduction: &Reduction, output: Option<&str>) -> String {
    let place = show::written_to(output);
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
