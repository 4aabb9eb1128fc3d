//! The supervisor's handle of a worker process.

use std::fs::File;
use std::io::{self, ErrorKind, IoSliceMut, Read, Seek};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use passdock_crash::{SharedRecord, Termination, TerminationCause};
use passdock_files::{StandardOutput, TemporaryDirectory};
#[cfg(target_os = "linux")]
use passdock_sandbox::DeniedCalls;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
#[cfg(target_os = "linux")]
use rustix::net::RecvAncillaryMessage;
use rustix::net::{RecvAncillaryBuffer, RecvFlags, recvmsg};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Supervisor;
#[cfg(target_os = "linux")]
use super::caller::library_on_stack;
use super::children::{self, GRACE_PERIOD, has_ended};
use super::limits::{INTERVAL, Limits};
use super::message::{EnteredSandbox, FailedRequest, Reply, Task, WorkerMessage, receive, send};
use crate::pipeline::{SandboxReport, Watch};
use crate::waiting::waiting;

/// Interval at which the supervisor checks whether a silent worker is still running. A descendant may keep the channel
/// open.
const CHECK: Duration = Duration::from_millis(100);

/// A function that answers a question of the worker. The path is the directory of the worker's temporary files.
pub type OnAsk<'a> = dyn FnMut(Value, &Path) -> io::Result<Value> + 'a;

/// Answers no question.
pub(super) fn no_answer(_: Value, _: &Path) -> io::Result<Value> {
    Err(io::Error::other("the worker asked an unknown question"))
}

/// A running worker, which is in a separate process group with its descendants.
pub(super) struct Process {
    child: Child,
    channel: UnixStream,
    record: SharedRecord,
    timeout: Option<Duration>,
    /// The worker's temporary files, which are removed with what plugins leave there.
    temporary: TemporaryDirectory,
    /// The files that the worker may ask to write; `None` for all, before it has run plugin code.
    outputs: Option<Vec<PathBuf>>,
    /// The limits of calls into plugins, and the one that was exceeded.
    limits: Limits,
    exceeded: Option<TerminationCause>,
    /// The worker's sandbox, and what it denied.
    pub(super) sandbox: SandboxReport,
    /// The source of denied calls.
    #[cfg(target_os = "linux")]
    denied: Option<DeniedCalls>,
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
        let temporary = TemporaryDirectory::new()?;
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
            .env("TMPDIR", temporary.path())
            .stdin(input)
            .stdout(StandardOutput::inherited());
        let child = children::spawn(&mut command, true, &[theirs.as_fd(), their_record])?;
        let mut process = Process {
            child,
            channel,
            record,
            timeout: supervisor.timeout,
            temporary,
            outputs: None,
            limits: Limits::default(),
            exceeded: None,
            sandbox: SandboxReport {
                mode: supervisor.sandbox,
                ..SandboxReport::default()
            },
            #[cfg(target_os = "linux")]
            denied: None,
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
    /// limit restarts after the worker has asked for something.
    ///
    /// # Errors
    /// If there is no result because the worker crashed or exceeded the time limit. [`Process::termination`] returns
    /// the cause.
    pub(super) fn receive_response<A: DeserializeOwned>(
        &mut self,
        timeout: Option<Duration>,
        watch: &Watch,
        on_ask: &mut OnAsk<'_>,
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
                WorkerMessage::Entered(entered) => self.entered(entered)?,
                WorkerMessage::Output(request) => {
                    let done = request.fulfill(self.temporary.path(), self.outputs.as_deref());
                    self.reply(done)?;
                }
                WorkerMessage::Ask(question) => {
                    self.reply(on_ask(question, self.temporary.path()))?;
                    left = timeout;
                }
                WorkerMessage::Response(response, skipped) => return Ok((response, skipped)),
            }
        }
    }

    /// Records that the worker has entered its sandbox. Only the first message was written before plugins ran.
    fn entered(&mut self, entered: EnteredSandbox) -> io::Result<()> {
        if self.outputs.is_some() {
            return Err(io::Error::other(
                "the worker has already entered its sandbox",
            ));
        }
        self.outputs = Some(entered.outputs);
        self.limits = Limits::new(entered.limits);
        self.sandbox.active = entered.active;
        self.sandbox.missing = entered.missing;
        Ok(())
    }

    fn reply(&mut self, done: io::Result<impl Serialize>) -> io::Result<()> {
        let done = done.and_then(|value| Ok(serde_json::to_value(value)?));
        let reply: Reply = done.map_err(FailedRequest::from);
        self.send(&reply)
    }

    /// Returns `true` if a call into a plugin exceeds the plugin's limits.
    fn exceeds_limits(&mut self) -> bool {
        if !self.limits.is_empty() {
            self.exceeded = self.limits.exceeded(self.record.record(), self.child.id());
        }
        self.exceeded.is_some()
    }

    /// Lets a denied call fail, and records it.
    #[cfg(target_os = "linux")]
    fn deny(&mut self) {
        let Some(denied) = &self.denied else { return };
        let (record, sandbox) = (self.record.record(), &mut self.sandbox);
        let result = denied.deny_next(|call, thread| match record.call_on(thread) {
            Some(culprit) => sandbox.add_denied(call, culprit),
            None => {
                let loaded = record.loaded();
                let file = library_on_stack(self.child.id(), thread, &loaded);
                sandbox.add_denied_on_thread(call, file);
            }
        });
        // The process has ended.
        if result.is_err() {
            self.denied = None;
        }
    }

    /// Waits until the worker has sent something, and answers denied calls meanwhile. Returns `false` if it hasn't
    /// within `time`.
    fn wait_for_message(&mut self, time: Duration) -> io::Result<bool> {
        let start = Instant::now();
        loop {
            let left = time.saturating_sub(start.elapsed());
            let left = Timespec::try_from(left).map_err(io::Error::other)?;
            let channel = PollFd::new(&self.channel, PollFlags::IN);
            #[cfg(target_os = "linux")]
            if let Some(denied) = &self.denied {
                let mut sources = [channel, PollFd::new(denied, PollFlags::IN)];
                let count = poll(&mut sources, Some(&left))?;
                let [channel, denied] = sources.map(|source| source.revents());
                if denied.contains(PollFlags::IN) {
                    self.deny();
                } else if !denied.is_empty() {
                    self.denied = None;
                }
                if !channel.is_empty() || count == 0 {
                    return Ok(!channel.is_empty());
                }
                continue;
            }
            return Ok(poll(&mut [channel], Some(&left))? > 0);
        }
    }

    /// Receives bytes, and the source of denied calls that comes with them.
    fn receive(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut slices = [IoSliceMut::new(bytes)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = recvmsg(&self.channel, &mut slices, &mut ancillary, flags)?;
        // Descriptors that a plugin sends later are closed.
        #[cfg(target_os = "linux")]
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(mut descriptors) = message
                && self.outputs.is_none()
            {
                self.denied = descriptors.next().map(DeniedCalls::new);
            }
        }
        Ok(received.bytes)
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
        let cause = match (self.exceeded.take(), status.filter(|_| ends)) {
            (Some(exceeded), _) => exceeded,
            _ if late => TerminationCause::Timeout {
                seconds: self.timeout.unwrap_or_default().as_secs_f64(),
            },
            // The process is running, but has closed its channel.
            (_, None) => TerminationCause::Descriptors,
            (_, Some(status)) => status.into(),
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
    process: &'p mut Process,
    left: &'p mut Option<Duration>,
}

impl Read for MessageReader<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut has_ended = false;
        loop {
            if self.left.is_some_and(|left| left.is_zero()) {
                return Err(ErrorKind::TimedOut.into());
            }
            let start = Instant::now();
            let check = match self.process.limits.is_empty() {
                true => CHECK,
                false => INTERVAL,
            };
            let time = self.left.map_or(check, |left| left.min(check));
            let waited = self.process.wait_for_message(time);
            // Time in which this process was stopped doesn't count.
            let elapsed = start.elapsed().min(2 * CHECK);
            *self.left = self.left.map(|left| left.saturating_sub(elapsed));
            match waited {
                Ok(true) => match self.process.receive(bytes) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    received => return received,
                },
                Ok(false) if self.process.exceeds_limits() => {
                    return Err(ErrorKind::TimedOut.into());
                }
                // A message may have arrived before the process exited.
                Ok(false) if has_ended => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(false) => has_ended = self.process.has_ended()?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
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
