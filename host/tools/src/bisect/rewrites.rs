//! The rewrite by a rule that breaks the module: a search among the numbers of rewrites that a pass may do.
//!
//! The pass runs again on the module before it, in the same order and with rules that stop after so many rewrites. What
//! the last good number makes and what the first bad one makes differ by that rewrite.

use passdock_ir::Module;
use serde::Serialize;

use super::Verdict;
use crate::diff::{self, Change, Diff, OpDiff};
use crate::search::first_bad;
use passdock_core::{ErrorKind, FailureSite, PassContext, PassError, PassRef, PassRun, run};
use passdock_driver::reproducer::Failure;

/// The rewrite that breaks a model, or that a pass fails over.
#[derive(Clone, Debug, Serialize)]
pub struct BadRewrite {
    /// The 1-based index of the rewrite within the pass.
    pub number: u64,
    /// The number of rewrites that the pass does, with the one that it fails in.
    pub of: u64,
    /// The rule.
    pub rule: String,
    /// The function that is rewritten; `None` if the pass fails first.
    pub function: Option<String>,
    /// The ONNX node that is rewritten, or its op as IR text has it if it came from none.
    pub op: Option<String>,
    /// The changes of the rewrite; `None` if the pass fails first.
    pub diff: Option<Diff>,
}

/// A rewrite, with its context and modules.
pub(super) struct Narrowed {
    pub(super) rewrite: BadRewrite,
    /// The pass's context, under which it is the last rewrite.
    pub(super) context: PassContext,
    /// The modules without it and with it; `None`: the pass fails.
    pub(super) around: Option<(Module, Module)>,
}

/// Finds the rewrite that makes a good module bad; `None` if none does by itself, or the check can't tell which.
pub(super) fn narrow(
    pass: &PassRun,
    context: &PassContext,
    judge: &mut dyn FnMut(String, &Module) -> Result<Verdict, PassError>,
) -> Result<Option<Narrowed>, PassError> {
    let again = LimitedPass {
        context,
        pass: &pass.pass,
        before: &pass.before,
    };
    let (all, cx) = again.run(u64::MAX);
    let (total, _) = cx.last_rewrite();
    // Without the passes around it, a pass may do something else.
    let is_same = |module| diff::compare(&pass.after, &module).is_ok_and(|diff| diff.is_same());
    if total == 0 || !all.is_ok_and(is_same) {
        return Ok(None);
    }
    let number = again.search(total, &mut |number| {
        let candidate = match number {
            0 => "it, without rewrites".to_owned(),
            number => format!("it, with {number} of {total} rewrites"),
        };
        match again.run(number).0 {
            // It was judged.
            Ok(module) if module.is_same(again.before) => Ok(Verdict::Good),
            Ok(module) => judge(candidate, &module),
            Err(_) => Ok(Verdict::Unknown),
        }
    })?;
    Ok(number.and_then(|number| again.narrowed(number, total)))
}

/// Finds the rewrite in which a pass fails; `None` if it fails without any. If the process crashes, the supervisor runs
/// this search again in another one, where the pass fails instead.
pub(super) fn narrow_failed(error: &PassError, site: &FailureSite) -> Option<Narrowed> {
    let failure = Failure::from(error);
    let again = LimitedPass {
        context: &site.context,
        pass: site.passes.first()?,
        before: &site.before,
    };
    let verdict = |result: Result<Module, PassError>| match result {
        Ok(_) => Verdict::Good,
        Err(error) if failure.is_same(&Failure::from(&error)) => Verdict::Bad,
        Err(_) => Verdict::Unknown,
    };
    let (all, cx) = again.run_watched(u64::MAX);
    let (done, last) = match &all {
        Err(error) => last_rewrite(error, &cx),
        Ok(_) => cx.last_rewrite(),
    };
    if last.is_none() || verdict(all) != Verdict::Bad {
        return None;
    }
    // It may fail in the middle of one that isn't counted yet.
    let mut judge = |number| Ok(verdict(again.run_watched(number).0));
    let number = again.search(done + 1, &mut judge).ok()??;
    again.narrowed(number, done)
}

/// The number of rewrites that a run did which failed, and the rule that was at it.
fn last_rewrite(error: &PassError, cx: &PassContext) -> (u64, Option<String>) {
    let crash = error.termination.as_ref();
    match crash.filter(|_| error.kind == ErrorKind::Crashed) {
        Some(crash) => {
            let (count, rule) = crash.rewrites.clone().unzip();
            (count.unwrap_or(0), rule)
        }
        None => cx.last_rewrite(),
    }
}

/// A pass that runs again on the module before it.
pub(crate) struct LimitedPass<'r> {
    pub(crate) context: &'r PassContext,
    pub(crate) pass: &'r PassRef,
    pub(crate) before: &'r Module,
}

impl LimitedPass<'_> {
    /// Runs the pass alone with at most so many rewrites, which the context counts.
    pub(crate) fn run(&self, rewrites: u64) -> (Result<Module, PassError>, PassContext) {
        let cx = self.context.limited(rewrites);
        (run::call(&**self.pass, self.before, &cx, false), cx)
    }

    /// As `run`, with the instruments that judge passes.
    fn run_watched(&self, rewrites: u64) -> (Result<Module, PassError>, PassContext) {
        let cx = self.context.limited(rewrites);
        let result = cx.scope(|cx| self.pass.call_in(self.before.clone(), cx));
        (result, cx)
    }

    /// Finds the first number of rewrites that is bad, up to one that is; `None` if no single rewrite is to blame.
    pub(crate) fn search(
        &self,
        bad: u64,
        judge: &mut dyn FnMut(u64) -> Result<Verdict, PassError>,
    ) -> Result<Option<u64>, PassError> {
        if self.context.settings().rewrite_limit.is_some() || judge(0)? != Verdict::Good {
            return Ok(None);
        }
        let (good, bad) = first_bad((0, bad as usize), &mut |number| judge(number as u64))?;
        Ok((bad - good == 1).then_some(bad as u64))
    }

    /// Describes one rewrite.
    fn narrowed(&self, number: u64, done: u64) -> Option<Narrowed> {
        let (bad, context) = self.run(number);
        let (_, rule) = match &bad {
            Err(error) => last_rewrite(error, &context),
            Ok(_) => context.last_rewrite(),
        };
        let around = self.run(number - 1).0.ok().zip(bad.ok());
        let diff = around.as_ref();
        let diff = diff.and_then(|(good, bad)| diff::compare(good, bad).ok());
        let function = diff.as_ref().and_then(|diff| diff.functions.first());
        Some(Narrowed {
            rewrite: BadRewrite {
                number,
                of: done.max(number),
                rule: rule?,
                function: function.map(|function| function.name.clone()),
                op: function.and_then(|function| rewritten(&function.ops)),
                diff,
            },
            context,
            around,
        })
    }
}

/// Returns the op that a rule was applied to: the last one that was removed, or the first that changed.
fn rewritten(ops: &[OpDiff]) -> Option<String> {
    let with = |change: Change| ops.iter().filter(move |op| op.change == change);
    let op = with(Change::Removed).next_back();
    let op = op.or_else(|| with(Change::Changed).next())?;
    Some(op.location.clone().unwrap_or_else(|| op.op.clone()))
}
