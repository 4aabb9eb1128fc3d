//! The `passdock` command.
//!
//! Everything that can be done is a function of the `passdock` library; here are the command line,
//! what people see, and the exit status.

mod args;
mod check_command;
mod child;
mod command;
mod names;
mod page;
mod plugins;
mod progress;
mod report;
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
use passdock::crash;
use passdock::files;

fn main() -> ExitCode {
    #[cfg(unix)]
    {
        signals::listen();
        allow_many_files();
        if let Some(args) = worker_args::WorkerArgs::of_process() {
            files::set_output_apart();
            return finished(command::work(args));
        }
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
    show::set_color(cli.color);
    files::set_output_apart();
    #[cfg(unix)]
    crash::watch(command::crashed(&cli.command));
    finished(command::run(cli.command))
}

/// The end with a status, whatever a plugin does about it.
fn finished(status: u8) -> ExitCode {
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
