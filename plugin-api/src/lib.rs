//! SDK for compiler passes that every passdock host can load.
//!
//! A pass is a function; a plugin is a shared library with passes. Depend on this crate, set `crate-type = ["cdylib",
//! "rlib"]` in `Cargo.toml`, and write:
//!
//! ```
//! use passdock_plugin_api::prelude::*;
//!
//! fn fuse_double_relu(f: &mut Function, _cx: &PassContext) -> PassResult {
//!     for op in f.ops_named("onnx.Relu") {
//!         if let Some(inner) = f.operand(op, 0).and_then(|v| f.defining_op(v)) {
//!             if f.name(inner) == "onnx.Relu" {
//!                 f.replace_op_with(op, &[f.result(inner, 0)])?;
//!             }
//!         }
//!     }
//!     Ok(())
//! }
//!
//! plugin! {
//!     name: "acme",
//!     passes: [
//!         /// Replaces `Relu(Relu(x))` with `Relu(x)`.
//!         function "acme.transform.FuseDoubleRelu" => fuse_double_relu { opt_level: 1 },
//!     ],
//! }
//! export_plugin!(PLUGIN);
//! ```
//!
//! `cargo build` creates a library that `passdock inspect` describes. `passdock run --plugin-dir target/debug --passes
//! acme.transform.FuseDoubleRelu model.onnx -o out.onnx` runs its pass.
//!
//! The [`guide`] continues from here, step by step.
//!
//! # The IR
//!
//! A [`Module`] has [`Function`]s. The body of a function is a region of **ops**. An op has operands and results, which
//! are **values**, and attributes and nested regions. Constants are values, too. All entities are referred to by small
//! ids ([`OpId`], [`ValueId`], …) that belong to one function.
//!
//! - Iterating over ops: [`Function::ops`], [`Function::ops_named`] and [`Function::ops_in`] return snapshots: the
//!   function may be edited during the iteration, and erased ops are skipped. [`Function::iter`] borrows the function
//!   and copies nothing. [`Visitor`], [`Mutator`] and [`Functor`] traverse nested regions.
//! - Reading: [`Function::operand`], [`Function::result`], [`Function::defining_op`], [`Function::users`],
//!   [`Function::type_of`], [`Function::int`] and similar functions for attributes, [`Function::constant_data`]. These
//!   functions read the host's memory directly.
//! - Editing: [`Function::replace_op`], [`Function::replace_op_with`], [`Function::create_op`], [`Function::erase_op`],
//!   [`Function::set_attr`], …. An edit succeeds, or returns an error and changes nothing.
//!   [`Function::replace_with_and_erase_dead`] also erases ops that become dead.
//! - Functions: [`Module::outline`] moves ops to a new function, [`Function::create_call`] creates a call,
//!   [`Function::callee`] returns the function that an op calls, [`Function::clone_ops_from`] copies ops from another
//!   function.
//! - Analyses: [`Function::liveness`], [`Function::order`], [`Function::effects`], [`Function::names`],
//!   [`Module::call_graph`]; [`Analysis`] for those that a plugin defines.
//! - The run: [`PassContext`] has the level, the pass's [`options!`], diagnostics, and queries to op definitions
//!   ([`PassContext::infer`], [`PassContext::evaluate`]).
//!
//! # Errors
//!
//! A pass returns [`PassResult`]. `?` converts a rejected edit into the pass's failure, which names the op. A panic is
//! caught at the boundary and becomes a failure with its location. A failed pass changes nothing: the host restores the
//! module.
//!
//! # Testing
//!
//! [`testing::check`] runs the plugin under `cargo test`, with the real host, on IR text.
//!
//! # Versions
//!
//! `docs/versioning.md` describes the compatibility of hosts and plugins, before and after version 1.0. The plugin's
//! manifest states the versions that it needs; [`plugin!`] generates it.
#![deny(missing_docs)]
#![deny(unsafe_code)]
#![warn(unsafe_op_in_unsafe_fn)]

#[allow(unsafe_code)]
mod calls;
mod data;
mod entry;
mod ffi;
#[doc = include_str!("guide.md")]
pub mod guide {}
pub mod ir;
mod language;
#[cfg(doctest)]
#[doc = include_str!("misuse.md")]
pub mod misuse {}
pub mod op;
mod pass;
mod plugin;
/// The items that most passes need: `use passdock_plugin_api::prelude::*;`
pub mod prelude {
    pub use crate::rewrite::RegionResults;
    pub use crate::{attrs, export_plugin, options, plugin, rules};
    pub use crate::{
        Analysis, Attr, AttrDef, AttrDefault, AttrValue, ConstId, ConstantSpec, DType, Diagnostic,
        Dim, EditError, Function, FunctionBuilder, FunctionKind, Functor, Instrument, LaidOut,
        Match, Module, MutateResult, Mutated, Mutation, Mutator, NoMatch, OpBuilder, OpCall, OpDef,
        OpError, OpId, OpKind, OpResult, OpSpan, OpTraits, OptionValue, Options, PassContext,
        PassError, PassInfo, PassResult, Position, RegionId, Results, Rewriter, Rewritten, Rules,
        RulesText, SymbolId, Table, TypeId, TypeKind, TypeSpec, ValueId, Visit, Visitor,
    };
}
/// Records of the ABI that functions of the SDK take or return. Their layout is final.
pub mod record {
    pub use passdock_abi::{
        Capture, Constant, DimExpr, NameUse, OpEffects, OpOrder, Port, Storage, Type,
    };
}
pub mod rewrite;
pub mod testing;

pub use data::{
    element, AttrValue, Diagnostic, EditError, LaidOut, OpSpan, OpTraits, OptionValue, Options,
    PassError, PassResult, RulesText, Table,
};
pub use ir::walk::{
    Functor, MutateResult, Mutated, Mutation, Mutator, OpKind, Results, Visit, Visitor,
};
pub use ir::{
    Attr, CallGraph, ConstantSpec, FreeNames, Function, FunctionBuilder, Module, Name, OpBuilder,
    Snapshot, Type, TypeSpec, Use,
};
pub use op::{AttrDef, AttrDefault, OpCall, OpDef, OpError, OpFn, OpResult};
pub use pass::{nearest, Analysis, Evaluated, Instrument, PassContext, PassInfo, Support};
/// The ABI, for hosts and for the macros. Exempt from semantic versioning.
#[doc(hidden)]
pub use passdock_abi as abi;
pub use passdock_abi::symbol;
pub use passdock_abi::{
    AttrKind, ConstId, DType, Dim, DimKind, ExprKind, FunctionEntry, FunctionKind, LocId, OpId,
    OpPart, PassKind, Position, RegionId, Severity, Status, SymbolId, TypeId, TypeKind, ValueId,
};
pub use plugin::StaticPlugin;
pub use rewrite::{Match, NoMatch, Rewriter, Rewritten, Rules};

/// Items for the macros and for hosts. Exempt from semantic versioning.
#[doc(hidden)]
#[allow(missing_docs)]
pub mod __private {
    pub use crate::data::{list, option, options_of, table, OptionDefault, OptionSpec};
    pub use crate::data::{ChoicesType, RangeType, RestType};
    pub use crate::entry::{attach, Slot};
    pub use crate::ffi::{enter, install_hook, FunctionHandle, Panicked, Tables};
    pub use crate::op::attr_kind;
    pub use crate::pass::{end, InstrumentFunctions};
    pub use crate::plugin::{
        copy, or_empty, render, ConfigSpec, PassFunction, PassSpec, PluginSpec,
    };
    pub use crate::plugin::{ChildSpec, SequentialSpec};
    pub use crate::rewrite::{syntax as rule, RuleSource};
    pub use passdock_abi as abi;
}
