//! The `passdock` command.
//!
//! All functionality is in the `passdock` library. This crate has the command line, the output for users, and the exit
//! status.

mod args;
mod child;
mod command;
mod help;
mod in_full;
mod names;
mod next_command;
mod op_lines;
mod page;
mod plugins;
mod progress;
mod report;
mod request;
mod show;
#[cfg(unix)]
mod signals;
mod test_command;
mod watchdog;
#[cfg(unix)]
mod worker;

use std::io::Write;
use std::process::ExitCode;

use args::Cli;
use clap::Parser;
use passdock::batch::WORKER;
use passdock::{crash, files, pipeline};

/// Minimum stack size in bytes. It is the default of common systems.
#[cfg(unix)]
const STACK: usize = 8 << 20;

#[cfg(unix)]
fn main() -> ExitCode {
    use rustix::process::{Resource, getrlimit};
    let limit = getrlimit(Resource::Stack).current;
    if limit.is_none_or(|limit| limit >= STACK as u64) {
        return start();
    }
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(start);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(ended) => ended.unwrap_or(ExitCode::FAILURE),
        Err(error) => {
            show::print_error(&format!("error: could not start a thread: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    start()
}

fn start() -> ExitCode {
    crash::keep_quiet();
    #[cfg(unix)]
    {
        allow_many_files();
        if let Some(args) = worker::WorkerArgs::from_process() {
            // The supervisor handles the other signals.
            signals::catch_large_files();
            files::set_output_apart();
            let status = done(|| command::worker::work(args));
            // The supervisor already has the result. Exit handlers of plugins no longer matter.
            crash::finish(status);
            return ExitCode::from(status);
        }
        // The process of a plugin's check has one thread when it enters its sandbox. Its parent handles signals.
        if std::env::args_os().all(|argument| argument != "--result-dir") {
            signals::watch_signals();
        }
    }
    if std::env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == WORKER)
    {
        files::set_output_apart();
        let work =
            || command::batch::work().unwrap_or_else(|error| show::fail(&show::reported(error)));
        return ExitCode::from(done(work));
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // `--help` and `--version` aren't errors.
        Err(help) if !help.use_stderr() => {
            show::written(help.print().and_then(|()| std::io::stdout().flush()));
            return ExitCode::from(show::finish(0, 1));
        }
        Err(error) => return ExitCode::from(command::usage_error::report(error)),
    };
    show::set_color(cli.color);
    files::set_output_apart();
    #[cfg(unix)]
    {
        crash::watch(crash::Then::Exit(1));
        if let Some((limit, json)) = command::limit(&cli.command) {
            watchdog::start(limit, json);
        }
    }
    let status = done(|| show::commit_outputs(command::run(cli.command)));
    #[cfg(unix)]
    crash::finish(status);
    ExitCode::from(status)
}

/// Returns the exit status of `work`, or that of an error if it panics.
fn done(work: impl FnOnce() -> u8) -> u8 {
    crash::caught(work).unwrap_or_else(|panic| show::fail(&pipeline::failed(&panic)))
}

/// Raises the limit of open files. A model may have more data files than the soft limit allows.
#[cfg(unix)]
fn allow_many_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // If the limit is too low, opening a file returns an error.
    let _ = setrlimit(Resource::Nofile, limit);
}
