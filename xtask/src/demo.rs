//! `cargo xtask demo`: a newcomer's first look, one command after the other as
//! one would type them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::project::{Profile, Project, library_name};
use crate::shell;

const PIPELINE: &str = "examples/pipelines/demo.toml";
const MODEL: &str = "examples/models/digits.onnx";
const VENDOR: &str = "examples/hello-pass";

/// Builds what is needed with `profile`, drops a plugin in a directory, runs the pipeline.
pub(crate) fn demo(project: &Project, profile: Profile) -> Result<()> {
    println!("Build the host and the standard plugins:\n");
    let mut cargo = project.cargo();
    // The workspace's default members.
    shell::run(cargo.arg("build").args(profile.flags()))?;
    println!();
    show(project, profile)
}

/// The same, with the host and the standard plugins as they were built.
pub(crate) fn show(project: &Project, profile: Profile) -> Result<()> {
    println!("Build a vendor's plugin, a crate of its own that knows only the SDK:\n");
    let plugin = drop_in(project, profile)?;

    println!(
        "\nIt lies in a directory now. What is in it, read without running any of its code:\n"
    );
    passdock(project, profile, |command| {
        command.arg("inspect").arg(&plugin)
    })?;

    println!("\nRun it among the standard passes, on a network that reads handwritten digits:\n");
    let out = project.target.join("demo/digits.onnx");
    let plugins = plugin.parent().context("the plugin lies in a directory")?;
    passdock(project, profile, |command| {
        command
            .args(["run", PIPELINE, MODEL, "--plugin-dir"])
            .arg(plugins)
            .arg("-o")
            .arg(&out)
    })?;

    let (before, after) = (size(&project.root.join(MODEL))?, size(&out)?);
    println!(
        "\nThe result lies at {}: {after} bytes, where the original has {before}.",
        project.shown(&out)
    );
    println!("The passes are listed in {PIPELINE}; the vendor's is {VENDOR}/src/lib.rs.");
    if matches!(profile, Profile::Dev) {
        println!(
            "The times are those of a quick build; `cargo xtask demo --release` shows what it really costs."
        );
    }
    Ok(())
}

/// Builds the vendor's plugin and drops it in a directory; gives the file.
fn drop_in(project: &Project, profile: Profile) -> Result<PathBuf> {
    let manifest = project.root.join(VENDOR).join("Cargo.toml");
    let target = project.target.join("vendor");
    let mut cargo = project.cargo();
    cargo
        .arg("build")
        .args(profile.flags())
        .arg("--manifest-path")
        .arg(manifest);
    shell::run(cargo.env("CARGO_TARGET_DIR", &target))?;
    let name = library_name("hello_pass");
    let plugin = project.target.join("demo/plugins").join(&name);
    fs::create_dir_all(project.target.join("demo/plugins"))?;
    fs::copy(target.join(profile.directory()).join(&name), &plugin)
        .context("the vendor's plugin wasn't built")?;
    Ok(plugin)
}

fn passdock(
    project: &Project,
    profile: Profile,
    arguments: impl FnOnce(&mut Command) -> &mut Command,
) -> Result<()> {
    let mut command = Command::new(project.passdock(profile));
    shell::run(arguments(command.current_dir(&project.root)))
}

fn size(file: &Path) -> Result<u64> {
    Ok(fs::metadata(file)
        .with_context(|| format!("{} wasn't written", file.display()))?
        .len())
}
