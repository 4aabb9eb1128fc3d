//! Whether the workspace compiles for another system than those it is tested on.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::project::Project;
use crate::shell;
use crate::test::steps::NotHere;

pub(crate) const TARGET: &str = "x86_64-pc-windows-gnu";

/// Checks all crates and tests for Windows, if this toolchain has a standard library for it.
/// Nothing is linked, so that nothing else of that system is needed.
pub(crate) fn check(project: &Project) -> Result<()> {
    needs_target(project)?;
    shell::run(
        project
            .cargo()
            .args(["check", "--workspace", "--all-targets", "--target", TARGET]),
    )
}

/// Fails as a step that can't be done here if this toolchain has no standard library for Windows.
pub(crate) fn needs_target(project: &Project) -> Result<()> {
    let libraries = shell::read(
        Command::new("rustc")
            .args(["--print", "target-libdir", "--target", TARGET])
            .current_dir(&project.root),
    )?;
    if !Path::new(libraries.trim()).is_dir() {
        bail!(NotHere(format!(
            "this toolchain can't build for {TARGET}; `rustup target add {TARGET}` adds it"
        )));
    }
    Ok(())
}
