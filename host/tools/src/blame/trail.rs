//! Following an op through the passes that ran.

use passdock_abi::OpId;
use passdock_core::{PassError, PassRun};
use passdock_driver::oracle::Verdict;
use passdock_driver::pipeline::Rerun;
use passdock_ir::{Function, Module};
use rustc_hash::FxHashSet;

use super::find::{self, OpRef};
use super::paired::PairedFunction;
use super::{BlameAction, BlameStep};
use crate::bisect::rewrites::LimitedPass;
use crate::diff::PairedOp;
use crate::queries::node_names;

/// The maximum number of ops that are followed at once.
const MAX_OPS: usize = 64;

/// The runs of passes through which an op is followed.
pub(super) struct Trail<'r> {
    pub(super) rerun: &'r Rerun,
    pub(super) runs: &'r [PassRun],
}

impl Trail<'_> {
    /// Follows an op of the last module and its sources backwards. If `name` is an output, also follows the ops that
    /// produced the output earlier.
    pub(super) fn back(&self, op: OpRef, name: &str) -> Result<Vec<BlameStep>, PassError> {
        let mut steps = Vec::new();
        let mut ops = vec![op];
        for run in self.runs.iter().rev() {
            let mut here = Vec::new();
            let mut before = Vec::new();
            if let Some((producer, step)) = self.moved(run, name)? {
                here.push(step);
                before.push(producer);
            }
            for op in ops {
                before.extend(self.before(run, op, &mut here)?);
            }
            let mut unique = FxHashSet::default();
            before.retain(|op| unique.len() < MAX_OPS && unique.insert(op.clone()));
            ops = before;
            steps.splice(0..0, here);
        }
        steps.dedup();
        Ok(steps)
    }

    /// Returns the op before a pass, or its sources if the pass created it.
    fn before(
        &self,
        run: &PassRun,
        mut op: OpRef,
        steps: &mut Vec<BlameStep>,
    ) -> Result<Vec<OpRef>, PassError> {
        let paired = PairedFunction::new(&run.before, &run.after, &op.function)?;
        if paired.is_none() && run.before.function_named(&op.function).is_some() {
            // The pass didn't change the function.
            return Ok(vec![op]);
        }
        let pair = paired
            .as_ref()
            .and_then(|paired| Some((paired, paired.pair_of(op.op)?)));
        if let Some((paired, pair)) = pair {
            let names = find::names(paired.new, op.op);
            steps.extend(self.changed(run, paired, pair, &op, names));
            op.op = pair.before;
            return Ok(vec![op]);
        }
        let sources = sources(run, paired.as_ref(), &op)?;
        let rule = self.rule(run, |output| has(output, run, &op, false));
        let before = sources.iter().map(|source| source.line(&run.before));
        let lines = [before.collect(), vec![op.line(&run.after)]];
        let names = op.nodes(&run.after);
        steps.push(step(run, BlameAction::Created, rule, names, lines));
        Ok(sources)
    }

    /// Follows an op of the first module, until a pass removes it.
    pub(super) fn forward(&self, mut op: OpRef) -> Result<Vec<BlameStep>, PassError> {
        let mut steps = Vec::new();
        for run in self.runs {
            let Some(paired) = PairedFunction::new(&run.before, &run.after, &op.function)? else {
                if run.after.function_named(&op.function).is_some() {
                    continue;
                }
                // The pass removed the function.
                let (names, line) = (op.nodes(&run.before), op.line(&run.before));
                let lines = [vec![line], Vec::new()];
                steps.push(step(run, BlameAction::Removed, None, names, lines));
                break;
            };
            let names = find::names(paired.old, op.op);
            let Some(pair) = paired.pairs.iter().find(|pair| pair.before == op.op) else {
                let before = lines(paired.old, &[op.op]);
                let after = lines(paired.new, &paired.replacements(op.op));
                // The first rewrite after which the op is gone.
                let rule = self.rule(run, |output| {
                    let paired = PairedFunction::new(&run.before, output, &op.function);
                    let is_removed = |paired: PairedFunction<'_>| !paired.is_paired(op.op);
                    paired.ok().flatten().is_some_and(is_removed)
                });
                let lines = [before, after];
                steps.push(step(run, BlameAction::Removed, rule, names, lines));
                break;
            };
            op.op = pair.after;
            steps.extend(self.changed(run, &paired, pair, &op, names));
        }
        Ok(steps)
    }

    /// Returns the step in which a pass changed `op`, its result, or the producers of its operands; `None` if it
    /// didn't.
    fn changed(
        &self,
        run: &PassRun,
        paired: &PairedFunction<'_>,
        pair: &PairedOp,
        op: &OpRef,
        names: Vec<String>,
    ) -> Option<BlameStep> {
        if !paired.is_changed(pair) {
            return None;
        }
        let rule = self.rule(run, |output| has(output, run, op, true));
        let before = lines(paired.old, &[pair.before]);
        let after = lines(paired.new, &[pair.after]);
        let mut step = step(run, BlameAction::Changed, rule, names, [before, after]);
        step.producers = paired.producers(pair, &step);
        Some(step)
    }

    /// Returns the op that produced an output until a pass replaced it with another existing op. An op that the pass
    /// created from the producer is reported as created.
    fn moved(&self, run: &PassRun, name: &str) -> Result<Option<(OpRef, BlameStep)>, PassError> {
        let name = name.strip_prefix('%').unwrap_or(name);
        let producers = [&run.before, &run.after].map(|module| find::output(module, name));
        let [Some(old), Some(new)] = producers else {
            return Ok(None);
        };
        let Some(paired) = PairedFunction::new(&run.before, &run.after, &old.function)? else {
            return Ok(None);
        };
        let is_unchanged = match paired.pair_of(new.op) {
            Some(pair) => pair.before == old.op,
            None => paired.sources(new.op).contains(&old.op),
        };
        if is_unchanged {
            return Ok(None);
        }
        // The first rewrite after which another op produces the output.
        let rule = self.rule(run, |output| {
            let paired = PairedFunction::new(&run.before, output, &old.function);
            let (Ok(Some(paired)), Some(producer)) = (paired, find::output(output, name)) else {
                return false;
            };
            let pair = paired.pair_of(producer.op);
            pair.is_none_or(|pair| pair.before != old.op)
        });
        let names = old.nodes(&run.before);
        let lines = [vec![old.line(&run.before)], vec![new.line(&run.after)]];
        let step = step(run, BlameAction::Moved, rule, names, lines);
        Ok(Some((old, step)))
    }

    /// Finds the rule of the first rewrite after which `is_done` holds for the pass's output. The pass runs again with
    /// limits on rewrites. Returns `None` if no rule is responsible, or if the pass behaves differently alone.
    fn rule(&self, run: &PassRun, is_done: impl Fn(&Module) -> bool) -> Option<String> {
        let limited = LimitedPass {
            context: self.rerun.context(),
            pass: &run.pass,
            before: &run.before,
        };
        let verdict = |rewrites: u64| match limited.run(rewrites).0 {
            Ok(output) if !output.is_same(&run.before) && is_done(&output) => Verdict::Bad,
            _ => Verdict::Good,
        };
        let (all, _) = limited.run(u64::MAX).1.last_rewrite();
        if verdict(all) == Verdict::Good {
            return None;
        }
        let first = limited.search(all, &mut |rewrites| Ok(verdict(rewrites)));
        limited.run(first.ok()??).1.last_rewrite().1
    }
}

/// Whether a module has an op of the pass's output; with `exactly`, also unchanged.
fn has(module: &Module, run: &PassRun, op: &OpRef, exactly: bool) -> bool {
    match PairedFunction::new(module, &run.after, &op.function) {
        Ok(Some(paired)) => {
            let pair = paired.pair_of(op.op);
            pair.is_some_and(|pair| !(exactly && paired.is_changed(pair)))
        }
        Ok(None) => module.function_named(&op.function).is_some(),
        Err(_) => false,
    }
}

/// Returns the ops that a pass created an op from. If the op's function has none, they are ops of other functions that
/// the pass changed or removed, as outlining and inlining do.
fn sources(
    run: &PassRun,
    paired: Option<&PairedFunction<'_>>,
    op: &OpRef,
) -> Result<Vec<OpRef>, PassError> {
    if let Some(paired) = paired {
        let own = paired.sources(op.op).into_iter();
        let own: Vec<OpRef> = own.map(|source| OpRef::new(paired.old, source)).collect();
        if !own.is_empty() {
            return Ok(own);
        }
    }
    let names = op.nodes(&run.after);
    let mut sources = Vec::new();
    for f in run.before.functions() {
        let function = f.text(f.name());
        let paired = PairedFunction::new(&run.before, &run.after, function)?;
        if paired.is_none() && run.after.function_named(function).is_some() {
            continue;
        }
        let is_source = |op: &OpId| {
            let mut nodes = node_names(f, f.op(*op).loc);
            paired.as_ref().is_none_or(|paired| !paired.is_paired(*op))
                && nodes.any(|name| find::is_from(&names, name))
        };
        let ops = f.walk(f.body()).filter(is_source);
        sources.extend(ops.map(|op| OpRef::new(f, op)));
    }
    Ok(sources)
}

fn step(
    run: &PassRun,
    action: BlameAction,
    rule: Option<String>,
    nodes: Vec<String>,
    [before, after]: [Vec<String>; 2],
) -> BlameStep {
    BlameStep {
        pass: run.pass.info().name.clone(),
        requested_by: run.requested_by.clone(),
        action,
        rule,
        nodes,
        before,
        after,
        producers: Vec::new(),
    }
}

fn lines(f: &Function, ops: &[OpId]) -> Vec<String> {
    ops.iter().map(|&op| find::line(f, op)).collect()
}
