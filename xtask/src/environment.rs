//! Python environments that these commands make for themselves.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::shell;

/// The interpreter of the environment of that name below the target directory, with what a file requires;
/// makes it if it's missing or outdated.
pub(crate) fn made(project: &Project, name: &str, requirements: &str) -> Result<PathBuf> {
    made_by(project, Path::new("python3"), name, requirements)
}

/// The same, of a Python that is chosen.
pub(crate) fn made_by(
    project: &Project,
    base: &Path,
    name: &str,
    requirements: &str,
) -> Result<PathBuf> {
    // Steps that run side by side ask for the same.
    static MAKING: Mutex<()> = Mutex::new(());
    let _alone = MAKING.lock();
    let place = project.target.join(name);
    let python = programs(&place).join(format!("python{EXE_SUFFIX}"));
    let wanted = fs::read_to_string(project.root.join(requirements))
        .with_context(|| format!("{requirements} can't be read"))?;
    // Written last, so an environment that broke half way is made again.
    let stamp = place.join("requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    empty(project, base, &place)
        .and_then(|()| install(project, &python, &["--requirement", requirements]))
        .with_context(|| format!("no Python environment with what {requirements} lists"))?;
    fs::write(stamp, wanted)?;
    Ok(python)
}

/// Makes an environment in which nothing is installed.
pub(crate) fn empty(project: &Project, base: &Path, place: &Path) -> Result<()> {
    if !shell::exists(base) {
        bail!("no {}", base.display());
    }
    let mut venv = Command::new(base);
    venv.args(["-m", "venv", "--clear"]).arg(place);
    shell::run(venv.current_dir(&project.root))
}

/// Lets the pip of an environment install what the words say.
pub(crate) fn install(project: &Project, python: &Path, words: &[&str]) -> Result<()> {
    let mut pip = Command::new(python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    shell::run(pip.args(words).current_dir(&project.root))
}

/// Where an environment has its programs.
pub(crate) fn programs(place: &Path) -> PathBuf {
    place.join(if cfg!(windows) { "Scripts" } else { "bin" })
}
