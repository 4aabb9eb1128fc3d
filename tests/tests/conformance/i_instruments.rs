//! I. Instruments.

use std::error::Error;

use passdock::{PassInstrument, Severity};

use crate::ours::{Passdock, Way};
use crate::rule;
use crate::rule::check;
use crate::system::{Log, Mine, System, changes, cx, emits, fails, pass, runs, seq, tap};

/// KEEP. For each pass: `should_run` of all, `run_before_pass` of all, the pass, `run_after_pass` of
/// all, each in the order of the list.
#[test]
fn r097_the_order_of_callbacks() {
    rule!(|s| s
        .call_in(cx().watch(tap("one")).watch(tap("two")), pass("Leaf"))
        .map(drop))
    .plugins()
    .keep("r097");
}

/// KEEP. `enter_pass_ctx` of all when a context is entered, `exit_pass_ctx` of all when it is left,
/// both in the order of the list.
#[test]
fn r098_enter_and_exit_in_list_order() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("one")).watch(tap("two")))?;
        s.scope(&cx, |_| Ok(()))
    })
    .keep("r098");
}

/// KEEP. `should_run` and `run_before_pass` get the module before the pass, `run_after_pass` the one
/// that it returned.
#[test]
fn r099_callbacks_get_the_module_of_their_time() {
    rule!(|s| {
        let cx = cx().watch(tap("tap").counts());
        s.run(cx, [changes(), seq([changes()]).name("Inner")])
    })
    .plugins()
    .keep("r099");
}

/// KEEP. All are asked, also after one said no; a no means no before, no pass, no after, and the
/// input module is returned.
#[test]
fn r100_all_are_asked_and_one_veto_is_enough() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("one").vetoes("Changes")).watch(tap("two")))?;
        let (pass, before) = (s.pass(changes())?, s.module());
        let after = s.scope(&cx, |s| s.call(&pass, before.clone()))?;
        s.say(format!("the same module: {}", s.same(&before, &after)));
        Ok(())
    })
    .plugins()
    .keep("r100");
}

/// KEEP. `should_run` isn't asked for a pass that the context requires; before and after are told.
#[test]
fn r101_should_run_is_not_asked_for_required_passes() {
    rule!(|s| {
        let cx = cx().requires(["Leaf"]).watch(tap("tap").vetoes("Leaf"));
        s.call_in(cx, pass("Leaf")).map(drop)
    })
    .plugins()
    .keep("r101");
}

/// KEEP. A Sequential is itself instrumented around its children; to veto it skips them all.
#[test]
fn r102_a_sequential_is_instrumented_too() {
    rule!(|s| {
        let two = || [pass("First"), pass("Last")];
        s.run(cx().watch(tap("tap")), two())?;
        s.say("vetoed:");
        s.run(cx().watch(tap("tap").vetoes("sequential")), two())
    })
    .plugins()
    .keep("r102");
}

/// KEEP. Passes that a pass calls are instrumented, too.
#[test]
fn r103_passes_inside_passes_are_instrumented() {
    rule!(|s| {
        let leaf = s.pass(pass("Leaf"))?;
        let outer = runs("Outer", move |s: &S, _, module| s.call(&leaf, module));
        s.call_in(cx().watch(tap("tap")), outer).map(drop)
    })
    .plugins()
    .keep("r103");
}

/// KEEP. What an instrument doesn't define does nothing, and lets all passes run.
#[test]
fn r104_callbacks_may_be_left_out() {
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
    ours.say_if_failed(ours.scope(&cx, |ours| ours.call(&all, ours.module())));
    check("r104", &log.text());
}

/// KEEP. The same instrument listed twice is called twice.
#[test]
fn r106_listed_twice_is_called_twice() {
    rule!(|s| {
        let twice = tap("tap");
        s.call_in(cx().watch(twice.clone()).watch(twice), pass("Leaf"))
            .map(drop)
    })
    .keep("r106");
}

/// FIX. If the pass fails, nobody gets `run_after_pass`, and the exits run when the context is left;
/// `pass_failed` lets those unwind that were told `run_before_pass`, whatever failed.
///
/// TVM: there is no `pass_failed`.
#[test]
fn r107_a_failing_pass_has_no_after() {
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
            s.say_if_failed(s.call_in(cx.watch(tap("three")), pass("Leaf")));
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

/// KEEP. If `should_run` or `run_before_pass` fails, the remaining callbacks and the pass don't run,
/// the error goes out, and all exits run.
#[test]
fn r108_should_run_or_before_fails() {
    rule!(|s| {
        for callback in ["should_run", "before"] {
            let cx = cx().watch(tap("one")).watch(tap("two").fails_in(callback));
            s.say_if_failed(s.call_in(cx.watch(tap("three")), pass("Leaf")));
        }
        Ok(())
    })
    .plugins()
    .keep("r108");
}

/// KEEP. If `run_after_pass` fails, that of later instruments doesn't run, the error goes out, and
/// all exits run.
#[test]
fn r109_after_fails() {
    rule!(|s| {
        let cx = cx().watch(tap("one")).watch(tap("two").fails_in("after"));
        s.call_in(cx.watch(tap("three")), pass("Leaf")).map(drop)
    })
    .plugins()
    .keep("r109");
}

/// KEEP. After such failures the instruments stay installed; the context can be used again.
#[test]
fn r110_the_context_can_be_used_again() {
    rule!(|s| {
        let cx = s.context(
            cx().watch(tap("tap"))
                .watch(tap("two").fails_in("should_run").quiet()),
        )?;
        let leaf = s.pass(pass("Leaf"))?;
        for _ in 0..2 {
            s.say_if_failed(s.scope(&cx, |s| s.call(&leaf, s.module())));
            s.say(format!("{} instruments", s.instruments(&cx)));
        }
        Ok(())
    })
    .keep("r110");
}

/// KEEP. If the enter of one fails, those after it aren't entered, the earlier ones are exited in
/// reverse, the list is cleared, the context isn't pushed, and the error goes out.
#[test]
fn r111_enter_fails() {
    rule!(|s| {
        let watched = cx().watch(tap("one")).watch(tap("two"));
        let watched = watched
            .watch(tap("three").fails_in("enter"))
            .watch(tap("four"));
        let cx = s.context(watched.level(3))?;
        s.say_if_failed(s.scope(&cx, |s| {
            s.say("not reached");
            Ok(())
        }));
        s.say(format!(
            "{} instruments, current level {}",
            s.instruments(&cx),
            s.level(&s.current())
        ));
        Ok(())
    })
    .keep("r111");
}

/// FIX. If an exit fails then, too, the other exits go on; the first error goes out with the rest.
///
/// TVM: the process aborts.
#[test]
fn r112_an_exit_fails_while_enter_failed() {
    rule!(|s| {
        let watched = cx().watch(tap("one")).watch(tap("two").fails_in("exit"));
        let cx = s.context(watched.watch(tap("three").fails_in("enter")))?;
        s.scope(&cx, |_| Ok(()))
    })
    .fix("r112");
}

/// KEEP. If an exit fails, later ones aren't exited, the list is cleared, the context is off the
/// stack, and the error goes out.
#[test]
fn r113_exit_fails() {
    rule!(|s| {
        let watched = cx().watch(tap("one").fails_in("exit")).watch(tap("two"));
        let cx = s.context(watched.level(3))?;
        s.say_if_failed(s.scope(&cx, |_| Ok(())));
        s.say(format!(
            "{} instruments, current level {}",
            s.instruments(&cx),
            s.level(&s.current())
        ));
        Ok(())
    })
    .keep("r113");
}

/// KEEP. After that the context works without instruments; a warning says so.
#[test]
fn r114_the_context_goes_on_without_instruments() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("one").fails_in("exit")))?;
        s.say_if_failed(s.scope(&cx, |_| Ok(())));
        let leaf = s.pass(pass("Leaf"))?;
        s.scope(&cx, |s| s.call(&leaf, s.module()).map(drop))
    })
    .keep("r114");
}

/// FIX. If the pass and an exit fail, the pass's error goes out, with the other's as a note.
///
/// TVM: the exit's error takes its place.
#[test]
fn r115_the_passes_error_outranks_the_exits() {
    rule!(|s| s
        .call_in(cx().watch(tap("tap").fails_in("exit")), fails())
        .map(drop))
    .plugins()
    .fix("r115");
}

/// KEEP. An error outside any pass runs the exits, too.
#[test]
fn r116_an_error_of_the_body_runs_the_exits() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("one")).watch(tap("two")))?;
        s.scope(&cx, |s| Err(s.fault("the body failed")))
    })
    .keep("r116");
}

/// FIX. An error that an instrument throws comes back as it was thrown.
///
/// TVM: errors of the user's own classes come back as RuntimeError.
#[test]
fn r117_the_error_object_is_kept() {
    rule!(|s| {
        let throws = tap("tap").quiet().throws("before", Mine(7));
        let error = s.run(cx().watch(throws), [pass("Leaf")]).err();
        let error = error.ok_or_else(|| s.fault("it ran"))?;
        let source = error.source();
        let mine = source.and_then(|source| source.downcast_ref::<Mine>());
        s.say(format!("caught {mine:?}"));
        Err(error)
    })
    .fix("r117");
}

/// FIX. While an instrument runs, the passes that it runs aren't watched.
///
/// TVM: they call the instruments again, without end.
#[test]
fn r119_passes_of_an_instrument_are_not_watched() {
    rule!(|s| {
        let leaf = s.pass(pass("Leaf"))?;
        let runs = tap("tap").does("before", move |s: &S| s.call(&leaf, s.module()).map(drop));
        s.call_in(cx().watch(runs.quiet()), pass("First")).map(drop)
    })
    .fix("r119");
}

/// KEEP. An instrument is called under its thread's context only.
#[test]
fn r120_other_threads_are_not_watched() {
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
