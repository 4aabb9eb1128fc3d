//! The worker, which runs a task and sends the result to its supervisor.

use std::io::{self, IoSlice, Write};
use std::mem::MaybeUninit;
#[cfg(target_os = "linux")]
use std::os::fd::AsFd;
#[cfg(not(target_os = "linux"))]
use std::os::fd::BorrowedFd;
use std::os::fd::RawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;

use passdock_core::util;
use passdock_crash::{
    Record, Then, flush_streams, ignore_terminal_stops, inherited, lose_channel, record_to,
    skip_terminated, skipped_calls, watch,
};
use passdock_files::{declared_outputs, set_broker};
use passdock_sandbox::{Sandbox, SandboxEntry, SandboxMode};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::pipeline::Watch;

use super::message::{EnteredSandbox, Reply, Task, WorkerMessage, encode, receive, send};

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
        skip_terminated(task.terminations);
        watch(Then::Terminate);
        let worker = Worker {
            channel: Arc::new(Mutex::new(channel)),
            sends_passes: task.sends_passes,
        };
        worker.prepare_sandbox(task.sandbox);
        Ok((worker, task.job))
    }

    /// Prepares the sandbox, and lets the supervisor write all files.
    fn prepare_sandbox(&self, mode: SandboxMode) {
        let channel = self.channel.clone();
        passdock_sandbox::prepare(Sandbox {
            mode,
            reports: true,
            on_enter: Box::new(move |entered| {
                let channel = util::lock(&channel);
                // Without the supervisor, sending the result will fail, too.
                _ = send_entered(&channel, entered);
                _ = end_with_parent(&channel);
            }),
        });
        let temporary = std::env::temp_dir();
        passdock_sandbox::allow_write(&temporary);
        let channel = self.channel.clone();
        set_broker(temporary, move |request| {
            let reply = ask(&channel, &WorkerMessage::Output(request))?;
            Ok(serde_json::from_value(reply)?)
        });
    }

    /// Asks the supervisor for something that this process can't do.
    ///
    /// # Errors
    /// If the supervisor can't be reached, or its reply has another type.
    pub fn ask<R: DeserializeOwned>(&self, question: &impl Serialize) -> io::Result<R> {
        let question = serde_json::to_value(question)?;
        let reply = ask(&self.channel, &WorkerMessage::Ask(question))?;
        Ok(serde_json::from_value(reply)?)
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

/// Sends a request and returns the reply.
fn ask(channel: &Mutex<UnixStream>, request: &WorkerMessage<()>) -> io::Result<Value> {
    let mut channel = util::lock(channel);
    send(&mut *channel, request)?;
    Ok(receive::<Reply>(&mut *channel)??)
}

/// Sends the result of entering the sandbox, with the descriptor of the denied calls.
fn send_entered(channel: &UnixStream, entered: SandboxEntry) -> io::Result<()> {
    let message = encode(&WorkerMessage::<()>::Entered(EnteredSandbox {
        active: entered.parts,
        missing: entered.missing,
        outputs: declared_outputs(),
        // As in the record of calls.
        limits: entered
            .limits
            .into_iter()
            .filter_map(|(file, limits)| Some((file.to_str()?.to_owned(), limits)))
            .collect(),
    }))?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    #[cfg(target_os = "linux")]
    let denied = entered.denied.as_ref().map(AsFd::as_fd);
    #[cfg(not(target_os = "linux"))]
    let denied: Option<BorrowedFd<'_>> = None;
    if let Some(denied) = &denied {
        ancillary.push(SendAncillaryMessage::ScmRights(std::slice::from_ref(
            denied,
        )));
    }
    let sent = sendmsg(
        channel,
        &[IoSlice::new(&message)],
        &mut ancillary,
        SendFlags::empty(),
    )?;
    let mut channel = channel;
    channel.write_all(&message[sent..])
}

/// Kills this process and its process group when the parent process exits. The channel is closed then, even if a plugin
/// ignores signals and has left the group.
fn end_with_parent(channel: &UnixStream) -> io::Result<()> {
    let channel = channel.try_clone()?;
    let own: Pid = getpid();
    let wait = move || {
        // No requested events: `poll` always reports a hangup.
        let mut end = [PollFd::new(&channel, PollFlags::empty())];
        while poll(&mut end, None) == Err(Errno::INTR) {}
        if end[0].revents().contains(PollFlags::HUP) {
            _ = kill_process_group(own, Signal::KILL);
            _ = kill_process(own, Signal::KILL);
        }
        // A plugin may have closed the descriptor.
        std::mem::forget(channel);
    };
    let thread = thread::Builder::new().stack_size(1 << 16).spawn(wait);
    thread.map(drop)
}
