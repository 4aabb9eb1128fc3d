//! Reading an ONNX file as a module.
//!
//! One walk over the file's tags fills the arenas. Weights, doc strings, metadata and unknown fields stay in the file.
//! Each entity has the span of its message ([`passdock_ir::SourceSpan`]), so that the writer can copy the untouched
//! ones.

mod context;
mod frame;
mod graph;
mod header;
mod importer;
mod model;
mod node;
mod open;
mod sort;
mod tensor;

use std::path::Path;
use std::sync::Arc;

use passdock_abi::DType;
use passdock_ir::{ConstantData, Entity, Function, Module, Symbols};

use context::Context;

use crate::file::external::Reach;
use crate::file::kind::foreign_format;
use crate::file::source::Source;
use crate::format::error::{OnnxError, Result};
use crate::format::fields::text;
use crate::format::wire::Message;

/// Reads a model file. The file stays mapped as long as the module or a copy of it exists.
pub fn read(path: &Path) -> std::result::Result<Module, OnnxError> {
    read_within(path, Reach::ModelDirectory)
}

/// Reads a model file. `reach` determines the files that its tensors may reference.
pub fn read_within(path: &Path, reach: Reach) -> std::result::Result<Module, OnnxError> {
    read_source(Source::open(path)?, reach)
}

/// Reads a model from memory. Messages name `path`, and locations of external data are relative to its directory.
pub fn read_bytes(path: &Path, bytes: Vec<u8>) -> std::result::Result<Module, OnnxError> {
    read_source(Source::in_memory(path, bytes), Reach::ModelDirectory)
}

/// A tensor in a separate file.
pub struct TensorFile {
    /// The tensor's name, if it has one.
    pub name: Option<String>,
    /// The element type.
    pub dtype: DType,
    /// The shape.
    pub shape: Vec<i64>,
    /// The data, which is read from the file on demand.
    pub data: Arc<ConstantData>,
}

/// Reads a file with one `TensorProto`, such as test data. The file stays mapped as long as the data exists.
pub fn read_tensor(path: &Path) -> std::result::Result<TensorFile, OnnxError> {
    let source = Arc::new(Source::open(path)?);
    let mut cx = Context::new(&source, &Symbols::new(), Reach::ModelDirectory);
    let message = Message::whole(source.bytes());
    let read = cx.tensor(message).and_then(|tensor| {
        Ok(TensorFile {
            name: tensor.name.map(text).transpose()?.map(str::to_owned),
            dtype: tensor.dtype,
            shape: tensor.dims.iter().map(|dim| dim.value).collect(),
            data: tensor.data,
        })
    });
    read.map_err(|error| error.in_file(&path.display().to_string()))
}

fn read_source(source: Source, reach: Reach) -> Result<Module> {
    let source = Arc::new(source);
    let read = model::read(&source, reach);
    let read = read.map_err(|error| match foreign_format(source.bytes()) {
        Some(what) => OnnxError::new(format!("expected a binary ONNX model, found {what}")),
        None => error,
    });
    read.map_err(|error| error.in_file(&source.path().display().to_string()))
}

/// Reads an initializer again that a pass erased.
pub(crate) fn initializer(f: &mut Function, source: &Arc<Source>, message: Message<'_>) -> Result {
    let mut cx = Context::new(source, f.symbols(), Reach::ModelDirectory);
    let tensor = cx.tensor(message)?;
    let name = tensor.name.map_or(Ok(""), text)?;
    let ty = tensor.ty(f);
    let value = f.add_constant(ty, tensor.data, f.body(), name)?;
    let id = f.value(value).constant;
    f.origins_mut()
        .set(Entity::Constant(id), frame::span(message));
    Ok(())
}
