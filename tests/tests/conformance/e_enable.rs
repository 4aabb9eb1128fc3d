//! E. Which passes run.

use crate::rule;
use crate::system::{cx, pass, runs, seq, tap};

/// KEEP. A disabled pass doesn't run. Otherwise, a required pass runs. Otherwise, a pass runs if
/// its level isn't greater than the context's.
#[test]
fn r046_disabled_overrides_required_overrides_level() {
    rule!(|s| {
        for level in [1, 2, 3] {
            s.note(format!("at level {level}:"));
            let levels = || [1, 2, 3].map(|level| pass(&format!("Level{level}")).opt_level(level));
            s.run(cx().level(level), levels())?;
            s.note("Level3 required:");
            s.run(cx().level(level).requires(["Level3"]), levels())?;
            s.note("Level1 disabled:");
            s.run(cx().level(level).disables(["Level1"]), levels())?;
        }
        Ok(())
    })
    .plugins()
    .keep("r046");
}

/// KEEP. Only a Sequential applies this rule, and only to its direct children.
#[test]
fn r047_only_direct_children_are_filtered() {
    rule!(|s| {
        let inner = seq([pass("Leaf"), pass("Level9").opt_level(9)]).name("Inner");
        let outer = seq([inner, pass("Leaf")]).disabled(["Leaf"]);
        s.call_in(cx(), outer).map(drop)
    })
    .plugins()
    .keep("r047");
}

/// KEEP. A pass that is called directly ignores the level and the disabled names.
#[test]
fn r048_direct_call_ignores_level_and_disabled() {
    rule!(|s| {
        let cx = cx().level(0).disables(["Level3"]);
        s.call_in(cx, pass("Level3").opt_level(3)).map(drop)
    })
    .plugins()
    .keep("r048");
}

/// KEEP. A Sequential that is called directly ignores its own level and name; as a child it obeys
/// both.
#[test]
fn r049_sequential_is_filtered_as_a_child() {
    rule!(|s| {
        let high = || seq([pass("Leaf")]).name("Inner").opt_level(3);
        s.call_in(cx(), high())?;
        s.call_in(cx().level(3).disables(["Inner"]), high())?;
        s.note("as a child:");
        s.run(cx(), [high()])?;
        s.run(cx().level(3).disables(["Inner"]), [high()])?;
        s.run(cx().level(3), [high()])
    })
    .plugins()
    .keep("r049");
}

/// KEEP. Disabling a nested Sequential skips its children. A grandchild's name works too, because
/// the inner Sequential applies the rule.
#[test]
fn r050_nested_passes_can_be_disabled() {
    rule!(|s| {
        let nested = || {
            [
                seq([pass("Leaf"), pass("Last")]).name("Inner"),
                pass("First"),
            ]
        };
        s.run(cx().disables(["Inner"]), nested())?;
        s.note("a grandchild:");
        s.run(cx().disables(["Leaf"]), nested())
    })
    .plugins()
    .keep("r050");
}

/// KEEP. For a disabled child, no instrument is called and no required pass runs.
#[test]
fn r051_disabled_child_has_no_callbacks_or_required_passes() {
    rule!(|s| {
        s.register(pass("Leaf"))?;
        let cx = cx().disables(["NeedsLeaf"]).watch(tap("tap"));
        s.run(cx, [pass("NeedsLeaf").required(["Leaf"])])
    })
    .plugins()
    .keep("r051");
}

/// KEEP. A context's `required_pass` adds no pass; it only makes existing passes run.
#[test]
fn r052_required_pass_adds_nothing() {
    rule!(|s| {
        s.register_all([pass("Leaf"), pass("Level9").opt_level(9)])?;
        let entries = [pass("First"), pass("Level9").opt_level(9)];
        s.run(cx().requires(["Leaf", "Level9"]), entries)
    })
    .plugins()
    .keep("r052");
}

/// KEEP. Passes that a pass runs aren't filtered.
#[test]
fn r053_passes_run_by_a_pass_are_not_filtered() {
    rule!(|s| {
        let inner = s.pass(pass("Level9").opt_level(9))?;
        let outer = runs("Outer", move |s: &S, _, module| s.call(&inner, module));
        s.run(cx().disables(["Level9"]), [outer])
    })
    .plugins()
    .keep("r053");
}

/// KEEP. A Sequential may have its own list of disabled passes, in addition to the context's.
#[test]
fn r054_sequential_has_its_own_disabled_list() {
    rule!(|s| {
        let three = seq([pass("First"), pass("Leaf"), pass("Last")]).disabled(["Last"]);
        s.call_in(cx().disables(["Leaf"]), three).map(drop)
    })
    .plugins()
    .keep("r054");
}
