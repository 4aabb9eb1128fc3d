//! The contract as C sees it: the header by itself, and a plugin in one C file.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::project::{Profile, Project, library_name};
use crate::shell;
use crate::steps::Skip;

const INCLUDE: &str = "plugin-api/abi/include";
const C_PASS: &str = "c.transform.FuseDoubleRelu";
const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// The header stands by itself, as C11 and as C++17, without a warning.
pub(crate) fn test_header(project: &Project) -> Result<()> {
    for (compiler, language, standard) in [("gcc", "c", "-std=c11"), ("g++", "c++", "-std=c++17")] {
        let mut command = needed(compiler)?;
        command
            .args([standard, "-fsyntax-only", "-x", language])
            .args(WARNINGS);
        shell::run(
            command
                .arg(format!("{INCLUDE}/passdock.h"))
                .current_dir(&project.root),
        )?;
    }
    Ok(())
}

/// The example in C builds, and the host runs its passes.
pub(crate) fn test_c_pass(project: &Project) -> Result<()> {
    let plugin = build_c_pass(project)?;
    let report = shell::read(
        Command::new(project.passdock(Profile::Dev))
            .args([
                "run",
                "examples/models/digits.onnx",
                "--json",
                "--passes",
                C_PASS,
                "--plugin-dir",
            ])
            .arg(plugin.parent().unwrap_or(&plugin))
            .current_dir(&project.root),
    )?;
    let report: Value = serde_json::from_str(&report)?;
    let pass = &report["passes"][0];
    if pass["name"] != C_PASS || pass["status"] != "changed" {
        bail!("{C_PASS} should have changed the example model: {pass}");
    }
    Ok(())
}

/// Builds `examples/c-pass` and gives the plugin's path.
pub(crate) fn build_c_pass(project: &Project) -> Result<PathBuf> {
    let directory = project.target.join("c-pass");
    fs::create_dir_all(&directory)?;
    let plugin = directory.join(library_name("c_pass"));
    let mut gcc = needed("gcc")?;
    gcc.args(["-std=c11", "-O2", "-shared", "-fPIC", "-I", INCLUDE])
        .args(WARNINGS);
    shell::run(
        gcc.arg("examples/c-pass/c_pass.c")
            .arg("-o")
            .arg(&plugin)
            .current_dir(&project.root),
    )?;
    Ok(plugin)
}

fn needed(compiler: &str) -> Result<Command> {
    if !shell::exists(compiler) {
        bail!(Skip(format!("no {compiler}")));
    }
    Ok(Command::new(compiler))
}
