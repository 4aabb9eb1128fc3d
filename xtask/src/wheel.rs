//! `cargo xtask wheel` and `python`: the Python package as one file, and in the checkout.
//!
//! Cargo builds all of its files at once: the native module, the command, the standard plugins. `python/build/wheels.py` puts
//! them into a wheel, with what maturin says of the package. With zig each works with [`OLDEST_GLIBC`]; without, with this
//! machine's. (`maturin build --zig` is the same linker, for one crate.)

mod elf;
mod trial;

use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
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
    let files = build(project, &how, &tools)?;
    let licences = project
        .target
        .join("wheels/licences/LICENSES-THIRD-PARTY.txt");
    fs::create_dir_all(licences.parent().expect("it was just joined"))?;
    write_licences(project, &licences)?;
    let mut more = vec![("--licences", licences.into_os_string())];
    if how.zig {
        let (major, minor) = OLDEST_GLIBC;
        more.push(("--platform", format!("manylinux_{major}_{minor}").into()));
    }
    let wheel = assemble(
        project,
        &tools,
        &project.target.join("wheels"),
        &files,
        &more,
    )?;

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

/// Writes the licences of what is linked into the package's files, which go with it.
pub(crate) fn write_licences(project: &Project, file: &Path) -> Result<()> {
    let packages: Vec<&str> = packages().collect();
    let text = dist::of_what_is_linked(project, &dist::system(project)?, &packages)?;
    fs::write(file, text).with_context(|| format!("{} can't be written", file.display()))
}

/// A wheel for this machine of what the tests have built; nothing is built for it.
pub(crate) fn of_tests(project: &Project) -> Result<PathBuf> {
    let tools = tools(project, false)?;
    let files = Files {
        module: project.built(Profile::Dev).join(library_name(LIBRARY)),
        others: Built::to_test(project)?,
    };
    // Its files are large, and it's used once.
    let more = [("--level", "1".into())];
    let directory = project.target.join("wheels/tests");
    assemble(project, &tools, &directory, &files, &more)
}

/// Builds the package quickly, and links it into the checkout: `PYTHONPATH=python` uses it from there.
pub(crate) fn develop(project: &Project) -> Result<()> {
    let mut cargo = project.cargo();
    cargo.arg("build");
    for package in packages() {
        cargo.args(["--package", package]);
    }
    shell::run(&mut cargo)?;
    let files = Files {
        module: project.built(Profile::Dev).join(library_name(LIBRARY)),
        others: Built::to_test(project)?,
    };
    let mut link = Command::new("python3");
    files.told_to(link.arg(SCRIPT)).arg("link");
    shell::run(link.current_dir(&project.root))?;
    println!("PYTHONPATH=python python3 -c 'import passdock' uses it");
    Ok(())
}

/// The interpreter of the environment that has what makes wheels.
fn tools(project: &Project, zig: bool) -> Result<PathBuf> {
    let (name, requirements) = match zig {
        true => ("wheel/zig-tools", "python/build/zig.txt"),
        false => ("wheel/tools", "python/build/requirements.txt"),
    };
    environment::made(project, name, requirements)
}

/// The system's unwinder, which the module is linked with: `python/build.rs` says why.
fn unwinder() -> Result<String> {
    let mut compiler = Command::new("cc");
    let path = shell::read(compiler.arg(format!("-print-file-name={}", elf::UNWINDER)))?;
    Ok(path.trim().to_owned())
}

/// What cargo makes for the package.
struct Files {
    module: PathBuf,
    /// The command and the standard plugins.
    others: Built,
}

impl Files {
    /// Tells the script of them.
    fn told_to<'c>(&self, script: &'c mut Command) -> &'c mut Command {
        script.arg("--extension").arg(&self.module);
        script.arg("--program").arg(&self.others.command);
        for plugin in &self.others.plugins {
            script.arg("--plugin").arg(plugin);
        }
        script
    }
}

/// The packages that are built, all at once: by itself each has other features of what it depends on, and all of that
/// would be built again.
fn packages() -> impl Iterator<Item = &'static str> {
    dist::packages().chain([MODULE])
}

fn build(project: &Project, how: &How<'_>, tools: &Path) -> Result<Files> {
    let system = dist::system(project)?;
    let (mut build, target) = match how.zig {
        true => {
            // What zig links has a directory of its own, and zig's own caches are there.
            let target = project.target.join("wheel");
            let mut zigbuild = Command::new(beside(tools, "cargo-zigbuild"));
            with_tools_in_path(zigbuild.arg("zigbuild"), tools)?
                .env("PASSDOCK_UNWINDER", unwinder()?)
                .env("CARGO_ZIGBUILD_CACHE_DIR", target.join("zig"))
                .env("ZIG_GLOBAL_CACHE_DIR", target.join("zig/global"));
            (zigbuild, target)
        }
        false => {
            let mut build = project.cargo();
            build.arg("build");
            (build, project.target.clone())
        }
    };
    let (major, minor) = OLDEST_GLIBC;
    let glibc = if how.zig {
        format!(".{major}.{minor}")
    } else {
        String::new()
    };
    build.args(["--locked", "--profile", how.profile]);
    build.args(["--target", &format!("{system}{glibc}")]);
    for package in packages() {
        build.args(["--package", package]);
    }
    build
        .current_dir(&project.root)
        .env("RUSTFLAGS", dist::without_paths(project)?)
        .env("CARGO_TARGET_DIR", &target);
    shell::run(&mut build)?;
    let directory = match how.profile {
        "dev" => "debug",
        profile => profile,
    };
    let directory = target.join(&system).join(directory);
    Ok(Files {
        module: directory.join(library_name(LIBRARY)),
        others: Built::in_directory(&directory, system),
    })
}

/// Makes a wheel of files that were built: what is said of the package in it is maturin's.
fn assemble(
    project: &Project,
    tools: &Path,
    directory: &Path,
    files: &Files,
    more: &[(&str, OsString)],
) -> Result<PathBuf> {
    let mut assemble = Command::new(tools);
    files
        .told_to(assemble.arg(SCRIPT))
        .arg("assemble")
        .arg(directory);
    for (option, value) in more {
        assemble.arg(option).arg(value);
    }
    shell::run(with_tools_in_path(&mut assemble, tools)?.current_dir(&project.root))?;
    only_wheel(directory)
}

/// A command that finds an environment's programs.
fn with_tools_in_path<'c>(command: &'c mut Command, tools: &Path) -> Result<&'c mut Command> {
    let bin = tools
        .parent()
        .context("an interpreter lies in a directory")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(bin.to_owned()).chain(std::env::split_paths(&path));
    Ok(command.env("PATH", std::env::join_paths(paths)?))
}

/// A program of an environment.
fn beside(python: &Path, program: &str) -> PathBuf {
    python.with_file_name(format!("{program}{EXE_SUFFIX}"))
}

/// The wheel that was just made; older ones were removed.
fn only_wheel(directory: &Path) -> Result<PathBuf> {
    let files = fs::read_dir(directory)?.map(|entry| Ok(entry?.path()));
    let mut wheels = files.collect::<Result<Vec<_>>>()?;
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
