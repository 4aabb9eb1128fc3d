//! A host in memory that is just large enough for unit tests: it keeps one function, does the
//! common edits, and refuses what would leave a use without its value. No verifier, no text.
//! [`Watch`] shows it to an instrument.
//!
//! What it lacks (op definitions, dim expressions, other passes) is missing from its tables, as in
//! an older host.
#![allow(unsafe_code)]

mod analyses;
mod arena;
mod context;
mod kept;
mod module;
mod regions;
mod run;
mod symbols;
mod tables;
mod watch;

pub use context::Failure;
pub use run::{run_pass, scratch};
pub use watch::Watch;
