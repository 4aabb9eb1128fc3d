//! The IR as a pass sees it: functions and modules, read in place and edited through the host.

mod attr;
mod builder;
mod call;
mod call_graph;
mod columns;
mod copy;
mod dead;
mod edit;
mod few;
mod function;
mod iter;
mod kind;
mod module;
mod mutator;
mod name;
mod read;
mod types;
mod visitor;
mod within;

pub use attr::{Attr, Strings};
pub use builder::{ConstantSpec, FunctionBuilder, OpBuilder};
pub use call_graph::CallGraph;
pub use columns::{Effects, Liveness, Names, Order};
pub use function::Function;
pub use iter::{IterUses, Ops, Use, Uses, Walk};
pub use module::{Module, Outlined, Snapshot};
pub use mutator::{MutateResult, Mutated, Mutation, Mutator};
pub use name::Name;
pub use types::{Dims, Type, TypeSpec};
pub use visitor::{Visit, Visitor};
