//! This process as a worker: the arguments that its supervisor passes, and questions to the supervisor.

use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::OnceLock;

use passdock::supervised::Worker;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The argument that starts this program as a worker.
pub(crate) const WORKER: &str = "__worker";

/// The descriptors and the command that a worker inherits from its supervisor.
pub(crate) struct WorkerArgs {
    /// The descriptor of the channel.
    pub(crate) channel: i32,
    /// The descriptor of the record.
    pub(crate) record: i32,
    /// The arguments of a command that runs entirely in the worker.
    pub(crate) command: Vec<OsString>,
}

impl WorkerArgs {
    /// Returns the arguments of this process if it is a worker. Parsing them here is faster than with clap, and hides
    /// them from users.
    pub(crate) fn from_process() -> Option<WorkerArgs> {
        let mut args = std::env::args_os().skip(1);
        args.next().filter(|arg| arg == OsStr::new(WORKER))?;
        let mut number = || args.next()?.to_str()?.parse().ok();
        let (channel, record) = (number()?, number()?);
        Some(WorkerArgs {
            channel,
            record,
            command: args.collect(),
        })
    }
}

/// The worker that this process is, if it is one.
static RUNNING: OnceLock<Worker> = OnceLock::new();

/// Sets the worker that this process is, and returns it.
pub(crate) fn set(worker: Worker) -> &'static Worker {
    RUNNING.get_or_init(|| worker)
}

/// Whether this process is a worker.
pub(crate) fn is_set() -> bool {
    RUNNING.get().is_some()
}

/// Asks the supervisor something. Returns `None` if this process isn't a worker.
pub(crate) fn ask<A: DeserializeOwned>(question: &impl Serialize) -> Option<io::Result<A>> {
    Some(RUNNING.get()?.ask(question))
}
