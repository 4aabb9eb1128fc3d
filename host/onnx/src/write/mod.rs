//! Writing a module as an ONNX file.
//!
//! A touched message is encoded from the IR and its stripped message ([`crate::detach`]). Then the order and form of
//! its original are restored ([`message`]), so that only changes differ. Untouched messages in it are copied from the
//! file, and spans that are adjacent in the file are merged. Regions are written innermost first, without recursion.

mod attr;
mod body;
pub(crate) mod data_file;
pub(crate) mod imports;
mod info;
mod location;
mod message;
mod model;
mod node;
pub(crate) mod options;
pub(crate) mod output;
pub(crate) mod placement;
mod rope;
mod tensor;
mod writer;

use passdock_ir::Module;

use options::{EncodeOptions, ExternalData};
use output::EncodedModel;
use placement::Placement;
use writer::Writer;

use crate::detach::detach;
use crate::file::model::ModelFile;
use crate::format::error::{OnnxError, Result};
use crate::format::header::MAIN;
use crate::layout::version::final_version;

/// The maximum size of a protobuf message: 2 GiB.
const MESSAGE_LIMIT: u64 = i32::MAX as u64;

/// Encodes a module. Weights aren't copied until the output is written.
///
/// # Errors
/// If the module has something that ONNX can't represent, or if the model file would exceed protobuf's limit.
pub fn write(
    module: &Module,
    options: EncodeOptions<'_>,
) -> std::result::Result<EncodedModel, OnnxError> {
    let detached;
    let module = if options.drop_spans {
        detached = detach(module)?;
        &detached
    } else {
        module
    };
    let output = encode(module, options, options.external == ExternalData::All)?;
    let fits = |output: &EncodedModel| {
        // The input file was already larger, so its readers support that.
        let source = output.store.source.as_ref();
        let large = source.is_some_and(|source| source.bytes().len() as u64 > MESSAGE_LIMIT);
        large || output.len() <= MESSAGE_LIMIT
    };
    if fits(&output) {
        return Ok(output);
    }
    let smaller = match (options.external, options.data_file) {
        (ExternalData::Keep, Some(_)) => encode(module, options, true)?,
        _ => output,
    };
    if fits(&smaller) {
        return Ok(smaller);
    }
    Err(OnnxError::new(format!(
        "the model file would have {} bytes, but the limit of the format is {MESSAGE_LIMIT}; store the data of \
         initializers in a separate file",
        smaller.len()
    )))
}

fn encode(module: &Module, options: EncodeOptions<'_>, all: bool) -> Result<EncodedModel> {
    let source = ModelFile::from_module(module).and_then(|file| file.source.clone());
    let placement = match module.function_named(MAIN) {
        Some(main) => Placement::new(module, main, &options, final_version(module), all),
        None => Placement::default(),
    };
    let mut writer = Writer::new(module, source, placement.placements);
    writer.model()?;
    Ok(EncodedModel {
        store: writer.store,
        files: placement.files,
        dropped: placement.dropped,
    })
}
