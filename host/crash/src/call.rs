//! Calls into plugins on each thread's stack.

use std::cell::Cell;
use std::marker::PhantomData;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use serde::{Deserialize, Serialize};

use crate::record::{Record, ThreadRecord};
use crate::termination::Termination;

/// The record that this process writes.
static RECORD: AtomicPtr<Record> = AtomicPtr::new(ptr::null_mut());

/// Returns the record that this process writes, if there is one.
#[inline]
pub(crate) fn in_use() -> Option<&'static Record> {
    // SAFETY: the pointer is null or comes from the `&'static Record` passed to `record_to`.
    unsafe { RECORD.load(Ordering::Relaxed).as_ref() }
}

/// Whether calls are recorded for a supervisor or a crash report.
#[inline]
pub fn is_recording() -> bool {
    in_use().is_some()
}

/// Starts recording calls into plugins.
#[cfg(unix)]
pub fn record_to(record: &'static Record) {
    RECORD.store(ptr::from_ref(record).cast_mut(), Ordering::SeqCst);
}

/// Kind of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallKind {
    /// A pass.
    Pass,
    /// An instrument.
    Instrument,
    /// An op definition.
    Definition,
    /// A library that is being loaded.
    Library,
}

impl CallKind {
    /// All kinds, in the order of their 1-based numbers in a record.
    pub(crate) const ALL: [CallKind; 4] = [
        CallKind::Pass,
        CallKind::Instrument,
        CallKind::Definition,
        CallKind::Library,
    ];

    /// Returns the kind's name in messages.
    pub fn name(self) -> &'static str {
        match self {
            CallKind::Pass => "pass",
            CallKind::Instrument => "instrument",
            CallKind::Definition => "definition",
            CallKind::Library => "library",
        }
    }
}

/// A callee in a plugin or in the program.
#[derive(Clone, Copy, Debug)]
pub struct Callee<'a> {
    /// The kind.
    pub kind: CallKind,
    /// The name.
    pub name: &'a str,
    /// The file that contains it, or `None` if it is part of the program.
    pub plugin: Option<&'a Path>,
    /// The name of the function that it is called on; empty if there is none.
    pub function: &'a str,
    /// The 1-based number of a pass among all passes that started in this process, or of an instrument call among all
    /// such calls. Equal runs number them equally. 0 for other kinds.
    pub number: u64,
}

impl<'a> Callee<'a> {
    /// Returns a callee without function and number. `plugin` is the file that contains it, or `None` if it is part of
    /// the program.
    pub fn new(kind: CallKind, name: &'a str, plugin: Option<&'a Path>) -> Callee<'a> {
        Callee {
            kind,
            name,
            plugin,
            function: "",
            number: 0,
        }
    }

    /// Returns the callee of a pass that is about to start, with the next number.
    pub fn pass(name: &'a str, plugin: Option<&'a Path>) -> Callee<'a> {
        static PASSES: AtomicU64 = AtomicU64::new(0);
        Callee {
            number: PASSES.fetch_add(1, Ordering::Relaxed) + 1,
            ..Callee::new(CallKind::Pass, name, plugin)
        }
    }

    /// Returns the callee of an instrument call, with the next number.
    pub fn instrument(name: &'a str, plugin: Option<&'a Path>) -> Callee<'a> {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        Callee {
            number: CALLS.fetch_add(1, Ordering::Relaxed) + 1,
            ..Callee::new(CallKind::Instrument, name, plugin)
        }
    }

    /// Sets the function that it is called on.
    pub fn on_function(self, function: &'a str) -> Callee<'a> {
        Callee { function, ..self }
    }

    /// Pushes the callee on the thread's stack of calls. It stays there until [`RunningCall::leave`] or a panic.
    #[inline]
    pub fn enter(&self) -> RunningCall {
        DEPTH.set(DEPTH.get() + 1);
        let thread = in_use().and_then(|record| {
            if self.kind == CallKind::Library {
                record.add_library(self.plugin);
            }
            let thread = THREAD.get().or_else(|| record.take_thread())?;
            THREAD.set(Some(thread));
            thread.push(self);
            Some(thread)
        });
        RunningCall {
            thread,
            is_foreign: self.plugin.is_some() && self.kind != CallKind::Definition,
            has_returned: false,
            not_send: PhantomData,
        }
    }
}

thread_local! {
    /// The number of calls on this thread's stack.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// This thread's part of the record.
    static THREAD: Cell<Option<&'static ThreadRecord>> = const { Cell::new(None) };
}

/// A function that runs after each call of a plugin's pass or instrument has returned.
pub(crate) static AFTER_CALLS: OnceLock<fn()> = OnceLock::new();

/// A call on the thread's stack.
#[must_use = "the call is running until `leave`"]
pub struct RunningCall {
    thread: Option<&'static ThreadRecord>,
    is_foreign: bool,
    has_returned: bool,
    not_send: PhantomData<*const ()>,
}

impl RunningCall {
    /// Records the function that the pass now works on, if calls are recorded.
    #[inline]
    pub fn set_function<'f>(&self, name: impl FnOnce() -> &'f str) {
        if let Some(thread) = self.thread {
            thread.set_function(name());
        }
    }

    /// Pops the call, which has returned.
    #[inline]
    pub fn leave(mut self) {
        self.has_returned = true;
    }
}

impl Drop for RunningCall {
    #[inline]
    fn drop(&mut self) {
        // `pthread_exit` in the call unwinds the stack without a panic, and the process aborts. The call stays in the
        // record as the culprit.
        if !self.has_returned && !thread::panicking() {
            return;
        }
        DEPTH.set(DEPTH.get() - 1);
        if self.is_foreign
            && let Some(after) = AFTER_CALLS.get()
        {
            after();
        }
        if let Some(thread) = self.thread {
            thread.pop();
        }
    }
}

/// Terminations of earlier processes of the same run.
static TERMINATIONS: OnceLock<Vec<Termination>> = OnceLock::new();

/// The number of skipped calls.
static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// Makes calls fail, instead of running them, if an earlier process of the same run terminated in them. Only the first
/// invocation has an effect.
pub fn skip_terminated(terminations: Vec<Termination>) {
    _ = TERMINATIONS.set(terminations);
}

/// Returns the earlier termination in this pass or instrument call, if there was one. The caller must then skip the
/// call.
pub fn terminated(callee: &Callee<'_>) -> Option<&'static Termination> {
    let call = Some((callee.kind, callee.number));
    let mut terminations = TERMINATIONS.get()?.iter();
    let termination = terminations.find(|termination| termination.call() == call);
    if termination.is_some() {
        SKIPPED.fetch_add(1, Ordering::Relaxed);
    }
    termination
}

/// Returns the number of calls skipped so far.
pub fn skipped_calls() -> usize {
    SKIPPED.load(Ordering::Relaxed)
}

/// Returns `true` if there is a call on this thread's stack.
pub(crate) fn is_any() -> bool {
    DEPTH.get() > 0
}

/// Returns this thread's part of the record, if a call is on its stack.
#[cfg(unix)]
pub(crate) fn current() -> Option<&'static ThreadRecord> {
    THREAD.get().filter(|_| is_any())
}

/// Records the number of rewrites done so far, and the current rule.
pub fn trace_rewrites(count: u64, rule: &str) {
    if let Some(record) = in_use() {
        record.set_rewrites(count, rule);
    }
}

/// Returns the number of the current thread, which is unique in the process.
pub fn thread_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    thread_local! {
        static NUMBER: u32 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}
