//! H. Module, function and prim function passes.

use std::path::Path;

use passdock::{
    LoadOptions, Module, PassInfo, PassRef, apply_pass_to_function, create_host_pass,
    create_module_pass, filter,
};
use passdock_plugin_api::FunctionKind;

use crate::ours::{Failure, Passdock, Way};
use crate::rule;
use crate::rule::{by_hand, check};
use crate::system::{
    Log, System, changes, cx, each, each_prim, edits, fails_on_other, marks, pass, runs, seq,
    spec_of, tap, visits, visits_prim,
};
use crate::tvm::thrown;

/// KEEP. A pass maps a module to a module, under a context.
#[test]
fn r076_pass_maps_module_to_module() {
    rule!(|s| {
        let after = s.call_in(cx(), changes())?;
        s.note(format!("count {:?}", s.attr(&after, "main", "count")));
        Ok(())
    })
    .plugins()
    .keep("r076");
}

/// KEEP. A module pass may add and remove functions; the caller's module is unchanged.
#[test]
fn r077_module_pass_may_add_and_remove_functions() {
    rule!(|s| {
        let swaps = edits("Swaps", |module| {
            module.remove("other")?;
            module.add("made")
        });
        let (swaps, before) = (s.pass(swaps)?, s.module());
        let after = s.call(&swaps, before.clone())?;
        s.note(s.functions(&before).join(" "));
        s.note(s.functions(&after).join(" "));
        Ok(())
    })
    .keep("r077");
}

/// KEEP. `Filter` is a module pass that keeps some functions.
#[test]
fn r077_filter_keeps_some_functions() {
    let ours = Passdock::new(&Log::default(), Way::Host);
    let before = ours.module();
    let kept = |filter: PassRef| {
        assert_eq!(filter.info(), &PassInfo::new("Filter"));
        let after = ours.call(&filter, before.clone()).expect("it runs");
        let same = ours.same(&before, &after);
        format!("{:?}, the same: {same}", ours.functions(&after))
    };
    let kept = [
        kept(filter(|function| function.kind() == FunctionKind::GRAPH)),
        kept(filter(|_| true)),
        kept(filter(|_| false)),
    ];
    check("r077.2", &kept.join("\n"));
}

/// KEEP. The module that a module pass returns is returned unchanged, the same object.
#[test]
fn r080_returned_module_is_the_same_object() {
    rule!(|s| {
        for same in [runs("Keeps", |_, _, module| Ok(module)), pass("Leaf")] {
            let before = s.module();
            let after = s.call(&s.pass(same)?, before.clone())?;
            s.note(format!("the same: {}", s.same(&before, &after)));
        }
        Ok(())
    })
    .keep("r080");
}

/// KEEP. A function pass gets each graph function, a prim function pass each prim function, in the
/// order of the module.
#[test]
fn r081_each_kind_gets_its_functions() {
    rule!(|s| s.run(cx(), [visits(), visits_prim()]))
        .plugins()
        .keep("r081");
}

/// KEEP. All functions are computed from the input and stored together: none sees the result of
/// another.
#[test]
fn r082_functions_do_not_see_results_of_others() {
    rule!(|s| {
        let (s, log) = (s, s.log().clone());
        let peeks = each("Peeks", move |f| {
            f.set("seen", 1)?;
            for name in ["main", "other"] {
                let seen = f.peek(name, "seen")?;
                log.add(format!("{} sees {name} {seen:?}", f.name()));
            }
            Ok(())
        });
        s.run(cx(), [peeks])
    })
    .keep("r082");
}

/// FIX. During a prim function pass the module is complete.
///
/// TVM: the function being processed is missing from it.
#[test]
fn r087_prim_function_pass_sees_the_whole_module() {
    rule!(|s| {
        let log = s.log().clone();
        let peeks = each_prim("Peeks", move |f| {
            let own = f.peek("loop", "seen")?;
            log.add(format!("{} sees itself {own:?}", f.name()));
            Ok(())
        });
        s.run(cx(), [peeks])
    })
    .fix("r087");
}

/// FIX. A function pass that changes nothing returns the same module.
///
/// TVM: it always makes a new one.
#[test]
fn r088_unchanged_module_is_the_same_object() {
    rule!(|s| {
        for pass in [visits(), visits_prim(), marks()] {
            let before = s.module();
            let after = s.call(&s.pass(pass)?, before.clone())?;
            s.note(format!("the same: {}", s.same(&before, &after)));
        }
        Ok(())
    })
    .fix("r088");
}

/// KEEP. If one function fails, none is changed.
#[test]
fn r089_failure_in_one_function_changes_none() {
    rule!(|s| {
        let (fails, before) = (s.pass(fails_on_other())?, s.module());
        let cx = s.context(cx())?;
        s.log_failure(s.scope(&cx, |s| s.call(&fails, before.clone())));
        for function in ["main", "other"] {
            s.note(format!(
                "{function}: {:?}",
                s.attr(&before, function, "mark")
            ));
        }
        Ok(())
    })
    .plugins()
    .keep("r089");
}

/// FIX. Function and prim function passes skip functions with the attribute `SkipOptimization`,
/// unless it is 0.
///
/// TVM: they are visited.
#[test]
fn r090_functions_with_skip_optimization_are_skipped() {
    rule!(|s| {
        let mut module = s.module();
        for (function, value) in [("main", 1), ("other", 0), ("loop", 1)] {
            module = s.with_attr(module, function, "SkipOptimization", value);
        }
        let (cx, all) = (s.context(cx())?, s.pass(seq([visits(), visits_prim()]))?);
        s.scope(&cx, |s| s.call(&all, module).map(drop))
    })
    .plugins()
    .fix("r090");
}

/// KEEP. They also skip functions with `Compiler` or `Extern`, which are compiled elsewhere.
#[test]
fn r091_external_functions_are_skipped() {
    rule!(|s| {
        let module = s.with_attr(s.module(), "main", "Compiler", 1);
        let module = s.with_attr(module, "loop", "Extern", 1);
        let (cx, all) = (s.context(cx())?, s.pass(seq([visits(), visits_prim()]))?);
        s.scope(&cx, |s| s.call(&all, module).map(drop))
    })
    .plugins()
    .keep("r091");
}

/// FIX. Only named passes run.
///
/// TVM: a function pass runs `InferType` after itself, and instruments see it.
#[test]
fn r092_no_hidden_passes() {
    rule!(|s| s.call_in(cx().watch(tap("tap")), visits()).map(drop))
        .plugins()
        .fix("r092");
}

/// FIX. A pass doesn't change its input. Under `testing.immutable_module`, a write to the input
/// that bypasses the `const` of the ABI is an error.
///
/// TVM: any pass can damage its input, and the error comes after the damage.
#[test]
fn r093_pass_does_not_modify_its_input() {
    let log = Log::default();
    let ours = Passdock::new(&log, Way::Linked);
    let cx = ours.builder().config("testing.immutable_module", true);
    let cx = cx.build().expect("an option that every host has");
    let before = ours.module();
    let marks = ours.pass(marks()).expect("a pass");
    let after = ours.scope(&cx, |ours| ours.call(&marks, before.clone()));
    let after = after.expect("it changes what it returns");
    for module in [&before, &after] {
        ours.note(format!("mark {:?}", ours.attr(module, "main", "mark")));
    }
    let tvm = "Immutable module has been modified in pass: Marks";
    by_hand(log.text(), thrown("InternalError", tvm)).fix("r093");
    if let Some(message) = scribble_error() {
        check("r093.2", &message);
    }
}

/// Returns the error for a C plugin that writes past its view's `const`; `None` without a C compiler.
fn scribble_error() -> Option<String> {
    let dir = tempfile::tempdir().expect("a directory");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("bad-plugins/scribbles.c");
    let library = passdock_tests::build_c_plugin(&source, dir.path())?;
    let log = Log::default();
    let ours = Passdock::new(&log, Way::Host);
    let loaded = ours.registry.load_plugin(&library, &LoadOptions::default());
    loaded.expect("a plugin");
    let scribbles = ours.get_pass("c.transform.Scribble").expect("a pass");
    for watched in [false, true] {
        let cx = ours.builder().config("testing.immutable_module", watched);
        let cx = cx.build().expect("an option that every host has");
        let done = ours.scope(&cx, |ours| ours.call(&scribbles, ours.module()));
        ours.note(format!("watched: {watched}"));
        ours.log_failure(done);
    }
    Some(log.text())
}

/// KEEP. Unedited functions aren't copied.
#[test]
fn r094_untouched_functions_are_shared() {
    rule!(|s| {
        let before = s.module();
        let after = s.call(&s.pass(changes())?, before.clone())?;
        for function in ["main", "other", "loop"] {
            s.note(format!(
                "{function} shared: {}",
                s.shares(&before, &after, function)
            ));
        }
        let again = s.call(
            &s.pass(seq([spec_of(&s.pass(pass("Leaf"))?)]))?,
            after.clone(),
        )?;
        s.note(format!("main shared: {}", s.shares(&after, &again, "main")));
        Ok(())
    })
    .keep("r094");
}

/// KEEP. `ApplyPassToFunction` changes only the functions whose names match. Optionally, it is an
/// error if none matches; the error lists the functions.
#[test]
fn r096_apply_pass_to_function() {
    let log = Log::default();
    let ours = Passdock::new(&log, Way::Linked);
    let marks = || ours.pass(marks()).expect("a pass");
    let lenient = ["main", "ma", "ain", "main|other", ".*", "x"].map(|regex| (regex, false));
    for (regex, strict) in lenient.into_iter().chain([("x.*", true)]) {
        let apply = apply_pass_to_function(marks(), regex, strict).expect("a regular expression");
        assert_eq!(apply.info(), &PassInfo::new(format!("ApplyPassTo{regex}")));
        let (cx, before) = (ours.context(cx()).expect("a context"), ours.module());
        match ours.scope(&cx, |ours| ours.call(&apply, before.clone())) {
            Ok(after) => {
                let marked = marked(&ours, &after);
                assert_eq!(ours.functions(&after), ours.functions(&before));
                assert_eq!(ours.same(&before, &after), marked.is_empty(), "{regex}");
                ours.note(format!("{regex}: {marked:?}"));
            }
            Err(error) => ours.note(error.to_string()),
        }
    }
    ours.log_failure(apply_pass_to_function(marks(), "(", false).map_err(Failure));
    check("r096", &log.text());
}

/// Returns the marked functions of a module.
fn marked(ours: &Passdock, module: &Module) -> Vec<String> {
    let mut names = ours.functions(module);
    names.retain(|name| ours.attr(module, name, "mark").is_some());
    names
}

/// KEEP. The other functions are external to the inner pass, and are returned unchanged. Changes of the module metadata
/// are kept.
#[test]
fn r096_other_functions_are_external() {
    let log = Log::default();
    let ours = Passdock::new(&log, Way::Host);
    let seen = log.clone();
    let inner = create_module_pass(PassInfo::new("inner"), move |module, _| {
        for name in ["main", "other"] {
            let f = module.edit(name)?;
            seen.add(format!("{name}: {}", f.function_attr("Extern").is_some()));
            f.set_function_attr("mark", 1)?;
        }
        Ok(module.remove("loop")?)
    });
    let before = ours.module();
    let on_main = |pass| apply_pass_to_function(pass, "main", false).expect("a regular expression");
    let after = ours.call(&on_main(inner), before.clone());
    let after = after.expect("it runs");
    log.add(format!("marked: {:?}", marked(&ours, &after)));
    for name in ["other", "loop"] {
        assert!(ours.shares(&before, &after, name), "{name}");
    }
    let sets_metadata = create_host_pass(PassInfo::new("sets"), |module, _| {
        let mut after = module.clone();
        after.set_metadata(vec![("key".to_owned(), "value".to_owned())]);
        Ok(after)
    });
    let sets = on_main(sets_metadata);
    let after = ours.call(&sets, before.clone()).expect("it runs");
    log.add(format!("metadata: {:?}", after.metadata()));
    assert!(!ours.same(&before, &after));
    // The functions are shared, and so is a module in which the value was set before.
    let again = ours.call(&sets, after.clone()).expect("it runs");
    assert!(ours.same(&after, &again));
    check("r096.2", &log.text());
}
