//! Attention: the softmax of products of queries and keys, times values.

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

use crate::rules::shared::checks::{goes, number_beside};
use crate::shared::read::{axis_in, made_by, operand, pair, perm};

/// Batch, heads, length, size of a head, as queries, keys and values have them. Without a dim of the heads, there is
/// one.
const RANKS: [usize; 2] = [3, 4];

/// Without a mask.
pub(super) static ATTENTION: Rules = rules! {
    rule attention {
        %p = onnx.Softmax(%s) {axis = $axis}
        %y = onnx.MatMul(%p, %v)
            where opset >= 23, dtype(%y) in [f32, f16, bf16], uses(%p) == 1
    } => |r, m| attention(r, m, false);
};

/// With a mask that is added. A row that is all masked comes out as zeros in ONNX Runtime, and as a mean, or as no
/// numbers, if it is spelled out.
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
        let op = made_by(f, scores, "onnx.Add").ok_or(NoMatch)?;
        let operands = pair(f, op);
        let at = operands
            .iter()
            .position(|value| is_mask(f, *value, scores))
            .ok_or(NoMatch)?;
        // What is masked may look like a mask, too.
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
    // ONNX Runtime takes no scale that isn't above 0.
    let is_scale = scale > 0.0 && scale.is_finite();
    NoMatch::unless(is_scale && goes(f, m.root(), op))?;
    let k = swap(r, swapped, rank)?;
    let f = r.function();
    let queries = outer(f, q, rank).ok_or(NoMatch)?;
    let is_same = |value| outer(f, value, rank).as_ref() == Some(&queries);
    NoMatch::unless(is_same(k) && is_same(v))?;
    let made = OpBuilder::new("onnx.Attention")
        .operands([q, k, v])
        .operands(mask)
        .attr("scale", scale as f32);
    let made = match rank {
        3 => made.attr("q_num_heads", 1).attr("kv_num_heads", 1),
        _ => made,
    };
    Ok(Some(vec![r.op(made)?]))
}

/// All dims of a value but the last two, if they are known.
fn outer(f: &Function, value: ValueId, rank: usize) -> Option<Vec<Dim>> {
    let dims = f.dims(value).filter(|dims| dims.len() == rank)?;
    let outer: Vec<Dim> = dims.take(rank - 2).collect();
    let is_known = outer.iter().all(|dim| dim.kind != DimKind::UNKNOWN);
    is_known.then_some(outer)
}

/// A value without the numbers that it is multiplied by, and their product.
fn scaled(r: &Rewriter<'_>, value: ValueId) -> Result<(ValueId, f64), EditError> {
    let f = r.function();
    if let Some(op) = made_by(f, value, "onnx.Mul") {
        let [a, b] = pair(f, op);
        for (x, factor) in [(a, b), (b, a)] {
            if let Some(number) = number_beside(f, factor, x)? {
                return Ok((x, number));
            }
        }
    }
    if let Some(op) = made_by(f, value, "onnx.Div") {
        let [x, divisor] = pair(f, op);
        if let Some(number) = number_beside(f, divisor, x)?.filter(|number| *number != 0.0) {
            return Ok((x, 1.0 / number));
        }
    }
    Ok((value, 1.0))
}

/// The product of queries and keys that scores are, and what it is multiplied by.
fn product(r: &Rewriter<'_>, scores: ValueId) -> Result<Option<(OpId, f64)>, EditError> {
    let (product, scale) = scaled(r, scores)?;
    Ok(made_by(r.function(), product, "onnx.MatMul").map(|op| (op, scale)))
}

/// Keys whose last two dims are swapped, the way that they were.
fn swap(r: &mut Rewriter<'_>, swapped: ValueId, rank: usize) -> Result<ValueId, EditError> {
    let f = r.function();
    let identity: Vec<i64> = (0..rank as i64).collect();
    let (x, mut perm) = match made_by(f, swapped, "onnx.Transpose") {
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

/// Whether a value is as large as a head's scores, and stretches over heads and batch: no runtime takes less.
fn is_mask(f: &Function, value: ValueId, scores: ValueId) -> bool {
    let (Some(dims), Some(scores)) = (f.dims(value), f.dims(scores)) else {
        return false;
    };
    let more = scores.len().saturating_sub(dims.len());
    let fits = |(at, (dim, of)): (usize, (Dim, Dim))| {
        dim.kind != DimKind::UNKNOWN && dim == of || at + more < 2 && dim == Dim::constant(1)
    };
    scores.len() == 4
        && (2..=4).contains(&dims.len())
        && dims.zip(scores.skip(more)).enumerate().all(fits)
}
