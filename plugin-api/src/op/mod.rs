//! Op definitions: the operators that a plugin defines or extends.

mod attr_def;
mod call;
mod def;
mod layout;
mod layout_steps;

#[doc(hidden)]
pub use attr_def::attr_kind;
pub use attr_def::{AttrDef, AttrDefault};
pub use call::OpCall;
pub use def::{OpDef, OpError, OpFn, OpResult};
pub use layout::{Layout, LayoutError, LayoutPosition};
pub use layout_steps::LayoutStep;
