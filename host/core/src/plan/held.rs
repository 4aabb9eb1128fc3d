//! The states that hold while passes run. The plan may count on states that don't, since
//! instruments veto passes that would have established them.

use passdock_ir::Module;
use passdock_loader::State;

use super::{Plan, facts};
use crate::error::{ErrorKind, PassError};
use crate::pass::Pass;

/// The known states of the module that the passes work on.
#[derive(Clone, Default)]
pub(crate) struct Held {
    /// The states that passes established and none has broken since.
    established: Vec<State>,
    /// The states that a vetoed pass would have established: the state, the pass, and the
    /// instrument that vetoed it.
    missing: Vec<(State, String, String)>,
}

impl Held {
    /// The states that hold inside a pass, where it runs others: it keeps those that it doesn't break.
    pub(crate) fn inside(&self, pass: &dyn Pass) -> Held {
        let broken = &pass.states().breaks;
        let is_kept = |state: &&State| {
            broken
                .iter()
                .all(|other| other.subject() != state.subject())
        };
        Held {
            established: self.established.iter().filter(is_kept).cloned().collect(),
            missing: Vec::new(),
        }
    }

    /// The states that passes established and none has broken since.
    pub(super) fn established(&self) -> &[State] {
        &self.established
    }

    /// Records that an instrument vetoed a pass, and with a Sequential all passes in it.
    pub(crate) fn vetoed(&mut self, pass: &dyn Pass, plan: Option<&Plan>, by: &str) {
        let mut miss = |pass: &dyn Pass| {
            for state in &pass.states().establishes {
                let name = pass.info().name.clone();
                self.missing.push((state.clone(), name, by.to_owned()));
            }
        };
        miss(pass);
        let inner = plan.map_or_else(Vec::new, Plan::order);
        inner.iter().for_each(|pass| miss(&**pass));
    }

    /// Records that a pass ran: the states that it established and broke.
    pub(crate) fn ran(&mut self, pass: &dyn Pass) {
        let states = pass.states();
        for broken in &states.breaks {
            let is_other = |state: &State| state.subject() != broken.subject();
            self.established.retain(is_other);
        }
        for state in &states.establishes {
            if !self.established.contains(state) {
                self.established.push(state.clone());
            }
        }
    }

    /// An error if a pass needs a state that doesn't hold because of a veto. The state may hold all
    /// the same: established by another pass, or a fact of the model.
    pub(crate) fn check(&self, pass: &dyn Pass, module: &Module) -> Result<(), PassError> {
        if self.missing.is_empty() {
            return Ok(());
        }
        for need in &pass.states().needs {
            let mut missing = self.missing.iter().rev();
            let Some((_, by, vetoed_by)) = missing.find(|(state, ..)| state.implies(need)) else {
                continue;
            };
            let is_held = self.established.iter().any(|state| state.implies(need))
                || facts::is_fact(need) && facts::check(need, module).is_ok();
            if !is_held {
                let message = format!(
                    "The pass needs the state `{need}`, which `{by}` establishes, but the \
                     instrument {vetoed_by} vetoed that pass."
                );
                return Err(PassError::new(ErrorKind::ModelState, message)
                    .help(format!("Veto this pass too, or require `{by}`.")));
            }
        }
        Ok(())
    }
}
