//! Failures and places name the function that they are in.

use super::Function;
use crate::data::{PassError, Place};

impl PassError {
    /// Names the function that the op is in: of those that a module pass works on.
    pub fn within(mut self, function: &Function) -> PassError {
        self.function = function.raw.name().option();
        self
    }
}

impl Place {
    /// The function that the op is in: of those that a module pass works on. In a function pass it
    /// is the one that the pass works on.
    pub fn within(mut self, function: &Function) -> Place {
        self.function = function.raw.name().option();
        self
    }
}
