//! Which changes make a required pass run again, and errors that are found before anything runs.

use expect_test::expect;
use passdock::{PassRef, Sequential};

use crate::common::{Log, REJECTING, error, info, module, registered, sets_metadata};

/// Runs `entries` with `known` registered, recording to `log`.
fn run(log: &Log, known: Vec<PassRef>, entries: Vec<PassRef>) -> Result<(), passdock::PassError> {
    let (_, context) = registered(known);
    let cx = context.build()?;
    cx.scope(|_| Sequential::new(entries).call(module()))
        .map(|_| log.add("done"))
}

#[test]
fn metadata_change_reruns_required_passes() {
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
fn unloadable_plugin_is_rejected_before_the_run() {
    let log = Log::new();
    let (registry, context) = registered([]);
    registry.load_static(REJECTING).unwrap();
    let rejected = registry.get_pass("gone.transform.Gone").unwrap();
    let entries = [log.pass(info("first")), rejected];
    let cx = context.build().unwrap();
    expect!["cannot load plugin `gone` (built in): the plugin rejected the host (ABI 1.0, IR 1.0): it has no license \
            (pass `gone.transform.Gone` requires it)"].assert_eq(&error(
        cx.scope(|_| Sequential::new(entries).call(module())),
    ));
    log.check(expect![""]);
}

/// A disabled name counts as used as soon as its pass is called, whatever the result.
#[test]
fn unresolvable_sequential_counts_as_used() {
    let (_, context) = registered([]);
    let cx = context.disabled_pass(["mine"]).build().unwrap();
    let broken = Log::new().pass(info("needs").required(["nobody.has"]));
    let sequential = Sequential::new([broken]).name("mine");
    cx.scope(|_| {
        assert!(sequential.call(module()).is_err());
        Ok::<(), passdock::PassError>(())
    })
    .unwrap();
}
