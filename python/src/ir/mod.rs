//! The IR as Python has it: objects for modules, functions, ops and values, and the edits of a function.

pub(crate) mod attr;
pub(crate) mod call;
pub(crate) mod constant;
pub(crate) mod definition;
pub(crate) mod edit;
pub(crate) mod failure;
pub(crate) mod function;
pub(crate) mod module;
pub(crate) mod op;
pub(crate) mod region;
pub(crate) mod types;
pub(crate) mod value;
pub(crate) mod wish;

use std::hash::{Hash, Hasher};

use op::Op;
use region::Region;
use value::Value;

/// What is a part of a function is the same as another if both have one id in one function.
macro_rules! same_by_id {
    ($($part:ty),*) => {$(
        impl PartialEq for $part {
            fn eq(&self, other: &$part) -> bool {
                self.id == other.id && self.function.is(&other.function)
            }
        }

        impl Hash for $part {
            fn hash<H: Hasher>(&self, state: &mut H) {
                (self.function.as_ptr().addr(), self.id.0).hash(state);
            }
        }
    )*};
}

same_by_id!(Op, Value, Region);
