//! What flows into the regions of an op: the types of their arguments follow from it.
//!
//! What flows out says the op's definition.

use passdock_plugin_api::prelude::*;

use super::sort::Sort;
use crate::shared::read::axis_in;

/// The flow into a region's argument: in the first round, and in later ones.
pub(crate) struct Inflow {
    /// The argument.
    pub arg: ValueId,
    /// The operand of the op that it is, or is a part of.
    pub operand: usize,
    /// The type that the region declares.
    pub declared: Sort,
    /// The type in the first round.
    pub first: Sort,
    /// The operand of the region's `yield` that it is in the next one.
    pub next: Option<(RegionId, usize)>,
}

/// The flows into the regions of an op; none for an op that isn't known here.
pub(crate) fn inflows(f: &Function, op: OpId) -> Vec<Inflow> {
    let inflow: fn(&Function, OpId, RegionId, ValueId) -> Option<Inflow> = match f.name(op) {
        "onnx.Loop" => loop_inflow,
        "onnx.Scan" if f.opset("").is_some_and(|version| version >= 9) => scan_inflow,
        "onnx.SequenceMap" => sequence_inflow,
        _ => return Vec::new(),
    };
    let Some(body) = f.region(op, "body") else {
        return Vec::new();
    };
    let inflows = f.args(body).iter().map(|&arg| inflow(f, op, body, arg));
    inflows.collect::<Option<_>>().unwrap_or_default()
}

/// The number of the round, whether to go on, and what is carried.
fn loop_inflow(f: &Function, op: OpId, body: RegionId, arg: ValueId) -> Option<Inflow> {
    let scalar = |dtype| Sort::Tensor(dtype, Some(Vec::new()));
    Some(match f.index(arg) {
        0 => Inflow::once(f, arg, scalar(DType::I64)),
        1 => Inflow::once(f, arg, scalar(DType::BOOL)),
        index => Inflow {
            next: Some((body, index - 1)),
            ..Inflow::once(f, arg, operand(f, op, index))
        },
    })
}

/// The flows of a scan: what is carried, and one slice of each of the rest.
fn scan_inflow(f: &Function, op: OpId, body: RegionId, arg: ValueId) -> Option<Inflow> {
    let scanned = usize::try_from(f.int(op, "num_scan_inputs")?).ok()?;
    let carried = f.operand_count(op).checked_sub(scanned)?;
    let axes = f.ints(op, "scan_input_axes").unwrap_or(&[]);
    let index = f.index(arg);
    let first = operand(f, op, index);
    if index < carried {
        return Some(Inflow {
            next: Some((body, index)),
            ..Inflow::once(f, arg, first)
        });
    }
    let axis = axes.get(index - carried).copied().unwrap_or(0);
    Some(Inflow::once(f, arg, slice_of(first, axis)))
}

/// The flows of a map: one element of each sequence, and the rest as they are.
fn sequence_inflow(f: &Function, op: OpId, _body: RegionId, arg: ValueId) -> Option<Inflow> {
    let first = match operand(f, op, f.index(arg)) {
        Sort::Compound(TypeKind::SEQUENCE, mut items) => items.pop()?,
        other => other,
    };
    Some(Inflow::once(f, arg, first))
}

fn operand(f: &Function, op: OpId, index: usize) -> Sort {
    f.operand(op, index)
        .map_or(Sort::Unknown, |value| Sort::from_value(f, value))
}

/// A tensor without one dim.
fn slice_of(sort: Sort, axis: i64) -> Sort {
    let Sort::Tensor(dtype, Some(mut dims)) = sort else {
        return sort;
    };
    let axis = axis_in(axis, dims.len());
    let removed = axis.map(|axis| dims.remove(axis));
    Sort::Tensor(dtype, removed.map(|_| dims))
}

impl Inflow {
    fn once(f: &Function, arg: ValueId, first: Sort) -> Inflow {
        Inflow {
            arg,
            operand: f.index(arg),
            declared: Sort::from_value(f, arg),
            first,
            next: None,
        }
    }
}
