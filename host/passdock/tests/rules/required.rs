//! What counts as a change, and what is found before anything runs.

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
fn metadata_is_a_part_of_what_changes() {
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
    expect!["Plugin `gone` (built in) can't be used: its entry `passdock_plugin_v0` returned null: the plugin refuses this host (ABI 0.3, IR 0.1), or serves only another host in this process. (the pass `gone.transform.Gone` needs it)"].assert_eq(&error(
        cx.scope(|_| Sequential::new(entries).call(module())),
    ));
    log.check(expect![""]);
}
