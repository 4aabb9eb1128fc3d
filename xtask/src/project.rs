//! The checkout, and cargo's target directory.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::shell;

/// The checkout that this command was built from.
pub(crate) struct Project {
    /// The directory of the workspace's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Cargo's target directory: the only place that these commands write to.
    pub(crate) target: PathBuf,
    /// `cargo metadata` of the workspace's own packages.
    pub(crate) metadata: Value,
}

impl Project {
    pub(crate) fn find() -> Result<Self> {
        // Uses cargo's variable at run time, because this binary may have been built in another checkout.
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .context("CARGO_MANIFEST_DIR is not set; run `cargo xtask`")?;
        let root = Path::new(&manifest)
            .parent()
            .context("xtask has no parent directory")?;
        let metadata = metadata(root, &["--no-deps"])?;
        let target = metadata["target_directory"].as_str();
        Ok(Project {
            root: root.to_owned(),
            target: target
                .context("`cargo metadata` reports no target directory")?
                .into(),
            metadata,
        })
    }
}

/// Runs `cargo metadata`.
pub(crate) fn metadata(root: &Path, arguments: &[&str]) -> Result<Value> {
    let mut cargo = cargo();
    cargo
        .args(["metadata", "--format-version", "1"])
        .args(arguments);
    let text = shell::read(cargo.current_dir(root))?;
    serde_json::from_str(&text).context("`cargo metadata` printed invalid JSON")
}

/// Returns the cargo that runs this command.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
