//! Processes that run models, one after another.
//!
//! A worker reads a job from each line of its standard input. It prints a line `{"pass": NAME}` for each pass that
//! begins, and a [`Report`] when the job is done. It ends when its standard input does, so that no worker outlives the
//! program that started it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use passdock_core::{ErrorKind, PassError};
use passdock_crash::TerminationCause;
use serde::{Deserialize, Serialize};

use crate::pipeline::Report;
use crate::waiting::{end, tail, wait_within, waiting};

/// The lines that a process printed last, as an error shows them.
const LAST_LINES: usize = 10;
/// The time after which it is checked again whether the batch is to end.
const CHECK: Duration = Duration::from_millis(100);

/// The way to start a worker.
#[derive(Clone, Debug, Default)]
pub struct WorkerCommand {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables of its environment, besides those of this process.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether it gets a group of processes of its own, which the terminal's signals don't reach and which ends as a
    /// whole.
    pub own_group: bool,
}

/// A process that runs models. It is started for the first job, and again after a crash.
pub struct BatchWorker {
    command: Arc<WorkerCommand>,
    stop: Arc<AtomicBool>,
    process: Option<WorkerProcess>,
}

/// The reason why a worker has no report.
#[derive(Debug)]
pub struct WorkerFailure {
    /// The error, which names the pass that ran.
    pub error: PassError,
    /// Whether the process ended by itself, instead of being ended.
    pub crashed: bool,
}

/// A line that a worker prints.
#[derive(Deserialize)]
#[serde(untagged)]
enum Message {
    Pass { pass: String },
    Report(Box<Report>),
}

impl BatchWorker {
    /// Creates a worker without a process. Its job ends soon after `stop` is set.
    pub fn new(command: Arc<WorkerCommand>, stop: Arc<AtomicBool>) -> BatchWorker {
        BatchWorker {
            command,
            stop,
            process: None,
        }
    }

    /// Starts the process, unless it runs.
    ///
    /// # Errors
    /// If it can't be started.
    pub fn start(&mut self) -> Result<(), PassError> {
        if self.process.is_none() {
            let process = WorkerProcess::start(&self.command).map_err(|error| {
                let program = self.command.program.display();
                let message = format!("The process `{program}` can't be started: {error}.");
                PassError::new(ErrorKind::Crashed, message)
            })?;
            self.process = Some(process);
        }
        Ok(())
    }

    /// Runs a job; after `timeout` it has failed, and its process is ended.
    ///
    /// # Errors
    /// If the process can't be started, crashes, or takes too long.
    pub fn run(
        &mut self,
        job: &impl Serialize,
        timeout: Option<Duration>,
    ) -> Result<Report, WorkerFailure> {
        let failed = |message: String, pass: Option<String>, crashed: bool| {
            let mut error = PassError::new(ErrorKind::Crashed, message);
            error.pass = pass;
            WorkerFailure { error, crashed }
        };
        self.start().map_err(|error| WorkerFailure {
            error,
            crashed: true,
        })?;
        let Some(process) = &mut self.process else {
            return Err(failed("The process has ended.".to_owned(), None, true));
        };
        let start = Instant::now();
        let mut pass = None;
        let ended = process.send(job).and_then(|()| {
            loop {
                if self.stop.load(Ordering::Relaxed) {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                let left = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
                let check = left.map_or(CHECK, |left| left.min(CHECK));
                match waiting(|| process.lines.recv_timeout(check)) {
                    Ok(line) => match serde_json::from_str(&line)? {
                        Message::Pass { pass: name } => pass = Some(name),
                        Message::Report(report) => return Ok(*report),
                    },
                    Err(RecvTimeoutError::Timeout) if left.is_some_and(|left| left.is_zero()) => {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
            }
        });
        let error = match ended {
            Ok(report) => return Ok(report),
            Err(error) => error,
        };
        let running = pass.as_ref().map(|pass| format!("The pass `{pass}`"));
        let message = match error.kind() {
            io::ErrorKind::TimedOut => {
                let running = running.unwrap_or("The part before the first pass".to_owned());
                let seconds = timeout.unwrap_or_default().as_secs_f64();
                format!("{running} was still running after {seconds} s, and was ended.")
            }
            io::ErrorKind::Interrupted => "The batch was ended.".to_owned(),
            _ => {
                let running = running.unwrap_or("Something outside of the passes".to_owned());
                format!("{running} {}", process.termination())
            }
        };
        self.process = None;
        let ended = [io::ErrorKind::TimedOut, io::ErrorKind::Interrupted].contains(&error.kind());
        Err(failed(message, pass, !ended))
    }
}

/// A process that runs. Dropped, it is ended.
struct WorkerProcess {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    /// What it prints to standard error.
    printed: File,
}

impl WorkerProcess {
    fn start(command: &WorkerCommand) -> io::Result<WorkerProcess> {
        let printed = tempfile::tempfile()?;
        let mut start = Command::new(&command.program);
        start
            .args(&command.arguments)
            .envs(command.environment.clone())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(printed.try_clone()?);
        #[cfg(unix)]
        if command.own_group {
            std::os::unix::process::CommandExt::process_group(&mut start, 0);
        }
        let mut child = start.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            let lines = BufReader::new(output).lines();
            lines
                .map_while(Result::ok)
                .try_for_each(|line| send.send(line))
        });
        Ok(WorkerProcess {
            child,
            input,
            lines,
            printed,
        })
    }

    fn send(&mut self, job: &impl Serialize) -> io::Result<()> {
        // The process writes at the same position of the file.
        self.printed.seek(SeekFrom::Start(0))?;
        self.printed.set_len(0)?;
        let mut line = serde_json::to_vec(job)?;
        line.push(b'\n');
        self.input.write_all(&line)?;
        self.input.flush()
    }

    /// Describes how a process ended that did so by itself.
    fn termination(&mut self) -> String {
        // Its output may end a little before it, or a process that it started may live on.
        let status = wait_within(&mut self.child, Duration::from_secs(5));
        let text = match status.ok().flatten() {
            Some(status) => format!("{}.", TerminationCause::from(status)),
            None => "closed its output.".to_owned(),
        };
        let printed = tail(&self.printed).unwrap_or_default();
        let lines: Vec<&str> = printed.trim().lines().collect();
        match &lines[lines.len().saturating_sub(LAST_LINES)..] {
            [] => text,
            last => format!("{text} The process printed last: {}", last.join("\n")),
        }
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        _ = end(&mut self.child);
    }
}
