//! A scenario's instruments as passdock instruments.

use passdock::Frame;
use passdock::PassCall;
use passdock::{InstrumentResult, Module, PassError, PassInstrument};

use super::{Failure, Passdock};
use crate::system::{Tap, TapResult};

/// A tap as an instrument.
pub(super) struct Watches {
    pub(super) s: Passdock,
    pub(super) tap: Tap<Passdock>,
}

impl Watches {
    fn record(&self, callback: &str, about: Option<(&str, &Module)>) -> TapResult {
        let recorded = self.tap.record(&self.s, callback, about);
        recorded.map_err(|error| match error.downcast::<Failure>() {
            Ok(failure) => failure.0.into(),
            Err(error) => error,
        })
    }
}

impl PassInstrument for Watches {
    fn name(&self) -> &str {
        &self.tap.name
    }

    fn enter_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        self.record("enter", None)
    }

    fn exit_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        self.record("exit", None)
    }

    fn should_run(&self, call: &PassCall<'_>) -> InstrumentResult<bool> {
        let PassCall { module, info, .. } = *call;
        self.record("should_run", Some((&info.name, module)))?;
        Ok(self.tap.agrees(&info.name))
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let PassCall { module, info, .. } = *call;
        self.record("before", Some((&info.name, module)))
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let PassCall { module, info, .. } = *call;
        self.record("after", Some((&info.name, module)))
    }

    fn pass_failed(&self, call: &PassCall<'_>, _: &PassError) -> InstrumentResult {
        let PassCall { module, info, .. } = *call;
        // The result of this callback is ignored.
        let _ = self.record("failed", Some((&info.name, module)));
        Ok(())
    }
}
