//! Models in memory: the bytes of an ONNX model.

use std::path::Path;
use std::sync::Arc;

use passdock_core::{ErrorKind, PassError};
use passdock_ir::{Module, text};
use passdock_onnx::{EncodeOptions, ExternalData};

use super::unusable;

/// Reads the bytes of an ONNX model. Messages and external data go by `path`, where the model is to be thought of.
///
/// # Errors
/// If they are no model.
pub fn read_bytes(path: &Path, bytes: Vec<u8>) -> Result<Module, PassError> {
    passdock_onnx::read_bytes(path, bytes).map_err(|error| unusable(ErrorKind::Read, error))
}

/// The bytes of a module as an ONNX model, all its data inside.
///
/// # Errors
/// If ONNX can't say something of it, its data can't be read, or they would be more than 2 GiB.
pub fn to_bytes(module: &Module) -> Result<Vec<u8>, PassError> {
    let options = EncodeOptions {
        external: ExternalData::None,
        ..EncodeOptions::default()
    };
    let refused = |what: &dyn std::fmt::Display| {
        let what = what.to_string();
        let what = what.trim_end_matches('.');
        PassError::new(
            ErrorKind::Write,
            format!("The model can't be written as ONNX: {what}."),
        )
    };
    let encoded = passdock_onnx::write(module, options)
        .map_err(|error| refused(&error).caused_by(Arc::new(error)))?;
    let mut bytes = Vec::new();
    match encoded.write_to(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(refused(&error).caused_by(Arc::new(error))),
    }
}

/// A module as IR text that says all of it, as a file of text does: also what else only the model that it was read
/// from would say.
///
/// # Errors
/// If that model isn't what it was when it was read.
pub fn to_text(module: &Module) -> Result<String, PassError> {
    let detached = passdock_onnx::detach(module);
    let detached = detached.map_err(|error| unusable(ErrorKind::Write, error))?;
    Ok(text::print(&detached))
}
