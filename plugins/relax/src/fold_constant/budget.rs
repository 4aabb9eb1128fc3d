//! The size budget: which of the known values become constants.
//!
//! A value that a remaining op needs becomes a constant if that makes the function larger by no more than the limit.
//! Otherwise, its op stays and needs its own operands. Unused ops are erased. The bytes of a constant that only erased
//! ops use are credited to these in equal parts per use, and passed on to the values that they lead to.
//!
//! Each op may cost up to [`Limits::one`]. An expression may cost as much as all its ops together, although only its
//! final value becomes a constant. Either all such expressions are folded, or none if they cost too much together.
//! Therefore, a second run makes the same decisions.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record;

use super::FoldConstant;
use super::forward::{Folded, Forward, byte_len};
use crate::shared::column::Column;

/// The estimated overhead in bytes of a constant (its name and dims) and of an op (its names) in a file.
const CONSTANT: u64 = 32;
const OP: u64 = 64;
/// The ratio of the limit for all ops together to the limit for one op; expressions may cost as much again. With a
/// smaller ratio, a second run would have a budget again sooner.
const MAX_GROUP: u64 = 8;
/// The inverse of the growth limit of all ops, as a fraction of the constants' bytes. Expressions may use as much
/// again.
const PART: u64 = 200;
/// The minimum of the memory limit of scratch constants; the limit is the size of the model's own constants if that is
/// larger.
const SCRATCH: u64 = 256 << 20;
/// The minimum of the memory limit if growth is allowed; the limit is `TIMES` the size of the model's own constants if
/// that is larger.
const ALLOWED: u64 = 2 << 30;
const TIMES: u64 = 4;

/// Values up to this size in bytes are always evaluated, whether they may become constants or not.
const SMALL: u64 = 1 << 20;

/// The limits of what folding may cost.
pub(super) struct Limits {
    /// The growth limit of one op, in bytes.
    pub(super) one: u64,
    /// The growth limit of all ops together, in bytes.
    all: u64,
    /// The limit of an op as part of an expression, and of all expressions together, in bytes.
    part: u64,
    expressions: u64,
    /// The memory limit of scratch constants, in bytes.
    pub(super) scratch: u64,
}

impl Limits {
    pub(super) fn new(f: &Function, options: &FoldConstant) -> Limits {
        let add =
            |sum: u64, (_, record): (_, record::Constant)| sum.saturating_add(record.byte_len);
        let bytes = f.constants().fold(0, add);
        // A splat stores one element, whatever its shape is.
        let is_stored =
            |(_, record): &(_, record::Constant)| record.storage != record::Storage::SPLAT;
        let stored = f.constants().filter(is_stored).fold(0, add);
        if options.allow_growth {
            return Limits {
                one: u64::MAX,
                all: u64::MAX,
                part: 0,
                expressions: 0,
                scratch: ALLOWED.max(stored.saturating_mul(TIMES)),
            };
        }
        let floor = options.max_growth;
        let all = floor.saturating_mul(MAX_GROUP).max(bytes / PART);
        Limits {
            one: (all / MAX_GROUP).max(floor),
            all,
            part: bytes / PART / MAX_GROUP,
            expressions: bytes / PART,
            scratch: SCRATCH.max(stored),
        }
    }
}

/// Returns, per op id, whether the op's value can be useful: it may become a constant, or lead to one. The default is
/// `true`. Sizes come from the types, as nothing is evaluated yet.
pub(super) fn useful(f: &Function, flags: &Column<bool>, limits: &Limits) -> Column<bool> {
    let mut useful = Column::new(true);
    if limits.one == u64::MAX {
        return useful;
    }
    let flagged = |op: &OpId| flags.get(op.index());
    let ops: Vec<OpId> = f.iter().filter(flagged).collect();
    // Per value, the maximum credit of each of its uses.
    let mut share = Column::new(0);
    let mut credit = Vec::with_capacity(ops.len());
    for &op in &ops {
        let of = |value: ValueId| match f.constant(value) {
            Some(_) => (byte_len(f, value) + CONSTANT) / f.use_count(value).max(1) as u64,
            None => share.get(value.index()),
        };
        let own = OP.saturating_add(limits.part);
        let sum = f.operands(op).map(of).fold(own, u64::saturating_add);
        credit.push(sum);
        for &result in f.results(op) {
            share.set(result.index(), sum / f.use_count(result).max(1) as u64);
        }
    }
    let mut required = Column::new(false);
    for (&op, credit) in ops.iter().zip(credit).rev() {
        let limit = limits.one.saturating_add(credit).max(SMALL);
        let may_be_kept = |&result: &ValueId| {
            required.get(result.index()) || static_len(f, result).is_none_or(|len| len <= limit)
        };
        let is_useful = f.results(op).iter().any(may_be_kept);
        useful.set(op.index(), is_useful);
        if is_useful {
            for value in f.operands(op).filter(|value| value.is_some()) {
                required.set(value.index(), true);
            }
        }
    }
    useful
}

/// Returns the bytes that erasing a constant frees; 0 if the file keeps the constant.
fn freed(f: &Function, id: ConstId) -> u64 {
    match f.constant_record(id) {
        Some(record) if record.flags & record::Constant::KEPT == 0 => record.byte_len + CONSTANT,
        _ => 0,
    }
}

/// Returns the size in bytes of a value, if its type has a known shape.
pub(super) fn static_len(f: &Function, value: ValueId) -> Option<u64> {
    let ty = f.type_of(value);
    ty.dtype()?.byte_len(ty.element_count()?)
}

/// Which ops stay and which are folded.
pub(super) struct Plan {
    /// Per op, whether it stays.
    pub(super) stays: Vec<bool>,
    /// Per folded op, whether its value is needed.
    pub(super) needed: Vec<bool>,
}

impl Plan {
    pub(super) fn new(f: &Function, forward: &Forward<'_>, limits: &Limits) -> Plan {
        let (flat, cost) = Plan::decide_all(f, forward, limits, 0);
        if limits.part == 0 {
            return flat;
        }
        let (whole, more) = Plan::decide_all(f, forward, limits, limits.part);
        match more.saturating_sub(cost) <= limits.expressions {
            true => whole,
            false => flat,
        }
    }

    /// Decides about all ops. Each op adds `part` to the limit of the values that it leads to. Also returns the cost of
    /// all folded ops.
    fn decide_all(f: &Function, forward: &Forward<'_>, limits: &Limits, part: u64) -> (Plan, u64) {
        let count = forward.folded.len();
        let is_pinned = |folded: &Folded| forward.pinned.contains(&folded.op);
        let mut plan = Plan {
            stays: forward.folded.iter().map(is_pinned).collect(),
            needed: vec![false; count],
        };
        let mut one = limits.one;
        // An op that stays keeps its constants, for which other ops were credited. Usually a few rounds reach a fixed
        // point; after 16 rounds there are no more credits, which guarantees termination.
        for round in 0.. {
            let mut uses = Uses::new(f, forward, &plan.stays);
            let credits = (round < 16).then(|| uses.credits(f, forward, &plan.stays, part));
            let (changed, mut costs) = plan.walk_back(f, forward, &mut uses, credits, one);
            if changed {
                continue;
            }
            let sum = (costs.iter()).fold(0, |sum: u64, &cost| sum.saturating_add(cost));
            if part > 0 || sum <= limits.all {
                return (plan, sum);
            }
            one = if round < 32 {
                threshold(&mut costs, limits.all)
            } else {
                0
            };
        }
        (plan, 0)
    }

    /// Decides about each op in reverse order. Returns whether another op stays, and the costs of the folded ops.
    fn walk_back(
        &mut self,
        f: &Function,
        forward: &Forward<'_>,
        uses: &mut Uses,
        credits: Option<Vec<Credit>>,
        one: u64,
    ) -> (bool, Vec<u64>) {
        let (mut changed, mut costs) = (false, Vec::new());
        for (index, folded) in forward.folded.iter().enumerate().rev() {
            if self.stays[index] {
                continue;
            }
            let needed = |&(&result, _): &(&ValueId, &ValueId)| uses.are_outside(f, result);
            let results = f.results(folded.op).iter().zip(&folded.values);
            let sizes: Vec<u64> = results
                .filter(needed)
                .map(|(_, &value)| byte_len(f, value).saturating_add(CONSTANT))
                .collect();
            self.needed[index] = !sizes.is_empty();
            let credit = credits.as_ref().map_or(Credit::OP, |all| all[index]);
            let size = sizes.into_iter().fold(0, u64::saturating_add);
            let cost = size.saturating_sub(credit.freed);
            if cost > one.max(credit.may_cost) {
                self.stays[index] = true;
                changed = true;
                uses.stays(f, folded.op);
            } else if cost > 0 {
                costs.push(cost);
            }
        }
        (changed, costs)
    }
}

/// Returns the largest cost such that all ops that cost no more fit in the budget together.
fn threshold(costs: &mut [u64], all: u64) -> u64 {
    costs.sort_unstable();
    let mut sum = 0_u64;
    for (at, &cost) in costs.iter().enumerate() {
        sum = sum.saturating_add(cost);
        if sum > all {
            // Ops with equal cost are treated equally.
            let smaller = costs[..at].iter().rev().find(|&&smaller| smaller < cost);
            return smaller.copied().unwrap_or(0);
        }
    }
    costs.last().copied().unwrap_or(0)
}

/// Per value, the number of its uses by folded ops.
struct Uses {
    inside: Column<u32>,
}

impl Uses {
    fn new(f: &Function, forward: &Forward<'_>, stays: &[bool]) -> Uses {
        let mut inside = Column::new(0);
        let folded = forward.folded.iter().zip(stays);
        for (folded, _) in folded.filter(|(_, stays)| !**stays) {
            for value in f.operands(folded.op).filter(|value| value.is_some()) {
                inside.set(value.index(), inside.get(value.index()) + 1);
            }
        }
        Uses { inside }
    }

    /// Whether ops that stay use a value.
    fn are_outside(&self, f: &Function, value: ValueId) -> bool {
        f.use_count(value) > self.inside.get(value.index()) as usize
    }

    /// Marks an op as staying, so its operands are needed.
    fn stays(&mut self, f: &Function, op: OpId) {
        for value in f.operands(op).filter(|value| value.is_some()) {
            let inside = self.inside.get(value.index());
            self.inside.set(value.index(), inside - 1);
        }
    }

    /// Returns the credit of each op: its own and that of the ops that lead only to it. Each of them adds `part` to the
    /// allowed cost.
    fn credits(
        &self,
        f: &Function,
        forward: &Forward<'_>,
        stays: &[bool],
        part: u64,
    ) -> Vec<Credit> {
        // Per value, the credit of each of its uses.
        let mut share = Column::new(Credit::default());
        let mut credits = Vec::with_capacity(forward.folded.len());
        for (folded, &stays) in forward.folded.iter().zip(stays) {
            let of = |value: ValueId| match f.constant(value) {
                _ if self.are_outside(f, value) => Credit::default(),
                Some(id) => Credit {
                    freed: freed(f, id) / u64::from(self.inside.get(value.index()).max(1)),
                    may_cost: 0,
                },
                None => share.get(value.index()),
            };
            let own = Credit {
                may_cost: part,
                ..Credit::OP
            };
            let credit = f.operands(folded.op).map(of).fold(own, Credit::and);
            credits.push(if stays { Credit::default() } else { credit });
            let results = f.results(folded.op);
            let is_kept = stays || results.iter().any(|&result| self.are_outside(f, result));
            let uses: usize = results.iter().map(|&result| f.use_count(result)).sum();
            let each = match is_kept {
                true => Credit::default(),
                false => credit.among(uses.max(1) as u64),
            };
            results
                .iter()
                .for_each(|result| share.set(result.index(), each));
        }
        credits
    }
}

/// The bytes that are freed with an op, and the additional cost that its value may have.
#[derive(Clone, Copy, Default)]
struct Credit {
    freed: u64,
    may_cost: u64,
}

impl Credit {
    /// The credit of an op without its operands.
    const OP: Credit = Credit {
        freed: OP,
        may_cost: 0,
    };

    fn and(self, other: Credit) -> Credit {
        Credit {
            freed: self.freed.saturating_add(other.freed),
            may_cost: self.may_cost.saturating_add(other.may_cost),
        }
    }

    fn among(self, uses: u64) -> Credit {
        Credit {
            freed: self.freed / uses,
            may_cost: self.may_cost / uses,
        }
    }
}
