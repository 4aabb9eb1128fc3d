//! The arguments that a supervisor gives to its worker.

use std::ffi::OsString;

use clap::Args;

/// The word on the command line that makes this program a worker.
pub(crate) const WORKER: &str = "__worker";

/// What a supervisor left open for its worker.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// The descriptor of the channel.
    pub(crate) channel: i32,
    /// The descriptor to which a death is written.
    pub(crate) deaths: i32,
    /// The arguments of a command that is done here as a whole.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<OsString>,
}
