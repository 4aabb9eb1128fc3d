//! The worker: it does its task, and sends what comes of it.

use std::io;
use std::os::fd::RawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;

use passdock_core::util;
use passdock_crash::{
    Record, Then, flush_streams, ignore_terminal_stops, inherited, lose_channel, record_to,
    skip_terminated, skipped_calls, watch,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::children;
use crate::pipeline::Watch;

use super::message::{Task, WorkerMessage, receive, send};

/// A worker that has its task.
pub struct Worker {
    channel: Arc<Mutex<UnixStream>>,
    sends_passes: bool,
}

impl Worker {
    /// Takes the task of the supervisor that started this process with these descriptors, and watches for crashes
    /// from now on. The process dies with its supervisor.
    ///
    /// # Errors
    /// If this process wasn't started by a supervisor.
    pub fn start<J: DeserializeOwned>(channel: RawFd, record: RawFd) -> io::Result<(Worker, J)> {
        let mut channel = UnixStream::from(inherited(channel)?);
        record_to(Record::inherited(record)?);
        ignore_terminal_stops();
        #[cfg(target_os = "linux")]
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        let task: Task<J> = receive(&mut channel)?;
        end_with_parent(&channel)?;
        skip_terminated(task.terminations);
        watch(Then::Die);
        let channel = Arc::new(Mutex::new(channel));
        let to = channel.clone();
        children::report_to(move |child| tell(&to, &WorkerMessage::Waits(child)));
        let worker = Worker {
            channel,
            sends_passes: task.sends_passes,
        };
        Ok((worker, task.job))
    }

    /// The watch of a run: the supervisor hears of it.
    pub fn watch(&self) -> Watch {
        let (passes, texts) = (self.channel.clone(), self.channel.clone());
        let on_pass = move |name: &str| tell(&passes, &WorkerMessage::Pass(name.to_owned()));
        Watch {
            on_pass: self.sends_passes.then(|| Box::new(on_pass) as Box<_>),
            sink: Some(Arc::new(move |text| {
                tell(&texts, &WorkerMessage::Print(text.to_owned()));
            })),
            ..Watch::default()
        }
    }

    /// Hears the next piece of work; `None`: there is no more.
    pub(super) fn next<M: DeserializeOwned>(&self) -> Option<M> {
        receive(&mut *util::lock(&self.channel)).ok()
    }

    /// Ends the work, or a piece of it, with its answer: the supervisor may end this process from now on. It ends here
    /// if the supervisor can't be reached.
    ///
    /// # Errors
    /// If it can't be written as a message.
    pub fn answer(&self, answer: &impl Serialize) -> io::Result<()> {
        flush_streams();
        let answer = WorkerMessage::Answer(answer, skipped_calls());
        let sent = send(&mut *util::lock(&self.channel), &answer);
        sent.inspect_err(|error| {
            if error.raw_os_error().is_some() {
                lose_channel();
            }
        })
    }
}

/// Sends the supervisor something. That it can't be reached shows when it is to get the answer.
fn tell(channel: &Mutex<UnixStream>, message: &WorkerMessage<()>) {
    _ = send(&mut *util::lock(channel), message);
}

/// Ends this process, and what it started in its group, when the process that started it is gone: the other end of the
/// channel closes then, also if a plugin ignores signals and left the group.
fn end_with_parent(channel: &UnixStream) -> io::Result<()> {
    let channel = channel.try_clone()?;
    let group: Pid = getpid();
    let wait = move || {
        // Nothing is waited for but the end, which is always told.
        let mut end = [PollFd::new(&channel, PollFlags::empty())];
        while poll(&mut end, None) == Err(Errno::INTR) {}
        if end[0].revents().contains(PollFlags::HUP) {
            _ = kill_process_group(group, Signal::KILL);
            _ = kill_process(group, Signal::KILL);
        }
    };
    let thread = thread::Builder::new().stack_size(1 << 16).spawn(wait);
    thread.map(drop)
}
