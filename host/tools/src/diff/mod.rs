//! What differs between two modules, as a person wants to know it.
//!
//! ```
//! use passdock::model_file::parse_text;
//! use passdock_tools::diff;
//!
//! # fn main() -> Result<(), passdock::PassError> {
//! let before = parse_text("before.ir", "module { fn @main(%x: f32[2]) -> (%y: f32[2]) {
//!     %a = onnx.Relu(%x) : f32[2]
//!     return %a
//! } }")?;
//! let after = parse_text("after.ir", "module { fn @main(%x: f32[2]) -> (%y: f32[2]) {
//!     %a = onnx.Relu(%x) : f32[2]
//!     %b = onnx.Neg(%a) : f32[2]
//!     return %b
//! } }")?;
//! let diff = diff::compare(&before, &after)?;
//! let [op] = &diff.functions[0].ops[..] else { panic!("one op differs") };
//! assert_eq!((op.change, op.op.as_str()), (diff::Change::Added, "%b = onnx.Neg(%a) : f32[2]"));
//! assert!(diff::compare(&after, &after)?.is_same());
//! # Ok(())
//! # }
//! ```
//!
//! Functions are paired by name. In a pair of functions each op, constant and argument is paired
//! with at most one of the other side (`matching.rs` says how), and what isn't the same in a pair is
//! reported, field by field. The rules that keep a report as short as what was done:
//!
//! - An operand that is a result of an added op (or an added constant), or was one of a removed one,
//!   is told there, as [`Rewired`]: it is no change of its user.
//! - A value under another name is one [`Renaming`], and no change of its users; so is a type.
//! - Ops in the regions of an added or removed op are counted there and not listed.
//! - What means the same is no difference: the order of attributes, operands left out at the end, and
//!   in graph functions the order of ops, which [`FunctionDiff::moved`] tells nevertheless.
//!
//! What a file says beyond the IR (doc strings, fields nobody knows) isn't compared.
//!
//! Time and memory grow linearly with the number of ops and uses, and nothing recurses, however deep
//! regions nest. A constant's bytes are read only where the other module has one of the same type
//! and length at another place.

mod align;
mod attrs;
mod compare;
mod content;
mod graph;
mod hash;
mod improve;
mod interface;
mod lines;
mod matching;
mod operands;
mod ports;
mod report;
mod shared;
mod spread;

use passdock_ir::{Function, Module};
use rustc_hash::FxHashMap;

use compare::Comparison;
use passdock_core::PassError;
pub use passdock_core::instrument::built_in::{colored, unified};
pub use report::{
    Change, ConstantDiff, Diff, FunctionDiff, Numbers, OpChange, OpDiff, PortChange, PortDiff,
    Relocation, Renaming, Rewired, Setting, Summary,
};
use shared::SharedSymbols;

/// No node, no name, no counterpart.
const NONE: u32 = u32::MAX;

/// Compares two modules.
///
/// # Errors
/// If a constant's bytes have to be read and can't.
pub fn compare(a: &Module, b: &Module) -> Result<Diff, PassError> {
    let mut symbols = SharedSymbols::new(a.symbols(), b.symbols());
    let mut diff = Diff {
        model: settings(a.metadata(), b.metadata()),
        functions: Vec::new(),
    };
    for new in b.functions() {
        match a.function_named(new.text(new.name())) {
            Some(old) if std::sync::Arc::ptr_eq(old, new) => {}
            Some(old) => {
                let function = Comparison::new(old, new, &mut symbols)?.report();
                diff.functions
                    .extend((!function.is_empty()).then_some(function));
            }
            None => diff.functions.push(alone(new, Change::Added)),
        }
    }
    for old in a.functions() {
        if b.function_named(old.text(old.name())).is_none() {
            diff.functions.push(alone(old, Change::Removed));
        }
    }
    Ok(diff)
}

/// A function that only one module has.
fn alone(f: &Function, change: Change) -> FunctionDiff {
    let ops = f.op_count();
    FunctionDiff {
        change,
        ops_before: if change == Change::Removed { ops } else { 0 },
        ops_after: if change == Change::Added { ops } else { 0 },
        ..FunctionDiff::new(f)
    }
}

/// The differences of two lists of names and values: in order of the second, then what it doesn't
/// have.
fn settings(old: &[(String, String)], new: &[(String, String)]) -> Vec<Setting> {
    let map = |pairs: &[(String, String)]| -> FxHashMap<String, String> {
        pairs.iter().cloned().collect()
    };
    let (olds, news) = (map(old), map(new));
    let names = new
        .iter()
        .chain(old.iter().filter(|(name, _)| !news.contains_key(name)));
    names
        .map(|(name, _)| Setting {
            name: name.clone(),
            old: olds.get(name).cloned(),
            new: news.get(name).cloned(),
        })
        .filter(|setting| setting.old != setting.new)
        .collect()
}
