//! `cargo deny`: the crates that come in, by `deny.toml`.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::environment;
use crate::project::Project;
use crate::shell;
use crate::test::python::needs_python;

/// The package that has the program, built: cargo takes minutes for it.
const REQUIREMENTS: &str = "xtask/deny.txt";

/// Bans, licences and sources: all that needs no database.
pub(crate) fn check(project: &Project) -> Result<()> {
    let mut deny = deny(project)?;
    shell::run(deny.args([
        "--offline",
        "check",
        "--hide-inclusion-graph",
        "bans",
        "licenses",
        "sources",
    ]))
}

/// Everything, with the advisories of RustSec, which are fetched.
pub(crate) fn check_advisories(project: &Project) -> Result<()> {
    shell::run(deny(project)?.args(["check", "--hide-inclusion-graph"]))
}

fn deny(project: &Project) -> Result<Command> {
    needs_python()?;
    environment::made(project, "deny", REQUIREMENTS)?;
    let programs = environment::programs(&project.target.join("deny"));
    let path = env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = [programs]
        .into_iter()
        .chain(env::split_paths(&path))
        .collect();
    let mut cargo = project.cargo();
    cargo.arg("deny").env("PATH", env::join_paths(places)?);
    Ok(cargo)
}
