//! Errors: [`EditError`] for a rejected call, [`PassError`] for a failed pass.

use std::error::Error;
use std::fmt;

use passdock_abi::{OpId, Status, SymbolId};

/// The error of an edit, or of another call, that the host rejected. Nothing was changed.
///
/// # Examples
///
/// A pass may handle the error, or return it with `?`:
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// fn erase_unused(f: &mut Function, _cx: &PassContext) -> PassResult {
///     for op in f.ops_named("acme.Marker") {
///         if let Err(error) = f.erase_op(op) {
///             assert!(!error.message.is_empty());
///         }
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EditError {
    /// The reason for the rejection.
    pub status: Status,
    /// The host's error message.
    pub message: String,
    /// The op that the call was about.
    pub op: Option<OpId>,
    /// The function that the call was about.
    pub function: Option<SymbolId>,
}

impl EditError {
    pub(crate) fn new(status: Status, message: impl Into<String>, op: Option<OpId>) -> EditError {
        EditError {
            status,
            message: message.into(),
            op,
            function: None,
        }
    }

    /// Creates an error with the status [`Status::FAILED`].
    pub fn failed(message: impl Into<String>) -> EditError {
        EditError::new(Status::FAILED, message, None)
    }

    pub(crate) fn in_function(mut self, function: SymbolId) -> EditError {
        self.function = function.option();
        self
    }

    /// Creates the error for a function that the host is too old to have.
    #[cold]
    pub(crate) fn unsupported(function: &str, op: Option<OpId>) -> EditError {
        let message = format!(
            "the host is too old for the plugin: it has no function `{}`",
            function
        );
        EditError::new(Status::UNSUPPORTED, message, op)
    }

    /// Creates an error with a generic message if the host provided none.
    #[cold]
    pub(crate) fn described(status: Status, text: &str, call: &str, op: Option<OpId>) -> EditError {
        if !text.is_empty() {
            return EditError::new(status, text, op);
        }
        let why = match status {
            Status::STALE => "an id is unknown or was erased",
            Status::REJECTED => "it would make the IR invalid",
            Status::INVALID => "invalid argument",
            Status::NOT_FOUND => "not found",
            Status::UNSUPPORTED => "unsupported by the host",
            Status::FAILED => "a pass failed",
            Status::PANICKED => "a plugin panicked",
            Status::IO => "could not read the data from its file",
            _ => "unknown status",
        };
        EditError::new(status, format!("`{}` failed: {}", call, why), op)
    }
}

/// Converts [`Status::NOT_FOUND`] to `None`.
pub(crate) fn optional<T>(result: Result<T, EditError>) -> Result<Option<T>, EditError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.status == Status::NOT_FOUND => Ok(None),
        Err(error) => Err(error),
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for EditError {}

/// The reason why a pass failed. The host adds plugin, pass and function, and restores the module.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// fn no_loops(f: &mut Function, _cx: &PassContext) -> PassResult {
///     match f.ops_named("onnx.Loop").next() {
///         Some(op) => Err(PassError::new("cannot lower loops").at(op)),
///         None => Ok(()),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PassError {
    /// The error message.
    pub message: String,
    /// The status of the rejected call that caused the failure, if any.
    pub status: Option<Status>,
    /// The op that the pass failed on.
    pub op: Option<OpId>,
    /// The function of the op; `None` for the one that the pass runs on.
    pub function: Option<SymbolId>,
    /// Whether diagnostics already report the failure.
    pub(crate) emitted: bool,
}

/// The result of a pass.
pub type PassResult = Result<(), PassError>;

impl PassError {
    /// Creates a failure that isn't about one op.
    pub fn new(message: impl Into<String>) -> PassError {
        PassError {
            message: message.into(),
            status: None,
            op: None,
            function: None,
            emitted: false,
        }
    }

    /// Creates a failure for an option that is invalid for the model: an error of the user.
    pub fn config(message: impl Into<String>) -> PassError {
        PassError {
            status: Some(Status::CONFIG),
            ..PassError::new(message)
        }
    }

    /// Creates the failure of a pass that already reported errors as diagnostics.
    pub(crate) fn emitted() -> PassError {
        PassError {
            emitted: true,
            ..PassError::new("error diagnostics were emitted")
        }
    }

    /// Whether diagnostics already report the failure; for hosts.
    #[doc(hidden)]
    pub fn is_emitted(&self) -> bool {
        self.emitted
    }

    /// Sets the op that the pass failed on.
    pub fn at(mut self, op: OpId) -> PassError {
        self.op = Some(op);
        self
    }
}

impl fmt::Display for PassError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for PassError {}

impl From<EditError> for PassError {
    fn from(error: EditError) -> PassError {
        PassError {
            status: Some(error.status),
            op: error.op,
            function: error.function,
            ..PassError::new(error.message)
        }
    }
}

impl From<String> for PassError {
    fn from(message: String) -> PassError {
        PassError::new(message)
    }
}

impl From<&str> for PassError {
    fn from(message: &str) -> PassError {
        PassError::new(message)
    }
}
