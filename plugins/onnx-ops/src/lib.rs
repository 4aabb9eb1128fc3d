//! Definitions of the ONNX operators: traits, type rules, evaluation.
//!
//! - `ops` says what an operator is: one row in a table, its type rule below it.
//! - `infer` is what type rules are written with: dims, symbols, the elements of shapes.
//! - `eval` computes with constants of all element types.
//! - `decompose` writes what operators are made of.
//! - `define` answers the host with these.
//!
//! An operator of a version, or with an attribute, that isn't known here is left alone.

mod decompose;
mod define;
pub mod eval;
mod infer;
pub mod ops;

use ops::DEFINITIONS;
use passdock_plugin_api::{DType, plugin};

plugin! {
    name: "onnx-ops",
    ops: DEFINITIONS,
}
