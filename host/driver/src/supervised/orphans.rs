//! What a plugin started and left behind outside of the worker's group of processes: a daemon, as it were.
//!
//! The system hands it to the supervisor when the process that started it is gone. A variable of its environment, as it was
//! when it began, says that it comes from a worker.

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};

/// The variable, which has the number of the supervisor, and one of the worker.
const VARIABLE: &str = "PASSDOCK_WORKER";

/// The times that it is looked for more: what ends hands over what it started.
const ROUNDS: usize = 64;

/// What a worker leaves behind.
#[derive(Clone, Debug)]
pub(super) struct Orphans {
    /// The variable of the worker's environment and its value.
    marked: String,
}

impl Orphans {
    /// Those of a worker that is about to be started.
    pub(super) fn of(command: &mut Command) -> Orphans {
        static WORKERS: AtomicU32 = AtomicU32::new(0);
        // Where that can't be had, they stay.
        _ = set_child_subreaper(Some(getpid()));
        let worker = WORKERS.fetch_add(1, Ordering::Relaxed);
        let value = format!("{}.{worker}", getpid().as_raw_pid());
        command.env(VARIABLE, &value);
        Orphans {
            marked: format!("{VARIABLE}={value}"),
        }
    }

    /// Ends them, but for the worker itself, which has ended.
    pub(super) fn end(&self, worker: Pid) {
        for _ in 0..ROUNDS {
            let mut any = false;
            let children = children().into_iter();
            for pid in children.filter(|pid| *pid != worker && self.has(*pid)) {
                _ = kill_process(pid, Signal::KILL);
                _ = waitpid(Some(pid), WaitOptions::empty());
                any = true;
            }
            if !any {
                return;
            }
        }
    }

    /// Whether a child was begun by the worker.
    fn has(&self, child: Pid) -> bool {
        let environment = fs::read(format!("/proc/{}/environ", child.as_raw_pid()));
        let is_marked = |bytes: Vec<u8>| {
            let mut variables = bytes.split(|byte| *byte == 0);
            variables.any(|variable| variable == self.marked.as_bytes())
        };
        environment.is_ok_and(is_marked)
    }
}

/// The processes that are children of this one, where the system says.
fn children() -> Vec<Pid> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let lists = threads.flatten().filter_map(|thread| {
        let list = fs::read_to_string(thread.path().join("children"));
        list.ok()
    });
    let numbers = |list: String| {
        let numbers = list.split_whitespace().map(str::parse);
        numbers.flatten().collect::<Vec<i32>>()
    };
    lists.flat_map(numbers).filter_map(Pid::from_raw).collect()
}
