//! The frame of a call: the information that a pass or an instrument may ask of the run around it.

use std::sync::LazyLock;

use passdock_crash::Callee;
use passdock_diagnostic::Diagnostic;
use passdock_ir::Module;
use passdock_ir::text::TextSource;
use passdock_loader::{MissingDefinition, OpDefs, PassKind};

use super::ending::Endings;
use crate::error::{ErrorKind, PassError};

/// The run around a call of a pass or of an instrument. Borrowed results live as long as the frame. By default nothing
/// runs: so it is while the host frees what plugins own.
#[allow(unused_variables, reason = "by default nothing runs")]
pub trait Frame: Sync {
    /// The opt level of the run.
    fn opt_level(&self) -> u32 {
        0
    }
    /// A registered config value; `field` is empty for a scalar. The error is a whole sentence.
    ///
    /// # Errors
    /// If the key or the field is none.
    fn config(&self, key: &str, field: &str) -> Result<&toml::Value, String> {
        Err(format!(
            "There is no config value `{key}.{field}` any more: nothing runs."
        ))
    }
    /// The kind of a registered pass.
    fn pass_kind(&self, name: &str) -> Option<PassKind> {
        None
    }
    /// Runs a registered pass, instruments included.
    ///
    /// # Errors
    /// If there is no such pass, if it fails, and for an instrument, which runs none.
    fn run_pass(&self, module: &Module, name: &str) -> Result<Module, PassError> {
        let message = format!("`{name}` can't be run by what is being freed.");
        Err(PassError::new(ErrorKind::Failed, message))
    }
    /// Whether a rule of this name may rewrite once more.
    fn may_rewrite(&self, rule: &str) -> bool {
        false
    }
    /// Counts a rewrite by a rule.
    fn rewrote(&self, rule: &str) {}
    /// The op definitions of all plugins.
    fn op_defs(&self) -> &OpDefs {
        static NONE: LazyLock<OpDefs> = LazyLock::new(OpDefs::default);
        &NONE
    }
    /// The error of a plugin whose definition was asked for and that couldn't be loaded.
    fn missing_definition(&self) -> Option<MissingDefinition> {
        None
    }
    /// The text that the module was read from.
    fn text_source(&self) -> Option<&TextSource> {
        None
    }
    /// The pass that is called, or that an instrument is called around, to name it if the process dies.
    fn callee(&self) -> Option<Callee<'_>> {
        None
    }
    /// The list of failures of what plugins do when what is theirs is freed.
    fn endings(&self) -> Option<&Endings> {
        None
    }
    /// Shows an instrument's diagnostics at once: they don't belong to a running pass.
    fn show(&self, diagnostics: &[Diagnostic]) {}
}
