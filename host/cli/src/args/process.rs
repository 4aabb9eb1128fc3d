//! Options for the process that runs plugins, and its time limit.

use std::time::Duration;

use clap::Args;
use passdock::SandboxMode;

/// Options for the process that runs plugins, and its time limit.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProcessArgs {
    /// Run plugins in this process
    ///
    /// By default they run in a child process, so that the command can report their crashes.
    #[arg(long, hide_short_help = true)]
    pub(crate) in_process: bool,
    /// Run plugins in a sandbox
    ///
    /// It denies plugins all files that the run doesn't need, the network, other programs and other processes. `auto`
    /// uses the parts that the system has.
    #[arg(
        long,
        value_name = "auto|require|off",
        value_parser = sandbox_mode,
        default_value = "auto",
        conflicts_with = "in_process",
        hide_short_help = true
    )]
    pub(crate) sandbox: SandboxMode,
    /// Stop the command after this time
    ///
    /// A pass that was running is reported as failed. The time includes reading and writing the model.
    #[arg(long, value_name = "SECONDS", value_parser = time_limit, conflicts_with = "in_process")]
    pub(crate) timeout: Option<Duration>,
}

/// Parses the name of a mode.
fn sandbox_mode(text: &str) -> Result<SandboxMode, String> {
    match text {
        "auto" => Ok(SandboxMode::Auto),
        "require" => Ok(SandboxMode::Require),
        "off" => Ok(SandboxMode::Off),
        _ => Err("expected `auto`, `require` or `off`".to_owned()),
    }
}

/// Parses a duration in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| "expected a number of seconds".to_owned())
}

/// Parses a duration in seconds that is greater than 0.
pub(crate) fn time_limit(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        limit if limit.is_zero() => Err("must be greater than 0".to_owned()),
        limit => Ok(limit),
    }
}
