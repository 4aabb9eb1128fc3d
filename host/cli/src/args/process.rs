//! Options for the process that runs plugins, and its time limit.

use std::time::Duration;

use clap::Args;

/// Options for the process that runs plugins, and its time limit.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProcessArgs {
    /// Run plugins in this process
    ///
    /// By default they run in a child process, so that the command can report their crashes.
    #[arg(long, hide_short_help = true)]
    pub(crate) in_process: bool,
    /// Stop the command after this time
    ///
    /// A pass that was running is reported as failed. The time includes reading and writing the model.
    #[arg(long, value_name = "SECONDS", value_parser = time_limit, conflicts_with = "in_process")]
    pub(crate) timeout: Option<f64>,
}

impl ProcessArgs {
    /// Returns the time limit of a run.
    #[cfg(unix)]
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.timeout.map(Duration::from_secs_f64)
    }
}

/// Parses a duration in seconds.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if Duration::try_from_secs_f64(seconds).is_ok() => Ok(seconds),
        _ => Err("expected a number of seconds".to_owned()),
    }
}

/// Parses a duration in seconds that is greater than 0.
pub(crate) fn time_limit(text: &str) -> Result<f64, String> {
    match seconds(text)? {
        limit if Duration::from_secs_f64(limit).is_zero() => {
            Err("must be greater than 0".to_owned())
        }
        limit => Ok(limit),
    }
}
