//! Reproducers: everything it takes to run into a failure again, on another machine too.
//!
//! A reproducer is a directory:
//!
//! - `before.ir`, the module as it was before the pass that failed;
//! - `pipeline.toml`, that pass and those behind it, an ordinary pipeline;
//! - `reproducer.toml`, what failed, with which plugins and which passdock, and the hashes of data
//!   that stayed where it was;
//! - `data.bin`, constants that are too large for text, as far as they are copied.
//!
//! The run loop attaches a [`FailureSite`](passdock_core::FailureSite) to the error of a pass: pointers, copied when it fails.
//! [`write()`] makes the directory of it, [`Reproducer`] reads one and runs it again.

mod about;
mod command;
mod data;
mod instrument;
mod passes;
mod replay;
mod write;

pub use about::{Check, DataRange, Failure, PluginFile};
pub use command::command;
pub use instrument::{WriteReproducer, instrument};
pub use replay::{Outcome, Replay, ReplayOptions, Reproducer};
pub use write::{ReproducerOptions, write};

/// The module before the pass.
const BEFORE: &str = "before.ir";
/// The passes.
const PIPELINE: &str = "pipeline.toml";
/// What failed, with what.
pub(crate) const ABOUT: &str = "reproducer.toml";
/// Copied constants.
const DATA: &str = "data.bin";
