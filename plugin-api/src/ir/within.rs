//! Methods that set the function of a [`PassError`] or an [`OpSpan`].

use super::Function;
use crate::data::{OpSpan, PassError};

impl PassError {
    /// Sets the function of the op. For module passes.
    pub fn within(mut self, function: &Function) -> PassError {
        self.function = function.raw.name().option();
        self
    }
}

impl OpSpan {
    /// Sets the function of the op. For module passes; in a function pass, it is the function that the pass runs on.
    pub fn within(mut self, function: &Function) -> OpSpan {
        self.function = function.raw.name().option();
        self
    }
}
