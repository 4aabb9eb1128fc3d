//! Python environments that these commands make for themselves.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::shell;

/// The interpreter of the environment of that name below the target directory, with what a file requires;
/// makes it if it's missing or outdated.
pub(crate) fn made(project: &Project, name: &str, requirements: &str) -> Result<PathBuf> {
    // Steps that run side by side ask for the same.
    static MAKING: Mutex<()> = Mutex::new(());
    let _alone = MAKING.lock();
    let place = project.target.join(name);
    let python = place.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    let wanted = fs::read_to_string(project.root.join(requirements))
        .with_context(|| format!("{requirements} can't be read"))?;
    // Written last, so an environment that broke half way is made again.
    let stamp = place.join("requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    if !shell::exists("python3") {
        bail!("no python3");
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--clear"]).arg(&place);
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet"]);
    pip.args(["--disable-pip-version-check", "--requirement", requirements]);
    shell::run(venv.current_dir(&project.root))
        .and_then(|()| shell::run(pip.current_dir(&project.root)))
        .with_context(|| format!("no Python environment with what {requirements} lists"))?;
    fs::write(stamp, wanted)?;
    Ok(python)
}
