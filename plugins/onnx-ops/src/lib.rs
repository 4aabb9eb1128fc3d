//! Definitions of the ONNX operators: traits, type rules, evaluation.
//!
//! - `ops` has a table of operators per family, with one row per operator and version, and their type rules.
//! - `infer` is the library for type rules: dims, symbols, shape values.
//! - `eval` evaluates operators on constants of all element types.
//! - `decompose` has the bodies of operators that decompose into others.
//! - `layout` has the layout rules: which layouts an operator supports.
//! - `attributes` documents attributes and their ranges, shared between operators.
//! - `definitions` builds the op definitions for the host, and `callbacks` implements their functions.
//!
//! An op with an unknown attribute is left alone. In a domain version newer than all rows, the newest row of an
//! operator applies, and the host warns of that version.

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
