//! Errors of edits.

use passdock_abi::Status;

/// An edit that was rejected. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EditFailure {
    /// The kind of error.
    pub status: Status,
    /// The error message, which names the entities.
    pub message: String,
}

impl EditFailure {
    fn new(status: Status, message: String) -> EditFailure {
        EditFailure { status, message }
    }

    /// An id doesn't exist or refers to an erased entity.
    #[cold]
    pub fn stale(message: impl Into<String>) -> EditFailure {
        EditFailure::new(Status::STALE, message.into())
    }

    /// The edit would break an invariant.
    #[cold]
    pub fn rejected(message: impl Into<String>) -> EditFailure {
        EditFailure::new(Status::REJECTED, message.into())
    }

    /// An argument is malformed.
    #[cold]
    pub fn invalid(message: impl Into<String>) -> EditFailure {
        EditFailure::new(Status::INVALID, message.into())
    }

    /// The request needs a newer plugin ABI than this host's.
    pub fn unsupported(message: impl Into<String>) -> EditFailure {
        EditFailure::new(Status::UNSUPPORTED, message.into())
    }

    /// The requested entity doesn't exist.
    #[cold]
    pub fn not_found(message: impl Into<String>) -> EditFailure {
        EditFailure::new(Status::NOT_FOUND, message.into())
    }
}

/// Returns an [`EditFailure::rejected`] with a formatted message.
macro_rules! reject {
    ($($message:tt)*) => {
        return Err($crate::error::EditFailure::rejected(format!($($message)*)))
    };
}
pub(crate) use reject;

/// Returns an [`EditFailure::invalid`] with a formatted message.
macro_rules! invalid {
    ($($message:tt)*) => {
        return Err($crate::error::EditFailure::invalid(format!($($message)*)))
    };
}
pub(crate) use invalid;

/// The result of an edit.
pub type Edit<T = ()> = Result<T, EditFailure>;
