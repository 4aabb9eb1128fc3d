//! The options that say in which process plugins run, and for how long.

use std::time::Duration;

use clap::Args;

/// In which process plugins run, and for how long.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProcessArgs {
    /// Use plugins in this process. Otherwise they are in one of their own, which may die: the command says of what.
    #[arg(long)]
    pub(crate) in_process: bool,
    /// End a run of the pipeline that takes longer, and say which pass ran: it has failed. What the command itself
    /// reads and writes has the same limit.
    #[arg(long, value_name = "SECONDS", value_parser = time_limit, conflicts_with = "in_process")]
    pub(crate) timeout: Option<f64>,
}

impl ProcessArgs {
    /// The time that a run may take.
    #[cfg(unix)]
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.timeout.map(Duration::from_secs_f64)
    }
}

/// A time that can be waited for.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if Duration::try_from_secs_f64(seconds).is_ok() => Ok(seconds),
        _ => Err("this isn't a number of seconds".to_owned()),
    }
}

/// A time in which something can be done.
pub(crate) fn time_limit(text: &str) -> Result<f64, String> {
    match seconds(text)? {
        limit if Duration::from_secs_f64(limit).is_zero() => {
            Err("nothing can be done in no time".to_owned())
        }
        limit => Ok(limit),
    }
}
