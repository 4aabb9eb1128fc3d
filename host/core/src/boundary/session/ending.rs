//! Ends of what plugins own: an instrument's instance, an analysis that is kept. They are called when nothing runs that
//! could hear of a failure, so that there is a context for it alone, and a list.

use std::ptr;
use std::sync::{Arc, Mutex};

use passdock_crash::caught;
use passdock_diagnostic::Diagnostic;

use super::ContextSession;
use super::context::CallFailure;
use super::frame::Frame;
use crate::config::ConfigValue;
use crate::error::PassError;
use crate::util;

/// The most failures that are kept: an analysis of each function may have one.
const MAX_FAILURES: usize = 20;

/// What failed while the host freed what plugins own, of one context. A clone is the same list. What nobody took is
/// shown when the last one goes.
#[derive(Clone)]
pub struct Endings(Arc<List>);

type Show = dyn Fn(&[Diagnostic]) + Send + Sync;

struct List {
    failures: Mutex<Vec<PassError>>,
    show: Box<Show>,
}

impl Endings {
    /// An empty list, with what shows the failures that nobody takes.
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

    /// Takes the failures out: the first one, with the others as notes.
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
            // A renderer is code of the program, and this may be the end of a thread.
            let _ = caught(|| (self.show)(&[error.to_diagnostic()]));
        }
    }
}

/// Calls what frees something of a plugin's; the failure that it told of.
pub(in crate::boundary) fn free(call: impl FnOnce()) -> Option<CallFailure> {
    let options = ConfigValue::default();
    let context = ContextSession::new(&Nothing, &options);
    {
        let _entered = context.enter(ptr::null(), ptr::null());
        call();
    }
    let failure = context.take_failure()?;
    Some(CallFailure {
        panicked: failure.panic_at.is_some(),
        ..failure
    })
}

/// A frame in which nothing runs.
struct Nothing;

impl Frame for Nothing {}
