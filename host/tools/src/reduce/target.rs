//! What goes wrong, and whether it does with another module.

use passdock_ir::Module;

use crate::first_run::FirstRun;
use passdock_core::{ErrorKind, PassError, Registry};
use passdock_driver::judge::{Judge, Verdict};
use passdock_driver::pipeline::{Request, Rerun};
use passdock_driver::reproducer::Failure;

/// The pipeline, and what to look for.
pub(super) struct Target<'c> {
    rerun: Rerun,
    wrong: Wrong<'c>,
}

enum Wrong<'c> {
    /// A pass fails like this.
    Fails(Failure),
    /// The check calls a module good, and what becomes of it bad.
    Judged(Box<Judge<'c>>),
}

impl<'c> Target<'c> {
    /// Runs the pipeline on the whole module, to see what goes wrong.
    pub(super) fn new(
        registry: &Registry,
        request: &Request,
        module: &Module,
        check: Option<Box<Judge<'c>>>,
    ) -> Result<Target<'c>, PassError> {
        let FirstRun { rerun, end, .. } = FirstRun::new(registry, request, module)?;
        let wrong = match (end, check) {
            (Err(failed), _) => Wrong::Fails(Failure::from(&failed.error)),
            (Ok(_), None) => {
                let message = "The pipeline runs to its end: there is no failure to keep.";
                return Err(PassError::new(ErrorKind::Check, message)
                    .help("Say what is wrong with its result: `--check CMD`."));
            }
            (Ok(after), Some(mut check)) => {
                is_broken(&mut *check, module, &after)?;
                Wrong::Judged(check)
            }
        };
        Ok(Target { rerun, wrong })
    }

    /// Whether the same goes wrong with another module.
    pub(super) fn goes_wrong(&mut self, candidate: &Module) -> Result<bool, PassError> {
        let result = self.rerun.run(candidate.clone());
        match (&mut self.wrong, result) {
            (Wrong::Fails(failure), Err(error)) => Ok(failure.is_same(&Failure::from(&error))),
            (Wrong::Fails(_), Ok(_)) | (Wrong::Judged(_), Err(_)) => Ok(false),
            (Wrong::Judged(check), Ok(after)) => Ok(!after.is_same(candidate)
                && check(candidate, &after)? == Verdict::Bad
                && check(candidate, candidate)? == Verdict::Good),
        }
    }

    /// The module with the types that can be inferred, if that is more than there are.
    pub(super) fn typed(&self, module: &Module) -> Option<Module> {
        let cx = self.rerun.context();
        let infer = cx.registry().get_pass("relax.transform.InferType").ok()?;
        let typed = passdock_core::run::call(&*infer, module, cx, false).ok()?;
        (!typed.is_same(module)).then_some(typed)
    }

    /// The failure that is looked for.
    pub(super) fn failure(&self) -> Option<&Failure> {
        match &self.wrong {
            Wrong::Fails(failure) => Some(failure),
            Wrong::Judged(_) => None,
        }
    }
}

/// Refuses to shrink what the check doesn't call broken by the pipeline.
fn is_broken(check: &mut Judge<'_>, before: &Module, after: &Module) -> Result<(), PassError> {
    let (message, help) = match (check(before, before)?, check(before, after)?) {
        (Verdict::Good, Verdict::Bad) => return Ok(()),
        (Verdict::Bad, _) => (
            "The check calls the model bad before any pass.",
            "It has to end with status 0 for the model as it is.",
        ),
        (Verdict::Unknown, _) | (_, Verdict::Unknown) => (
            "The check can't tell whether the pipeline breaks the model.",
            "It has to end with status 0 before the pipeline, and another than 125 after it.",
        ),
        (Verdict::Good, Verdict::Good) => (
            "The check calls the pipeline's result good: there is nothing to keep.",
            "It has to end with a status that is neither 0 nor 125 for what the pipeline makes.",
        ),
    };
    Err(PassError::new(ErrorKind::Check, message).help(help))
}
