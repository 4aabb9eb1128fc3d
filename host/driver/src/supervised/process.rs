//! The process of a worker, on the side of its supervisor.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use passdock_crash::{SharedRecord, Termination, TerminationCause};
use passdock_files::StandardOutput;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Supervisor;
use super::message::{Task, WorkerMessage, receive, send};
use crate::children::{self, AdoptedGroup, GRACE, has_ended};
use crate::pipeline::Watch;
use crate::waiting::waiting;

/// The time after which the supervisor checks whether a silent worker still runs: a process that it started may hold
/// the channel open.
const CHECK: Duration = Duration::from_millis(100);

/// A worker that runs, in its own group of processes with those that it starts.
pub(super) struct Process {
    child: Child,
    channel: UnixStream,
    record: SharedRecord,
    timeout: Option<Duration>,
    /// The process that the worker waits for.
    awaited: Option<AdoptedGroup>,
    /// Whether it has ended and was waited for.
    is_gone: bool,
}

impl Process {
    /// Starts a worker and sends its task. `input` is its standard input; `None`: that of this process.
    pub(super) fn start<J: Serialize>(
        supervisor: &Supervisor,
        task: &Task<J>,
        input: Option<&mut File>,
    ) -> io::Result<Process> {
        let input = match input {
            Some(file) => {
                file.rewind()?;
                Stdio::from(file.try_clone()?)
            }
            None => Stdio::inherit(),
        };
        let (channel, theirs) = UnixStream::pair()?;
        let record = SharedRecord::new()?;
        let their_record = record.file();
        let mut command = Command::new(&supervisor.program);
        command
            .args(&supervisor.before)
            .arg(theirs.as_raw_fd().to_string())
            .arg(their_record.as_raw_fd().to_string())
            .args(&supervisor.after)
            .envs(supervisor.environment.clone())
            .stdin(input)
            .stdout(StandardOutput::inherited());
        let child = children::spawn(&mut command, true, &[theirs.as_fd(), their_record])?;
        let mut process = Process {
            child,
            channel,
            record,
            timeout: supervisor.timeout,
            awaited: None,
            is_gone: false,
        };
        process.channel.set_write_timeout(supervisor.timeout)?;
        process.send(task)?;
        Ok(process)
    }

    /// Sends the worker a message. A worker that has crashed is no error here, but when its answer is due.
    pub(super) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        match send(&mut self.channel, message) {
            Err(error) if error.raw_os_error().is_some() => Ok(()),
            sent => sent,
        }
    }

    /// Receives the messages of the worker up to its answer, which comes with the number of crashes that it went past.
    /// Its time limit starts again when it has waited for another process.
    ///
    /// # Errors
    /// If there is no answer: the worker crashed or took too long, which [`Process::termination`] reports.
    pub(super) fn answer<A: DeserializeOwned>(
        &mut self,
        timeout: Option<Duration>,
        watch: &Watch,
    ) -> io::Result<(A, usize)> {
        let mut left = timeout;
        loop {
            let mut reader = MessageReader {
                process: self,
                left: &mut left,
            };
            match waiting(|| receive(&mut reader))? {
                WorkerMessage::Pass(name) => {
                    if let Some(on_pass) = &watch.on_pass {
                        on_pass(&name);
                    }
                }
                WorkerMessage::Print(text) => {
                    if let Some(sink) = &watch.sink {
                        sink(&text);
                    }
                }
                WorkerMessage::Waits(child) => {
                    self.awaited = child.and_then(Pid::from_raw).map(children::adopt);
                    left = timeout.filter(|_| self.awaited.is_none());
                }
                WorkerMessage::Answer(answer, met) => return Ok((answer, met)),
            }
        }
    }

    /// Waits for a message, or the end of all messages.
    fn wait(&self, left: &mut Option<Duration>) -> io::Result<()> {
        loop {
            if left.is_some_and(|left| left.is_zero()) {
                return Err(ErrorKind::TimedOut.into());
            }
            let start = Instant::now();
            let has_message = self.has_message(left.unwrap_or(CHECK).min(CHECK))?;
            // Time in which this process was stopped doesn't count.
            let waited = start.elapsed().min(2 * CHECK);
            *left = left.map(|left| left.saturating_sub(waited));
            if has_message {
                return Ok(());
            }
            // A message may have come before the end.
            if self.has_ended()? && !self.has_message(Duration::ZERO)? {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Whether a message, or the end of all messages, comes within a time.
    fn has_message(&self, within: Duration) -> io::Result<bool> {
        let within = Timespec::try_from(within).map_err(io::Error::other)?;
        match poll(
            &mut [PollFd::new(&self.channel, PollFlags::IN)],
            Some(&within),
        ) {
            Ok(count) => Ok(count > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the process has ended. Its number isn't used again until it is waited for.
    fn has_ended(&self) -> io::Result<bool> {
        has_ended(Pid::from_child(&self.child))
    }

    /// Returns the crash of a worker that sent no answer, for which `error` came instead. A worker that still runs is
    /// ended.
    pub(super) fn termination(mut self, error: &io::Error) -> io::Result<Termination> {
        let late = error.kind() == ErrorKind::TimedOut;
        let ends = [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset].contains(&error.kind());
        // A channel closes shortly before the end of its process.
        let status = self.end(if late { Duration::ZERO } else { GRACE })?;
        let cause = match status.filter(|_| ends) {
            _ if late => TerminationCause::Timeout {
                seconds: self.timeout.unwrap_or_default().as_secs_f64(),
            },
            // The process runs, and its channel is closed.
            None => TerminationCause::Descriptors,
            Some(status) => status.into(),
        };
        let mut termination = self.record.record().termination(cause);
        if termination.cause == TerminationCause::Descriptors {
            // It happened earlier.
            (termination.culprit, termination.pass) = (None, None);
        }
        Ok(termination)
    }

    /// Ends a worker that doesn't end by itself, and what it started. Returns its status; `None`: it was ended.
    fn end(&mut self, grace: Duration) -> io::Result<Option<ExitStatus>> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(20);
        let mut has_ended = self.has_ended()?;
        while !has_ended && start.elapsed() < grace {
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
            has_ended = self.has_ended()?;
        }
        // Until the worker is waited for, the number of the group isn't used again.
        _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        self.awaited.take().inspect(AdoptedGroup::kill);
        // The worker may have left the group.
        _ = self.child.kill();
        let status = self.child.wait()?;
        self.is_gone = true;
        children::forget(&self.child);
        Ok(has_ended.then_some(status))
    }
}

/// A reader of what a worker sends, until it ends or its time is over.
struct MessageReader<'p> {
    process: &'p Process,
    left: &'p mut Option<Duration>,
}

impl Read for MessageReader<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.process.wait(self.left)?;
        (&self.process.channel).read(bytes)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_gone {
            _ = self.end(Duration::ZERO);
        }
    }
}
