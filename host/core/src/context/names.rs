//! The check of the names in `required_pass`, `disabled_pass` and `disabled_rule`. An unknown pass is an error. A rule
//! that no pass tried to apply is a warning.

use std::collections::BTreeSet;

use passdock_diagnostic::{Diagnostic, Severity, suggest};

use super::PassContext;
use crate::error::{ErrorKind, PassError};
use crate::pass::{Pass, Work};
use crate::util;

/// The names in these lists that occurred while a context was entered.
#[derive(Clone, Default)]
pub(super) struct Met {
    /// The names of passes.
    names: BTreeSet<String>,
    /// Whether a host pass was skipped, so that the passes it would have run are unknown. Only host passes can run
    /// passes that aren't registered.
    is_incomplete: bool,
    /// The rules that passes tried to apply, if some are disabled.
    rules: BTreeSet<String>,
}

impl PassContext {
    /// Records that a pass of this name occurred, if it is in one of the lists.
    pub(crate) fn meet(&self, name: &str) {
        if self.0.required.contains(name) || self.0.disabled.contains(name) {
            util::lock(&self.0.met).names.insert(name.to_owned());
        }
    }

    /// Records a pass that doesn't run, and the passes in it. The recursion is bounded by the depth of Sequentials.
    pub(crate) fn meet_unrun(&self, pass: &dyn Pass) {
        if self.0.required.is_empty() && self.0.disabled.is_empty() {
            return;
        }
        self.meet(&pass.info().name);
        if let Some(sequential) = pass.as_sequential() {
            let passes = sequential.passes().iter();
            passes.for_each(|pass| self.meet_unrun(&**pass));
        } else if pass.provider().is_none() && matches!(pass.work(), Ok(Work::Host(_))) {
            util::lock(&self.0.met).is_incomplete = true;
        }
    }

    /// Records that a pass tried to apply a rule.
    pub(super) fn meet_rule(&self, rule: &str) {
        let mut met = util::lock(&self.0.met);
        if !met.rules.contains(rule) {
            met.rules.insert(rule.to_owned());
        }
    }

    /// Warns about disabled rules that no pass tried to apply.
    fn check_rules(&self) {
        let met = util::lock(&self.0.met).rules.clone();
        for name in &self.settings().disabled_rule {
            if met.contains(name) {
                continue;
            }
            let message = format!(
                "unknown disabled rule `{name}`: no pass tried to apply a rule of that name"
            );
            let mut warning = Diagnostic::new(Severity::Warning, "unknown-rule", message);
            warning.help = suggest::help(name, met.iter().map(String::as_str));
            self.emit(warning);
        }
    }

    /// Returns an error about a name in the lists that is neither registered nor occurred. It is only a warning if a
    /// pass that didn't run may run a pass of that name.
    pub(super) fn check_names(&self) -> Result<(), PassError> {
        self.check_rules();
        let met = util::lock(&self.0.met);
        let registry = self.registry();
        for (list, names) in [
            ("required_pass", &self.0.required),
            ("disabled_pass", &self.0.disabled),
        ] {
            for name in names {
                if met.names.contains(name) || registry.contains(name) {
                    continue;
                }
                let names = registry.pass_names();
                let near = suggest::help(name, names.iter().map(String::as_str));
                if met.is_incomplete {
                    let message = format!(
                        "`{list}` contains `{name}`, but no such pass ran; a skipped pass may run it"
                    );
                    let code = ErrorKind::UnknownPass.code();
                    let mut warning = Diagnostic::new(Severity::Warning, code, message);
                    warning.help = near;
                    self.emit(warning);
                    continue;
                }
                let message = format!("unknown pass `{name}` in `{list}`");
                let mut error = PassError::new(ErrorKind::UnknownPass, message);
                error.help = near;
                return Err(error);
            }
        }
        Ok(())
    }
}
