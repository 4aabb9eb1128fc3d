//! The subcommands, one file each. Each answers the exit status, or the error that ended it.

mod bisect;
mod check;
mod convert;
mod diff;
mod explain;
mod in_full;
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
mod worker;

use crate::args::Command;
use crate::plugin_args::PluginCommand;
use crate::show;

/// Does what the command line asks for; answers the exit status.
pub(crate) fn run(command: Command) -> u8 {
    let status = match command {
        Command::Run(args) => run::run(args),
        Command::List(args) => list::list(args),
        Command::Inspect(args) => inspect::inspect(args),
        Command::Check(args) => check::check(args),
        Command::Explain(args) => explain::explain(args),
        Command::Convert(args) => convert::convert(args),
        Command::Stats(args) => stats::stats(args),
        Command::Bisect(args) => bisect::bisect(args),
        Command::Reduce(args) => reduce::reduce(args),
        Command::Replay(args) => replay::replay(args),
        Command::Schema(args) => schema::schema(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
        Command::Plugin(args) => match args.command {
            PluginCommand::New(args) => plugin::new::new(args),
            PluginCommand::Check(args) => plugin::check::check(args),
        },
        #[cfg(unix)]
        Command::Worker(args) => worker::work(&args),
        // The only one for which 1 is no trouble.
        Command::Diff(args) => return show::finish(diff::diff(&args), diff::TROUBLE),
    };
    show::finish(status.unwrap_or_else(|error| show::fail(&error)), 1)
}
