//! The end of a worker whose supervisor is gone, also if a plugin ignores the signal that the system sends then.

use std::mem;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpgrp, getpid, getppid, kill_process_group};

/// The times that it is looked whether the process has another parent: its files close a little before it is gone.
const ROUNDS: usize = 1000;

/// Ends this process, and what it started in its group, when the process that started it is gone. `channel` leads there.
/// Where no thread can be had, the system's signal has to do.
pub(super) fn end_with_parent(channel: &UnixStream) {
    let (Ok(channel), Some(parent)) = (channel.try_clone(), getppid()) else {
        return;
    };
    let watch = move || {
        // Nothing is waited for but the end, which is always told.
        while poll(&mut [PollFd::new(&channel, PollFlags::empty())], None) == Err(Errno::INTR) {}
        // A plugin may have closed the descriptor, which isn't this one's any more.
        mem::forget(channel);
        for _ in 0..ROUNDS {
            if getppid() != Some(parent) && getpgrp() == getpid() {
                _ = kill_process_group(getpid(), Signal::KILL);
            }
            thread::sleep(Duration::from_millis(1));
        }
    };
    _ = thread::Builder::new().stack_size(1 << 16).spawn(watch);
}
