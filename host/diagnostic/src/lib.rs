//! Diagnostics as data and as text: the messages of passes, plugins and the host.
//!
//! A [`Diagnostic`] contains the source lines that it refers to. It can be rendered, or sent to another process,
//! without the file or the module. `render` formats diagnostics for terminals. [`excerpt`] returns the text of an op,
//! [`suggest`] "did you mean" hints. [`table`] formats columns of text, [`text_diff`] unified diffs of modules.
//! [`InvalidShape`] parses errors of serde, and [`ProcessMemory`] measures this process. [`terminal`] escapes untrusted
//! text for terminals, [`json`] for JSON.

mod buffer;
mod diagnostic;
pub mod excerpt;
mod invalid;
pub mod json;
mod memory;
mod render;
pub mod suggest;
pub mod table;
pub mod terminal;
pub mod text_diff;

pub use buffer::DiagnosticBuffer;
pub use diagnostic::{BlamedDefinition, Diagnostic, Label, Severity, Snippet};
pub use invalid::InvalidShape;
pub use memory::ProcessMemory;
