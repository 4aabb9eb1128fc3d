//! Branches that can't run: an `onnx.If` whose branches yield values of different ranks, and a user that accepts only
//! one of them.
//!
//! The forward analysis computes the possible ranks of each value from its op; those of an `If` are the union of both
//! branches. The backward analysis computes the ranks with which the users don't fail, according to their definitions.
//! For example, an LSTM takes three dims, so the operand of an Unsqueeze before it has two. A branch that yields no
//! acceptable rank can't run.
//!
//! This is sound because an op in the region of a value's definition always runs if the value is computed. If its
//! operand has a rank that it rejects, the op fails, and so does the run. Results therefore hold for each run that
//! doesn't fail. Users in other regions are ignored since they may not run, and so are users whose results are dead
//! since they may be removed. The declared types of the results of an `If` are ignored as well: exporters write the
//! types of one traced run.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use crate::shared::column::{Column, live_ops};
use crate::shared::read::operand;
use crate::shared::retype::retype;

/// The maximum number of rounds. A branch that can't run may narrow the ranks of further values.
const ROUNDS: usize = 4;
/// The number of ranks that are distinguished: 0 to 30.
const MAX_RANKS: usize = 31;
/// The highest rank that is tried against definitions.
const MAX_TRIED: usize = 6;

/// Returns the only branch that can run, by `If`: whether it is `then_branch`.
pub(super) fn only_branches(
    f: &mut Function,
    cx: &PassContext,
) -> Result<HashMap<OpId, bool>, EditError> {
    let Some(symbol) = f.find_symbol("onnx.If") else {
        return Ok(HashMap::new());
    };
    if f.all_ops_named(symbol).next().is_none() {
        return Ok(HashMap::new());
    }
    let mut search = Search::new(f)?;
    for _ in 0..ROUNDS {
        let before = search.only.len();
        search.propagate_forward(f);
        search.propagate_backward(f, cx)?;
        if search.only.len() == before {
            break;
        }
    }
    Ok(search.only)
}

/// A set of ranks.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ranks(u32);

impl Ranks {
    /// All ranks: nothing is known.
    const ANY: Ranks = Ranks(u32::MAX);

    fn one(rank: usize) -> Ranks {
        match rank {
            0..MAX_RANKS => Ranks(1 << rank),
            _ => Ranks::ANY,
        }
    }

    fn list(self) -> impl Iterator<Item = usize> {
        (0..MAX_RANKS).filter(move |rank| self.0 >> rank & 1 == 1)
    }

    /// Returns the ranks with `by` dims added to each.
    fn shifted(self, by: i64) -> Ranks {
        if self == Ranks::ANY {
            return self;
        }
        let mut all = Ranks(0);
        for rank in self.list() {
            match usize::try_from(rank as i64 + by) {
                Ok(rank @ 0..MAX_RANKS) => all.0 |= 1 << rank,
                Ok(_) => return Ranks::ANY,
                Err(_) => {}
            }
        }
        all
    }

    fn both(self, other: Ranks) -> Ranks {
        Ranks(self.0 & other.0)
    }
}

/// How the ranks of an op's operands and results are related.
enum Relation {
    /// The rank of the first result is that of the first operand plus this number.
    Shift(i64),
    /// The results have the maximum rank of the operands.
    Longest,
    /// The first result has this rank.
    Fixed(usize),
    /// All operands and the result have the same rank.
    Equal,
    /// The ranks of the results follow from the types of the operands.
    Typed,
    /// Nothing is known.
    None,
}

/// Operators whose first result has the rank of the first operand.
const SAME: &[&str] = &[
    "onnx.BatchNormalization",
    "onnx.CastLike",
    "onnx.Conv",
    "onnx.ConvInteger",
    "onnx.ConvTranspose",
    "onnx.CumSum",
    "onnx.Dropout",
    "onnx.Identity",
    "onnx.InstanceNormalization",
    "onnx.LayerNormalization",
    "onnx.LogSoftmax",
    "onnx.Pad",
    "onnx.Slice",
    "onnx.Softmax",
];

fn relation(f: &Function, op: OpId) -> Relation {
    let traits = f.traits(op);
    if !traits.is_defined() {
        return Relation::None;
    }
    match f.name(op) {
        "onnx.Gemm" => Relation::Fixed(2),
        "onnx.Concat" => Relation::Equal,
        "onnx.Transpose" => match f.ints(op, "perm") {
            Some(perm) => Relation::Fixed(perm.len()),
            None => Relation::Shift(0),
        },
        "onnx.Squeeze" => axes(f, op).map_or(Relation::None, |axes| Relation::Shift(-axes)),
        "onnx.Unsqueeze" => axes(f, op).map_or(Relation::None, Relation::Shift),
        name if SAME.contains(&name) => Relation::Shift(0),
        _ if traits.is_elementwise() && f.operand_count(op) == 1 => Relation::Shift(0),
        _ if traits.is_elementwise() => Relation::Longest,
        // The rank is the length of the shape operand.
        "onnx.ConstantOfShape" if has_length(f, op, 0) => Relation::Typed,
        "onnx.Reshape" | "onnx.Expand" if has_length(f, op, 1) => Relation::Typed,
        "onnx.ConstantOfShape" | "onnx.Reshape" | "onnx.Expand" => Relation::None,
        _ if f.regions(op).is_empty() => Relation::Typed,
        _ => Relation::None,
    }
}

/// Returns the number of axes that an op removes or adds.
fn axes(f: &Function, op: OpId) -> Option<i64> {
    if let Some(axes) = f.ints(op, "axes") {
        return Some(axes.len() as i64);
    }
    let axes = f.constant_ints(f.operand(op, 1)?).ok()??;
    Some(axes.len() as i64)
}

/// Returns the subset of ranks of a value that an op accepts, according to its type rule.
fn accepted_ranks(
    f: &mut Function,
    cx: &PassContext,
    op: OpId,
    value: ValueId,
    ranks: Ranks,
) -> Result<Ranks, EditError> {
    let (ty, dtype) = (f.type_id(value), f.dtype(value).unwrap_or(DType::NONE));
    let operands: Vec<ValueId> = f.operands(op).collect();
    // ONNX Runtime accepts a scalar in reductions, whatever the axis.
    let reduces = ["onnx.Reduce", "onnx.Arg"].map(|prefix| f.name(op).starts_with(prefix));
    let mut accepted = ranks;
    for rank in ranks.list().filter(|rank| *rank <= MAX_TRIED) {
        let tried = f.add_type(&TypeSpec::tensor(dtype, vec![Dim::UNKNOWN; rank]))?;
        retype(f, value, tried)?;
        let is_scalar_reduced = rank == 0 && reduces.contains(&true);
        if cx.infer_with(f, op, &operands).is_err() && !is_scalar_reduced {
            accepted.0 &= !(1 << rank);
        }
    }
    retype(f, value, ty)?;
    Ok(accepted)
}

/// Whether an operand has a known length.
fn has_length(f: &Function, op: OpId, index: usize) -> bool {
    f.shape(operand(f, op, index)).is_some()
}

struct Search {
    /// All ops in program order, except that the ops of an op's regions precede it.
    order: Vec<OpId>,
    /// Per op id, whether the op is live.
    live: Column<bool>,
    /// Per value id, its possible ranks.
    ranks: Column<Ranks>,
    /// Regions that always run if the region around their op does, with that region.
    sure: HashMap<RegionId, RegionId>,
    only: HashMap<OpId, bool>,
}

impl Search {
    fn new(f: &Function) -> Result<Search, EditError> {
        Ok(Search {
            order: order(f),
            live: live_ops(f)?,
            ranks: Column::new(Ranks::ANY),
            sure: HashMap::new(),
            only: HashMap::new(),
        })
    }

    /// Returns the ranks that a value can have according to current knowledge.
    fn ranks(&self, f: &Function, value: ValueId) -> Ranks {
        let known = self.ranks.get(value.index());
        // Declared types are reliable for parameters of the function and constants, but not for loop-carried values.
        let is_given = || f.constant(value).is_some() || f.arg_region(value) == Some(f.body());
        match f.rank(value) {
            Some(rank) if known == Ranks::ANY && is_given() => Ranks::one(rank),
            _ => known,
        }
    }

    /// Returns the ranks that all operands of an op can have.
    fn common(&self, f: &Function, op: OpId) -> Ranks {
        let ranks = f.operands(op).map(|value| self.ranks(f, value));
        ranks.fold(Ranks::ANY, Ranks::both)
    }

    /// Restricts the possible ranks of a value.
    fn narrow(&mut self, f: &Function, value: ValueId, ranks: Ranks) {
        let both = self.ranks(f, value).both(ranks);
        // A value without a possible rank is never computed, so nothing more can be learned from it.
        if both != Ranks(0) && value.is_some() {
            self.ranks.set(value.index(), both);
        }
    }

    /// Propagates ranks from operands to results, in program order.
    fn propagate_forward(&mut self, f: &Function) {
        for at in 0..self.order.len() {
            let op = self.order[at];
            if is_if(f, op) {
                for (index, &result) in f.results(op).iter().enumerate() {
                    let yielded_ranks = |taken| {
                        self.yielded_ranks(f, op, taken, index)
                            .unwrap_or(Ranks::ANY)
                    };
                    let ranks = match self.only.get(&op) {
                        Some(&taken) => yielded_ranks(taken),
                        None => Ranks(yielded_ranks(true).0 | yielded_ranks(false).0),
                    };
                    self.narrow(f, result, ranks);
                }
                continue;
            }
            let Some(&result) = f.results(op).first() else {
                continue;
            };
            let operand = |index| self.ranks(f, operand(f, op, index));
            let ranks = match relation(f, op) {
                Relation::Shift(by) => operand(0).shifted(by),
                Relation::Longest => longest(f.operands(op).map(|value| self.ranks(f, value))),
                Relation::Fixed(rank) => Ranks::one(rank),
                Relation::Equal => self.common(f, op),
                Relation::Typed if f.operands(op).all(|value| self.is_known(f, value)) => {
                    f.rank(result).map_or(Ranks::ANY, Ranks::one)
                }
                Relation::Typed | Relation::None => Ranks::ANY,
            };
            self.narrow(f, result, ranks);
        }
    }

    /// Propagates ranks from users to operands, in reverse program order.
    fn propagate_backward(&mut self, f: &mut Function, cx: &PassContext) -> Result<(), EditError> {
        for at in (0..self.order.len()).rev() {
            let op = self.order[at];
            if !self.live.get(op.index()) {
                continue;
            }
            if is_if(f, op) {
                self.choose(f, op);
                continue;
            }
            let result = match f.results(op).first() {
                Some(&result) => self.ranks(f, result),
                None => Ranks::ANY,
            };
            let relation = relation(f, op);
            for (index, value) in f.operands(op).enumerate().collect::<Vec<_>>() {
                if self.is_known(f, value) || !self.runs_with(f, op, value) {
                    continue;
                }
                match relation {
                    Relation::Shift(by) if index == 0 => self.narrow(f, value, result.shifted(-by)),
                    Relation::Equal => self.narrow(f, value, self.common(f, op).both(result)),
                    _ => {}
                }
                let accepted = accepted_ranks(f, cx, op, value, self.ranks(f, value))?;
                self.narrow(f, value, accepted);
            }
        }
        Ok(())
    }

    /// Checks whether only one branch of an If can run. If so, restricts the ranks that this branch yields.
    fn choose(&mut self, f: &Function, op: OpId) {
        let can_run = |taken| {
            f.results(op).iter().enumerate().all(|(index, &result)| {
                let yielded_ranks = self
                    .yielded_ranks(f, op, taken, index)
                    .unwrap_or(Ranks::ANY);
                yielded_ranks.both(self.ranks(f, result)) != Ranks(0)
            })
        };
        let taken = match [can_run(true), can_run(false)] {
            [true, false] => true,
            [false, true] => false,
            _ => return,
        };
        self.only.insert(op, taken);
        let Some(branch) = f.region(op, name_of(taken)) else {
            return;
        };
        self.sure.insert(branch, f.parent_region(op));
        for (index, &result) in f.results(op).iter().enumerate() {
            if let Some(last) = f.terminator(branch)
                && let Some(value) = f.operand(last, index)
                && self.runs_with(f, last, value)
            {
                self.narrow(f, value, self.ranks(f, result));
            }
        }
    }

    /// Whether a value's rank is known, or the operand is absent.
    fn is_known(&self, f: &Function, value: ValueId) -> bool {
        value.is_none() || self.ranks(f, value).0.count_ones() == 1
    }

    /// Returns the ranks that a branch can yield.
    fn yielded_ranks(&self, f: &Function, op: OpId, taken: bool, index: usize) -> Option<Ranks> {
        let last = f.terminator(f.region(op, name_of(taken))?)?;
        Some(self.ranks(f, f.operand(last, index)?))
    }

    /// Whether an op always runs if a value is computed.
    fn runs_with(&self, f: &Function, op: OpId, value: ValueId) -> bool {
        let defining = match f.defining_op(value) {
            Some(producer) => f.parent_region(producer),
            None => return false,
        };
        let mut region = f.parent_region(op);
        while region != defining {
            match self.sure.get(&region) {
                Some(&around) => region = around,
                None => return false,
            }
        }
        true
    }
}

fn is_if(f: &Function, op: OpId) -> bool {
    f.name(op) == "onnx.If" && f.traits(op).is_defined()
}

fn name_of(taken: bool) -> &'static str {
    match taken {
        true => "then_branch",
        false => "else_branch",
    }
}

/// Returns the possible maximum of ranks.
fn longest(all: impl Iterator<Item = Ranks>) -> Ranks {
    let mut longest = Ranks(1);
    for ranks in all {
        if ranks == Ranks::ANY {
            return ranks;
        }
        let mut next = Ranks(0);
        for a in longest.list() {
            ranks.list().for_each(|b| next.0 |= 1 << a.max(b));
        }
        longest = next;
    }
    longest
}

/// Returns all ops in program order, except that the ops of an op's regions precede it.
fn order(f: &Function) -> Vec<OpId> {
    let mut order = Vec::with_capacity(f.op_count());
    let first = |region| f.first_op(region).map(|op| (op, false));
    let mut steps: Vec<(OpId, bool)> = first(f.body()).into_iter().collect();
    while let Some((op, is_done)) = steps.pop() {
        if is_done {
            order.push(op);
            continue;
        }
        steps.extend(f.next_op(op).map(|next| (next, false)));
        steps.push((op, true));
        steps.extend(
            f.regions(op)
                .iter()
                .rev()
                .filter_map(|&region| first(region)),
        );
    }
    order
}
