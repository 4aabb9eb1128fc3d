//! The frame of a call under a context: the information that passes and instruments may ask for.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use passdock_crash::Callee;
use passdock_diagnostic::Diagnostic;
use passdock_ir::Module;
use passdock_ir::text::TextSource;
use passdock_loader::{MissingDefinition, OpDefs, PassKind};

use super::PassContext;
use crate::boundary::{Endings, Frame};
use crate::config::{ConfigValue, FieldValue};
use crate::error::{ErrorKind, PassError};

/// A run of a pass, which runs registered passes for it.
pub(crate) trait RunsPasses: Sync {
    /// Runs a registered pass on a module, under the running pass's context.
    ///
    /// # Errors
    /// If there is no such pass, or it fails.
    fn run_pass(&self, cx: &PassContext, module: &Module, name: &str) -> Result<Module, PassError>;
}

/// A call under a context. Information that nobody asks for isn't computed.
pub(crate) struct ContextFrame<'c> {
    cx: &'c PassContext,
    /// The values of all registered config options.
    config: OnceLock<BTreeMap<String, ConfigValue>>,
    ops: OnceLock<Arc<OpDefs>>,
    text: Option<Arc<TextSource>>,
    /// The run of the pass; `None` for an instrument, which watches passes and runs none.
    run: Option<&'c dyn RunsPasses>,
    callee: Option<Callee<'c>>,
}

impl<'c> ContextFrame<'c> {
    /// The frame of an instrument.
    pub(crate) fn watching(cx: &'c PassContext) -> ContextFrame<'c> {
        ContextFrame {
            cx,
            config: OnceLock::new(),
            ops: OnceLock::new(),
            text: None,
            run: None,
            callee: None,
        }
    }

    /// The frame of an instrument that is called around a pass.
    pub(crate) fn around(cx: &'c PassContext, pass: Callee<'c>) -> ContextFrame<'c> {
        ContextFrame {
            callee: Some(pass),
            ..ContextFrame::watching(cx)
        }
    }

    /// The frame of a pass on a module.
    pub(crate) fn running(
        cx: &'c PassContext,
        module: &Module,
        run: &'c dyn RunsPasses,
        callee: Callee<'c>,
    ) -> ContextFrame<'c> {
        ContextFrame {
            text: module.text_source().cloned(),
            run: Some(run),
            callee: Some(callee),
            ..ContextFrame::watching(cx)
        }
    }

    /// The context, with the diagnostics of the running pass.
    pub(crate) fn context(&self) -> &'c PassContext {
        self.cx
    }

    fn values(&self) -> BTreeMap<String, ConfigValue> {
        let mut all = self.cx.registry().config_defaults();
        for (key, value) in &mut all {
            if let Some(set) = self.cx.config(key) {
                value.clone_from(set);
            }
        }
        all
    }
}

impl Frame for ContextFrame<'_> {
    fn opt_level(&self) -> u32 {
        self.cx.opt_level()
    }

    fn config(&self, key: &str, field: &str) -> Result<&FieldValue, String> {
        let all = self.config.get_or_init(|| self.values());
        let found = all.get(key).and_then(|value| value.get(field));
        found.ok_or_else(|| {
            let schema = self.cx.registry().config_schema(key);
            match schema.and_then(|schema| schema.field(field).cloned()) {
                Err(error) => error.to_string(),
                Ok(field) if field.mandatory => {
                    format!(
                        "The config option `{key}` needs its field `{}`, which has no default.",
                        field.name
                    )
                }
                Ok(_) => {
                    format!("The config option `{key}` was registered after this call started.")
                }
            }
        })
    }

    fn pass_kind(&self, name: &str) -> Option<PassKind> {
        self.cx.registry().pass_kind(name)
    }

    fn run_pass(&self, module: &Module, name: &str) -> Result<Module, PassError> {
        match self.run {
            Some(run) => run.run_pass(self.cx, module, name),
            None => {
                let message = "An instrument watches passes and can't run any.";
                Err(PassError::new(ErrorKind::Instrument, message))
            }
        }
    }

    fn may_rewrite(&self, rule: &str) -> bool {
        self.cx.may_rewrite(rule)
    }

    fn rewrote(&self, rule: &str) {
        self.cx.rewrote(rule);
    }

    fn op_defs(&self) -> &OpDefs {
        self.ops.get_or_init(|| self.cx.registry().op_defs())
    }

    fn missing_definition(&self) -> Option<MissingDefinition> {
        self.ops.get()?.failures().into_iter().next()
    }

    fn text_source(&self) -> Option<&TextSource> {
        self.text.as_deref()
    }

    fn callee(&self) -> Option<Callee<'_>> {
        self.callee
    }

    fn endings(&self) -> Option<&Endings> {
        Some(&self.cx.0.endings)
    }

    fn show(&self, diagnostics: &[Diagnostic]) {
        self.cx.renderer()(diagnostics);
    }
}
