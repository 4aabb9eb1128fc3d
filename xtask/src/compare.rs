//! `cargo xtask compare`: what other tools make of models, beside passdock.
//!
//! Nothing is judged here, so it isn't a step of `cargo xtask test`: other tools' mistakes are theirs.

use std::process::Command;

use anyhow::Result;

use crate::project::Project;
use crate::{dist, environment, shell};

const SCRIPT: &str = "tests/python/compare.py";
const REQUIREMENTS: &str = "tests/python/compare.txt";

/// Builds passdock as it is given away, makes an environment with the tools, and runs the script with `arguments`.
pub(crate) fn compare(project: &Project, arguments: &[&str]) -> Result<()> {
    let python = environment::made(project, "compare/python", REQUIREMENTS)?;
    let passdock = dist::command(project)?;
    let mut script = Command::new(python);
    script
        .args(["-B", SCRIPT, "--passdock"])
        .arg(passdock)
        .arg("--work-dir")
        .arg(project.target.join("compare/models"));
    if let Some(models) = std::env::var_os("PASSDOCK_MODELS") {
        script.arg("--models").arg(models);
    }
    shell::run(script.args(arguments).current_dir(&project.root))
}
