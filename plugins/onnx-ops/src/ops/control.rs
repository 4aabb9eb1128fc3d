//! Control flow: operators with regions. What a region's ops do, they say themselves; here is what the
//! op gives out, once its regions have been inferred.

use passdock_plugin_api::{Dim, Function, RegionId, Type, TypeKind, TypeSpec, ValueId, attrs};

use super::operator::{MANY, Operator};
use super::sequence::{Item, common_dims, tensor};
use crate::infer::{Answer, Infer, Stop, Ty, as_const, wrong};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.If", 1, (1, 1))
        .attrs(attrs![else_branch: required graph, then_branch: required graph])
        .infers(branches),
    LOOP,
    LOOP.again(11).takes((2, MANY)),
    Operator::new("onnx.Scan", 8, (2, MANY))
        .attrs(attrs![body: required graph, directions: ints, num_scan_inputs: required int])
        .infers(scan_batches),
    Operator::new("onnx.Scan", 9, (1, MANY))
        .attrs(attrs![
            body: required graph, num_scan_inputs: required int, scan_input_axes: ints,
            scan_input_directions: ints, scan_output_axes: ints, scan_output_directions: ints,
        ])
        .infers(scan),
    Operator::new("onnx.SequenceMap", 17, (1, MANY))
        .attrs(attrs![body: required graph])
        .infers(sequence_map),
];

const LOOP: Operator = Operator::new("onnx.Loop", 1, (3, MANY))
    .attrs(attrs![body: required graph])
    .infers(rounds);

/// The types that both branches agree on.
fn branches(op: &Infer) -> Answer {
    let (one, other) = (region(op, "then_branch")?, region(op, "else_branch")?);
    gives_all(op, "then_branch", one, 0)?;
    gives_all(op, "else_branch", other, 0)?;
    for index in 0..op.host.result_count() {
        let values = (given(op, one, index), given(op, other, index));
        if let (Some(a), Some(b)) = values {
            both(op, index, a, b)?;
        }
    }
    Ok(())
}

/// What is carried is as it went in, if there is no round, or as the last round left it; of the rest,
/// each round's are stacked.
fn rounds(op: &Infer) -> Answer {
    let body = region(op, "body")?;
    gives_all(op, "body", body, 1)?;
    let carried = op.host.operand_count().saturating_sub(2);
    for index in 0..op.host.result_count() {
        let Some(value) = given(op, body, index + 1) else {
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

/// The number of rounds, if nothing but that ends the loop.
fn round_count(op: &Infer, body: RegionId) -> Dim {
    let host: &Function = op.host;
    let goes_on = given(op, body, 0).is_some_and(|value| {
        let truth = host.constant_data(value).ok().flatten();
        truth == Some(&[1]) || host.args(body).get(1) == Some(&value)
    });
    let starts = match op.has(1) {
        true => op.host.operand_data(1).ok().flatten() == Some(&[1]),
        false => true,
    };
    match op.values(0).as_deref() {
        Some(&[count]) if goes_on && starts && as_const(count).is_none_or(|count| count >= 0) => {
            count
        }
        _ => Dim::UNKNOWN,
    }
}

/// As a loop, with one round for each slice.
fn scan(op: &Infer) -> Answer {
    let body = region(op, "body")?;
    gives_all(op, "body", body, 0)?;
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
        let Some(value) = given(op, body, index) else {
            continue;
        };
        if index < carried {
            kept(op, index, op.host.operand(index), value)?;
        } else {
            let axis = axes.get(index - carried).copied().unwrap_or(0);
            stacked(op, index, value, length, axis)?;
        }
    }
    Ok(())
}

/// Returns the number of values that a scan carries from slice to slice, which come after so many other operands.
fn carried(op: &Infer, others: usize) -> Answer<usize> {
    let scanned = op.int("num_scan_inputs")?.ok_or(Stop::Unknown)?;
    let rest = usize::try_from(scanned)
        .ok()
        .and_then(|scanned| op.host.operand_count().checked_sub(scanned + others));
    rest.ok_or(Stop::Unknown)
}

/// As [`scan`], for each of a batch: operands `[batch, …]` and `[batch, length, …]` after the lengths.
fn scan_batches(op: &Infer) -> Answer {
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
        let item = given(op, body, index).and_then(|value| tensor(host.type_of(value)));
        if let Some((dtype, dims)) = item {
            let outer = [batch, length];
            let outer = if index < carried { &outer[..1] } else { &outer };
            op.set(index, dtype, dims.map(|dims| [outer, &dims].concat()))?;
        }
    }
    Ok(())
}

/// Sequences of what the body gives out.
fn sequence_map(op: &Infer) -> Answer {
    let body = region(op, "body")?;
    gives_all(op, "body", body, 0)?;
    let host: &Function = op.host;
    for index in 0..op.host.result_count() {
        if let Some(value) = given(op, body, index)
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

fn region(op: &Infer, name: &str) -> Answer<RegionId> {
    let host: &Function = op.host;
    host.region(op.host.op(), name).ok_or(Stop::Unknown)
}

/// Refuses an op with more or fewer results than a region gives out, but for those of its own.
fn gives_all(op: &Infer, name: &str, region: RegionId, own: usize) -> Answer {
    let host: &Function = op.host;
    let expected = op.host.result_count() + own;
    match host.terminator(region).map(|last| host.operand_count(last)) {
        Some(given) if given != expected => {
            wrong!("the number of results of its `{name}` is {given}, expected {expected}")
        }
        _ => Ok(()),
    }
}

/// The type of what a region gives out.
fn given(op: &Infer, region: RegionId, index: usize) -> Option<ValueId> {
    let host: &Function = op.host;
    host.operand(host.terminator(region)?, index)
}

/// A result is one value or another.
fn both(op: &Infer, index: usize, a: ValueId, b: ValueId) -> Answer {
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

/// A result is one value or another, which have the same type.
fn kept(op: &Infer, index: usize, first: Option<ValueId>, last: ValueId) -> Answer {
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

/// What two types of tensors have in common.
fn tensors(a: Type<'_>, b: Type<'_>) -> Option<Item> {
    let ((a, a_dims), (b, b_dims)) = (tensor(a)?, tensor(b)?);
    (a == b).then(|| (a, common_dims(a_dims, b_dims)))
}

/// A result is made of as many values of a tensor type.
fn stacked(op: &Infer, index: usize, value: ValueId, count: Dim, axis: i64) -> Answer {
    let host: &Function = op.host;
    let Some((dtype, mut dims)) = tensor(host.type_of(value)) else {
        return Ok(());
    };
    if let Some(dims) = &mut dims {
        dims.insert(op.axis(axis, dims.len() + 1)?, count);
    }
    op.set(index, dtype, dims)
}
