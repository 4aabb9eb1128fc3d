//! F. Required passes.

use expect_test::expect;
use passdock::{PassRef, Sequential};

use crate::common::{Log, error, info, module, registered};

/// Runs `entries` where `known` are registered, and answers what happened.
fn run(log: &Log, known: Vec<PassRef>, entries: Vec<PassRef>) -> Result<(), passdock::PassError> {
    let (_, context) = registered(known);
    let cx = context.build()?;
    cx.scope(|_| Sequential::new(entries).call(module()))
        .map(|_| log.add("done"))
}

#[test]
fn r055_r056_transitive_depth_first_in_declared_order() {
    let log = Log::new();
    let known = vec![
        log.pass(info("a").required(["c", "d"])),
        log.pass(info("b")),
        log.pass(info("c")),
        log.pass(info("d").opt_level(9)),
    ];
    run(&log, known, vec![log.pass(info("m").required(["a", "b"]))]).unwrap();
    log.check(expect![[r#"
        run c
        run d
        run a
        run b
        run m
        done"#]]);
}

#[test]
fn r057_a_cycle_is_an_error_that_names_the_chain() {
    let log = Log::new();
    let a = || log.pass(info("A").required(["B"]));
    let b = || log.pass(info("B").required(["A"]));
    let first = log.pass(info("first"));
    expect![
        "Passes require each other: A -> B -> A. Take one of them out of the other's `required`."
    ]
    .assert_eq(&error(run(&log, vec![a(), b()], vec![first, a()])));
    let own = || log.pass(info("Own").required(["Own"]));
    expect![
        "Passes require each other: Own -> Own. Take one of them out of the other's `required`."
    ]
    .assert_eq(&error(run(&log, vec![own()], vec![own()])));
    // By way of a Sequential.
    let child = || log.pass(info("child").required(["S"]));
    let s = || Sequential::new([child()]).name("S").into_pass();
    expect!["Passes require each other: S -> child -> S. Take one of them out of the other's `required`."]
        .assert_eq(&error(run(&log, vec![s()], vec![child()])));
    log.check(expect![""]);
}

#[test]
fn r057_a_very_long_chain_is_an_error() {
    let log = Log::new();
    let name = |i: u32| format!("p{i}");
    let known = (0..20_000).map(|i| log.pass(info(&name(i)).required([name(i + 1)])));
    let text = error(run(
        &log,
        known.collect(),
        vec![log.pass(info("m").required(["p0"]))],
    ));
    assert!(
        text.contains("More than 256 passes require or contain each other"),
        "{text}"
    );
}

#[test]
fn r058_once_for_a_diamond_and_again_only_if_the_module_changed() {
    let log = Log::new();
    let known = vec![
        log.pass(info("req")),
        log.pass(info("left").required(["req"])),
        log.pass(info("right").required(["req"])),
    ];
    let needs = |name| log.pass(info(name).required(["req", "req"]));
    let top = log.pass(info("top").required(["left", "right"]));
    let entries = vec![top, needs("n"), log.change(info("c")), needs("o")];
    run(&log, known, entries).unwrap();
    log.check(expect![[r#"
        run req
        run left
        run right
        run top
        run n
        change c
        run req
        run o
        done"#]]);
}

#[test]
fn r058_the_users_own_entry_counts_too() {
    let log = Log::new();
    let req = || log.change(info("req"));
    run(
        &log,
        vec![req()],
        vec![req(), log.pass(info("m").required(["req"]))],
    )
    .unwrap();
    log.check(expect![[r#"
        change req
        run m
        done"#]]);
}

#[test]
fn r059_a_required_pass_that_is_disabled_is_an_error_that_names_both() {
    let log = Log::new();
    let (_, context) = registered([log.pass(info("req"))]);
    let cx = context.disabled_pass(["req"]).build().unwrap();
    let sequential = Sequential::new([
        log.pass(info("first")),
        log.pass(info("m").required(["req"])),
    ]);
    expect!["The pass `req` is disabled, but `m` requires it. Disable `m` too, or enable `req`."]
        .assert_eq(&error(cx.scope(|_| sequential.call(module()))));
    log.check(expect![""]);
}

#[test]
fn r060_r061_instruments_see_required_passes_first() {
    let log = Log::new();
    let (_, context) = registered([log.pass(info("req"))]);
    let cx = context
        .instrument(log.tap("tap").vetoes("m"))
        .build()
        .unwrap();
    let sequential = Sequential::new([log.pass(info("m").required(["req"]))]);
    cx.scope(|_| sequential.call(module())).unwrap();
    log.check(expect![[r#"
        tap enter
        tap should_run sequential
        tap before sequential
        tap should_run req
        tap before req
        run req
        tap after req
        tap should_run m
        tap after sequential
        tap exit"#]]);
}

#[test]
fn r062_r063_called_directly_nothing_is_prepared() {
    let log = Log::new();
    let (_, context) = registered([log.pass(info("req"))]);
    let cx = context.build().unwrap();
    cx.scope(|_| {
        log.pass(info("m").required(["req"])).call(module())?;
        Sequential::new([log.pass(info("a"))])
            .required(["req"])
            .call(module())
    })
    .unwrap();
    log.check(expect![[r#"
        run m
        run a"#]]);
    // As a child a Sequential's own list is honoured.
    cx.scope(|_| {
        let inner = Sequential::new([log.pass(info("a"))]).required(["req"]);
        Sequential::new([inner]).call(module())
    })
    .unwrap();
    log.check(expect![[r#"
        run req
        run a"#]]);
}

#[test]
fn r065_everything_is_resolved_before_the_first_pass_runs() {
    let log = Log::new();
    let entries = vec![
        log.pass(info("first")),
        log.pass(info("m").required(["gone"])),
    ];
    expect!["There is no pass `gone`. No passes are registered; name a directory of plugins. (required by `m`)"]
        .assert_eq(&error(run(&log, vec![], entries)));
    log.check(expect![""]);
}

#[test]
fn r064_the_order_can_be_shown_without_running() {
    let log = Log::new();
    let (registry, _) = registered([
        log.pass(info("req").required(["deep"])),
        log.pass(info("deep")),
        log.pass(info("a").required(["req"])),
        log.pass(info("b").opt_level(3)),
    ]);
    let text = "passes = ['a', { name = 'inner', passes = ['b', 'a'] }]\n[context]\ndisabled_pass = ['inner']";
    let explain = |text: &str| {
        let pipeline = passdock::pipeline::Pipeline::from_toml(text).unwrap();
        let explained = pipeline.resolve(&registry).unwrap().explain().unwrap();
        for pass in explained.passes {
            let by = pass.requested_by.unwrap_or_default();
            log.add(format!(
                "{} {:?} {:?} {by}: {}",
                pass.name, pass.runs, pass.parent, pass.reason
            ));
        }
    };
    explain(text);
    log.check(expect![[r#"
        deep true None req: `req` requires it, unless nothing changed since it last ran
        req true None a: `a` requires it, unless nothing changed since it last ran
        a true None : its level 0 isn't above the context's
        inner false None : disabled by the context
        b false Some("inner") : `inner`, which it is part of, doesn't run
        a false Some("inner") : `inner`, which it is part of, doesn't run"#]]);
    explain(&text.replace("['inner']", "[]"));
    log.check(expect![[r#"
        deep true None req: `req` requires it, unless nothing changed since it last ran
        req true None a: `a` requires it, unless nothing changed since it last ran
        a true None : its level 0 isn't above the context's
        inner true None : its level 0 isn't above the context's
        b false Some("inner") : its level 3 is above the context's opt_level 2
        deep true Some("inner") req: `req` requires it, unless nothing changed since it last ran
        req true Some("inner") a: `a` requires it, unless nothing changed since it last ran
        a true Some("inner") : its level 0 isn't above the context's"#]]);
}
