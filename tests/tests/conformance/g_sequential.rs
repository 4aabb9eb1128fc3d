//! G. Sequential.

use crate::rule;
use crate::rule::check;
use crate::system::{
    Info, Log, System, changes, cx, edits, fails, marks, pass, runs, seq, spec_of, tap, visits_prim,
};
use crate::tvm::Tvm;

/// KEEP. Children run in the order of the list, each on the result of the previous one.
#[test]
fn r066_children_run_in_order_on_previous_result() {
    rule!(|s| {
        let shows = runs("Shows", |s: &S, _, module| {
            s.note(format!("count {:?}", s.attr(&module, "main", "count")));
            Ok(module)
        });
        s.run(cx(), [pass("First"), changes(), changes(), shows])
    })
    .plugins()
    .keep("r066");
}

/// KEEP. By default it has level 0 and the name `sequential`, and requires nothing.
#[test]
fn r067_defaults() {
    rule!(|s| {
        let empty = s.pass(seq([]))?;
        let Info {
            name,
            opt_level,
            required,
        } = s.info(&empty);
        s.note(format!("{name} {opt_level} {required:?}"));
        let named = seq([]).name("cleanup").opt_level(1).required(["Leaf"]);
        let Info {
            name,
            opt_level,
            required,
        } = s.info(&s.pass(named)?);
        s.note(format!("{name} {opt_level} {required:?}"));
        Ok(())
    })
    .keep("r067");
}

/// KEEP. An empty one returns its input, the same object.
#[test]
fn r068_empty_sequential_returns_its_input() {
    rule!(|s| {
        let before = s.module();
        let after = s.call(&s.pass(seq([]))?, before.clone())?;
        s.note(format!("the same: {}", s.same(&before, &after)));
        Ok(())
    })
    .keep("r068");
}

/// KEEP. It may contain Sequentials and passes of all kinds.
#[test]
fn r069_sequentials_nest_and_mix_kinds() {
    rule!(|s| {
        let inner = seq([marks(), visits_prim(), pass("Leaf")]).name("Inner");
        s.run(cx(), [pass("First"), inner, changes()])
    })
    .plugins()
    .keep("r069");
}

/// FIX. A child is a pass, which types ensure.
///
/// TVM: a None child fails at run time, after others ran.
#[test]
fn r071_every_child_is_a_pass() {
    let log = Log::default();
    let tvm = Tvm::new(&log);
    let first = tvm.pass(pass("First")).expect("a pass");
    let holey = tvm.sequential(vec![Some(first), None]);
    tvm.log_failure(tvm.call(&holey, tvm.module()));
    check("r071", &log.text());
}

/// KEEP. The same pass object may occur twice, and runs twice.
#[test]
fn r072_same_pass_may_occur_twice() {
    rule!(|s| {
        let leaf = s.pass(pass("Leaf"))?;
        s.run(cx(), [spec_of(&leaf), pass("First"), spec_of(&leaf)])
    })
    .plugins()
    .keep("r072");
}

/// KEEP. When a child fails, the rest don't run and the caller's module is unchanged.
#[test]
fn r073_failure_stops_and_leaves_module_unchanged() {
    rule!(|s| {
        let before = s.module();
        let all = s.pass(seq([changes(), fails(), pass("Last")]))?;
        let cx = s.context(cx())?;
        s.log_failure(s.scope(&cx, |s| s.call(&all, before.clone())));
        s.note(format!("count {:?}", s.attr(&before, "main", "count")));
        Ok(())
    })
    .plugins()
    .keep("r073");
}

/// FIX. More than 256 levels of nesting are an error.
///
/// TVM: at about 20,000 levels the stack overflows and the process crashes.
#[test]
fn r074_too_deep_nesting_is_an_error() {
    rule!(|s| {
        let nest = |levels| (0..levels).fold(pass("Leaf"), |inner, _| seq([inner]));
        s.call_in(cx(), nest(256))?;
        s.call_in(cx(), nest(2000)).map(drop)
    })
    .plugins()
    .fix("r074");
}

/// KEEP. A Sequential is a pass: a registered one is found by its name. An example is
/// FoldScaleAxis, which is Backward, then Forward, then FoldConstant.
#[test]
fn r075_registered_sequential_runs_in_order() {
    rule!(|s| {
        let pass_named = |name: &'static str| edits(name, |_| Ok(()));
        let three = [
            "BackwardFoldScaleAxis",
            "ForwardFoldScaleAxis",
            "FoldConstant",
        ];
        s.register(seq(three.map(pass_named)).name("FoldScaleAxis"))?;
        let fold = s.get_pass("t.transform.FoldScaleAxis")?;
        s.run(cx().watch(tap("tap")), [spec_of(&fold)])
    })
    .keep("r075");
}
