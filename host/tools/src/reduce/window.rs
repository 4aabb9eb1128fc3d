//! The big steps: a function cut down to the ops around what goes wrong, in about as many runs as its number of ops has
//! bits.
//!
//! The first ops of a function compute what they did, whatever is left out behind them; so the fewest of them with
//! which the same goes wrong are found by halving. What the last of those doesn't need goes at once. Then ever fewer of
//! what it needs are kept: what the others made becomes parameters. Those have random values when a check runs the
//! model, so no integer is cut off, since it may be a shape or an index, and nothing whose type isn't known.

use passdock_abi::{DType, OpId, SymbolId, TypeKind, ValueId, symbol};
use passdock_driver::judge::Verdict;
use passdock_ir::{Function, Module};
use rustc_hash::FxHashSet;

use super::ops;
use super::{Reducer, Stop};
use crate::queries::unused_constants;
use crate::search::first_bad;

/// With fewer ops, the small steps do.
const FEW: usize = 8;

/// Cuts a function that nobody calls down.
pub(super) fn narrow(r: &mut Reducer<'_>, name: SymbolId) -> Result<(), Stop> {
    let base = r.best.clone();
    let Some(f) = base.function(name) else {
        return Ok(());
    };
    let body: Vec<OpId> = f
        .ops_in(f.body())
        .filter(|&op| f.op(op).name != symbol::RETURN)
        .collect();
    if body.len() < FEW {
        return Ok(());
    }
    let search = Search {
        base: &base,
        name,
        total: body.len(),
    };
    let first = search.first(r, &body)?;
    let Some((&last, _)) = first.split_last() else {
        return Ok(());
    };
    let needed = needed(f, first, last);
    let needed = match needed.len() < first.len() && !search.offer(r, &needed)? {
        true => first.to_vec(),
        false => needed,
    };
    search.last(r, &needed)
}

/// The verdict on some of the ops: with too few nothing goes wrong.
fn verdict(goes_wrong: bool) -> Verdict {
    match goes_wrong {
        true => Verdict::Bad,
        false => Verdict::Good,
    }
}

/// A function that is cut down, as it was.
struct Search<'s> {
    base: &'s Module,
    name: SymbolId,
    total: usize,
}

impl Search<'_> {
    /// The fewest first ops with which the same goes wrong.
    fn first<'o>(&self, r: &mut Reducer<'_>, body: &'o [OpId]) -> Result<&'o [OpId], Stop> {
        let mut judge = |count: usize| Ok(verdict(self.offer(r, &body[..count])?));
        let (_, count) = first_bad((0, body.len()), &mut judge)?;
        Ok(&body[..count])
    }

    /// Keeps few of the last ops, and what they can't be cut off from.
    fn last(&self, r: &mut Reducer<'_>, ops: &[OpId]) -> Result<(), Stop> {
        let Some(f) = self.base.function(self.name) else {
            return Ok(());
        };
        let kept = |count: usize| joined(f, ops, &ops[ops.len() - count..]);
        let (mut too_few, mut count) = (0, 1);
        while count < ops.len() && !self.offer(r, &kept(count))? {
            (too_few, count) = (count, count * 2);
        }
        let mut judge = |count: usize| Ok(verdict(self.offer(r, &kept(count))?));
        first_bad((too_few, count.min(ops.len())), &mut judge).map(drop)
    }

    /// Whether the same goes wrong with these ops of the function alone.
    fn offer(&self, r: &mut Reducer<'_>, kept: &[OpId]) -> Result<bool, Stop> {
        let mut candidate = self.base.clone();
        let cut = candidate
            .function_mut(self.name)
            .and_then(|f| cut_out(f, kept));
        match cut {
            Some(()) if candidate.op_count() < r.best.op_count() => {
                let name = self.base.symbols().text(self.name);
                let (kept, total) = (kept.len(), self.total);
                r.offer(candidate, || {
                    format!("{kept} of {total} ops of the body of @{name}")
                })
            }
            _ => Ok(false),
        }
    }
}

/// Leaves these ops of a function's body: what they use of others becomes parameters, and what none of them uses
/// results.
fn cut_out(f: &mut Function, kept: &[OpId]) -> Option<()> {
    let kept: FxHashSet<OpId> = kept.iter().copied().collect();
    let is_kept = |f: &Function, value: ValueId| {
        let defined = f.defining_op(value);
        defined.is_some_and(|op| kept.contains(&op))
    };
    // Those that were results stay so, also if they are used.
    let mut results = ops::results(f)?;
    results.retain(|(value, ..)| is_kept(f, *value));
    ops::set_results(f, &results)?;
    let made: Vec<ValueId> = kept.iter().flat_map(|&op| f.results(op)).collect();
    let used = made
        .into_iter()
        .filter(|&value| f.value(value).use_count > 0);
    let mut used: Vec<ValueId> = used.collect();
    used.sort_unstable_by_key(|value| value.0);
    let idle: FxHashSet<_> = unused_constants(f).into_iter().collect();
    let gone: Vec<OpId> = f.ops_in(f.body()).filter(|op| !kept.contains(op)).collect();
    for op in gone.into_iter().rev() {
        if f.op(op).name != symbol::RETURN {
            ops::cut(f, op)?;
        }
    }
    used.retain(|&value| f.value(value).use_count == 0);
    ops::give_out(f, &used)?;
    // Refused, they stay.
    let unused = ops::unused_params(f);
    _ = f.remove_args(&unused);
    ops::erase_unused(f, &idle);
    Some(())
}

/// The values that an op uses, and those that it and what is nested in it use.
fn used_by(f: &Function, op: OpId) -> impl Iterator<Item = ValueId> + '_ {
    let nested = f.regions_of(op).flat_map(|region| f.walk(region));
    let ops = std::iter::once(op).chain(nested);
    ops.flat_map(|op| f.operands(op)).map(|slot| slot.value)
}

/// Of some ops in order, those that one of them needs, that one included.
fn needed(f: &Function, ops: &[OpId], one: OpId) -> Vec<OpId> {
    reached(f, ops, &[one], |_| true)
}

/// Some of the ops, and those of all that they can't be cut off from.
fn joined(f: &Function, all: &[OpId], some: &[OpId]) -> Vec<OpId> {
    reached(f, all, some, |value| !may_be_parameter(f, value))
}

/// The ops of `all` that are reached from some over the values that are gone along.
fn reached(
    f: &Function,
    all: &[OpId],
    from: &[OpId],
    goes_along: impl Fn(ValueId) -> bool,
) -> Vec<OpId> {
    let mut met: FxHashSet<OpId> = from.iter().copied().collect();
    // Each stands before those that use it.
    for &op in all.iter().rev() {
        if met.contains(&op) {
            let values = used_by(f, op).filter(|value| value.is_some() && goes_along(*value));
            met.extend(values.filter_map(|value| f.defining_op(value)));
        }
    }
    all.iter().copied().filter(|op| met.contains(op)).collect()
}

/// Whether a model can run with any value for it: a tensor of floats, of a rank that is known.
fn may_be_parameter(f: &Function, value: ValueId) -> bool {
    let id = f.value(value).ty;
    let is_float = |dtype| [DType::F16, DType::BF16, DType::F32, DType::F64].contains(&dtype);
    let ty = f.live_type(id).ok();
    f.shape(id).is_some() && ty.is_some_and(|ty| ty.kind == TypeKind::TENSOR && is_float(ty.dtype))
}
