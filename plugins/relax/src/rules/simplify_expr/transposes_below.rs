//! Transposes above ops that have several transposed operands, or that add or remove dims.

use std::collections::HashSet;

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::rewrite::compose;

use super::transposed_axes::{is_reduction, reduce, reduced};
use super::transposes::{
    Above, Sharing, above, inverse, is_scalar, is_used_by_one, transpose, transpose_of, with_rank,
};
use crate::shared::read::{axes, axes_in, axis_in, int_or, is, like, perm, with_axes};

pub(super) static RULES: Rules = rules! {
    rule concat_of_transposes {
        %y = onnx.Concat(%xs...) {axis = $axis}
    } => concat;
    rule transpose_of_concat {
        %joined = onnx.Concat(%xs...) {axis = $axis}
        %outer = onnx.Transpose(%joined)
    } => hoist_above_concat;
    rule transpose_of_fewer_dims {
        %inner = onnx.Squeeze|onnx.Unsqueeze|onnx.ReduceMean|onnx.ReduceSum|onnx.ReduceMax|onnx.ReduceMin
            |onnx.ReduceProd|onnx.ReduceL1|onnx.ReduceL2|onnx.ReduceSumSquare|onnx.ReduceLogSum|onnx.ReduceLogSumExp
            |onnx.ArgMax|onnx.ArgMin(%x, %rest...)
        %outer = onnx.Transpose(%inner)
    } => hoist_reshape;
    rule op_of_transposes {
        %y = onnx.Add|onnx.Sub|onnx.Mul|onnx.Div|onnx.Pow|onnx.Min|onnx.Max|onnx.Where|onnx.And|onnx.Or|onnx.Equal
            |onnx.Less|onnx.Greater(%xs...)
    } => move_below;
    rule matmul_of_transposes { %y = onnx.MatMul(%a, %b) } => commute_transpose;
};

/// Moves equal Transposes of all operands of a `Concat` below it.
fn concat(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let xs = m.values("xs");
    let (_, perm) = xs
        .first()
        .and_then(|&x| transpose_of(f, x))
        .ok_or(NoMatch)?;
    let sources = xs.iter().map(|&x| {
        let (source, own) = transpose_of(f, x)?;
        (own == perm).then_some(source)
    });
    let sources = sources.collect::<Option<Vec<_>>>().ok_or(NoMatch)?;
    let axis = m.int("axis").and_then(|axis| axis_in(axis, perm.len()));
    let &axis = axis.and_then(|axis| perm.get(axis)).ok_or(NoMatch)?;
    let concat = OpBuilder::new("onnx.Concat")
        .operands(sources)
        .attr("axis", axis);
    let concat = r.op(concat)?;
    Ok(Some(vec![transpose(r, concat, &perm)?]))
}

/// Moves a `Transpose` above a `Concat` if that removes more Transposes than it adds.
fn hoist_above_concat(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (xs, joined) = (m.values("xs"), m.value(f, "joined"));
    let last = perm(f, m.op("outer"))
        .filter(|_| f.use_count(joined) == 1)
        .ok_or(NoMatch)?;
    let axis = m.int("axis").and_then(|axis| axis_in(axis, last.len()));
    let axis = axis.and_then(|axis| last.iter().position(|from| *from == axis as i64));
    let mut sources = Vec::new();
    let (mut removed, mut more) = (1, 0);
    for &x in xs {
        let back = transpose_of(f, x)
            .and_then(|(source, own)| Some((source, compose(&own, &last)?)))
            .filter(|(_, both)| both.is_sorted());
        match back {
            Some((source, _)) => {
                removed += usize::from(f.use_count(x) == 1);
                sources.push((source, true));
            }
            None => {
                more += usize::from(f.constant(x).is_none());
                sources.push((x, false));
            }
        }
    }
    let axis = axis.ok_or(NoMatch)?;
    NoMatch::unless(more < removed)?;
    let mut operands = Vec::new();
    for (source, is_back) in sources {
        operands.push(match is_back {
            true => source,
            false => transpose(r, source, &last)?,
        });
    }
    let concat = OpBuilder::new("onnx.Concat").operands(operands);
    Ok(Some(vec![r.op(concat.attr("axis", axis as i64))?]))
}

/// Moves an op that adds or removes dims above the first of two Transposes, which merge.
fn hoist_reshape(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, op) = (m.value(f, "x"), m.op("inner"));
    let (source, first) = transpose_of(f, x).ok_or(NoMatch)?;
    let last = perm(f, m.op("outer")).ok_or(NoMatch)?;
    NoMatch::unless(f.use_count(m.value(f, "inner")) == 1)?;
    let (adds, is_reduction) = (is(f, op, "onnx.Unsqueeze"), is_reduction(f, op));
    let (rank, given) = (first.len(), last.len());
    let axes = if is_reduction {
        NoMatch::unless(int_or(f, op, "keepdims", 1) == Some(0))?;
        reduced(f, op, rank)?
    } else {
        axes_in(&axes(f, op)?, rank.max(given)).ok_or(NoMatch)?
    };
    NoMatch::unless(axes.len() == rank.abs_diff(given))?;
    // The source axis of each dim of the op's result; `None` for a new dim.
    let mut own = first.iter().copied();
    let inner: Vec<Option<i64>> = match adds {
        true => (0..given)
            .map(|at| if axes.contains(&at) { None } else { own.next() })
            .collect(),
        false => (0..rank)
            .filter(|at| !axes.contains(at))
            .map(|at| Some(first[at]))
            .collect(),
    };
    let outer: Vec<Option<i64>> = last.iter().map(|at| inner[*at as usize]).collect();
    if adds {
        // New dims come first, unless the others are in order.
        let is_in_order = outer.iter().flatten().is_sorted();
        let is_new = |at: &i64| !is_in_order || outer[*at as usize].is_none();
        let count = if is_in_order { given } else { axes.len() };
        let units: Vec<i64> = (0..count as i64).filter(is_new).collect();
        let unsqueeze = OpBuilder::new("onnx.Unsqueeze").operand(source);
        let value = with_axes(r, unsqueeze, &units, 13)?;
        if is_in_order {
            return Ok(Some(vec![value]));
        }
        let mut units = units.into_iter();
        let from = |from: &Option<i64>| match from {
            Some(from) => Some(from + axes.len() as i64),
            None => units.next(),
        };
        let back: Option<Vec<i64>> = outer.iter().map(from).collect();
        return Ok(Some(vec![transpose(r, value, &back.ok_or(NoMatch)?)?]));
    }
    let mut reduced_axes: Vec<i64> = axes.iter().map(|axis| first[*axis]).collect();
    reduced_axes.sort_unstable();
    let left: Vec<i64> = (0..rank as i64)
        .filter(|axis| !reduced_axes.contains(axis))
        .collect();
    let position = |from: &Option<i64>| left.iter().position(|axis| Some(*axis) == *from);
    let positions = outer.iter().map(|from| Some(position(from)? as i64));
    let perm = positions.collect::<Option<Vec<i64>>>().ok_or(NoMatch)?;
    let value = match is_reduction {
        true => reduce(r, op, source, &reduced_axes)?,
        false => {
            let squeeze = like(f, op, &["axes"])?.operand(source);
            with_axes(r, squeeze, &reduced_axes, 13)?
        }
    };
    Ok(Some(vec![transpose(r, value, &perm)?]))
}

/// Moves equal Transposes of all operands below an elementwise op, also through chains of other ops.
///
/// Moving a Transpose down must leave fewer of them. At equal counts, `transpose_of_transpose` moves it up; doing both
/// would never reach a fixed point.
fn move_below(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (xs, y) = (m.values("xs"), m.root());
    let before = f.previous_op(y);
    let rank = f.rank(f.result(y, 0)).ok_or(NoMatch)?;
    let mut found: Vec<Option<Above>> = Vec::new();
    let mut tops: Vec<ValueId> = Vec::new();
    for &x in xs {
        if is_scalar(f, x) || f.constant(x).is_some() {
            found.push(None);
            continue;
        }
        NoMatch::unless(f.rank(x) == Some(rank) && is_used_by_one(f, x))?;
        let above = above(f, x, Sharing::None).ok_or(NoMatch)?;
        let top = above.top(f, x);
        NoMatch::unless(is_used_by_one(f, top))?;
        if !tops.contains(&top) {
            tops.push(top);
        }
        found.push(Some(above));
    }
    let mut perms = found.iter().flatten().map(|above| above.first.clone());
    let first = perms.next().ok_or(NoMatch)?;
    NoMatch::unless(tops.len() > 1 && perms.all(|perm| perm == first))?;
    let back = inverse(&first)?;
    let new_op = like(f, y, &[])?;
    let mut operands = Vec::new();
    for (&x, above) in xs.iter().zip(&found) {
        operands.push(match above {
            Some(above) => above.without(r, y, &back)?,
            None if is_scalar(r.function(), x) => x,
            None => {
                let whole = with_rank(r, x, rank)?;
                transpose(r, whole, &back)?
            }
        });
    }
    let value = r.op(new_op.operands(operands))?;
    let value = transpose(r, value, &first)?;
    let f = r.function();
    let moved = found.iter().flatten().flat_map(|above| above.ops(f));
    let is_less = created_since(f, y, before) < only_used_by(f, moved.chain([y]).collect());
    Ok(is_less.then(|| vec![value]))
}

/// Returns the number of Transposes created between `before` and the root.
fn created_since(f: &Function, root: OpId, before: Option<OpId>) -> usize {
    let new_op = std::iter::successors(f.previous_op(root), |op| f.previous_op(*op));
    new_op
        .take_while(|op| Some(*op) != before)
        .filter(|op| is(f, *op, "onnx.Transpose"))
        .count()
}

/// Returns the number of Transposes that only these ops use.
fn only_used_by(f: &Function, ops: HashSet<OpId>) -> usize {
    let operands = ops.iter().flat_map(|op| f.operands(*op));
    let transposes = operands.filter(|operand| transpose_of(f, *operand).is_some());
    let is_own = |value: &ValueId| f.iter_uses(*value).all(|one| ops.contains(&one.op));
    transposes.filter(is_own).collect::<HashSet<_>>().len()
}

/// Rewrites `Aᵀ Bᵀ` to `(B A)ᵀ`.
fn commute_transpose(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (a, b) = (m.value(f, "a"), m.value(f, "b"));
    let turned = |value: ValueId| {
        let (source, perm) = transpose_of(f, value).filter(|_| f.use_count(value) == 1)?;
        let rank = perm.len();
        let mut turn: Vec<i64> = (0..rank as i64).collect();
        turn.swap(rank.checked_sub(2)?, rank - 1);
        (perm == turn).then_some((source, perm))
    };
    let (left, perm) = turned(a).ok_or(NoMatch)?;
    let (right, other) = turned(b).ok_or(NoMatch)?;
    NoMatch::unless(perm.len() == other.len())?;
    let product = r.op(OpBuilder::new("onnx.MatMul").operands([right, left]))?;
    Ok(Some(vec![transpose(r, product, &perm)?]))
}
