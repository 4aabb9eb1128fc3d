//! Arguments that a supervisor passes to its worker.

use std::ffi::{OsStr, OsString};

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
