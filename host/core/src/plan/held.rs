//! The states of a module while passes run: what the plan counts on may not hold, since instruments
//! veto passes that would have established it.

use passdock_ir::Module;
use passdock_loader::State;

use super::{Plan, facts};
use crate::error::{ErrorKind, PassError};
use crate::pass::Pass;

/// What is known of the states of the module that is worked on.
#[derive(Default)]
pub(crate) struct Held {
    /// What passes that ran established, and none has broken since.
    established: Vec<State>,
    /// What a vetoed pass would have established: the state, the pass, and who vetoed it.
    missing: Vec<(State, String, String)>,
}

impl Held {
    /// Instruments kept a pass from running, and if it is a Sequential all in it.
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

    /// A pass ran.
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

    /// An error if a pass needs what doesn't hold because of a veto. What was vetoed may hold all
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
                    "The pass needs the state `{need}`, which `{by}` would have established; that \
                     was vetoed by the instrument {vetoed_by}."
                );
                return Err(PassError::new(ErrorKind::ModelState, message)
                    .help(format!("Veto this pass too, or require `{by}`.")));
            }
        }
        Ok(())
    }
}
