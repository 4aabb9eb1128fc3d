//! The subcommands, one file each. Each answers the exit status, or the error that ended it.

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

#[cfg(unix)]
use passdock::PassError;
#[cfg(unix)]
use passdock::pipeline::Report;

use crate::args::Command;
use crate::args::plugin::PluginCommand;
#[cfg(unix)]
use crate::args::process::ProcessArgs;
use crate::show;
use two_models::{compare, diff};

#[cfg(unix)]
pub(crate) use worker::work;

/// Does what the command line asks for; answers the exit status.
pub(crate) fn run(command: Command) -> u8 {
    let fails_in_json = fails_in_json(&command);
    let status = match command {
        Command::Run(args) => run::run(args),
        Command::Batch(args) => batch::batch(args),
        Command::List(args) => list::list(args),
        Command::Inspect(args) => inspect::inspect(args),
        Command::Check(args) => check::check(args),
        Command::Explain(args) => explain::explain(args),
        Command::Convert(args) => convert::convert(args),
        Command::Extract(args) => extract::extract(args),
        Command::Stats(args) => stats::stats(args),
        Command::Bisect(args) => bisect::bisect(args),
        Command::Blame(args) => blame::blame(args),
        Command::Reduce(args) => reduce::reduce(args),
        Command::Replay(args) => replay::replay(args),
        Command::Schema(args) => schema::schema(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
        Command::Plugin(args) => match args.command {
            PluginCommand::New(args) => plugin::new::new(args),
            PluginCommand::Check(args) => plugin::check::check(args),
        },
        // Those for which 1 is no trouble.
        Command::Diff(args) => return show::finish(diff::diff(&args), diff::TROUBLE),
        Command::Compare(args) => {
            return show::finish(compare::compare(&args), compare::TROUBLE);
        }
    };
    let status = status.unwrap_or_else(|error| {
        let status = show::fail(&error);
        if fails_in_json {
            show::print_answer(status, serde_json::json!({}), Some(&error));
        }
        status
    });
    show::finish(status, 1)
}

/// Whether an error that ends a command is an answer in JSON, too. The others with `--json` answer theirs themselves.
fn fails_in_json(command: &Command) -> bool {
    match command {
        Command::List(args) => args.json,
        Command::Inspect(args) => args.json,
        Command::Explain(args) => args.json,
        Command::Replay(args) => args.json,
        Command::Plugin(args) => match &args.command {
            PluginCommand::Check(args) => args.json,
            PluginCommand::New(_) => false,
        },
        _ => false,
    }
}

/// In which process a command uses plugins, if it does, and whether it prints JSON.
#[cfg(unix)]
fn process(command: &Command) -> Option<(&ProcessArgs, bool)> {
    match command {
        Command::Run(args) => Some((&args.process, args.json)),
        Command::Replay(args) => Some((&args.process, args.json)),
        Command::Bisect(args) => Some((&args.search.process, args.search.json)),
        Command::Reduce(args) => Some((&args.search.process, args.search.json)),
        Command::Check(args) => Some((&args.process, args.json)),
        Command::List(args) => Some((&args.process, args.json)),
        Command::Blame(args) => Some((&args.process, args.json)),
        Command::Convert(args) => Some((&args.process, false)),
        Command::Extract(args) => Some((&args.process, args.json)),
        Command::Batch(_)
        | Command::Explain(_)
        | Command::Inspect(_)
        | Command::Stats(_)
        | Command::Diff(_)
        | Command::Compare(_)
        | Command::Schema(_)
        | Command::Completions(_)
        | Command::Man(_)
        | Command::Plugin(_) => None,
    }
}

/// The time limit of a command, and what makes its answer in JSON of an error.
#[cfg(unix)]
pub(crate) fn limit(command: &Command) -> Option<(Duration, Option<AsJson>)> {
    let (process, json) = match command {
        Command::Batch(args) => (&args.process, args.json),
        command => process(command)?,
    };
    Some((process.limit()?, json.then_some(as_json(command))))
}

/// What makes a command's answer in JSON of an error.
#[cfg(unix)]
type AsJson = fn(&PassError) -> String;

#[cfg(unix)]
fn as_json(command: &Command) -> AsJson {
    const STATUS: u8 = 1;
    match command {
        Command::Run(_) => |error| {
            show::json(&Report {
                exit_status: STATUS,
                diagnostics: vec![error.to_diagnostic()],
                ..Report::default()
            })
        },
        Command::Batch(_) => |error| show::failed_line(STATUS, error),
        _ => |error| show::answer_json(STATUS, serde_json::json!({}), Some(error)),
    }
}
