//! The passes that ran, and whether the module is still as they left it: what a required run counts as
//! done by.

use std::collections::HashMap;
use std::sync::Arc;

use crate::config::ConfigValue;
use crate::plan::Step;

/// The passes that ran on a module.
#[derive(Clone, Default)]
pub(super) struct Done {
    /// The number of the module's current state, which each change increments.
    state: u64,
    /// The passes, with their options and the number of the state that each left when it last ran.
    ran: HashMap<String, (Arc<ConfigValue>, u64)>,
}

impl Done {
    /// Remembers that a pass ran, and left the module in its current state.
    pub(super) fn remember(&mut self, step: &Step) {
        let name = step.pass.info().name.clone();
        self.ran.insert(name, (step.options.clone(), self.state));
    }

    /// Whether a required pass ran with the same options, and nothing changed since.
    pub(super) fn has(&self, step: &Step) -> bool {
        let last = self.ran.get(&step.pass.info().name);
        last.is_some_and(|(options, state)| *state == self.state && *options == step.options)
    }

    /// Remembers that the module changed.
    pub(super) fn changed(&mut self) {
        self.state += 1;
    }
}
