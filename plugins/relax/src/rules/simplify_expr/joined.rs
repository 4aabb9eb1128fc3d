//! `Slice`, `Split` and `Gather` of a `Concat` that need only some of its operands.

use passdock_plugin_api::prelude::*;

use super::pieces::{MAX_PIECES, Piece, axis, pieces, split_sizes};
use super::slices::{self, Range};
use crate::shared::read::{axis_in, int_or, like, size};

pub(super) static RULES: Rules = rules! {
    rule slice_of_concat {
        %joined = onnx.Concat(%xs...) {axis = $axis}
        %y = onnx.Slice(%joined, %rest...)
    } => slice;
    rule split_of_concat {
        %joined = onnx.Concat(%xs...) {axis = $axis}
        %a, %b = onnx.Split(%joined, %rest...)
    } => split;
    rule three_of_concat {
        %joined = onnx.Concat(%xs...) {axis = $axis}
        %a, %b, %c = onnx.Split(%joined, %rest...)
    } => split;
    rule four_of_concat {
        %joined = onnx.Concat(%xs...) {axis = $axis}
        %a, %b, %c, %d = onnx.Split(%joined, %rest...)
    } => split;
    rule gather_of_concat {
        %joined = onnx.Concat(%xs...) {axis = $axis}
        %y = onnx.Gather(%joined, %at)
    } => gather;
    rule concat_of_empty { %y = onnx.Concat(%xs...) {axis = $axis} } => without_empty;
};

/// Returns the axis of a `Concat`, counted from the front.
fn joined_at(f: &Function, m: &Match<'_>) -> Result<usize, NoMatch> {
    let xs = m.values("xs");
    NoMatch::unless((1..=MAX_PIECES).contains(&xs.len()))?;
    axis(m, f.rank(xs[0]))
}

/// Returns the pieces of a `Concat`, up to the first operand of unknown size, and whether these are all operands.
fn parts(f: &Function, xs: &[ValueId], axis: usize) -> (Vec<Piece>, bool) {
    let sizes: Vec<i64> = xs.iter().map_while(|x| size(f, *x, axis)).collect();
    (pieces(&sizes), sizes.len() == xs.len())
}

/// Returns the operands that a range covers, and the range relative to the first of them.
fn within(parts: &[Piece], is_all: bool, range: Range) -> Option<(std::ops::Range<usize>, Range)> {
    let known = parts.last().map_or(0, |last| last.end);
    let (start, end) = match is_all {
        true => range.within(known),
        false if range.start >= 0 && range.end >= range.start && range.end <= known => {
            (range.start, range.end)
        }
        false => return None,
    };
    if start >= end {
        return None;
    }
    let first = parts.iter().position(|part| part.end > start)?;
    let last = parts.iter().position(|part| part.end >= end)?;
    let from = parts[first].start;
    let inside = Range {
        start: start - from,
        end: end - from,
        ..range
    };
    Some((first..last + 1, inside))
}

/// Replaces a `Slice` of a `Concat` with a `Slice` of one operand, or with some whole operands.
fn slice(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let xs = m.values("xs");
    let axis = joined_at(f, m)?;
    let mut ranges = slices::ranges(f, m.op("y"))?;
    let at = ranges
        .iter()
        .position(|range| range.axis == axis)
        .ok_or(NoMatch)?;
    let range = ranges.remove(at);
    let (parts, is_all) = parts(f, xs, axis);
    // From an operand with a known start to the end.
    if !is_all && range.end == i64::MAX && range.step == 1 {
        let from = parts.iter().position(|part| part.start == range.start);
        let from = from.or_else(|| {
            let known = parts.last().map_or(0, |last| last.end);
            (known == range.start).then_some(parts.len())
        });
        let from = from.filter(|from| *from > 0).ok_or(NoMatch)?;
        return concat_some(r, &xs[from..], axis, &ranges);
    }
    let (some, range) = within(&parts, is_all, range)
        .filter(|_| range.step == 1)
        .ok_or(NoMatch)?;
    let last = parts[some.end - 1];
    let is_whole = range.start == 0 && range.end == last.end - parts[some.start].start;
    NoMatch::unless(some.len() != xs.len() && (is_whole || some.len() <= 1))?;
    if !is_whole {
        ranges.push(range);
    }
    concat_some(r, &xs[some], axis, &ranges)
}

/// Concatenates some operands and slices the result.
fn concat_some(r: &mut Rewriter<'_>, xs: &[ValueId], axis: usize, ranges: &[Range]) -> Rewritten {
    let value = concatenated(r, xs, axis)?;
    let mut ranges = ranges.to_vec();
    ranges.sort_by_key(|range| range.axis);
    Ok(Some(vec![slices::make(r, value, &ranges)?]))
}

/// Concatenates operands, or returns the only one.
fn concatenated(r: &mut Rewriter<'_>, xs: &[ValueId], axis: usize) -> Result<ValueId, EditError> {
    if let [one] = xs {
        return Ok(*one);
    }
    let concat = OpBuilder::new("onnx.Concat").operands(xs.to_vec());
    r.op(concat.attr("axis", axis as i64))
}

/// Replaces a `Split` at the boundaries of operands with these operands.
fn split(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let xs = m.values("xs");
    let axis = joined_at(f, m)?;
    let (at, sizes) = split_sizes(f, m.root())?;
    let (parts, is_all) = parts(f, xs, axis);
    NoMatch::unless(at == axis && is_all)?;
    let used: Vec<bool> = f
        .results(m.root())
        .iter()
        .map(|one| f.use_count(*one) > 0)
        .collect();
    let mut values = Vec::new();
    for (piece, is_used) in pieces(&sizes).into_iter().zip(used) {
        if !is_used {
            values.push(ValueId::NONE);
            continue;
        }
        let first = parts
            .iter()
            .position(|part| part.start == piece.start && part.end > part.start);
        let last = parts.iter().position(|part| part.end == piece.end);
        let (first, last) = first
            .zip(last)
            .filter(|(first, last)| first <= last)
            .ok_or(NoMatch)?;
        values.push(concatenated(r, &xs[first..last + 1], axis)?);
    }
    Ok(Some(values))
}

/// Replaces a `Gather` with one constant index by a `Gather` of the operand that contains it.
fn gather(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (xs, at) = (m.values("xs"), m.value(f, "at"));
    let axis = joined_at(f, m)?;
    let split_axis = int_or(f, m.op("y"), "axis", 0).ok_or(NoMatch)?;
    let rank = f.rank(xs[0]).unwrap_or(0);
    let Some(&[index]) = f.constant_ints(at)?.as_deref() else {
        return Ok(None);
    };
    NoMatch::unless(axis_in(split_axis, rank) == Some(axis) && f.rank(at) <= Some(1))?;
    let (parts, is_all) = parts(f, xs, axis);
    let index = match (index < 0, is_all) {
        (true, false) => return Ok(None),
        (true, true) => index + parts.last().map_or(0, |last| last.end),
        (false, _) => index,
    };
    let found = parts
        .iter()
        .position(|part| part.start <= index && index < part.end);
    let found = found.ok_or(NoMatch)?;
    let (is_scalar, dtype) = (f.rank(at) == Some(0), f.dtype(at).ok_or(NoMatch)?);
    let index = index - parts[found].start;
    let at = match is_scalar {
        true => r.scalar(dtype, index as f64)?.ok_or(NoMatch)?,
        false => r.ints(&[index])?,
    };
    let new_op = like(r.function(), m.op("y"), &[])?;
    Ok(Some(vec![r.op(new_op.operands([xs[found], at]))?]))
}

/// Removes operands that are empty along the axis.
fn without_empty(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let xs = m.values("xs");
    let axis = joined_at(f, m)?;
    let mut left: Vec<ValueId> = xs.to_vec();
    left.retain(|x| size(f, *x, axis) != Some(0));
    NoMatch::unless(!left.is_empty() && left.len() != xs.len())?;
    concatenated(r, &left, axis).map(|value| Some(vec![value]))
}
