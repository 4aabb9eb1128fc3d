//! The licences of what is linked into the command, the standard plugins and others of our files, which whoever passes
//! these on has to pass on with them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::project::{Project, cargo};
use crate::shell;

/// How the files of licences and notices begin, whatever the case.
const NAMES: [&str; 5] = ["license", "licence", "copying", "notice", "unlicense"];

/// A text of all licences of what is linked into the packages' files: each once, below those that have it.
pub(crate) fn of_what_is_linked(project: &Project, system: &str, ours: &[&str]) -> Result<String> {
    let mut metadata = cargo();
    metadata.args([
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--filter-platform",
        system,
    ]);
    let metadata = shell::read(metadata.current_dir(&project.root))?;
    let metadata: Value =
        serde_json::from_str(&metadata).context("cargo metadata didn't print JSON")?;
    let mut text = "The programs and libraries of passdock contain these packages, and the standard library of Rust \
        (MIT OR Apache-2.0, https://www.rust-lang.org).\n"
        .to_owned();
    let mut packages_of: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for package in linked(&metadata, ours)? {
        let word = |key: &str| package[key].as_str().unwrap_or_default();
        writeln!(
            text,
            "  {} {}: {}, {}",
            word("name"),
            word("version"),
            word("license"),
            word("repository")
        )?;
        let manifest = Path::new(word("manifest_path"));
        for file in texts(
            manifest
                .parent()
                .context("a manifest lies in a directory")?,
        )? {
            packages_of.entry(file).or_default().push(word("name"));
        }
    }
    for (file, packages) in packages_of {
        let line = "-".repeat(80);
        write!(
            text,
            "\n{line}\n{}\n{line}\n\n{}\n",
            packages.join(", "),
            file.trim_end()
        )?;
    }
    Ok(text)
}

/// The packages of others whose code is in what is built, by name.
fn linked<'m>(metadata: &'m Value, ours: &[&str]) -> Result<Vec<&'m Value>> {
    let list = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let nodes = metadata["resolve"]["nodes"]
        .as_array()
        .context("cargo metadata resolves nothing")?;
    let nodes: BTreeMap<&str, &Value> = nodes
        .iter()
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata lists no packages")?;
    let packages: BTreeMap<&str, &Value> = packages
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    // A procedural macro runs in the compiler: it isn't in what is built.
    let is_macro = |package: &Value| {
        let kinds = list(&package["targets"])
            .into_iter()
            .flat_map(|target| list(&target["kind"]));
        kinds.into_iter().any(|kind| kind == "proc-macro")
    };
    let is_root = |package: &Value| ours.iter().any(|name| package["name"] == *name);
    let roots = packages.iter().filter(|(_, package)| is_root(package));
    let mut open: Vec<&str> = roots.map(|(id, _)| *id).collect();
    let mut seen: BTreeSet<&str> = open.iter().copied().collect();
    while let Some(node) = open.pop().and_then(|id| nodes.get(id)) {
        for dependency in node["deps"].as_array().into_iter().flatten() {
            let normal = list(&dependency["dep_kinds"])
                .iter()
                .any(|kind| kind["kind"].is_null());
            let Some(id) = dependency["pkg"].as_str() else {
                continue;
            };
            let package = packages
                .get(id)
                .context("cargo metadata has each package")?;
            if normal && !is_macro(package) && seen.insert(id) {
                open.push(id);
            }
        }
    }
    // Those without a registry are the project's own.
    let mut linked: Vec<&Value> = seen
        .iter()
        .map(|id| packages[id])
        .filter(|package| !package["source"].is_null())
        .collect();
    linked.sort_by_key(|package| package["name"].as_str());
    Ok(linked)
}

/// The texts of licences that lie in a package's directory.
fn texts(directory: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
        if NAMES.iter().any(|start| name.starts_with(start)) && entry.file_type()?.is_file() {
            texts.push(fs::read_to_string(entry.path())?.replace("\r\n", "\n"));
        }
    }
    Ok(texts)
}
