//! Reproducers: directories that repeat a failure, even on another machine.
//!
//! A reproducer contains:
//!
//! - `before.ir`, the module before the pass that failed;
//! - `pipeline.toml`, an ordinary pipeline with that pass and the following ones;
//! - `1.rules`, `2.rules`, …, the .rules files that it names;
//! - `pipeline.schema.json`, the schema of pipelines, for editors;
//! - `reproducer.toml`, the failure, the versions of passdock and the plugins, and the hashes of referenced data;
//! - `data.bin`, large constants, if they are copied.
//!
//! The run loop attaches a [`FailureSite`](passdock_core::FailureSite) to the error of a pass. It contains only shared
//! pointers, which are cheap to copy. [`write()`] writes it to a directory, and [`crate::replay`] replays it.

mod about;
mod command;
mod data;
mod passes;
mod write;

pub(crate) use about::{About, VERSION, hash_range};
pub use about::{DataRange, Failure, PluginFile, ReproducerTest};
pub use command::{command, shell_path, shell_quoted};
pub(crate) use write::failure_site;
pub use write::{ReproducerOptions, write};

/// The module before the failed pass.
pub(crate) const BEFORE: &str = "before.ir";
/// The remaining passes.
pub(crate) const PIPELINE: &str = "pipeline.toml";
/// The schema of `PIPELINE`, which refers to it in its first line.
const PIPELINE_SCHEMA: &str = "pipeline.schema.json";
/// The failure and its environment.
pub(crate) const ABOUT: &str = crate::model_file::REPRODUCER;
/// Copied constants.
const DATA: &str = "data.bin";
