//! The IR: functions and modules, read in place and edited through the host.

mod attr;
mod builder;
mod calls;
mod columns;
mod copy;
mod dead;
mod edit;
mod few;
mod function;
mod iter;
mod module;
mod name;
mod read;
mod types;
pub mod walk;
mod within;

pub use crate::ffi::Function;
pub use attr::{Attr, Strings};
pub use builder::{ConstantSpec, FunctionBuilder, OpBuilder};
pub use calls::CallGraph;
pub use columns::{Effects, Liveness, Names, Order};
pub use iter::{IterUses, Ops, Use, Walk};
pub use module::{Module, Outlined, Snapshot};
pub use name::{FreeNames, Name};
pub use types::{Dims, Type, TypeSpec};
