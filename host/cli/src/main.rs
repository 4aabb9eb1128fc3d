//! The `passdock` command.
//!
//! Everything that can be done is a function of the `passdock` library; here are the command line,
//! what people see, and the exit status.

mod args;
mod check_command;
mod command;
mod plugins;
mod progress;
mod show;
#[cfg(unix)]
mod signals;

use std::process::ExitCode;

use args::{Cli, Command};
use clap::Parser;

fn main() -> ExitCode {
    #[cfg(unix)]
    signals::listen();
    let cli = Cli::parse();
    let status = match cli.command {
        Command::Run(args) => command::run::run(args),
        Command::List(args) => command::list::list(args),
        Command::Inspect(args) => command::inspect::inspect(args),
        Command::Check(args) => command::check::check(args),
        Command::Explain(args) => command::explain::explain(args),
        Command::Convert(args) => command::convert::convert(args),
        Command::Stats(args) => command::stats::stats(args),
        Command::Bisect(args) => command::bisect::bisect(args),
        Command::Reduce(args) => command::reduce::reduce(args),
        Command::Replay(args) => command::replay::replay(args),
        Command::Diff(args) => command::diff::diff(args),
    };
    ExitCode::from(status)
}
