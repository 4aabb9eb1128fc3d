//! The licenses of linked packages, which must be distributed with the binaries.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::project::{Project, cargo, metadata};
use crate::shell;

/// Prefixes of the names of license and notice files, in any case.
const NAMES: [&str; 5] = ["license", "licence", "copying", "notice", "unlicense"];

/// Writes the licenses of all packages that are linked into `packages`. Each text is written once, below the names of
/// its packages.
pub(crate) fn write(project: &Project, file: &Path, packages: &[&str]) -> Result<()> {
    let mut tree = cargo();
    tree.args([
        "tree",
        "--locked",
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
    ]);
    tree.args(["--format", "{p}", "--no-dedupe"]);
    for package in packages {
        tree.args(["--package", package]);
    }
    let linked = shell::read(tree.current_dir(&project.root))?;
    // Lines are `NAME vVERSION`, with the path for the project's own packages.
    let linked: Vec<(&str, &str)> = linked
        .lines()
        .filter_map(|line| line.split_once(" v"))
        .map(|(name, rest)| (name, rest.split(' ').next().unwrap_or(rest)))
        .collect();
    let metadata = metadata(&project.root, &["--locked"])?;
    let packages = metadata["packages"]
        .as_array()
        .context("`cargo metadata` lists no packages")?;
    let mut others: Vec<&Value> = packages
        .iter()
        .filter(|package| !package["source"].is_null())
        .filter(|package| {
            linked
                .iter()
                .any(|(name, version)| package["name"] == *name && package["version"] == *version)
        })
        .collect();
    others.sort_by_key(|package| package["name"].as_str());
    let mut text = "The programs and libraries of passdock contain these packages, and the standard library of Rust \
        (MIT OR Apache-2.0, https://www.rust-lang.org).\n"
        .to_owned();
    let mut packages_of: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for package in others {
        let field = |key: &str| package[key].as_str().unwrap_or_default();
        let (name, version) = (field("name"), field("version"));
        writeln!(
            text,
            "  {name} {version}: {}, {}",
            field("license"),
            field("repository")
        )?;
        let directory = Path::new(field("manifest_path")).parent();
        for license in texts(directory.context("manifest has no parent directory")?)? {
            packages_of.entry(license).or_default().push(name);
        }
    }
    let line = "-".repeat(80);
    for (license, packages) in packages_of {
        write!(
            text,
            "\n{line}\n{}\n{line}\n\n{}\n",
            packages.join(", "),
            license.trim_end()
        )?;
    }
    fs::write(file, text).with_context(|| format!("could not write {}", file.display()))
}

/// Returns the texts of the license files in a package's directory.
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
