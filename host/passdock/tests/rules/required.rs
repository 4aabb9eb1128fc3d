//! F. Required passes.

use expect_test::expect;
use passdock::{PassRef, Sequential};
use passdock_abi as abi;
use passdock_plugin_api as sdk;

use crate::common::{Log, error, info, module, registered, sets_metadata};

/// Runs `entries` where `known` are registered, and answers what happened.
fn run(log: &Log, known: Vec<PassRef>, entries: Vec<PassRef>) -> Result<(), passdock::PassError> {
    let (_, context) = registered(known);
    let cx = context.build()?;
    cx.scope(|_| Sequential::new(entries).call(module()))
        .map(|_| log.add("done"))
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
fn r058_metadata_is_a_part_of_the_module() {
    let log = Log::new();
    let entries = vec![
        log.pass(info("a").required(["req"])),
        sets_metadata(),
        log.pass(info("b").required(["req"])),
        // It is set already: nothing changes.
        sets_metadata(),
        log.pass(info("c").required(["req"])),
    ];
    run(&log, vec![log.pass(info("req"))], entries).unwrap();
    log.check(expect![[r#"
        run req
        run a
        run req
        run b
        run c
        done"#]]);
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
        a true None : level 0 ≤ opt_level 2
        inner false None : disabled by the context
        b false Some("inner") : `inner`, which it is part of, doesn't run
        a false Some("inner") : `inner`, which it is part of, doesn't run"#]]);
    explain(&text.replace("['inner']", "[]"));
    log.check(expect![[r#"
        deep true None req: `req` requires it, unless nothing changed since it last ran
        req true None a: `a` requires it, unless nothing changed since it last ran
        a true None : level 0 ≤ opt_level 2
        inner true None : level 0 ≤ opt_level 2
        b false Some("inner") : its level 3 is above the context's opt_level 2
        deep true Some("inner") req: `req` requires it, unless nothing changed since it last ran
        req true Some("inner") a: `a` requires it, unless nothing changed since it last ran
        a true Some("inner") : level 0 ≤ opt_level 2"#]]);
}

#[test]
fn a_plugin_that_cant_be_loaded_is_found_before_anything_runs() {
    /// Refuses every host.
    unsafe extern "C" fn refuse(_: *const abi::Host) -> *const abi::Plugin {
        std::ptr::null()
    }
    let manifest = b"[plugin]\n\
        name = 'gone'\nversion = '1.0.0'\nabi = '0.1'\nmin_host = '0.1'\nir = '0.1'\npanic = 'unwind'\n\
        [[pass]]\nname = 'gone.transform.Gone'\nkind = 'module'\n\0";
    let log = Log::new();
    let (registry, context) = registered([]);
    registry
        .load_static(sdk::StaticPlugin {
            entry: refuse,
            manifest,
        })
        .unwrap();
    let gone = registry.get_pass("gone.transform.Gone").unwrap();
    let entries = [log.pass(info("first")), gone];
    let cx = context.build().unwrap();
    expect!["Plugin `gone` (built in) can't be used: its entry `passdock_plugin_v0` answered null: it refuses this host (ABI 0.3, IR 0.1), or serves only another in this process. (the pass `gone.transform.Gone` needs it)"].assert_eq(&error(
        cx.scope(|_| Sequential::new(entries).call(module())),
    ));
    log.check(expect![""]);
}
