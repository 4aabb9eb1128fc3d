//! The tree of files that an archive has, and an installation.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::project::Project;
use crate::shell;

use super::build::{Built, packages};
use super::{docs, licences};

/// Files of the checkout, and the directories of the tree that they are put in.
const FILES: [(&str, &str); 5] = [
    ("LICENSE-APACHE", "share/doc/passdock"),
    ("LICENSE-MIT", "share/doc/passdock"),
    ("examples/models/digits.onnx", EXAMPLES),
    ("examples/models/digits_inputs.npy", EXAMPLES),
    (
        "examples/rules/erf_gelu.rules",
        "share/passdock/examples/rules",
    ),
];
const EXAMPLES: &str = "share/passdock/examples/models";
/// Shells, and where each looks for completions.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/passdock"),
    ("zsh", "share/zsh/site-functions/_passdock"),
    ("fish", "share/fish/vendor_completions.d/passdock.fish"),
];

pub(super) fn make(project: &Project, built: &Built, root: &Path) -> Result<()> {
    copy_into(&built.command, &root.join("bin"))?;
    for plugin in &built.plugins {
        copy_into(plugin, &root.join("lib/passdock/plugins"))?;
    }
    for (file, directory) in FILES {
        copy_into(&project.root.join(file), &root.join(directory))?;
    }
    docs::make(project, root)?;
    let command = |arguments: &[&str]| shell::read(Command::new(&built.command).args(arguments));
    copy_all(
        &project.root.join("plugin-api/abi/include"),
        &root.join("include"),
    )?;
    for (shell, path) in SHELLS {
        write(&root.join(path), &command(&["completions", shell])?)?;
    }
    write(&root.join("share/man/man1/passdock.1"), &command(&["man"])?)?;
    let packages: Vec<&str> = packages().collect();
    let licences = root.join("share/doc/passdock/LICENSES-THIRD-PARTY.txt");
    write(
        &licences,
        &licences::of_what_is_linked(project, &built.system, &packages)?,
    )
}

/// Copies the files of a directory, and of those in it.
fn copy_all(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        match path.is_dir() {
            true => copy_all(
                &path,
                &to.join(path.file_name().context("a directory has a name")?),
            )?,
            false => copy_into(&path, to)?,
        }
    }
    Ok(())
}

fn copy_into(file: &Path, directory: &Path) -> Result<()> {
    let name = file.file_name().context("a file has a name")?;
    fs::create_dir_all(directory)?;
    fs::copy(file, directory.join(name))
        .with_context(|| format!("{} can't be copied", file.display()))?;
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(path.parent().context("a file lies in a directory")?)?;
    fs::write(path, text)?;
    Ok(())
}
