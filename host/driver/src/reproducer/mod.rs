//! Reproducers: everything it takes to run into a failure again, on another machine too.
//!
//! A reproducer is a directory:
//!
//! - `before.ir`, the module as it was before the pass that failed;
//! - `pipeline.toml`, that pass and those behind it, an ordinary pipeline;
//! - `1.rules`, `2.rules`, …, the files of rules that it names;
//! - `pipeline.schema.json`, the schema of pipelines, for whoever edits that one;
//! - `reproducer.toml`, what failed, with which plugins and which passdock, and the hashes of data
//!   that stayed where it was;
//! - `data.bin`, constants that are too large for text, as far as they are copied.
//!
//! The run loop attaches a [`FailureSite`](passdock_core::FailureSite) to the error of a pass: pointers, copied when it
//! fails. [`write()`] makes the directory of it; [`crate::replay`] reads one and runs it again.

mod about;
mod command;
mod data;
mod passes;
mod write;

pub(crate) use about::{About, VERSION, hash_range};
pub use about::{DataRange, Failure, PluginFile, ReproducerCheck};
pub use command::{command, shell_word};
pub(crate) use write::site_of;
pub use write::{ReproducerOptions, write};

/// The module before the pass.
pub(crate) const BEFORE: &str = "before.ir";
/// The passes.
pub(crate) const PIPELINE: &str = "pipeline.toml";
/// The schema of `PIPELINE`, which its first line names.
const PIPELINE_SCHEMA: &str = "pipeline.schema.json";
/// The failure, and with what it was found.
pub(crate) const ABOUT: &str = crate::model_file::REPRODUCER;
/// Copied constants.
const DATA: &str = "data.bin";
