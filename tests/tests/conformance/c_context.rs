//! C. PassContext.

use expect_test::expect;
use passdock::pipeline::Pipeline;
use passdock::{ContextBuilder, DeviceType, PassContext, apply_pass_to_function};

use crate::a_pass_info::pipeline_error;
use crate::ours::{Passdock, Way};
use crate::rule;
use crate::rule::check;
use crate::rule::{Scenario, by_hand, play};
use crate::system::{Cx, Done, Log, System, cx, pass, runs, seq, spec_of, tap};
use crate::tvm::Tvm;

/// KEEP. The default level is 2. By default, the lists, the instruments and the config are empty.
#[test]
fn r016_defaults() {
    rule!(|s| {
        s.note(s.shown_context(&s.context(cx())?));
        Ok(())
    })
    .keep("r016");
}

/// KEEP. The fallback device is the CPU, unless it is set.
#[test]
fn r016_the_fallback_device() {
    let key = "relax.fallback_device_type";
    let device = |builder: ContextBuilder| match builder.build() {
        Ok(cx) => {
            let option = cx.get_config::<i64>(key).expect("an int");
            format!("{:?}, {option:?}", cx.fallback_device())
        }
        Err(error) => error.to_string(),
    };
    let new = PassContext::builder;
    let devices = [
        device(new()),
        device(new().fallback_device(DeviceType::CUDA)),
        device(new().config(key, 8)),
        device(new().fallback_device(DeviceType(0))),
    ];
    check("r016.2", &devices.join("\n"));
}

/// KEEP. Contexts form a stack for each thread. The current context is the top of the stack, or the
/// thread's default.
#[test]
fn r017_contexts_form_a_stack() {
    rule!(|s| {
        let (outer, inner) = (s.context(cx().level(1))?, s.context(cx().level(3))?);
        let default = s.current();
        s.scope(&outer, |s| {
            s.note(format!(
                "in the outer: {}",
                s.same_context(&s.current(), &outer)
            ));
            s.scope(&inner, |s| {
                s.note(format!(
                    "in the inner: {}",
                    s.same_context(&s.current(), &inner)
                ));
                Ok(())
            })?;
            s.note(format!("back: {}", s.same_context(&s.current(), &outer)));
            Ok(())
        })?;
        s.note(format!(
            "outside: {}",
            s.same_context(&s.current(), &default)
        ));
        Ok(())
    })
    .keep("r017");
}

/// KEEP. A thread's default context is always the same object.
#[test]
fn r018_default_context_is_one_object() {
    rule!(|s| {
        let first = s.current();
        s.scope(&s.context(cx())?, |_| Ok(()))?;
        s.note(format!(
            "the same: {}",
            s.same_context(&first, &s.current())
        ));
        Ok(())
    })
    .keep("r018");
}

/// KEEP. A new thread starts with its own default context and inherits nothing. A context can be
/// passed to a thread.
#[test]
fn r019_new_thread_inherits_nothing() {
    rule!(|s| {
        let outer = s.context(cx().level(3).watch(tap("tap")))?;
        s.scope(&outer, |s| {
            let there = std::thread::scope(|scope| {
                let thread = scope.spawn(|| {
                    let own = s.current();
                    s.note(format!(
                        "level {}, {} instruments",
                        s.level(&own),
                        s.instruments(&own)
                    ));
                    s.note(format!("the same: {}", s.same_context(&own, &outer)));
                    s.scope(&outer, |s| {
                        s.note(format!("taken along: level {}", s.level(&s.current())));
                        Ok(())
                    })
                });
                thread.join()
            });
            there.expect("it didn't panic")
        })
    })
    .keep("r019");
}

/// KEEP. A context that is passed to a worker isn't entered there, so its instruments aren't called.
#[test]
fn r019_context_is_carried_to_a_worker() {
    let log = Log::default();
    let ours = Passdock::new(&log, Way::Host);
    let cx = cx().level(3).watch(tap("tap"));
    let cx = ours.context(cx).expect("a context");
    let done = ours.scope(&cx, |ours| {
        let there = || cx.carry(|| ours.note(format!("the same: {}", ours.current().is(&cx))));
        std::thread::scope(|scope| scope.spawn(there).join()).expect("it didn't panic");
        Ok(())
    });
    done.expect("nothing fails");
    check("r019.2", &log.text());
}

/// KEEP. A nested context inherits nothing from the outer one.
#[test]
fn r020_nested_context_inherits_nothing() {
    rule!(|s| {
        s.register(pass("Leaf"))?;
        let outer = cx().level(0).disables(["Leaf"]).watch(tap("tap"));
        let (outer, inner) = (s.context(outer)?, s.context(cx())?);
        s.scope(&outer, |s| {
            s.scope(&inner, |s| {
                s.note(s.shown_context(&s.current()));
                Ok(())
            })
        })
    })
    .keep("r020");
}

/// KEEP. The body of a scope gets the context, and its error propagates.
#[test]
fn r021_errors_of_the_body_propagate() {
    rule!(|s| {
        let cx = s.context(cx().level(3).watch(tap("tap")))?;
        s.scope(&cx, |s| {
            s.note(format!("in it: {}", s.same_context(&s.current(), &cx)));
            Err(s.fault("the body failed"))
        })
    })
    .keep("r021");
}

/// FIX. Leaving a context that isn't on top is an error that names the one on top, and leaves the
/// stack unchanged.
///
/// TVM: the same, as a failed check that names none.
#[test]
fn r022_leaving_an_outer_context_is_an_error() {
    rule!(|s| {
        let (outer, inner) = (s.context(cx().level(1))?, s.context(cx().level(3))?);
        let entered = s.enter(&outer)?;
        let nested = s.enter(&inner)?;
        s.log_failure(s.exit(entered));
        s.note(format!(
            "still in the inner: {}",
            s.same_context(&s.current(), &inner)
        ));
        s.exit(nested)?;
        s.note(format!(
            "in the outer: {}",
            s.same_context(&s.current(), &outer)
        ));
        Ok(())
    })
    .fix_message("r022");
}

/// KEEP. A context may be entered again while it is entered; its instruments are called each time.
#[test]
fn r023_context_can_be_entered_again() {
    rule!(|s| {
        let cx = s.context(cx().watch(tap("tap")))?;
        s.scope(&cx, |s| s.scope(&cx, |_| Ok(())))
    })
    .keep("r023");
}

/// KEEP. In the callbacks for entering and leaving, the outer context is the current one.
#[test]
fn r024_callbacks_see_the_outer_context() {
    rule!(|s| {
        let tap = |callback| {
            tap(callback).does(callback, |s: &S| {
                s.note(format!("level {}", s.level(&s.current())));
                Ok(())
            })
        };
        let inner = cx().level(3).watch(tap("enter")).watch(tap("exit"));
        let (outer, inner) = (s.context(cx().level(1))?, s.context(inner)?);
        s.scope(&outer, |s| s.scope(&inner, |_| Ok(())))
    })
    .keep("r024");
}

/// KEEP. A pass runs under the context that was current when it was called; a context that is
/// entered inside doesn't change it.
#[test]
fn r025_pass_keeps_the_context_of_its_call() {
    rule!(|s| {
        let opens = runs("Opens", |s: &S, got, module| {
            let inner = s.context(cx().level(0))?;
            s.scope(&inner, |s| {
                let levels = (s.level(got), s.level(&s.current()));
                s.note(format!(
                    "got level {}, current level {}",
                    levels.0, levels.1
                ));
                Ok(module)
            })
        });
        s.call_in(cx().level(3), opens).map(drop)
    })
    .keep("r025");
}

/// FIX. A string isn't a list of names.
///
/// TVM: it is split into letters.
#[test]
fn r028_string_is_rejected_as_list_of_names() {
    #[derive(Clone, Copy)]
    struct DisabledByAString;
    impl Scenario for DisabledByAString {
        fn play<S: System>(self, s: &S) -> Done<S> {
            let letters = "Leaf".chars().map(String::from);
            let disabled = letters.collect();
            s.run(Cx { disabled, ..cx() }, [pass("Leaf")])
        }
    }
    by_hand(
        pipeline_error("[context]\ndisabled_pass = 'Leaf'"),
        play(DisabledByAString, Tvm::new),
    )
    .fix("r028");
}

/// KEEP. Names are strings, levels are integers ≥ 0, and there are no other fields.
#[test]
fn r030_other_types_are_rejected() {
    let errors = [
        "opt_level = '2'",
        "opt_level = 2.0",
        "opt_level = true",
        "required_pass = [1]",
        "optlevel = 2",
    ]
    .map(|line| {
        let text = format!("[context]\n{line}\n");
        let error = Pipeline::from_toml(&text).expect_err("it is rejected");
        error.to_diagnostic().render(false)
    });
    check("r030", &errors.join("\n"));
}

/// FIX. A name in `required_pass` or `disabled_pass` that is neither registered nor the name of a
/// pass that was reached is an error when the context is left.
///
/// TVM: a misspelled name has no effect, without a message.
#[test]
fn r029_misspelled_names_are_errors() {
    rule!(|s| {
        s.register(pass("Level3").opt_level(3))?;
        s.run(cx().disables(["Levle3"]), [pass("First")])
    })
    .plugins()
    .fix("r029");
    rule!(|s| {
        s.register(pass("Level3").opt_level(3))?;
        s.run(cx().requires(["Levle3"]), [pass("First")])
    })
    .plugins()
    .fix("r029.2");
    // The name of a pass that occurs and isn't registered is valid, and an error in flight takes precedence.
    rule!(|s| {
        s.run(
            cx().disables(["Mine"]),
            [runs("Mine", |_, _, module| Ok(module)), pass("First")],
        )?;
        let cx = s.context(cx().disables(["Levle3"]))?;
        s.scope(&cx, |s| Err(s.fault("the body failed")))
    })
    .keep("r029.3");
}

/// FIX. A skipped pass in a Sequential counts as reached. For a name that only a vetoed pass might have reached, there
/// is a warning.
///
/// TVM: a misspelled name does nothing, silently.
#[test]
fn r029_names_of_skipped_passes_are_valid() {
    rule!(|s| {
        let mine = || runs("Mine", |_, _, module| Ok(module));
        let high = || seq([seq([mine()])]).name("High").opt_level(3);
        s.run(cx().disables(["Mine"]), [high(), pass("First")])?;
        s.run(
            cx().requires(["Mine"])
                .watch(tap("tap").quiet().vetoes("High")),
            [high().opt_level(0)],
        )?;
        // The code that entered the context first may still call the pass.
        let cx = s.context(cx().disables(["Mine"]))?;
        let all = s.pass(seq([mine()]))?;
        s.scope(&cx, |s| {
            s.scope(&cx, |_| Ok(()))?;
            s.call(&all, s.module()).map(drop)
        })
    })
    .keep("r029.4");
    rule!(|s| {
        let inner = s.pass(runs("Mine", |_, _, module| Ok(module)))?;
        let outer = runs("Outer", move |s: &S, _, module| s.call(&inner, module));
        let vetoes = tap("tap").quiet().vetoes("Outer");
        s.run(
            cx().disables(["Mine"]).watch(vetoes),
            [outer, pass("First")],
        )
    })
    .fix("r029.5");
    // Passes that would have run on other functions count as reached.
    let log = Log::default();
    let ours = Passdock::new(&log, Way::Host);
    let inner = ours.pass(pass("Inner")).expect("a pass");
    let none = apply_pass_to_function(inner, "none", false).expect("a regular expression");
    ours.log_failure(ours.run(cx().disables(["Inner", "Iner"]), [spec_of(&none)]));
    expect![
        "warning[unknown-pass]: `disabled_pass` contains `Iner`, but no such pass ran; a skipped pass may run it"
    ].assert_eq(&log.text());
}

/// FIX. The same applies to the names in a Sequential's own list, before anything runs. A name there is first looked up
/// among the passes in the Sequential.
///
/// TVM: a misspelled name does nothing, silently.
#[test]
fn r029_misspelled_names_in_sequential_list_are_errors() {
    rule!(|s| {
        s.register_all([pass("fold"), pass("relax.transform.short")])?;
        for disabled in ["fold", "short", "relax.transform.short", "shrt"] {
            s.note(format!("{disabled}:"));
            // Its name is also the short name of a registered pass.
            let own = seq([pass("short")]).disabled([disabled]);
            s.log_failure(s.call_in(cx(), own));
        }
        Ok(())
    })
    .fix("r029.6");
}

/// FIX. A name in both lists is disabled, with a warning.
///
/// TVM: it is disabled without a warning.
#[test]
fn r031_name_in_both_lists_is_disabled_with_warning() {
    rule!(|s| {
        let both = cx().requires(["Leaf"]).disables(["Leaf"]);
        s.run(both, [pass("Leaf"), pass("First")])
    })
    .plugins()
    .fix("r031");
}
