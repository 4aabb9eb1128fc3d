//! Attention: the softmax of the product of queries and keys, times the values.

use passdock_plugin_api::prelude::*;

use crate::rules::shared::checks::{becomes_dead, broadcast_number};
use crate::shared::read::{axis_in, defined_by, operand, pair, perm};

/// The ranks of queries, keys and values: batch, heads, length and head size. Rank 3 has one head and no axis for it.
const RANKS: [usize; 2] = [3, 4];

/// Attention without a mask.
pub(super) static ATTENTION: Rules = rules! {
    rule attention {
        %p = onnx.Softmax(%s) {axis = $axis}
        %y = onnx.MatMul(%p, %v)
            where opset >= 23, dtype(%y) in [f32, f16, bf16], uses(%p) == 1
    } => |r, m| attention(r, m, false);
};

/// Attention with an additive mask. For a fully masked row, ONNX Runtime's operator returns zeros; the separate ops
/// return a mean or NaN.
pub(super) static ATTENTION_WITH_MASK: Rules = rules! {
    rule attention_with_mask {
        %p = onnx.Softmax(%s) {axis = $axis}
        %y = onnx.MatMul(%p, %v)
            where opset >= 23, dtype(%y) in [f32, f16, bf16], uses(%p) == 1
    } => |r, m| attention(r, m, true);
};

fn attention(r: &mut Rewriter<'_>, m: &Match<'_>, is_masked: bool) -> Rewritten {
    let f = r.function();
    let (v, mut scores) = (m.value(f, "v"), m.value(f, "s"));
    let rank = f
        .rank(scores)
        .filter(|rank| RANKS.contains(rank))
        .ok_or(NoMatch)?;
    let axis = m.int("axis").and_then(|axis| axis_in(axis, rank));
    NoMatch::unless(axis == Some(rank - 1))?;
    let mut mask = None;
    if is_masked {
        let op = defined_by(f, scores, "onnx.Add").ok_or(NoMatch)?;
        let operands = pair(f, op);
        let at = operands
            .iter()
            .position(|value| is_mask(f, *value, scores))
            .ok_or(NoMatch)?;
        // The scores may have the shape of a mask, too.
        let at = if product(r, operands[at])?.is_some() {
            1 - at
        } else {
            at
        };
        NoMatch::unless(is_mask(f, operands[at], scores))?;
        mask = Some(operands[at]);
        scores = operands[1 - at];
    }
    let (op, mut scale) = product(r, scores)?.ok_or(NoMatch)?;
    let f = r.function();
    let operands = pair(f, op);
    let (q, of_q) = scaled(r, operands[0])?;
    let (swapped, of_k) = scaled(r, operands[1])?;
    scale *= of_q * of_k;
    let f = r.function();
    // ONNX Runtime rejects scales that aren't positive.
    let is_scale = scale > 0.0 && scale.is_finite();
    NoMatch::unless(is_scale && becomes_dead(f, m.root(), op))?;
    let k = swap(r, swapped, rank)?;
    let f = r.function();
    let queries = outer(f, q, rank).ok_or(NoMatch)?;
    let is_same = |value| outer(f, value, rank).as_ref() == Some(&queries);
    NoMatch::unless(is_same(k) && is_same(v))?;
    let new_op = OpBuilder::new("onnx.Attention")
        .operands([q, k, v])
        .operands(mask)
        .attr("scale", scale as f32);
    let new_op = match rank {
        3 => new_op.attr("q_num_heads", 1).attr("kv_num_heads", 1),
        _ => new_op,
    };
    Ok(Some(vec![r.op(new_op)?]))
}

/// Returns all dims except the last two, if they are known.
fn outer(f: &Function, value: ValueId, rank: usize) -> Option<Vec<Dim>> {
    let dims = f.dims(value).filter(|dims| dims.len() == rank)?;
    let outer: Vec<Dim> = dims.take(rank - 2).collect();
    let is_known = outer.iter().all(|dim| dim.is_known());
    is_known.then_some(outer)
}

/// Splits a value into an unscaled value and a constant factor.
fn scaled(r: &Rewriter<'_>, value: ValueId) -> Result<(ValueId, f64), EditError> {
    let f = r.function();
    if let Some(op) = defined_by(f, value, "onnx.Mul") {
        let [a, b] = pair(f, op);
        for (x, factor) in [(a, b), (b, a)] {
            if let Some(number) = broadcast_number(f, factor, x)? {
                return Ok((x, number));
            }
        }
    }
    if let Some(op) = defined_by(f, value, "onnx.Div") {
        let [x, divisor] = pair(f, op);
        if let Some(number) = broadcast_number(f, divisor, x)?.filter(|number| *number != 0.0) {
            return Ok((x, 1.0 / number));
        }
    }
    Ok((value, 1.0))
}

/// Returns the product of queries and keys that defines the scores, and its constant factor.
fn product(r: &Rewriter<'_>, scores: ValueId) -> Result<Option<(OpId, f64)>, EditError> {
    let (product, scale) = scaled(r, scores)?;
    Ok(defined_by(r.function(), product, "onnx.MatMul").map(|op| (op, scale)))
}

/// Transposes the last two dims of the keys back.
fn swap(r: &mut Rewriter<'_>, swapped: ValueId, rank: usize) -> Result<ValueId, EditError> {
    let f = r.function();
    let identity: Vec<i64> = (0..rank as i64).collect();
    let (x, mut perm) = match defined_by(f, swapped, "onnx.Transpose") {
        Some(op) => (operand(f, op, 0), perm(f, op).ok_or(NoMatch)?),
        None => (swapped, identity.clone()),
    };
    NoMatch::unless(perm.len() == rank)?;
    perm.swap(rank - 2, rank - 1);
    if perm == identity {
        return Ok(x);
    }
    let transpose = OpBuilder::new("onnx.Transpose").operand(x);
    r.op(transpose.attr("perm", perm))
}

/// Whether a value has the last two dims of the scores and broadcasts over batch and heads. Runtimes reject other
/// masks.
fn is_mask(f: &Function, value: ValueId, scores: ValueId) -> bool {
    let (Some(dims), Some(scores)) = (f.dims(value), f.dims(scores)) else {
        return false;
    };
    let more = scores.len().saturating_sub(dims.len());
    let fits = |(at, (dim, of)): (usize, (Dim, Dim))| {
        dim.is_known() && dim == of || at + more < 2 && dim == Dim::constant(1)
    };
    scores.len() == 4
        && (2..=4).contains(&dims.len())
        && dims.zip(scores.skip(more)).enumerate().all(fits)
}
