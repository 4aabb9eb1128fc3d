//! What goes wrong: an edit the host refuses, a pass that fails.

use std::error::Error;
use std::fmt;

use passdock_abi::{OpId, Status, SymbolId};

/// An edit (or another request) that the host refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EditError {
    /// The kind of refusal.
    pub status: Status,
    /// The host's sentence: what was refused, where, why.
    pub message: String,
    /// The op the request was about.
    pub op: Option<OpId>,
    /// The function the request was about.
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

    /// A failure in words of one's own.
    pub fn failed(message: impl Into<String>) -> EditError {
        EditError::new(Status::FAILED, message, None)
    }

    pub(crate) fn within(mut self, function: SymbolId) -> EditError {
        self.function = function.option();
        self
    }

    /// The host has no such function.
    #[cold]
    pub(crate) fn unsupported(function: &str, op: Option<OpId>) -> EditError {
        let message = format!(
            "this host doesn't offer `{}`; it is older than the plugin needs, and a newer one does",
            function
        );
        EditError::new(Status::UNSUPPORTED, message, op)
    }

    /// The sentence of a host that gave none.
    #[cold]
    pub(crate) fn described(status: Status, text: &str, call: &str, op: Option<OpId>) -> EditError {
        if !text.is_empty() {
            return EditError::new(status, text, op);
        }
        let why = match status {
            Status::STALE => "an id names nothing, or something erased",
            Status::REFUSED => "it would break an invariant of the IR",
            Status::INVALID => "an argument is malformed",
            Status::NOT_FOUND => "there is no such thing",
            Status::UNSUPPORTED => "the host doesn't do this",
            Status::FAILED => "a pass failed",
            Status::PANICKED => "a plugin panicked",
            Status::IO => "bytes couldn't be read from the file that holds them",
            _ => "for a reason this plugin is too old to know",
        };
        EditError::new(status, format!("`{}` was refused: {}", call, why), op)
    }
}

/// `None` for what isn't there.
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

/// The reason why a pass failed. The host adds plugin, pass and function, and keeps the module as
/// it was.
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// fn no_loops(f: &mut Function, _cx: &PassContext) -> PassResult {
///     match f.ops_named("onnx.Loop").next() {
///         Some(op) => Err(PassError::new("Loops can't be lowered.").at(op)),
///         None => Ok(()),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PassError {
    /// The message: a sentence.
    pub message: String,
    /// The kind of refusal, if it failed because the host refused something.
    pub status: Option<Status>,
    /// The op it failed on.
    pub op: Option<OpId>,
    /// The function that the op is in; `None`: the one that the pass works on.
    pub function: Option<SymbolId>,
    /// Whether diagnostics say all of it.
    pub(crate) emitted: bool,
}

/// The answer of a pass.
pub type PassResult = Result<(), PassError>;

impl PassError {
    /// A failure that isn't about one op.
    pub fn new(message: impl Into<String>) -> PassError {
        PassError {
            message: message.into(),
            status: None,
            op: None,
            function: None,
            emitted: false,
        }
    }

    /// A failure because an option doesn't suit the model: an error of the configuration.
    pub fn config(message: impl Into<String>) -> PassError {
        PassError {
            status: Some(Status::CONFIG),
            ..PassError::new(message)
        }
    }

    /// The pass can't go on after the error diagnostics that it emitted, and has nothing to add.
    pub(crate) fn emitted() -> PassError {
        PassError {
            emitted: true,
            ..PassError::new("error diagnostics were emitted")
        }
    }

    /// Whether diagnostics say all of it; for hosts.
    #[doc(hidden)]
    pub fn is_emitted(&self) -> bool {
        self.emitted
    }

    /// Names the op it failed on.
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
