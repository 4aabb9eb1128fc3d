//! Running other programs.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Runs a command and returns its standard output; fails if the command fails.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let shown = format!("{command:?}");
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("could not start `{shown}`"))?;
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr);
        bail!("`{shown}` failed ({}): {}", output.status, printed.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` printed invalid UTF-8"))
}
