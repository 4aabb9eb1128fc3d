//! Definitions of the ONNX operators: traits, type rules, evaluation.
//!
//! - `ops` says what an operator is: one row in a table, its type rule below it.
//! - `infer` is what type rules are written with: dims, symbols, the elements of shapes.
//! - `eval` computes with constants of all element types.
//! - `decompose` writes what operators are made of.
//! - `layout` says in which orders of axes they can be had.
//! - `attributes` says what attributes mean, once for all operators.
//! - `definitions` gives all to the host, and `callbacks` answers it.
//!
//! An op with an attribute that isn't known here is left alone. In a version of its domain newer than
//! all rows, an operator is as its newest row says: the host warns of such a version.

mod attributes;
mod callbacks;
mod decompose;
mod definitions;
pub mod eval;
mod evaluate;
mod infer;
mod layout;
mod operands;
pub mod ops;

pub use definitions::DEFINITIONS;
pub use evaluate::evaluate;
use passdock_plugin_api::plugin;

plugin! {
    name: "onnx-ops",
    ops: DEFINITIONS,
}
