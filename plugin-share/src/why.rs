//! Why data isn't shared.

use std::error::Error;
use std::fmt;

use passdock_plugin_api::{EditError, PassError};

/// The reason why data can't be read or published: a sentence, for a diagnostic or a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why(String);

impl Why {
    pub(crate) fn new(sentence: String) -> Why {
        Why(sentence)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Why {}

impl From<EditError> for Why {
    fn from(error: EditError) -> Why {
        Why(error.message)
    }
}

impl From<Why> for String {
    fn from(why: Why) -> String {
        why.0
    }
}

impl From<Why> for PassError {
    fn from(why: Why) -> PassError {
        PassError::new(why)
    }
}
