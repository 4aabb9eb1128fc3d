//! F. What a pass requires.

use crate::rule;
use crate::system::{changes, cx, pass, seq, tap};
/// KEEP. Before each enabled child a Sequential runs the child's required passes, in the order of
/// the list, each looked up by its registered name.
#[test]
fn r055_required_passes_run_first_in_declared_order() {
    rule!(|s| {
        s.register_all([pass("First"), pass("Leaf")])?;
        s.run(cx(), [pass("NeedsTwo").required(["Leaf", "First"])])
    })
    .plugins()
    .keep("r055");
}

/// FIX. Required passes are resolved transitively, depth first, in declared order.
///
/// TVM: one level only; the required passes of a required pass never run.
#[test]
fn r056_required_passes_resolve_depth_first() {
    rule!(|s| {
        s.register_all([pass("Leaf"), pass("NeedsLeaf").required(["Leaf"])])?;
        s.run(cx(), [pass("Top").required(["NeedsLeaf"])])
    })
    .plugins()
    .fix("r056");
}

/// FIX. A cycle is an error before anything runs, and the error names the chain.
///
/// TVM: a pass that requires itself runs twice; a cycle through a Sequential crashes the process.
#[test]
fn r057_cycle_error_names_the_chain() {
    rule!(|s| {
        s.register(pass("Narcissus").required(["Narcissus"]))?;
        s.run(
            cx(),
            [pass("First"), pass("Narcissus").required(["Narcissus"])],
        )
    })
    .plugins()
    .fix("r057");
    rule!(|s| {
        s.register_all([
            pass("Ping").required(["Pong"]),
            pass("Pong").required(["Ping"]),
        ])?;
        s.run(cx(), [pass("Ping").required(["Pong"])])
    })
    .plugins()
    .fix("r057.2");
    rule!(|s| {
        s.register(seq([pass("InLoop").required(["Loop"])]).name("Loop"))?;
        s.run(cx(), [pass("InLoop").required(["Loop"])])
    })
    .plugins()
    .fix("r057.3");
    // A very long chain.
    rule!(|s| {
        let name = |at: u32| format!("P{at}");
        s.register_all((0..20_000).map(|at| pass(&name(at)).required([&name(at + 1)])))?;
        s.run(cx(), [pass("First").required(["P0"])])
    })
    .fix("r057.4");
}

/// FIX. A required pass runs once in a resolution, and again for a later child only if the module
/// changed since it last ran.
///
/// TVM: it runs for every child that requires it, and twice if it is listed twice.
#[test]
fn r058_required_pass_reruns_only_after_a_change() {
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
    .fix("r058");
    // The user's entry counts, too.
    rule!(|s| {
        s.register(pass("Leaf"))?;
        s.run(cx(), [pass("Leaf"), pass("NeedsLeaf").required(["Leaf"])])
    })
    .plugins()
    .fix("r058.2");
}

/// FIX. A required pass runs at any level. If it is disabled, that is an error that names it and
/// the pass that requires it.
///
/// TVM: it runs although it is disabled.
#[test]
fn r059_disabled_required_pass_is_an_error() {
    rule!(|s| {
        s.register(pass("Level9").opt_level(9))?;
        s.run(cx().level(0), [pass("NeedsLevel9").required(["Level9"])])
    })
    .plugins()
    .keep("r059");
    rule!(|s| {
        s.register(pass("Leaf"))?;
        let entries = [pass("First"), pass("NeedsLeaf").required(["Leaf"])];
        s.run(cx().disables(["Leaf"]), entries)
    })
    .plugins()
    .fix("r059.2");
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
    .keep("r060");
}

/// KEEP. The required passes of a child have already run when the child is vetoed.
#[test]
fn r061_required_passes_run_before_a_veto() {
    rule!(|s| {
        s.register(pass("Leaf"))?;
        let needs = pass("NeedsLeaf").required(["Leaf"]);
        s.run(cx().watch(tap("tap").vetoes("NeedsLeaf")), [needs])
    })
    .plugins()
    .keep("r061");
}

/// KEEP. The required passes of a pass that is called directly don't run.
#[test]
fn r062_direct_call_skips_required_passes() {
    rule!(|s| {
        s.register(pass("Leaf"))?;
        s.call_in(cx(), pass("NeedsLeaf").required(["Leaf"]))
            .map(drop)
    })
    .plugins()
    .keep("r062");
}

/// KEEP. The same applies to a Sequential: its own list counts only where it is a child.
#[test]
fn r063_sequential_required_list_applies_as_child_only() {
    rule!(|s| {
        s.register(pass("Leaf"))?;
        let own = || seq([pass("First")]).required(["Leaf"]);
        s.call_in(cx(), own())?;
        s.note("as a child:");
        s.run(cx(), [own()])
    })
    .plugins()
    .keep("r063");
}

/// FIX. The resolved order is available without running anything.
///
/// TVM: `ResolveDependency` throws "not resolved yet".
#[test]
fn r064_order_is_available_without_running() {
    rule!(|s| {
        s.register_all([pass("Leaf"), pass("NeedsLeaf").required(["Leaf"])])?;
        let inner = seq([pass("Last")]).name("Inner");
        let high = pass("Level3").opt_level(3);
        let all = s.pass(seq([pass("Top").required(["NeedsLeaf"]), high, inner]))?;
        s.note(s.resolve(&all, &s.context(cx())?)?.join(" "));
        Ok(())
    })
    .plugins()
    .fix("r064");
}

/// FIX. All names are resolved before the first pass runs.
///
/// TVM: an unknown name is found when its child is reached, after other passes ran.
#[test]
fn r065_names_are_resolved_before_anything_runs() {
    rule!(|s| {
        s.register(pass("Leaf"))?;
        let needs = pass("NeedsMissing").required(["Leafs"]);
        s.run(cx(), [pass("First"), needs])
    })
    .plugins()
    .fix("r065");
}
