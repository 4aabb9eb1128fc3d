//! The supervisor's handle of a worker process.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use passdock_crash::{SharedRecord, Termination, TerminationCause};
use passdock_files::StandardOutput;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Supervisor;
use super::children::{self, AdoptedGroup, GRACE_PERIOD, has_ended};
use super::message::{Task, WorkerMessage, receive, send};
use crate::pipeline::Watch;
use crate::waiting::waiting;

/// Interval at which the supervisor checks whether a silent worker is still running. A descendant may keep the channel
/// open.
const CHECK: Duration = Duration::from_millis(100);

/// A running worker, which is in a separate process group with its descendants.
pub(super) struct Process {
    child: Child,
    channel: UnixStream,
    record: SharedRecord,
    timeout: Option<Duration>,
    /// The process that the worker waits for.
    awaited: Option<AdoptedGroup>,
    /// Whether it has exited and was waited for.
    has_exited: bool,
}

impl Process {
    /// Starts a worker and sends its task. `input` is its standard input, or `None` to inherit this process's.
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
            has_exited: false,
        };
        process.channel.set_write_timeout(supervisor.timeout)?;
        process.send(task)?;
        Ok(process)
    }

    /// Sends the worker a message. If the worker has crashed, that is reported when its result is due.
    pub(super) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        match send(&mut self.channel, message) {
            Err(error) if error.raw_os_error().is_some() => Ok(()),
            sent => sent,
        }
    }

    /// Receives messages of the worker until its result, which is returned with the number of skipped calls. The time
    /// limit restarts after the worker has waited for another process.
    ///
    /// # Errors
    /// If there is no result because the worker crashed or exceeded the time limit. [`Process::termination`] returns
    /// the cause.
    pub(super) fn receive_response<A: DeserializeOwned>(
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
                WorkerMessage::Response(response, skipped) => return Ok((response, skipped)),
            }
        }
    }

    /// Returns `true` if the process has exited. Its id isn't reused before it is waited for.
    fn has_ended(&self) -> io::Result<bool> {
        has_ended(Pid::from_child(&self.child))
    }

    /// Returns the termination of a worker that sent no result, given the error of receiving it. A worker that is still
    /// running is terminated.
    pub(super) fn termination(mut self, error: &io::Error) -> io::Result<Termination> {
        let late = error.kind() == ErrorKind::TimedOut;
        let ends = [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset].contains(&error.kind());
        // The channel closes shortly before the process exits.
        let status = self.end(if late { Duration::ZERO } else { GRACE_PERIOD })?;
        let cause = match status.filter(|_| ends) {
            _ if late => TerminationCause::Timeout {
                seconds: self.timeout.unwrap_or_default().as_secs_f64(),
            },
            // The process is running, but has closed its channel.
            None => TerminationCause::Descriptors,
            Some(status) => status.into(),
        };
        let mut termination = self.record.record().termination(cause);
        if termination.cause == TerminationCause::Descriptors {
            // The descriptors were closed by an earlier call.
            (termination.culprit, termination.pass) = (None, None);
        }
        Ok(termination)
    }

    /// Terminates a worker that doesn't exit by itself, and its descendants. Returns its exit status, or `None` if it
    /// was killed.
    fn end(&mut self, grace: Duration) -> io::Result<Option<ExitStatus>> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(20);
        let mut has_ended = self.has_ended()?;
        while !has_ended && start.elapsed() < grace {
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
            has_ended = self.has_ended()?;
        }
        // The id of the group isn't reused before the worker is waited for.
        _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        self.awaited.take().inspect(AdoptedGroup::kill);
        // The worker may have left the group.
        _ = self.child.kill();
        let status = self.child.wait()?;
        self.has_exited = true;
        children::forget(&self.child);
        Ok(has_ended.then_some(status))
    }
}

/// A reader of a worker's messages, until the worker exits or exceeds its time limit.
struct MessageReader<'p> {
    process: &'p Process,
    left: &'p mut Option<Duration>,
}

impl Read for MessageReader<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut has_ended = false;
        loop {
            if self.left.is_some_and(|left| left.is_zero()) {
                return Err(ErrorKind::TimedOut.into());
            }
            let channel = &self.process.channel;
            channel.set_read_timeout(Some(self.left.map_or(CHECK, |left| left.min(CHECK))))?;
            let start = Instant::now();
            let result = (&*channel).read(bytes);
            // Time in which this process was stopped doesn't count.
            let waited = start.elapsed().min(2 * CHECK);
            *self.left = self.left.map(|left| left.saturating_sub(waited));
            match result {
                // A message may have arrived before the process exited.
                Err(error) if error.kind() == ErrorKind::WouldBlock && has_ended => {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    has_ended = self.process.has_ended()?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.has_exited {
            _ = self.end(Duration::ZERO);
        }
    }
}
