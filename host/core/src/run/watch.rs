//! The instruments around one pass.

use std::sync::Arc;

use passdock_crash::Callee;
use passdock_diagnostic::suggest;
use passdock_ir::Module;

use super::Run;
use crate::context::{ContextFrame, PassContext};
use crate::error::PassError;
use crate::instrument::{InstrumentRef, PassCall, calls};
use crate::pass::Pass;

/// The instruments around a pass: those that the context had when the pass started.
pub(super) struct Watch<'w> {
    list: Arc<[InstrumentRef]>,
    cx: &'w PassContext,
    pass: &'w dyn Pass,
    module: &'w Module,
    frame: ContextFrame<'w>,
}

impl<'w> Watch<'w> {
    /// Returns `None` if no instrument watches the pass.
    pub(super) fn new(
        run: &Run<'w>,
        pass: &'w dyn Pass,
        module: &'w Module,
        callee: Callee<'w>,
    ) -> Option<Watch<'w>> {
        let list = run.watched.then(|| run.cx.instrument_list());
        list.filter(|list| !list.is_empty()).map(|list| Watch {
            list,
            cx: run.cx,
            pass,
            module,
            frame: ContextFrame::around(run.cx, callee),
        })
    }

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
