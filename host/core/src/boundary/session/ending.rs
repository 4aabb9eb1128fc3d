//! Destruction of plugin-owned data: an instrument's instance, a cached analysis. No pass runs at that time that could
//! report a failure, so the destructor gets a context for itself, and failures are collected in a list.

use std::ptr;
use std::sync::{Arc, Mutex};

use passdock_abi as abi;
use passdock_crash::caught;
use passdock_diagnostic::Diagnostic;

use super::context::CallFailure;
use super::frame::Frame;
use super::lending;
use super::{ContextSession, lends};
use crate::config::ConfigValue;
use crate::error::PassError;
use crate::util;

/// The maximum number of stored failures. Every function may have a cached analysis whose destructor fails.
const MAX_FAILURES: usize = 20;

/// The failures of plugins' destructors, for one pass context. Clones share the list. Failures that aren't taken are
/// shown when the last clone is dropped.
#[derive(Clone)]
pub struct Endings(Arc<List>);

type Show = dyn Fn(&[Diagnostic]) + Send + Sync;

struct List {
    failures: Mutex<Vec<PassError>>,
    show: Box<Show>,
}

impl Endings {
    /// Creates an empty list. `show` renders the failures that aren't taken.
    pub(crate) fn new(show: impl Fn(&[Diagnostic]) + Send + Sync + 'static) -> Endings {
        let (failures, show) = (Mutex::default(), Box::new(show));
        Endings(Arc::new(List { failures, show }))
    }

    pub(crate) fn add(&self, error: PassError) {
        let mut all = util::lock(&self.0.failures);
        if all.len() < MAX_FAILURES {
            all.push(error);
        }
    }

    /// Takes all failures: the first one, with the others as its notes.
    pub fn take(&self) -> Option<PassError> {
        self.0.take()
    }
}

impl List {
    fn take(&self) -> Option<PassError> {
        let mut all = std::mem::take(&mut *util::lock(&self.failures)).into_iter();
        let mut first = all.next()?;
        for more in all.map(|more| more.to_string()) {
            if !first.notes.contains(&more) {
                first.notes.push(more);
            }
        }
        Some(first)
    }
}

impl Drop for List {
    fn drop(&mut self) {
        if let Some(error) = self.take() {
            // A renderer is the program's code, and may panic while a thread exits.
            let _ = caught(|| (self.show)(&[error.to_diagnostic()]));
        }
    }
}

/// Calls a plugin's destructor with a context, and returns the failure that it reported.
pub(in crate::boundary) fn free(call: impl FnOnce(*mut abi::Context)) -> Option<CallFailure> {
    let _outer = lends().then(lending::put_aside);
    let options = ConfigValue::default();
    let context = ContextSession::new(&Nothing, &options);
    {
        let _entered = context.enter(ptr::null(), ptr::null());
        call(context.handle());
    }
    let failure = context.violation().or_else(|| context.take_failure())?;
    Some(CallFailure {
        panicked: failure.panic_at.is_some(),
        ..failure
    })
}

/// A frame without a run.
struct Nothing;

impl Frame for Nothing {}
