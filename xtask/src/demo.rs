//! `cargo xtask demo`: a newcomer's first look, one command after the other as
//! one would type them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::project::{Profile, Project, library_name};
use crate::shell;

const PIPELINE: &str = "examples/pipelines/demo.toml";
const MODEL: &str = "examples/models/digits.onnx";

pub(crate) fn demo(project: &Project) -> Result<()> {
    println!("Build the host and the standard plugins:\n");
    shell::run(project.cargo().args([
        "build",
        "--release",
        "--package",
        "passdock-cli",
        "--package",
        "passdock-onnx-ops",
        "--package",
        "passdock-relax",
        "--package",
        "passdock-tir",
    ]))?;

    println!("\nBuild a vendor's plugin, a crate of its own that knows only the SDK:\n");
    let plugins = build_vendor(project)?;

    println!(
        "\nIt lies in a directory now. What is in it, read without running any of its code:\n"
    );
    let plugin = plugins.join(library_name("hello_pass"));
    passdock(project, |command| command.arg("inspect").arg(&plugin))?;

    println!("\nRun it among the standard passes, on a network that reads handwritten digits:\n");
    let out = project.target.join("demo/digits.onnx");
    passdock(project, |command| {
        command
            .args(["run", PIPELINE, MODEL, "--timing", "--plugin-dir"])
            .arg(&plugins)
            .arg("-o")
            .arg(&out)
    })?;

    println!(
        "\nThe result lies at {}; it was {} bytes and is {}.",
        project.shown(&out),
        size(project.root.join(MODEL))?,
        size(out)?
    );
    println!("The pipeline was {PIPELINE}; the plugin's source is examples/hello-pass/src/lib.rs.");
    Ok(())
}

/// Builds `examples/hello-pass` and drops it in a directory.
fn build_vendor(project: &Project) -> Result<PathBuf> {
    let target = project.target.join("vendor");
    shell::run(
        project
            .cargo()
            .args(["build", "--release", "--manifest-path"])
            .arg(project.root.join("examples/hello-pass/Cargo.toml"))
            .env("CARGO_TARGET_DIR", &target),
    )?;
    let plugins = project.target.join("demo/plugins");
    fs::create_dir_all(&plugins)?;
    let name = library_name("hello_pass");
    fs::copy(target.join("release").join(&name), plugins.join(&name))
        .context("the vendor's plugin wasn't built")?;
    Ok(plugins)
}

fn passdock(project: &Project, arguments: impl FnOnce(&mut Command) -> &mut Command) -> Result<()> {
    let mut command = Command::new(project.passdock(Profile::Release));
    shell::run(arguments(command.current_dir(&project.root)))
}

fn size(file: PathBuf) -> Result<u64> {
    Ok(fs::metadata(&file)
        .with_context(|| format!("{} wasn't written", file.display()))?
        .len())
}
