//! J. override_instruments.

use std::sync::atomic::{AtomicBool, Ordering};

use expect_test::expect;

use crate::rule;
use crate::system::{System, Tap, cx, pass, runs, tap};

/// KEEP. The old instruments are exited, the list is replaced, the new ones are entered; the context
/// stays entered.
#[test]
fn r121_old_ones_exited_new_ones_entered() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("old")))?;
        s.scope(&cx, |s| {
            s.override_instruments(&cx, vec![tap("new"), tap("newer")])?;
            s.call(&s.pass(pass("Leaf"))?, s.module()).map(drop)
        })
    })
    .keep(expect![[r#"
        old enter
        old exit
        new enter
        newer enter
        new should_run Leaf
        newer should_run Leaf
        new before Leaf
        newer before Leaf
        run Leaf
        new after Leaf
        newer after Leaf
        new exit
        newer exit"#]]);
}

/// KEEP. It works on the thread's default context.
#[test]
fn r122_the_threads_default_context() {
    rule!(|s| {
        let leaf = s.pass(pass("Leaf"))?;
        s.override_instruments(&s.current(), vec![tap("tap")])?;
        s.call(&leaf, s.module())?;
        s.override_instruments(&s.current(), Vec::new())?;
        s.call(&leaf, s.module()).map(drop)
    })
    .keep(expect![[r#"
        tap enter
        tap should_run Leaf
        tap before Leaf
        run Leaf
        tap after Leaf
        tap exit
        run Leaf"#]]);
}

/// FIX. No list is an empty list: it removes all instruments.
///
/// TVM: None is a TypeError, though it is documented.
#[test]
fn r123_an_empty_list_removes_all() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("old")))?;
        s.scope(&cx, |s| {
            s.say_if_failed(s.remove_instruments(&cx));
            s.call(&s.pass(pass("Leaf"))?, s.module()).map(drop)
        })
    })
    .fix(
        expect![[r#"
        old enter
        old exit
        run Leaf"#]],
        expect![[r#"
        old enter
        error[TypeError]: Expect instruments to be Array but got None
        old should_run Leaf
        old before Leaf
        run Leaf
        old after Leaf
        old exit"#]],
    );
}

/// KEEP. If an old one's exit fails, the list is empty, the new ones aren't installed, and the error
/// goes out.
#[test]
fn r124_an_old_exit_fails() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("one").fails_in("exit")).watch(tap("two")))?;
        s.scope(&cx, |s| {
            s.say_if_failed(s.override_instruments(&cx, vec![tap("new")]));
            s.say(format!("{} instruments", s.instruments(&cx)));
            Ok(())
        })
    })
    .keep(expect![[r#"
        one enter
        two enter
        one exit
        error[instrument]: The instrument `one` failed in exit_pass_ctx: one is broken.
        0 instruments"#]]);
}

/// KEEP. If a new one's enter fails, those before it are exited and the list is empty.
#[test]
fn r125_a_new_enter_fails() {
    rule!(|s| {
        let cx = s.context(cx())?;
        s.scope(&cx, |s| {
            let new = vec![tap("a"), tap("b").fails_in("enter"), tap("c")];
            s.say_if_failed(s.override_instruments(&cx, new));
            s.say(format!("{} instruments", s.instruments(&cx)));
            Ok(())
        })
    })
    .keep(expect![[r#"
        a enter
        b enter
        a exit
        error[instrument]: The instrument `b` failed in enter_pass_ctx: b is broken.
        0 instruments"#]]);
}

/// FIX. Only those that were entered are exited; the default context counts as entered.
///
/// TVM: on a context that was never entered it calls the old ones' exit.
#[test]
fn r126_what_was_never_entered_is_not_exited() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("old")))?;
        s.override_instruments(&cx, vec![tap("new")])?;
        s.say("entered:");
        s.scope(&cx, |_| Ok(()))
    })
    .fix(
        expect![[r#"
        entered:
        new enter
        new exit"#]],
        expect![[r#"
        old exit
        new enter
        entered:
        new enter
        new exit"#]],
    );
    // A context that is entered twice has its instruments exited and entered twice.
    rule!(|s| {
        let cx = s.context(cx().watch(tap("old")))?;
        s.scope(&cx, |s| {
            s.scope(&cx, |s| s.override_instruments(&cx, vec![tap("new")]))
        })
    })
    .fix(
        expect![[r#"
        old enter
        old enter
        old exit
        old exit
        new enter
        new enter
        new exit
        new exit"#]],
        expect![[r#"
        old enter
        old enter
        old exit
        new enter
        new exit
        new exit"#]],
    );
}

/// FIX. Where one's second enter fails, each is exited as often as it was entered.
///
/// TVM: only those of the second time are exited.
#[test]
fn r126_what_was_entered_twice_is_exited_twice() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("a")).watch(only_once()))?;
        let done = s.scope(&cx, |s| {
            s.say("in it");
            let inner = s.scope(&cx, |_| Ok(()));
            s.say(format!("{} instruments", s.instruments(&cx)));
            inner
        });
        s.say_if_failed(done);
        Ok(())
    })
    .fix(
        expect![[r#"
        a enter
        once enter
        in it
        a enter
        once enter
        a exit
        once exit
        a exit
        warning[instrument]: The context goes on without instruments, because one failed.
        0 instruments
        error[instrument]: The instrument `once` failed in enter_pass_ctx: it was entered."#]],
        expect![[r#"
        a enter
        once enter
        in it
        a enter
        once enter
        a exit
        warning[instrument]: Disable pass instrumentation.
        0 instruments
        error[pass-failed]: it was entered"#]],
    );
    // The same of new ones, in a context that was entered twice.
    rule!(|s| {
        let cx = s.context(cx())?;
        s.scope(&cx, |s| {
            s.scope(&cx, |s| {
                let new = vec![tap("a"), only_once()];
                s.say_if_failed(s.override_instruments(&cx, new));
                Ok(())
            })
        })
    })
    .fix(
        expect![[r#"
        a enter
        once enter
        a enter
        once enter
        a exit
        once exit
        a exit
        error[instrument]: The instrument `once` failed in enter_pass_ctx: it was entered."#]],
        expect![[r#"
        a enter
        once enter
        a exit
        once exit
        a exit
        once exit"#]],
    );
}

/// An instrument that can be entered once.
fn only_once<S: System>() -> Tap<S> {
    let entered = AtomicBool::new(false);
    tap("once").does("enter", move |s: &S| {
        match entered.swap(true, Ordering::Relaxed) {
            true => Err(s.fault("it was entered")),
            false => Ok(()),
        }
    })
}

/// FIX. A running pass keeps the list it started with; the new one counts from the next pass on.
///
/// TVM: the new instruments get `run_after_pass` without `run_before_pass`.
#[test]
fn r127_a_running_pass_keeps_its_list() {
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
    .fix(
        expect![[r#"
        old enter
        old should_run Replaces
        old before Replaces
        old exit
        new enter
        old after Replaces
        new should_run Leaf
        new before Leaf
        run Leaf
        new after Leaf
        new exit"#]],
        expect![[r#"
        old enter
        old should_run Replaces
        old before Replaces
        old exit
        new enter
        new after Replaces
        new should_run Leaf
        new before Leaf
        run Leaf
        new after Leaf
        new exit"#]],
    );
}

/// FIX. It is refused while a callback runs.
///
/// TVM: called from an exit callback it kills the process.
#[test]
fn r128_refused_while_a_callback_runs() {
    rule!(|s| {
        let replaces = |s: &S| s.override_instruments(&s.current(), Vec::new());
        let tap = tap("tap").does("exit", replaces);
        s.override_instruments(&s.current(), vec![tap])?;
        s.override_instruments(&s.current(), Vec::new())
    })
    .fix(expect![[r#"
        tap enter
        tap exit
        error[instrument]: The instrument `tap` failed in exit_pass_ctx: The instruments can't be replaced while one of their callbacks runs. Replace them before or after the pass."#]], expect![[r#"
        tap enter
        tap exit
        error[crash]: the list is freed while it is gone through"#]]);
}
