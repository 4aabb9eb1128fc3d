//! Where things lie: the checkout, cargo's target directory, what is built there.

use std::env;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX, EXE_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::shell;

/// The checkout this command was built from, and what cargo knows of it.
pub(crate) struct Project {
    /// The directory of the workspace's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Cargo's target directory: the only place these commands write to.
    pub(crate) target: PathBuf,
    /// `cargo metadata` of the workspace's own packages.
    pub(crate) metadata: Value,
}

/// Which of cargo's profiles to build with.
#[derive(Clone, Copy)]
pub(crate) enum Profile {
    /// Quick to build; what is tested.
    Dev,
    /// Optimised; what is shown and timed.
    Release,
}

impl Profile {
    /// What `cargo build` is told.
    pub(crate) fn flags(self) -> &'static [&'static str] {
        match self {
            Profile::Dev => &[],
            Profile::Release => &["--release"],
        }
    }

    /// Its directory below the target directory.
    pub(crate) fn directory(self) -> &'static str {
        match self {
            Profile::Dev => "debug",
            Profile::Release => "release",
        }
    }
}

impl Project {
    pub(crate) fn find() -> Result<Self> {
        // Cargo says which checkout this is: a build may have been brought from another one.
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .context("no directory of a package is set; run `cargo xtask`")?;
        let root = Path::new(&manifest)
            .parent()
            .context("xtask lies in the workspace")?
            .to_owned();
        let text = shell::read(
            cargo()
                .args(["metadata", "--format-version", "1", "--no-deps"])
                .current_dir(&root),
        )?;
        let metadata: Value =
            serde_json::from_str(&text).context("cargo metadata didn't print JSON")?;
        let target = metadata["target_directory"]
            .as_str()
            .context("cargo metadata names no target directory")?
            .into();
        Ok(Project {
            root,
            target,
            metadata,
        })
    }

    /// `cargo` in the checkout, writing to the project's target directory.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = cargo();
        command
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// Where cargo puts executables and plugins of a profile.
    pub(crate) fn built(&self, profile: Profile) -> PathBuf {
        self.target.join(profile.directory())
    }

    /// The `passdock` executable of a profile.
    pub(crate) fn passdock(&self, profile: Profile) -> PathBuf {
        self.built(profile).join(format!("passdock{EXE_SUFFIX}"))
    }

    /// A path as a reader of the output wants it: relative to the checkout.
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root)
            .unwrap_or(path)
            .display()
            .to_string()
    }
}

/// The cargo that runs this command.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The file name of a shared library here: `libhello_pass.so`.
pub(crate) fn library_name(name: &str) -> String {
    format!("{DLL_PREFIX}{name}{DLL_SUFFIX}")
}
