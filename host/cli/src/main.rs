//! The `passdock` command.
//!
//! Everything that can be done is a function of the `passdock` library; here are the command line,
//! what people see, and the exit status.

mod args;
mod check_command;
mod child;
mod command;
mod data_args;
mod page;
mod plugin_args;
mod plugins;
mod progress;
mod request;
mod show;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod worker_args;

use std::io::Write;
use std::process::ExitCode;

use args::Cli;
use clap::Parser;
#[cfg(unix)]
use passdock::crash::{self, Then};
use passdock::files;

fn main() -> ExitCode {
    #[cfg(unix)]
    {
        signals::listen();
        allow_many_files();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help and the version are what was asked for.
        Err(said) if !said.use_stderr() => {
            show::written(said.print().and_then(|()| std::io::stdout().flush()));
            return ExitCode::from(show::finish(0, 1));
        }
        // It shows arguments, which may be names of files.
        Err(error) => {
            let text = error.render().to_string();
            if passdock::terminal::safe(&text) == text {
                error.exit();
            }
            show::print_error(&text);
            return ExitCode::from(2);
        }
    };
    files::set_output_apart();
    #[cfg(unix)]
    if !matches!(cli.command, args::Command::Worker(_)) {
        crash::watch(Then::Exit(1));
    }
    let status = command::run(cli.command);
    #[cfg(unix)]
    crash::finished(status);
    ExitCode::from(status)
}

/// A model may have its data in more files than a process may open unless it asks for more.
#[cfg(unix)]
fn allow_many_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // What doesn't fit then is an error where it is opened.
    let _ = setrlimit(Resource::Nofile, limit);
}
