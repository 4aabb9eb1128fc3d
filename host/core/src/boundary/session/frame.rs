//! The frame of a call: the parts of the run that a pass or an instrument has access to.

use std::sync::LazyLock;

use passdock_crash::Callee;
use passdock_diagnostic::{Diagnostic, Severity};
use passdock_ir::Module;
use passdock_ir::text::TextSource;
use passdock_loader::{MissingDefinition, OpDefs, PassKind};

use super::ending::Endings;
use crate::error::{ErrorKind, PassError};

/// The run around a call of a pass or of an instrument. Borrowed results live as long as the frame. The default
/// implementations are for destructors of plugin-owned data, which are called outside of a run.
#[allow(unused_variables, reason = "by default nothing runs")]
pub trait Frame: Sync {
    /// Returns the opt level of the run.
    fn opt_level(&self) -> u32 {
        0
    }
    /// Whether diagnostics of a severity are shown.
    fn shows(&self, severity: Severity) -> bool {
        severity <= Severity::Help
    }
    /// Whether the program cancelled the run.
    fn is_cancelled(&self) -> bool {
        false
    }
    /// Returns a registered config value. `field` is empty for a scalar. The error is a complete message.
    ///
    /// # Errors
    /// If there is no such key or field.
    fn config(&self, key: &str, field: &str) -> Result<&toml::Value, String> {
        Err(format!(
            "config value `{key}.{field}` is unavailable outside of a run"
        ))
    }
    /// Returns the kind of a registered pass.
    fn pass_kind(&self, name: &str) -> Option<PassKind> {
        None
    }
    /// Runs a registered pass, instruments included.
    ///
    /// # Errors
    /// If there is no such pass, if it fails, or if an instrument calls this.
    fn run_pass(&self, module: &Module, name: &str) -> Result<Module, PassError> {
        let message = format!("cannot run pass `{name}` from a destructor");
        Err(PassError::new(ErrorKind::Failed, message))
    }
    /// Whether the rule may rewrite again, that is, it isn't disabled and the rewrite limit isn't reached.
    fn may_rewrite(&self, rule: &str) -> bool {
        false
    }
    /// Counts a rewrite by a rule.
    fn rewrote(&self, rule: &str) {}
    /// Returns the op definitions of all plugins.
    fn op_defs(&self) -> &OpDefs {
        static NONE: LazyLock<OpDefs> = LazyLock::new(OpDefs::default);
        &NONE
    }
    /// Returns the error of a definition that a pass needed and whose plugin couldn't be loaded.
    fn missing_definition(&self) -> Option<MissingDefinition> {
        None
    }
    /// Returns the text that the module was read from.
    fn text_source(&self) -> Option<&TextSource> {
        None
    }
    /// Returns the pass or the instrument that is being called, which a crash report names.
    fn callee(&self) -> Option<Callee<'_>> {
        None
    }
    /// Returns the list of failures of plugins' destructors.
    fn endings(&self) -> Option<&Endings> {
        None
    }
    /// Shows an instrument's diagnostics immediately, because they don't belong to a running pass.
    fn show(&self, diagnostics: &[Diagnostic]) {}
}
