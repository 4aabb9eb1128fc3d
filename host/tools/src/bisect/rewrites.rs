//! The rewrite that breaks the module, found by a binary search over the number of rewrites that a pass may do.
//!
//! The pass runs again on its input module with a limit on the number of rewrites. Rewrites happen in the same order,
//! so the outputs of the last good limit and the first bad one differ by one rewrite.

use passdock_ir::Module;
use serde::Serialize;

use super::Verdict;
use crate::diff::{self, Change, Diff, OpDiff};
use crate::search::first_bad;
use passdock_core::{ErrorKind, FailureSite, PassContext, PassError, PassRef, PassRun, run};
use passdock_driver::reproducer::Failure;

/// The rewrite that breaks a model, or in which a pass fails.
#[derive(Clone, Debug, Serialize)]
pub struct BadRewrite {
    /// The 1-based index of the rewrite within the pass.
    pub number: u64,
    /// The number of rewrites that the pass does, including one in which it fails.
    pub count: u64,
    /// The rule.
    pub rule: String,
    /// The function that is rewritten; `None` if the pass fails before the rewrite is done.
    pub function: Option<String>,
    /// The ONNX node that is rewritten, or the op's line in IR text if it comes from no node.
    pub op: Option<String>,
    /// The changes of the rewrite; `None` if the pass fails before it is done.
    pub diff: Option<Diff>,
}

/// A rewrite with its context and the modules around it.
pub(super) struct Narrowed {
    pub(super) rewrite: BadRewrite,
    /// The pass's context, with a limit that makes this rewrite the last one.
    pub(super) context: PassContext,
    /// The modules before and after the rewrite; `None` if the pass fails.
    pub(super) around: Option<(Module, Module)>,
}

/// Finds the rewrite that makes a good module bad; `None` if no single one does or the check is inconclusive.
pub(super) fn narrow(
    pass: &PassRun,
    context: &PassContext,
    oracle: &mut dyn FnMut(String, &Module) -> Result<Verdict, PassError>,
) -> Result<Option<Narrowed>, PassError> {
    let limited_pass = LimitedPass {
        context,
        pass: &pass.pass,
        before: &pass.before,
    };
    let (all, cx) = limited_pass.run(u64::MAX);
    let (total, _) = cx.last_rewrite();
    // The pass may behave differently when it runs alone.
    let is_same = |module| diff::compare(&pass.after, &module).is_ok_and(|diff| diff.is_same());
    if total == 0 || !all.is_ok_and(is_same) {
        return Ok(None);
    }
    let number = limited_pass.search(total, &mut |number| {
        let candidate = match number {
            0 => "without rewrites".to_owned(),
            number => format!("with {number} of {total} rewrites"),
        };
        match limited_pass.run(number).0 {
            // The module without rewrites was tested before.
            Ok(module) if module.is_same(limited_pass.before) => Ok(Verdict::Good),
            Ok(module) => oracle(candidate, &module),
            Err(_) => Ok(Verdict::Unknown),
        }
    })?;
    Ok(number.and_then(|number| limited_pass.narrowed(number, total)))
}

/// Finds the rewrite in which a pass fails; `None` if it fails without rewriting. If the process crashes, the
/// supervisor repeats this search in another process, where the crash is an error of the pass.
pub(super) fn narrow_failed(error: &PassError, site: &FailureSite) -> Option<Narrowed> {
    let failure = Failure::from(error);
    let limited_pass = LimitedPass {
        context: &site.context,
        pass: site.passes.first()?,
        before: &site.before,
    };
    let verdict = |result: Result<Module, PassError>| match result {
        Ok(_) => Verdict::Good,
        Err(error) if failure.is_same(&Failure::from(&error)) => Verdict::Bad,
        Err(_) => Verdict::Unknown,
    };
    let (all, cx) = limited_pass.run_watched(u64::MAX);
    let (done, last) = match &all {
        Err(error) => last_rewrite(error, &cx),
        Ok(_) => cx.last_rewrite(),
    };
    if last.is_none() || verdict(all) != Verdict::Bad {
        return None;
    }
    // The pass may fail in a rewrite that isn't counted yet.
    let mut oracle = |number| Ok(verdict(limited_pass.run_watched(number).0));
    let number = limited_pass.search(done + 1, &mut oracle).ok()??;
    limited_pass.narrowed(number, done)
}

/// Returns the number of rewrites that a failed run completed, and the rule that it was applying.
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

/// A pass that can run again on its input module with a limit on rewrites.
pub(crate) struct LimitedPass<'r> {
    pub(crate) context: &'r PassContext,
    pub(crate) pass: &'r PassRef,
    pub(crate) before: &'r Module,
}

impl LimitedPass<'_> {
    /// Runs the pass alone with at most `rewrites` rewrites. The returned context has counted them.
    pub(crate) fn run(&self, rewrites: u64) -> (Result<Module, PassError>, PassContext) {
        let cx = self.context.limited(rewrites);
        (run::call(&**self.pass, self.before, &cx, false), cx)
    }

    /// As `run`, with the instruments that can fail passes.
    fn run_watched(&self, rewrites: u64) -> (Result<Module, PassError>, PassContext) {
        let cx = self.context.limited(rewrites);
        let result = cx.scope(|cx| self.pass.call_in(self.before.clone(), cx));
        (result, cx)
    }

    /// Finds the lowest bad number of rewrites, up to `bad`; `None` if no single rewrite is responsible.
    pub(crate) fn search(
        &self,
        bad: u64,
        oracle: &mut dyn FnMut(u64) -> Result<Verdict, PassError>,
    ) -> Result<Option<u64>, PassError> {
        if self.context.settings().rewrite_limit.is_some() || oracle(0)? != Verdict::Good {
            return Ok(None);
        }
        let (good, bad) = first_bad((0, bad as usize), &mut |number| oracle(number as u64))?;
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
                count: done.max(number),
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
