//! `Slice`: ranges, and nested `Slice`s.

use passdock_plugin_api::prelude::*;

use crate::shared::read::{axis_in, int_or, ints_of, one_axis, operand, size};

pub(super) static RULES: Rules = rules! {
    rule slice_whole keeps_type { %y = onnx.Slice(%x, %rest...) } => whole;
    rule slice_of_slice {
        %inner = onnx.Slice(%x, %rest...)
        %outer = onnx.Slice(%inner, %more...)
    } => merge_slices;
    rule view_of_gather {
        %inner = onnx.Gather(%x, %at)
        %outer = onnx.Squeeze|onnx.Unsqueeze(%inner, %axes...)
    } => fold_view_into_gather;
    rule squeeze_of_slice {
        %inner = onnx.Slice(%x, %rest...)
        %outer = onnx.Squeeze(%inner, %axes...)
    } => slice_to_gather;
    rule shape_of_cast {
        onnx.Shape(onnx.Cast(%x)) {start = $start, end = $end} => onnx.Shape(%x) {start = $start, end = $end}
    }
};

/// A range of a `Slice` along an axis, as in ONNX: ends may be out of bounds, negative numbers count from the end.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) axis: usize,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) step: i64,
}

impl Range {
    /// Returns the start and end of a range with step 1 in a dim of this size.
    pub(super) fn within(self, size: i64) -> (i64, i64) {
        let clamp = |at: i64| {
            let at = if at < 0 { at.saturating_add(size) } else { at };
            at.clamp(0, size)
        };
        let start = clamp(self.start);
        (start, clamp(self.end).max(start))
    }

    /// Returns the first index of a range in a dim of this size, and the number of indices.
    fn bounds(self, size: i64) -> Option<(i64, i64)> {
        let (least, most) = match self.step {
            0 | i64::MIN => return None,
            _ if size == 0 => return Some((0, 0)),
            1.. => (0, size),
            _ => (-1, size - 1),
        };
        let clamp = |at: i64| {
            let at = if at < 0 { at.saturating_add(size) } else { at };
            at.clamp(least, most)
        };
        let (start, end) = (clamp(self.start).max(0), clamp(self.end));
        let length = (end - start) * self.step.signum();
        Some((
            start,
            length
                .max(0)
                .cast_unsigned()
                .div_ceil(self.step.unsigned_abs())
                .cast_signed(),
        ))
    }

    /// Composes this range with an earlier one on the same axis. `size` is the size of the dim, if known.
    fn after(self, first: Range, size: Option<i64>) -> Option<Range> {
        let range = |start: i64, end: i64, step: i64| Range {
            start,
            end,
            step,
            ..self
        };
        if let Some(size) = size {
            let (start, count) = first.bounds(size)?;
            let (from, selected) = self.bounds(count)?;
            if selected == 0 {
                return Some(range(0, 0, 1));
            }
            let step = first.step.checked_mul(self.step)?;
            let start = start + from * first.step;
            let last = start + (selected - 1) * step;
            return Some(match step {
                _ if selected == 1 => range(start, start + 1, 1),
                1.. => range(start, last + 1, step),
                // An end of -1 would mean the last index.
                _ if last == 0 => range(start, i64::MIN, step),
                _ => range(start, last - 1, step),
            });
        }
        if self.step != 1 || first.step != 1 {
            return None;
        }
        let counts_from_front = [self.start, self.end, first.start, first.end];
        if counts_from_front.iter().any(|at| *at < 0) {
            return None;
        }
        let start = first.start.saturating_add(self.start);
        let end = first.start.saturating_add(self.end).min(first.end);
        Some(range(start, end, 1))
    }
}

/// Returns the ranges of a `Slice` if they are constant, without those that cover a whole axis.
pub(super) fn ranges(f: &Function, op: OpId) -> Result<Vec<Range>, EditError> {
    let x = operand(f, op, 0);
    let rank = f.rank(x).ok_or(NoMatch)?;
    let starts = ints_of(f, op, 1, "starts")?.flatten().ok_or(NoMatch)?;
    let ends = ints_of(f, op, 2, "ends")?.flatten().ok_or(NoMatch)?;
    let axes = ints_of(f, op, 3, "axes")?.ok_or(NoMatch)?;
    let steps = ints_of(f, op, 4, "steps")?.ok_or(NoMatch)?;
    let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    let mut others = [&ends, &axes, &steps].into_iter();
    NoMatch::unless(others.all(|list| list.len() == starts.len()))?;
    let mut ranges: Vec<Range> = Vec::new();
    for (at, axis) in axes.iter().enumerate() {
        let axis = axis_in(*axis, rank).ok_or(NoMatch)?;
        let range = Range {
            axis,
            start: starts[at],
            end: ends[at],
            step: steps[at],
        };
        NoMatch::unless(!ranges.iter().any(|other| other.axis == axis))?;
        // A range over the whole axis is redundant.
        let is_whole = range.start == 0 && range.end == i64::MAX && range.step == 1;
        let is_all =
            size(f, x, axis).is_some_and(|size| range.step == 1 && range.within(size) == (0, size));
        if !is_whole && !is_all {
            ranges.push(range);
        }
    }
    Ok(ranges)
}

/// Builds a `Slice` in the form of the function's opset, or returns the value if there are no ranges.
pub(super) fn make(
    r: &mut Rewriter<'_>,
    x: ValueId,
    ranges: &[Range],
) -> Result<ValueId, EditError> {
    if ranges.is_empty() {
        return Ok(x);
    }
    let column = |of: fn(&Range) -> i64| ranges.iter().map(of).collect::<Vec<i64>>();
    let (starts, ends) = (column(|range| range.start), column(|range| range.end));
    let (axes, steps) = (
        column(|range| range.axis as i64),
        column(|range| range.step),
    );
    let is_stepping = steps.iter().any(|step| *step != 1);
    let slice = OpBuilder::new("onnx.Slice").operand(x);
    let slice = match r.function().opset("") {
        Some(10..) => {
            let operands = [r.ints(&starts)?, r.ints(&ends)?, r.ints(&axes)?];
            let steps = is_stepping.then(|| r.ints(&steps)).transpose()?;
            slice.operands(operands).operands(steps)
        }
        Some(1..=9) if !is_stepping => slice
            .attr("starts", starts)
            .attr("ends", ends)
            .attr("axes", axes),
        _ => return Err(NoMatch.into()),
    };
    r.op(slice)
}

/// Removes a `Slice` of whole axes, whatever their sizes.
fn whole(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let ranges = ranges(f, m.op("y"))?;
    Ok(ranges.is_empty().then(|| vec![m.value(f, "x")]))
}

/// Merges two nested `Slice`s.
fn merge_slices(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let x = m.value(f, "x");
    let mut all = ranges(f, m.op("inner"))?;
    for range in ranges(f, m.op("outer"))? {
        let size = size(f, x, range.axis);
        match all.iter_mut().find(|other| other.axis == range.axis) {
            None => all.push(range),
            Some(other) => *other = range.after(*other, size).ok_or(NoMatch)?,
        }
    }
    all.sort_by_key(|range| range.axis);
    Ok(Some(vec![make(r, x, &all)?]))
}

/// Folds a `Squeeze` or `Unsqueeze` into a `Gather` of one constant index by changing the rank of the index.
fn fold_view_into_gather(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, inner, outer) = (m.value(f, "x"), m.op("inner"), m.op("outer"));
    let (at, takes_away) = (m.value(f, "at"), f.name(outer) == "onnx.Squeeze");
    let is_one = match takes_away {
        true => f.shape(at).is_some_and(|shape| shape == [1]),
        false => f.rank(at) == Some(0),
    };
    let Some(&[index]) = f.constant_ints(at)?.as_deref() else {
        return Ok(None);
    };
    NoMatch::unless(is_one)?;
    let dtype = f.dtype(at).ok_or(NoMatch)?;
    let axis = int_or(f, inner, "axis", 0).ok_or(NoMatch)?;
    let viewed = one_axis(f, outer)?;
    let rank = f.rank(x).ok_or(NoMatch)?;
    let is_same = axis_in(axis, rank).is_some() && axis_in(axis, rank) == axis_in(viewed, rank);
    NoMatch::unless(is_same && f.use_count(f.result(inner, 0)) == 1)?;
    let at = match takes_away {
        false => r.ints(&[index])?,
        true => r.scalar(dtype, index as f64)?.ok_or(NoMatch)?,
    };
    let gather = OpBuilder::new("onnx.Gather").operands([x, at]);
    Ok(Some(vec![r.op(gather.attr("axis", axis))?]))
}

/// Replaces a `Slice` of one element and a `Squeeze` of its axis with a `Gather`.
fn slice_to_gather(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, inner) = (m.value(f, "x"), m.op("inner"));
    let rank = f.rank(x).ok_or(NoMatch)?;
    let viewed = one_axis(f, m.op("outer"))?;
    let [range @ Range { axis, step: 1, .. }] = ranges(f, inner)?[..] else {
        return Ok(None);
    };
    let (start, end) = range.within(size(f, x, axis).ok_or(NoMatch)?);
    NoMatch::unless(f.use_count(f.result(inner, 0)) == 1)?;
    NoMatch::unless(end - start == 1 && axis_in(viewed, rank) == Some(axis))?;
    let at = r.scalar(DType::I64, start as f64)?.ok_or(NoMatch)?;
    let gather = OpBuilder::new("onnx.Gather").operands([x, at]);
    Ok(Some(vec![r.op(gather.attr("axis", axis as i64))?]))
}
