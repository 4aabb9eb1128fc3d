//! Whether the product compiles for another system than those it is tested on.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::project::Project;
use crate::shell;
use crate::test::steps::NotHere;

pub(crate) const TARGET: &str = "x86_64-pc-windows-gnu";

/// Checks the command and the standard plugins, without their tests, for Windows: with those features alone that they ask
/// for, which are fewer than the workspace's. Nothing is linked, so that nothing else of that system is needed. Where the
/// toolchain has no standard library for it, this system's stands in, for the features.
pub(crate) fn check(project: &Project) -> Result<()> {
    let is_there = needs_target(project);
    let target: &[&str] = if is_there.is_ok() {
        &["--target", TARGET]
    } else {
        &[]
    };
    shell::run(project.cargo().arg("check").args(target))?;
    is_there
}

/// Checks all crates and tests for Windows: `cargo xtask deep windows`.
pub(crate) fn check_all(project: &Project) -> Result<()> {
    needs_target(project)?;
    let what = ["check", "--workspace", "--all-targets", "--target", TARGET];
    shell::run(project.cargo().args(what))
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
