//! Transposes that cancel or merge: directly nested, with elementwise ops between them, and after ops with several
//! transposed operands.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::rewrite::compose;

use super::transposed_axes::{self, moved, reduced};
use crate::shared::read::{attrs, axes, axes_in, is, known_dims, like, perm, with_axes};

pub(super) static RULES: Rules = rules! {
    rule transpose_nothing { onnx.Transpose(%x) {perm = $p} => %x where identity($p) }
    rule transpose_of_transpose {
        %outer = onnx.Transpose(%inner)
    } => cancel_transposes;
    rule view_of_transpose {
        %inner = onnx.Transpose(%x)
        %outer = onnx.Reshape|onnx.Squeeze|onnx.Unsqueeze|onnx.Flatten(%inner, %rest...)
    } => units_elsewhere;
    rule reduction_of_transpose {
        %outer = onnx.ReduceMean|onnx.ReduceSum|onnx.ReduceMax|onnx.ReduceMin|onnx.ReduceProd|onnx.ReduceL1
            |onnx.ReduceL2|onnx.ReduceSumSquare|onnx.ReduceLogSum|onnx.ReduceLogSumExp|onnx.ArgMax
            |onnx.ArgMin(%inner, %axes...) {keepdims = 0}
    } => reduce_before;
    rule unsqueeze_of_transpose {
        %view = onnx.Reshape|onnx.Squeeze|onnx.Unsqueeze|onnx.Flatten(%x, %rest...)
        %inner = onnx.Transpose(%view)
        %outer = onnx.Unsqueeze(%inner, %axes...)
    } => unsqueeze_before;
};

/// The maximum number of ops between two Transposes.
const MAX_BETWEEN: usize = 32;

/// Builds a `Transpose`, or returns the value for the identity permutation.
pub(super) fn transpose(
    r: &mut Rewriter<'_>,
    value: ValueId,
    perm: &[i64],
) -> Result<ValueId, EditError> {
    if perm.is_sorted() {
        return Ok(value);
    }
    r.op(OpBuilder::new("onnx.Transpose")
        .operand(value)
        .attr("perm", perm))
}

/// Returns the inverse of a permutation.
pub(super) fn inverse(perm: &[i64]) -> Result<Vec<i64>, NoMatch> {
    let position = |axis: usize| perm.iter().position(|from| *from == axis as i64);
    let positions = (0..perm.len()).map(|axis| Some(position(axis)? as i64));
    positions.collect::<Option<_>>().ok_or(NoMatch)
}

/// Returns the operand and the permutation of the `Transpose` that defines a value.
pub(super) fn transpose_of(f: &Function, value: ValueId) -> Option<(ValueId, Vec<i64>)> {
    let op = f
        .defining_op(value)
        .filter(|&op| f.name(op) == "onnx.Transpose")?;
    Some((f.operand(op, 0)?, perm(f, op)?))
}

/// Replaces a `Transpose` and a view that only moves dims of 1 with one `Transpose`.
fn units_elsewhere(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, inner) = (m.value(f, "x"), m.value(f, "inner"));
    let perm = perm(f, m.op("inner")).ok_or(NoMatch)?;
    let dims = known_dims(f, x).ok_or(NoMatch)?;
    let expected = known_dims(f, m.value(f, "outer")).ok_or(NoMatch)?;
    NoMatch::unless(
        dims.len() == expected.len() && perm.len() == dims.len() && f.use_count(inner) == 1,
    )?;
    let unit = Dim::constant(1);
    let (mut units, mut others) = (Vec::new(), Vec::new());
    for axis in perm {
        let dim = usize::try_from(axis).ok().and_then(|at| dims.get(at));
        match *dim.ok_or(NoMatch)? {
            dim if dim == unit => units.push(axis),
            dim => others.push((axis, dim)),
        }
    }
    // The other dims keep their order, so any unit dim may be the source of a unit dim.
    units.sort_unstable();
    let (mut units, mut others) = (units.into_iter(), others.into_iter());
    let from = |dim: &Dim| match *dim == unit {
        true => units.next(),
        false => others
            .next()
            .filter(|(_, own)| own == dim)
            .map(|(axis, _)| axis),
    };
    let perm = expected
        .iter()
        .map(from)
        .collect::<Option<Vec<i64>>>()
        .ok_or(NoMatch)?;
    Ok(Some(vec![transpose(r, x, &perm)?]))
}

/// Moves an `Unsqueeze` before a Transpose, next to another view that it can merge with.
fn unsqueeze_before(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (view, inner) = (m.value(f, "view"), m.value(f, "inner"));
    let perm = perm(f, m.op("inner")).ok_or(NoMatch)?;
    let axes = axes(f, m.op("outer"))?;
    let added = axes.len();
    let axes = axes_in(&axes, perm.len() + added).ok_or(NoMatch)?;
    NoMatch::unless(f.use_count(view) == 1 && f.use_count(inner) == 1)?;
    // The new dims come first; the Transpose moves them to their axes.
    let front: Vec<i64> = (0..added as i64).collect();
    let (mut units, mut others) = (front.iter().copied(), perm.iter());
    let from = |axis: usize| match axes.contains(&axis) {
        true => units.next(),
        false => others.next().map(|from| from + added as i64),
    };
    let perm = (0..perm.len() + added)
        .map(from)
        .collect::<Option<Vec<i64>>>()
        .ok_or(NoMatch)?;
    let unsqueeze = OpBuilder::new("onnx.Unsqueeze").operand(view);
    let view = with_axes(r, unsqueeze, &front, 13)?;
    Ok(Some(vec![transpose(r, view, &perm)?]))
}

/// Merges two Transposes with ops between them. The ops don't depend on the order of axes, so both Transposes move
/// before them.
fn cancel_transposes(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let last = perm(f, m.op("outer")).ok_or(NoMatch)?;
    let above = above(f, m.value(f, "inner"), Sharing::Allowed).ok_or(NoMatch)?;
    Ok(Some(vec![above.without(r, m.root(), &last)?]))
}

/// A Transpose and a chain of users that could all use its operand instead.
pub(super) struct Above {
    source: ValueId,
    /// The permutation of the Transpose.
    pub(super) first: Vec<i64>,
    /// The results of the chain, from the last to the first, each with the index of the operand that leads to the
    /// Transpose.
    between: Vec<(ValueId, usize)>,
}

/// Whether values of the chain may have other users, if all of these end in Transposes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sharing {
    Allowed,
    None,
}

/// Finds the Transpose above a value and the chain between.
pub(super) fn above(f: &Function, value: ValueId, sharing: Sharing) -> Option<Above> {
    let mut between = Vec::new();
    let (source, first) = search(f, value, sharing, &mut between, &mut 0)?;
    between.reverse();
    Some(Above {
        source,
        first,
        between,
    })
}

/// Searches for a Transpose above a value, depth first through its operands.
fn search(
    f: &Function,
    value: ValueId,
    sharing: Sharing,
    between: &mut Vec<(ValueId, usize)>,
    visited: &mut usize,
) -> Option<(ValueId, Vec<i64>)> {
    if let Some(found) = transpose_of(f, value) {
        return Some(found);
    }
    *visited += 1;
    let op = may_move(f, value, sharing).filter(|_| *visited <= MAX_BETWEEN)?;
    for slot in slots(f, op, value) {
        if let Some(found) = search(f, f.operands(op).nth(slot)?, sharing, between, visited) {
            between.push((value, slot));
            return Some(found);
        }
    }
    None
}

impl Above {
    /// Builds the composition of both Transposes, and copies of the chain's ops after it.
    pub(super) fn without(
        &self,
        r: &mut Rewriter<'_>,
        root: OpId,
        last: &[i64],
    ) -> Result<ValueId, EditError> {
        let perm = compose(&self.first, last).ok_or(NoMatch)?;
        let mut value = transpose(r, self.source, &perm)?;
        for &(result, slot) in self.between.iter().rev() {
            let op = r.function().defining_op(result).ok_or(NoMatch)?;
            value = match r.function().traits(op).is_elementwise() {
                true => elementwise(r, root, op, slot, value, last)?,
                false => moved(r, root, result, value, last)?,
            };
        }
        Ok(value)
    }

    /// Returns the result of the Transpose on the path to `value`.
    pub(super) fn top(&self, f: &Function, value: ValueId) -> ValueId {
        let passed = |(result, slot): &(ValueId, usize)| {
            let op = f.defining_op(*result)?;
            f.operands(op).nth(*slot)
        };
        self.between
            .last()
            .map_or(Some(value), passed)
            .unwrap_or(value)
    }

    /// Returns the ops of the chain.
    pub(super) fn ops(&self, f: &Function) -> impl Iterator<Item = OpId> {
        let between = self.between.iter();
        between.filter_map(|(result, _)| f.defining_op(*result))
    }

    /// Whether no other operand needs a new Transpose. The next rewrite would find that Transpose, move it, and restore
    /// this one.
    fn is_last(&self, f: &Function, last: &[i64]) -> bool {
        let is_constant = |value| f.constant(value).is_some();
        let stays = |value: ValueId| {
            is_scalar(f, value)
                || is_constant(value)
                || transpose_of(f, value).is_some_and(|(source, own)| {
                    let both = compose(&own, last);
                    is_constant(source) || both.is_some_and(|both| both.is_sorted())
                })
        };
        let others = |&(result, slot): &(ValueId, usize)| {
            let Some(op) = f.defining_op(result) else {
                return false;
            };
            let is_elementwise = f.traits(op).is_elementwise();
            let passed = f.operands(op).nth(slot);
            let mut operands = f.operands(op).filter(|one| Some(*one) != passed);
            !is_elementwise || operands.all(stays)
        };
        !is_constant(self.source) && self.between.iter().all(others)
    }
}

/// Moves a reduction above a Transpose if the remaining axes keep their order.
fn reduce_before(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (inner, outer) = (m.value(f, "inner"), m.op("outer"));
    let above = above(f, inner, Sharing::Allowed).ok_or(NoMatch)?;
    let rank = above.first.len();
    let back = inverse(&above.first)?;
    let axes = reduced(f, outer, rank)?;
    let result = f.result(outer, 0);
    let left = back
        .iter()
        .filter(|from| !axes.contains(&(**from as usize)));
    NoMatch::unless(left.is_sorted() && f.use_count(inner) == 1 && above.is_last(f, &back))?;
    let value = above.without(r, m.root(), &back)?;
    Ok(Some(vec![moved(r, outer, result, value, &back)?]))
}

/// Builds a copy of an elementwise op with `value` as operand. Its other operands are transposed as well.
fn elementwise(
    r: &mut Rewriter<'_>,
    root: OpId,
    op: OpId,
    slot: usize,
    value: ValueId,
    last: &[i64],
) -> Result<ValueId, EditError> {
    let mut operands: Vec<ValueId> = r.function().operands(op).collect();
    let before = operands[slot];
    for operand in &mut operands {
        let f = r.function();
        if *operand == before {
            *operand = value;
        } else if let Some(other) = sibling(f, before, value, *operand) {
            *operand = other;
        } else if let Some((source, own)) = transpose_of(f, *operand) {
            let perm = compose(&own, last).ok_or(NoMatch)?;
            *operand = transpose(r, source, &perm)?;
        } else if let Some((source, shape)) = other_view(f, *operand, last) {
            let shape = r.ints(&shape)?;
            *operand = r.op(OpBuilder::new("onnx.Reshape").operands([source, shape]))?;
        } else if !is_scalar(f, *operand) {
            let whole = with_rank(r, *operand, last.len())?;
            *operand = transpose(r, whole, last)?;
        }
    }
    if let Some(equal_op) = find_equal_op(r.function(), root, op, &operands, None) {
        return Ok(r.function().result(equal_op, 0));
    }
    let moved = like(r.function(), op, &[])?;
    r.op(moved.operands(operands))
}

/// Returns the result of a moved multi-result op that corresponds to `other`, a result of the original op.
fn sibling(f: &Function, before: ValueId, value: ValueId, other: ValueId) -> Option<ValueId> {
    let (from, to) = (f.defining_op(before)?, f.defining_op(value)?);
    let is_moved = f.defining_op(other) == Some(from)
        && f.symbol(from) == f.symbol(to)
        && f.result_count(from) == f.result_count(to)
        && f.index(before) == f.index(value);
    is_moved.then(|| f.result(to, f.index(other)))
}

/// Returns the operand of a view and the transposed shape, if the permutation only moves dims of 1.
fn other_view(f: &Function, value: ValueId, last: &[i64]) -> Option<(ValueId, Vec<i64>)> {
    let op = f.defining_op(value)?;
    let is_view = is(f, op, "onnx.Reshape") || is(f, op, "onnx.Unsqueeze");
    let dims = f.shape(value).filter(|dims| !dims.contains(&0))?;
    let before = last.len().checked_sub(dims.len())?;
    if !is_view || f.use_count(value) != 1 || f.opset("") < Some(7) {
        return None;
    }
    let mut whole = vec![1; before];
    whole.extend(dims);
    let large = last
        .iter()
        .copied()
        .filter(|axis| whole[*axis as usize] != 1);
    let shape = last.iter().map(|axis| whole[*axis as usize]).collect();
    Some((f.operand(op, 0)?, shape)).filter(|_| large.is_sorted())
}

/// Prepends dims of 1 up to a rank. Only for constants, where this is free.
pub(super) fn with_rank(
    r: &mut Rewriter<'_>,
    value: ValueId,
    rank: usize,
) -> Result<ValueId, EditError> {
    let f = r.function();
    if f.rank(value) == Some(rank) {
        return Ok(value);
    }
    let dims = f.shape(value).ok_or(NoMatch)?;
    NoMatch::unless(f.opset("") >= Some(7) && dims.len() <= rank)?;
    NoMatch::unless(f.constant(value).is_some() && !dims.contains(&0))?;
    let mut shape = vec![1; rank - dims.len()];
    shape.extend(dims);
    let shape = r.ints(&shape)?;
    r.op(OpBuilder::new("onnx.Reshape").operands([value, shape]))
}

/// Whether all uses of a value are by one op.
pub(super) fn is_used_by_one(f: &Function, value: ValueId) -> bool {
    let mut users = f.iter_uses(value).map(|one| one.op);
    let first = users.next();
    (1..=2).contains(&f.use_count(value)) && users.all(|user| Some(user) == first)
}

/// Whether a value has rank 0 or is absent. One element of higher rank could raise the rank of the result.
pub(super) fn is_scalar(f: &Function, value: ValueId) -> bool {
    value.is_none() || f.rank(value) == Some(0)
}

/// Returns the op that defines a value if it is elementwise or [`moved`] supports it, and its results have no other
/// users or all end in Transposes.
fn may_move(f: &Function, value: ValueId, sharing: Sharing) -> Option<OpId> {
    let op = f.defining_op(value)?;
    let is_plain = (f.traits(op).is_elementwise() && f.result_count(op) == 1
        || transposed_axes::may_move(f, op))
        && f.traits(op).is_pure()
        && f.regions(op).is_empty();
    let is_used_by_one = f.result_count(op) == 1 && is_used_by_one(f, value);
    (is_plain
        && (is_used_by_one || sharing == Sharing::Allowed && ends_in_transposes(f, op, &mut 0)))
    .then_some(op)
}

/// Whether all results of an op are used by Transposes, or by elementwise ops for which this holds.
fn ends_in_transposes(f: &Function, op: OpId, visited: &mut usize) -> bool {
    let results = f.results(op).iter();
    results.clone().any(|result| f.use_count(*result) > 0)
        && results.flat_map(|result| f.iter_uses(*result)).all(|one| {
            *visited += 1;
            let is_unary = f.traits(one.op).is_elementwise()
                && f.result_count(one.op) == 1
                && f.operands(one.op)
                    .all(|operand| is_scalar(f, operand) || f.defining_op(operand) == Some(op));
            let is_near = f.parent_region(one.op) == f.parent_region(op);
            *visited <= MAX_BETWEEN
                && is_near
                && (is(f, one.op, "onnx.Transpose")
                    || is_unary && ends_in_transposes(f, one.op, visited))
        })
}

/// Returns the operand indices to search for a Transpose. Operands that are Transposes come first.
fn slots(f: &Function, op: OpId, value: ValueId) -> Vec<usize> {
    if !f.traits(op).is_elementwise() {
        return vec![0];
    }
    let rank = f.rank(value);
    // An operand of another rank is broadcast, so it has other dims.
    let operands = f.operands(op).enumerate().filter(|(_, operand)| {
        !operand.is_none()
            && f.constant(*operand).is_none()
            && f.rank(*operand) == rank
            && rank.is_some()
    });
    let mut slots: Vec<(bool, usize)> = operands
        .map(|(slot, operand)| (transpose_of(f, operand).is_none(), slot))
        .collect();
    slots.sort_unstable();
    slots.into_iter().map(|(_, slot)| slot).collect()
}

/// Returns an op before the root that is equal to `op` with these operands and this axis.
pub(super) fn find_equal_op(
    f: &Function,
    root: OpId,
    op: OpId,
    operands: &[ValueId],
    axis: Option<i64>,
) -> Option<OpId> {
    let value = operands
        .iter()
        .find(|value| f.constant(**value).is_none())?;
    if f.use_count(*value) > MAX_BETWEEN {
        return None;
    }
    let mut expected = attrs(f, op)?;
    for (name, value) in &mut expected {
        if let Some(axis) = axis.filter(|_| f.text(*name) == "axis") {
            *value = AttrValue::Int(axis);
        }
    }
    let mut users = f.iter_uses(*value).map(|one| one.op);
    users.find(|other| {
        *other != op
            && f.symbol(*other) == f.symbol(op)
            && f.result_count(*other) == f.result_count(op)
            && f.operands(*other).eq(operands.iter().copied())
            && f.parent_region(*other) == f.parent_region(root)
            && f.is_before(*other, root)
            && attrs(f, *other).as_ref() == Some(&expected)
    })
}
