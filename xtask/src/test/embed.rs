//! The example of a program that embeds the host: built as its author builds it, and its output compared.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::shell;

const EXAMPLE: &str = "examples/embed-host";
const MOST_LINES: usize = 60;
/// The crates of this project that it depends on.
const OURS: [&str; 8] = [
    "passdock",
    "passdock-abi",
    "passdock-ir",
    "passdock-npy",
    "passdock-onnx",
    "passdock-plugin-api",
    "passdock-plugins-onnx-ops",
    "passdock-plugins-relax",
];

/// Formatting, and whether it prints what its README says.
pub(crate) fn test_embed_host(project: &Project) -> Result<()> {
    let directory = project.root.join(EXAMPLE);
    let lines = fs::read_to_string(directory.join("src/main.rs"))?
        .lines()
        .count();
    if lines > MOST_LINES {
        bail!("{EXAMPLE}/src/main.rs has {lines} lines; a host must fit in {MOST_LINES}");
    }
    let cargo = |arguments: &[&str]| {
        let mut cargo = project.cargo();
        cargo.current_dir(&directory).args(arguments);
        cargo
    };
    shell::run(&mut cargo(&["fmt", "--check"]))?;
    let mut run = cargo(&["run", "--quiet", "--offline"]);
    for setting in profile() {
        run.args(["--config", &setting]);
    }
    let printed = shell::read(&mut run)?;
    let readme = fs::read_to_string(directory.join("README.md"))?;
    let promised = readme
        .split("```text\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .context("the README shows no output")?;
    if printed.trim() != promised.trim() {
        bail!("{EXAMPLE} prints something else than its README says:\n{printed}");
    }
    Ok(())
}

/// The workspace's own profile: then most of what it depends on lies in the target directory already.
fn profile() -> Vec<String> {
    let mut settings = vec![
        "profile.dev.debug='line-tables-only'".to_owned(),
        "profile.dev.package.'*'.opt-level=1".to_owned(),
        "profile.dev.package.'*'.debug=false".to_owned(),
    ];
    for name in OURS {
        settings.push(format!("profile.dev.package.{name}.opt-level=0"));
        settings.push(format!(
            "profile.dev.package.{name}.debug='line-tables-only'"
        ));
    }
    settings
}
