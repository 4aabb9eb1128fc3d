//! Diagnostics, as data and as text: the messages of passes, plugins and the host.
//!
//! A [`Diagnostic`] carries the lines that it is about, so that it can be shown, or sent to another
//! process, without the file or the module. `render` is what terminals show, [`excerpt`] the text
//! of an op, [`suggest`] "did you mean", [`table`] text in columns, [`text_diff`] unified diffs of modules,
//! [`InvalidShape`] errors of serde, [`ProcessMemory`] what reports show of this process's memory,
//! [`terminal`] what keeps text from steering a terminal.

mod buffer;
mod diagnostic;
pub mod excerpt;
mod invalid;
mod memory;
mod render;
pub mod suggest;
pub mod table;
pub mod terminal;
pub mod text_diff;

pub use buffer::DiagnosticBuffer;
pub use diagnostic::{BlamedDefinition, Diagnostic, Label, Severity, Snippet, capitalized};
pub use invalid::InvalidShape;
pub use memory::ProcessMemory;
