//! Worker processes that run models one after another.
//!
//! A worker reads a job from each line of its standard input. It prints a line `{"pass": NAME}` when a pass starts, and
//! a [`Report`] when the job is done. It exits when its standard input is closed, so no worker outlives its parent
//! process.

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

/// Maximum number of lines of a process's output in an error.
const LAST_LINES: usize = 10;
/// The polling interval for `stop`.
const CHECK: Duration = Duration::from_millis(100);

/// The command that starts a worker.
#[derive(Clone, Debug, Default)]
pub struct WorkerCommand {
    /// The program.
    pub program: OsString,
    /// The arguments of the program.
    pub arguments: Vec<OsString>,
    /// Environment variables in addition to those of this process.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether the worker gets its own process group, which signals of the terminal don't reach, and which is
    /// terminated as a whole.
    pub own_group: bool,
}

/// A worker process, which is started for the first job and restarted after a crash.
pub struct BatchWorker {
    command: Arc<WorkerCommand>,
    stop: Arc<AtomicBool>,
    process: Option<WorkerProcess>,
}

/// The reason why a job has no report.
#[derive(Debug)]
pub struct WorkerFailure {
    /// The error, which names the pass that ran.
    pub error: PassError,
    /// Whether the process terminated, without being stopped by this one.
    pub crashed: bool,
}

/// A line of a worker's output.
#[derive(Deserialize)]
#[serde(untagged)]
enum Message {
    Pass { pass: String },
    Report(Box<Report>),
}

impl BatchWorker {
    /// Creates a worker without starting its process. When `stop` is set, its job is terminated soon.
    pub fn new(command: Arc<WorkerCommand>, stop: Arc<AtomicBool>) -> BatchWorker {
        BatchWorker {
            command,
            stop,
            process: None,
        }
    }

    /// Starts the process unless it is running.
    pub fn start(&mut self) -> Result<(), PassError> {
        if self.process.is_none() {
            let process = WorkerProcess::start(&self.command).map_err(|error| {
                let program = self.command.program.display();
                let message = format!("could not start process `{program}`: {error}");
                PassError::new(ErrorKind::Crashed, message)
            })?;
            self.process = Some(process);
        }
        Ok(())
    }

    /// Runs a job. After `timeout` the job fails, and its process is terminated.
    ///
    /// # Errors
    /// If the process can't be started, crashes, or exceeds the time limit.
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
            return Err(failed("the process exited".to_owned(), None, true));
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
        let running = pass.as_ref().map(|pass| format!("pass `{pass}`"));
        let message = match error.kind() {
            io::ErrorKind::TimedOut => {
                let running = running.unwrap_or("the part before the first pass".to_owned());
                let seconds = timeout.unwrap_or_default().as_secs_f64();
                format!("{running} was still running after {seconds} s and was terminated")
            }
            io::ErrorKind::Interrupted => "the batch was stopped".to_owned(),
            _ => {
                let running = running.unwrap_or("code outside the passes".to_owned());
                format!("{running} {}", process.termination())
            }
        };
        self.process = None;
        let ended = [io::ErrorKind::TimedOut, io::ErrorKind::Interrupted].contains(&error.kind());
        Err(failed(message, pass, !ended))
    }
}

/// A running process, which is terminated on drop.
struct WorkerProcess {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    /// The file with its standard error.
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
        // The process shares the file position.
        self.printed.seek(SeekFrom::Start(0))?;
        self.printed.set_len(0)?;
        let mut line = serde_json::to_vec(job)?;
        line.push(b'\n');
        self.input.write_all(&line)?;
        self.input.flush()
    }

    /// Describes how a process terminated by itself.
    fn termination(&mut self) -> String {
        // The output may be closed shortly before the process exits, or while a descendant is still running.
        let status = wait_within(&mut self.child, Duration::from_secs(5));
        let text = match status.ok().flatten() {
            Some(status) => TerminationCause::from(status).to_string(),
            None => "closed its output".to_owned(),
        };
        let printed = tail(&self.printed).unwrap_or_default();
        let lines: Vec<&str> = printed.trim().lines().collect();
        match &lines[lines.len().saturating_sub(LAST_LINES)..] {
            [] => text,
            last => format!("{text}; the process last printed: {}", last.join("\n")),
        }
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        _ = end(&mut self.child);
    }
}
