//! Pieces of a tensor along one axis: `Slice`s that become a `Split`, and a `Concat` of adjacent pieces.

use passdock_plugin_api::prelude::*;

use super::slices::{self, Range};
use crate::shared::read::{
    self, axis_in, defined_by, ints_of, is, one_axis, operand, size, unless_no_match,
};

pub(super) static RULES: Rules = rules! {
    rule split_of_slices keeps_type { %y = onnx.Slice(%x, %rest...) } => split_of_slices;
    rule squeezes_of_split {
        %y = onnx.Squeeze(%piece, %axes...)
    } => element;
    rule split_whole { onnx.Split(%x, %rest...) => %x }
    rule concat_of_pieces { %y = onnx.Concat(%xs...) {axis = $axis} } => merge;
    rule concat_of_concats { %y = onnx.Concat(%xs...) {axis = $axis} } => flatten;
};

/// The maximum number of users of a value, of pieces and of `Concat` operands that the rules visit.
pub(super) const MAX_PIECES: usize = 128;

/// A part of a tensor along an axis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    pub(super) start: i64,
    pub(super) end: i64,
}

/// Returns the consecutive pieces of these sizes.
pub(super) fn pieces(sizes: &[i64]) -> Vec<Piece> {
    let mut end = 0;
    let piece = |size: &i64| {
        let start = end;
        end += size;
        Piece { start, end }
    };
    sizes.iter().map(piece).collect()
}

/// Returns the matched attribute `axis`, counted from the front.
pub(super) fn axis(m: &Match<'_>, rank: Option<usize>) -> Result<usize, NoMatch> {
    let axis = m.int("axis").ok_or(NoMatch)?;
    axis_in(axis, rank.ok_or(NoMatch)?).ok_or(NoMatch)
}

/// Returns the axis and the piece that a `Slice` with step 1 takes of a dim with a known size.
fn sliced(f: &Function, op: OpId) -> Result<(usize, Piece), EditError> {
    let [range @ Range { axis, step: 1, .. }] = slices::ranges(f, op)?[..] else {
        return Err(NoMatch.into());
    };
    let size = size(f, operand(f, op, 0), axis).ok_or(NoMatch)?;
    let (start, end) = range.within(size);
    Ok((axis, Piece { start, end }))
}

/// Returns the axis and the sizes of a `Split`.
pub(super) fn split_sizes(f: &Function, op: OpId) -> Result<(usize, Vec<i64>), EditError> {
    NoMatch::unless(f.result_count(op) <= MAX_PIECES)?;
    let rank = f.rank(operand(f, op, 0)).ok_or(NoMatch)?;
    let axis = read::axis(f, op, 0, rank)?;
    let given = ints_of(f, op, 1, "split")?.ok_or(NoMatch)?;
    let inferred = || {
        f.results(op)
            .iter()
            .map(|result| size(f, *result, axis))
            .collect()
    };
    Ok((axis, given.or_else(inferred).ok_or(NoMatch)?))
}

/// Returns the piece of a value along an axis if a `Split` before the root already has it as a result.
pub(super) fn existing(
    f: &Function,
    x: ValueId,
    root: OpId,
    at: usize,
    expected: Piece,
) -> Result<Option<ValueId>, EditError> {
    if f.use_count(x) > MAX_PIECES {
        return Ok(None);
    }
    for one in f.iter_uses(x) {
        let is_before =
            f.parent_region(one.op) == f.parent_region(root) && f.is_before(one.op, root);
        if one.index != 0 || !is(f, one.op, "onnx.Split") || !is_before {
            continue;
        }
        if let Some((axis, sizes)) = unless_no_match(split_sizes(f, one.op))? {
            let found = pieces(&sizes).iter().position(|piece| *piece == expected);
            if let Some(index) = found.filter(|_| axis == at) {
                return Ok(f.results(one.op).get(index).copied());
            }
        }
    }
    Ok(None)
}

/// Builds a `Split` in the form of the function's opset. Pieces of a constant don't match: they are folded instead.
pub(super) fn split(
    r: &mut Rewriter<'_>,
    x: ValueId,
    axis: usize,
    sizes: &[i64],
) -> Result<Vec<ValueId>, EditError> {
    NoMatch::unless(r.function().constant(x).is_none())?;
    let split = OpBuilder::new("onnx.Split")
        .operand(x)
        .attr("axis", axis as i64);
    let split = match r.function().opset("") {
        Some(13..) => split.operand(r.ints(sizes)?),
        Some(2..=12) => split.attr("split", sizes),
        _ => return Err(NoMatch.into()),
    };
    r.op_results(split.untyped_results(sizes.len()))
}

/// Replaces `Slice`s that cover an axis with one `Split`, which the first `Slice` creates.
fn split_of_slices(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, root) = (m.value(f, "x"), m.root());
    NoMatch::unless((2..=MAX_PIECES).contains(&f.use_count(x)))?;
    let (axis, piece) = sliced(f, root)?;
    if let Some(found) = existing(f, x, root, axis, piece)? {
        return Ok(Some(vec![found]));
    }
    let (mut all, mut sliced_again) = (Vec::new(), 0);
    let mut ops: Vec<OpId> = f.iter_uses(x).map(|one| one.op).collect();
    ops.sort_unstable();
    ops.dedup();
    for op in ops {
        let is_sibling = is(f, op, "onnx.Slice") && f.parent_region(op) == f.parent_region(root);
        if is_sibling
            && let Some((other, piece)) = unless_no_match(sliced(f, op))?
            && other == axis
            && f.operand(op, 0) == Some(x)
        {
            NoMatch::unless(op == root || !f.is_before(op, root))?;
            all.push(piece);
            sliced_again += usize::from(is_sliced(f, op)?);
        }
    }
    all.sort_unstable();
    all.dedup();
    let size = size(f, x, axis);
    let meet = all.windows(2).all(|two| two[0].end == two[1].start);
    // Slices that are sliced again could be merged with those instead.
    let covers = meet
        && all.len() > sliced_again + 1
        && all[0].start == 0
        && all.last().map(|last| last.end) == size
        && all.iter().all(|piece| piece.start < piece.end);
    let at = all
        .iter()
        .position(|one| *one == piece)
        .filter(|_| covers)
        .ok_or(NoMatch)?;
    let sizes: Vec<i64> = all.iter().map(|piece| piece.end - piece.start).collect();
    Ok(Some(vec![split(r, x, axis, &sizes)?[at]]))
}

/// Whether the only user of a `Slice` is another `Slice`.
fn is_sliced(f: &Function, op: OpId) -> Result<bool, EditError> {
    let mut uses = f.iter_uses(f.result(op, 0));
    let (Some(one), None) = (uses.next(), uses.next()) else {
        return Ok(false);
    };
    let is_slice = is(f, one.op, "onnx.Slice") && one.index == 0;
    Ok(is_slice && unless_no_match(slices::ranges(f, one.op))?.is_some())
}

/// Replaces a `Split` into single elements, each followed by a `Squeeze` of the axis, with `Gather`s.
fn element(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let piece = m.value(f, "piece");
    let op = defined_by(f, piece, "onnx.Split").ok_or(NoMatch)?;
    let (axis, sizes) = split_sizes(f, op)?;
    let x = f.operand(op, 0).ok_or(NoMatch)?;
    NoMatch::unless(!sizes.iter().any(|size| *size != 1))?;
    let rank = f.rank(x).unwrap_or(0);
    for result in f.results(op) {
        for one in f.iter_uses(*result) {
            NoMatch::unless(is(f, one.op, "onnx.Squeeze"))?;
            NoMatch::unless(axis_in(one_axis(f, one.op)?, rank) == Some(axis))?;
        }
    }
    let index = f.index(piece);
    let at = r.scalar(DType::I64, index as f64)?.ok_or(NoMatch)?;
    let gather = OpBuilder::new("onnx.Gather").operands([x, at]);
    Ok(Some(vec![r.op(gather.attr("axis", axis as i64))?]))
}

/// Returns the tensor and the piece of it that an operand of a `Concat` is.
fn piece_of(f: &Function, value: ValueId, at: usize) -> Result<(ValueId, Piece), EditError> {
    let op = value.option().and_then(|value| f.defining_op(value));
    let op = op.ok_or(NoMatch)?;
    let (axis, piece) = if is(f, op, "onnx.Slice") {
        sliced(f, op)?
    } else {
        NoMatch::unless(is(f, op, "onnx.Split"))?;
        let (axis, sizes) = split_sizes(f, op)?;
        (axis, pieces(&sizes)[f.index(value)])
    };
    NoMatch::unless(axis == at)?;
    Ok((operand(f, op, 0), piece))
}

/// Replaces a `Concat` of adjacent pieces with the tensor, or with one `Slice` of it.
fn merge(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let xs = m.values("xs");
    let y = m.value(f, "y");
    let axis = axis(m, f.rank(y))?;
    NoMatch::unless((2..=MAX_PIECES).contains(&xs.len()))?;
    let (x, first) = piece_of(f, xs[0], axis)?;
    let mut end = first.end;
    for value in &xs[1..] {
        let (other, piece) = piece_of(f, *value, axis)?;
        NoMatch::unless(other == x && piece.start == end)?;
        end = piece.end;
    }
    if first.start == 0 && Some(end) == size(f, x, axis) {
        return Ok(Some(vec![x]));
    }
    let range = Range {
        axis,
        start: first.start,
        end,
        step: 1,
    };
    Ok(Some(vec![slices::make(r, x, &[range])?]))
}

/// Flattens nested `Concat`s along the same axis with one use.
fn flatten(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let axis = m.int("axis").ok_or(NoMatch)?;
    let rank = f.rank(m.value(f, "y"));
    let same = |other: i64| {
        let placed = rank.map(|rank| axis_in(other, rank) == axis_in(axis, rank));
        placed.unwrap_or(other == axis)
    };
    let mut all = Vec::new();
    for &x in m.values("xs") {
        let inner = defined_by(f, x, "onnx.Concat").filter(|op| {
            f.use_count(x) == 1
                && matches!(f.attr(*op, "axis"), Some(Attr::Int(axis)) if same(axis))
        });
        match inner {
            Some(op) => all.extend(f.operands(op)),
            None => all.push(x),
        }
    }
    NoMatch::unless(all.len() != m.values("xs").len() && all.len() <= MAX_PIECES)?;
    let concat = OpBuilder::new("onnx.Concat").operands(all);
    Ok(Some(vec![r.op(concat.attr("axis", axis))?]))
}
