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
const C_INSTRUMENT: &str = "c.counter";
/// A compiler, its language, and the standard.
type Compiler = (&'static str, &'static str, &'static str);
const COMPILERS: [Compiler; 2] = [("gcc", "c", "-std=c11"), ("g++", "c++", "-std=c++17")];
const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// The header stands by itself, as C11 and as C++17, without a warning.
pub(crate) fn test_header(project: &Project) -> Result<()> {
    for (compiler, language, standard) in COMPILERS {
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

/// The example in C builds as C and as C++, and the host runs its pass under its instrument.
pub(crate) fn test_c_pass(project: &Project) -> Result<()> {
    for compiler in COMPILERS {
        let plugin = build_c_pass(project, compiler)?;
        let directory = plugin.parent().unwrap_or(&plugin);
        let pipeline = directory.join("pipeline.toml");
        fs::write(
            &pipeline,
            format!(
                "[[instruments]]\nname = \"{C_INSTRUMENT}\"\nlimit = 1\n\
                 [[passes]]\nname = \"{C_PASS}\"\n[[passes]]\nname = \"{C_PASS}\"\n"
            ),
        )?;
        let report = shell::read(
            Command::new(project.passdock(Profile::Dev))
                .arg("run")
                .arg(&pipeline)
                .args(["examples/models/digits.onnx", "--json", "--plugin-dir"])
                .arg(directory)
                .current_dir(&project.root),
        )?;
        let report: Value = serde_json::from_str(&report)?;
        let statuses = [0, 1].map(|at| report["passes"][at]["status"].clone());
        if statuses != ["changed", "skipped"] {
            let passes = &report["passes"];
            bail!("{C_PASS} should change the example model and then be vetoed: {passes}");
        }
        let shown = &report["instruments"][0]["text"];
        if *shown != "1 passes ran, 1 were vetoed" {
            bail!("{C_INSTRUMENT} should have counted one pass: {report}");
        }
    }
    Ok(())
}

/// Builds `examples/c-pass` and gives the plugin's path.
fn build_c_pass(project: &Project, (compiler, language, standard): Compiler) -> Result<PathBuf> {
    let directory = project.target.join("c-pass").join(language);
    fs::create_dir_all(&directory)?;
    let plugin = directory.join(library_name("c_pass"));
    let mut command = needed(compiler)?;
    command
        .args(["-x", language, standard])
        .args(["-O2", "-shared", "-fPIC", "-I", INCLUDE])
        .args(WARNINGS);
    shell::run(
        command
            .arg("examples/c-pass/c_pass.c")
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
