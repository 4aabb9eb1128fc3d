//! Types of the arguments of regions, which follow from the values that flow in.
//!
//! The definition of the op determines the types of the values that flow out.

use passdock_plugin_api::prelude::*;

use super::portable_type::PortableType;
use crate::shared::read::axis_in;

/// The values that flow into a region's argument: in the first iteration, and in later ones.
pub(crate) struct Inflow {
    /// The argument.
    pub arg: ValueId,
    /// The index of the operand that the argument is, or is a part of.
    pub operand: usize,
    /// The declared type.
    pub declared: PortableType,
    /// The type in the first iteration.
    pub first: PortableType,
    /// The region and the index of the operand of its `yield` that flows into the argument in the next iteration.
    pub next: Option<(RegionId, usize)>,
}

/// Returns the inflows of the regions of an op; empty if the operator isn't supported.
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

/// The inflows of a loop: the iteration number, the condition, and loop-carried values.
fn loop_inflow(f: &Function, op: OpId, body: RegionId, arg: ValueId) -> Option<Inflow> {
    let scalar = |dtype| PortableType::Tensor(Some(dtype), Some(Vec::new()));
    Some(match f.index(arg) {
        0 => Inflow::once(f, arg, scalar(DType::I64)),
        1 => Inflow::once(f, arg, scalar(DType::BOOL)),
        index => Inflow {
            next: Some((body, index - 1)),
            ..Inflow::once(f, arg, operand(f, op, index))
        },
    })
}

/// The inflows of a scan: loop-carried values, and a slice of each scan input.
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

/// The inflows of a map: an element of each sequence, and the other operands.
fn sequence_inflow(f: &Function, op: OpId, _body: RegionId, arg: ValueId) -> Option<Inflow> {
    let first = match operand(f, op, f.index(arg)) {
        PortableType::Compound(TypeKind::SEQUENCE, mut items) => items.pop()?,
        other => other,
    };
    Some(Inflow::once(f, arg, first))
}

fn operand(f: &Function, op: OpId, index: usize) -> PortableType {
    f.operand(op, index).map_or(PortableType::Unknown, |value| {
        PortableType::from_value(f, value)
    })
}

/// Returns the type of a slice: a tensor without one dim.
fn slice_of(portable: PortableType, axis: i64) -> PortableType {
    let PortableType::Tensor(dtype, Some(mut dims)) = portable else {
        return portable;
    };
    let axis = axis_in(axis, dims.len());
    let removed = axis.map(|axis| dims.remove(axis));
    PortableType::Tensor(dtype, removed.map(|_| dims))
}

impl Inflow {
    fn once(f: &Function, arg: ValueId, first: PortableType) -> Inflow {
        Inflow {
            arg,
            operand: f.index(arg),
            declared: PortableType::from_value(f, arg),
            first,
            next: None,
        }
    }
}
