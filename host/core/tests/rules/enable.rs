//! E. Enable rule.

use expect_test::expect;
use passdock::{PassContext, Sequential};

use crate::common::{Log, info, module};

#[test]
fn r046_disabled_then_required_then_level() {
    for (level, pass, required, disabled, runs) in [
        (3, 2, false, false, true),
        (2, 2, false, false, true),
        (1, 2, false, false, false),
        (1, 2, true, false, true),
        (3, 2, false, true, false),
        (3, 2, true, true, false),
    ] {
        let log = Log::new();
        let mut cx = PassContext::builder()
            .opt_level(level)
            .on_diagnostic(|_| ());
        if required {
            cx = cx.required_pass(["a"]);
        }
        if disabled {
            cx = cx.disabled_pass(["a"]);
        }
        let sequential = Sequential::new([log.pass(info("a").opt_level(pass))]);
        cx.build()
            .unwrap()
            .scope(|_| sequential.call(module()))
            .unwrap();
        log.check(if runs { expect!["run a"] } else { expect![""] });
    }
}

#[test]
fn r047_r048_a_pass_called_directly_ignores_level_and_lists() {
    let log = Log::new();
    let cx = PassContext::builder()
        .opt_level(0)
        .disabled_pass(["a"])
        .build()
        .unwrap();
    cx.scope(|_| log.pass(info("a").opt_level(3)).call(module()))
        .unwrap();
    log.check(expect!["run a"]);
}

#[test]
fn r049_r050_a_sequential_obeys_as_a_child_only() {
    let log = Log::new();
    let inner = || Sequential::new([log.pass(info("a")), log.pass(info("b"))]).name("inner");
    let run = |sequential: Sequential, disabled: &str| {
        let cx = PassContext::builder()
            .opt_level(1)
            .disabled_pass([disabled])
            .build()
            .unwrap();
        cx.scope(|_| sequential.call(module())).unwrap();
    };
    // Called directly, its own level and name don't count.
    run(inner().opt_level(3), "inner");
    log.check(expect![[r#"
        run a
        run b"#]]);
    // As a child they do.
    run(Sequential::new([inner()]), "inner");
    log.check(expect![""]);
    let none = PassContext::builder().opt_level(1).build().unwrap();
    none.scope(|_| Sequential::new([inner().opt_level(3)]).call(module()))
        .unwrap();
    log.check(expect![""]);
    // A grandchild is disabled by its own Sequential's rule.
    run(Sequential::new([inner()]), "a");
    log.check(expect!["run b"]);
}

#[test]
fn r051_a_disabled_child_is_neither_seen_nor_prepared_for() {
    let log = Log::new();
    let (_, context) = crate::common::registered([log.pass(info("needed"))]);
    let child = log.pass(info("child").required(["needed"]));
    let cx = context
        .disabled_pass(["child"])
        .instrument(log.tap("tap"))
        .build()
        .unwrap();
    cx.scope(|_| Sequential::new([child]).call(module()))
        .unwrap();
    log.check(expect![[r#"
        tap enter
        tap should_run sequential
        tap before sequential
        tap after sequential
        tap exit"#]]);
}

#[test]
fn r052_required_pass_adds_nothing() {
    let log = Log::new();
    let (_, context) = crate::common::registered([log.pass(info("other"))]);
    let cx = context.required_pass(["other"]).build().unwrap();
    cx.scope(|_| Sequential::new([log.pass(info("a"))]).call(module()))
        .unwrap();
    log.check(expect!["run a"]);
}

#[test]
fn r053_passes_that_a_pass_runs_are_not_filtered() {
    let log = Log::new();
    let inner = log.pass(info("inner").opt_level(9));
    let outer = passdock::create_host_pass(info("outer"), move |module, cx| {
        inner.call_in(module.clone(), cx)
    });
    let cx = PassContext::builder()
        .disabled_pass(["inner"])
        .build()
        .unwrap();
    cx.scope(|_| Sequential::new([outer]).call(module()))
        .unwrap();
    log.check(expect!["run inner"]);
}

#[test]
fn r054_a_sequential_has_a_list_of_its_own() {
    let log = Log::new();
    let passes = [
        log.pass(info("a")),
        log.pass(info("b")),
        log.pass(info("c")),
    ];
    let cx = PassContext::builder().disabled_pass(["b"]).build().unwrap();
    cx.scope(|_| Sequential::new(passes).disabled(["c"]).call(module()))
        .unwrap();
    log.check(expect!["run a"]);
}
