//! The calls into plugins that are on a thread's stack, and what is done before and after each.

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

/// The record that this process writes, if it writes one.
#[inline]
pub(crate) fn in_use() -> Option<&'static Record> {
    // SAFETY: it is null, or what `record_to` was given, which stays.
    unsafe { RECORD.load(Ordering::Relaxed).as_ref() }
}

/// Writes down in a record what of a plugin runs, from now on.
#[cfg(unix)]
pub fn record_to(record: &'static Record) {
    RECORD.store(ptr::from_ref(record).cast_mut(), Ordering::SeqCst);
}

/// The kind of what runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallKind {
    /// A pass.
    Pass,
    /// An instrument.
    Instrument,
    /// The definition of an op.
    Definition,
    /// A library that is being loaded.
    Library,
}

impl CallKind {
    /// The kinds, in the order of their numbers in a record, from 1 on.
    pub(crate) const ALL: [CallKind; 4] = [
        CallKind::Pass,
        CallKind::Instrument,
        CallKind::Definition,
        CallKind::Library,
    ];

    /// The word for it in sentences.
    pub fn name(self) -> &'static str {
        match self {
            CallKind::Pass => "pass",
            CallKind::Instrument => "instrument",
            CallKind::Definition => "definition",
            CallKind::Library => "library",
        }
    }
}

/// What of a plugin is called.
#[derive(Clone, Copy, Debug)]
pub struct Callee<'a> {
    /// Its kind.
    pub kind: CallKind,
    /// Its name.
    pub name: &'a str,
    /// The file that it is in, if it isn't a part of the program.
    pub plugin: Option<&'a Path>,
    /// The name of the function that it is called on; empty: there is none.
    pub function: &'a str,
    /// The number of a pass among the passes that began in this process, or of the call of an instrument among such
    /// calls, from 1 on. The same run gives the same numbers. 0: it has none.
    pub number: u64,
}

impl<'a> Callee<'a> {
    /// Something of this name; `plugin`: the file that it is in, if it isn't a part of the program.
    pub fn new(kind: CallKind, name: &'a str, plugin: Option<&'a Path>) -> Callee<'a> {
        Callee {
            kind,
            name,
            plugin,
            function: "",
            number: 0,
        }
    }

    /// A pass that begins, with its number.
    pub fn pass(name: &'a str, plugin: Option<&'a Path>) -> Callee<'a> {
        static PASSES: AtomicU64 = AtomicU64::new(0);
        Callee {
            number: PASSES.fetch_add(1, Ordering::Relaxed) + 1,
            ..Callee::new(CallKind::Pass, name, plugin)
        }
    }

    /// An instrument that is about to be called, with the number of the call.
    pub fn instrument(name: &'a str, plugin: Option<&'a Path>) -> Callee<'a> {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        Callee {
            number: CALLS.fetch_add(1, Ordering::Relaxed) + 1,
            ..Callee::new(CallKind::Instrument, name, plugin)
        }
    }

    /// The same, called on this function.
    pub fn on_function(self, function: &'a str) -> Callee<'a> {
        Callee { function, ..self }
    }

    /// Makes it the innermost call of the thread, until [`RunningCall::leave`] or a panic.
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
    /// The number of calls on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// This thread's part of the record.
    static THREAD: Cell<Option<&'static ThreadRecord>> = const { Cell::new(None) };
}

/// The function that runs when a call of a pass or an instrument in a plugin's file has returned, if there is one.
pub(crate) static AFTER_CALLS: OnceLock<fn()> = OnceLock::new();

/// A call that is on the thread's stack.
#[must_use = "the call is running until `leave`"]
pub struct RunningCall {
    thread: Option<&'static ThreadRecord>,
    is_foreign: bool,
    has_returned: bool,
    not_send: PhantomData<*const ()>,
}

impl RunningCall {
    /// Records the function that it works on from now on, if calls are recorded.
    #[inline]
    pub fn set_function<'f>(&self, name: impl FnOnce() -> &'f str) {
        if let Some(thread) = self.thread {
            thread.set_function(name());
        }
    }

    /// Ends the call, which has returned.
    #[inline]
    pub fn leave(mut self) {
        self.has_returned = true;
    }
}

impl Drop for RunningCall {
    #[inline]
    fn drop(&mut self) {
        // `pthread_exit` in the call unwinds the stack without a panic, and the process aborts: the record
        // goes on naming the call.
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

/// The terminations of earlier processes of the same run.
static TERMINATIONS: OnceLock<Vec<Termination>> = OnceLock::new();

/// The number of calls that were skipped.
static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// Makes the calls fail in which earlier processes of the same run terminated, instead of running them. Only the first
/// call has an effect.
pub fn skip_terminated(terminations: Vec<Termination>) {
    _ = TERMINATIONS.set(terminations);
}

/// Returns the termination of an earlier process in this call of a pass or an instrument, which is then skipped.
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

/// Whether there is a call on this thread's stack.
pub(crate) fn is_any() -> bool {
    DEPTH.get() > 0
}

/// This thread's part of the record, if a call is on its stack.
#[cfg(unix)]
pub(crate) fn current() -> Option<&'static ThreadRecord> {
    THREAD.get().filter(|_| is_any())
}

/// Records that a rule may begin a rewrite, or has done one: so many are done.
pub fn trace_rewrites(count: u64, rule: &str) {
    if let Some(record) = in_use() {
        record.set_rewrites(count, rule);
    }
}

/// The number of the current thread, unique in the process.
pub fn thread_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    thread_local! {
        static NUMBER: u32 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}
