//! `cargo xtask tidy`: the rules that no compiler checks, about dependencies between crates, packages, the sizes of
//! folders, and the text of source files.

mod arrows;
mod packages;
mod prose;
mod sizes;
mod tables;
mod text;

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::abi;
use crate::project::Project;
use crate::shell;

/// Fails with a line for each offence.
pub(crate) fn tidy(project: &Project) -> Result<()> {
    let page =
        fs::read_to_string(project.root.join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    let mut files = tracked_files(project)?;
    // Generated files are exempt from the rules.
    files.retain(|file| !file.text.starts_with("// @generated"));
    let mut offences = arrows::offences(&project.metadata, &page)?;
    offences.extend(packages::offences(&project.metadata, &files));
    offences.extend(sizes::offences(&project.metadata, &files, &page)?);
    offences.extend(text::offences(&project.metadata, &files));
    offences.extend(prose::offences(&files)?);
    offences.extend(abi::offences(project)?);
    if offences.is_empty() {
        println!("crates, folders and source files follow the rules");
        return Ok(());
    }
    bail!("{} offences\n{}", offences.len(), offences.join("\n"))
}

/// A text file of the checkout.
struct File {
    /// The path from the root of the checkout.
    path: String,
    text: String,
}

/// Returns the text files that git tracks or would add.
fn tracked_files(project: &Project) -> Result<Vec<File>> {
    let mut git = Command::new("git");
    git.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let list = shell::read(git.current_dir(&project.root))?;
    let mut files = Vec::new();
    for path in list.split_terminator('\0') {
        let full = project.root.join(path);
        // A deleted file stays listed until the deletion is committed.
        if !full.is_file() {
            continue;
        }
        let bytes = fs::read(&full).with_context(|| format!("could not read {path}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(File {
                path: path.to_owned(),
                text,
            });
        }
    }
    Ok(files)
}

/// Returns the workspace's crates: the name, and the directory from the root of the checkout.
fn crates(metadata: &serde_json::Value) -> Vec<(&str, &str)> {
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter_map(|package| {
            let manifest = package["manifest_path"].as_str()?.strip_prefix(root)?;
            let directory = manifest
                .strip_suffix("/Cargo.toml")?
                .trim_start_matches('/');
            Some((package["name"].as_str()?, directory))
        })
        .collect()
}
