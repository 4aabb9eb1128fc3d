//! Models in memory, as bytes of an ONNX file.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use passdock_core::{ErrorKind, PassError};
use passdock_ir::{Module, text};
use passdock_onnx::{EncodeOptions, ExternalData};

use super::unusable;

/// Parses the bytes of an ONNX model. `path` is its name in messages and the base of external data.
///
/// # Errors
/// If they aren't a valid model.
pub fn read_bytes(path: &Path, bytes: Vec<u8>) -> Result<Module, PassError> {
    passdock_onnx::read_bytes(path, bytes).map_err(|error| unusable(ErrorKind::Read, error))
}

/// Encodes a module as an ONNX model that contains all its data.
///
/// # Errors
/// If ONNX can't represent the module, its data can't be read, or the result would exceed 2 GiB.
pub fn to_bytes(module: &Module) -> Result<Vec<u8>, PassError> {
    let options = EncodeOptions {
        external: ExternalData::None,
        ..EncodeOptions::default()
    };
    let encoded = passdock_onnx::write(module, options).map_err(write_error)?;
    encoded.to_bytes().map_err(write_error)
}

fn write_error(error: impl Error + Send + Sync + 'static) -> PassError {
    let message = format!("could not write the model as ONNX: {error}");
    PassError::new(ErrorKind::Write, message).caused_by(Arc::new(error))
}

/// Prints a module as complete IR text, as in a file. Facts that are only in the ONNX model it was read from are
/// included.
///
/// # Errors
/// If that model has changed since it was read.
pub fn to_text(module: &Module) -> Result<String, PassError> {
    let detached = passdock_onnx::detach(module);
    let detached = detached.map_err(|error| unusable(ErrorKind::Write, error))?;
    Ok(text::print(&detached))
}
