//! Which changes make a required pass run again, and errors that are found before anything runs.

use expect_test::expect;
use passdock::{PassRef, Sequential};

use crate::common::{GONE, Log, error, info, module, registered, sets_metadata};

/// Runs `entries` with `known` registered, recording to `log`.
fn run(log: &Log, known: Vec<PassRef>, entries: Vec<PassRef>) -> Result<(), passdock::PassError> {
    let (_, context) = registered(known);
    let cx = context.build()?;
    cx.scope(|_| Sequential::new(entries).call(module()))
        .map(|_| log.add("done"))
}

#[test]
fn metadata_is_a_part_of_what_changes() {
    let log = Log::new();
    let entries = vec![
        log.pass(info("a").required(["req"])),
        sets_metadata(),
        log.pass(info("b").required(["req"])),
        // The value is already set, so nothing changes.
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
fn a_plugin_that_cant_be_loaded_is_found_before_anything_runs() {
    let log = Log::new();
    let (registry, context) = registered([]);
    registry.load_static(GONE).unwrap();
    let gone = registry.get_pass("gone.transform.Gone").unwrap();
    let entries = [log.pass(info("first")), gone];
    let cx = context.build().unwrap();
    expect![
        "cannot load plugin `gone` (built in): the plugin rejected the host (ABI 0.4, IR 0.1): it has no licence \
            (pass `gone.transform.Gone` requires it)"
    ].assert_eq(&error(
        cx.scope(|_| Sequential::new(entries).call(module())),
    ));
    log.check(expect![""]);
}

/// A disabled name counts as used as soon as its pass is called, whatever the result.
#[test]
fn a_sequential_that_cant_be_resolved_is_met_all_the_same() {
    let (_, context) = registered([]);
    let cx = context.disabled_pass(["mine"]).build().unwrap();
    let broken = Log::new().pass(info("needs").required(["nobody.has"]));
    let mine = Sequential::new([broken]).name("mine");
    cx.scope(|_| {
        assert!(mine.call(module()).is_err());
        Ok::<(), passdock::PassError>(())
    })
    .unwrap();
}
