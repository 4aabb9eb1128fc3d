//! Control flow: operators with regions. The host infers the ops in a region first; these rules then infer the op's
//! results from the values that the regions yield.

use passdock_plugin_api::{Dim, Function, RegionId, Type, TypeKind, TypeSpec, ValueId, attrs};

use super::operator::{MANY, Operator};
use super::sequence::{Item, common_dims, tensor};
use crate::infer::{Infer, Inferred, Stop, Ty, invalid};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.If", 1, (1, 1))
        .results((1, MANY))
        .attrs(attrs![else_branch: required graph, then_branch: required graph])
        .infers(branches),
    LOOP,
    LOOP.since(11).operands((2, MANY)),
    Operator::new("onnx.Scan", 8, (2, MANY))
        .results((1, MANY))
        .attrs(attrs![body: required graph, directions: ints, num_scan_inputs: required int])
        .infers(scan_batches),
    Operator::new("onnx.Scan", 9, (1, MANY))
        .results((1, MANY))
        .attrs(attrs![
            body: required graph, num_scan_inputs: required int, scan_input_axes: ints,
            scan_input_directions: ints, scan_output_axes: ints, scan_output_directions: ints,
        ])
        .infers(scan),
    Operator::new("onnx.SequenceMap", 17, (1, MANY))
        .results((1, MANY))
        .attrs(attrs![body: required graph])
        .infers(sequence_map),
];

const LOOP: Operator = Operator::new("onnx.Loop", 1, (3, MANY))
    .results((1, MANY))
    .attrs(attrs![body: required graph])
    .infers(rounds);

/// Infers the types that both branches have in common.
fn branches(op: &Infer) -> Inferred {
    let (one, other) = (region(op, "then_branch")?, region(op, "else_branch")?);
    check_yield_count(op, "then_branch", one, 0)?;
    check_yield_count(op, "else_branch", other, 0)?;
    for index in 0..op.host.result_count() {
        let values = (yielded(op, one, index), yielded(op, other, index));
        if let (Some(a), Some(b)) = values {
            both(op, index, a, b)?;
        }
    }
    Ok(())
}

/// Infers the results of a loop. A carried value is the initial one without iterations, or the last yielded one. The
/// values of other results are stacked over all iterations.
fn rounds(op: &Infer) -> Inferred {
    let body = region(op, "body")?;
    check_yield_count(op, "body", body, 1)?;
    let carried = op.host.operand_count().saturating_sub(2);
    for index in 0..op.host.result_count() {
        let Some(value) = yielded(op, body, index + 1) else {
            continue;
        };
        if index >= carried {
            stacked(op, index, value, round_count(op, body), 0)?;
        } else if let Some(first) = op.host.operand(index + 2) {
            both(op, index, first, value)?;
        }
    }
    Ok(())
}

/// Returns the number of iterations, if only the trip count ends the loop.
fn round_count(op: &Infer, body: RegionId) -> Dim {
    let host: &Function = op.host;
    let continues = yielded(op, body, 0).is_some_and(|value| {
        let truth = host.constant_data(value).ok().flatten();
        truth == Some(&[1]) || host.args(body).get(1) == Some(&value)
    });
    let starts = match op.has(1) {
        true => op.host.operand_data(1).ok().flatten() == Some(&[1]),
        false => true,
    };
    match op.values(0).as_deref() {
        Some(&[count])
            if continues && starts && count.as_const().is_none_or(|count| count >= 0) =>
        {
            count
        }
        _ => Dim::UNKNOWN,
    }
}

/// Infers the results of a scan, a loop with one iteration per slice.
fn scan(op: &Infer) -> Inferred {
    let body = region(op, "body")?;
    check_yield_count(op, "body", body, 0)?;
    let (count, carried) = (op.host.operand_count(), carried(op, 0)?);
    let axes = op.ints("scan_input_axes")?.unwrap_or_default();
    let mut length = Dim::UNKNOWN;
    for index in carried..count {
        if let Some(dims) = op.dims(index) {
            let axis = axes.get(index - carried).copied().unwrap_or(0);
            length = op.agree(length, dims[op.axis(axis, dims.len())?])?;
        }
    }
    let axes = op.ints("scan_output_axes")?.unwrap_or_default();
    for index in 0..op.host.result_count() {
        let Some(value) = yielded(op, body, index) else {
            continue;
        };
        if index < carried {
            set_common_type(op, index, op.host.operand(index), value)?;
        } else {
            let axis = axes.get(index - carried).copied().unwrap_or(0);
            stacked(op, index, value, length, axis)?;
        }
    }
    Ok(())
}

/// Returns the number of values that a scan carries, after `others` other operands.
fn carried(op: &Infer, others: usize) -> Inferred<usize> {
    let scanned = op.int("num_scan_inputs")?.ok_or(Stop::Unknown)?;
    let rest = usize::try_from(scanned)
        .ok()
        .and_then(|scanned| op.host.operand_count().checked_sub(scanned + others));
    rest.ok_or(Stop::Unknown)
}

/// Like [`scan`], with a batch axis: after the lengths, operands are `[batch, …]` and `[batch, length, …]`.
fn scan_batches(op: &Infer) -> Inferred {
    let body = region(op, "body")?;
    let (count, carried) = (op.host.operand_count(), carried(op, 1)?);
    let (mut batch, mut length) = (op.dim(0, 0), Dim::UNKNOWN);
    for index in 1..count {
        batch = op.agree(batch, op.dim(index, 0))?;
        if index > carried {
            length = op.agree(length, op.dim(index, 1))?;
        }
    }
    let host: &Function = op.host;
    for index in 0..host.result_count(op.host.op()) {
        let item = yielded(op, body, index).and_then(|value| tensor(host.type_of(value)));
        if let Some((dtype, dims)) = item {
            let outer = [batch, length];
            let outer = if index < carried { &outer[..1] } else { &outer };
            op.set(index, dtype, dims.map(|dims| [outer, &dims].concat()))?;
        }
    }
    Ok(())
}

/// Infers sequences of the values that the body yields.
fn sequence_map(op: &Infer) -> Inferred {
    let body = region(op, "body")?;
    check_yield_count(op, "body", body, 0)?;
    let host: &Function = op.host;
    for index in 0..op.host.result_count() {
        if let Some(value) = yielded(op, body, index)
            && host.type_of(value).is_tensor()
        {
            let item = op.host.add_type(&TypeSpec::from(host.type_of(value)));
            if let Ok(item) = item {
                op.set_type(index, Ty::Other(TypeSpec::sequence(item)))?;
            }
        }
    }
    Ok(())
}

fn region(op: &Infer, name: &str) -> Inferred<RegionId> {
    let host: &Function = op.host;
    host.region(op.host.op(), name).ok_or(Stop::Unknown)
}

/// Rejects an op whose number of results differs from the values that a region yields, except for the first `own`.
fn check_yield_count(op: &Infer, name: &str, region: RegionId, own: usize) -> Inferred {
    let host: &Function = op.host;
    let expected = op.host.result_count() + own;
    match host.terminator(region).map(|last| host.operand_count(last)) {
        Some(yielded) if yielded != expected => {
            invalid!("number of results of `{name}` is {yielded}, expected {expected}")
        }
        _ => Ok(()),
    }
}

/// Returns a value that a region yields.
fn yielded(op: &Infer, region: RegionId, index: usize) -> Option<ValueId> {
    let host: &Function = op.host;
    host.operand(host.terminator(region)?, index)
}

/// Sets the type of a result to what two values have in common.
fn both(op: &Infer, index: usize, a: ValueId, b: ValueId) -> Inferred {
    let host: &Function = op.host;
    let (a, b) = (host.type_of(a), host.type_of(b));
    if let Some((dtype, dims)) = tensors(a, b) {
        return op.set(index, dtype, dims);
    }
    if a.kind() == TypeKind::SEQUENCE
        && b.kind() == TypeKind::SEQUENCE
        && let (&[a], &[b]) = (a.items(), b.items())
        && let Some((dtype, dims)) = tensors(host.ty(a), host.ty(b))
    {
        return op.set_sequence(index, &Ty::Tensor(dtype, dims).spec());
    }
    if a.kind() != TypeKind::UNKNOWN && TypeSpec::from(a) == TypeSpec::from(b) {
        return op.set_type(index, Ty::Other(a.into()));
    }
    Ok(())
}

/// Sets the type of a result that is one of two values of the same type, either of which may be more specific.
fn set_common_type(op: &Infer, index: usize, first: Option<ValueId>, last: ValueId) -> Inferred {
    let host: &Function = op.host;
    let Some(first) = first else {
        return Ok(());
    };
    let items = (tensor(host.type_of(first)), tensor(host.type_of(last)));
    if let (Some((a, Some(x))), Some((b, Some(y)))) = items
        && (a, x.len()) == (b, y.len())
    {
        return op.set(index, a, op.agree_all(Some(x), Some(y))?);
    }
    both(op, index, first, last)
}

/// Returns what two tensor types have in common.
fn tensors(a: Type<'_>, b: Type<'_>) -> Option<Item> {
    let ((a, a_dims), (b, b_dims)) = (tensor(a)?, tensor(b)?);
    (a == b).then(|| (a, common_dims(a_dims, b_dims)))
}

/// Sets the type of a result to a stack of `count` values along an axis.
fn stacked(op: &Infer, index: usize, value: ValueId, count: Dim, axis: i64) -> Inferred {
    let host: &Function = op.host;
    let Some((dtype, mut dims)) = tensor(host.type_of(value)) else {
        return Ok(());
    };
    if let Some(dims) = &mut dims {
        dims.insert(op.axis(axis, dims.len() + 1)?, count);
    }
    op.set(index, dtype, dims)
}
