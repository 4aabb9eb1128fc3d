//! Moves elementwise ops above views, so that the views around them cancel or merge; and concatenations of views.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use super::broadcast_views::{Below, Runs};
use super::views::reshape;
use crate::shared::read::{
    axes, axes_in, axis_in, is, is_view, known_dims, like, operand, unless_no_match, viewed,
};

pub(super) static RULES: Rules = rules! {
    rule view_after_ops keeps_type {
        %outer = onnx.Reshape|onnx.Squeeze|onnx.Unsqueeze|onnx.Flatten(%inner, %rest...)
    } => hoist_above_views;
    rule concat_of_views {
        %y = onnx.Concat(%xs...) {axis = $axis}
    } => concat;
};

/// The maximum number of ops between views, and of broadcast values.
const MAX_BETWEEN: usize = 16;

/// The maximum number of uses of a value between views. A value with more uses has users outside.
const MAX_USES: usize = 4 * MAX_BETWEEN;

/// Whether an op is pure, elementwise and has one result.
fn is_plain(f: &Function, op: OpId) -> bool {
    let traits = f.traits(op);
    traits.is_elementwise()
        && traits.is_pure()
        && f.regions(op).is_empty()
        && f.result_count(op) == 1
}

/// Elementwise ops and the views above them.
#[derive(Default)]
struct Between {
    /// The results of the ops, in program order.
    created: Vec<ValueId>,
    views: Vec<OpId>,
    /// The operands that the ops broadcast, and how many of those are views without other users.
    broadcast: Vec<ValueId>,
    last_broadcast: usize,
    /// The number of views without other users.
    last_views: usize,
    visited: usize,
}

impl Between {
    /// Collects the ops between a view and the views above it.
    fn above(f: &Function, root: OpId, value: ValueId) -> Option<Between> {
        let mut between = Between::default();
        between.search(f, value)?;
        let is_own = |user: OpId| {
            user == root
                || f.result_count(user) == 1 && between.created.contains(&f.result(user, 0))
        };
        let is_all = |value: &ValueId| {
            f.use_count(*value) <= MAX_USES && f.iter_uses(*value).all(|one| is_own(one.op))
        };
        let views = between.views.iter().map(|view| f.result(*view, 0));
        let last_views = views.filter(is_all).count();
        let is_last = |value: &&ValueId| viewed(f, **value).is_some() && is_all(value);
        let last_broadcast = between.broadcast.iter().filter(is_last).count();
        let is_alone = between.created.iter().all(is_all);
        is_alone.then_some(Between {
            last_views,
            last_broadcast,
            ..between
        })
    }

    fn search(&mut self, f: &Function, value: ValueId) -> Option<()> {
        let op = f.defining_op(value)?;
        if self.created.contains(&value) || self.views.contains(&op) {
            return Some(());
        }
        self.visited += 1;
        if is_view(f, op) {
            self.views.push(op);
            return Some(());
        }
        if self.visited > MAX_BETWEEN || !is_plain(f, op) {
            return None;
        }
        let is_scalar = |value: &ValueId| value.is_none() || f.rank(*value) == Some(0);
        let mut passed: Vec<ValueId> = f.operands(op).filter(|one| !is_scalar(one)).collect();
        let dims = |value: &ValueId| known_dims(f, *value);
        let is_even = passed.windows(2).all(|two| {
            two[0] == two[1] || dims(&two[0]).is_some_and(|own| Some(own) == dims(&two[1]))
        });
        let is_constant = |value: &ValueId| f.constant(*value).is_some();
        if !is_even || passed.iter().any(is_constant) {
            // Before opset 7, an attribute controls broadcasting.
            let whole = dims(&value).filter(|_| f.opset("") >= Some(7))?;
            let is_whole = |one: &ValueId| !is_constant(one) && dims(one).as_ref() == Some(&whole);
            let broadcast = passed.iter().copied().filter(|one| !is_whole(one));
            for one in broadcast {
                if !self.broadcast.contains(&one) {
                    self.broadcast.push(one);
                }
                if self.broadcast.len() > MAX_BETWEEN {
                    return None;
                }
            }
            passed.retain(is_whole);
        }
        if passed.is_empty() {
            return None;
        }
        for operand in passed {
            self.search(f, operand)?;
        }
        self.created.push(value);
        Some(())
    }
}

/// Whether an `Unsqueeze` and a `Squeeze` cancel, by their axes.
fn undoes(f: &Function, inner: OpId, outer: OpId) -> Result<bool, EditError> {
    let (unsqueeze, squeeze) = ("onnx.Unsqueeze", "onnx.Squeeze");
    let is_pair = is(f, inner, unsqueeze) && is(f, outer, squeeze)
        || is(f, inner, squeeze) && is(f, outer, unsqueeze);
    if !is_pair {
        return Ok(false);
    }
    let axes = unless_no_match(axes(f, inner))?.zip(unless_no_match(axes(f, outer))?);
    let Some((a, b)) = axes else {
        return Ok(false);
    };
    // The axes refer to the longer shape: the operand of the op that is a `Squeeze`.
    let longer = if is(f, inner, squeeze) { inner } else { outer };
    let longer = f.rank(operand(f, longer, 0));
    let placed = |axes: &[i64]| match longer {
        Some(rank) => axes_in(axes, rank),
        None => axes_in(axes, usize::MAX >> 1).filter(|_| axes.iter().all(|axis| *axis >= 0)),
    };
    Ok(placed(&a).is_some() && placed(&a) == placed(&b))
}

/// Whether two values have the same dims, all of them known.
fn has_same_dims(f: &Function, a: ValueId, b: ValueId) -> bool {
    known_dims(f, a).is_some_and(|dims| Some(dims) == known_dims(f, b))
}

/// Moves ops between views above the views, of which one or none remains.
fn hoist_above_views(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (outer, inner) = (m.value(f, "outer"), m.value(f, "inner"));
    let between = Between::above(f, m.root(), inner).ok_or(NoMatch)?;
    let mut moved: HashMap<ValueId, ValueId> = HashMap::new();
    for &view in &between.views {
        let x = f.operand(view, 0).ok_or(NoMatch)?;
        moved.insert(f.result(view, 0), x);
    }
    let is_same = moved.values().all(|x| has_same_dims(f, *x, outer));
    let becomes_dead = between.last_views == between.views.len();
    let undoes = match between.views[..] {
        [view] => undoes(f, view, m.root())?,
        _ => false,
    };
    // Without ops between them, the rule `view_of_view` applies.
    let is_near = between.created.is_empty() && !(undoes && becomes_dead);
    let is_less = undoes || is_same || becomes_dead && between.views.len() == 1;
    NoMatch::unless(!is_near && is_less)?;
    if !between.broadcast.is_empty() {
        let below = below(f, inner, &between, &moved).ok_or(NoMatch)?;
        let removed = 1 + between.last_views + between.last_broadcast;
        let new_op = below.iter().filter(|(_, one)| one.is_op(f)).count();
        NoMatch::unless(new_op + usize::from(!undoes && !is_same) < removed)?;
        for (value, below) in below {
            moved.insert(value, below.make(r)?);
        }
    }
    for result in between.created {
        let f = r.function();
        let op = f.defining_op(result).ok_or(NoMatch)?;
        let own = |value| moved.get(&value).copied().unwrap_or(value);
        let operands: Vec<ValueId> = f.operands(op).map(own).collect();
        let new_op = like(f, op, &[])?;
        moved.insert(result, r.op(new_op.operands(operands))?);
    }
    let &value = (moved.get(&inner)).ok_or(NoMatch)?;
    match undoes || is_same {
        true => Ok(Some(vec![value])),
        false => reshape(r, value, outer),
    }
}

/// Returns the broadcast operands in the form that matches the shape above the views.
fn below(
    f: &Function,
    inner: ValueId,
    between: &Between,
    sources: &HashMap<ValueId, ValueId>,
) -> Option<Vec<(ValueId, Below)>> {
    let own = known_dims(f, inner)?;
    let mut existing = sources.values().map(|&x| known_dims(f, x));
    let first = existing.next()??;
    let is_even = existing.all(|dims| dims.as_ref() == Some(&first));
    let mut views = sources.keys();
    let fits = is_even && views.all(|&view| known_dims(f, view).as_ref() == Some(&own));
    let runs = Runs::between(own, first).filter(|_| fits)?;
    let values = between.broadcast.iter();
    let below = values.map(|&value| Some((value, Below::from_value(f, value, &runs)?)));
    below.collect()
}

/// Replaces a `Concat` of views with a view of one `Concat` if that keeps the order of elements and leaves fewer views.
fn concat(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (xs, y) = (m.values("xs"), m.root());
    let whole = f.result(y, 0);
    let sources = xs
        .iter()
        .map(|&x| viewed(f, x))
        .collect::<Option<Vec<_>>>()
        .ok_or(NoMatch)?;
    let mut removed: Vec<ValueId> = xs.to_vec();
    removed.sort_unstable_by_key(|value| value.0);
    removed.dedup();
    let is_own = |&x: &ValueId| f.iter_uses(x).all(|one| one.op == y);
    removed.retain(|x| f.use_count(*x) <= xs.len() && is_own(x));
    let axis = m.int("axis").ok_or(NoMatch)?;
    NoMatch::unless(removed.len() > 1)?;
    let dims = |values: &[ValueId]| -> Option<Vec<Vec<Dim>>> {
        values.iter().map(|&value| known_dims(f, value)).collect()
    };
    let views = dims(xs).ok_or(NoMatch)?;
    let shapes = dims(&sources).ok_or(NoMatch)?;
    let axis = axis_in(axis, views[0].len()).ok_or(NoMatch)?;
    let existing = joined_axis(&shapes, &views[0][..axis]).ok_or(NoMatch)?;
    let concat = OpBuilder::new("onnx.Concat").operands(sources);
    let value = r.op(concat.attr("axis", existing as i64))?;
    match has_same_dims(r.function(), value, whole) {
        true => Ok(Some(vec![value])),
        false => reshape(r, value, whole),
    }
}

/// Returns the axis along which to concatenate shapes. It has as many elements before it as `before`, and it is the
/// only axis in which the shapes differ. If none differs, it is the last such axis.
fn joined_axis(shapes: &[Vec<Dim>], before: &[Dim]) -> Option<usize> {
    let (first, others) = shapes.split_first()?;
    if others.iter().any(|other| other.len() != first.len()) {
        return None;
    }
    let before = extent(before)?;
    let differs = |at: &usize| others.iter().any(|other| other[*at] != first[*at]);
    let differing: Vec<usize> = (0..first.len()).filter(differs).collect();
    let is_boundary = |at: &usize| extent(&first[..*at]).as_ref() == Some(&before);
    match differing[..] {
        [] => (0..first.len()).rev().find(is_boundary),
        [at] => Some(at).filter(is_boundary),
        _ => None,
    }
}

/// Returns the number of elements of dims: the product of sizes, and the symbols in order.
fn extent(dims: &[Dim]) -> Option<(i64, Vec<Dim>)> {
    let (mut size, mut symbols) = (1_i64, Vec::new());
    for dim in dims {
        match dim.as_const() {
            Some(own) => size = size.checked_mul(own)?,
            None => symbols.push(*dim),
        }
    }
    Some((size, symbols))
}
