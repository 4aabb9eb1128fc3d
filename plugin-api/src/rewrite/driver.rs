//! The driver: rewrites a function until no rule applies.
//!
//! It has a worklist of ops, in program order. A rewrite adds the ops that may match now: the new ops, the users of the
//! replaced results, and the definitions of operands that lost a user. So the cost is linear in the number of ops and
//! rewrites, and a function without matches is visited once.

use std::sync::Arc;

use passdock_abi::{LocId, OpId, Status, ValueId};

use super::condition;
use super::locations::SourceLocations;
use super::matching::Match;
use super::operators::Operators;
use super::region_results::{is_region_result, RegionResults};
use super::rewriter::Rewriter;
use super::rules::{Compiled, CompiledSet, Rules};
use super::search;
use crate::data::{EditError, PassError, PassResult};
use crate::ir::{Function, OpBuilder};
use crate::language::RuleError;
use crate::pass::PassContext;

/// The maximum number of users of a value that are added to the worklist when it loses a user.
const FEW: usize = 4;

/// In a module separate from the rest of the context, because rules use the context.
impl PassContext {
    /// Applies rules, which [`rules!`](crate::rules) declares, to a function until none of them applies. The report
    /// counts the rewrites of each rule; the user can disable a rule by its name.
    ///
    /// Ops with ambiguous names aren't matched. New ops get inferred types and the locations of all ops that they
    /// replace, and dead ops are erased. A rewrite that would increase the number of ops isn't done, unless the rule is
    /// marked with `grows`.
    ///
    /// # Errors
    /// If the text of a rule is invalid, its code fails, or the rules don't reach a fixed point.
    pub fn rewrite(&self, f: &mut Function, rules: &[&Rules]) -> PassResult {
        let sets = compiled(rules)?;
        let rules = all_of(&sets);
        let mut driver = Driver {
            operators: Operators::new(&sets),
            rules,
            queue: f.ops().rev().collect(),
            queued: Vec::new(),
            region_results: None,
            locations: SourceLocations::default(),
            most: f.op_count() * 8 + 1000,
            done: 0,
            last: Vec::new(),
        };
        for op in driver.queue.clone() {
            driver.mark(op, true);
        }
        driver.run(f, self)?;
        Ok(driver.locations.set_locations(f)?)
    }
}

/// The number of last rewrites whose rules are reported if there is no fixed point.
const LAST: usize = 16;

/// Compiles sets of rules.
pub(super) fn compiled(rules: &[&Rules]) -> Result<Vec<Arc<CompiledSet>>, PassError> {
    let compiled: Result<_, RuleError> = rules.iter().map(|rules| rules.compiled()).collect();
    compiled.map_err(|error| PassError::new(error.full_message()))
}

/// Returns the rules of all sets.
pub(super) fn all_of(sets: &[Arc<CompiledSet>]) -> Vec<&Compiled> {
    let rules = sets.iter().flat_map(|set| &set.rules);
    rules.map(|rule| &**rule).collect()
}

struct Driver<'r> {
    rules: Vec<&'r Compiled>,
    operators: Operators,
    /// The worklist; the next op is last.
    queue: Vec<OpId>,
    queued: Vec<bool>,
    region_results: Option<RegionResults>,
    locations: SourceLocations,
    most: usize,
    done: usize,
    /// The names of the rules of the last rewrites, once there are too many rewrites.
    last: Vec<&'r str>,
}

impl Driver<'_> {
    fn run(&mut self, f: &mut Function, cx: &PassContext) -> PassResult {
        while let Some(op) = self.queue.pop() {
            self.mark(op, false);
            if !f.is_live(op) {
                continue;
            }
            let count = self.operators.get(f, op).rules.len();
            for at in 0..count {
                let rule = self.operators.get(f, op).rules[at];
                let applied = self.apply(f, cx, rule, op);
                if applied.map_err(|error| PassError::from(error).at(op))? {
                    self.count(rule)?;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Counts a rewrite. Fails if there is no fixed point.
    fn count(&mut self, rule: usize) -> PassResult {
        self.done += 1;
        if self.done <= self.most {
            return Ok(());
        }
        let name = self.rules[rule].rule.name.as_str();
        if !self.last.contains(&name) {
            self.last.push(name);
        }
        if self.done <= self.most + LAST {
            return Ok(());
        }
        let names: Vec<String> = self.last.iter().map(|n| format!("`{}`", n)).collect();
        Err(PassError::new(format!(
            "rules do not reach a fixed point: {} rewrites, the last ones by {}; remove one of these rules, or add a \
             condition to it",
            self.done,
            names.join(", ")
        )))
    }

    fn mark(&mut self, op: OpId, is_queued: bool) -> bool {
        let at = op.0 as usize;
        if at >= self.queued.len() {
            self.queued.resize(at + 1, false);
        }
        std::mem::replace(&mut self.queued[at], is_queued)
    }

    fn push(&mut self, op: OpId) {
        if !self.mark(op, true) {
            self.queue.push(op);
        }
    }

    /// Applies a rule to a match that has `op` as its root, or as the end of one without the optional last op. Returns
    /// whether anything changed.
    fn apply(
        &mut self,
        f: &mut Function,
        cx: &PassContext,
        rule: usize,
        op: OpId,
    ) -> Result<bool, EditError> {
        let one = self.rules[rule];
        let rule = (rule, &one.rule);
        for root in search::roots_from(f, &mut self.operators, rule, op) {
            let found = search::find(f, cx, &mut self.operators, rule, root, op)?;
            if let Some((matched, declared)) = found {
                let is_done = self.apply_match(f, cx, one, matched);
                declared.put_back(f)?;
                if is_done? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn apply_match(
        &mut self,
        f: &mut Function,
        cx: &PassContext,
        one: &Compiled,
        matched: Match<'_>,
    ) -> Result<bool, EditError> {
        let root = matched.root();
        if !cx.may_rewrite(&one.rule.name) {
            return Ok(false);
        }
        let mut rewriter = Rewriter::new(f, cx, &matched);
        let values = match (&one.code, &one.rule.after) {
            (Some(code), _) => code(&mut rewriter, &matched),
            (None, Some(after)) => rewriter.build(after, &matched).map(Some),
            (None, None) => Ok(None),
        };
        let values = match values {
            // The definition rejects a new op: the rewrite is undone.
            Err(error) if error.status == Status::REJECTED => None,
            values => values?,
        };
        let mut values = match values {
            Some(mut values) if fits(rewriter.f, one, &matched, rewriter.created(), &values) => {
                // Results that the pattern doesn't name have no users.
                values.resize(rewriter.f.result_count(root), ValueId::NONE);
                values
            }
            _ => {
                rewriter.take_back()?;
                return Ok(false);
            }
        };
        // A rewrite with copies must reduce the number of ops; without copies, the number may stay the same.
        let copies = self.needs_copy(rewriter.f, root, &values);
        let created = rewriter.created().len() + copies.len();
        let dead_ops = dead_ops(rewriter.f, root, &values, created + 1);
        let is_worth =
            one.rule.grows || created < dead_ops || created == dead_ops && copies.is_empty();
        if !is_worth {
            rewriter.take_back()?;
            return Ok(false);
        }
        for at in copies {
            let ty = rewriter.f.type_id(rewriter.f.result(root, at));
            let copy = OpBuilder::new("onnx.Identity")
                .operand(values[at])
                .result(ty);
            values[at] = rewriter.copy(copy)?;
        }
        let is_done = self.replace(rewriter, &matched, &values)?;
        if is_done {
            cx.rewrote(&one.rule.name);
        }
        Ok(is_done)
    }

    /// Replaces the root, and adds the ops that may match now to the worklist. Returns whether it could be done.
    fn replace(
        &mut self,
        rewriter: Rewriter<'_>,
        matched: &Match<'_>,
        values: &[ValueId],
    ) -> Result<bool, EditError> {
        let f = &*rewriter.f;
        let root = matched.root();
        let mut requeued: Vec<OpId> = Vec::new();
        let around = matched.values.iter().chain(matched.lists.iter().flatten());
        let around: Vec<ValueId> = around.copied().filter(|value| !value.is_none()).collect();
        requeued.extend(matched.ops().iter().rev());
        requeued.extend(around.iter().filter_map(|value| f.defining_op(*value)));
        for result in f.results(root) {
            requeued.extend(f.iter_uses(*result).map(|one| one.op));
        }
        requeued.extend(rewriter.created());
        let from = matched.ops().iter().rev().map(|op| (*op, f.loc(*op)));
        let mut from: Vec<(OpId, LocId)> = from.collect();
        let results = f.results(root).to_vec();
        // The ops that replace the root: new ones, and ops of an earlier rewrite whose result has no name yet.
        let replacements = values.iter().filter_map(|value| {
            let op = f.defining_op(*value)?;
            let is_earlier =
                self.locations.rewrite_of(op).is_some() && f.value_name(*value).is_none();
            (rewriter.created().contains(&op) || is_earlier).then_some(op)
        });
        let replacements: Vec<OpId> = replacements.collect();
        let used = f.used_by(root);
        match rewriter.f.replace_op_with(root, values) {
            Ok(()) => from.extend(rewriter.f.erase_all_dead(used)?),
            // The replacement contradicts the declared type of the result.
            Err(error) if error.status == Status::REJECTED => {
                rewriter.take_back()?;
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        self.locations.note(&from, &replacements);
        if let Some(region_results) = &mut self.region_results {
            for (from, to) in results.iter().zip(values) {
                region_results.replace(*from, *to);
            }
        }
        let f = &*rewriter.f;
        for value in around {
            if f.is_live_value(value) && f.use_count(value) <= FEW {
                requeued.extend(f.iter_uses(value).map(|one| one.op));
            }
        }
        rewriter.finish()?;
        for op in requeued.into_iter().rev() {
            self.push(op);
        }
        Ok(true)
    }

    /// Returns the indices of results that need a copy: their region would otherwise yield a value of another region,
    /// or the same value twice.
    fn needs_copy(&mut self, f: &Function, root: OpId, values: &[ValueId]) -> Vec<usize> {
        let mut copies = Vec::new();
        for (at, value) in values.iter().enumerate() {
            let result = f.result(root, at);
            if value.is_none() || !is_region_result(f, result) {
                continue;
            }
            let region_results = self
                .region_results
                .get_or_insert_with(|| RegionResults::new(f));
            if region_results.needs_copy(f, result, *value) {
                copies.push(at);
            }
        }
        copies
    }
}

/// Whether values can replace the results of a root.
fn fits(
    f: &Function,
    one: &Compiled,
    matched: &Match<'_>,
    created: &[OpId],
    values: &[ValueId],
) -> bool {
    let root = matched.root();
    let results = f.results(root);
    if values.len() > results.len() {
        return false;
    }
    // Results that the pattern doesn't name have no uses, so they need no replacement.
    values.iter().zip(results).all(|(value, result)| {
        let is_created = f
            .defining_op(*value)
            .map_or(false, |def| created.contains(&def));
        if is_created || one.rule.keeps_type {
            return true;
        }
        if value.is_none() {
            return f.use_count(*result) == 0;
        }
        if f.dtype(*value) != f.dtype(*result) {
            return false;
        }
        condition::same_shape(f, *value, *result) == Some(true)
            || is_stretched_by_all(f, root, *value)
    })
}

/// Whether an op works element by element, and this operand has the shape of the result.
fn is_stretched_by_all(f: &Function, op: OpId, operand: ValueId) -> bool {
    let mut operands = f.operands(op);
    f.traits(op).is_elementwise()
        && operands.any(|other| other == operand)
        && f.operands(op).all(|other| {
            other == operand || condition::broadcasts_to(f, other, operand) == Some(true)
        })
}

/// Returns the number of ops that become dead when these values replace the root, at most `enough`.
fn dead_ops(f: &Function, root: OpId, values: &[ValueId], enough: usize) -> usize {
    let mut dead_ops = vec![root];
    let mut next = 0;
    while next < dead_ops.len() && dead_ops.len() < enough {
        for operand in f.operands(dead_ops[next]) {
            let def = match operand.option().and_then(|operand| f.defining_op(operand)) {
                Some(def) if !dead_ops.contains(&def) && f.traits(def).is_pure() => def,
                _ => continue,
            };
            let is_unused = f.results(def).iter().all(|result| {
                !values.contains(result)
                    && f.iter_uses(*result).all(|one| dead_ops.contains(&one.op))
            });
            // An op with other users is visited again when the last of them is dead.
            if is_unused {
                dead_ops.push(def);
            }
        }
        next += 1;
    }
    dead_ops.len()
}
