//! The contract as C++ sees it: `passdock.hpp`, an example, plugins that call all of it and that throw, and
//! what the sanitizers say of them.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use serde_json::Value;

use super::native::{INCLUDE, WARNINGS, needed};
use crate::project::{Profile, Project, library_name};
use crate::shell;
use crate::test::steps::{NotHere, Skip};

/// The plugin in C++ of `examples`, and its pass.
const EXAMPLE: &str = "examples/cpp-pass/cpp_pass.cpp";
const PASS: &str = "cpp.transform.MergeTransposes";
/// The plugin that calls most of the header, and the one that throws.
const EVERYTHING: &str = "tests/plugins/cpp/everything.cpp";
const THROWS: &str = "tests/plugins/cpp/throws.cpp";
const MODEL: &str = "tests/plugins/cpp/everything.ir";
const SANITIZED: [&str; 3] = [
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
];

/// The compiler of plugins, where no other is asked for.
pub(super) const COMPILER: &str = "g++";

/// The header stands by itself, and all of it is used, without a warning: as C++17 and C++20.
pub(crate) fn test_header(project: &Project, compiler: &str) -> Result<()> {
    let header = format!("{INCLUDE}/passdock.hpp");
    for standard in ["-std=c++17", "-std=c++20"] {
        for source in [&header, EXAMPLE, EVERYTHING, THROWS] {
            let mut command = needed(compiler)?;
            command
                .args([standard, "-fsyntax-only", "-x", "c++", "-I", INCLUDE])
                .args(WARNINGS)
                .arg(source);
            shell::run(command.current_dir(&project.root))?;
        }
    }
    Ok(())
}

/// The example's pass does what its texts say, with its option and config key, under its instrument.
pub(crate) fn test_example(project: &Project, compiler: &str) -> Result<()> {
    let plugin = Plugin::build_with(project, compiler, EXAMPLE, &["-O2"])?;
    let before = "examples/cpp-pass/before.ir";
    let made = plugin.read(&["run", before, "-o", "-", "--passes", PASS])?;
    if made != fs::read_to_string(project.root.join("examples/cpp-pass/after.ir"))? {
        bail!("examples/cpp-pass/after.ir says otherwise:\n{made}");
    }

    let pipeline = plugin.pipeline(&format!(
        "[[instruments]]\nname = \"cpp.removed-ops\"\n\
         [[passes]]\nname = \"{PASS}\"\noptions = {{ limit = 1 }}\n"
    ))?;
    let report: Value = serde_json::from_str(&plugin.read(&["run", &pipeline, before, "--json"])?)?;
    let shown = report["instruments"][0]["text"]
        .as_str()
        .unwrap_or_default();
    if !shown.starts_with(&format!("{PASS} removed 1\n")) {
        bail!("with `limit = 1`, one op should be removed, and be counted: {report}");
    }

    // The manifest says what the gate does.
    let library = plugin.directories[0].join(library_name("cpp_pass"));
    let mut inspect = Command::new(project.passdock(Profile::Dev));
    let said = shell::read(inspect.arg("inspect").arg(library))?;
    if !said.contains("a panic is caught") {
        bail!("that exceptions are caught should be said:\n{said}");
    }

    let keep = "cpp.Transpose.keep_identity=true";
    let made = plugin.read(&["run", before, "-o", "-", "--passes", PASS, "--config", keep])?;
    if !made.contains("perm = [0, 1]") {
        bail!("with {keep}, a Transpose that changes nothing should stay:\n{made}");
    }
    Ok(())
}

/// What is thrown in a pass, an instrument or a definition is its failure, with its sentence.
pub(crate) fn test_exceptions(project: &Project, compiler: &str) -> Result<()> {
    thrown(&Plugin::build_with(project, compiler, THROWS, &["-O2"])?)
}

/// All of the header is called, in the host and in one that lacks nearly all, and all that is thrown is
/// caught, without a word of the sanitizers; and one process holds several plugins that have it inline.
pub(crate) fn test_sanitized(project: &Project) -> Result<()> {
    if !cfg!(target_os = "linux") {
        bail!(NotHere(
            "the sanitizers are loaded before a host on Linux only".into()
        ));
    }
    let program = room(project, "hosts-sanitized")?.join(format!("hosts{EXE_SUFFIX}"));
    let hosts = "tests/plugins/cpp/hosts.cpp";
    compile(project, COMPILER, hosts, &SANITIZED, &program)?;
    shell::run(&mut Command::new(program))?;

    let throws = Plugin::build(project, THROWS, &SANITIZED)?.under_sanitizers()?;
    thrown(&throws)?;
    let mut plugin = Plugin::build(project, EVERYTHING, &SANITIZED)?.under_sanitizers()?;
    plugin.directories.extend(throws.directories);
    for pass in ["Function", "Module"] {
        let pass = format!("everything.transform.{pass}");
        plugin.read(&["run", MODEL, "--passes", &pass])?;
    }
    let pipeline = plugin.pipeline(
        "[[passes]]\nname = \"throws.transform.Function\"\noptions = { what = \"\" }\n\
         [[passes]]\nname = \"everything.All\"\n",
    )?;
    plugin.read(&["run", &pipeline, MODEL])?;

    let passes = "relax.transform.InferType,relax.transform.FoldConstant";
    let made = plugin.read(&[
        "run",
        "examples/c-op/before.ir",
        "-o",
        "-",
        "--passes",
        passes,
    ])?;
    if made != fs::read_to_string(project.root.join("examples/c-op/after.ir"))? {
        bail!("acme.ScaledAdd in C++ should be as in C:\n{made}");
    }
    let passes = "relax.transform.DecomposeOps";
    let made = plugin.read(&[
        "run",
        "examples/c-op/before.ir",
        "-o",
        "-",
        "--passes",
        passes,
    ])?;
    if made.contains("acme.ScaledAdd") {
        bail!("acme.ScaledAdd should be taken apart:\n{made}");
    }
    let sizes = plugin.file(
        "sizes.ir",
        "module { fn @main(%x: f32[2,4]) -> (%y: i64[2]) opset(\"\" = 17, \"acme\" = 1) {\n\
         %y = acme.Sizes(%x) : i64[2]\n return %y } }\n",
    )?;
    let alter = "relax.transform.AlterOpLayout";
    let made = plugin.read(&["run", &sizes, "-O3", "-o", "-", "--passes", alter])?;
    if !made.contains("onnx.Transpose(%x) {perm = [1, 0]}") {
        bail!("acme.Sizes should be in the layout that it wants:\n{made}");
    }
    let listed = plugin.read(&["list", "ops", "acme.Listed", "--json"])?;
    let listed: Value = serde_json::from_str(&listed)?;
    if listed["ops"][0]["attributes"][0]["default"] != serde_json::json!(["a", "b"]) {
        bail!("the default of a list should have arrived: {listed}");
    }
    Ok(())
}

/// Runs all that throws.
fn thrown(plugin: &Plugin<'_>) -> Result<()> {
    for (what, said) in [
        ("error", "error[pass-failed]: The op isn't liked."),
        (
            "exception",
            "error[pass-panicked]: The pass panicked: basic_string",
        ),
        (
            "number",
            "The pass panicked: Something that isn't a std::exception was thrown.",
        ),
        (
            "refusal",
            "is used by op8 (return). Replace the uses first.",
        ),
        ("type", "error[pass-failed]: `what` isn't an integer."),
        (
            "unknown",
            "There is no option `waht`. Declare it in PASSDOCK_PLUGIN, under this name.",
        ),
        ("stopped", "error[throws::said]: It was said before."),
    ] {
        let pipeline = plugin.pipeline(&format!(
            "[[passes]]\nname = \"throws.transform.Function\"\noptions = {{ what = \"{what}\" }}\n"
        ))?;
        plugin.fails(&["run", &pipeline, MODEL], said)?;
    }
    let module = ["run", MODEL, "--passes", "throws.transform.Module"];
    plugin.fails(&module, "error[pass-failed]: The function isn't liked.")?;
    plugin.fails(&module, "function @main, op0 (onnx.Relu)")?;

    for (place, said) in [
        ("create", "can't be made: it panicked: thrown in create."),
        ("enter", "panicked in enter_pass_ctx: thrown in enter."),
        ("before", "panicked in run_before_pass: thrown in before."),
        ("report", "panicked in report: thrown in report."),
    ] {
        let pipeline = plugin.pipeline(&format!(
            "[[instruments]]\nname = \"throws.thrower\"\nwhere = \"{place}\"\n\
             [[passes]]\nname = \"throws.transform.Function\"\noptions = {{ what = \"\" }}\n"
        ))?;
        plugin.fails(&["run", &pipeline, MODEL], said)?;
    }

    let model = plugin.directories[0].join("throws.ir");
    let model = model.to_string_lossy();
    for (attr, said) in [
        ("wrong", "is wrong: `wrong` is set"),
        ("buggy", "failed: a mistake in C++"),
    ] {
        let text = format!(
            "module {{ fn @main(%x: f32[2]) -> (%y) opset(\"throws\" = 1) {{ \
             %y = throws.Op(%x) {{{attr} = 1}} return %y }} }}"
        );
        fs::write(&*model, text)?;
        let arguments = ["run", &model, "--passes", "relax.transform.InferType"];
        plugin.says(&arguments, said)?;
    }
    Ok(())
}

/// A plugin in C++ that was built, and the host to run it.
struct Plugin<'p> {
    project: &'p Project,
    /// Where it lies, and others that are to be there, too.
    directories: Vec<PathBuf>,
    /// Libraries that have to be in the process before the plugin.
    preload: String,
}

impl<'p> Plugin<'p> {
    /// Builds a plugin of one file into a directory of its own.
    fn build(project: &'p Project, source: &str, flags: &[&str]) -> Result<Plugin<'p>> {
        Plugin::build_with(project, COMPILER, source, flags)
    }

    fn build_with(
        project: &'p Project,
        compiler: &str,
        source: &str,
        flags: &[&str],
    ) -> Result<Plugin<'p>> {
        let name = Path::new(source).file_stem().unwrap_or_default();
        let name = name.to_string_lossy();
        let sanitized = if flags == SANITIZED { "-sanitized" } else { "" };
        let directory = format!("{}{sanitized}-{compiler}", name.replace('_', "-"));
        let directory = room(project, &directory)?;
        let flags = [flags, &["-shared", "-fPIC"]].concat();
        compile(
            project,
            compiler,
            source,
            &flags,
            &directory.join(library_name(&name)),
        )?;
        Ok(Plugin {
            project,
            directories: vec![directory],
            preload: String::new(),
        })
    }

    /// The same plugin in a host that isn't built with the sanitizers: they come first, as they stand
    /// for the system's functions.
    fn under_sanitizers(mut self) -> Result<Plugin<'p>> {
        let mut libraries = Vec::new();
        for library in ["libasan.so", "libubsan.so"] {
            let path = format!("-print-file-name={library}");
            let path = shell::read(needed(COMPILER)?.arg(path))?;
            if !Path::new(path.trim()).is_absolute() {
                bail!(Skip(format!("g++ has no {library}")));
            }
            libraries.push(path.trim().to_owned());
        }
        self.preload = libraries.join(":");
        Ok(self)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.project.passdock(Profile::Dev));
        command.args(arguments).current_dir(&self.project.root);
        for directory in &self.directories {
            command.arg("--plugin-dir").arg(directory);
        }
        if !self.preload.is_empty() {
            command.env("LD_PRELOAD", &self.preload);
        }
        command
    }

    /// Writes a pipeline beside the plugin.
    fn pipeline(&self, text: &str) -> Result<String> {
        self.file("pipeline.toml", text)
    }

    fn file(&self, name: &str, text: &str) -> Result<String> {
        let path = self.directories[0].join(name);
        fs::write(&path, text)?;
        Ok(path.to_string_lossy().into_owned())
    }

    fn read(&self, arguments: &[&str]) -> Result<String> {
        shell::read(&mut self.command(arguments))
    }

    /// The host ends as it does when a run fails, and says so.
    fn fails(&self, arguments: &[&str], said: &str) -> Result<()> {
        if self.says(arguments, said)? != Some(1) {
            bail!("`passdock {}` should have failed", arguments.join(" "));
        }
        Ok(())
    }

    fn says(&self, arguments: &[&str], said: &str) -> Result<Option<i32>> {
        let output = shell::output(&mut self.command(arguments))?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        if !stderr.contains(said) {
            bail!("`{said}` should have been said:\n{stderr}");
        }
        Ok(output.status.code())
    }
}

/// A directory for what is built of one source.
fn room(project: &Project, name: &str) -> Result<PathBuf> {
    let directory = project.target.join("cpp").join(name);
    fs::create_dir_all(&directory)?;
    Ok(directory)
}

fn compile(
    project: &Project,
    compiler: &str,
    source: &str,
    flags: &[&str],
    output: &Path,
) -> Result<()> {
    let mut command = needed(compiler)?;
    command.args(["-std=c++17", "-I", INCLUDE]).args(WARNINGS);
    command.args(flags).arg(source).arg("-o").arg(output);
    shell::run(command.current_dir(&project.root))
}
