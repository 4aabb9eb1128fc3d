//! The arguments that a supervisor gives to its worker.

use std::ffi::{OsStr, OsString};

/// The word on the command line that makes this program a worker.
pub(crate) const WORKER: &str = "__worker";

/// What a supervisor left open for its worker.
pub(crate) struct WorkerArgs {
    /// The descriptor of the channel.
    pub(crate) channel: i32,
    /// The descriptor of the record.
    pub(crate) record: i32,
    /// The arguments of a command that is done here as a whole.
    pub(crate) command: Vec<OsString>,
}

impl WorkerArgs {
    /// The arguments of this process, if it is a worker. They aren't for people, and reading the whole command line
    /// takes time.
    pub(crate) fn of_process() -> Option<WorkerArgs> {
        let mut words = std::env::args_os().skip(1);
        words.next().filter(|word| word == OsStr::new(WORKER))?;
        let mut number = || words.next()?.to_str()?.parse().ok();
        let (channel, record) = (number()?, number()?);
        Some(WorkerArgs {
            channel,
            record,
            command: words.collect(),
        })
    }
}
