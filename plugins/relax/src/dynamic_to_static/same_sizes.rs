//! Sizes that aren't known, but the same: what several ops work out, one says.
//!
//! A value whose elements are those of one that stands before it, element by element the same symbol or
//! expression, gives way to that. A value all of whose elements are among those of the `Shape` that it is
//! worked out of is gathered from it. Both hold for every size, 0 included, as the elements are equal ids.

use std::collections::HashMap;

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

use super::gives_shape;
use crate::shared::column::live_ops;
use crate::shared::read::{add_tensor, operand};

const SHAPE: &str = "onnx.Shape";
const GATHER: &str = "onnx.Gather";

/// The version since which a `Shape` says a part.
const RANGES: i64 = 15;

/// The values of the same elements that are looked through, and the ops behind one.
const CANDIDATES: usize = 16;
const BEHIND: usize = 32;

/// A type, and the elements of a value of it.
type Key = (TypeId, Vec<(DimKind, i64)>);

/// Goes over what leads to a result: of the rest nothing is left.
pub(super) fn same_sizes(f: &mut Function) -> PassResult {
    let mut sizes = SameSizes::default();
    let live = live_ops(f)?;
    for op in f.ops() {
        if live.get(op.index()) && gives_shape(f, op) && f.traits(op).is_pure() {
            sizes.visit(f, op)?;
        }
    }
    gather_at_once(f)
}

/// The values that were seen, in program order.
#[derive(Default)]
struct SameSizes {
    known: HashMap<Key, Vec<ValueId>>,
}

impl SameSizes {
    /// Looks at an op that gives small integers, after those before it.
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
        let stands_before = |&&value: &&ValueId| is_visible(f, value, op);
        if let Some(&other) = same.iter().take(CANDIDATES).find(stands_before) {
            // What a region gives out keeps its name.
            if !is_given_out(f, result) {
                f.replace_uses(result, other)?;
            }
            return Ok(());
        }
        same.push(result);
        if f.dtype(result) == DType::I64
            && let Some((shape, places)) = source(f, op, &dims)
        {
            let at = same.len() - 1;
            let sizes = f.shape(result).unwrap_or_default();
            let places: Vec<u8> = places.iter().flat_map(|at| at.to_le_bytes()).collect();
            let places = add_tensor(f, DType::I64, &sizes, &places)?;
            let gather = OpBuilder::new(GATHER)
                .operands([shape, places])
                .attr("axis", 0)
                .result(f.type_id(result))
                .loc(f.loc(op));
            let gather = f.replace_op(op, gather)?;
            same[at] = f.result(gather, 0);
        }
        Ok(())
    }
}

/// Lets a `Shape` say what single ops gather of it, where that is one op less: of the version that can.
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
            // A default that is spelled out hides what is the same.
            if start > 0 {
                part = part.attr("start", start);
            }
            let places = operand(f, user, 1);
            f.replace_op(user, part)?;
            f.erase_dead(places)?;
        }
        if f.use_count(f.result(shape, 0)) == 0 && is_live(&shape) {
            f.erase_op(shape)?;
        }
    }
    Ok(())
}

/// The places that an op gathers, if they are one after another: the first, and that behind the last.
fn range(f: &Function, op: OpId, rank: Option<usize>) -> Option<(i64, i64)> {
    let is_list = f.rank(f.results(op).first().copied()?) == Some(1);
    let axis = f.int(op, "axis").unwrap_or(0);
    if f.name(op) != GATHER || !f.traits(op).is_defined() || !is_list || axis != 0 {
        return None;
    }
    let places = f.constant_ints(f.operand(op, 1)?).ok()??;
    let from_front = |&place: &i64| match place {
        0.. => Some(place),
        _ => Some(place + rank? as i64),
    };
    let places: Vec<i64> = places.iter().map(from_front).collect::<Option<_>>()?;
    let (&first, &last) = (places.first()?, places.last()?);
    let follow = places.windows(2).all(|two| two[0] + 1 == two[1]);
    (follow && first >= 0).then_some((first, last + 1))
}

/// The elements of a value, if each is a size, a symbol or an expression.
fn elements(f: &Function, value: ValueId) -> Option<Vec<Dim>> {
    let dims = f.known_dims(value)?;
    let is_known = |dim: &Dim| dim.kind != DimKind::UNKNOWN;
    let is_whole = f.type_of(value).element_count() == Some(dims.len() as u64);
    (is_whole && dims.iter().all(is_known)).then_some(dims)
}

/// Whether a value that was seen before can be used by an op.
fn is_visible(f: &Function, value: ValueId, op: OpId) -> bool {
    let Some(maker) = f.defining_op(value).filter(|&maker| f.is_live(maker)) else {
        return false;
    };
    let home = f.parent_region(maker);
    let mut region = f.parent_region(op);
    while region != home {
        match f.parent_op(region) {
            Some(around) => region = f.parent_region(around),
            None => return false,
        }
    }
    true
}

fn is_given_out(f: &Function, value: ValueId) -> bool {
    let mut uses = f.iter_uses(value);
    uses.any(|used| f.terminator(f.parent_region(used.op)) == Some(used.op))
}

/// The result of a `Shape` that an op's result is worked out of, and the places in it of all elements.
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
        if seen > BEHIND {
            return None;
        }
        if is_shape(op) {
            let shape = f.result(op, 0);
            let all = elements(f, shape)?;
            let place = |dim: &Dim| {
                let at = all.iter().position(|one| super::same(*one, *dim));
                at.map(|at| at as i64)
            };
            match dims.iter().map(place).collect() {
                Some(places) => return Some((shape, places)),
                None => continue,
            }
        }
        let makers = f.operands(op).filter_map(|value| f.defining_op(value));
        open.extend(makers.filter(|&maker| gives_shape(f, maker)));
    }
    None
}
