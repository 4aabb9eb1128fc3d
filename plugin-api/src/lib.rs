//! Write compiler passes that load into every passdock host.
//!
//! A pass is a function; a plugin is a shared library with passes in it. Depend on this crate, say
//! `crate-type = ["cdylib", "rlib"]` in `Cargo.toml`, and write:
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
//!         /// Replaces `Relu(Relu(x))` by `Relu(x)`.
//!         function "acme.transform.FuseDoubleRelu" => fuse_double_relu { opt_level: 1 },
//!     ],
//! }
//! export_plugin!(PLUGIN);
//! ```
//!
//! `cargo build` makes a file that `passdock inspect` describes, and that `passdock run
//! --plugin-dir target/debug --passes acme.transform.FuseDoubleRelu model.onnx -o out.onnx` runs.
//!
//! The [`guide`] goes on from here, step by step.
//!
//! # The IR
//!
//! A [`Module`] has [`Function`]s; a function's body is a region of **ops**; an op has operands and
//! results, which are **values**, and attributes and nested regions. Constants are values too. All
//! are named by small ids ([`OpId`], [`ValueId`], …) that belong to one function.
//!
//! - Going over ops: [`Function::ops`], [`Function::ops_named`], [`Function::ops_in`] are snapshots:
//!   edit as you go, what you erase is skipped. [`Function::iter`] borrows, and copies nothing.
//!   [`Visitor`], [`Mutator`] and [`Functor`] go over ops of any nesting.
//! - Reading: [`Function::operand`], [`Function::result`], [`Function::defining_op`],
//!   [`Function::users`], [`Function::type_of`], [`Function::int`] and its like for attributes,
//!   [`Function::constant_data`]. Reads go straight to the host's memory.
//! - Editing: [`Function::replace_op`], [`Function::replace_op_with`], [`Function::create_op`],
//!   [`Function::erase_op`], [`Function::set_attr`], …. Each is done whole, or refused in a sentence.
//!   [`Function::replace_with_and_erase_dead`] takes along what only the replaced op used.
//! - Functions: [`Module::outline`] makes one of ops, [`Function::create_call`] calls one, [`Function::callee`] tells
//!   what an op calls, [`Function::clone_ops_from`] copies ops from one to another.
//! - What was worked out before: [`Function::liveness`], [`Function::order`], [`Function::effects`],
//!   [`Function::names`], [`Module::call_graph`]; [`Analysis`] for what a plugin works out itself.
//! - The run: [`PassContext`] has the level, the pass's [`options!`], diagnostics, and what op
//!   definitions know ([`PassContext::infer`], [`PassContext::evaluate`]).
//!
//! # When something goes wrong
//!
//! A pass answers [`PassResult`]; `?` turns a refused edit into the pass's failure, which names the
//! op. A panic is caught at the plugin's edge and becomes a failure with its place. A failed pass
//! changes nothing: the host keeps the module as it was.
//!
//! # Testing
//!
//! [`testing::check`] runs the plugin under `cargo test`, with the real host, on IR text.
//!
//! # Versions
//!
//! The project's README says what is promised of the contract between host and plugin, now and from
//! 1.0 on. The plugin's manifest says what it needs; it is written by [`plugin!`], never by hand.
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
/// What a pass needs: `use passdock_plugin_api::prelude::*;`
pub mod prelude {
    pub use crate::rewrite::RegionResults;
    pub use crate::{attrs, export_plugin, options, plugin, rules};
    pub use crate::{
        Analysis, Attr, AttrDef, AttrDefault, AttrValue, ConstId, ConstantSpec, DType, Diagnostic,
        Dim, EditError, Function, FunctionBuilder, FunctionKind, Functor, Instrument, LaidOut,
        Match, Module, MutateResult, Mutated, Mutation, Mutator, NoMatch, OpBuilder, OpCall, OpDef,
        OpId, OpKind, OpResult, OpTraits, OptionValue, Options, PassContext, PassError, PassInfo,
        PassResult, Place, Position, Refusal, RegionId, Results, Rewriter, Rewritten, Rules,
        RulesText, SymbolId, Table, TypeId, TypeKind, TypeSpec, ValueId, Visit, Visitor,
    };
}
/// Records of the contract that the SDK hands out, which are final.
pub mod record {
    pub use passdock_abi::{Constant, DimExpr, NameUse, OpEffects, OpOrder, Port, Storage, Type};
}
pub mod rewrite;
pub mod testing;

pub use data::{
    element, AttrValue, Diagnostic, EditError, LaidOut, OpTraits, OptionValue, Options, PassError,
    PassResult, Place, RulesText, Table,
};
pub use ir::walk::{
    Functor, MutateResult, Mutated, Mutation, Mutator, OpKind, Results, Visit, Visitor,
};
pub use ir::{
    Attr, CallGraph, ConstantSpec, FreeNames, Function, FunctionBuilder, Module, Name, OpBuilder,
    Snapshot, Type, TypeSpec, Use,
};
pub use op::{AttrDef, AttrDefault, OpCall, OpDef, OpFn, OpResult, Refusal};
pub use pass::{nearest, Analysis, Evaluated, Instrument, PassContext, PassInfo, Support};
/// The contract, for hosts and for the macros; no part of the promise.
#[doc(hidden)]
pub use passdock_abi as abi;
pub use passdock_abi::symbol;
pub use passdock_abi::{
    AttrKind, ConstId, DType, Dim, DimKind, ExprKind, FunctionEntry, FunctionKind, LocId, OpId,
    OpPart, PassKind, Position, RegionId, Severity, Status, SymbolId, TypeId, TypeKind, ValueId,
};
pub use plugin::StaticPlugin;
pub use rewrite::{Match, NoMatch, Rewriter, Rewritten, Rules};

/// What the macros need, and hosts; no part of the promise.
#[doc(hidden)]
#[allow(missing_docs)]
pub mod __private {
    pub use crate::data::{field, table, OptionDefault, OptionSpec, OptionType};
    pub use crate::entry::{attach, Slot};
    pub use crate::ffi::{end, enter, FunctionHandle, Panicked, Tables};
    pub use crate::op::attr_kind;
    pub use crate::pass::InstrumentFunctions;
    pub use crate::plugin::{copy, render, ConfigSpec, PassFunction, PassSpec, PluginSpec};
    pub use crate::plugin::{ChildSpec, SequentialSpec};
    pub use crate::rewrite::RuleSource;
    pub use passdock_abi as abi;
}
