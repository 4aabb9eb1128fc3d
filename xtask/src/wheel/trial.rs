//! A wheel, tried: unpacked, judged by auditwheel, and installed where nothing else is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::environment;
use crate::project::Project;
use crate::shell;

/// The model that is optimised.
const MODEL: &str = "examples/models/digits.onnx";
/// What a new user types first.
const FIRST_LINES: &str = "\
import sys, passdock
report = passdock.optimize(sys.argv[1], sys.argv[2])
print(report)
print('passdock', passdock.__version__, 'from', passdock.__file__)
assert 'numpy' not in sys.modules, 'numpy was imported, and nobody looked at elements'
";
/// What pip says of an environment: names of packages.
const LIST: [&str; 5] = [
    "-m",
    "pip",
    "list",
    "--format=freeze",
    "--disable-pip-version-check",
];
/// What may be in an environment in which only the wheel was installed.
const EXPECTED: [&str; 4] = ["numpy", "passdock", "pip", "setuptools"];

/// Unpacks a wheel below the target directory.
pub(super) fn unpack(project: &Project, python: &Path, wheel: &Path) -> Result<PathBuf> {
    let root = project.target.join("wheels/unpacked");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    let mut unpack = Command::new(python);
    unpack.args(["-m", "zipfile", "-e"]).arg(wheel).arg(&root);
    shell::run(unpack.current_dir(&project.root))?;
    Ok(root)
}

/// Whether auditwheel says that all files of the wheel work on systems with that glibc.
pub(super) fn is_for_old_systems(
    python: &Path,
    wheel: &Path,
    (major, minor): (u32, u32),
) -> Result<()> {
    let mut show = Command::new(python);
    show.args(["-m", "auditwheel", "show"]).arg(wheel);
    let said = shell::read(&mut show)?;
    println!("{}", said.trim());
    let tag = said.split_once("platform tag").and_then(|(_, rest)| {
        let (_, rest) = rest.split_once(&format!("manylinux_{major}_"))?;
        rest.split('_').next()?.parse::<u32>().ok()
    });
    let tag = tag.context("auditwheel names no platform tag of manylinux")?;
    ensure!(
        tag <= minor,
        "auditwheel says manylinux_{major}_{tag}, which is newer than {major}.{minor}"
    );
    Ok(())
}

/// Installs the wheel, and what it depends on, in a new environment of a Python; runs the command and the first lines.
pub(crate) fn as_a_new_user(project: &Project, base: &Path, wheel: &Path) -> Result<()> {
    // Several Pythons may do this side by side.
    let name = base.file_name().context("a Python has a name")?;
    let place = project.target.join("wheels/new user").join(name);
    environment::empty(project, base, &place)?;
    let programs = environment::programs(&place);
    let python = programs.join("python");
    let file = wheel.to_str().context("the path is UTF-8")?;
    environment::install(project, &python, &[file])?;
    let listed = shell::read(Command::new(&python).args(LIST))?;
    let others = listed
        .lines()
        .filter_map(|line| line.split(['=', ' ']).next())
        .filter(|name| !EXPECTED.contains(name));
    let others: Vec<&str> = others.collect();
    ensure!(
        others.is_empty(),
        "the wheel brings other packages than numpy: {}",
        others.join(", ")
    );
    for module in [false, true] {
        let mut command = match module {
            false => clean(&programs.join("passdock"), project),
            true => clean(&python, project),
        };
        if module {
            command.args(["-m", "passdock"]);
        }
        command.arg("run").arg(MODEL).arg("-o");
        shell::run(command.arg(place.join("by command.onnx")))?;
    }
    let mut lines = clean(&python, project);
    lines.args(["-c", FIRST_LINES, MODEL]);
    shell::run(lines.arg(place.join("by lines.onnx")))?;
    let [by_command, by_lines] =
        ["by command.onnx", "by lines.onnx"].map(|name| fs::read(place.join(name)));
    ensure!(
        by_command? == by_lines?,
        "the command and the package make different files of {MODEL}"
    );
    Ok(())
}

/// A command that knows nothing of the checkout's package, nor of this project's settings, and leaves nothing there.
pub(crate) fn clean(program: &Path, project: &Project) -> Command {
    let mut command = Command::new(program);
    command.current_dir(&project.root);
    for name in [
        "PYTHONPATH",
        "PASSDOCK_STANDARD_PLUGINS",
        "PASSDOCK_PLUGIN_PATH",
        "PASSDOCK_CONFIG",
    ] {
        command.env_remove(name);
    }
    command
        .env("PASSDOCK_CACHE", "off")
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
}
