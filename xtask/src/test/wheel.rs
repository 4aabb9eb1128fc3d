//! The Python package, as those have it who install it: its wheel in fresh environments, of the oldest Python and the
//! newest. What tests need beside it lies in environments that are kept.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, bail};

use crate::environment;
use crate::project::Project;
use crate::shell;
use crate::test::python::{makes_environments, needs_python};
use crate::test::steps::NotHere;
use crate::wheel::{as_a_new_user, clean, of_tests};

/// The oldest Python that the package is for: 3.11.
const OLDEST: u32 = 11;
/// What tests and the judges of types need.
const REQUIREMENTS: &str = "python/tests/requirements.txt";
/// What is judged: tests, and examples.
const TYPED: [&str; 2] = ["python/tests", "examples/python-vendor"];
/// The variables by which Python's tools are told where to keep things: the checkout stays as it is.
const KEPT: [(&str, &str); 2] = [
    ("HYPOTHESIS_STORAGE_DIRECTORY", "hypothesis"),
    ("MYPY_CACHE_DIR", "mypy"),
];

/// The tests, on the oldest Python.
pub(crate) fn test_on_oldest(project: &Project) -> Result<()> {
    match python(OLDEST) {
        Some(python) => test(project, &made(project)?, OLDEST, &python),
        None => bail!(NotHere(format!("no python3.{OLDEST}"))),
    }
}

/// The tests, on the newest Python that is here.
pub(crate) fn test_on_newest(project: &Project) -> Result<()> {
    match newest() {
        Some((minor, python)) => test(project, &made(project)?, minor, &python),
        None => bail!(NotHere(format!("no Python newer than 3.{OLDEST}"))),
    }
}

/// The tests with a wheel, on both.
pub(crate) fn test_on_all(project: &Project, wheel: &Path) -> Result<()> {
    let oldest = python(OLDEST).map(|python| (OLDEST, python));
    let pythons: Vec<(u32, PathBuf)> = oldest.into_iter().chain(newest()).collect();
    if pythons.is_empty() {
        bail!("no python3.{OLDEST} is here, and no newer one");
    }
    for (minor, python) in pythons {
        test(project, wheel, minor, &python)?;
    }
    Ok(())
}

/// The tests' types, and those of the stubs by what the module has, with the installed package.
pub(crate) fn test_types(project: &Project) -> Result<()> {
    let here = python(OLDEST)
        .map(|python| (OLDEST, python))
        .or_else(newest);
    let Some((minor, base)) = here else {
        bail!(NotHere(format!("no python3.{OLDEST}, and no newer one")));
    };
    let python = with_package(project, &made(project)?, minor, &base)?;
    shell::run(tool(project, &python, "mypy").arg("--strict").args(TYPED))?;
    if !shell::exists("node") {
        bail!(NotHere(
            "no node, by which pyright runs; mypy found nothing".into()
        ));
    }
    let mut pyright = tool(project, &python, "pyright");
    shell::run(pyright.arg("--pythonpath").arg(&python).args(TYPED))
}

/// The wheel of what the tests have built, made once.
fn made(project: &Project) -> Result<PathBuf> {
    static MADE: Mutex<Option<PathBuf>> = Mutex::new(None);
    let mut made = MADE.lock().expect("nothing panicked while it was made");
    if let Some(wheel) = &*made {
        return Ok(wheel.clone());
    }
    needs_python()?;
    let wheel = of_tests(project)?;
    Ok(made.insert(wheel).clone())
}

fn test(project: &Project, wheel: &Path, minor: u32, base: &Path) -> Result<()> {
    as_a_new_user(project, base, wheel)?;
    let python = with_package(project, wheel, minor, base)?;
    shell::run(tool(project, &python, "pytest").args(["--quiet", "python/tests"]))
}

/// An environment of a Python that has what tests need, and the wheel.
fn with_package(project: &Project, wheel: &Path, minor: u32, base: &Path) -> Result<PathBuf> {
    // Two steps may want it at once.
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _alone = INSTALLING.lock();
    let name = format!("wheel/python3.{minor}");
    let python = environment::made_by(project, base, &name, REQUIREMENTS)?;
    // The version is the one of the last build: what is there is replaced.
    let file = wheel.to_str().context("the path is UTF-8")?;
    environment::install(
        project,
        &python,
        &["--force-reinstall", "--no-deps", "--no-index", file],
    )?;
    Ok(python)
}

/// A module of Python's that is a program, run by an environment's interpreter.
fn tool(project: &Project, python: &Path, name: &str) -> Command {
    let mut command = clean(python, project);
    command.args(["-m", name]);
    for (variable, directory) in KEPT {
        command.env(variable, project.target.join("wheel").join(directory));
    }
    command
}

/// The newest Python here, if there is one newer than the oldest.
fn newest() -> Option<(u32, PathBuf)> {
    (OLDEST + 1..OLDEST + 20)
        .rev()
        .find_map(|minor| Some((minor, python(minor)?)))
}

/// A Python 3 of that minor version: one that PATH has, or pyenv.
fn python(minor: u32) -> Option<PathBuf> {
    let name = format!("python3.{minor}");
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = env::split_paths(&path).collect();
    places.extend(pyenv(minor));
    places
        .into_iter()
        .map(|place| place.join(&name))
        .find(|python| works(python))
}

/// Where pyenv keeps the programs of its Pythons of that version, the newest first.
fn pyenv(minor: u32) -> Vec<PathBuf> {
    let root = env::var_os("PYENV_ROOT").map(PathBuf::from);
    let Some(root) = root.or_else(|| Some(env::home_dir()?.join(".pyenv"))) else {
        return Vec::new();
    };
    let entries = fs::read_dir(root.join("versions")).into_iter().flatten();
    let prefix = format!("3.{minor}.");
    let mut versions: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name();
            // Not `3.13.0b1`, nor `3.13.0t`.
            let patch = name.to_str()?.strip_prefix(&prefix)?.parse().ok()?;
            Some((patch, entry.path().join("bin")))
        })
        .collect();
    versions.sort_by(|one, other| other.cmp(one));
    versions.into_iter().map(|(_, place)| place).collect()
}

/// Whether it is there and can make environments.
fn works(python: &Path) -> bool {
    python.is_file() && makes_environments(python)
}
