//! J. override_instruments.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::rule;
use crate::system::{System, Tap, cx, pass, runs, tap};

/// KEEP. The old instruments are exited, the list is replaced, and the new ones are entered; the
/// context stays entered.
#[test]
fn r121_old_are_exited_and_new_entered() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("old")))?;
        s.scope(&cx, |s| {
            s.override_instruments(&cx, vec![tap("new"), tap("newer")])?;
            s.call(&s.pass(pass("Leaf"))?, s.module()).map(drop)
        })
    })
    .keep("r121");
}

/// KEEP. It works on the thread's default context.
#[test]
fn r122_override_on_default_context() {
    rule!(|s| {
        let leaf = s.pass(pass("Leaf"))?;
        s.override_instruments(&s.current(), vec![tap("tap")])?;
        s.call(&leaf, s.module())?;
        s.override_instruments(&s.current(), Vec::new())?;
        s.call(&leaf, s.module()).map(drop)
    })
    .keep("r122");
}

/// FIX. No list is an empty list: it removes all instruments.
///
/// TVM: None is a TypeError, although it is documented.
#[test]
fn r123_empty_list_removes_all() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("old")))?;
        s.scope(&cx, |s| {
            s.log_failure(s.remove_instruments(&cx));
            s.call(&s.pass(pass("Leaf"))?, s.module()).map(drop)
        })
    })
    .fix("r123");
}

/// KEEP. If the exit callback of an old instrument fails, the list is empty, the new ones aren't
/// installed, and the error propagates.
#[test]
fn r124_failure_in_exit_of_old_instrument() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("one").fails_in("exit")).watch(tap("two")))?;
        s.scope(&cx, |s| {
            s.log_failure(s.override_instruments(&cx, vec![tap("new")]));
            s.note(format!("{} instruments", s.instruments(&cx)));
            Ok(())
        })
    })
    .keep("r124");
}

/// KEEP. If the enter callback of a new instrument fails, those before it are exited and the list
/// is empty.
#[test]
fn r125_failure_in_enter_of_new_instrument() {
    rule!(|s| {
        let cx = s.context(cx())?;
        s.scope(&cx, |s| {
            let new = vec![tap("a"), tap("b").fails_in("enter"), tap("c")];
            s.log_failure(s.override_instruments(&cx, new));
            s.note(format!("{} instruments", s.instruments(&cx)));
            Ok(())
        })
    })
    .keep("r125");
}

/// FIX. Only instruments that were entered are exited; the default context counts as entered.
///
/// TVM: on a context that was never entered, it calls the exit callbacks of the old instruments.
#[test]
fn r126_unentered_instruments_are_not_exited() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("old")))?;
        s.override_instruments(&cx, vec![tap("new")])?;
        s.note("entered:");
        s.scope(&cx, |_| Ok(()))
    })
    .fix("r126");
    // In a context that is entered twice, the instruments are exited and entered twice.
    rule!(|s| {
        let cx = s.context(cx().watch(tap("old")))?;
        s.scope(&cx, |s| {
            s.scope(&cx, |s| s.override_instruments(&cx, vec![tap("new")]))
        })
    })
    .fix("r126.2");
}

/// FIX. If the second enter callback of an instrument fails, each instrument is exited as often as it was entered.
///
/// TVM: only those that were entered the second time are exited.
#[test]
fn r126_exits_match_enters() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("a")).watch(only_once()))?;
        let done = s.scope(&cx, |s| {
            s.note("in it");
            let inner = s.scope(&cx, |_| Ok(()));
            s.note(format!("{} instruments", s.instruments(&cx)));
            inner
        });
        s.log_failure(done);
        Ok(())
    })
    .fix("r126.3");
    // The same for new instruments, in a context that was entered twice.
    rule!(|s| {
        let cx = s.context(cx())?;
        s.scope(&cx, |s| {
            s.scope(&cx, |s| {
                let new = vec![tap("a"), only_once()];
                s.log_failure(s.override_instruments(&cx, new));
                Ok(())
            })
        })
    })
    .fix("r126.4");
}

/// Returns an instrument that can be entered once.
fn only_once<S: System>() -> Tap<S> {
    let entered = AtomicBool::new(false);
    tap("once").does("enter", move |s: &S| {
        match entered.swap(true, Ordering::Relaxed) {
            true => Err(s.fault("it was entered")),
            false => Ok(()),
        }
    })
}

/// FIX. A running pass keeps the list that it started with; the new list applies from the next pass
/// on.
///
/// TVM: the new instruments get `run_after_pass` without `run_before_pass`.
#[test]
fn r127_running_pass_keeps_its_instruments() {
    rule!(|s| {
        let replaces = runs("Replaces", |s: &S, cx, module| {
            s.override_instruments(cx, vec![tap("new")])?;
            Ok(module)
        });
        let cx = s.context(cx().watch(tap("old")))?;
        s.scope(&cx, |s| {
            s.call(&s.pass(replaces)?, s.module())?;
            s.call(&s.pass(pass("Leaf"))?, s.module()).map(drop)
        })
    })
    .fix("r127");
}

/// FIX. It is rejected while a callback runs.
///
/// TVM: calling it from an exit callback crashes the process.
#[test]
fn r128_override_inside_a_callback_is_rejected() {
    rule!(|s| {
        let replaces = |s: &S| s.override_instruments(&s.current(), Vec::new());
        let tap = tap("tap").does("exit", replaces);
        s.override_instruments(&s.current(), vec![tap])?;
        s.override_instruments(&s.current(), Vec::new())
    })
    .fix("r128");
}
