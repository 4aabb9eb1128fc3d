//! The `passdock` command.
//!
//! Everything that can be done is a function of the `passdock` library; here are the command line,
//! what people see, and the exit status.

mod args;
mod check_command;
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
mod watchdog;
#[cfg(unix)]
mod worker_args;

use std::io::Write;
use std::process::ExitCode;

use args::Cli;
use clap::Parser;
use command::batch::WORKER;
use passdock::{crash, files, pipeline};

/// The bytes of the stack that the command has at least: what systems give it by default.
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
            show::print_error(&format!("error: no thread can be started: {error}\n"));
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
        if let Some(args) = worker_args::WorkerArgs::of_process() {
            // Its supervisor hears of other signals.
            signals::catch_large_files();
            files::set_output_apart();
            let status = done(|| command::worker::work(args));
            // Its supervisor has the answer: what plugins do at the end doesn't matter.
            crash::finish(status);
            return ExitCode::from(status);
        }
        signals::listen();
    }
    if std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == WORKER)
    {
        files::set_output_apart();
        let work =
            || command::batch::work().unwrap_or_else(|error| show::fail(&show::reported(error)));
        return ExitCode::from(done(work));
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help and the version are what was asked for.
        Err(help) if !help.use_stderr() => {
            show::written(help.print().and_then(|()| std::io::stdout().flush()));
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
    {
        crash::watch(crash::Then::Exit(1));
        if let Some((limit, json)) = command::limit(&cli.command) {
            watchdog::start(limit, json);
        }
    }
    let status = done(|| show::place_output(command::run(cli.command)));
    #[cfg(unix)]
    crash::finish(status);
    ExitCode::from(status)
}

/// The status of the work, also if it panics.
fn done(work: impl FnOnce() -> u8) -> u8 {
    crash::caught(work).unwrap_or_else(|panic| show::fail(&pipeline::failed(&panic)))
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
