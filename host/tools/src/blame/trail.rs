//! An op followed through the passes that ran.

use passdock_abi::OpId;
use passdock_core::{PassError, PassRun};
use passdock_driver::pipeline::Rerun;
use passdock_ir::Function;
use rustc_hash::FxHashSet;

use super::around::PairedFunction;
use super::find::{self, OpRef};
use super::{BlameAction, BlameStep, Makers, output, rule};
use crate::diff::PairedOp;

/// The most ops that one op's past is followed to.
const MOST_OPS: usize = 64;

/// The runs of passes, and what became of which op in each.
pub(super) struct Trail<'r> {
    pub(super) rerun: &'r Rerun,
    pub(super) runs: &'r [PassRun],
}

impl Trail<'_> {
    /// Follows an op of the last module back, and those that it came from; if the name that it was asked for by is an
    /// output's, also the ops that made that output before.
    pub(super) fn back(&self, place: OpRef, asked: &str) -> Result<Vec<BlameStep>, PassError> {
        let mut steps = Vec::new();
        let mut places = vec![place];
        for run in self.runs.iter().rev() {
            let mut here = Vec::new();
            let mut before = Vec::new();
            if let Some((maker, step)) = output::moved(self.rerun, run, asked)? {
                here.push(step);
                before.push(maker);
            }
            for place in places {
                before.extend(self.before(run, place, &mut here)?);
            }
            let mut met = FxHashSet::default();
            before.retain(|place| met.len() < MOST_OPS && met.insert(place.clone()));
            places = before;
            steps.splice(0..0, here);
        }
        steps.dedup();
        Ok(steps)
    }

    /// Returns what an op was before a pass, or the ops that the pass made it of.
    fn before(
        &self,
        run: &PassRun,
        mut place: OpRef,
        steps: &mut Vec<BlameStep>,
    ) -> Result<Vec<OpRef>, PassError> {
        let around = PairedFunction::in_run(run, &place.function)?;
        if around.is_none() && run.before.function_named(&place.function).is_some() {
            // The pass left the function alone.
            return Ok(vec![place]);
        }
        if let Some(around) = &around
            && let Some(pair) = around.pair_of(place.op)
        {
            if around.is_changed(pair) {
                let rule = rule::find(self.rerun, run, |made| rule::has(made, run, &place, true));
                let mut step = step(run, BlameAction::Changed, rule);
                step.names = find::names(around.new, place.op);
                step.before = vec![find::line(around.old, pair.before)];
                step.after = vec![find::line(around.new, pair.after)];
                step.makers = makers(around, pair, &step);
                steps.push(step);
            }
            place.op = pair.before;
            return Ok(vec![place]);
        }
        let sources = sources(run, around.as_ref(), &place)?;
        let rule = rule::find(self.rerun, run, |made| rule::has(made, run, &place, false));
        let mut step = step(run, BlameAction::Made, rule);
        step.names = place.names(&run.after);
        step.before = sources
            .iter()
            .map(|source| source.line(&run.before))
            .collect();
        step.after = vec![place.line(&run.after)];
        steps.push(step);
        Ok(sources)
    }

    /// What was done with an op of the first module, up to its end.
    pub(super) fn forward(&self, mut place: OpRef) -> Result<Vec<BlameStep>, PassError> {
        let mut steps = Vec::new();
        for run in self.runs {
            let Some(around) = PairedFunction::in_run(run, &place.function)? else {
                if run.after.function_named(&place.function).is_some() {
                    continue;
                }
                // It went with its function.
                let mut step = step(run, BlameAction::Removed, None);
                step.names = place.names(&run.before);
                step.before = vec![place.line(&run.before)];
                steps.push(step);
                break;
            };
            let pair = around.pairs.iter().find(|pair| pair.before == place.op);
            let (what, after) = match pair {
                Some(pair) if !around.is_changed(pair) => {
                    place.op = pair.after;
                    continue;
                }
                Some(pair) => (BlameAction::Changed, vec![pair.after]),
                None => (BlameAction::Removed, around.heirs(place.op)),
            };
            let changed = pair.map(|pair| OpRef {
                function: place.function.clone(),
                op: pair.after,
            });
            let rule = rule::find(self.rerun, run, |made| match &changed {
                Some(changed) => rule::has(made, run, changed, true),
                None => rule::lacks(made, run, &place),
            });
            let mut step = step(run, what, rule);
            step.names = find::names(around.old, place.op);
            step.before = vec![find::line(around.old, place.op)];
            step.after = lines(around.new, &after);
            step.makers = pair.map_or(Vec::new(), |pair| makers(&around, pair, &step));
            steps.push(step);
            match changed {
                Some(changed) => place = changed,
                None => break,
            }
        }
        Ok(steps)
    }
}

/// What a pass made an op of: ops of its function or, if there are none, of others that the pass changed or took away,
/// as one that outlines or inlines does.
fn sources(
    run: &PassRun,
    around: Option<&PairedFunction<'_>>,
    place: &OpRef,
) -> Result<Vec<OpRef>, PassError> {
    let here = around.map_or(Vec::new(), |around| around.sources(place.op));
    if !here.is_empty() {
        let place_of = |op| OpRef {
            function: place.function.clone(),
            op,
        };
        return Ok(here.into_iter().map(place_of).collect());
    }
    let names = place.names(&run.after);
    let mut sources = Vec::new();
    for f in run.before.functions() {
        let function = f.text(f.name()).to_owned();
        let around = PairedFunction::in_run(run, &function)?;
        if around.is_none() && run.after.function_named(&function).is_some() {
            continue;
        }
        let stays = around.map_or(Vec::new(), |around| around.pairs);
        let is_source = |op: &OpId| {
            !stays.iter().any(|pair| pair.before == *op)
                && find::names(f, *op)
                    .iter()
                    .any(|name| find::is_from(&names, name))
        };
        let found = f.walk(f.body()).filter(is_source);
        sources.extend(found.map(|op| OpRef {
            function: function.clone(),
            op,
        }));
    }
    Ok(sources)
}

pub(super) fn step(run: &PassRun, what: BlameAction, rule: Option<String>) -> BlameStep {
    BlameStep {
        pass: run.pass.info().name.clone(),
        requested_by: run.requested_by.clone(),
        what,
        rule,
        names: Vec::new(),
        before: Vec::new(),
        after: Vec::new(),
        makers: Vec::new(),
    }
}

/// What makes the operands of an op that a pass changed, if its line doesn't tell.
fn makers(around: &PairedFunction<'_>, pair: &PairedOp, step: &BlameStep) -> Vec<Makers> {
    match step.before == step.after {
        true => around.makers(pair),
        false => Vec::new(),
    }
}

fn lines(f: &Function, ops: &[OpId]) -> Vec<String> {
    ops.iter().map(|&op| find::line(f, op)).collect()
}
