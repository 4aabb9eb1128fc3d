//! Why an edit was refused.

use passdock_abi::Status;

/// An edit that wasn't done. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EditError {
    /// The kind of refusal.
    pub status: Status,
    /// A whole sentence that names the entities.
    pub message: String,
}

impl EditError {
    /// An id names nothing, or something erased.
    pub fn stale(message: impl Into<String>) -> EditError {
        EditError {
            status: Status::STALE,
            message: message.into(),
        }
    }

    /// The edit would break an invariant.
    pub fn refused(message: impl Into<String>) -> EditError {
        EditError {
            status: Status::REFUSED,
            message: message.into(),
        }
    }

    /// An argument is malformed.
    pub fn invalid(message: impl Into<String>) -> EditError {
        EditError {
            status: Status::INVALID,
            message: message.into(),
        }
    }
}

/// The outcome of an edit.
pub type Edit<T = ()> = Result<T, EditError>;
