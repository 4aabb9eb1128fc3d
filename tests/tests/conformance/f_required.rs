//! F. What a pass requires.

use crate::rule;
use crate::system::{changes, cx, pass, seq, tap};
use expect_test::expect;

/// KEEP. Before each enabled child a Sequential runs the passes that it requires, in the order of
/// the list, each looked up by its registered name.
#[test]
fn r055_required_run_first_in_declared_order() {
    rule!(|s| {
        s.register_all([pass("First"), pass("Leaf")])?;
        s.run(cx(), [pass("NeedsTwo").required(["Leaf", "First"])])
    })
    .plugins()
    .keep(expect![[r#"
        run Leaf
        run First
        run NeedsTwo"#]]);
}

/// FIX. What is required is resolved transitively, depth first, in declared order.
///
/// TVM: one level only; what a required pass requires never runs.
#[test]
fn r056_required_is_transitive_depth_first() {
    rule!(|s| {
        s.register_all([pass("Leaf"), pass("NeedsLeaf").required(["Leaf"])])?;
        s.run(cx(), [pass("Top").required(["NeedsLeaf"])])
    })
    .plugins()
    .fix(
        expect![[r#"
        run Leaf
        run NeedsLeaf
        run Top"#]],
        expect![[r#"
        run NeedsLeaf
        run Top"#]],
    );
}

/// FIX. A cycle is an error before anything runs, and names the chain.
///
/// TVM: a pass that requires itself runs twice; a cycle by way of a Sequential kills the process.
#[test]
fn r057_a_cycle_is_an_error_that_names_the_chain() {
    rule!(|s| {
        s.register(pass("Narcissus").required(["Narcissus"]))?;
        s.run(
            cx(),
            [pass("First"), pass("Narcissus").required(["Narcissus"])],
        )
    })
    .plugins()
    .fix(expect!["error[required-cycle]: Passes require each other: Narcissus -> Narcissus. Take one of them out of the other's `required`."], expect![[r#"
        run First
        run Narcissus
        run Narcissus"#]]);
    rule!(|s| {
        s.register_all([
            pass("Ping").required(["Pong"]),
            pass("Pong").required(["Ping"]),
        ])?;
        s.run(cx(), [pass("Ping").required(["Pong"])])
    })
    .plugins()
    .fix(expect!["error[required-cycle]: Passes require each other: Ping -> Pong -> Ping. Take one of them out of the other's `required`."], expect![[r#"
        run Pong
        run Ping"#]]);
    rule!(|s| {
        s.register(seq([pass("InLoop").required(["Loop"])]).name("Loop"))?;
        s.run(cx(), [pass("InLoop").required(["Loop"])])
    })
    .plugins()
    .fix(expect!["error[required-cycle]: Passes require each other: Loop -> InLoop -> Loop. Take one of them out of the other's `required`."], expect!["error[crash]: the stack overflows"]);
    // A chain without an end in sight.
    rule!(|s| {
        let name = |at: u32| format!("P{at}");
        s.register_all((0..20_000).map(|at| pass(&name(at)).required([&name(at + 1)])))?;
        s.run(cx(), [pass("First").required(["P0"])])
    })
    .fix(expect!["error[too-deep]: More than 256 passes require or contain each other, down to `P255`. Shorten the chain of required passes."], expect![[r#"
        run P0
        run First"#]]);
}

/// FIX. A required pass runs once in a resolution, and again for a later child only if the module
/// changed since it last ran.
///
/// TVM: it runs for every child that asks for it, and twice if it is listed twice.
#[test]
fn r058_required_runs_once_and_again_only_after_a_change() {
    rule!(|s| {
        s.register_all([
            pass("Leaf"),
            pass("Left").required(["Leaf"]),
            pass("Right").required(["Leaf"]),
        ])?;
        let needs = || pass("NeedsTwice").required(["Leaf", "Leaf"]);
        s.run(
            cx(),
            [
                pass("Diamond").required(["Left", "Right"]),
                needs(),
                changes(),
                needs(),
            ],
        )
    })
    .plugins()
    .fix(
        expect![[r#"
        run Leaf
        run Left
        run Right
        run Diamond
        run NeedsTwice
        change Changes
        run Leaf
        run NeedsTwice"#]],
        expect![[r#"
            run Left
            run Right
            run Diamond
            run Leaf
            run Leaf
            run NeedsTwice
            change Changes
            run Leaf
            run Leaf
            run NeedsTwice"#]],
    );
    // The user's own entry counts, too.
    rule!(|s| {
        s.register(pass("Leaf"))?;
        s.run(cx(), [pass("Leaf"), pass("NeedsLeaf").required(["Leaf"])])
    })
    .plugins()
    .fix(
        expect![[r#"
        run Leaf
        run NeedsLeaf"#]],
        expect![[r#"
        run Leaf
        run Leaf
        run NeedsLeaf"#]],
    );
}

/// FIX. A required pass runs whatever its level; if it is disabled, that is an error which names
/// it and the pass that requires it.
///
/// TVM: it runs although it is disabled.
#[test]
fn r059_required_and_disabled_at_once_is_an_error() {
    rule!(|s| {
        s.register(pass("Level9").opt_level(9))?;
        s.run(cx().level(0), [pass("NeedsLevel9").required(["Level9"])])
    })
    .plugins()
    .keep(expect![[r#"
        run Level9
        run NeedsLevel9"#]]);
    rule!(|s| {
        s.register(pass("Leaf"))?;
        let entries = [pass("First"), pass("NeedsLeaf").required(["Leaf"])];
        s.run(cx().disables(["Leaf"]), entries)
    })
    .plugins()
    .fix(expect!["error[required-disabled]: The pass `Leaf` is disabled, but `NeedsLeaf` requires it. Disable `NeedsLeaf` too, or enable `Leaf`."], expect![[r#"
        run First
        run Leaf
        run NeedsLeaf"#]]);
}

/// KEEP. Instruments see required passes like any other, and may veto them.
#[test]
fn r060_instruments_see_required_passes() {
    rule!(|s| {
        s.register_all([pass("First"), pass("Leaf")])?;
        let needs = pass("NeedsTwo").required(["Leaf", "First"]);
        s.run(cx().watch(tap("tap").vetoes("Leaf")), [needs])
    })
    .plugins()
    .keep(expect![[r#"
        tap enter
        tap should_run sequential
        tap before sequential
        tap should_run Leaf
        tap should_run First
        tap before First
        run First
        tap after First
        tap should_run NeedsTwo
        tap before NeedsTwo
        run NeedsTwo
        tap after NeedsTwo
        tap after sequential
        tap exit"#]]);
}

/// KEEP. What a child requires has run already when the child is vetoed.
#[test]
fn r061_required_ran_before_the_child_is_vetoed() {
    rule!(|s| {
        s.register(pass("Leaf"))?;
        let needs = pass("NeedsLeaf").required(["Leaf"]);
        s.run(cx().watch(tap("tap").vetoes("NeedsLeaf")), [needs])
    })
    .plugins()
    .keep(expect![[r#"
        tap enter
        tap should_run sequential
        tap before sequential
        tap should_run Leaf
        tap before Leaf
        run Leaf
        tap after Leaf
        tap should_run NeedsLeaf
        tap after sequential
        tap exit"#]]);
}

/// KEEP. A pass that is called directly doesn't run what it requires.
#[test]
fn r062_called_directly_nothing_required_runs() {
    rule!(|s| {
        s.register(pass("Leaf"))?;
        s.call_in(cx(), pass("NeedsLeaf").required(["Leaf"]))
            .map(drop)
    })
    .plugins()
    .keep(expect!["run NeedsLeaf"]);
}

/// KEEP. The same holds for a Sequential: its own list counts only where it is a child.
#[test]
fn r063_a_sequentials_own_list_counts_as_a_child_only() {
    rule!(|s| {
        s.register(pass("Leaf"))?;
        let own = || seq([pass("First")]).required(["Leaf"]);
        s.call_in(cx(), own())?;
        s.say("as a child:");
        s.run(cx(), [own()])
    })
    .plugins()
    .keep(expect![[r#"
        run First
        as a child:
        run Leaf
        run First"#]]);
}

/// FIX. The resolved order can be had without running anything.
///
/// TVM: `ResolveDependency` throws "not resolved yet".
#[test]
fn r064_the_order_can_be_shown_without_running() {
    rule!(|s| {
        s.register_all([pass("Leaf"), pass("NeedsLeaf").required(["Leaf"])])?;
        let inner = seq([pass("Last")]).name("Inner");
        let high = pass("Level3").opt_level(3);
        let all = s.pass(seq([pass("Top").required(["NeedsLeaf"]), high, inner]))?;
        s.say(s.resolve(&all, &s.context(cx())?)?.join(" "));
        Ok(())
    })
    .plugins()
    .fix(
        expect!["Leaf NeedsLeaf Top Inner Last"],
        expect!["error[not-implemented]: not resolved yet"],
    );
}

/// FIX. All names are resolved before the first pass runs.
///
/// TVM: a name that can't be resolved is found when its child is reached, after others ran.
#[test]
fn r065_names_are_resolved_before_anything_runs() {
    rule!(|s| {
        s.register(pass("Leaf"))?;
        let needs = pass("NeedsMissing").required(["Leafs"]);
        s.run(cx(), [pass("First"), needs])
    })
    .plugins()
    .fix(expect!["error[unknown-pass]: There is no pass `Leafs`. Did you mean `Leaf`? (required by `NeedsMissing`)"], expect![[r#"
        run First
        error[unknown-pass]: Cannot use Leafs to create the pass"#]]);
}
