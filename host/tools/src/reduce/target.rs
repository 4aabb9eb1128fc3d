//! The failure that a reduction preserves.

use passdock_core::{ErrorKind, PassError};
use passdock_driver::oracle::{Oracle, Verdict};
use passdock_driver::pipeline::{Trial, Trials};
use passdock_driver::reproducer::Failure;
use passdock_ir::Module;

use crate::search::require_broken;

/// The failure that a reduction preserves.
pub(super) enum Target<'c> {
    /// A pass fails in this way.
    Fails(Failure),
    /// The check finds a module good, and the pipeline's result bad.
    Oracle(Box<Oracle<'c>>),
}

impl<'c> Target<'c> {
    /// Runs the pipeline on the whole module, to determine the failure.
    pub(super) fn new(
        trials: &mut dyn Trials,
        module: &Module,
        check: Option<Box<Oracle<'c>>>,
    ) -> Result<Target<'c>, PassError> {
        let after = match trials.run(module, check.is_some())? {
            Trial::Failed {
                error,
                of_pass: true,
            } => return Ok(Target::Fails(Failure::from(&error))),
            Trial::Failed { error, .. } => return Err(error),
            Trial::Succeeded(after) => after,
        };
        let Some(mut check) = check else {
            let message = "the pipeline succeeds, so there is no failure to reduce";
            let help = "check its result with `--test numerics` or a test command";
            return Err(PassError::new(ErrorKind::Check, message).help(help));
        };
        let before = check(module, module)?;
        require_broken(before, || check(module, &after))?;
        Ok(Target::Oracle(check))
    }

    /// Whether another module has the failure.
    pub(super) fn has(
        &mut self,
        trials: &mut dyn Trials,
        candidate: &Module,
    ) -> Result<bool, PassError> {
        let needs_result = matches!(self, Target::Oracle(_));
        match (self, trials.run(candidate, needs_result)?) {
            (Target::Fails(failure), Trial::Failed { error, .. }) => {
                Ok(failure.is_same(&Failure::from(&error)))
            }
            (Target::Oracle(check), Trial::Succeeded(after)) => Ok(!after.is_same(candidate)
                && check(candidate, &after)? == Verdict::Bad
                && check(candidate, candidate)? == Verdict::Good),
            _ => Ok(false),
        }
    }

    /// Returns the pass's failure; `None` for a check's verdict.
    pub(super) fn into_failure(self) -> Option<Failure> {
        match self {
            Target::Fails(failure) => Some(failure),
            Target::Oracle(_) => None,
        }
    }
}
