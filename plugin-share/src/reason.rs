//! [`Why`]: the error of publishing and reading shared data.

use std::error::Error;
use std::fmt;

use passdock_plugin_api::{EditError, OpId, PassError, SymbolId};

/// The reason why data can't be read or published, as the message of a diagnostic or an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    message: String,
    /// The op that it is about, in `function`.
    op: Option<OpId>,
    function: Option<SymbolId>,
}

impl Why {
    pub(crate) fn new(message: String) -> Why {
        Why {
            message,
            op: None,
            function: None,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Why {}

impl From<EditError> for Why {
    fn from(error: EditError) -> Why {
        Why {
            message: error.message,
            op: error.op,
            function: error.function,
        }
    }
}

impl From<Why> for String {
    fn from(why: Why) -> String {
        why.message
    }
}

impl From<Why> for PassError {
    fn from(why: Why) -> PassError {
        let mut error = PassError::new(why.message);
        (error.op, error.function) = (why.op, why.function);
        error
    }
}
