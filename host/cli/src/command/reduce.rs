//! `passdock reduce`: reduces a model to the ops for which a pipeline still fails.

use passdock::model_file::{Format, Output, WriteOptions, is_standard};
use passdock::oracle::{Oracle, Verdict};
use passdock::{Module, PassError};
use passdock_tools::reduce::{self, ReduceOptions, ReduceStep, Reduction};
use serde::Serialize;

use super::worker;
use crate::args::search::ReduceArgs;
use crate::progress::Progress;
use crate::test_command::TestCommand;
use crate::{request, show};

/// The reduced model, and the path it was written to.
#[derive(Serialize)]
struct Reduced {
    #[serde(flatten)]
    reduction: Reduction,
    output: Option<String>,
}

pub(crate) fn reduce(args: ReduceArgs) -> Result<u8, PassError> {
    let json = args.search.json;
    show::print_result(&shrink(args)?, json, |reduced| {
        let to_stderr = reduced.output.as_ref().is_some_and(is_standard);
        show::print_summary(&render(reduced), to_stderr);
    });
    Ok(0)
}

fn shrink(args: ReduceArgs) -> Result<Reduced, PassError> {
    let output = args.output.as_deref();
    output.map(Format::from_path).transpose()?;
    let to_stdout = output.is_some_and(is_standard);
    let json = args.search.json;
    request::check_output(output, json)?;
    let process = args.search.process.clone();
    let request = request::from_search_args("reduce", args.search)?;
    let checked = args.test.test.is_some();
    let command = checked.then(|| TestCommand::new(&args.test, &request.model));
    let mut command = command.transpose()?;
    let progress = Progress::start(&format!("reading {}", request.model.display()));
    let destination = output.map(Output::new).transpose()?;
    let module = request.read_model()?;
    if let Some(destination) = &destination {
        destination.check_source(&module)?;
    }
    progress.update("running the pipeline");
    let to_stderr = json || to_stdout;
    let mut note = |step: &ReduceStep| {
        progress.update(&format!("{} ops, {} runs", step.ops, step.runs));
        if !to_stderr {
            let ops = show::counted(step.ops as u64, "op");
            progress.line(&show::line(&format!("{ops:>12}  {}", step.change)));
        }
    };
    let options = ReduceOptions {
        max_runs: args.max_runs,
        max_time: args.max_time,
    };
    let check = command.as_mut().map(|command| {
        let check = |before: &Module, after: &Module| -> Result<Verdict, PassError> {
            command.check(after, before)
        };
        Box::new(check) as Box<Oracle<'_>>
    });
    let reduction = worker::trials(&request, &process, |trials| {
        reduce::reduce(trials, &module, check, options, &mut note)
    });
    drop(progress);
    let reduction = reduction.map_err(|error| match &command {
        Some(command) => command.with_output(error),
        None => error,
    })?;
    if let Some(destination) = destination {
        show::write_model(destination, &reduction.module, WriteOptions::default())?;
    }
    Ok(Reduced {
        reduction,
        output: output.map(|path| path.display().to_string()),
    })
}

fn render(Reduced { reduction, output }: &Reduced) -> String {
    let destination = show::written_to(output.as_deref());
    let still = match &reduction.failure {
        Some(failure) => show::line(&format!("still {failure}")),
        None => "the test still passes before the pipeline and fails after it\n".to_owned(),
    };
    let end = match reduction.minimal {
        true => "",
        false => "; not minimal: raise --max-runs or --max-time",
    };
    let result = format!(
        "{} → {} ops after {} of the pipeline{end}, {destination}",
        reduction.ops_before,
        reduction.ops_after,
        show::counted(reduction.runs as u64, "run"),
    );
    still + &show::line(&result)
}
