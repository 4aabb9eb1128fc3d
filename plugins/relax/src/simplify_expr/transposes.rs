//! Transposes that meet: one after another, with ops between them that work element by element, and below ops that
//! take several of them.

use passdock_plugin_api::prelude::*;

use super::read::{axes_in, axis_in, int_or, ints_of, is, known_dims, like};
use super::slices::{self, Range};

pub(super) static RULES: Rules = rules! {
    rule transpose_nothing { onnx.Transpose(%x) {perm = $p} => %x where identity($p) }
    rule transpose_of_transpose {
        %outer = onnx.Transpose(%inner)
    } => meet;
    rule concat_of_transposes {
        %y = onnx.Concat(%xs...) {axis = $axis}
    } => concat;
    rule view_of_transpose {
        %inner = onnx.Transpose(%x)
        %outer = onnx.Reshape|onnx.Squeeze|onnx.Unsqueeze|onnx.Flatten(%inner, %rest...)
    } => units_elsewhere;
    rule reduction_of_transpose {
        %outer = onnx.ReduceMean|onnx.ReduceSum|onnx.ReduceMax|onnx.ReduceMin|onnx.ReduceProd|onnx.ReduceL2(%inner, %axes...) {keepdims = 0}
    } => reduce_before;
    rule unsqueeze_of_transpose {
        %view = onnx.Reshape|onnx.Squeeze|onnx.Unsqueeze|onnx.Flatten(%x, %rest...)
        %inner = onnx.Transpose(%view)
        %outer = onnx.Unsqueeze(%inner, %axes...)
    } => unsqueeze_before;
};

/// The most ops between two Transposes that are looked through.
const MOST_BETWEEN: usize = 32;

/// The permutation of a `Transpose`: without the attribute it turns the dims around.
fn perm(f: &Function, op: OpId) -> Option<Vec<i64>> {
    match f.attr(op, "perm") {
        Some(Attr::Ints(perm)) => Some(perm.to_vec()),
        Some(_) => None,
        None => Some((0..f.rank(f.result(op, 0))? as i64).rev().collect()),
    }
}

/// The permutation that does the first, then the second.
fn compose(first: &[i64], second: &[i64]) -> Option<Vec<i64>> {
    let axis = |at: &i64| first.get(usize::try_from(*at).ok()?).copied();
    match first.len() == second.len() {
        true => second.iter().map(axis).collect(),
        false => None,
    }
}

fn transpose(value: ValueId, perm: &[i64]) -> OpBuilder<'static> {
    OpBuilder::new("onnx.Transpose")
        .operand(value)
        .attr("perm", perm)
}

/// The op that makes a value, if it is a `Transpose`, with its permutation.
fn transpose_of(f: &Function, value: ValueId) -> Option<(ValueId, Vec<i64>)> {
    let op = f
        .defining_op(value)
        .filter(|&op| f.name(op) == "onnx.Transpose")?;
    Some((f.operand(op, 0)?, perm(f, op)?))
}

/// A view of what is transposed that only moves dims of 1 is a Transpose that puts those there.
fn units_elsewhere(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, inner) = (m.value(f, "x"), m.value(f, "inner"));
    let (Some(perm), Some(dims), Some(wanted)) = (
        perm(f, m.op("inner")),
        known_dims(f, x),
        known_dims(f, m.value(f, "outer")),
    ) else {
        return Ok(None);
    };
    if dims.len() != wanted.len() || perm.len() != dims.len() || f.use_count(inner) != 1 {
        return Ok(None);
    }
    let unit = Dim::constant(1);
    let (mut units, mut others) = (Vec::new(), Vec::new());
    for axis in perm {
        match usize::try_from(axis).ok().and_then(|at| dims.get(at)) {
            Some(dim) if *dim == unit => units.push(axis),
            Some(dim) => others.push((axis, *dim)),
            None => return Ok(None),
        }
    }
    // The other dims keep their order, so each unit dim may come from any.
    units.sort_unstable();
    let (mut units, mut others) = (units.into_iter(), others.into_iter());
    let from = |dim: &Dim| match *dim == unit {
        true => units.next(),
        false => others
            .next()
            .filter(|(_, own)| own == dim)
            .map(|(axis, _)| axis),
    };
    let Some(perm) = wanted.iter().map(from).collect::<Option<Vec<i64>>>() else {
        return Ok(None);
    };
    match perm.is_sorted() {
        true => Ok(Some(vec![x])),
        false => Ok(Some(vec![r.op(transpose(x, &perm))?])),
    }
}

/// Dims of 1 are put in before a Transpose instead of after it, where they meet another view.
fn unsqueeze_before(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (view, inner) = (m.value(f, "view"), m.value(f, "inner"));
    let (Some(perm), Some(Some(axes))) = (
        perm(f, m.op("inner")),
        ints_of(f, m.op("outer"), 1, "axes")?,
    ) else {
        return Ok(None);
    };
    let added = axes.len();
    let Some(axes) = axes_in(&axes, perm.len() + added) else {
        return Ok(None);
    };
    if f.use_count(view) != 1 || f.use_count(inner) != 1 {
        return Ok(None);
    }
    // The new dims come first; the Transpose takes them from there.
    let front: Vec<i64> = (0..added as i64).collect();
    let (mut units, mut others) = (front.iter().copied(), perm.iter());
    let from = |axis: usize| match axes.contains(&axis) {
        true => units.next(),
        false => others.next().map(|from| from + added as i64),
    };
    let Some(perm) = (0..perm.len() + added)
        .map(from)
        .collect::<Option<Vec<i64>>>()
    else {
        return Ok(None);
    };
    let unsqueeze = OpBuilder::new("onnx.Unsqueeze").operand(view);
    let unsqueeze = match f.opset("") >= Some(13) {
        true => unsqueeze.operand(r.ints(&front)?),
        false => unsqueeze.attr("axes", front),
    };
    let view = r.op(unsqueeze)?;
    Ok(Some(vec![r.op(transpose(view, &perm))?]))
}

/// Lets the ops between two Transposes work on what the first one transposes: each of them does the same to every
/// element, wherever it is. What is left of both Transposes stands before the ops.
fn meet(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let Some(last) = perm(f, m.op("outer")) else {
        return Ok(None);
    };
    let Some(above) = above(f, m.value(f, "inner")) else {
        return Ok(None);
    };
    Ok(above.without(r, &last)?.map(|value| vec![value]))
}

/// A Transpose and the ops that use what it makes, each the one before: all of them may work on what it transposes.
struct Above {
    source: ValueId,
    /// The Transpose's permutation.
    first: Vec<i64>,
    /// The ops between, the last one first, with the operand that each takes what is transposed by.
    between: Vec<(OpId, usize)>,
}

/// The Transpose above a value, and what is between.
fn above(f: &Function, value: ValueId) -> Option<Above> {
    let mut between = Vec::new();
    let mut value = value;
    loop {
        if let Some((source, first)) = transpose_of(f, value) {
            return Some(Above {
                source,
                first,
                between,
            });
        }
        let (op, slot) = step(f, value).filter(|_| between.len() < MOST_BETWEEN)?;
        between.push((op, slot));
        value = f.operands(op).nth(slot)?;
    }
}

impl Above {
    /// Makes what another Transpose, with this permutation, makes of all that: both of them before the ops.
    fn without(&self, r: &mut Rewriter<'_>, last: &[i64]) -> Result<Option<ValueId>, EditError> {
        let Some(perm) = compose(&self.first, last) else {
            return Ok(None);
        };
        let mut value = match perm.is_sorted() {
            true => self.source,
            false => r.op(transpose(self.source, &perm))?,
        };
        for &(op, slot) in self.between.iter().rev() {
            let moved = match r.function().traits(op).is_elementwise() {
                true => elementwise(r, op, slot, value, last)?,
                false => along_axes(r, op, value, last)?,
            };
            match moved {
                Some(moved) => value = moved,
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }
}

/// A reduction of what is transposed reduces the same axes where they were, if the others keep their order.
fn reduce_before(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (inner, outer) = (m.value(f, "inner"), m.op("outer"));
    let Some(above) = above(f, inner) else {
        return Ok(None);
    };
    let rank = above.first.len();
    let back = |axis: usize| above.first.iter().position(|from| *from == axis as i64);
    let back = (0..rank).map(|axis| back(axis).map(|at| at as i64));
    let (Some(back), Some(Some(axes))) = (
        back.collect::<Option<Vec<i64>>>(),
        ints_of(f, outer, 1, "axes")?,
    ) else {
        return Ok(None);
    };
    let Some(axes) = axes_in(&axes, rank).filter(|axes| !axes.is_empty()) else {
        return Ok(None);
    };
    let left = back
        .iter()
        .filter(|from| !axes.contains(&(**from as usize)));
    if !left.is_sorted() || f.use_count(inner) != 1 {
        return Ok(None);
    }
    match above.without(r, &back)? {
        Some(value) => Ok(along_axes(r, outer, value, &back)?.map(|value| vec![value])),
        None => Ok(None),
    }
}

/// An op that works element by element on what is transposed: its other operands are transposed, too.
fn elementwise(
    r: &mut Rewriter<'_>,
    op: OpId,
    slot: usize,
    value: ValueId,
    last: &[i64],
) -> Result<Option<ValueId>, EditError> {
    let mut operands: Vec<ValueId> = r.function().operands(op).collect();
    let before = operands[slot];
    for operand in &mut operands {
        let f = r.function();
        if *operand == before {
            *operand = value;
        } else if let Some((source, own)) = transpose_of(f, *operand) {
            let Some(perm) = compose(&own, last) else {
                return Ok(None);
            };
            *operand = match perm.is_sorted() {
                true => source,
                false => r.op(transpose(source, &perm))?,
            };
        } else if !is_scalar(f, *operand) {
            let Some(whole) = with_rank(r, *operand, last.len())? else {
                return Ok(None);
            };
            *operand = r.op(transpose(whole, last))?;
        }
    }
    let Some(moved) = like(r.function(), op, &[]) else {
        return Ok(None);
    };
    Ok(Some(r.op(moved.operands(operands))?))
}

/// A value with dims of 1 before its own. Only of a constant that costs nothing.
fn with_rank(
    r: &mut Rewriter<'_>,
    value: ValueId,
    rank: usize,
) -> Result<Option<ValueId>, EditError> {
    let f = r.function();
    let (Some(dims), true) = (f.shape(value), f.opset("") >= Some(7)) else {
        return Ok((f.rank(value) == Some(rank)).then_some(value));
    };
    if dims.len() == rank {
        return Ok(Some(value));
    }
    if dims.len() > rank || f.constant(value).is_none() || dims.contains(&0) {
        return Ok(None);
    }
    let mut shape = vec![1; rank - dims.len()];
    shape.extend(dims);
    let shape = r.ints(&shape)?;
    let reshape = OpBuilder::new("onnx.Reshape").operands([value, shape]);
    Ok(Some(r.op(reshape)?))
}

/// An op that works along axes, on what is transposed: its axes are where they were moved from.
fn along_axes(
    r: &mut Rewriter<'_>,
    op: OpId,
    value: ValueId,
    last: &[i64],
) -> Result<Option<ValueId>, EditError> {
    let f = r.function();
    let moved = |axis: usize| last.iter().position(|from| *from == axis as i64);
    if is(f, op, "onnx.Slice") {
        let ranges = slices::ranges(f, op)?.and_then(|ranges| {
            let range = |range: Range| {
                let axis = moved(range.axis)?;
                Some(Range { axis, ..range })
            };
            ranges.into_iter().map(range).collect::<Option<Vec<_>>>()
        });
        return match ranges {
            Some(ranges) => slices::make(r, value, &ranges),
            None => Ok(None),
        };
    }
    if is_softmax(f, op) {
        let axis = int_or(f, op, "axis", -1).and_then(|axis| moved(axis_in(axis, last.len())?));
        let made = axis.zip(like(f, op, &["axis"]));
        let made = made.map(|(axis, made)| made.operand(value).attr("axis", axis as i64));
        return made.map(|made| r.op(made)).transpose();
    }
    let axes = ints_of(f, op, 1, "axes")?.flatten();
    let axes = axes.and_then(|axes| {
        let axes = axes_in(&axes, last.len())?.into_iter();
        axes.map(|axis| moved(axis).map(|axis| axis as i64))
            .collect::<Option<Vec<i64>>>()
    });
    let (Some(axes), Some(made)) = (axes, like(f, op, &["axes"])) else {
        return Ok(None);
    };
    let is_operand = f.operand(op, 1).is_some();
    let made = made.operand(value);
    let made = match is_operand {
        true => made.operand(r.ints(&axes)?),
        false => made.attr("axes", axes),
    };
    Ok(Some(r.op(made)?))
}

/// Whether an op is a softmax along one axis. Before opset 13 it is one of all axes from there on.
fn is_softmax(f: &Function, op: OpId) -> bool {
    f.opset("") >= Some(13) && (is(f, op, "onnx.Softmax") || is(f, op, "onnx.LogSoftmax"))
}

/// Whether an op works along axes that `along_axes` can move.
fn works_along_axes(f: &Function, op: OpId) -> bool {
    const REDUCTIONS: [&str; 6] = [
        "onnx.ReduceMean",
        "onnx.ReduceSum",
        "onnx.ReduceMax",
        "onnx.ReduceMin",
        "onnx.ReduceProd",
        "onnx.ReduceL2",
    ];
    let is_reduction =
        || REDUCTIONS.iter().any(|name| is(f, op, name)) && int_or(f, op, "keepdims", 1) == Some(1);
    is(f, op, "onnx.Slice") || is_softmax(f, op) || is_reduction()
}

/// Whether one op uses a value, be it as several of its operands.
fn is_used_by_one(f: &Function, value: ValueId) -> bool {
    let mut users = f.iter_uses(value).map(|one| one.op);
    let first = users.next();
    (1..=2).contains(&f.use_count(value)) && users.all(|user| Some(user) == first)
}

/// Whether a value is one element, whatever the rank it is written with is no larger than what it meets.
fn is_scalar(f: &Function, value: ValueId) -> bool {
    value.is_none() || f.rank(value) == Some(0)
}

/// The op that makes a value, if it works element by element and only this is made of it; and which of its operands a
/// Transpose may come by.
fn step(f: &Function, value: ValueId) -> Option<(OpId, usize)> {
    let op = f.defining_op(value)?;
    let moves_axes = works_along_axes(f, op);
    let is_plain = (f.traits(op).is_elementwise() || moves_axes)
        && f.traits(op).is_pure()
        && f.result_count(op) == 1
        && f.regions(op).is_empty()
        && is_used_by_one(f, value);
    if !is_plain {
        return None;
    }
    if moves_axes {
        return Some((op, 0));
    }
    let rank = f.rank(value)?;
    let mut slots = f.operands(op).enumerate();
    // What is stretched by another operand has other dims.
    let (slot, _) = slots.find(|(_, operand)| {
        !operand.is_none()
            && f.constant(*operand).is_none()
            && f.rank(*operand) == Some(rank)
            && f.defining_op(*operand).is_some_and(|def| {
                f.name(def) == "onnx.Transpose"
                    || f.traits(def).is_elementwise()
                    || works_along_axes(f, def)
            })
    })?;
    Some((op, slot))
}

/// A `Concat` of what is all transposed the same way is transposed once.
fn concat(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let xs = m.values("xs");
    let Some((_, perm)) = xs.first().and_then(|&x| transpose_of(f, x)) else {
        return Ok(None);
    };
    let sources = xs.iter().map(|&x| {
        let (source, own) = transpose_of(f, x)?;
        (own == perm).then_some(source)
    });
    let Some(sources) = sources.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let axis = m.int("axis").map(|axis| {
        if axis < 0 {
            axis + perm.len() as i64
        } else {
            axis
        }
    });
    let Some(&axis) = axis.and_then(|axis| perm.get(usize::try_from(axis).ok()?)) else {
        return Ok(None);
    };
    let concat = OpBuilder::new("onnx.Concat")
        .operands(sources)
        .attr("axis", axis);
    let concat = r.op(concat)?;
    Ok(Some(vec![r.op(transpose(concat, &perm))?]))
}
