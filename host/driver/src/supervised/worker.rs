//! The worker, which runs a task and sends the result to its supervisor.

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

use crate::pipeline::Watch;

use super::children;
use super::message::{Task, WorkerMessage, receive, send};

/// A worker with a task.
pub struct Worker {
    channel: Arc<Mutex<UnixStream>>,
    sends_passes: bool,
}

impl Worker {
    /// Receives the task from the supervisor that started this process with these descriptors, and starts watching for
    /// crashes. The process is killed when its supervisor exits.
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
        watch(Then::Terminate);
        let channel = Arc::new(Mutex::new(channel));
        let to = channel.clone();
        children::report_to(move |child| send_to(&to, &WorkerMessage::Waits(child)));
        let worker = Worker {
            channel,
            sends_passes: task.sends_passes,
        };
        Ok((worker, task.job))
    }

    /// Returns a watch that reports the run to the supervisor.
    pub fn watch(&self) -> Watch {
        let (passes, texts) = (self.channel.clone(), self.channel.clone());
        let on_pass = move |name: &str| send_to(&passes, &WorkerMessage::Pass(name.to_owned()));
        Watch {
            on_pass: self.sends_passes.then(|| Box::new(on_pass) as Box<_>),
            sink: Some(Arc::new(move |text| {
                send_to(&texts, &WorkerMessage::Print(text.to_owned()));
            })),
            ..Watch::default()
        }
    }

    /// Receives the next piece of work, or `None` at the end.
    pub(super) fn next<M: DeserializeOwned>(&self) -> Option<M> {
        receive(&mut *util::lock(&self.channel)).ok()
    }

    /// Sends the result of the task or of a piece of work. The supervisor may then terminate this process. If it can't
    /// be reached, this process exits.
    ///
    /// # Errors
    /// If the result can't be serialized.
    pub fn respond(&self, response: &impl Serialize) -> io::Result<()> {
        flush_streams();
        let response = WorkerMessage::Response(response, skipped_calls());
        let sent = send(&mut *util::lock(&self.channel), &response);
        sent.inspect_err(|error| {
            if error.raw_os_error().is_some() {
                lose_channel();
            }
        })
    }
}

/// Sends a message. If the supervisor can't be reached, sending the result will fail, too.
fn send_to(channel: &Mutex<UnixStream>, message: &WorkerMessage<()>) {
    _ = send(&mut *util::lock(channel), message);
}

/// Kills this process and its process group when the parent process exits. The channel is closed then, even if a plugin
/// ignores signals and has left the group.
fn end_with_parent(channel: &UnixStream) -> io::Result<()> {
    let channel = channel.try_clone()?;
    let group: Pid = getpid();
    let wait = move || {
        // No requested events: `poll` always reports a hangup.
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
