//! Write compiler passes that load into every passdock host.
#![deny(missing_docs)]
#![deny(unsafe_code)]
#![warn(unsafe_op_in_unsafe_fn)]

mod attr;
mod builder;
mod context;
mod edit;
mod error;
mod function;
mod gate;
mod iter;
mod manifest;
mod module;
mod mutator;
mod name;
mod op_def;
pub mod prelude;
mod raw;
mod read;
mod setting;
mod spec;
pub mod testing;
mod types;
mod visitor;

pub use attr::{Attr, AttrValue, Strings};
pub use builder::{ConstantSpec, FunctionBuilder, OpBuilder};
pub use context::{Diagnostic, PassContext};
pub use error::{EditError, PassError, PassResult};
pub use function::Function;
pub use iter::{Ops, Use, Uses, Walk};
pub use module::{FunctionMut, Module, Snapshot};
pub use mutator::{MutateResult, Mutated, Mutation, Mutator};
pub use name::Name;
pub use op_def::{OpCall, OpDef, OpFn, OpResult, OpTraits, Refusal};
pub use passdock_abi as abi;
pub use passdock_abi::{
    AttrKind, ConstId, DType, Dim, DimKind, ExprKind, FunctionEntry, FunctionKind, LocId, OpId,
    PassKind, Position, RegionId, Severity, Status, SymbolId, TypeId, TypeKind, ValueId,
};
pub use setting::{OptionValue, Options};
pub use spec::StaticPlugin;
pub use types::{Dims, Type, TypeSpec};
pub use visitor::{Visit, Visitor};

/// What the macros need, and hosts; no part of the promise.
#[doc(hidden)]
#[allow(missing_docs)]
pub mod __private {
    pub use crate::gate::{enter, Panicked};
    pub use crate::manifest::{copy, render};
    pub use crate::raw::{attach, Slot, Tables};
    pub use crate::setting::{field, OptionDefault, OptionSpec, OptionType};
    pub use crate::spec::{ConfigSpec, PassRun, PassSpec, PluginSpec};
    pub use passdock_abi as abi;
}
