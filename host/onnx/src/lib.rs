//! ONNX files to and from the IR, without loss.
//!
//! A model file is mapped and walked once. The module's entities remember the bytes they came from
//! ([`passdock_ir::Origin`]); weights, doc strings, metadata and fields nobody knows never leave the
//! file. Writing walks the original bytes again: what wasn't touched is copied, what was is edited
//! in place, what is new is encoded. So a module that no pass changed is the same file, byte for
//! byte, and a renamed node changes that node's name and nothing else.
//!
//! A module that has to live without its file is [detached](detach): what only the file said goes to
//! the extras of the entities, where text keeps it too. The writer finds it there as it finds it in
//! the file.
//!
//! Neither side knows operators or opsets. Reading order: `wire`, `schema`, `source`, `types`
//! and `data` (small encodings), `read`, `write`, `carry` (attributes of functions), `keep` and
//! `detach`, `facts` and `remarks`.

mod carry;
mod data;
mod detach;
mod error;
mod external;
mod facts;
mod keep;
mod read;
mod remarks;
mod schema;
mod source;
#[cfg(test)]
mod tests;
mod types;
mod wire;
mod write;

pub use detach::detach;
pub use error::OnnxError;
pub use external::{
    ExternalFiles, Reach, check_external, external_locations, place_external, same_bytes,
};
pub use facts::{FileFacts, SparseFacts, file_facts, sparse_facts};
pub use read::{TensorFile, read, read_bytes, read_tensor, read_within};
pub use remarks::{Remark, remarks};
pub use write::{DataFile, ExternalData, Moved, Output, WriteOptions, write};

/// The name of the function that the main graph is.
pub const MAIN: &str = "main";

/// Fields of the model's header that are metadata of the module, by number.
const METADATA: [(u32, &str); 5] = [
    (schema::model::IR_VERSION, "onnx.ir_version"),
    (schema::model::PRODUCER_NAME, "onnx.producer_name"),
    (schema::model::PRODUCER_VERSION, "onnx.producer_version"),
    (schema::model::DOMAIN, "onnx.domain"),
    (schema::model::MODEL_VERSION, "onnx.model_version"),
];
