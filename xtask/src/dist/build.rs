//! The command and the standard plugins, built to be given away: optimised, stripped, without this machine's paths.

use std::env;
use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::project::{Profile, Project, library_name};
use crate::shell;

/// The profile of what is given away.
pub(crate) const PROFILE: &str = "dist";
/// The package of the command, and those of the standard plugins: what a plain `cargo build` makes.
const COMMAND: &str = "passdock-cli";
const PLUGINS: [&str; 3] = ["passdock-onnx-ops", "passdock-relax", "passdock-tir"];

/// What was built, and where.
pub(crate) struct Built {
    /// The system, as Rust names it: `x86_64-unknown-linux-gnu`.
    pub(crate) system: String,
    pub(crate) command: PathBuf,
    pub(crate) plugins: Vec<PathBuf>,
}

impl Built {
    /// Builds it.
    pub(super) fn to_give_away(project: &Project) -> Result<Self> {
        let system = system(project)?;
        let mut cargo = project.cargo();
        cargo.args([
            "build",
            "--locked",
            "--profile",
            PROFILE,
            "--target",
            &system,
        ]);
        for package in packages() {
            cargo.args(["--package", package]);
        }
        shell::run(cargo.env("RUSTFLAGS", without_paths(project)?))?;
        let directory = project.target.join(&system).join(PROFILE);
        Ok(Built::in_directory(&directory, system))
    }

    /// What the tests have built.
    pub(crate) fn to_test(project: &Project) -> Result<Self> {
        let system = system(project)?;
        Ok(Built::in_directory(&project.built(Profile::Dev), system))
    }

    /// What cargo has built in a directory of its own.
    pub(crate) fn in_directory(directory: &Path, system: String) -> Self {
        let library = |package: &str| directory.join(library_name(&package.replace('-', "_")));
        Built {
            system,
            command: directory.join(format!("passdock{EXE_SUFFIX}")),
            plugins: PLUGINS.map(library).into(),
        }
    }
}

/// The packages that are built.
pub(crate) fn packages() -> impl Iterator<Item = &'static str> {
    std::iter::once(COMMAND).chain(PLUGINS)
}

/// The system that the toolchain builds for.
pub(crate) fn system(project: &Project) -> Result<String> {
    let version = shell::read(Command::new("rustc").arg("-vV").current_dir(&project.root))?;
    let system = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(system.context("`rustc -vV` names no host")?.to_owned())
}

/// The flags that keep the paths of this machine, which messages of panics have, out of what is built.
pub(crate) fn without_paths(project: &Project) -> Result<String> {
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let mut flags = vec![
        remap(&cargo_home()?, "/cargo"),
        remap(&project.root, "/passdock"),
    ];
    flags.extend(env::var("RUSTFLAGS"));
    Ok(flags.join(" "))
}

/// Where cargo keeps the sources of others.
pub(super) fn cargo_home() -> Result<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    home.context("no directory of cargo is known: set CARGO_HOME")
}
