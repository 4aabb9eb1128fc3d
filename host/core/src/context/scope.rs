//! Entering and exiting a context, and replacing the instruments of an entered context.
//!
//! Enter callbacks run before the context is on the stack, and exit callbacks after it is removed. Therefore
//! `PassContext::current()` returns the outer context in both.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use passdock_diagnostic::{Diagnostic, Severity};

use super::{ContextFrame, PassContext, running};
use crate::error::{ErrorKind, PassError};
use crate::instrument::{InstrumentRef, calls};

/// An entered context, which [`Entered::exit`] exits. Dropping it exits the context, too, and shows an error of that as
/// a diagnostic.
///
/// ```
/// # extern crate passdock_core as passdock;
/// use passdock::PassContext;
///
/// let outer = PassContext::builder().opt_level(1).build()?;
/// let inner = PassContext::builder().opt_level(3).build()?;
/// let (mut first, mut second) = (outer.enter()?, inner.enter()?);
/// assert!(first.exit().is_err(), "the inner one comes first");
/// second.exit()?;
/// first.exit()?;
/// # Ok::<(), passdock::PassError>(())
/// ```
///
/// ```compile_fail,E0277
/// # extern crate passdock_core as passdock;
/// fn sent(_: impl Send) {}
/// sent(passdock::PassContext::current().enter());
/// ```
#[must_use = "the context is left when this is dropped"]
pub struct Entered {
    context: PassContext,
    state: EnteredState,
    /// The stack is thread-local, so the guard isn't `Send`.
    on_thread: PhantomData<*const ()>,
}

/// The state of an [`Entered`].
#[derive(PartialEq, Eq)]
enum EnteredState {
    Inside,
    /// `exit` was rejected, and the caller got the error.
    ExitRejected,
    Exited,
}

impl PassContext {
    /// Runs `body` with this context entered, and exits it.
    ///
    /// # Errors
    /// If `body` fails, an instrument fails when the context is entered or exited, `required_pass` or `disabled_pass`
    /// has an unknown name, or [`PassContext::endings`] has failures. If `body` fails, the other error becomes a note
    /// of its [`PassError`], or a diagnostic if `E` is another type.
    pub fn scope<T, E: From<PassError> + 'static>(
        &self,
        body: impl FnOnce(&PassContext) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut entered = self.enter()?;
        match body(self) {
            Ok(value) => {
                entered.exit()?;
                Ok(value)
            }
            Err(mut error) => {
                if let Err(exit) = entered.leave(true) {
                    match (&mut error as &mut dyn Any).downcast_mut::<PassError>() {
                        Some(error) => error.notes.push(exit.to_string()),
                        None => self.emit(exit.to_diagnostic()),
                    }
                }
                Err(error)
            }
        }
    }

    /// Enters this context until the returned value is exited or dropped.
    ///
    /// # Errors
    /// If an instrument fails. The context isn't entered then.
    pub fn enter(&self) -> Result<Entered, PassError> {
        self.instrument_enter_pass_ctx()?;
        running::push(self, true);
        Ok(Entered {
            context: self.clone(),
            state: EnteredState::Inside,
            on_thread: PhantomData,
        })
    }

    /// Calls `enter_pass_ctx` of the instruments, as [`PassContext::enter`] does.
    ///
    /// # Errors
    /// If an instrument fails. The context has no instruments then.
    pub fn instrument_enter_pass_ctx(&self) -> Result<(), PassError> {
        let (list, before) = {
            let now = self.lock_instruments();
            (now.list.clone(), now.entered)
        };
        self.show_endings(before == 0);
        let entered = calls::enter(&list, before, &ContextFrame::watching(self));
        entered.inspect_err(|_| self.drop_instruments())?;
        self.lock_instruments().entered += 1;
        Ok(())
    }

    /// Calls `exit_pass_ctx` of the instruments, as [`Entered::exit`] does.
    ///
    /// # Errors
    /// See [`PassContext::instrument_enter_pass_ctx`].
    pub fn instrument_exit_pass_ctx(&self) -> Result<(), PassError> {
        let list = {
            let mut now = self.lock_instruments();
            now.entered = now.entered.saturating_sub(1);
            now.list.clone()
        };
        let exited = calls::exit(&list, &ContextFrame::watching(self));
        exited.inspect_err(|_| self.drop_instruments())
    }

    /// Replaces the instruments of a context, which may be entered: the old ones are exited, the new ones entered. A
    /// running pass continues with its old instruments.
    ///
    /// # Errors
    /// If an instrument fails, and the context has no instruments then. Also if it is called from an instrument's
    /// callback.
    pub fn override_instruments(&self, new: Vec<InstrumentRef>) -> Result<(), PassError> {
        if calls::in_callback() {
            return Err(PassError::new(
                ErrorKind::Context,
                "cannot replace the instruments while one of their callbacks runs",
            )
            .help("replace them before or after the pass"));
        }
        // The list stays empty unless all calls succeed.
        let (old, entered) = {
            let mut now = self.lock_instruments();
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
        self.lock_instruments().list = new.into();
        Ok(())
    }

    /// Returns the token that all active calls share while the context isn't entered, for a call of a pass outside of
    /// passes. The last call to end returns the failures of [`PassContext::endings`] as its error.
    pub(crate) fn begin_call(&self) -> Option<Arc<()>> {
        let mut now = self.lock_instruments();
        if self.1.is_some() || !self.0.is_default && now.entered > 0 {
            return None;
        }
        let under_way = now.calls.upgrade();
        if under_way.is_some() {
            return under_way;
        }
        let call = Arc::new(());
        now.calls = Arc::downgrade(&call);
        drop(now);
        self.show_endings(true);
        Some(call)
    }

    /// Returns the result of a call that `begin_call` began.
    pub(crate) fn end_call<T>(
        &self,
        call: Option<Arc<()>>,
        result: Result<T, PassError>,
    ) -> Result<T, PassError> {
        // No other call can begin before this one has taken the failures.
        let _now = call.is_some().then(|| self.lock_instruments());
        match call.and_then(Arc::into_inner) {
            Some(()) => self.with_endings(result),
            None => result,
        }
    }

    /// Returns the result, or an error if destructors failed meanwhile.
    fn with_endings<T>(&self, result: Result<T, PassError>) -> Result<T, PassError> {
        match (result, self.0.endings.take()) {
            (result, None) => result,
            (Ok(_), Some(ending)) => Err(ending),
            (Err(error), Some(ending)) => Err(error.note(ending.to_string())),
        }
    }

    /// Shows the failures of destructors since the context was exited, so that they don't fail a new scope or call.
    fn show_endings(&self, was_exited: bool) {
        if was_exited && let Some(ending) = self.0.endings.take() {
            self.emit(ending.to_diagnostic());
        }
    }

    /// Removes all instruments after a failed enter or exit, with a warning.
    fn drop_instruments(&self) {
        self.lock_instruments().list = [].into();
        // The returned error has the reason.
        let message = "the context continues without instruments because one failed";
        self.emit(Diagnostic::new(Severity::Warning, "instrument", message));
    }
}

impl Entered {
    /// Returns the context that was entered.
    pub fn context(&self) -> &PassContext {
        &self.context
    }

    /// Exits the context. Does nothing if it is exited already.
    ///
    /// # Errors
    /// If the context isn't the innermost one. It stays entered, and can be exited later. After any other error the
    /// context is exited: an instrument failed, `required_pass` or `disabled_pass` has an unknown name, or a destructor
    /// failed.
    pub fn exit(&mut self) -> Result<(), PassError> {
        self.leave(false)
    }

    /// Exits the context after a failure inside it, which the caller reports. Unknown names then aren't an error.
    ///
    /// # Errors
    /// See [`Entered::exit`].
    pub fn exit_failed(&mut self) -> Result<(), PassError> {
        self.leave(true)
    }

    /// Whether the context is exited.
    pub fn is_exited(&self) -> bool {
        self.state == EnteredState::Exited
    }

    fn leave(&mut self, in_flight: bool) -> Result<(), PassError> {
        if self.state == EnteredState::Exited {
            return Ok(());
        }
        self.state = EnteredState::ExitRejected;
        take_off(&self.context)?;
        self.state = EnteredState::Exited;
        let exited = leave(&self.context, in_flight);
        self.context.with_endings(exited)
    }
}

/// Pops a context from the stack. An error unless it is the innermost one.
fn take_off(context: &PassContext) -> Result<(), PassError> {
    if let Err(top) = running::pop(context) {
        let instead = match top {
            Some(top) if top.is(context) => "a pass runs in it".to_owned(),
            Some(top) => format!("the innermost one has opt_level {}", top.opt_level()),
            None => "none is entered".to_owned(),
        };
        let message = format!(
            "cannot leave the pass context of opt_level {}: {instead}",
            context.opt_level()
        );
        return Err(PassError::new(ErrorKind::Context, message)
            .help("leave contexts in the reverse order of entering them"));
    }
    Ok(())
}

/// Calls the instruments of a context that was popped from the stack, and checks its names.
fn leave(context: &PassContext, in_flight: bool) -> Result<(), PassError> {
    context.instrument_exit_pass_ctx()?;
    // If the context is still entered elsewhere, a pass with such a name may be called later.
    match in_flight || context.lock_instruments().entered > 0 {
        true => Ok(()),
        false => context.check_names(),
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let is_known = self.state == EnteredState::ExitRejected;
        if let Err(error) = self.leave(std::thread::panicking())
            && !(is_known && self.state == EnteredState::ExitRejected)
        {
            self.context.emit(error.to_diagnostic());
        }
    }
}
