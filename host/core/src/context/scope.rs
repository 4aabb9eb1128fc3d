//! Entering and leaving a context, and replacing its instruments meanwhile.
//!
//! Enter callbacks run before the context is on the stack and exit callbacks after it is off, so
//! that inside both `PassContext::current()` is the outer one.

use std::sync::Arc;

use passdock_diagnostic::{Diagnostic, Severity};

use super::{ContextFrame, PassContext, stack};
use crate::error::{ErrorKind, PassError};
use crate::instrument::{InstrumentRef, calls};
use crate::util;

/// An entered context. Leave it with [`Entered::exit`]. If it is dropped it is left, too, and an
/// error of that becomes a diagnostic.
#[must_use = "the context is left when this is dropped"]
pub struct Entered {
    context: Option<PassContext>,
}

impl PassContext {
    /// Runs `body` with this context entered, and leaves it.
    ///
    /// If both fail, the body's error goes out with the other's message as a note.
    pub fn scope<T>(
        &self,
        body: impl FnOnce(&PassContext) -> Result<T, PassError>,
    ) -> Result<T, PassError> {
        let entered = self.enter()?;
        match body(self) {
            Ok(value) => entered.exit().map(|()| value),
            Err(error) => Err(match entered.leave(true) {
                Ok(()) => error,
                Err(exit) => error.note(&exit.message),
            }),
        }
    }

    /// Enters this context until the returned value is left or dropped.
    pub fn enter(&self) -> Result<Entered, PassError> {
        let (list, before) = {
            let now = util::lock(&self.0.instruments);
            (now.list.clone(), now.entered)
        };
        if let Err(error) = calls::enter(&list, before, &ContextFrame::watching(self)) {
            self.drop_instruments();
            return Err(error);
        }
        util::lock(&self.0.instruments).entered += 1;
        stack::push(self.clone());
        Ok(Entered {
            context: Some(self.clone()),
        })
    }

    /// Replaces the instruments of a context, which may be entered: the old ones are exited, the
    /// new ones entered. A pass that is running keeps the instruments that it started with.
    pub fn override_instruments(&self, new: Vec<InstrumentRef>) -> Result<(), PassError> {
        if calls::in_callback() {
            return Err(PassError::new(
                ErrorKind::Context,
                "The instruments can't be replaced while one of their callbacks runs.",
            )
            .help("Replace them before or after the pass."));
        }
        // The list is empty until all calls have succeeded.
        let (old, entered) = {
            let mut now = util::lock(&self.0.instruments);
            // The thread's default context counts as entered.
            now.entered = now.entered.max(u32::from(self.0.is_default));
            (std::mem::take(&mut now.list), now.entered)
        };
        let frame = ContextFrame::watching(self);
        for _ in 0..entered {
            calls::exit(&old, &frame)?;
        }
        for before in 0..entered {
            calls::enter(&new, before, &frame)?;
        }
        util::lock(&self.0.instruments).list = new.into();
        Ok(())
    }

    /// Removes all instruments after a failed enter or exit, with a warning.
    fn drop_instruments(&self) {
        util::lock(&self.0.instruments).list = Arc::new([]);
        // The returned error says why.
        let message = "The context goes on without instruments, because one failed.";
        self.emit(Diagnostic::new(Severity::Warning, "instrument", message));
    }
}

impl Entered {
    /// The context that was entered.
    pub fn context(&self) -> &PassContext {
        self.context.as_ref().expect("taken only when it is left")
    }

    /// Leaves the context, which must be the innermost one.
    pub fn exit(self) -> Result<(), PassError> {
        self.leave(false)
    }

    fn leave(mut self, in_flight: bool) -> Result<(), PassError> {
        match self.context.take() {
            Some(context) => leave(&context, in_flight),
            None => Ok(()),
        }
    }
}

fn leave(context: &PassContext, in_flight: bool) -> Result<(), PassError> {
    if let Err(top) = stack::pop(context) {
        let instead = match top {
            Some(top) => format!("the innermost one has opt_level {}", top.opt_level()),
            None => "none is entered".to_owned(),
        };
        let message = format!(
            "The pass context of opt_level {} can't be left: {instead}.",
            context.opt_level()
        );
        return Err(PassError::new(ErrorKind::Context, message)
            .help("Leave contexts in the reverse order of entering them."));
    }
    let (list, is_last) = {
        let mut instruments = util::lock(&context.0.instruments);
        instruments.entered = instruments.entered.saturating_sub(1);
        (instruments.list.clone(), instruments.entered == 0)
    };
    if let Err(error) = calls::exit(&list, &ContextFrame::watching(context)) {
        context.drop_instruments();
        return Err(error);
    }
    // Where the context is still entered, a pass with such a name may yet be called.
    match in_flight || !is_last {
        true => Ok(()),
        false => context.check_names(),
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(context) = self.context.take()
            && let Err(error) = leave(&context, std::thread::panicking())
        {
            context.emit(error.to_diagnostic());
        }
    }
}
