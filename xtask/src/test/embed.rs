//! The example of a program that embeds the host: built as its author builds it, and its output compared.

use std::fs;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::project::Project;
use crate::shell;

const EXAMPLE: &str = "examples/embed-host";
const MOST_LINES: usize = 60;

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
    let metadata = shell::read(&mut cargo(&[
        "metadata",
        "--offline",
        "--format-version",
        "1",
    ]))?;
    for setting in profile(project, &serde_json::from_str(&metadata)?)? {
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

/// The workspace's own profile, of what the example depends on: then other people's crates lie in the target directory already.
fn profile(project: &Project, metadata: &Value) -> Result<Vec<String>> {
    let workspace: toml::Table = fs::read_to_string(project.root.join("Cargo.toml"))?.parse()?;
    let packages = workspace["profile"]["dev"]["package"].as_table();
    let packages = packages.context("the workspace says nothing of packages' profiles")?;
    let is_used = |name: &str| {
        let all = metadata["packages"].as_array();
        name == "*" || all.is_some_and(|all| all.iter().any(|package| package["name"] == name))
    };
    let mut settings = Vec::new();
    for (name, profile) in packages.iter().filter(|(name, _)| is_used(name)) {
        for (key, value) in profile.as_table().into_iter().flatten() {
            settings.push(format!("profile.dev.package.'{name}'.{key}={value}"));
        }
    }
    Ok(settings)
}
