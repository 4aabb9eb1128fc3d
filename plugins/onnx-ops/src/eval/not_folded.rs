//! [`NotFolded`]: why an op isn't folded.

use std::borrow::Cow;
use std::fmt;

/// The reason why an op isn't folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFolded(Cow<'static, str>);

impl NotFolded {
    /// Creates a rejection with a reason.
    pub fn new(reason: impl Into<Cow<'static, str>>) -> NotFolded {
        NotFolded(reason.into())
    }

    /// Returns the reason as text.
    pub fn reason(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NotFolded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotFolded {}

/// Returns [`NotFolded`] with a formatted reason.
macro_rules! reject {
    ($($text:tt)*) => { Err($crate::eval::NotFolded::new(format!($($text)*))) };
}

/// Returns [`NotFolded`] with a formatted reason unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)*) => {
        if !$condition {
            return $crate::eval::reject!($($text)*);
        }
    };
}
pub(crate) use {ensure, reject};
