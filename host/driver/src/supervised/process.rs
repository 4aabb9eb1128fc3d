//! The process of a worker, as its supervisor sees it: started, heard, ended.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use passdock_crash::{Death, DeathCause};
use passdock_files::StandardOutput;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Supervisor;
use super::message::{Marks, Said, Task, receive_marked, send};
use super::record;
use super::running::{GRACE, Running, has_ended, running, runs_until};

/// The time after which it is looked whether a worker is still there that says nothing: what it started may hold the
/// channel open.
const LOOK: Duration = Duration::from_millis(200);

/// Whether this process waits for what a worker says.
static WAITS: AtomicBool = AtomicBool::new(false);

/// Whether this process waits for a worker, whose time has a limit of its own.
pub fn waits() -> bool {
    WAITS.load(Ordering::SeqCst)
}

/// A worker that runs, in a group of processes of its own with what it starts.
pub(super) struct Process<'s> {
    supervisor: &'s Supervisor,
    child: Child,
    #[cfg(target_os = "linux")]
    orphans: super::orphans::Orphans,
    channel: UnixStream,
    /// The marks of what it says.
    marks: Marks,
    record: File,
    /// Whether it took too long.
    late: bool,
    /// Whether its time was over when it ended.
    is_overdue: bool,
    /// Whether it said what no worker says.
    garbled: bool,
    /// Whether it got more time, because this process was stopped when its time was over.
    was_waiting: bool,
    /// Whether it was waited for.
    is_gone: bool,
}

impl<'s> Process<'s> {
    /// Starts a worker and tells it its task. `input` is what it has on standard input; `None`: what this process has.
    pub(super) fn start<J: Serialize>(
        supervisor: &'s Supervisor,
        task: &Task<J>,
        input: Option<&mut File>,
    ) -> io::Result<Process<'s>> {
        let input = match input {
            Some(file) => {
                file.rewind()?;
                Stdio::from(file.try_clone()?)
            }
            None => Stdio::inherit(),
        };
        let (channel, theirs) = UnixStream::pair()?;
        let record = record::create()?;
        let their_record = record.try_clone()?;
        let mut running = running();
        for fd in [theirs.as_fd(), their_record.as_fd()] {
            fcntl_setfd(fd, FdFlags::empty())?;
        }
        let mut command = Command::new(&supervisor.program);
        #[cfg(target_os = "linux")]
        let orphans = super::orphans::Orphans::of(&mut command);
        let child = command
            .args(&supervisor.before)
            .arg(theirs.as_raw_fd().to_string())
            .arg(their_record.as_raw_fd().to_string())
            .args(&supervisor.after)
            .stdin(input)
            .stdout(StandardOutput::inherited())
            .process_group(0)
            .spawn()?;
        *running = Some(Running::new(
            Pid::from_child(&child),
            #[cfg(target_os = "linux")]
            orphans.clone(),
        ));
        // Whatever is started when the lock is free doesn't get them.
        drop((theirs, their_record));
        drop(running);
        let mut process = Process {
            supervisor,
            child,
            #[cfg(target_os = "linux")]
            orphans,
            channel,
            marks: task.marks.clone(),
            record,
            late: false,
            is_overdue: false,
            garbled: false,
            was_waiting: false,
            is_gone: false,
        };
        process.channel.set_write_timeout(supervisor.timeout)?;
        match process.tell(task) {
            Ok(()) => Ok(process),
            Err(error) => {
                process.end(Duration::ZERO)?;
                Err(error)
            }
        }
    }

    /// Tells the worker something. That it died before it heard all of it, or doesn't listen, is no error: that shows when
    /// it is to answer.
    pub(super) fn tell(&mut self, message: &impl Serialize) -> io::Result<()> {
        match send(&mut self.channel, message) {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::BrokenPipe
                        | ErrorKind::ConnectionReset
                        | ErrorKind::WouldBlock
                        | ErrorKind::TimedOut
                ) =>
            {
                Ok(())
            }
            told => told,
        }
    }

    /// What the worker says next. What it waits is taken off the time that is left. An error if it says no more.
    pub(super) fn hear<Q: DeserializeOwned, A: DeserializeOwned>(
        &mut self,
        left: &mut Option<Duration>,
    ) -> io::Result<Said<Q, A>> {
        let until = left.map(|left| Instant::now() + left);
        if let Some(until) = until {
            runs_until(until);
        }
        let mut marks = self.marks.clone();
        let mut from = Heard {
            process: self,
            until,
        };
        WAITS.store(true, Ordering::SeqCst);
        let heard = receive_marked(&mut from, &mut marks);
        WAITS.store(false, Ordering::SeqCst);
        *left = from
            .until
            .map(|until| until.saturating_duration_since(Instant::now()));
        self.marks = marks;
        if let Err(error) = &heard {
            self.late = error.kind() == ErrorKind::TimedOut;
            self.is_overdue = *left == Some(Duration::ZERO);
            let ends = [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset];
            self.garbled = !self.late && !ends.contains(&error.kind());
        }
        heard
    }

    /// Waits until there is something to hear, or nothing more can come.
    fn wait(&self, until: Option<Instant>) -> io::Result<()> {
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(ErrorKind::TimedOut.into());
            }
            if self.has_message(left.map_or(LOOK, |left| left.min(LOOK)))? {
                return Ok(());
            }
            // It may have said something before it ended.
            if self.has_ended()? && !self.has_message(Duration::ZERO)? {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Whether a worker whose time is over had done something in time, and it is this process that didn't hear of it:
    /// somebody had stopped it. That counts once.
    fn waits(&mut self, until: Instant) -> io::Result<bool> {
        if self.was_waiting || until.elapsed() < LOOK || !self.has_message(Duration::ZERO)? {
            return Ok(false);
        }
        self.was_waiting = true;
        Ok(true)
    }

    /// Whether there is something to hear, or the end of it, within a time.
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

    /// Whether the process has ended. Its number stays its own until it is waited for.
    fn has_ended(&self) -> io::Result<bool> {
        has_ended(Pid::from_child(&self.child))
    }

    /// Ends a worker that is done. What a library does at the end doesn't change what was done.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.end(GRACE).map(drop)
    }

    /// Ends a worker that waits for more work.
    pub(super) fn dismiss(mut self) -> io::Result<()> {
        self.channel.shutdown(Shutdown::Write)?;
        self.end(GRACE).map(drop)
    }

    /// What a worker died of that gave no answer, and whether it is sure what it was at. One that still runs is ended.
    pub(super) fn death(mut self) -> io::Result<(Death, bool)> {
        if self.late {
            // It says where it is.
            _ = kill_process(Pid::from_child(&self.child), Signal::ABORT);
        }
        if self.garbled {
            self.child.kill()?;
        }
        let (status, program) = self.end(GRACE)?;
        // The system ended it, while this process was stopped.
        let is_killed = |status: ExitStatus| status.signal() == Some(Signal::KILL.as_raw());
        self.late |= self.is_overdue && status.is_some_and(is_killed);
        let (written, mut state) = record::read(&self.record);
        let has_said = written.is_some();
        let trace = record::read_trace(&self.record);
        let loaded = std::mem::take(&mut state.loaded);
        let cause = || match program {
            Some(program) => DeathCause::Exec { program },
            // It is there, and its channel isn't.
            None => status.map_or(DeathCause::Descriptors, cause),
        };
        let mut death = written.unwrap_or_else(|| Death::new(cause()));
        if self.garbled {
            death.cause = DeathCause::Descriptors;
        }
        if self.late {
            let seconds = self.supervisor.timeout.unwrap_or_default().as_secs_f64();
            death.cause = DeathCause::Timeout { seconds };
        }
        // A channel that somebody spoilt says so later.
        let is_sure = death.culprit.is_some() || death.cause != DeathCause::Descriptors;
        if death.culprit.is_none() {
            // It says of itself that it was none of its calls.
            death.on_other_thread = has_said && death.cause.is_of_a_thread();
            (death.culprit, death.pass) = state.innermost(trace.definition);
            // Whatever it waits for, it is the pass that takes too long.
            if self.late && death.culprit.is_none() {
                death.culprit = death.pass.take();
            }
        }
        // One that was ended for what it said was anywhere in the pass by then, or behind it.
        death.function = trace.function.filter(|_| !self.garbled);
        death.rewrites = trace.rewrites;
        death.loaded = loaded;
        Ok((death, is_sure && !self.garbled))
    }

    /// Ends a worker that doesn't end by itself, and what it started. Its status, and the program that it put in its
    /// place, if it did; no status: it was ended.
    fn end(&mut self, grace: Duration) -> io::Result<(Option<ExitStatus>, Option<String>)> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(20);
        let mut has_ended = self.has_ended()?;
        while !has_ended && start.elapsed() < grace {
            // The channel closes shortly before its end, unless something else holds it.
            match self.has_message(pause)? {
                true => std::thread::sleep(Duration::from_micros(20)),
                false => pause = (pause * 2).min(Duration::from_millis(5)),
            }
            has_ended = self.has_ended()?;
        }
        let program = other_program(&self.child, &self.supervisor.program);
        // As long as it isn't waited for, the group is its own.
        _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        // It may have left the group.
        _ = self.child.kill();
        let status = self.child.wait()?;
        self.is_gone = true;
        #[cfg(target_os = "linux")]
        self.orphans.end(Pid::from_child(&self.child));
        running().take();
        Ok((has_ended.then_some(status), program))
    }
}

/// What a worker says, for as long as it is there and has time.
struct Heard<'p, 's> {
    process: &'p mut Process<'s>,
    until: Option<Instant>,
}

impl Read for Heard<'_, '_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match (self.process.wait(self.until), self.until) {
            (Err(error), Some(until))
                if error.kind() == ErrorKind::TimedOut && self.process.waits(until)? =>
            {
                self.until = Some(Instant::now() + GRACE);
            }
            (waited, _) => waited?,
        }
        (&self.process.channel).read(bytes)
    }
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        if !self.is_gone {
            _ = self.end(Duration::ZERO);
        }
    }
}

/// The name of the program that a process runs instead of the one that it was started as, where the system says.
fn other_program(child: &Child, program: &Path) -> Option<String> {
    /// What the system keeps of a name.
    const LONGEST: usize = 15;
    let name_of = |process: &str| {
        let name = std::fs::read(format!("/proc/{process}/comm")).ok()?;
        Some(name.trim_ascii_end().to_vec())
    };
    let name = name_of(&child.id().to_string())?;
    let started = program.file_name().map_or(&[][..], OsStr::as_encoded_bytes);
    let started = &started[..started.len().min(LONGEST)];
    // In an emulator, all programs have its name.
    let is_other = name != started && Some(&name) != name_of("self").as_ref();
    is_other.then(|| String::from_utf8_lossy(&name).into_owned())
}

fn cause(status: ExitStatus) -> DeathCause {
    match status.signal() {
        Some(signal) => DeathCause::Signal {
            signal,
            address: None,
            stack_overflow: false,
        },
        None => DeathCause::Exit {
            status: status.code(),
        },
    }
}
