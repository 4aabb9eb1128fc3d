//! Lossless conversion between ONNX files and the IR.
//!
//! A model file is mapped and walked once. The module's entities keep the spans of their bytes
//! ([`passdock_ir::SourceSpan`]); weights, doc strings, metadata and unknown fields stay in the file. An entity that no
//! pass touched is written as its bytes in the file. Any other entity is encoded from the IR and its **stripped
//! message**: the fields that the IR doesn't model. So an unchanged module is written as the same file, byte for byte,
//! and renaming a node changes only its name.
//!
//! A module that doesn't need its file is self-contained. [`detach()`] moves the stripped messages to the extras of
//! the entities, which IR text also contains.
//!
//! The reader and the writer have no table of operators or opsets. Reading order: `format` (protobuf, and the messages
//! that both use), `extras` (ONNX's data in the extras of entities), `file` (the files that a module was read from),
//! `read`, `layout` (the order in which parts are written), `detach` (stripped messages), `write`, `report`.

mod detach;
mod extras;
mod file;
mod format;
mod layout;
mod read;
mod report;
#[cfg(test)]
mod tests;
mod write;

pub use detach::detach;
pub use file::external::{Reach, resolve_external};
pub use file::kind::foreign_format;
pub use file::model::{ExternalFiles, UnreadableData, check_external, external_locations};
pub use format::error::OnnxError;
pub use format::header::MAIN;
pub use format::types::{is_placeholder, name_in_file};
pub use read::{TensorFile, read, read_bytes, read_tensor, read_within};
pub use report::facts::{FileFacts, SparseFacts, file_facts, sparse_facts};
pub use report::recursion::recursion;
pub use report::remarks::{Remark, remarks};
pub use write::data_file::DataFile;
pub use write::options::{EncodeOptions, ExternalData, Moved};
pub use write::output::EncodedModel;
pub use write::placement::DroppedData;
pub use write::write;
