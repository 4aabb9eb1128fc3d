//! ONNX files to and from the IR, without loss.
//!
//! A model file is mapped and walked once. The module's entities remember the bytes they came from
//! ([`passdock_ir::SourceSpan`]); weights, doc strings, metadata and unknown fields stay in the
//! file. An entity that no pass touched is written as its bytes of the file. Any other is encoded from the IR and
//! its **stripped message**: the fields that the IR doesn't model. So a module that no pass changed is the same file,
//! byte for byte, and a renamed node changes that node's name and nothing else.
//!
//! A module that has to live without its file is [detached](detach()): the stripped messages go to
//! the extras of the entities, where text keeps them, too.
//!
//! Neither side knows operators or opsets. Reading order: `format` (protobuf, and the messages that
//! both sides know), `extras` (ONNX's data in the extras of entities), `file` (the files that a module was read from),
//! `read`, `layout` (the order of what is written), `detach` (stripped messages), `write`, `report`.

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
pub use file::external::{Reach, place_external, same_bytes};
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
