//! The worker: it does what it is told, and tells what comes of it.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use passdock_core::util;
use passdock_crash::{
    CallKind, Mapped, Seen, Then, ends_by, expect, inherited, look_after, lost_channel,
    never_stop_for_terminal, observe, rely_on, trace_to, watch,
};
use passdock_files::give_up;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::pipeline::{Watch, Writing};
use crate::sent_error::SentError;

use super::guard::give_up_tracing;
use super::limit::{OwnLimit, PLACING};
use super::message::{Marks, Said, Task, receive, send_marked};
use super::parent::end_with_parent;
use super::record::{LEN, TRACE, Written};

/// A worker that has its task.
pub struct Worker {
    channel: Arc<Mutex<Channel>>,
    limit: Arc<Mutex<OwnLimit>>,
}

/// The worker's end of the channel.
struct Channel {
    stream: UnixStream,
    marks: Marks,
}

impl Channel {
    fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        send_marked(&mut self.stream, &mut self.marks, message)
    }

    fn ask<R: DeserializeOwned>(&mut self, message: &impl Serialize) -> io::Result<R> {
        self.send(message)?;
        receive(&mut self.stream)
    }
}

/// Whether this process is a worker.
static IS_WORKER: AtomicBool = AtomicBool::new(false);

impl Worker {
    /// Takes the task of the supervisor that started this process with these descriptors, and watches for crashes
    /// from now on. The process dies with its supervisor.
    ///
    /// # Errors
    /// If this process wasn't started by a supervisor.
    pub fn start<J: DeserializeOwned>(channel: RawFd, record: RawFd) -> io::Result<(Worker, J)> {
        let mut channel = UnixStream::from(inherited(channel)?);
        let record = Mapped::new(inherited(record)?, LEN)?;
        let written = Written::new(record);
        IS_WORKER.store(true, Ordering::SeqCst);
        give_up_tracing();
        // The foreground group of its terminal is the supervisor's.
        never_stop_for_terminal();
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Signal, set_parent_process_death_signal};
            set_parent_process_death_signal(Some(Signal::TERM))?;
        }
        let task: Task<J> = receive(&mut channel)?;
        end_with_parent(&channel);
        let limit = Arc::new(Mutex::new(OwnLimit::new(task.limit)));
        util::lock(&limit).begin();
        expect(task.deaths);
        watch(Then::Tell(record));
        if let Some(trace) = record.trace(TRACE) {
            trace_to(trace);
        }
        look_after();
        rely_on(channel.as_raw_fd());
        let channel = Arc::new(Mutex::new(Channel {
            stream: channel,
            marks: task.marks,
        }));
        let hears = task.says_passes.then(|| channel.clone());
        let waits = task.waits.then(|| channel.clone());
        observe(Box::new(move |seen| {
            // As long as the supervisor didn't hear of it, the worker is where it was.
            if let Some(waits) = &waits {
                wait_for::<()>(waits, &Said::Here);
            }
            written.see(seen);
            match (&hears, seen) {
                (Some(hears), Seen::Began(pass, _)) if pass.kind() == CallKind::Pass => {
                    tell(hears, &Said::Pass(pass.name().to_owned()));
                }
                _ => {}
            }
        }));
        Ok((Worker { channel, limit }, task.job))
    }

    /// The watch of a run: the supervisor hears of it.
    pub fn watch(&self) -> Watch {
        let (texts, writes_to) = (self.channel.clone(), self.channel.clone());
        let limit = self.limit.clone();
        Watch {
            // It hears of passes anyway.
            on_pass: None,
            sink: Some(Arc::new(move |text| {
                tell(&texts, &Said::Print(text.to_owned()));
            })),
            on_write: Some(Box::new(move |writing| {
                let Writing::Begins(report) = writing else {
                    return Ok(());
                };
                let writes = Said::Writes(Box::new(report.clone()));
                let begun: Result<(), SentError> = wait_for(&writes_to, &writes);
                util::lock(&limit).begin_with(PLACING);
                Ok(begun?)
            })),
            ..Watch::default()
        }
    }

    /// Asks the supervisor something.
    ///
    /// # Errors
    /// If it doesn't answer.
    pub fn ask<R: DeserializeOwned>(&self, question: &impl Serialize) -> io::Result<R> {
        util::lock(&self.limit).rest();
        let answer = util::lock(&self.channel).ask(&Said::<_, ()>::Ask(question));
        util::lock(&self.limit).begin();
        answer
    }

    /// Hears the next piece of work; `None`: there is no more.
    pub(super) fn next<M: DeserializeOwned>(&self) -> Option<M> {
        util::lock(&self.limit).rest();
        let next = receive(&mut util::lock(&self.channel).stream).ok();
        util::lock(&self.limit).begin();
        next
    }

    /// Ends the work, or a piece of it, with its answer. This process ends here if the supervisor doesn't take it.
    ///
    /// # Errors
    /// If it can't be written as a message.
    pub fn answer(&self, answer: &impl Serialize) -> io::Result<()> {
        let answer = Said::<(), _>::Answer(answer);
        let sent = util::lock(&self.channel).send(&answer);
        sent.inspect_err(|error| {
            if error.raw_os_error().is_some() {
                lost_channel();
            }
        })
    }
}

/// Ends this process and what it started, if it is a worker, and tells of the signal. For a thread that is about to end
/// the process because of that.
pub fn end_worker(signal: i32) {
    use rustix::process::{Signal, getpgrp, getpid, kill_process_group};
    if IS_WORKER.load(Ordering::SeqCst) && getpgrp() == getpid() {
        ends_by(signal);
        _ = kill_process_group(getpid(), Signal::KILL);
    }
}

/// Tells the supervisor something. One that is gone ends this process otherwise.
fn tell(channel: &Mutex<Channel>, said: &Said<(), ()>) {
    _ = util::lock(channel).send(said);
}

/// Waits until the supervisor lets this process go on: put the output in its place, for one. A supervisor that gave
/// this process up, or can't be heard any more, doesn't: then it ends here.
fn wait_for<A: DeserializeOwned>(channel: &Mutex<Channel>, said: &Said<(), ()>) -> A {
    let answer = util::lock(channel).ask(said);
    answer.unwrap_or_else(|_| {
        give_up();
        lost_channel();
        std::process::exit(1)
    })
}
