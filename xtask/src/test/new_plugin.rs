//! What `passdock plugin new` makes: it builds and passes its tests without a network, and
//! `passdock plugin check` finds nothing in it, nor in the examples.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::project::{Profile, Project, library_name};
use crate::shell;
use crate::test::old_rust::OldRust;
use crate::test::steps::Skip;

/// The examples in Rust that have nothing wrong, and their libraries. The standard plugins are checked by the command's tests.
const EXAMPLES: [(&str, &str); 4] = [
    ("examples/hello-pass", "hello_pass"),
    ("examples/custom-instrument", "custom_instrument"),
    ("examples/custom-op", "custom_op"),
    ("examples/npu-partition", "npu_partition"),
];

/// Makes a plugin in each language, builds and checks it.
pub(crate) fn test(project: &Project) -> Result<()> {
    let tree = project.target.join("new-plugins");
    if tree.exists() {
        fs::remove_dir_all(&tree)?;
    }
    fs::create_dir_all(&tree)?;
    test_rust(project, &tree)?;
    for (flag, name, compiler) in [("--c", "new-c", "cc"), ("--cpp", "new-cpp", "c++")] {
        test_c(project, &tree, flag, name, compiler)?;
    }
    let vendor = project.target.join("vendor");
    for (example, name) in EXAMPLES {
        let mut cargo = project.cargo();
        cargo.current_dir(project.root.join(example));
        cargo.args(["build", "--offline"]);
        shell::run(cargo.env("CARGO_TARGET_DIR", &vendor))?;
        check(project, &vendor.join("debug").join(library_name(name)))?;
    }
    Ok(())
}

/// With the oldest compiler: the plugin's tests.
pub(crate) fn test_with_old_rust(project: &Project, old: &OldRust, target: &Path) -> Result<()> {
    let tree = project.target.join("new-plugins-of-old-rust");
    if tree.exists() {
        fs::remove_dir_all(&tree)?;
    }
    fs::create_dir_all(&tree)?;
    let dir = make(project, &tree, &[], "new-old")?;
    let mut cargo = old.cargo();
    cargo.args(["test", "--offline"]).current_dir(dir);
    cargo.env("CARGO_TARGET_DIR", target);
    shell::run(cargo.env("PASSDOCK", project.passdock(Profile::Dev)))
}

fn test_rust(project: &Project, tree: &Path) -> Result<()> {
    let dir = make(project, tree, &[], "new-rust")?;
    let cargo = |arguments: &[&str]| {
        let mut cargo = project.cargo();
        cargo.current_dir(&dir).args(arguments);
        // Where the pipeline and the README say that it is.
        cargo.env("CARGO_TARGET_DIR", dir.join("target"));
        shell::run(cargo.env("PASSDOCK", project.passdock(Profile::Dev)))
    };
    cargo(&["fmt", "--check"])?;
    cargo(&["build", "--offline"])?;
    cargo(&["test", "--offline"])?;
    run_pipeline(project, &dir)?;
    check(
        project,
        &dir.join("target/debug").join(library_name("new_rust")),
    )?;
    // With data that plugins share: one SDK for both.
    let manifest = dir.join("Cargo.toml");
    let text = fs::read_to_string(&manifest)?;
    let shares = "\n[dependencies]\n\
        passdock-plugin-share = { path = \"vendor/passdock-plugin-api/share\" }\n";
    if !text.contains("\n[dependencies]\n") {
        bail!("{} has no dependencies", manifest.display());
    }
    fs::write(&manifest, text.replacen("\n[dependencies]\n", shares, 1))?;
    let uses = "\n#[doc(hidden)]\npub use passdock_plugin_share as share;\n";
    let source = dir.join("src/lib.rs");
    let text = fs::read_to_string(&source)?;
    fs::write(&source, text + uses)?;
    // What that depends on was built for the examples, in these versions.
    let versions = project.root.join("examples/share/cost-maker/Cargo.lock");
    fs::copy(versions, dir.join("Cargo.lock"))?;
    let mut cargo = project.cargo();
    cargo.current_dir(&dir).args(["build", "--offline"]);
    shell::run(cargo.env("CARGO_TARGET_DIR", project.target.join("vendor")))
}

fn test_c(project: &Project, tree: &Path, flag: &str, name: &str, compiler: &str) -> Result<()> {
    for program in ["make", compiler] {
        if !shell::exists(program) {
            bail!(Skip(format!("no {program}")));
        }
    }
    let dir = make(project, tree, &[flag], name)?;
    let mut make = Command::new("make");
    make.args(["test", "check"]).current_dir(&dir);
    shell::run(make.env("PASSDOCK", project.passdock(Profile::Dev)))?;
    run_pipeline(project, &dir)
}

fn make(project: &Project, tree: &Path, flags: &[&str], name: &str) -> Result<PathBuf> {
    let dir = tree.join(name);
    let mut command = Command::new(project.passdock(Profile::Dev));
    shell::run(command.args(["plugin", "new"]).args(flags).arg(&dir))?;
    Ok(dir)
}

/// The pipeline of a new plugin does what its pass is for.
fn run_pipeline(project: &Project, dir: &Path) -> Result<()> {
    let mut command = Command::new(project.passdock(Profile::Dev));
    command.args(["run", "pipeline.toml", "model.ir", "-o", "-"]);
    let made = shell::read(command.current_dir(dir))?;
    if made.matches("onnx.Relu").count() != 1 {
        bail!("of two Relus one should be left:\n{made}");
    }
    Ok(())
}

fn check(project: &Project, library: &Path) -> Result<()> {
    let mut command = Command::new(project.passdock(Profile::Dev));
    shell::run(command.args(["plugin", "check"]).arg(library))
}
