//! Views with ops between that work element by element, whatever the shape is.

use passdock_plugin_api::prelude::*;

use super::views::reshape;
use crate::shared::read::{axes_in, ints_of, is, known_dims, like};

pub(super) static RULES: Rules = rules! {
    rule view_after_ops keeps_type {
        %outer = onnx.Reshape|onnx.Squeeze|onnx.Unsqueeze|onnx.Flatten(%inner, %rest...)
    } => once;
};

/// The most ops between two views that are looked through.
const MOST_BETWEEN: usize = 16;

/// The op that makes a value, if only one other uses it.
fn maker(f: &Function, value: ValueId) -> Option<OpId> {
    f.defining_op(value).filter(|_| f.use_count(value) == 1)
}

fn is_view(f: &Function, op: OpId) -> bool {
    let names = [
        "onnx.Reshape",
        "onnx.Squeeze",
        "onnx.Unsqueeze",
        "onnx.Flatten",
    ];
    names.iter().any(|name| is(f, op, name))
}

/// The one operand of an op element by element that isn't a scalar.
fn passed(f: &Function, op: OpId) -> Option<usize> {
    let traits = f.traits(op);
    let is_plain = traits.is_elementwise() && traits.is_pure() && f.regions(op).is_empty();
    let is_scalar = |value: ValueId| value.is_none() || f.rank(value) == Some(0);
    let mut others = f
        .operands(op)
        .enumerate()
        .filter(|(_, value)| !is_scalar(*value));
    match (others.next(), others.next()) {
        (Some((slot, _)), None) if is_plain && f.result_count(op) == 1 => Some(slot),
        _ => None,
    }
}

/// Whether one view takes away the dims that the other gave, or the other way round, as their axes say.
fn undoes(f: &Function, inner: OpId, outer: OpId) -> Result<bool, EditError> {
    let (gives, takes) = ("onnx.Unsqueeze", "onnx.Squeeze");
    let is_pair =
        is(f, inner, gives) && is(f, outer, takes) || is(f, inner, takes) && is(f, outer, gives);
    if !is_pair {
        return Ok(false);
    }
    let (Some(a), Some(b)) = (
        ints_of(f, inner, 1, "axes")?.flatten(),
        ints_of(f, outer, 1, "axes")?.flatten(),
    ) else {
        return Ok(false);
    };
    // The axes are those of the longer shape: of what goes in, which is what comes out, or of what is between.
    let longer = match is(f, inner, takes) {
        true => f.operand(inner, 0).and_then(|x| f.rank(x)),
        false => f.operand(outer, 0).and_then(|x| f.rank(x)),
    };
    let placed = |axes: &[i64]| match longer {
        Some(rank) => axes_in(axes, rank),
        None => axes_in(axes, usize::MAX >> 1).filter(|_| axes.iter().all(|axis| *axis >= 0)),
    };
    Ok(placed(&a).is_some() && placed(&a) == placed(&b))
}

/// Ops between two views work on what the first one takes. Of the views one is left, or none.
fn once(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (outer, mut value) = (m.value(f, "outer"), m.value(f, "inner"));
    let mut between = Vec::new();
    let inner = loop {
        let Some(op) = maker(f, value) else {
            return Ok(None);
        };
        if is_view(f, op) {
            break op;
        }
        match passed(f, op).filter(|_| between.len() < MOST_BETWEEN) {
            Some(slot) => between.push((op, slot)),
            None => return Ok(None),
        }
        value = f
            .operands(op)
            .nth(between[between.len() - 1].1)
            .unwrap_or(ValueId::NONE);
    };
    let undoes = undoes(f, inner, m.root())?;
    let Some(x) = f
        .operand(inner, 0)
        .filter(|_| undoes || !between.is_empty())
    else {
        return Ok(None);
    };
    let mut moved = x;
    for (op, slot) in between.into_iter().rev() {
        let f = r.function();
        let mut operands: Vec<ValueId> = f.operands(op).collect();
        operands[slot] = moved;
        match like(f, op, &[]) {
            Some(made) => moved = r.op(made.operands(operands))?,
            None => return Ok(None),
        }
    }
    let f = r.function();
    let is_same = f.rank(x).is_some()
        && f.rank(x) == f.rank(outer)
        && known_dims(f, x).is_some_and(|dims| Some(dims) == known_dims(f, outer));
    match undoes || is_same {
        true => Ok(Some(vec![moved])),
        false => reshape(r, moved, outer),
    }
}
