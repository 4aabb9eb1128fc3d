//! The failure to keep, and whether another module has it.

use passdock_ir::Module;

use passdock_core::{ErrorKind, PassError};
use passdock_driver::judge::{Judge, Verdict};
use passdock_driver::pipeline::{Trial, Trials};
use passdock_driver::reproducer::Failure;

use crate::search::require_broken;

/// The pipeline, and what to look for.
pub(super) struct Target<'c> {
    trials: &'c mut dyn Trials,
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
        trials: &'c mut dyn Trials,
        module: &Module,
        check: Option<Box<Judge<'c>>>,
    ) -> Result<Target<'c>, PassError> {
        let wrong = match (trials.run(module, check.is_some())?, check) {
            (
                Trial::Failed {
                    error,
                    of_pass: true,
                },
                _,
            ) => Wrong::Fails(Failure::from(&error)),
            (Trial::Failed { error, .. }, _) => return Err(error),
            (Trial::Made(_), None) => {
                let message = "The pipeline runs to its end: there is no failure to keep.";
                return Err(PassError::new(ErrorKind::Check, message)
                    .help("Say what is wrong with its result: `--check numerics`, or a command."));
            }
            (Trial::Made(after), Some(mut check)) => {
                let before = check(module, module)?;
                require_broken(before, || check(module, &after))?;
                Wrong::Judged(check)
            }
        };
        Ok(Target { trials, wrong })
    }

    /// Whether the same goes wrong with another module.
    pub(super) fn goes_wrong(&mut self, candidate: &Module) -> Result<bool, PassError> {
        let wants_made = matches!(self.wrong, Wrong::Judged(_));
        let trial = self.trials.run(candidate, wants_made)?;
        match (&mut self.wrong, trial) {
            (Wrong::Fails(failure), Trial::Failed { error, .. }) => {
                Ok(failure.is_same(&Failure::from(&error)))
            }
            (Wrong::Fails(_), Trial::Made(_)) | (Wrong::Judged(_), Trial::Failed { .. }) => {
                Ok(false)
            }
            (Wrong::Judged(check), Trial::Made(after)) => Ok(!after.is_same(candidate)
                && check(candidate, &after)? == Verdict::Bad
                && check(candidate, candidate)? == Verdict::Good),
        }
    }

    /// The module with the types that can be inferred, if that is more than there are.
    pub(super) fn typed(&mut self, module: &Module) -> Option<Module> {
        self.trials.typed(module)
    }

    /// The failure that is looked for.
    pub(super) fn failure(&self) -> Option<&Failure> {
        match &self.wrong {
            Wrong::Fails(failure) => Some(failure),
            Wrong::Judged(_) => None,
        }
    }
}
