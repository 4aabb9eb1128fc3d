//! Sizes that aren't known, but the same: what several ops work out, one says.
//!
//! A value whose elements are those of one that stands before it, element by element the same symbol or
//! expression, gives way to that. A value all of whose elements are among those of the `Shape` that it is
//! worked out of is gathered from it. Both hold for every size, 0 included, as the elements are equal ids.

use std::collections::HashMap;

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

use super::gives_shape;

const SHAPE: &str = "onnx.Shape";
const GATHER: &str = "onnx.Gather";

/// The values of the same elements that are looked through, and the ops behind one.
const CANDIDATES: usize = 16;
const BEHIND: usize = 32;

/// A type, and the elements of a value of it.
type Key = (TypeId, Vec<(DimKind, i64)>);

/// The values that were seen, in program order.
pub(super) struct SameSizes {
    known: HashMap<Key, Vec<ValueId>>,
    /// Whether ops of the names are the operators.
    may_gather: bool,
}

impl SameSizes {
    pub(super) fn new(may_gather: bool) -> SameSizes {
        SameSizes {
            known: HashMap::new(),
            may_gather,
        }
    }

    /// Looks at an op that gives small integers, after those before it.
    pub(super) fn visit(&mut self, f: &mut Function, cx: &PassContext, op: OpId) -> PassResult {
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
        if self.may_gather
            && f.dtype(result) == DType::I64
            && let Some((shape, places)) = source(f, op, &dims)
        {
            let at = same.len() - 1;
            let sizes = f.shape(result).unwrap_or_default();
            let ty = f.add_type(&TypeSpec::shaped(DType::I64, &sizes))?;
            let bytes: Vec<u8> = places
                .iter()
                .flat_map(|place| place.to_le_bytes())
                .collect();
            let places = f.add_constant(&ConstantSpec::new(ty, &bytes))?;
            let gather = OpBuilder::new(GATHER)
                .operands([shape, places])
                .attr("axis", 0)
                .result(f.type_id(result))
                .loc(f.loc(op));
            let gather = f.replace_op(op, gather)?;
            same[at] = f.result(gather, 0);
            // Those who use it ask what its elements are.
            cx.infer(f, gather)?;
        }
        Ok(())
    }
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
    if is_shape(op)
        || f.name(op) == GATHER
            && f.operand(op, 0)
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
                all.iter()
                    .position(|one| super::same(*one, *dim))
                    .map(|at| at as i64)
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
