//! Op definitions: what a plugin says of operators.

mod attr_def;
mod call;
mod def;

pub use attr_def::{AttrDef, AttrDefault};
pub use call::OpCall;
pub use def::{OpDef, OpFn, OpResult, Refusal};
