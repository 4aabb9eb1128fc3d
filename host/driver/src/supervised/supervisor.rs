//! The supervisor: it starts the worker, listens, and knows how the worker ended.

use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use passdock_core::files::StandardOutput;
use passdock_core::{Watch, util};
use passdock_crash::{CallKind, Culprit, DEATH_BYTES, Death, DeathCause};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::message::{GO, Said, Task, receive, send};

/// The time that a worker gets to end by itself: after its answer, and when it is told to.
const GRACE: Duration = Duration::from_millis(500);

/// The deaths after which a job is given up that goes on past them.
const MAX_DEATHS: usize = 256;

/// How workers are started, and how long they may take.
#[derive(Clone, Debug)]
pub struct Supervisor {
    /// The program, which makes a [`super::Worker`] of the two numbers behind its arguments.
    pub program: PathBuf,
    /// The arguments before the numbers.
    pub arguments: Vec<String>,
    /// The time after which a worker is ended; `None`: it has as long as it takes.
    pub timeout: Option<Duration>,
}

/// The outcome of a job.
pub enum Ended<A> {
    /// The answer of the worker.
    Answered(A),
    /// The worker died, and going on past that is no use: no pass ran, or one died that was left out.
    Died(Death),
}

impl Supervisor {
    /// Has a job done. If the worker dies in a pass, another one does the same and lets that pass fail instead: what
    /// it answers is as of a pass that failed. `input` is what each of them has on standard input; `None`: what this
    /// process has.
    ///
    /// # Errors
    /// If no worker can be started.
    pub fn run<J: Serialize, A: DeserializeOwned>(
        &self,
        job: &J,
        mut input: Option<File>,
        watch: Watch,
    ) -> io::Result<Ended<A>> {
        let mut task = Task {
            job,
            deaths: Vec::new(),
        };
        let mut watch = watch;
        loop {
            let death = match self.attempt(&task, input.as_mut(), &watch)? {
                Ok(answer) => return Ok(Ended::Answered(answer)),
                Err(death) => death,
            };
            // What is shown was shown.
            watch.sink = None;
            let number = |death: &Death| death.running_pass().map_or(0, |pass| pass.number);
            let is_known = task
                .deaths
                .iter()
                .any(|known| number(known) == number(&death));
            if number(&death) == 0 || is_known || task.deaths.len() >= MAX_DEATHS {
                return Ok(Ended::Died(death));
            }
            task.deaths.push(death);
        }
    }

    fn attempt<J: Serialize, A: DeserializeOwned>(
        &self,
        task: &Task<J>,
        input: Option<&mut File>,
        watch: &Watch,
    ) -> io::Result<Result<A, Death>> {
        let input = match input {
            Some(file) => {
                file.rewind()?;
                Stdio::from(file.try_clone()?)
            }
            None => Stdio::inherit(),
        };
        let (mut channel, theirs) = UnixStream::pair()?;
        let deaths = tempfile::tempfile()?;
        deaths.set_len(DEATH_BYTES as u64)?;
        let their_deaths = deaths.try_clone()?;
        let mut running = running();
        for fd in [theirs.as_fd(), their_deaths.as_fd()] {
            fcntl_setfd(fd, FdFlags::empty())?;
        }
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .arg(theirs.as_raw_fd().to_string())
            .arg(their_deaths.as_raw_fd().to_string())
            .stdin(input)
            .stdout(StandardOutput::inherited())
            .spawn()?;
        *running = Some(Pid::from_child(&child));
        drop(running);
        drop((theirs, their_deaths));
        // One that goes on past a death has to come as far again, perhaps more slowly.
        let tries = if task.deaths.is_empty() { 1 } else { 2 };
        let mut heard = Heard {
            timeout: self.timeout.map(|limit| limit * tries),
            ..Heard::default()
        };
        match send(&mut channel, task) {
            // It died before it heard all of it.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                child.kill()?;
                child.wait()?;
                self::running().take();
                return Err(error);
            }
            _ => {}
        }
        let ended = Ending::of(&child)?;
        let mut channel = Channel {
            stream: channel,
            ended: &ended.pipe,
            until: heard.timeout.map(|limit| Instant::now() + limit),
        };
        let listened = self.listen(&mut channel, watch, &mut heard);
        let result = match listened {
            Ok(answer) => {
                // What a library does at the end doesn't change what was done.
                end_of(&mut child, GRACE)?;
                Ok(answer)
            }
            Err(_) => Err(self.death_of(&mut child, &deaths, heard)?),
        };
        ended.join();
        self::running().take();
        Ok(result)
    }

    /// Hears what the worker says, up to its answer.
    fn listen<A: DeserializeOwned>(
        &self,
        channel: &mut Channel<'_>,
        watch: &Watch,
        heard: &mut Heard,
    ) -> io::Result<A> {
        loop {
            match receive(channel) {
                Ok(Said::Pass(name)) => {
                    if let Some(on_pass) = &watch.on_pass {
                        on_pass(&name);
                    }
                    heard.passes += 1;
                    heard.last = name;
                }
                Ok(Said::Print(text)) => {
                    if let Some(sink) = &watch.sink {
                        sink(&text);
                    }
                }
                Ok(Said::Writes) => channel.stream.write_all(&[GO])?,
                Ok(Said::Answer(answer)) => return Ok(answer),
                Err(error) => {
                    heard.late = error.kind() == ErrorKind::TimedOut;
                    heard.garbled = !matches!(
                        error.kind(),
                        ErrorKind::TimedOut | ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset
                    );
                    return Err(error);
                }
            }
        }
    }

    /// What a worker died of that gave no answer. One that still runs is ended.
    fn death_of(&self, child: &mut Child, deaths: &File, heard: Heard) -> io::Result<Death> {
        if heard.late {
            // It says where it is.
            _ = kill_process(Pid::from_child(child), Signal::ABORT);
        }
        if heard.garbled {
            child.kill()?;
        }
        let status = end_of(child, GRACE)?;
        let written = written(deaths);
        // What closed the channel and went on running is another program in its place.
        let cause = status.map_or(DeathCause::Exit { status: None }, cause);
        let mut death = match written {
            Some(death) if death.cause != DeathCause::Foreseen => death,
            known => Death {
                cause,
                culprit: known.and_then(|known| known.culprit),
                pass: None,
            },
        };
        if heard.garbled {
            death.cause = DeathCause::Descriptors;
        }
        if heard.late {
            let seconds = self.timeout.unwrap_or_default().as_secs_f64();
            death.cause = DeathCause::Timeout { seconds };
        }
        if death.culprit.is_none() && heard.passes > 0 {
            // The last one that began: what it is at, it didn't say.
            let pass = Culprit {
                kind: CallKind::Pass,
                name: heard.last,
                plugin: None,
                function: None,
                number: heard.passes,
            };
            // Whatever it waits for, it is the pass that takes too long.
            match heard.late {
                true => death.culprit = Some(pass),
                false => death.pass = Some(pass),
            }
        }
        Ok(death)
    }
}

/// What was heard of a worker.
#[derive(Default)]
struct Heard {
    /// The number of passes that began.
    passes: u64,
    /// The last of them.
    last: String,
    /// Whether it took too long.
    late: bool,
    /// Whether it said what no worker says.
    garbled: bool,
    /// The time that it may take.
    timeout: Option<Duration>,
}

/// The worker that runs.
fn running() -> std::sync::MutexGuard<'static, Option<Pid>> {
    static RUNNING: Mutex<Option<Pid>> = Mutex::new(None);
    util::lock(&RUNNING)
}

/// Ends the worker that runs, and lets no other one start. For a thread that is about to end the process because of a
/// signal.
pub fn give_up() {
    let running = running();
    if let Some(pid) = *running {
        // It may have ended by itself meanwhile.
        _ = kill_process(pid, Signal::TERM);
    }
    std::mem::forget(running);
}

/// How a worker ended by itself; `None`: it took longer, and was killed.
fn end_of(child: &mut Child, grace: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(50);
    while start.elapsed() < grace {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// What a worker wrote of its death.
fn written(deaths: &File) -> Option<Death> {
    let mut bytes = [0; DEATH_BYTES];
    let len = deaths.read_at(&mut bytes, 0).ok()?;
    let mut lines = bytes[..len].split(|byte| *byte == b'\n');
    serde_json::from_slice(lines.next()?).ok()
}

/// The worker's end of the channel, for as long as the worker lives: what it started may hold the channel, too.
struct Channel<'e> {
    stream: UnixStream,
    ended: &'e PipeReader,
    until: Option<Instant>,
}

impl Read for Channel<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = self
                .until
                .map(|until| until.saturating_duration_since(Instant::now()));
            let limit = left.map(|left| Timespec {
                tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            });
            let events = PollFlags::IN;
            let mut polled = [
                PollFd::new(&self.stream, events),
                PollFd::new(self.ended, events),
            ];
            match poll(&mut polled, limit.as_ref()) {
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
                Ok(0) => return Err(ErrorKind::TimedOut.into()),
                Ok(_) => {}
            }
            let [said, ended] = polled.map(|fd| !fd.revents().is_empty());
            match (said, ended) {
                (true, _) => return self.stream.read(bytes),
                // It ended, and what it said was read.
                (false, true) => return Ok(0),
                (false, false) => {}
            }
        }
    }
}

/// A thread that waits for the end of a worker.
struct Ending {
    /// The pipe that says so.
    pipe: PipeReader,
    thread: JoinHandle<()>,
}

impl Ending {
    fn of(child: &Child) -> io::Result<Ending> {
        let (pipe, writer) = io::pipe()?;
        let pid = Pid::from_child(child);
        let thread = thread::spawn(move || {
            // Its status is left to who asks for it.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
            drop(writer);
        });
        Ok(Ending { pipe, thread })
    }

    fn join(self) {
        // It does nothing that panics.
        _ = self.thread.join();
    }
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
