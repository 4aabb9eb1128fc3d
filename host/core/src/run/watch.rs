//! The instruments around one pass.

use std::sync::Arc;

use passdock_diagnostic::suggest;
use passdock_ir::Module;

use crate::context::{ContextFrame, PassContext};
use crate::error::PassError;
use crate::instrument::{InstrumentRef, PassCall, calls};
use crate::pass::Pass;

/// The instruments around a pass: those that the context had when the pass started.
pub(super) struct Watch<'w> {
    pub(super) list: Arc<[InstrumentRef]>,
    pub(super) cx: &'w PassContext,
    pub(super) pass: &'w dyn Pass,
    pub(super) module: &'w Module,
    pub(super) frame: ContextFrame<'w>,
}

impl Watch<'_> {
    /// Returns the names of the instruments that veto the pass, if any do.
    pub(super) fn vetoes(&self) -> Result<Option<String>, PassError> {
        let vetoes = self.untimed(|| calls::vetoes(&self.list, &self.call()))?;
        Ok((!vetoes.is_empty()).then(|| suggest::listed(vetoes)))
    }

    pub(super) fn before(&self) -> Result<(), PassError> {
        self.untimed(|| calls::before(&self.list, &self.call()))
    }

    pub(super) fn after(&self, after: &Module) -> Result<(), PassError> {
        self.untimed(|| calls::after(&self.list, &self.call(), after))
    }

    pub(super) fn failed(&self, error: PassError) -> PassError {
        self.untimed(|| calls::failed(&self.list, &self.call(), error))
    }

    fn call(&self) -> PassCall<'_> {
        PassCall {
            module: self.module,
            info: self.pass.info(),
            provider: self.pass.provider(),
            frame: &self.frame,
        }
    }

    /// Calls instruments; their time isn't the pass's.
    fn untimed<T>(&self, callbacks: impl FnOnce() -> T) -> T {
        match self.cx.recorder() {
            Some(recorder) => recorder.watching(callbacks),
            None => callbacks(),
        }
    }
}
