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
mod worker;

#[cfg(unix)]
use std::time::Duration;

use passdock::PassError;
use passdock::pipeline::Report;

use crate::args::Command;
use crate::args::plugin::PluginCommand;
use crate::args::process::ProcessArgs;
use crate::show;
use two_models::{TROUBLE, compare, diff};

#[cfg(unix)]
pub(crate) use worker::work;

/// Runs a command; returns the exit status.
pub(crate) fn run(command: Command) -> u8 {
    let json = shared(&command).1.then(|| error_to_json(&command));
    // The commands for which 1 is no error have their own status for one.
    let command = match command {
        Command::Diff(args) => return show::finish(diff::diff(&args), TROUBLE),
        Command::Compare(args) => return show::finish(compare::compare(&args), TROUBLE),
        command => command,
    };
    let status = dispatch(command).unwrap_or_else(|error| {
        let error = show::reported(error);
        let status = show::fail(&error);
        if let Some(json) = json {
            show::write_out(&json(&error));
        }
        status
    });
    show::finish(status, 1)
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
        Command::Bisect(args) => bisect::bisect(args)?,
        Command::Blame(args) => blame::blame(args)?,
        Command::Reduce(args) => reduce::reduce(args),
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

/// Returns in which process a command uses plugins, if it does, and whether it prints JSON.
fn shared(command: &Command) -> (Option<&ProcessArgs>, bool) {
    match command {
        Command::Run(args) => (Some(&args.process), args.json),
        Command::Batch(args) => (Some(&args.process), args.json),
        Command::Replay(args) => (Some(&args.process), args.json),
        Command::Bisect(args) => (Some(&args.search.process), args.search.json),
        Command::Reduce(args) => (Some(&args.search.process), args.search.json),
        Command::Check(args) => (Some(&args.process), args.json),
        Command::List(args) => (Some(&args.process), args.json),
        Command::Blame(args) => (Some(&args.process), args.json),
        Command::Convert(args) => (Some(&args.process), false),
        Command::Extract(args) => (Some(&args.process), args.json),
        Command::Explain(args) => (None, args.json),
        Command::Inspect(args) => (None, args.json),
        Command::Plugin(args) => match &args.command {
            PluginCommand::Check(args) => (None, args.json),
            PluginCommand::New(_) => (None, false),
        },
        Command::Stats(_)
        | Command::Diff(_)
        | Command::Compare(_)
        | Command::Schema(_)
        | Command::Completions(_)
        | Command::Man(_) => (None, false),
    }
}

/// Returns the time limit of a command, and what makes its JSON of an error.
#[cfg(unix)]
pub(crate) fn limit(command: &Command) -> Option<(Duration, Option<ErrorToJson>)> {
    let (process, json) = shared(command);
    Some((process?.limit()?, json.then_some(error_to_json(command))))
}

/// What makes a command's JSON of an error.
type ErrorToJson = fn(&PassError) -> String;

fn error_to_json(command: &Command) -> ErrorToJson {
    match command {
        Command::Run(_) => |error| {
            show::json(&Report {
                exit_status: error.exit_status(),
                diagnostics: vec![error.to_diagnostic()],
                ..Report::default()
            })
        },
        Command::Batch(_) => |error| show::failed_line(error.exit_status(), error),
        _ => |error| show::answer_json(error.exit_status(), serde_json::json!({}), Some(error)),
    }
}
