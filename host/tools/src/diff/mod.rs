//! The differences of two modules.
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
//! Functions are paired by name. In a pair of functions, each op, constant and argument is paired with at most one of
//! the other function (see `matching.rs`), and the differences of a pair are reported field by field. These rules keep
//! a report as short as the edits:
//!
//! - An operand that becomes a result of an added op (or an added constant), or stops being one of a removed op, is
//!   listed at that op, as [`Rewired`]. It isn't a change of its user.
//! - A renamed value is one [`Renaming`], and no change of its users; so is a value with a new type.
//! - Ops in the regions of an added or removed op are counted there, but not listed.
//! - Another spelling of the same meaning isn't a difference: the order of attributes, and trailing operands that are
//!   omitted. In graph functions, neither is the order of ops, but [`FunctionDiff::moved`] lists it.
//!
//! Contents of a file that the IR doesn't model (doc strings, unknown fields) aren't compared.
//!
//! Time and memory are linear in the number of ops and uses, and no walk is recursive over regions. A constant's bytes
//! are read only if the other module has a constant of the same type and length at another location.

mod compare;
mod content;
mod interface;
mod matching;
mod operands;
mod ports;
mod report;
mod side;

use std::sync::Arc;

use passdock_abi::OpId;
use passdock_ir::{Function, Module};

pub(crate) use compare::Comparison;
use passdock_core::PassError;
pub use passdock_core::text_diff::{colored, unified};
pub use report::{
    Change, ConstantDiff, Diff, FunctionDiff, NumericDiff, OpChange, OpDiff, PortChange, PortDiff,
    Relocation, Renaming, Rewired, Setting, Summary,
};

/// Compares two modules.
///
/// # Errors
/// If a constant's bytes are needed and can't be read.
pub fn compare(a: &Module, b: &Module) -> Result<Diff, PassError> {
    let mut diff = Diff {
        metadata: settings([a.metadata(), b.metadata()], String::eq, |_, v| v.clone()),
        functions: Vec::new(),
    };
    for new in b.functions() {
        match a.function_named(new.text(new.name())) {
            Some(old) if Arc::ptr_eq(old, new) => {}
            Some(old) => {
                let function = Comparison::new(old, new)?.report();
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

/// Returns an entry for a function that only one module has.
fn alone(f: &Function, change: Change) -> FunctionDiff {
    let ops = f.op_count();
    FunctionDiff {
        change,
        ops_before: if change == Change::Removed { ops } else { 0 },
        ops_after: if change == Change::Added { ops } else { 0 },
        ..FunctionDiff::new(f)
    }
}

/// Returns the differences of two lists of names and values: in the second list's order, followed by removed ones.
fn settings<N: AsRef<str>, V>(
    lists: [&[(N, V)]; 2],
    is_same: impl Fn(&V, &V) -> bool,
    text: impl Fn(usize, &V) -> String,
) -> Vec<Setting> {
    let find = |side: usize, name: &str| {
        let pair = lists[side].iter().find(|pair| pair.0.as_ref() == name);
        pair.map(|pair| &pair.1)
    };
    let [old, new] = lists.map(|list| list.iter().map(|pair| pair.0.as_ref()));
    let removed = old.filter(|name| find(1, name).is_none());
    let all = new.chain(removed).filter_map(|name| {
        let values = [0, 1].map(|side| find(side, name));
        let is_same = matches!(values, [Some(old), Some(new)] if is_same(old, new));
        (!is_same).then(|| Setting {
            name: name.to_owned(),
            before: values[0].map(|value| text(0, value)),
            after: values[1].map(|value| text(1, value)),
        })
    });
    all.collect()
}

/// An op of the first function and its counterpart in the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairedOp {
    /// The op of the first function.
    pub before: OpId,
    /// The op of the second function.
    pub after: OpId,
    /// Whether both ops have one kind.
    pub same_kind: bool,
    /// Whether the kind, attributes, regions, operands or results differ, apart from types and names.
    pub changed: bool,
}

/// Pairs the ops of two functions, in the second one's order.
///
/// # Errors
/// If a constant's bytes are needed and can't be read.
pub fn pairs(old: &Function, new: &Function) -> Result<Vec<PairedOp>, PassError> {
    Ok(Comparison::from_pairs(old, new)?.paired_ops())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use passdock_ir::text::{Pieces, parse};

    use super::*;

    #[test]
    fn matched_ops_report_changed_attributes() {
        let module = |body: &str| {
            let text = format!("module {{ fn @f(%x: f32[2]) -> (%y: f32[2]) {{ {body} }} }}");
            parse(&text).expect("valid IR")
        };
        let before = module(
            "%a = onnx.Relu(%x) %b = onnx.Concat(%a) {axis = 0} %c = onnx.Neg(%b) return %c",
        );
        let after = module(
            "%n = onnx.Abs(%x) %a = onnx.Relu(%n) %b = onnx.Concat(%a) {axis = 1} return %b",
        );
        let functions = [&before, &after].map(|module| {
            let mut functions = module.functions();
            functions.next().expect("one function")
        });
        let paired = pairs(functions[0], functions[1]).expect("no external data");
        let [old, new] = functions.map(|function| Pieces::new(function));
        let lines = paired.iter().map(|op| {
            let state = if op.changed { "changed" } else { "same" };
            format!("{state}: {} | {}\n", old.op(op.before), new.op(op.after))
        });
        expect![[r#"
            same: %a = onnx.Relu(%x) | %a = onnx.Relu(%n)
            changed: %b = onnx.Concat(%a) {axis = 0} | %b = onnx.Concat(%a) {axis = 1}
            same: return %c | return %b
        "#]]
        .assert_eq(&lines.collect::<String>());
    }
}
