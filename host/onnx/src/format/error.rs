//! Errors in a file, with their location: a path of fields and a byte offset.

use std::fmt;
use std::path::Path;

use passdock_ir::EditFailure;

use super::wire::{DETACHED, WireError};

/// An error of reading or writing a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnnxError {
    /// The file.
    pub file: String,
    /// The location in the file, such as `graph.node[12] (Conv 'conv1').attribute[3]`; empty for the whole file.
    pub path: String,
    /// The byte offset in the file, if known.
    pub at: Option<u64>,
    /// The problem.
    pub what: String,
    /// The system's error kind, for I/O errors.
    pub system: Option<std::io::ErrorKind>,
}

impl std::error::Error for OnnxError {}

impl fmt::Display for OnnxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The message of an I/O error names the file.
        if !self.file.is_empty() && self.system.is_none() {
            write!(f, "`{}`: ", self.file)?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.what)?;
        match self.at {
            Some(at) => write!(f, " (at byte {at})"),
            None => Ok(()),
        }
    }
}

impl OnnxError {
    /// Creates an error at a byte offset of the file or of extras.
    pub(crate) fn at(at: u64, what: impl Into<String>) -> OnnxError {
        if at >= DETACHED {
            let what = what.into();
            return OnnxError::new(format!("invalid ONNX data in `extra`: {what}"));
        }
        OnnxError {
            at: Some(at),
            ..OnnxError::new(what)
        }
    }

    /// Creates an error without a location.
    pub(crate) fn new(what: impl Into<String>) -> OnnxError {
        OnnxError {
            file: String::new(),
            path: String::new(),
            at: None,
            what: what.into(),
            system: None,
        }
    }

    /// Creates an I/O error.
    pub(crate) fn io(path: &Path, action: &str, error: &std::io::Error) -> OnnxError {
        let what = format!("could not {action} `{}`: {error}", path.display());
        OnnxError {
            file: path.display().to_string(),
            system: Some(error.kind()),
            ..OnnxError::new(what)
        }
    }

    /// Adds the part that contains the current path.
    pub(crate) fn inside(mut self, part: impl fmt::Display) -> OnnxError {
        self.path = match self.path.as_str() {
            "" => part.to_string(),
            path => format!("{part}.{path}"),
        };
        self
    }

    /// Sets the byte offset, if it isn't set yet.
    pub(crate) fn near(mut self, at: u64) -> OnnxError {
        self.at = self.at.or(Some(at));
        self
    }

    /// Sets the file, if it isn't set yet.
    pub(crate) fn in_file(mut self, file: &str) -> OnnxError {
        if self.file.is_empty() {
            self.file = file.to_owned();
        }
        self
    }
}

impl From<WireError> for OnnxError {
    fn from(error: WireError) -> OnnxError {
        OnnxError::at(error.at, error.what)
    }
}

impl From<EditFailure> for OnnxError {
    fn from(error: EditFailure) -> OnnxError {
        OnnxError::new(error.message)
    }
}

/// The result of reading or writing.
pub(crate) type Result<T = ()> = std::result::Result<T, OnnxError>;

/// Results whose errors can be extended by the containing part of the file.
pub(crate) trait Within {
    /// Adds the containing part to an error.
    fn within<D: fmt::Display>(self, part: impl FnOnce() -> D) -> Self;
}

impl<T> Within for Result<T> {
    fn within<D: fmt::Display>(self, part: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|error| error.inside(part()))
    }
}
