//! The driver: rewrites a function until no rule applies.
//!
//! A worklist of ops, in program order; a rewrite puts back what it may have made possible: the ops that it made,
//! the users of what it replaced, and what made the operands that lost a user. So the work is linear in the ops
//! and the rewrites, and a function that no rule applies to is looked at once.

use std::sync::Arc;

use passdock_abi::{LocId, OpId, Status, ValueId};

use super::condition;
use super::declared::Declared;
use super::locations::SourceLocations;
use super::matching::{self, Match};
use super::operators::Operators;
use super::region_results::{is_region_result, RegionResults};
use super::rewriter::Rewriter;
use super::rules::{Compiled, CompiledSet, Rules};
use crate::data::{EditError, PassError, PassResult};
use crate::ir::{Function, OpBuilder};
use crate::pass::PassContext;

/// Users of a value that are looked at again when it lost another.
const FEW: usize = 4;

/// The rewriting is here and not beside the rest of the context: a rule's code has a context, too.
impl PassContext {
    /// Rewrites a function by rules, which [`rules!`](crate::rules) writes, until none of them applies. The
    /// report counts each rule's rewrites; the user can disable a rule by its name.
    ///
    /// Shadowed operators are left alone. What a rule makes has its types inferred and the locations of all that
    /// it replaces; what nobody needs any more is erased. A rewrite that would leave more ops than before isn't
    /// done, unless the rule says `grows`.
    ///
    /// # Errors
    /// If the text of a rule is wrong, its code fails, or rules undo each other without an end.
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

/// The rewrites that are looked at to tell the rules that go on for ever.
const LAST: usize = 16;

/// What these sets of rules are.
pub(super) fn compiled(rules: &[&Rules]) -> Result<Vec<Arc<CompiledSet>>, PassError> {
    let compiled = rules.iter().map(|rules| {
        rules.compiled().map_err(|error| {
            let message = format!("The rule `{}` can't be read: {}", error.rule, error.message);
            PassError::new(match error.help.is_empty() {
                true => message,
                false => format!("{} {}", message, error.help),
            })
        })
    });
    compiled.collect()
}

/// The rules of sets.
pub(super) fn all_of(sets: &[Arc<CompiledSet>]) -> Vec<&Compiled> {
    let rules = sets.iter().flat_map(|set| &set.rules);
    rules.map(|rule| &**rule).collect()
}

struct Driver<'r> {
    rules: Vec<&'r Compiled>,
    operators: Operators,
    /// Ops to look at, the next one last.
    queue: Vec<OpId>,
    queued: Vec<bool>,
    region_results: Option<RegionResults>,
    locations: SourceLocations,
    most: usize,
    done: usize,
    /// The names of the rules that were applied last, once there are too many.
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

    /// Fails if rules go on for ever.
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
            "Rules rewrite what rules made, without an end: {} rewrites, the last ones by {}. Remove one of the \
             rules, or give it a condition that doesn't hold of what they make.",
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

    /// Rewrites by a rule with an op as its root; answers whether anything changed.
    fn apply(
        &mut self,
        f: &mut Function,
        cx: &PassContext,
        rule: usize,
        root: OpId,
    ) -> Result<bool, EditError> {
        let one = self.rules[rule];
        let matched = match matching::find(f, cx, &mut self.operators, (rule, &one.rule), root)? {
            Some(matched) => matched,
            None => return Ok(false),
        };
        let declared = Declared::put_aside(f, cx, &matched)?;
        let is_done = self.apply_found(f, cx, one, matched);
        declared.put_back(f)?;
        is_done
    }

    fn apply_found(
        &mut self,
        f: &mut Function,
        cx: &PassContext,
        one: &Compiled,
        matched: Match<'_>,
    ) -> Result<bool, EditError> {
        let root = matched.root();
        if !condition::hold(f, &matched)? || !cx.may_rewrite(&one.rule.name) {
            return Ok(false);
        }
        let mut rewriter = Rewriter::new(f, cx, &matched);
        let values = match (&one.code, &one.rule.after) {
            (Some(code), _) => code(&mut rewriter, &matched),
            (None, Some(after)) => rewriter.build(after, &matched).map(Some),
            (None, None) => Ok(None),
        };
        let values = match values {
            // An op that its definition calls wrong isn't made, and neither is the rest.
            Err(error) if error.status == Status::REFUSED => None,
            values => values?,
        };
        let mut values = match values {
            Some(mut values) if fits(rewriter.f, one, &matched, rewriter.created(), &values) => {
                // Nobody uses the results that the pattern doesn't name.
                values.resize(rewriter.f.result_count(root), ValueId::NONE);
                values
            }
            _ => {
                rewriter.take_back()?;
                return Ok(false);
            }
        };
        // A copy has to be worth it; another op in the place of one needn't.
        let copies = self.needs_copy(rewriter.f, root, &values);
        let created = rewriter.created().len() + copies.len();
        let dying = dying(rewriter.f, root, &values, created + 1);
        let is_worth = one.rule.grows || created < dying || created == dying && copies.is_empty();
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

    /// Replaces the root, and queues what that may have made possible; answers whether it could be done.
    fn replace(
        &mut self,
        rewriter: Rewriter<'_>,
        matched: &Match<'_>,
        values: &[ValueId],
    ) -> Result<bool, EditError> {
        let f = &*rewriter.f;
        let root = matched.root();
        let mut again: Vec<OpId> = Vec::new();
        let around = matched.values.iter().chain(matched.lists.iter().flatten());
        let around: Vec<ValueId> = around.copied().filter(|value| !value.is_none()).collect();
        again.extend(matched.ops.iter().rev());
        again.extend(around.iter().filter_map(|value| f.defining_op(*value)));
        for result in f.results(root) {
            again.extend(f.iter_uses(*result).map(|one| one.op));
        }
        again.extend(rewriter.created());
        let from = matched.ops.iter().rev().map(|op| (*op, f.loc(*op)));
        let mut from: Vec<(OpId, LocId)> = from.collect();
        let results = f.results(root).to_vec();
        // What stands for the root: what was made for it, and an op of an earlier rewrite that has no name for the
        // result yet.
        let stands = values.iter().filter_map(|value| {
            let op = f.defining_op(*value)?;
            let is_earlier =
                self.locations.rewrite_of(op).is_some() && f.value_name(*value).is_none();
            (rewriter.created().contains(&op) || is_earlier).then_some(op)
        });
        let stands: Vec<OpId> = stands.collect();
        let used = f.used_by(root);
        match rewriter.f.replace_op_with(root, values) {
            Ok(()) => from.extend(rewriter.f.erase_all_dead(used)?),
            // What the file declares of the result says otherwise.
            Err(error) if error.status == Status::REFUSED => {
                rewriter.take_back()?;
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        self.locations.note(&from, &stands);
        if let Some(region_results) = &mut self.region_results {
            for (from, to) in results.iter().zip(values) {
                region_results.replace(*from, *to);
            }
        }
        let f = &*rewriter.f;
        for value in around {
            if f.is_live_value(value) && f.use_count(value) <= FEW {
                again.extend(f.iter_uses(value).map(|one| one.op));
            }
        }
        rewriter.finish()?;
        for op in again.into_iter().rev() {
            self.push(op);
        }
        Ok(true)
    }

    /// The results of a root that need a copy in their place: its region would give out what isn't its own, or the
    /// same twice.
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

/// Whether values may stand for the results of a root.
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
    // The results that the pattern doesn't name have no uses, so anything stands for them.
    values.iter().zip(results).all(|(value, result)| {
        let is_made = f
            .defining_op(*value)
            .map_or(false, |def| created.contains(&def));
        if is_made || one.rule.keeps_type {
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
            other == operand || condition::stretches_to(f, other, operand) == Some(true)
        })
}

/// The number of ops that nobody needs when these values stand in the root's place; counted no further than to
/// `enough`.
fn dying(f: &Function, root: OpId, values: &[ValueId], enough: usize) -> usize {
    let mut dying = vec![root];
    let mut next = 0;
    while next < dying.len() && dying.len() < enough {
        for operand in f.operands(dying[next]) {
            let def = match operand.option().and_then(|operand| f.defining_op(operand)) {
                Some(def) if !dying.contains(&def) && f.traits(def).is_pure() => def,
                _ => continue,
            };
            let is_unused = f.results(def).iter().all(|result| {
                !values.contains(result) && f.iter_uses(*result).all(|one| dying.contains(&one.op))
            });
            // One that others use is looked at again when the last of them is dying.
            if is_unused {
                dying.push(def);
            }
        }
        next += 1;
    }
    dying.len()
}
