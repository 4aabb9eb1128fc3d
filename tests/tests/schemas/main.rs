//! Consistency of the JSON Schemas of pipelines and manifests, their reference pages, and the code that reads the
//! files.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

mod changes;
mod checker;
mod manifests;
mod pages;
mod pipelines;

use std::path::{Path, PathBuf};

/// Returns the path of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
