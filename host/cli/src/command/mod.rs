//! The subcommands, one file each. Each returns the exit status, or the error that ended it.

pub(crate) mod batch;
mod bisect;
mod blame;
mod check;
mod convert;
mod explain;
mod extract;
mod inspect;
mod list;
mod list_ops;
mod plugin;
mod reduce;
mod replay;
mod run;
mod schema;
mod shell;
mod stats;
mod two_models;
pub(crate) mod worker;

use std::path::Path;
#[cfg(unix)]
use std::time::Duration;

use passdock::PassError;
use passdock::pipeline::Report;

use crate::args::Command;
use crate::args::list::Listing;
use crate::args::plugin::PluginCommand;
use crate::args::process::ProcessArgs;
use crate::show::{self, Answer};
use two_models::{TROUBLE, compare, diff};

/// Runs a command, in a worker if it is one that a worker runs as a whole; returns the exit status.
pub(crate) fn run(command: Command) -> u8 {
    #[cfg(unix)]
    if let Some(status) = worker::run_whole(&command) {
        return show::finish(status, 1);
    }
    run_here(command)
}

/// Runs a command in this process; returns the exit status.
fn run_here(command: Command) -> u8 {
    let json = shared(&command).json.then(|| error_to_json(&command));
    // For some commands 1 is no error.
    let trouble = match command {
        Command::Diff(_) | Command::Compare(_) => TROUBLE,
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
    show::finish(status, trouble)
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
        Command::Schema(args) => schema::schema(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args)?,
        Command::Plugin(args) => match args.command {
            PluginCommand::New(args) => plugin::new::new(args)?,
            PluginCommand::Check(args) => plugin::check::check(args)?,
        },
    })
}

/// The options that commands share.
struct Shared<'c> {
    /// The process in which plugins are used, if the command has the choice.
    process: Option<&'c ProcessArgs>,
    json: bool,
    /// The files of a command that a worker runs as a whole.
    whole: Option<Files<'c>>,
}

/// The files of a command that a worker runs as a whole.
#[derive(Default)]
struct Files<'c> {
    /// The model, which may be standard input.
    model: Option<&'c Path>,
    output: Option<&'c Path>,
}

/// Returns what a command has of the options that commands share.
fn shared(command: &Command) -> Shared<'_> {
    let own = |process, json| Shared {
        process: Some(process),
        json,
        whole: None,
    };
    let whole = |process, json, model, output| Shared {
        whole: Some(Files { model, output }),
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
        // Definitions describe themselves; everything else is in manifests.
        Command::List(args) if args.what == Listing::Ops => {
            whole(&args.process, args.json, None, None)
        }
        Command::List(args) => own(&args.process, args.json),
        Command::Bisect(args) => {
            let (search, model) = (&args.search, args.search.inputs.last());
            whole(&search.process, search.json, model.map(AsRef::as_ref), None)
        }
        Command::Blame(args) => {
            let model = args.inputs.iter().rev().nth(1);
            whole(&args.process, args.json, model.map(AsRef::as_ref), None)
        }
        // Plugins do nothing else.
        Command::Convert(args) if args.data.value_info => {
            whole(&args.process, false, Some(&args.input), Some(args.output()))
        }
        Command::Convert(args) => own(&args.process, false),
        Command::Extract(args) => {
            let (model, output) = (Some(&*args.model), Some(&*args.output));
            whole(&args.process, args.json, model, output)
        }
        Command::Explain(args) => without_process(args.json),
        Command::Inspect(args) => without_process(args.json),
        Command::Plugin(args) => without_process(match &args.command {
            PluginCommand::Check(args) => args.json,
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

/// Returns the time limit of a command, and what makes its JSON of an error.
#[cfg(unix)]
pub(crate) fn limit(command: &Command) -> Option<(Duration, Option<ErrorToJson>)> {
    let shared = shared(command);
    let json = shared.json.then(|| error_to_json(command));
    Some((shared.process?.limit()?, json))
}

/// What makes a command's JSON of an error.
type ErrorToJson = fn(&PassError) -> String;

fn error_to_json(command: &Command) -> ErrorToJson {
    match command {
        Command::Run(_) => |error| show::json(&Report::failed(Path::new(""), error)),
        Command::Batch(_) => |error| show::json_line(&Answer::failed(error)),
        _ => |error| show::json(&Answer::failed(error)),
    }
}
