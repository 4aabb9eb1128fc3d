//! The JSON Schemas of pipelines and manifests, their reference pages, and the code that reads the
//! files say the same.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

mod changes;
mod checker;
mod manifests;
mod pages;
mod pipelines;

use std::path::{Path, PathBuf};

/// The checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
