//! Plugins of several makers that share data: each a crate of its own, and read across compilers.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::project::{Profile, Project, library_name};
use crate::shell;
use crate::test::steps::NotHere;

/// The crate of the type comes first, then the plugins.
const CRATES: [&str; 3] = ["cost-type", "cost-maker", "cost-reader"];

/// Formatting, lints and tests of the makers' crates, each in a workspace of its own.
pub(crate) fn test(project: &Project) -> Result<()> {
    for name in CRATES {
        let cargo = |arguments: &[&str]| {
            let mut cargo = project.cargo();
            in_crate(&mut cargo, project, name).env("CARGO_TARGET_DIR", target(project));
            shell::run(cargo.args(arguments))
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
        cargo(&["build", "--offline"])?;
    }
    Ok(())
}

/// What one compiler's plugin publishes, the other's reads, both ways.
pub(crate) fn test_two_compilers(project: &Project) -> Result<()> {
    let other = other_toolchain(project)?;
    println!("the other compiler is that of the toolchain {other}");
    let theirs = project.target.join("share-other");
    for name in ["cost-maker", "cost-reader"] {
        let mut cargo = Command::new("rustup");
        cargo.args(["run", &other, "cargo", "build", "--offline"]);
        in_crate(&mut cargo, project, name).env("CARGO_TARGET_DIR", &theirs);
        shell::run(&mut cargo)?;
        let mut cargo = project.cargo();
        in_crate(&mut cargo, project, name).env("CARGO_TARGET_DIR", target(project));
        shell::run(cargo.args(["build", "--offline"]))?;
    }
    let ours = target(project);
    for (maker, reader) in [(&theirs, &ours), (&ours, &theirs)] {
        let mut test = project.cargo();
        in_crate(&mut test, project, "cost-reader").env("CARGO_TARGET_DIR", &ours);
        test.env("COST_MAKER", library(maker, "cost_maker"))
            .env("COST_READER", library(reader, "cost_reader"));
        shell::run(test.args(["test", "--offline", "--test", "reading"]))?;
    }
    Ok(())
}

/// `examples/share/NAME`, with the host that its tests run.
fn in_crate<'c>(command: &'c mut Command, project: &Project, name: &str) -> &'c mut Command {
    command
        .current_dir(project.root.join("examples/share").join(name))
        .env("PASSDOCK", project.passdock(Profile::Dev))
}

fn target(project: &Project) -> PathBuf {
    project.target.join("vendor")
}

fn library(target: &Path, name: &str) -> PathBuf {
    target.join("debug").join(library_name(name))
}

/// A toolchain of rustup's whose compiler isn't the one that builds this project.
fn other_toolchain(project: &Project) -> Result<String> {
    if !shell::exists("rustup") {
        bail!(NotHere(
            "there is one compiler, as there is no rustup".into()
        ));
    }
    let ours = shell::read(Command::new("rustc").arg("-vV").current_dir(&project.root))?;
    let ours = commit(&ours).context("rustc doesn't say what it was made of")?;
    let list = shell::read(Command::new("rustup").args(["toolchain", "list"]))?;
    for name in list.lines().filter_map(|line| line.split(' ').next()) {
        // One that is broken isn't one.
        let version = shell::read(Command::new("rustup").args(["run", name, "rustc", "-vV"]));
        if version.is_ok_and(|version| commit(&version).is_some_and(|theirs| theirs != ours)) {
            return Ok(name.to_owned());
        }
    }
    bail!(NotHere(
        "all toolchains here have the same compiler; `rustup toolchain install nightly` adds one"
            .into()
    ))
}

/// The commit that a compiler was made of.
fn commit(version: &str) -> Option<&str> {
    let mut lines = version.lines();
    lines.find_map(|line| line.strip_prefix("commit-hash: "))
}

#[cfg(test)]
mod tests {
    use super::commit;

    #[test]
    fn a_compiler_is_told_by_its_commit() {
        let version = "rustc 1.95.0 (5980)\nbinary: rustc\ncommit-hash: 5980\nrelease: 1.95.0\n";
        assert_eq!(commit(version), Some("5980"));
        assert_eq!(commit("rustc 1.95.0"), None);
    }
}
