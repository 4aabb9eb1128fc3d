//! The SDK as its users get it: packaged, copied out, built by their compiler.
//!
//! A plugin's author has neither this workspace nor its toolchain. So the files
//! that `cargo package` would ship, and the example plugins, are copied to a tree
//! of their own and built there, offline, by the oldest compiler promised.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::project::{Profile, Project, library_name};
use crate::shell;
use crate::test::new_plugin;
use crate::test::old_rust::OldRust;

/// The examples that stand for a vendor's crates, and how many lines each takes.
const VENDORS: [(&str, usize); 4] = [
    ("examples/hello-pass", 25),
    ("examples/custom-instrument", 80),
    ("examples/custom-op", 105),
    ("examples/npu-partition", 100),
];
/// The SDK's crates, as (package, directory).
const PACKAGES: [(&str, &str); 3] = [
    ("passdock-abi", "plugin-api/abi"),
    ("passdock-rule-language", "plugin-api/language"),
    ("passdock-plugin-api", "plugin-api"),
];
/// Passes that put the SDK to use, which a test of today's host loads.
const PASSES: (&str, &str) = ("passdock-sdk-passes", "tests/plugins/sdk");
/// What `cargo package` makes itself.
const GENERATED: [&str; 3] = [".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml.orig"];

/// Formatting, lints and the vendor's own tests, with today's compiler, in the vendor's own workspace.
pub(crate) fn test_vendor(project: &Project) -> Result<()> {
    for (vendor, most_lines) in VENDORS {
        test_one_vendor(project, vendor, most_lines)?;
    }
    Ok(())
}

fn test_one_vendor(project: &Project, vendor: &str, most_lines: usize) -> Result<()> {
    let directory = project.root.join(vendor);
    let lines = fs::read_to_string(directory.join("src/lib.rs"))?
        .lines()
        .count();
    if lines > most_lines {
        bail!("{vendor}/src/lib.rs has {lines} lines; it must fit in {most_lines}");
    }
    let cargo = |arguments: &[&str]| {
        let mut cargo = project.cargo();
        cargo.current_dir(&directory).args(arguments);
        shell::run(
            with_host(&mut cargo, project).env("CARGO_TARGET_DIR", project.target.join("vendor")),
        )
    };
    cargo(&["fmt", "--check"])?;
    cargo(&[
        "clippy",
        "--offline",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ])?;
    cargo(&["test", "--offline"])?;
    cargo(&["build", "--offline"])
}

/// The examples of the SDK that mustn't compile, and why they don't: only a nightly compares the codes, or what
/// passes for one.
pub(crate) fn test_refusals(project: &Project) -> Result<()> {
    let mut test = project.cargo();
    test.args(["test", "--doc", "--package", "passdock-plugin-api"]);
    shell::run(test.env("RUSTC_BOOTSTRAP", "1"))
}

/// The SDK's and the vendors' tests with the oldest compiler, from a copy.
pub(crate) fn test_with_old_rust(project: &Project) -> Result<()> {
    let old = OldRust::find(project)?;
    let tree = copy_out(project)?;
    let target = project.target.join("rust-1.63-build");
    let cargo = |directory: &Path, arguments: &[&str]| {
        let mut cargo = old.cargo();
        cargo.args(arguments).current_dir(directory);
        cargo.env("CARGO_TARGET_DIR", &target);
        shell::run(with_host(&mut cargo, project))
    };
    let vendors = VENDORS.map(|(vendor, _)| tree.join(vendor));
    for directory in [tree.clone()].iter().chain(&vendors) {
        cargo(directory, &["test", "--offline"])?;
    }
    new_plugin::test_with_old_rust(project, &old, &target)?;
    let (passes, _) = PASSES;
    cargo(&tree, &["build", "--offline", "--package", passes])?;
    let passes = target
        .join("debug")
        .join(library_name("passdock_sdk_passes"));
    let mut test = project.cargo();
    // One package alone would have all that it depends on built with other features.
    test.args(["test", "--workspace", "--test", "sdk"]);
    shell::run(test.env("PASSDOCK_SDK_PASSES", passes))
}

/// Tells the SDK's test helper which host to run.
fn with_host<'c>(command: &'c mut Command, project: &Project) -> &'c mut Command {
    command.env("PASSDOCK", project.passdock(Profile::Dev))
}

/// Copies packaged SDK and examples to a tree that stands by itself.
fn copy_out(project: &Project) -> Result<PathBuf> {
    let tree = project.target.join("sdk");
    if tree.exists() {
        fs::remove_dir_all(&tree)?;
    }
    for (package, directory) in PACKAGES {
        let list = shell::read(project.cargo().args([
            "package",
            "--list",
            "--allow-dirty",
            "--package",
            package,
        ]))?;
        let files = list.lines().filter(|file| !GENERATED.contains(file));
        copy_files(&project.root.join(directory), &tree.join(directory), files)?;
    }
    let (_, passes) = PASSES;
    for directory in VENDORS.map(|(vendor, _)| vendor).iter().chain([&passes]) {
        let list = shell::read(
            Command::new("git")
                .args(["ls-files", "--cached", "--others", "--exclude-standard"])
                .current_dir(project.root.join(directory)),
        )?;
        // Today's lock file is of a version that the old cargo can't read.
        copy_files(
            &project.root.join(directory),
            &tree.join(directory),
            list.lines().filter(|file| *file != "Cargo.lock"),
        )?;
    }
    // Ends the search for a workspace before it reaches this project's.
    let members = PACKAGES.iter().chain([&PASSES]);
    let members: Vec<String> = members
        .map(|(_, directory)| format!("{directory:?}"))
        .collect();
    let members = members.join(", ");
    let vendors = VENDORS.map(|(vendor, _)| format!("{vendor:?}")).join(", ");
    fs::write(
        tree.join("Cargo.toml"),
        format!("[workspace]\nmembers = [{members}]\nexclude = [{vendors}]\n"),
    )?;
    Ok(tree)
}

fn copy_files<'f>(from: &Path, to: &Path, files: impl Iterator<Item = &'f str>) -> Result<()> {
    for file in files {
        let target = to.join(file);
        fs::create_dir_all(target.parent().unwrap_or(to))?;
        fs::copy(from.join(file), target)
            .with_context(|| format!("cannot copy {}", from.join(file).display()))?;
    }
    Ok(())
}
