//! The contract as C sees it: the header by itself, and a plugin in one C file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::project::{Profile, Project, library_name};
use crate::shell;
use crate::test::cpp;
use crate::test::steps::{NotHere, Skip};

pub(super) const INCLUDE: &str = "plugin-api/abi/include";
const C_PASS: &str = "c.transform.FuseDoubleRelu";
const C_INSTRUMENT: &str = "c.counter";
/// A compiler, its language, and the standard.
pub(super) type Compiler = (&'static str, &'static str, &'static str);
pub(super) const COMPILERS: [Compiler; 2] =
    [("gcc", "c", "-std=c11"), ("g++", "c++", "-std=c++17")];
pub(super) const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// The header stands by itself, as C11 and as C++17, without a warning.
pub(crate) fn test_header(project: &Project, compilers: &[Compiler]) -> Result<()> {
    for &(compiler, language, standard) in compilers {
        let mut command = needed(compiler)?;
        command
            .args([standard, "-fsyntax-only", "-x", language])
            .args(WARNINGS);
        shell::run(
            command
                .arg(format!("{INCLUDE}/passdock.h"))
                .current_dir(&project.root),
        )?;
        // Hosts that can't load the plugin aren't asked for.
        for minor in ["0", "4000"] {
            let mut command = needed(compiler)?;
            command
                .args([standard, "-fsyntax-only", "-x", language])
                .arg(format!("-DPASSDOCK_TARGET_MINOR={minor}"))
                .arg(format!("{INCLUDE}/passdock.h"));
            let said = command.current_dir(&project.root).output()?;
            let text = String::from_utf8_lossy(&said.stderr);
            if said.status.success() || !text.contains("PASSDOCK_TARGET_MINOR is") {
                bail!("{compiler} should refuse PASSDOCK_TARGET_MINOR {minor}: {text}");
            }
        }
    }
    Ok(())
}

/// The example in C builds as C and as C++, and the host runs its pass under its instrument.
pub(crate) fn test_c_pass(project: &Project, compilers: &[Compiler]) -> Result<()> {
    for &compiler in compilers {
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
        // The pass that ran, and the pipeline around it.
        if *shown != "2 passes ran, 1 were vetoed" {
            bail!("{C_INSTRUMENT} should have counted two passes: {report}");
        }
    }
    Ok(())
}

/// The operator that an example in C defines is typed and folded as its text says.
pub(crate) fn test_c_op(project: &Project, compilers: &[Compiler]) -> Result<()> {
    let expected = fs::read_to_string(project.root.join("examples/c-op/after.ir"))?;
    for &compiler in compilers {
        let plugin = build_c(project, "examples/c-op/c_op.c", "c_op", compiler)?;
        let passdock = |arguments: &[&str]| {
            let mut command = Command::new(project.passdock(Profile::Dev));
            command.args(arguments).arg("--plugin-dir");
            command.arg(plugin.parent().unwrap_or(&plugin));
            shell::read(command.current_dir(&project.root))
        };
        let passes = "relax.transform.InferType,relax.transform.FoldConstant";
        let input = "examples/c-op/before.ir";
        let made = passdock(&["run", input, "-o", "-", "--passes", passes])?;
        if made != expected {
            bail!("examples/c-op/after.ir says otherwise:\n{made}");
        }
        let listed: Value =
            serde_json::from_str(&passdock(&["list", "ops", "acme.ScaledAdd", "--json"])?)?;
        let scale = &listed["ops"][0]["attributes"][0];
        if scale["name"] != "scale" || scale["default"] != 1.0 {
            bail!("acme.ScaledAdd should have `scale` of 1.0: {listed}");
        }
    }
    Ok(())
}

/// The rules of an example in C make of a module what its text says, and a mistake in rules is the pass's failure,
/// with its line.
pub(crate) fn test_c_rules(project: &Project, compilers: &[Compiler]) -> Result<()> {
    let example = project.root.join("examples/c-rules");
    let expected = fs::read_to_string(example.join("after.ir"))?;
    for &compiler in compilers {
        let plugin = build_c(project, "examples/c-rules/c_rules.c", "c_rules", compiler)?;
        let made = shell::read(&mut c_rules_command(project, &plugin))?;
        if made != expected {
            bail!("examples/c-rules/after.ir says otherwise:\n{made}");
        }
    }
    let source = fs::read_to_string(example.join("c_rules.c"))?;
    let wrong = source.replace("where float(%x)", "where flaot(%x)");
    let directory = project.target.join("c-wrong-rules");
    fs::create_dir_all(&directory)?;
    let wrong_source = directory.join("c_wrong_rules.c");
    fs::write(&wrong_source, wrong)?;
    let shown = wrong_source.display().to_string();
    let plugin = build_c(project, &shown, "c_wrong_rules", COMPILERS[0])?;
    let output = c_rules_command(project, &plugin).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !said.contains("Line 2 of the rules: There is no condition `flaot`.") {
        bail!("a mistake in the rules of a plugin in C should be told: {said}");
    }
    Ok(())
}

/// The headers and the plugins in C and C++ once more, by clang, which warns of other things than gcc: what it
/// makes of them does the same.
pub(crate) fn test_clang(project: &Project) -> Result<()> {
    const C: [Compiler; 2] = [("clang", "c", "-std=c99"), ("clang", "c", "-std=c11")];
    const CPP: Compiler = ("clang++", "c++", "-std=c++17");
    let mut needed = [C[0].0, CPP.0].into_iter();
    if let Some(missing) = needed.find(|compiler| !shell::exists(compiler)) {
        bail!(NotHere(format!("no {missing}")));
    }
    let compilers = [C[0], C[1], CPP];
    test_header(project, &compilers)?;
    for test in [test_c_pass, test_c_op, test_c_rules] {
        test(project, &compilers)?;
    }
    for test in [cpp::test_header, cpp::test_example, cpp::test_exceptions] {
        test(project, CPP.0)?;
    }
    Ok(())
}

fn c_rules_command(project: &Project, plugin: &Path) -> Command {
    let mut command = Command::new(project.passdock(Profile::Dev));
    command
        .args(["run", "examples/c-rules/before.ir", "-o", "-", "--plugin"])
        .arg(plugin)
        .args(["--passes", "crules.transform.Simplify"])
        .current_dir(&project.root);
    command
}

/// What a plugin in C says about ops arrives, places and notes included.
pub(crate) fn test_c_diagnostics(project: &Project) -> Result<()> {
    let plugin = build_c(
        project,
        "tests/bad-plugins/complains.c",
        "complains",
        COMPILERS[0],
    )?;
    let report = run_c_pass(project, &plugin, "c.transform.Warn")?;
    let said = &report["diagnostics"][0];
    let label = |at: &Value| at["snippet"]["label"].as_str().map(str::to_owned);
    let arrived = [
        (said["severity"] == "warning", "the level"),
        (said["code"] == "c::double-relu", "the code"),
        (
            label(said).as_deref() == Some("is never negative"),
            "the place",
        ),
        (said["labels"][0]["text"] == "because of this", "the label"),
        (
            said["notes"][0] == "`Relu(Relu(x))` is `Relu(x)`.",
            "the note",
        ),
        (said["help"].is_string(), "the help"),
    ];
    if let Some((_, what)) = arrived.iter().find(|(arrived, _)| !arrived) {
        bail!("{what} of a diagnostic from C should have arrived: {said}");
    }
    let plugin_dir = plugin.parent().unwrap_or(&plugin);
    let output = c_pass_command(project, plugin_dir, "c.transform.GiveUp").output()?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let said = &report["diagnostics"];
    // Behind it is the note on reproducers.
    if said.as_array().map(Vec::len) != Some(2) || said[0]["message"] != "This can't go on." {
        bail!("an error that a pass gives up after should be said once: {said}");
    }
    Ok(())
}

fn c_pass_command(project: &Project, plugin_dir: &Path, pass: &str) -> Command {
    let mut command = Command::new(project.passdock(Profile::Dev));
    command
        .args(["run", "examples/models/digits.onnx", "--json", "--passes"])
        .args([pass, "--plugin-dir"])
        .arg(plugin_dir)
        .current_dir(&project.root);
    command
}

fn run_c_pass(project: &Project, plugin: &Path, pass: &str) -> Result<Value> {
    let plugin_dir = plugin.parent().unwrap_or(plugin);
    let report = shell::read(&mut c_pass_command(project, plugin_dir, pass))?;
    Ok(serde_json::from_str(&report)?)
}

/// Builds `examples/c-pass` and gives the plugin's path.
fn build_c_pass(project: &Project, compiler: Compiler) -> Result<PathBuf> {
    build_c(project, "examples/c-pass/c_pass.c", "c_pass", compiler)
}

/// Builds a plugin of one C file into a directory of its own.
fn build_c(
    project: &Project,
    source: &str,
    name: &str,
    (compiler, language, standard): Compiler,
) -> Result<PathBuf> {
    let directory = project.target.join(name.replace('_', "-")).join(compiler);
    fs::create_dir_all(&directory)?;
    let plugin = directory.join(library_name(name));
    let mut command = needed(compiler)?;
    command
        .args(["-x", language, standard])
        .args(["-O2", "-shared", "-fPIC", "-I", INCLUDE])
        .args(WARNINGS);
    shell::run(
        command
            .arg(source)
            .arg("-o")
            .arg(&plugin)
            .current_dir(&project.root),
    )?;
    Ok(plugin)
}

pub(super) fn needed(compiler: &str) -> Result<Command> {
    if !shell::exists(compiler) {
        bail!(Skip(format!("no {compiler}")));
    }
    Ok(Command::new(compiler))
}
