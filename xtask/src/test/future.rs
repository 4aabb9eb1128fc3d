//! A host and plugins of the future: this checkout with a contract that has grown everywhere, beside
//! today's.
//!
//! A copy of the checkout gets a later minor of the contract: a field at the end of every struct that
//! may grow, a column more in every view, another number for some value of an enumeration (so that
//! one comes up which today's side doesn't know), a value more in every enumeration, a flag that nobody
//! knows in every flag word. Then plugins of one age are loaded by the host of the other, in the suites
//! that load plugins, in the command, and under valgrind; and each is asked for, or handed, what it
//! doesn't know (`unknown.rs`).

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::steps::Skip;
use super::{patch, unknown};
use crate::project::{Profile, Project, library_name};
use crate::shell;

/// The suites that load plugins of the other age, built by cargo or of C with its header. Others run the command,
/// which has plugins of its own age beside it, or write the contract down themselves (`plugin_files`).
const SUITES: [&str; 10] = [
    "conformance",
    "instruments",
    "instrument_in_c",
    "outlining",
    "outlining_in_c",
    "pass_call",
    "sdk",
    "sequential_in_c",
    "sharing",
    "two_hosts",
];
/// The plugins that the command has beside it.
const STANDARD: [&str; 3] = ["passdock-onnx-ops", "passdock-relax", "passdock-tir"];

/// One age: a checkout, and where it is built.
pub(super) struct Age {
    name: &'static str,
    root: PathBuf,
    target: PathBuf,
}

impl Age {
    pub(super) fn built(&self) -> PathBuf {
        self.target.join("debug")
    }

    pub(super) fn include(&self) -> PathBuf {
        self.root.join("plugin-api/abi/include")
    }

    fn cargo(&self, project: &Project) -> Command {
        let mut cargo = project.cargo();
        cargo.current_dir(&self.root);
        cargo.env("CARGO_TARGET_DIR", &self.target);
        cargo
    }

    /// Builds the command, all plugins and the suites. Of the whole workspace: a few packages alone would have
    /// what they depend on built with other features than the rest, and all of that again.
    fn build(&self, project: &Project) -> Result<()> {
        let mut cargo = self.cargo(project);
        cargo.args(["build", "--workspace", "--lib", "--bin", "passdock"]);
        shell::run(with_suites(&mut cargo))
    }
}

/// Both ages, built.
pub(super) struct Ages {
    pub(super) today: Age,
    pub(super) future: Age,
}

impl Ages {
    fn new(project: &Project) -> Result<Ages> {
        let place = project.target.join("future");
        let ages = Ages {
            today: Age {
                name: "today",
                root: project.root.clone(),
                target: project.target.clone(),
            },
            future: Age {
                name: "the future",
                root: place.join("checkout"),
                target: place.join("build"),
            },
        };
        copy(&ages.today.root, &ages.future.root)?;
        ages.today.build(project)?;
        if !ages.future.target.exists() {
            seed(project, &ages.future.built())?;
        }
        ages.future.build(project)?;
        Ok(ages)
    }

    /// Each host with the plugins of the other age.
    fn pairs(&self) -> [(&Age, &Age); 2] {
        [(&self.today, &self.future), (&self.future, &self.today)]
    }
}

/// Runs the suites and the command with a host of one age and plugins of the other.
pub(crate) fn test(project: &Project) -> Result<()> {
    let ages = Ages::new(project)?;
    for (host, plugins) in ages.pairs() {
        println!("the host of {}, plugins of {}", host.name, plugins.name);
        let mut suites = host.cargo(project);
        suites.args(["test", "--no-fail-fast", "--workspace"]);
        with_suites(&mut suites)
            // What is expected stays: the suites say the same, whatever meets.
            .env_remove("UPDATE_EXPECT")
            // Those that the suites depend on are there, too.
            .env("PASSDOCK_TEST_PLUGINS", plugins.built().join("deps"))
            .env("PASSDOCK_TEST_INCLUDE", plugins.include());
        shell::run(&mut suites)?;
    }
    unknown::test(&ages, project)?;
    let own = command(&ages.today, &ages.today, project)?;
    let expected = shell::read(&mut simplify(&own, project))?;
    for (host, plugins) in ages.pairs() {
        let simplified = shell::read(&mut simplify(&command(host, plugins, project)?, project))?;
        if simplified != expected {
            bail!(
                "the host of {} with plugins of {} simplifies the example in another way than \
                 today's with today's",
                host.name,
                plugins.name
            );
        }
    }
    Ok(())
}

fn with_suites(cargo: &mut Command) -> &mut Command {
    cargo.args(SUITES.iter().flat_map(|suite| ["--test", suite]))
}

/// Runs the command of one age with the plugins of the other under valgrind, which sees what is read
/// beyond what is there.
pub(crate) fn valgrind(project: &Project, all: bool) -> Result<()> {
    if !shell::exists("valgrind") {
        bail!(Skip("there is no valgrind".to_owned()));
    }
    let ages = Ages::new(project)?;
    for (host, plugins) in ages.pairs() {
        let passdock = command(host, plugins, project)?;
        checked(hello(&passdock, project))?;
        checked(c_pass(&passdock, plugins, project)?)?;
        checked(slices_stay(&passdock, plugins)?)?;
        if all {
            checked(simplify(&passdock, project))?;
        }
    }
    Ok(())
}

/// The command of one age in a directory of its own, with the standard plugins of the other.
pub(super) fn command(host: &Age, plugins: &Age, project: &Project) -> Result<PathBuf> {
    let place = format!("{} with {}", host.name, plugins.name);
    let place = project.target.join("future").join(place);
    fs::create_dir_all(&place)?;
    let executable = format!("passdock{}", std::env::consts::EXE_SUFFIX);
    let passdock = place.join(&executable);
    fs::copy(host.built().join(&executable), &passdock)?;
    for package in STANDARD {
        let library = library_name(&package.replace('-', "_"));
        fs::copy(plugins.built().join(&library), place.join(&library))?;
    }
    Ok(passdock)
}

/// Simplifies the example model, and prints it.
fn simplify(passdock: &Path, project: &Project) -> Command {
    let mut command = Command::new(passdock);
    command
        .args(["run", "examples/models/digits.onnx", "-o", "-"])
        .current_dir(&project.root);
    command
}

/// Infers, folds and tidies a small function.
fn hello(passdock: &Path, project: &Project) -> Command {
    let mut command = Command::new(passdock);
    command
        .args(["run", "examples/c-op/before.ir", "-o", "-", "--passes"])
        .arg("FoldConstant,CanonicalizeBindings,DeadCodeElimination")
        .current_dir(&project.root);
    command
}

/// A pass in safe Rust that holds on to what it read while it asks a definition.
fn slices_stay(passdock: &Path, plugins: &Age) -> Result<Command> {
    let model = passdock.with_file_name("slices.ir");
    fs::write(
        &model,
        "module {\n  fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {\n    \
         %y = onnx.Add(%x, %x)\n    return %y\n  }\n}\n",
    )?;
    let library = library_name("passdock_sdk_passes");
    let mut command = Command::new(passdock);
    command.arg("run").arg(&model).arg("--plugin");
    command.arg(plugins.built().join(library));
    command.args(["--passes", "sdk.transform.SlicesStay"]);
    Ok(command)
}

/// A pass and an instrument in C, built with the header of the plugins' age.
fn c_pass(passdock: &Path, plugins: &Age, project: &Project) -> Result<Command> {
    let place = passdock.with_file_name("c");
    fs::create_dir_all(&place)?;
    shell::run(
        Command::new("gcc")
            .args(["-std=c11", "-O1", "-g", "-shared", "-fPIC", "-I"])
            .arg(plugins.include())
            .arg(project.root.join("examples/c-pass/c_pass.c"))
            .arg("-o")
            .arg(place.join(library_name("c_pass"))),
    )?;
    let mut command = Command::new(passdock);
    command
        .args(["run", "examples/models/digits.onnx", "--plugin-dir"])
        .arg(place)
        .args(["--passes", "c.transform.FuseDoubleRelu"])
        .args(["--instrument", "c.counter"])
        .current_dir(&project.root);
    Ok(command)
}

/// Runs a command under valgrind; fails if it fails, or reads or writes what isn't its own.
fn checked(command: Command) -> Result<()> {
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--quiet", "--error-exitcode=99", "--trace-children=yes"])
        .arg(command.get_program())
        .args(command.get_args());
    if let Some(dir) = command.get_current_dir() {
        valgrind.current_dir(dir);
    }
    shell::run(&mut valgrind)
}

/// Copies what was built of other people's crates, which are the same in the future.
fn seed(project: &Project, to: &Path) -> Result<()> {
    let packages = project.metadata["packages"].as_array();
    let own: Vec<&str> = packages
        .into_iter()
        .flatten()
        .filter(|package| package["source"].is_null())
        .filter_map(|package| package["name"].as_str())
        .collect();
    let from = project.built(Profile::Dev);
    let places = ["deps", "build", ".fingerprint"];
    for place in places {
        fs::create_dir_all(to.join(place))?;
    }
    let mut hashes = HashSet::new();
    for unit in fs::read_dir(from.join(".fingerprint"))?.flatten() {
        if let Some((name, hash)) = unit.file_name().to_string_lossy().rsplit_once('-')
            && !own.contains(&name)
        {
            hashes.insert(hash.to_owned());
        }
    }
    for place in places {
        let mut copy = Command::new("cp");
        // With their times, by which cargo knows that they are right.
        copy.args(["--archive", "--target-directory"])
            .arg(to.join(place));
        for file in fs::read_dir(from.join(place))?.flatten() {
            let name = file.file_name();
            let name = name.to_string_lossy();
            let stem = name.split('.').next().unwrap_or_default();
            if stem
                .rsplit_once('-')
                .is_some_and(|(_, hash)| hashes.contains(hash))
            {
                copy.arg(file.path());
            }
        }
        shell::read(&mut copy)?;
    }
    Ok(())
}

/// Copies what git knows of a checkout, patched. Files that are there already in the same way keep
/// their times, so that they aren't built again.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let files = shell::read(
        Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(from),
    )?;
    let mut patches = patch::Patches::new(from)?;
    for file in files.split_terminator('\0') {
        let Ok(content) = fs::read(from.join(file)) else {
            continue; // Removed, and git doesn't know yet.
        };
        let content = patches.apply(file, content)?;
        let place = to.join(file);
        if fs::read(&place).is_ok_and(|there| there == content) {
            continue;
        }
        if let Some(dir) = place.parent() {
            fs::create_dir_all(dir)?;
        }
        fs::write(&place, content).with_context(|| format!("{} isn't written", place.display()))?;
    }
    patches.done()
}
