//! I. Instruments.

use std::error::Error;

use passdock::{PassInstrument, Severity};

use crate::ours::{Passdock, Way};
use crate::rule;
use crate::rule::check;
use crate::system::{Log, Mine, System, changes, cx, emits, fails, pass, runs, seq, tap};

/// KEEP. For each pass: `should_run` of all instruments, `run_before_pass` of all, the pass,
/// `run_after_pass` of all, each in the order of the list.
#[test]
fn r097_callback_order() {
    rule!(|s| s
        .call_in(cx().watch(tap("one")).watch(tap("two")), pass("Leaf"))
        .map(drop))
    .plugins()
    .keep("r097");
}

/// KEEP. `enter_pass_ctx` of all instruments runs when a context is entered, `exit_pass_ctx` of all
/// when it is left, both in the order of the list.
#[test]
fn r098_enter_and_exit_in_list_order() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("one")).watch(tap("two")))?;
        s.scope(&cx, |_| Ok(()))
    })
    .keep("r098");
}

/// KEEP. `should_run` and `run_before_pass` get the module before the pass, `run_after_pass` the
/// module that it returned.
#[test]
fn r099_callbacks_get_module_before_and_after() {
    rule!(|s| {
        let cx = cx().watch(tap("tap").counts());
        s.run(cx, [changes(), seq([changes()]).name("Inner")])
    })
    .plugins()
    .keep("r099");
}

/// KEEP. `should_run` of all instruments is called, even after one returned false. If one returned
/// false, the pass and its other callbacks don't run, and the input module is returned.
#[test]
fn r100_should_run_is_called_for_all_and_one_veto_suffices() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("one").vetoes("Changes")).watch(tap("two")))?;
        let (pass, before) = (s.pass(changes())?, s.module());
        let after = s.scope(&cx, |s| s.call(&pass, before.clone()))?;
        s.note(format!("the same module: {}", s.same(&before, &after)));
        Ok(())
    })
    .plugins()
    .keep("r100");
}

/// KEEP. `should_run` isn't called for a pass that the context requires; `run_before_pass` and
/// `run_after_pass` are.
#[test]
fn r101_should_run_is_not_called_for_required_passes() {
    rule!(|s| {
        let cx = cx().requires(["Leaf"]).watch(tap("tap").vetoes("Leaf"));
        s.call_in(cx, pass("Leaf")).map(drop)
    })
    .plugins()
    .keep("r101");
}

/// KEEP. A Sequential is itself instrumented around its children; a veto skips all of them.
#[test]
fn r102_sequential_is_instrumented() {
    rule!(|s| {
        let two = || [pass("First"), pass("Last")];
        s.run(cx().watch(tap("tap")), two())?;
        s.note("vetoed:");
        s.run(cx().watch(tap("tap").vetoes("sequential")), two())
    })
    .plugins()
    .keep("r102");
}

/// KEEP. Passes that a pass calls are instrumented, too.
#[test]
fn r103_nested_passes_are_instrumented() {
    rule!(|s| {
        let leaf = s.pass(pass("Leaf"))?;
        let outer = runs("Outer", move |s: &S, _, module| s.call(&leaf, module));
        s.call_in(cx().watch(tap("tap")), outer).map(drop)
    })
    .plugins()
    .keep("r103");
}

/// KEEP. A callback that an instrument doesn't define does nothing, and lets all passes run.
#[test]
fn r104_callbacks_are_optional() {
    struct Nothing;
    impl PassInstrument for Nothing {
        fn name(&self) -> &str {
            "nothing"
        }
    }
    let log = Log::default();
    let ours = Passdock::new(&log, Way::Host);
    let cx = ours
        .builder()
        .instrument(Nothing)
        .build()
        .expect("a context");
    let all = ours.pass(seq([pass("First"), fails()])).expect("passes");
    ours.log_failure(ours.scope(&cx, |ours| ours.call(&all, ours.module())));
    check("r104", &log.text());
}

/// KEEP. The same instrument listed twice is called twice.
#[test]
fn r106_instrument_listed_twice_is_called_twice() {
    rule!(|s| {
        let twice = tap("tap");
        s.call_in(cx().watch(twice.clone()).watch(twice), pass("Leaf"))
            .map(drop)
    })
    .keep("r106");
}

/// FIX. If the pass fails, `run_after_pass` isn't called, and the exit callbacks run when the
/// context is left. `pass_failed` is called for the instruments whose `run_before_pass` was called,
/// whatever failed.
///
/// TVM: there is no `pass_failed`.
#[test]
fn r107_failed_pass_skips_run_after_pass() {
    rule!(|s| {
        let cx = cx().watch(tap("one").unwinds()).watch(tap("two").unwinds());
        s.run(cx, [fails(), pass("Last")])
    })
    .plugins()
    .fix("r107");
    rule!(|s| {
        for callback in ["should_run", "before", "after"] {
            let tap = |name| tap(name).quiet().unwinds();
            let cx = cx().watch(tap("one")).watch(tap("two").fails_in(callback));
            s.log_failure(s.call_in(cx.watch(tap("three")), pass("Leaf")));
        }
        Ok(())
    })
    .plugins()
    .fix("r107.2");
    rule!(|s| {
        let cx = cx().watch(tap("tap").quiet().unwinds());
        s.run(cx, [emits(Severity::Error), pass("Last")])
    })
    .plugins()
    .fix("r107.3");
}

/// KEEP. If `should_run` or `run_before_pass` fails, the remaining callbacks and the pass don't
/// run, the error propagates, and all exit callbacks run.
#[test]
fn r108_failure_in_should_run_or_run_before_pass() {
    rule!(|s| {
        for callback in ["should_run", "before"] {
            let cx = cx().watch(tap("one")).watch(tap("two").fails_in(callback));
            s.log_failure(s.call_in(cx.watch(tap("three")), pass("Leaf")));
        }
        Ok(())
    })
    .plugins()
    .keep("r108");
}

/// KEEP. If `run_after_pass` fails, that of later instruments doesn't run, the error propagates,
/// and all exit callbacks run.
#[test]
fn r109_failure_in_run_after_pass() {
    rule!(|s| {
        let cx = cx().watch(tap("one")).watch(tap("two").fails_in("after"));
        s.call_in(cx.watch(tap("three")), pass("Leaf")).map(drop)
    })
    .plugins()
    .keep("r109");
}

/// KEEP. After such failures the instruments stay installed; the context can be used again.
#[test]
fn r110_context_is_reusable_after_failure() {
    rule!(|s| {
        let cx = s.context(
            cx().watch(tap("tap"))
                .watch(tap("two").fails_in("should_run").quiet()),
        )?;
        let leaf = s.pass(pass("Leaf"))?;
        for _ in 0..2 {
            s.log_failure(s.scope(&cx, |s| s.call(&leaf, s.module())));
            s.note(format!("{} instruments", s.instruments(&cx)));
        }
        Ok(())
    })
    .keep("r110");
}

/// KEEP. If the enter callback of one instrument fails, later ones aren't entered, earlier ones are
/// exited in reverse order, the list is cleared, the context isn't pushed, and the error
/// propagates.
#[test]
fn r111_failure_in_enter() {
    rule!(|s| {
        let watched = cx().watch(tap("one")).watch(tap("two"));
        let watched = watched
            .watch(tap("three").fails_in("enter"))
            .watch(tap("four"));
        let cx = s.context(watched.level(3))?;
        s.log_failure(s.scope(&cx, |s| {
            s.note("not reached");
            Ok(())
        }));
        s.note(format!(
            "{} instruments, current level {}",
            s.instruments(&cx),
            s.level(&s.current())
        ));
        Ok(())
    })
    .keep("r111");
}

/// FIX. If an exit callback fails then, too, the other exit callbacks still run; the first error
/// propagates with the others.
///
/// TVM: the process aborts.
#[test]
fn r112_failure_in_exit_after_failure_in_enter() {
    rule!(|s| {
        let watched = cx().watch(tap("one")).watch(tap("two").fails_in("exit"));
        let cx = s.context(watched.watch(tap("three").fails_in("enter")))?;
        s.scope(&cx, |_| Ok(()))
    })
    .fix("r112");
}

/// KEEP. If an exit callback fails, later ones aren't called, the list is cleared, the context is
/// popped, and the error propagates.
#[test]
fn r113_failure_in_exit() {
    rule!(|s| {
        let watched = cx().watch(tap("one").fails_in("exit")).watch(tap("two"));
        let cx = s.context(watched.level(3))?;
        s.log_failure(s.scope(&cx, |_| Ok(())));
        s.note(format!(
            "{} instruments, current level {}",
            s.instruments(&cx),
            s.level(&s.current())
        ));
        Ok(())
    })
    .keep("r113");
}

/// KEEP. After that the context works without instruments, with a warning.
#[test]
fn r114_context_continues_without_instruments() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("one").fails_in("exit")))?;
        s.log_failure(s.scope(&cx, |_| Ok(())));
        let leaf = s.pass(pass("Leaf"))?;
        s.scope(&cx, |s| s.call(&leaf, s.module()).map(drop))
    })
    .keep("r114");
}

/// FIX. If the pass and an exit callback fail, the pass's error propagates, with the other as a
/// note.
///
/// TVM: the exit callback's error replaces it.
#[test]
fn r115_pass_error_takes_precedence_over_exit_error() {
    rule!(|s| s
        .call_in(cx().watch(tap("tap").fails_in("exit")), fails())
        .map(drop))
    .plugins()
    .fix("r115");
}

/// KEEP. An error outside any pass also runs the exit callbacks.
#[test]
fn r116_error_of_the_body_runs_exit_callbacks() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("one")).watch(tap("two")))?;
        s.scope(&cx, |s| Err(s.fault("the body failed")))
    })
    .keep("r116");
}

/// FIX. An error that an instrument raises propagates unchanged.
///
/// TVM: errors of user-defined classes become RuntimeError.
#[test]
fn r117_error_object_is_preserved() {
    rule!(|s| {
        let throws = tap("tap").quiet().throws("before", Mine(7));
        let error = s.run(cx().watch(throws), [pass("Leaf")]).err();
        let error = error.ok_or_else(|| s.fault("it ran"))?;
        let source = error.source();
        let mine = source.and_then(|source| source.downcast_ref::<Mine>());
        s.note(format!("caught {mine:?}"));
        Err(error)
    })
    .fix("r117");
}

/// FIX. While an instrument runs, the passes that it runs aren't instrumented.
///
/// TVM: they call the instruments again, without end.
#[test]
fn r119_passes_run_by_an_instrument_are_not_instrumented() {
    rule!(|s| {
        let leaf = s.pass(pass("Leaf"))?;
        let runs = tap("tap").does("before", move |s: &S| s.call(&leaf, s.module()).map(drop));
        s.call_in(cx().watch(runs.quiet()), pass("First")).map(drop)
    })
    .fix("r119");
}

/// KEEP. An instrument is called only under its thread's context.
#[test]
fn r120_other_threads_are_not_instrumented() {
    rule!(|s| {
        let (cx, leaf) = (s.context(cx().watch(tap("tap")))?, s.pass(pass("Leaf"))?);
        s.scope(&cx, |s| {
            let there = std::thread::scope(|scope| {
                scope.spawn(|| s.call(&leaf, s.module()).map(drop)).join()
            });
            there.expect("it didn't panic")
        })
    })
    .keep("r120");
}
