//! Sequences that are built from tensors only to be indexed or concatenated.

use passdock_plugin_api::prelude::*;

use super::pieces::{MAX_PIECES, axis, existing, pieces, split};
use super::slices::{self, Range};
use crate::shared::read::{axis_in, is, operand, size, with_axes};

pub(super) static RULES: Rules = rules! {
    rule split_of_sequence keeps_type {
        %s = onnx.SplitToSequence(%x, %sizes?) {axis = $axis, keepdims = $keep}
        %y = onnx.SequenceAt(%s, %at)
    } => sequence_at;
    rule at_of_construct keeps_type {
        %s = onnx.SequenceConstruct(%xs...)
        %y = onnx.SequenceAt(%s, %at)
    } => element;
    rule concat_of_construct {
        onnx.ConcatFromSequence(onnx.SequenceConstruct(%xs...)) {axis = $axis, new_axis = 0}
            => onnx.Concat(%xs...) {axis = $axis}
    }
    rule concat_of_one {
        %s = onnx.SequenceConstruct(%x)
        %y = onnx.ConcatFromSequence(%s) {axis = $axis, new_axis = 1}
    } => unsqueeze;
    rule concat_of_split keeps_type {
        %s = onnx.SplitToSequence(%x, %sizes?) {axis = $split, keepdims = $keep}
        %y = onnx.ConcatFromSequence(%s) {axis = $axis, new_axis = $new}
    } => merge;
    rule insert_into_construct {
        %s = onnx.SequenceConstruct(%xs...)
        %y = onnx.SequenceInsert(%s, %x, %at?)
    } => construct;
    rule insert_into_empty { onnx.SequenceInsert(onnx.SequenceEmpty(), %x) => onnx.SequenceConstruct(%x) }
    rule length_of_construct {
        %s = onnx.SequenceConstruct(%xs...)
        %y = onnx.SequenceLength(%s)
    } => length;
};

/// Replaces an element of a `SplitToSequence` with a result of a `Split`, which all elements share.
fn sequence_at(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, s) = (m.value(f, "x"), m.value(f, "s"));
    let axis = axis(m, f.rank(x))?;
    NoMatch::unless(f.use_count(s) <= MAX_PIECES)?;
    // All users of the sequence must be `SequenceAt`s.
    for one in f.iter_uses(s) {
        NoMatch::unless(is(f, one.op, "onnx.SequenceAt"))?;
        index(f, one.op)?;
    }
    let dim = size(f, x, axis);
    let by = m.value(f, "sizes");
    let sizes = match (by.option(), dim) {
        (None, Some(dim)) => Some(vec![
            1;
            usize::try_from(dim).unwrap_or(0).min(MAX_PIECES + 1)
        ]),
        (None, None) => None,
        (Some(by), dim) => match (f.constant_ints(by)?, f.rank(by), dim) {
            (Some(sizes), Some(1), _) => Some(sizes),
            (Some(size), Some(0), Some(dim))
                if size[0] > 0 && dim / size[0] <= MAX_PIECES as i64 =>
            {
                let whole = vec![size[0]; (dim / size[0]) as usize];
                let rest = Some(dim % size[0]).filter(|rest| *rest > 0);
                Some(whole.into_iter().chain(rest).collect())
            }
            _ => None,
        },
    };
    let sizes = sizes
        .filter(|sizes| sizes.len() <= MAX_PIECES)
        .ok_or(NoMatch)?;
    let at = axis_in(index(f, m.op("y"))?, sizes.len()).ok_or(NoMatch)?;
    if by.is_none() && m.int("keep") == Some(0) {
        let at = r.scalar(DType::I64, at as f64)?.ok_or(NoMatch)?;
        let gather = OpBuilder::new("onnx.Gather").operands([x, at]);
        return Ok(Some(vec![r.op(gather.attr("axis", axis as i64))?]));
    }
    // ONNX ignores `keepdims` if there are sizes, but runtimes remove the axis if all sizes are 1.
    NoMatch::unless(m.int("keep") == Some(1))?;
    let piece = pieces(&sizes)[at];
    if let Some(found) = existing(f, x, m.root(), axis, piece)? {
        return Ok(Some(vec![found]));
    }
    if f.use_count(s) == 1 {
        let range = Range {
            axis,
            start: piece.start,
            end: piece.end,
            step: 1,
        };
        return Ok(Some(vec![slices::make(r, x, &[range])?]));
    }
    Ok(Some(vec![split(r, x, axis, &sizes)?[at]]))
}

/// Returns the constant index of a `SequenceAt`.
fn index(f: &Function, op: OpId) -> Result<i64, EditError> {
    let ints = f.constant_ints(operand(f, op, 1))?.ok_or(NoMatch)?;
    Ok(*ints.first().ok_or(NoMatch)?)
}

/// Returns the element of a `SequenceConstruct` at a constant index.
fn element(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let xs = m.values("xs");
    let at = axis_in(index(f, m.op("y"))?, xs.len());
    Ok(at.map(|at| vec![xs[at]]))
}

/// Replaces the concatenation of one tensor along a new axis with an `Unsqueeze`.
fn unsqueeze(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let x = m.value(r.function(), "x");
    let axis = m.int("axis").ok_or(NoMatch)?;
    let unsqueeze = OpBuilder::new("onnx.Unsqueeze").operand(x);
    Ok(Some(vec![with_axes(r, unsqueeze, &[axis], 13)?]))
}

/// Removes a split and a concatenation along the same axis.
fn merge(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let x = m.value(f, "x");
    let axis = |name: &str| axis_in(m.int(name)?, f.rank(x)?);
    let by = m.value(f, "sizes").option();
    // A split with invalid sizes must still fail.
    let is_sure = by.is_none_or(|by| f.constant(by).is_some());
    let keeps = m.int("keep") == Some(1);
    // ONNX ignores `keepdims` if there are sizes, but runtimes remove the axis if all sizes are 1.
    NoMatch::unless(by.is_none() || keeps)?;
    let is_same = axis("split").is_some() && axis("split") == axis("axis");
    let dim = axis("split").and_then(|axis| size(f, x, axis));
    let fits = is_sure && is_same && dim.is_some_and(|size| size > 0);
    Ok((fits && (m.int("new") == Some(0)) == keeps).then(|| vec![x]))
}

/// Adds the inserted tensor to the `SequenceConstruct`.
fn construct(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (mut xs, x) = (m.values("xs").to_vec(), m.value(f, "x"));
    let at = match m.value(f, "at").option() {
        None => Some(xs.len()),
        Some(at) => f.constant_ints(at)?.and_then(|at| {
            let at = *at.first()?;
            let at = if at < 0 { at + xs.len() as i64 } else { at };
            usize::try_from(at).ok().filter(|at| *at <= xs.len())
        }),
    };
    let at = at
        .filter(|_| f.use_count(m.value(f, "s")) == 1 && xs.len() < MAX_PIECES)
        .ok_or(NoMatch)?;
    xs.insert(at, x);
    let new_op = OpBuilder::new("onnx.SequenceConstruct").operands(xs);
    Ok(Some(vec![r.op(new_op)?]))
}

/// Returns the number of operands of a `SequenceConstruct`.
fn length(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let count = m.values("xs").len();
    Ok(r.scalar(DType::I64, count as f64)?.map(|count| vec![count]))
}
