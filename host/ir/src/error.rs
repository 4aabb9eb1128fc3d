//! Errors of edits.

use passdock_abi::Status;

/// An edit that wasn't done. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EditFailure {
    /// The kind of refusal.
    pub status: Status,
    /// A whole sentence that names the entities.
    pub message: String,
}

impl EditFailure {
    fn new(status: Status, message: String) -> EditFailure {
        EditFailure { status, message }
    }

    /// An id names nothing, or something erased.
    #[cold]
    pub fn stale(message: impl Into<String>) -> EditFailure {
        EditFailure::new(Status::STALE, message.into())
    }

    /// The edit would break an invariant.
    #[cold]
    pub fn refused(message: impl Into<String>) -> EditFailure {
        EditFailure::new(Status::REFUSED, message.into())
    }

    /// An argument is malformed.
    #[cold]
    pub fn invalid(message: impl Into<String>) -> EditFailure {
        EditFailure::new(Status::INVALID, message.into())
    }

    /// What is asked for is of a newer contract than this host's.
    pub fn unsupported(message: impl Into<String>) -> EditFailure {
        EditFailure::new(Status::UNSUPPORTED, message.into())
    }

    /// What is asked for isn't there.
    #[cold]
    pub fn not_found(message: impl Into<String>) -> EditFailure {
        EditFailure::new(Status::NOT_FOUND, message.into())
    }
}

/// Returns an [`EditFailure::refused`] with a formatted message.
macro_rules! refuse {
    ($($message:tt)*) => {
        return Err($crate::error::EditFailure::refused(format!($($message)*)))
    };
}
pub(crate) use refuse;

/// Returns an [`EditFailure::invalid`] with a formatted message.
macro_rules! invalid {
    ($($message:tt)*) => {
        return Err($crate::error::EditFailure::invalid(format!($($message)*)))
    };
}
pub(crate) use invalid;

/// The outcome of an edit.
pub type Edit<T = ()> = Result<T, EditFailure>;
