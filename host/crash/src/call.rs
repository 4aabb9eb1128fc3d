//! The calls into plugins that are on a thread's stack.

use std::cell::Cell;
use std::marker::PhantomData;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

#[cfg(not(unix))]
use crate::change::returned;
use crate::observe::{Seen, tell};
#[cfg(unix)]
use crate::surroundings::returned;
use crate::trace::defined;

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

/// What a call works on, for a signal handler: it neither allocates nor takes a lock.
pub trait Subject {
    /// The name of the function; `None`: there is none now.
    fn function(&self) -> Option<&str>;

    /// The name of the op whose definition is called.
    fn op(&self) -> Option<&str> {
        None
    }
}

/// What of a plugin is called.
#[derive(Clone, Copy, Debug)]
pub struct Callee<'a> {
    pub(crate) kind: CallKind,
    pub(crate) name: &'a str,
    pub(crate) plugin: Option<&'a Path>,
    pub(crate) number: u64,
}

impl<'a> Callee<'a> {
    /// Something of this name; `plugin`: the file that it is in, if it isn't a part of the program.
    pub fn new(kind: CallKind, name: &'a str, plugin: Option<&'a Path>) -> Callee<'a> {
        Callee {
            kind,
            name,
            plugin,
            number: 0,
        }
    }

    /// A pass that begins, with its number.
    pub fn pass(name: &'a str, plugin: Option<&'a Path>) -> Callee<'a> {
        static BEGAN: AtomicU64 = AtomicU64::new(0);
        let pass = Callee {
            number: BEGAN.fetch_add(1, Ordering::Relaxed) + 1,
            ..Callee::new(CallKind::Pass, name, plugin)
        };
        tell(Seen::Began(&pass, None));
        pass
    }

    /// An instrument that is about to be called, with the number of the call, around a pass.
    pub fn instrument(
        name: &'a str,
        plugin: Option<&'a Path>,
        pass: Option<&Callee<'_>>,
    ) -> Callee<'a> {
        static CALLED: AtomicU64 = AtomicU64::new(0);
        let instrument = Callee {
            number: CALLED.fetch_add(1, Ordering::Relaxed) + 1,
            ..Callee::new(CallKind::Instrument, name, plugin)
        };
        tell(Seen::Began(&instrument, pass));
        instrument
    }

    /// An instrument whose end is about to be called. It has no number: who leaves that out doesn't get further.
    pub fn instrument_end(name: &'a str, plugin: Option<&'a Path>) -> Callee<'a> {
        let instrument = Callee::new(CallKind::Instrument, name, plugin);
        tell(Seen::Began(&instrument, None));
        instrument
    }

    /// A library that is about to be loaded.
    pub fn library(name: &'a str, plugin: Option<&'a Path>) -> Callee<'a> {
        let library = Callee::new(CallKind::Library, name, plugin);
        tell(Seen::Began(&library, None));
        library
    }

    /// Its kind.
    pub fn kind(&self) -> CallKind {
        self.kind
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The file that it is in, if it isn't a part of the program.
    pub fn plugin(&self) -> Option<&'a Path> {
        self.plugin
    }

    /// The number of a pass among the passes that began in this process, or of the call of an instrument among such
    /// calls, from 1 on. The same run gives the same numbers. 0: it has none.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// A call of it.
    pub fn call(self) -> Call<'a> {
        Call {
            callee: self,
            subject: None,
            around: None,
            outer: Cell::new(ptr::null()),
        }
    }

    /// A call of it, with what it works on.
    pub fn call_on(self, subject: &'a dyn Subject) -> Call<'a> {
        Call {
            subject: Some(subject),
            ..self.call()
        }
    }
}

/// A call into a plugin, on the stack of the thread that makes it.
pub struct Call<'a> {
    pub(crate) callee: Callee<'a>,
    pub(crate) subject: Option<&'a dyn Subject>,
    /// The pass that it is about, if that isn't called now.
    #[cfg_attr(not(unix), expect(dead_code, reason = "a signal's handler reads it"))]
    pub(crate) around: Option<Callee<'a>>,
    outer: Cell<*const Call<'static>>,
}

thread_local! {
    /// The innermost call of this thread.
    static TOP: Cell<*const Call<'static>> = const { Cell::new(ptr::null()) };
}

impl<'a> Call<'a> {
    /// A call before or after that of a pass.
    pub fn around(self, pass: Option<Callee<'a>>) -> Call<'a> {
        Call {
            around: pass,
            ..self
        }
    }

    /// As [`Call::enter`]. When it returns, it is looked whether it left the process as it was; that an instrument or a
    /// library returns is told.
    #[inline]
    pub fn enter_told(&self) -> impl Drop + use<'_, 'a> {
        struct Told<'c>(
            Callee<'c>,
            #[expect(dead_code, reason = "it is only dropped")] OnStack<'c>,
        );
        impl Drop for Told<'_> {
            #[inline]
            fn drop(&mut self) {
                returned(&self.0);
                if self.0.kind != CallKind::Pass {
                    tell(Seen::Returned);
                } else if let Some(pass) = outer_pass() {
                    tell(Seen::GoesOn(pass));
                }
            }
        }
        Told(self.callee, self.enter())
    }

    /// As [`Call::enter`], for the definition of an op. It is written down which one it is.
    pub fn enter_defined(&self) -> impl Sized + use<'_, 'a> {
        let op = self.subject.and_then(|subject| subject.op());
        let function = self.subject.and_then(|subject| subject.function());
        (defined(&self.callee, op, function), self.enter())
    }

    /// Makes this the innermost call of the thread, until what is returned is dropped.
    #[inline]
    pub fn enter(&self) -> OnStack<'_> {
        #[cfg(unix)]
        crate::watch::prepare_thread();
        let this: *const Call<'a> = self;
        self.outer.set(TOP.replace(this.cast()));
        OnStack {
            outer: self.outer.get(),
            call: PhantomData,
        }
    }
}

/// A call that runs.
pub struct OnStack<'c> {
    outer: *const Call<'static>,
    call: PhantomData<&'c ()>,
}

impl Drop for OnStack<'_> {
    #[inline]
    fn drop(&mut self) {
        TOP.set(self.outer);
    }
}

/// The pass that runs the innermost one of this thread.
fn outer_pass<'t>() -> Option<&'t Callee<'t>> {
    let outer = calls().skip(1).map(|call| &call.callee);
    outer
        .into_iter()
        .find(|callee| callee.kind == CallKind::Pass)
}

/// Whether there is a call on this thread's stack.
pub(crate) fn is_any() -> bool {
    !TOP.get().is_null()
}

/// The calls on this thread's stack, innermost first.
pub(crate) fn calls<'t>() -> impl Iterator<Item = &'t Call<'t>> {
    let mut at = TOP.get();
    std::iter::from_fn(move || {
        // SAFETY: a call is on the stack of this thread until its guard is dropped, which takes it from the chain;
        // a handler runs on the same thread, above it.
        let call: &'t Call<'t> = unsafe { at.cast::<Call<'t>>().as_ref() }?;
        at = call.outer.get();
        Some(call)
    })
}

/// The number of the current thread, unique in the process.
pub fn thread_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    thread_local! {
        static NUMBER: u32 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_call_comes_first_and_goes() {
        let names = || {
            calls()
                .map(|call| call.callee.name.to_owned())
                .collect::<Vec<_>>()
        };
        let pass = Callee::new(CallKind::Pass, "pass", None).call();
        let pass_entered = pass.enter();
        {
            let op = Callee::new(CallKind::Definition, "op", None).call();
            let _entered = op.enter();
            assert_eq!(names(), ["op", "pass"]);
        }
        assert_eq!(names(), ["pass"]);
        drop(pass_entered);
        assert!(names().is_empty());
    }
}
