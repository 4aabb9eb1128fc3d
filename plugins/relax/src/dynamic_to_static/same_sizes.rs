//! Values with unknown but equal elements: each is computed once.
//!
//! A value is replaced by an earlier one if both have the same elements: the same symbols or expressions, in the same
//! order. A value whose elements all occur in the `Shape` it is derived from becomes a `Gather` of that shape. Both
//! hold for every size, including 0, as equal ids are equal sizes.

use std::collections::HashMap;

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

use super::computes_shape;
use crate::shared::column::live_ops;
use crate::shared::read::{add_tensor, operand};

const SHAPE: &str = "onnx.Shape";
const GATHER: &str = "onnx.Gather";

/// The opset version since which `Shape` has `start` and `end`.
const RANGES: i64 = 15;

/// The maximum number of values with equal elements that are compared, and of ops that the search for a `Shape` visits.
const CANDIDATES: usize = 16;
const MAX_DISTANCE: usize = 32;

/// A type, and the elements of a value of that type.
type Key = (TypeId, Vec<(DimKind, i64)>);

/// Replaces duplicates among the live ops; dead code is skipped, as it is removed later.
pub(super) fn same_sizes(f: &mut Function) -> PassResult {
    let mut sizes = SameSizes::default();
    let live = live_ops(f)?;
    for op in f.ops() {
        if live.get(op.index()) && computes_shape(f, op) && f.traits(op).is_pure() {
            sizes.visit(f, op)?;
        }
    }
    gather_at_once(f)
}

/// The values that were visited, in program order.
#[derive(Default)]
struct SameSizes {
    known: HashMap<Key, Vec<ValueId>>,
}

impl SameSizes {
    /// Visits an op that computes shape data. Ops are visited in program order.
    fn visit(&mut self, f: &mut Function, op: OpId) -> PassResult {
        let &[result] = f.results(op) else {
            return Ok(());
        };
        let Some(dims) = elements(f, result) else {
            return Ok(());
        };
        if f.use_count(result) == 0 || dims.iter().all(|dim| dim.kind == DimKind::CONST) {
            return Ok(());
        }
        let key = (
            f.type_id(result),
            dims.iter().map(|dim| (dim.kind, dim.value)).collect(),
        );
        let same = self.known.entry(key).or_default();
        let is_visible_here = |&&value: &&ValueId| is_visible(f, value, op);
        if let Some(&other) = same.iter().take(CANDIDATES).find(is_visible_here) {
            // A yielded value keeps its name.
            if !is_yielded(f, result) {
                f.replace_uses(result, other)?;
            }
            return Ok(());
        }
        same.push(result);
        if f.dtype(result) == Some(DType::I64)
            && let Some((shape, positions)) = source(f, op, &dims)
        {
            let at = same.len() - 1;
            let sizes = f.shape(result).unwrap_or_default();
            let positions: Vec<u8> = positions.iter().flat_map(|at| at.to_le_bytes()).collect();
            let positions = add_tensor(f, DType::I64, &sizes, &positions)?;
            let gather = OpBuilder::new(GATHER)
                .operands([shape, positions])
                .attr("axis", 0)
                .result(f.type_id(result))
                .loc(f.loc(op));
            let gather = f.replace_op(op, gather)?;
            same[at] = f.result(gather, 0);
        }
        Ok(())
    }
}

/// Replaces gathers of contiguous ranges of a `Shape` with `Shape` ops with `start` and `end`. All live users must be
/// such gathers, so that the original `Shape` becomes dead.
fn gather_at_once(f: &mut Function) -> PassResult {
    if f.opset("").is_none_or(|version| version < RANGES) {
        return Ok(());
    }
    let live = live_ops(f)?;
    for shape in f.ops_named(SHAPE) {
        if f.attr(shape, "start").is_some() || f.attr(shape, "end").is_some() {
            continue;
        }
        let Some(of) = f.operand(shape, 0) else {
            continue;
        };
        let is_live = |op: &OpId| live.get(op.index());
        let users: Vec<OpId> = f.users(f.result(shape, 0)).filter(is_live).collect();
        let ranges = users.iter().map(|&user| range(f, user, f.rank(of)));
        let Some(ranges) = ranges.collect::<Option<Vec<(i64, i64)>>>() else {
            continue;
        };
        for (user, (start, end)) in users.into_iter().zip(ranges) {
            let mut part = OpBuilder::new(SHAPE)
                .operand(of)
                .attr("end", end)
                .result(f.type_id(f.result(user, 0)))
                .loc(f.loc(user));
            // An explicit default would hide that two ops are equal.
            if start > 0 {
                part = part.attr("start", start);
            }
            let positions = operand(f, user, 1);
            f.replace_op(user, part)?;
            f.erase_dead(positions)?;
        }
        if f.use_count(f.result(shape, 0)) == 0 && is_live(&shape) {
            f.erase_op(shape)?;
        }
    }
    Ok(())
}

/// Returns the half-open range of indices that an op gathers, if they are contiguous.
fn range(f: &Function, op: OpId, rank: Option<usize>) -> Option<(i64, i64)> {
    let is_list = f.rank(f.results(op).first().copied()?) == Some(1);
    let axis = f.int(op, "axis").unwrap_or(0);
    if f.name(op) != GATHER || !f.traits(op).is_defined() || !is_list || axis != 0 {
        return None;
    }
    let positions = f.constant_ints(f.operand(op, 1)?).ok()??;
    let from_front = |&position: &i64| match position {
        0.. => Some(position),
        _ => Some(position + rank? as i64),
    };
    let positions: Vec<i64> = positions.iter().map(from_front).collect::<Option<_>>()?;
    let (&first, &last) = (positions.first()?, positions.last()?);
    let follow = positions.windows(2).all(|two| two[0] + 1 == two[1]);
    (follow && first >= 0).then_some((first, last + 1))
}

/// Returns the elements of a value, if each is a constant, a symbol or an expression.
fn elements(f: &Function, value: ValueId) -> Option<Vec<Dim>> {
    let dims = f.known_dims(value)?;
    let is_known = |dim: &Dim| dim.is_known();
    let is_whole = f.type_of(value).element_count() == Some(dims.len() as u64);
    (is_whole && dims.iter().all(is_known)).then_some(dims)
}

/// Whether the definition of an earlier value is live and dominates an op.
fn is_visible(f: &Function, value: ValueId, op: OpId) -> bool {
    let Some(producer) = f.defining_op(value).filter(|&producer| f.is_live(producer)) else {
        return false;
    };
    let defining = f.parent_region(producer);
    let mut region = f.parent_region(op);
    while region != defining {
        match f.parent_op(region) {
            Some(around) => region = f.parent_region(around),
            None => return false,
        }
    }
    true
}

fn is_yielded(f: &Function, value: ValueId) -> bool {
    let mut uses = f.iter_uses(value);
    uses.any(|used| f.is_terminator(used.op))
}

/// Returns the `Shape` result that an op's result is derived from, and the indices of the elements in it.
fn source(f: &Function, op: OpId, dims: &[Dim]) -> Option<(ValueId, Vec<i64>)> {
    let is_shape = |op: OpId| f.name(op) == SHAPE && f.traits(op).is_defined();
    let gathered = f.operand(op, 0).filter(|_| f.name(op) == GATHER);
    if is_shape(op)
        || gathered
            .and_then(|v| f.defining_op(v))
            .is_some_and(is_shape)
    {
        return None;
    }
    let mut open = vec![op];
    let mut seen = 0;
    while let Some(op) = open.pop() {
        seen += 1;
        if seen > MAX_DISTANCE {
            return None;
        }
        if is_shape(op) {
            let shape = f.result(op, 0);
            let all = elements(f, shape)?;
            let position = |dim: &Dim| {
                let at = all.iter().position(|one| one.is_same(*dim));
                at.map(|at| at as i64)
            };
            match dims.iter().map(position).collect() {
                Some(positions) => return Some((shape, positions)),
                None => continue,
            }
        }
        let producers = f.operands(op).filter_map(|value| f.defining_op(value));
        open.extend(producers.filter(|&producer| computes_shape(f, producer)));
    }
    None
}
