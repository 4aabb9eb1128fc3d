//! The subcommands, one per file. Each returns the exit status, or the error that ended it.

pub(crate) mod batch;
mod bisect;
mod blame;
mod check;
mod convert;
mod explain;
mod extract;
mod inspect;
mod list;
mod plugin;
mod reduce;
mod replay;
mod run;
mod schema;
mod shell;
mod stats;
mod trust;
mod two_models;
pub(crate) mod usage_error;
pub(crate) mod worker;

use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::time::Duration;

use passdock::PassError;
use passdock::pipeline::Report;

use crate::args::Command;
use crate::args::list::Listing;
use crate::args::plugin::PluginCommand;
use crate::args::process::ProcessArgs;
use crate::show::{self, CommandOutput};
use two_models::{FAILURE_STATUS, compare, diff};

/// Runs a command and returns its exit status. Some commands run entirely in a worker.
pub(crate) fn run(command: Command) -> u8 {
    #[cfg(unix)]
    if let Some(status) = worker::run_whole(&command) {
        return show::finish(status, 1);
    }
    run_here(command)
}

/// Runs a command in this process and returns its exit status.
fn run_here(command: Command) -> u8 {
    let json = shared(&command).json.then(|| error_to_json(&command));
    // The exit status 1 isn't an error for all commands.
    let failure_status = match command {
        Command::Diff(_) | Command::Compare(_) => FAILURE_STATUS,
        _ => 1,
    };
    let status = dispatch(command).unwrap_or_else(|error| {
        let error = show::reported(error);
        let status = show::fail(&error);
        if let Some(json) = json {
            show::write_out(&json(&error));
        }
        status
    });
    show::finish(status, failure_status)
}

fn dispatch(command: Command) -> anyhow::Result<u8> {
    Ok(match command {
        Command::Run(args) => run::run(args)?,
        Command::Batch(args) => batch::batch(args)?,
        Command::List(args) => list::list(args)?,
        Command::Inspect(args) => inspect::inspect(args),
        Command::Check(args) => check::check(args)?,
        Command::Explain(args) => explain::explain(args)?,
        Command::Convert(args) => convert::convert(args)?,
        Command::Extract(args) => extract::extract(args)?,
        Command::Stats(args) => stats::stats(args),
        Command::Diff(args) => diff::diff(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Bisect(args) => bisect::bisect(args),
        Command::Blame(args) => blame::blame(args)?,
        Command::Reduce(args) => reduce::reduce(args)?,
        Command::Replay(args) => replay::replay(args)?,
        Command::Lock(args) => trust::lock::lock(args)?,
        Command::VerifyProvenance(args) => trust::verify_provenance::verify_provenance(&args)?,
        Command::Schema(args) => schema::schema(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args)?,
        Command::Plugin(args) => match args.command {
            PluginCommand::New(args) => plugin::new::new(args)?,
            PluginCommand::Check(args) => plugin::check::check(args)?,
            PluginCommand::Install(args) => plugin::install::install(args)?,
        },
    })
}

/// The options that most commands have.
struct Shared<'c> {
    /// The process options, if the command has them.
    process: Option<&'c ProcessArgs>,
    json: bool,
    /// The files of a command that runs entirely in a worker.
    whole: Option<Files<'c>>,
}

/// The files of a command that runs entirely in a worker.
#[derive(Default)]
struct Files<'c> {
    /// The model, which may be standard input.
    model: Option<&'c Path>,
    outputs: Vec<PathBuf>,
    /// The directory of the outputs, if the command creates it.
    directory: Option<&'c Path>,
}

/// Returns the common options of a command.
fn shared(command: &Command) -> Shared<'_> {
    let own = |process, json| Shared {
        process: Some(process),
        json,
        whole: None,
    };
    let whole = |process, json, model, output: Option<PathBuf>| Shared {
        whole: Some(Files {
            model,
            outputs: output.into_iter().collect(),
            directory: None,
        }),
        ..own(process, json)
    };
    let without_process = |json| Shared {
        process: None,
        json,
        whole: None,
    };
    match command {
        Command::Run(args) => own(&args.process, args.json),
        Command::Batch(args) => own(&args.process, args.json),
        Command::Reduce(args) => own(&args.search.process, args.search.json),
        Command::Check(args) => whole(&args.process, args.json, None, None),
        Command::Replay(args) => whole(&args.process, args.json, None, None),
        // Loading a plugin is required only for its op definitions; manifests contain everything else.
        Command::List(args) if args.what == Listing::Ops => {
            whole(&args.process, args.json, None, None)
        }
        Command::List(args) => own(&args.process, args.json),
        Command::Bisect(args) => {
            let search = &args.search;
            Shared {
                whole: Some(Files {
                    model: search.inputs.last().map(AsRef::as_ref),
                    outputs: bisect::outputs(args),
                    directory: args.output.as_deref(),
                }),
                ..own(&search.process, search.json)
            }
        }
        Command::Blame(args) => {
            let model = args.inputs.iter().rev().nth(1);
            whole(&args.process, args.json, model.map(AsRef::as_ref), None)
        }
        // Only type inference uses plugins.
        Command::Convert(args) if args.data.value_info => whole(
            &args.process,
            false,
            Some(&args.input),
            Some(args.output().to_owned()),
        ),
        Command::Convert(args) => own(&args.process, false),
        Command::Extract(args) => {
            let (model, output) = (Some(&*args.model), Some(args.output.clone()));
            whole(&args.process, args.json, model, output)
        }
        Command::Explain(args) => without_process(args.json),
        Command::Lock(args) => without_process(args.json),
        Command::VerifyProvenance(args) => without_process(args.json),
        Command::Inspect(args) => without_process(args.json),
        Command::Plugin(args) => without_process(match &args.command {
            PluginCommand::Check(args) => args.json,
            PluginCommand::Install(args) => args.json,
            PluginCommand::New(_) => false,
        }),
        Command::Stats(_)
        | Command::Diff(_)
        | Command::Compare(_)
        | Command::Schema(_)
        | Command::Completions(_)
        | Command::Man(_) => without_process(false),
    }
}

/// Returns the time limit of a command, and the function that renders an error as its JSON.
#[cfg(unix)]
pub(crate) fn limit(command: &Command) -> Option<(Duration, Option<ErrorToJson>)> {
    let shared = shared(command);
    let json = shared.json.then(|| error_to_json(command));
    Some((shared.process?.timeout?, json))
}

/// A function that renders an error as a command's JSON.
type ErrorToJson = fn(&PassError) -> String;

fn error_to_json(command: &Command) -> ErrorToJson {
    match command {
        Command::Run(_) => |error| show::json(&Report::failed(Path::new(""), error)),
        Command::Batch(_) => |error| show::json_line(&CommandOutput::failed(error)),
        _ => |error| show::json(&CommandOutput::failed(error)),
    }
}
