//! The large steps of a reduction, which cut a function down to the ops around the failure. The number of runs is
//! logarithmic in the number of ops.
//!
//! The first ops of a function compute the same results whatever is removed after them. So a binary search finds the
//! shortest prefix that fails, and the ops that its last op doesn't need are removed at once. Then the suffix of the
//! remaining ops is shortened, with parameters for the results of the others. When a check runs the model, parameters
//! have random elements. Values of unknown type aren't replaced, nor are integers, which may be shapes or indices.

use passdock_abi::{OpId, SymbolId, ValueId};
use passdock_driver::oracle::Verdict;
use passdock_ir::{Function, Module};
use rustc_hash::FxHashSet;

use super::ops::{self, may_be_parameter};
use super::{Reducer, Stop};
use crate::queries::{function_results, operands_inside, set_results, unused_constants};
use crate::search::first_bad;

/// The number of ops from which large steps are used. Below, the small steps are enough.
const FEW: usize = 8;

/// Cuts down a function that isn't called by others.
pub(super) fn narrow(r: &mut Reducer<'_>, name: SymbolId) -> Result<(), Stop> {
    let base = r.best.clone();
    let Some(f) = base.function(name) else {
        return Ok(());
    };
    let body: Vec<OpId> = f
        .ops_in(f.body())
        .filter(|&op| !f.is_terminator(op))
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
    let needed = reached(f, first, &[last], |_| true);
    let needed = match needed.len() < first.len() && !search.offer(r, &needed)? {
        true => first.to_vec(),
        false => needed,
    };
    search.last(r, &needed)
}

/// Converts the result of a test: without the failure, a prefix or suffix is too short.
fn verdict(fails: bool) -> Verdict {
    match fails {
        true => Verdict::Bad,
        false => Verdict::Good,
    }
}

/// The function to cut down, before any step.
struct Search<'s> {
    base: &'s Module,
    name: SymbolId,
    total: usize,
}

impl Search<'_> {
    /// Returns the shortest prefix of the body that fails.
    fn first<'o>(&self, r: &mut Reducer<'_>, body: &'o [OpId]) -> Result<&'o [OpId], Stop> {
        let mut oracle = |count: usize| Ok(verdict(self.offer(r, &body[..count])?));
        let (_, count) = first_bad((0, body.len()), &mut oracle)?;
        Ok(&body[..count])
    }

    /// Shortens the suffix of `ops` that is kept. Producers that parameters can't replace are kept with it.
    fn last(&self, r: &mut Reducer<'_>, ops: &[OpId]) -> Result<(), Stop> {
        let Some(f) = self.base.function(self.name) else {
            return Ok(());
        };
        let kept = |count: usize| {
            let last = &ops[ops.len() - count..];
            reached(f, ops, last, |value| !may_be_parameter(f, value))
        };
        let (mut too_few, mut count) = (0, 1);
        while count < ops.len() && !self.offer(r, &kept(count))? {
            (too_few, count) = (count, count * 2);
        }
        let mut oracle = |count: usize| Ok(verdict(self.offer(r, &kept(count))?));
        first_bad((too_few, count.min(ops.len())), &mut oracle).map(drop)
    }

    /// Whether the function with these ops alone fails.
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

/// Keeps only these ops of a function's body. Parameters replace the values of removed ops. Values that lose all users
/// become results of the function.
fn cut_out(f: &mut Function, kept: &[OpId]) -> Option<()> {
    let kept: FxHashSet<OpId> = kept.iter().copied().collect();
    let is_defined_in_window = |f: &Function, value: ValueId| {
        let defined = f.defining_op(value);
        defined.is_some_and(|op| kept.contains(&op))
    };
    // Results of kept ops stay results, even if they have users.
    let mut results = function_results(f)?;
    results.retain(|(value, ..)| is_defined_in_window(f, *value));
    set_results(f, &results).ok()?;
    let kept_results = kept.iter().flat_map(|&op| f.results(op));
    let used = kept_results.filter(|&value| f.value(value).use_count > 0);
    let mut used: Vec<ValueId> = used.collect();
    used.sort_unstable_by_key(|value| value.0);
    let unused: FxHashSet<_> = unused_constants(f).into_iter().collect();
    let removed: Vec<OpId> = f.ops_in(f.body()).filter(|op| !kept.contains(op)).collect();
    for op in removed.into_iter().rev() {
        if !f.is_terminator(op) {
            ops::cut(f, op)?;
        }
    }
    used.retain(|&value| f.value(value).use_count == 0);
    ops::add_results(f, &used)?;
    // If the edit is rejected, the parameters stay.
    let params = ops::unused_params(f);
    _ = f.remove_args(&params);
    ops::erase_unused(f, &unused);
    Some(())
}

/// Returns the ops of `all` that are reachable from `from` through operands for which `follows` holds.
fn reached(
    f: &Function,
    all: &[OpId],
    from: &[OpId],
    follows: impl Fn(ValueId) -> bool,
) -> Vec<OpId> {
    let mut reached: FxHashSet<OpId> = from.iter().copied().collect();
    // In reverse order, users come before definitions.
    for &op in all.iter().rev() {
        if reached.contains(&op) {
            let values = operands_inside(f, op).filter(|value| value.is_some() && follows(*value));
            reached.extend(values.filter_map(|value| f.defining_op(value)));
        }
    }
    all.iter()
        .copied()
        .filter(|op| reached.contains(op))
        .collect()
}
