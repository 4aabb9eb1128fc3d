//! `cargo xtask wheel` and `python`: the Python package as one file, and in the checkout.
//!
//! maturin builds the native module and writes the wheel; `python/build/wheels.py` adds the command and the standard plugins,
//! as it does for `pip install .`. With zig each file of it works with [`OLDEST_GLIBC`]; without, with this machine's.

mod elf;
mod trial;

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::dist::{self, Built, PROFILE};
use crate::environment;
use crate::project::{Profile, Project, library_name};
use crate::shell;

pub(crate) use trial::{as_a_new_user, clean};

/// The crate of the native module.
const MODULE: &str = "passdock-python";
/// Its library, as cargo names it.
const LIBRARY: &str = "_passdock";
/// What puts files into wheels.
const SCRIPT: &str = "python/build/wheels.py";
/// The glibc of RHEL 8 and Debian 10, after which manylinux_2_28 is named.
const OLDEST_GLIBC: (u32, u32) = (2, 28);

/// How a wheel is built.
struct How<'a> {
    /// Cargo's profile.
    profile: &'a str,
    /// Whether zig links it.
    zig: bool,
}

/// The words of the command: `--profile dist|dev`, `--zig`.
fn how<'a>(words: &[&'a str]) -> Result<How<'a>> {
    let mut how = How {
        profile: PROFILE,
        zig: false,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match (*word, words.as_slice()) {
            ("--zig", _) => how.zig = true,
            ("--profile", ["dist" | "dev", ..]) => {
                how.profile = words.next().expect("it was just looked at");
            }
            _ => bail!("`wheel` takes --profile dist or --profile dev, and --zig; not `{word}`"),
        }
    }
    Ok(how)
}

/// Makes `target/wheels/passdock-….whl`, checks its files, and uses it as a new user would. Gives its path.
pub(crate) fn wheel(project: &Project, words: &[&str]) -> Result<PathBuf> {
    let how = how(words)?;
    let tools = tools(project, how.zig)?;
    let built = programs(project, &how, &tools)?;
    let wheel = made_by_maturin(project, &how, &tools, &built.system)?;
    let mut packages: Vec<&str> = dist::packages().collect();
    packages.push(MODULE);
    let licences = project
        .target
        .join("wheels/licences/LICENSES-THIRD-PARTY.txt");
    fs::create_dir_all(licences.parent().expect("it was just joined"))?;
    fs::write(
        &licences,
        dist::of_what_is_linked(project, &built.system, &packages)?,
    )?;
    let mut add = Command::new(&tools);
    add.arg(SCRIPT).arg("add").arg(&wheel);
    add.arg("--licences").arg(&licences);
    shell::run(with_programs(&mut add, &built).current_dir(&project.root))?;

    let root = trial::unpack(project, &tools, &wheel)?;
    let is_optimised = how.profile == PROFILE;
    if is_optimised {
        dist::names_no_path_of_this_machine(project, &root, &["."])?;
    }
    elf::check(&root, how.zig.then_some(OLDEST_GLIBC), is_optimised)?;
    if how.zig {
        trial::is_for_old_systems(&tools, &wheel, OLDEST_GLIBC)?;
    }
    let size = fs::metadata(&wheel)?.len();
    println!("{}: {:.1} MB", project.shown(&wheel), size as f64 / 1e6);
    let most = dist::MOST;
    ensure!(
        size < most || !is_optimised,
        "it has {size} bytes, {most} are allowed"
    );
    as_a_new_user(project, Path::new("python3"), &wheel)?;
    Ok(wheel)
}

/// A wheel for this machine of what the tests have built; nothing is built for it.
pub(crate) fn of_tests(project: &Project) -> Result<PathBuf> {
    let tools = tools(project, false)?;
    let directory = project.target.join("wheels/tests");
    let mut assemble = Command::new(&tools);
    assemble.arg(SCRIPT).arg("assemble").arg(&directory);
    assemble.arg("--extension").arg(module(project));
    with_programs(&mut assemble, &Built::to_test(project)?);
    shell::run(with_tools_in_path(&mut assemble, &tools)?.current_dir(&project.root))?;
    only_wheel(&directory)
}

/// Builds the package quickly, and links it into the checkout: `PYTHONPATH=python` uses it from there.
pub(crate) fn develop(project: &Project) -> Result<()> {
    let mut cargo = project.cargo();
    cargo.args(["build", "--package", MODULE]);
    for package in dist::packages() {
        cargo.args(["--package", package]);
    }
    shell::run(&mut cargo)?;
    let mut link = Command::new("python3");
    link.arg(SCRIPT)
        .arg("link")
        .arg("--extension")
        .arg(module(project));
    with_programs(&mut link, &Built::to_test(project)?);
    shell::run(link.current_dir(&project.root))?;
    println!("PYTHONPATH=python python3 -c 'import passdock' uses it");
    Ok(())
}

/// The native module that a plain build makes.
fn module(project: &Project) -> PathBuf {
    project.built(Profile::Dev).join(library_name(LIBRARY))
}

/// The interpreter of the environment that has what makes wheels.
fn tools(project: &Project, zig: bool) -> Result<PathBuf> {
    let (name, requirements) = match zig {
        true => ("wheel/zig-tools", "python/build/zig.txt"),
        false => ("wheel/tools", "python/build/requirements.txt"),
    };
    environment::made(project, name, requirements)
}

/// A command that finds an environment's programs, and leaves nothing outside of the target directory.
fn with_tools_in_path<'c>(command: &'c mut Command, tools: &Path) -> Result<&'c mut Command> {
    let bin = tools
        .parent()
        .context("an interpreter lies in a directory")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(bin.to_owned()).chain(std::env::split_paths(&path));
    Ok(command.env("PATH", std::env::join_paths(paths)?))
}

fn with_programs<'c>(command: &'c mut Command, built: &Built) -> &'c mut Command {
    command.arg("--program").arg(&built.command);
    for plugin in &built.plugins {
        command.arg("--plugin").arg(plugin);
    }
    command
}

/// Where cargo builds for a wheel. What zig links has a directory of its own; else `dist` has built most of it.
fn target(project: &Project, zig: bool) -> PathBuf {
    match zig {
        true => project.target.join("wheel"),
        false => project.target.clone(),
    }
}

/// Builds the command and the standard plugins.
fn programs(project: &Project, how: &How<'_>, tools: &Path) -> Result<Built> {
    let system = dist::system(project)?;
    let (program, action, system_of_target) = match how.zig {
        true => {
            let (major, minor) = OLDEST_GLIBC;
            let program = beside(tools, "cargo-zigbuild");
            (program, "zigbuild", format!("{system}.{major}.{minor}"))
        }
        false => ("cargo".into(), "build", system.clone()),
    };
    let mut build = Command::new(program);
    build.args([action, "--locked", "--profile", how.profile]);
    build.args(["--target", &system_of_target]);
    for package in dist::packages() {
        build.args(["--package", package]);
    }
    shell::run(for_wheels(&mut build, project, how, tools)?)?;
    let directory = match how.profile {
        "dev" => "debug",
        profile => profile,
    };
    let directory = target(project, how.zig).join(&system).join(directory);
    Ok(Built::in_directory(&directory, system))
}

/// Lets maturin build the native module and write the wheel.
fn made_by_maturin(
    project: &Project,
    how: &How<'_>,
    tools: &Path,
    system: &str,
) -> Result<PathBuf> {
    let directory = project.target.join("wheels/new");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    let (major, minor) = OLDEST_GLIBC;
    let oldest = format!("manylinux_{major}_{minor}");
    let mut maturin = Command::new(beside(tools, "maturin"));
    maturin.args(["build", "--locked", "--profile", how.profile]);
    maturin.args(["--target", system, "--interpreter"]);
    maturin.arg(tools).arg("--out").arg(&directory);
    match how.zig {
        true => maturin.args(["--zig", "--auditwheel", "check", "--compatibility", &oldest]),
        false => maturin.args(["--auditwheel", "skip", "--compatibility", "linux"]),
    };
    shell::run(for_wheels(&mut maturin, project, how, tools)?)?;
    let made = only_wheel(&directory)?;
    let name = made.file_name().context("a wheel has a name")?;
    let wheel = project.target.join("wheels").join(name);
    fs::rename(&made, &wheel)?;
    Ok(wheel)
}

/// A command that builds for a wheel: every one the same way, so that cargo builds nothing twice.
fn for_wheels<'c>(
    command: &'c mut Command,
    project: &Project,
    how: &How<'_>,
    tools: &Path,
) -> Result<&'c mut Command> {
    let target = target(project, how.zig);
    with_tools_in_path(command, tools)?
        .current_dir(&project.root)
        .env("RUSTFLAGS", dist::without_paths(project)?)
        .env("CARGO_ZIGBUILD_CACHE_DIR", target.join("zig"))
        .env("ZIG_GLOBAL_CACHE_DIR", target.join("zig/global"))
        .env("CARGO_TARGET_DIR", target);
    Ok(command)
}

/// A program of an environment.
fn beside(python: &Path, program: &str) -> PathBuf {
    python.with_file_name(format!("{program}{EXE_SUFFIX}"))
}

fn only_wheel(directory: &Path) -> Result<PathBuf> {
    let mut wheels = dist::files(directory)?;
    wheels.retain(|file| file.extension().is_some_and(|extension| extension == "whl"));
    match <[PathBuf; 1]>::try_from(wheels) {
        Ok([wheel]) => Ok(wheel),
        Err(wheels) => bail!(
            "{} has {} wheels instead of one",
            directory.display(),
            wheels.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::how;

    #[test]
    fn what_the_command_is_told() {
        let told = |words: &[&str]| how(words).map(|how| (how.profile.to_owned(), how.zig));
        assert_eq!(told(&[]).expect("nothing"), ("dist".to_owned(), false));
        assert_eq!(
            told(&["--zig", "--profile", "dev"]).expect("both"),
            ("dev".to_owned(), true)
        );
        for wrong in [&["--profile"][..], &["--profile", "bench"], &["dev"]] {
            assert!(told(wrong).is_err(), "{wrong:?}");
        }
    }
}
