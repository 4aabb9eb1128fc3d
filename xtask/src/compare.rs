//! `cargo xtask compare`: what other tools make of models, beside passdock.
//!
//! Nothing is judged here, so it isn't a step of `cargo xtask test`: other tools' mistakes are theirs.

use std::process::Command;

use anyhow::Result;

use crate::environment;
use crate::project::{Profile, Project};
use crate::shell;

const SCRIPT: &str = "tests/python/compare.py";
const REQUIREMENTS: &str = "tests/python/compare.txt";

/// Builds passdock optimised, makes an environment with the tools, and runs the script with `arguments`.
pub(crate) fn compare(project: &Project, arguments: &[&str]) -> Result<()> {
    let python = environment::made(project, "compare/python", REQUIREMENTS)?;
    let mut cargo = project.cargo();
    // The workspace's default members.
    shell::run(cargo.arg("build").args(Profile::Release.flags()))?;
    let mut script = Command::new(python);
    script
        .args(["-B", SCRIPT, "--passdock"])
        .arg(project.passdock(Profile::Release))
        .arg("--work-dir")
        .arg(project.target.join("compare/models"));
    if let Some(models) = std::env::var_os("PASSDOCK_MODELS") {
        script.arg("--models").arg(models);
    }
    shell::run(script.args(arguments).current_dir(&project.root))
}
