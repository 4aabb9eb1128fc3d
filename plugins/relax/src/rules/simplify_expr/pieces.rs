//! Pieces of a tensor along one axis: those that cover it are one `Split`, and put together they are the tensor.

use passdock_plugin_api::prelude::*;

use super::slices::{self, Range};
use crate::rules::shared::read::{axis_in, int_or, ints_of, is, made_by, results};

pub(super) static RULES: Rules = rules! {
    rule split_of_slices keeps_type { %y = onnx.Slice(%x, %rest...) } => split_of_slices;
    rule squeezes_of_split {
        %y = onnx.Squeeze(%piece, %axes...)
    } => element;
    rule split_whole { onnx.Split(%x, %rest...) => %x }
    rule concat_of_pieces { %y = onnx.Concat(%xs...) {axis = $axis} } => put_together;
    rule concat_of_concats { %y = onnx.Concat(%xs...) {axis = $axis} } => flatten;
};

/// The most users of a value, pieces of an axis and operands of a `Concat` that are looked at.
pub(super) const MOST: usize = 128;

/// A part of a tensor along an axis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    pub(super) start: i64,
    pub(super) end: i64,
}

/// Where the pieces of these sizes begin and end.
pub(super) fn pieces(sizes: &[i64]) -> Vec<Piece> {
    let mut start = 0;
    let piece = |size: &i64| {
        let piece = Piece {
            start,
            end: start + size,
        };
        start = piece.end;
        piece
    };
    sizes.iter().map(piece).collect()
}

/// The axis and the piece of it that a `Slice` takes, with step 1, of a dim whose size is known.
fn sliced(f: &Function, op: OpId) -> Result<Option<(usize, Piece)>, EditError> {
    let Some(ranges) = slices::ranges(f, op)? else {
        return Ok(None);
    };
    let x = f.operand(op, 0).unwrap_or(ValueId::NONE);
    let size = |axis: usize| f.dims(x)?.get(axis)?.as_const();
    Ok(match ranges[..] {
        [range @ Range { axis, step: 1, .. }] => size(axis).map(|size| {
            let (start, end) = range.within(size);
            (axis, Piece { start, end })
        }),
        _ => None,
    })
}

/// The axis and the sizes of a `Split`.
pub(super) fn split_sizes(f: &Function, op: OpId) -> Result<Option<(usize, Vec<i64>)>, EditError> {
    if f.result_count(op) > MOST {
        return Ok(None);
    }
    let axis = f
        .operand(op, 0)
        .and_then(|x| f.rank(x))
        .zip(int_or(f, op, "axis", 0))
        .and_then(|(rank, axis)| axis_in(axis, rank));
    let (Some(axis), Some(given)) = (axis, ints_of(f, op, 1, "split")?) else {
        return Ok(None);
    };
    let inferred = || {
        let size = |result: &ValueId| f.dims(*result)?.get(axis)?.as_const();
        f.results(op).iter().map(size).collect()
    };
    Ok(given.or_else(inferred).map(|sizes| (axis, sizes)))
}

/// The piece of a value along an axis, if a `Split` before the root already makes it.
pub(super) fn existing(
    f: &Function,
    x: ValueId,
    root: OpId,
    at: usize,
    wanted: Piece,
) -> Result<Option<ValueId>, EditError> {
    if f.use_count(x) > MOST {
        return Ok(None);
    }
    for one in f.iter_uses(x) {
        let is_before =
            f.parent_region(one.op) == f.parent_region(root) && f.is_before(one.op, root);
        if one.index != 0 || !is(f, one.op, "onnx.Split") || !is_before {
            continue;
        }
        if let Some((axis, sizes)) = split_sizes(f, one.op)? {
            let found = pieces(&sizes).iter().position(|piece| *piece == wanted);
            if let Some(index) = found.filter(|_| axis == at) {
                return Ok(f.results(one.op).get(index).copied());
            }
        }
    }
    Ok(None)
}

/// Makes a `Split`, in the form that the function's opset has. Pieces of a constant are constants, which are folded.
pub(super) fn split(
    r: &mut Rewriter<'_>,
    x: ValueId,
    axis: usize,
    sizes: &[i64],
) -> Result<Option<Vec<ValueId>>, EditError> {
    if r.function().constant(x).is_some() {
        return Ok(None);
    }
    let split = OpBuilder::new("onnx.Split")
        .operand(x)
        .attr("axis", axis as i64);
    let split = match r.function().opset("") {
        Some(13..) => {
            let sizes = r.ints(sizes)?;
            split.operand(sizes)
        }
        Some(2..=12) => split.attr("split", sizes),
        _ => return Ok(None),
    };
    let first = r.op(split.untyped_results(sizes.len()))?;
    Ok(Some(results(r.function(), first)))
}

/// `Slice`s of one value that cover an axis are results of one `Split`. The first of them makes it.
fn split_of_slices(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, root) = (m.value(f, "x"), m.root());
    let uses = f.use_count(x);
    if !(2..=MOST).contains(&uses) {
        return Ok(None);
    }
    let Some((axis, piece)) = sliced(f, root)? else {
        return Ok(None);
    };
    if let Some(found) = existing(f, x, root, axis, piece)? {
        return Ok(Some(vec![found]));
    }
    let (mut all, mut sliced_again) = (Vec::new(), 0);
    let mut ops: Vec<OpId> = f.iter_uses(x).map(|one| one.op).collect();
    ops.sort_unstable();
    ops.dedup();
    for op in ops {
        let is_beside = is(f, op, "onnx.Slice") && f.parent_region(op) == f.parent_region(root);
        match is_beside.then(|| sliced(f, op)).transpose()?.flatten() {
            Some((other, piece)) if other == axis && f.operand(op, 0) == Some(x) => {
                if op != root && f.is_before(op, root) {
                    return Ok(None);
                }
                all.push(piece);
                sliced_again += usize::from(is_sliced(f, op)?);
            }
            _ => {}
        }
    }
    all.sort_unstable();
    all.dedup();
    let size = f
        .dims(x)
        .and_then(|dims| dims.get(axis))
        .and_then(Dim::as_const);
    let meet = all.windows(2).all(|two| two[0].end == two[1].start);
    // What is sliced again anyway could be at once.
    let covers = meet
        && all.len() > sliced_again + 1
        && all[0].start == 0
        && all.last().map(|last| last.end) == size
        && all.iter().all(|piece| piece.start < piece.end);
    let Some(at) = all.iter().position(|one| *one == piece).filter(|_| covers) else {
        return Ok(None);
    };
    let sizes: Vec<i64> = all.iter().map(|piece| piece.end - piece.start).collect();
    let made = split(r, x, axis, &sizes)?;
    Ok(made.map(|results| vec![results[at]]))
}

/// Whether only another `Slice` uses what one takes.
fn is_sliced(f: &Function, op: OpId) -> Result<bool, EditError> {
    let result = f.result(op, 0);
    let mut uses = f.iter_uses(result);
    Ok(match (uses.next(), uses.next()) {
        (Some(one), None) => {
            is(f, one.op, "onnx.Slice") && one.index == 0 && slices::ranges(f, one.op)?.is_some()
        }
        _ => false,
    })
}

/// What a `Split` takes one by one and `Squeeze`s then take the axis of, `Gather`s do.
fn element(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let piece = m.value(f, "piece");
    let Some(op) = made_by(f, piece, "onnx.Split") else {
        return Ok(None);
    };
    let (Some((axis, sizes)), Some(x)) = (split_sizes(f, op)?, f.operand(op, 0)) else {
        return Ok(None);
    };
    if sizes.iter().any(|size| *size != 1) {
        return Ok(None);
    }
    let rank = f.rank(x).unwrap_or(0);
    for result in f.results(op) {
        for one in f.iter_uses(*result) {
            let taken = match is(f, one.op, "onnx.Squeeze") {
                true => ints_of(f, one.op, 1, "axes")?.flatten(),
                false => None,
            };
            match taken.as_deref() {
                Some([taken]) if axis_in(*taken, rank) == Some(axis) => {}
                _ => return Ok(None),
            }
        }
    }
    let index = f.index(piece);
    let Some(at) = r.scalar(DType::I64, index as f64)? else {
        return Ok(None);
    };
    let gather = OpBuilder::new("onnx.Gather").operands([x, at]);
    Ok(Some(vec![r.op(gather.attr("axis", axis as i64))?]))
}

/// What an operand of a `Concat` is a piece of.
fn piece_of(
    f: &Function,
    value: ValueId,
    at: usize,
) -> Result<Option<(ValueId, Piece)>, EditError> {
    let found = if let Some(op) = made_by(f, value, "onnx.Slice") {
        let sliced = sliced(f, op)?;
        sliced.map(|(axis, piece)| (op, axis, piece))
    } else if let Some(op) = made_by(f, value, "onnx.Split") {
        split_sizes(f, op)?.map(|(axis, sizes)| (op, axis, pieces(&sizes)[f.index(value)]))
    } else {
        None
    };
    Ok(match found {
        Some((op, axis, piece)) if axis == at => f.operand(op, 0).map(|x| (x, piece)),
        _ => None,
    })
}

/// A `Concat` of neighbouring pieces, in order, is the tensor that they are of, or one `Slice` of it.
fn put_together(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let xs = m.values("xs");
    let y = m.value(f, "y");
    let axis = m
        .int("axis")
        .zip(f.rank(y))
        .and_then(|(axis, rank)| axis_in(axis, rank));
    let Some(axis) = axis.filter(|_| (2..=MOST).contains(&xs.len())) else {
        return Ok(None);
    };
    let Some((x, first)) = piece_of(f, xs[0], axis)? else {
        return Ok(None);
    };
    let mut end = first.end;
    for value in &xs[1..] {
        match piece_of(f, *value, axis)? {
            Some((other, piece)) if other == x && piece.start == end => end = piece.end,
            _ => return Ok(None),
        }
    }
    let size = f
        .dims(x)
        .and_then(|dims| dims.get(axis))
        .and_then(Dim::as_const);
    if first.start == 0 && Some(end) == size {
        return Ok(Some(vec![x]));
    }
    let range = Range {
        axis,
        start: first.start,
        end,
        step: 1,
    };
    Ok(slices::make(r, x, &[range])?.map(|slice| vec![slice]))
}

/// A `Concat` takes what `Concat`s on the same axis give to it alone.
fn flatten(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let Some(axis) = m.int("axis") else {
        return Ok(None);
    };
    let rank = f.rank(m.value(f, "y"));
    let same = |other: i64| {
        let placed = rank.map(|rank| axis_in(other, rank) == axis_in(axis, rank));
        placed.unwrap_or(other == axis)
    };
    let mut all = Vec::new();
    for &x in m.values("xs") {
        let inner = made_by(f, x, "onnx.Concat").filter(|op| {
            f.use_count(x) == 1
                && matches!(f.attr(*op, "axis"), Some(Attr::Int(axis)) if same(axis))
        });
        match inner {
            Some(op) => all.extend(f.operands(op)),
            None => all.push(x),
        }
    }
    if all.len() == m.values("xs").len() || all.len() > MOST {
        return Ok(None);
    }
    let concat = OpBuilder::new("onnx.Concat").operands(all);
    Ok(Some(vec![r.op(concat.attr("axis", axis))?]))
}
