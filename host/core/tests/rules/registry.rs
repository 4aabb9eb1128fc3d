//! B. Registry.

use expect_test::expect;
use passdock::Registry;

use crate::common::{Log, error, info, module, registered};

#[test]
fn r009_r010_full_names_and_duplicates() {
    let log = Log::new();
    let (registry, _) = registered([log.pass(info("relax.transform.FoldConstant"))]);
    assert!(registry.contains("relax.transform.FoldConstant"));
    let again = registry.register(log.pass(info("relax.transform.FoldConstant")));
    expect!["The pass `relax.transform.FoldConstant` is registered already, by this program. Rename or remove one of the two, or ask for one: `override = [\"…\"]` in `[plugins.NAME]`."]
        .assert_eq(&error(again));
}

#[test]
fn r012_an_alias_is_accepted_wherever_a_name_is() {
    let log = Log::new();
    let (registry, context) = registered([log.pass(info("relax.transform.Fold"))]);
    registry
        .register_alias("Fold", "relax.transform.Fold")
        .unwrap();
    let by_alias = registry.get_pass("Fold").unwrap();
    assert_eq!(by_alias.info().name, "relax.transform.Fold");
    // In a context's lists too.
    let cx = context.disabled_pass(["Fold"]).build().unwrap();
    let sequential = passdock::Sequential::new([by_alias]);
    cx.scope(|_| sequential.call(module())).unwrap();
    log.check(expect![""]);
}

#[test]
fn r011_a_short_name_is_looked_up_in_the_namespaces_in_their_order() {
    let log = Log::new();
    let (registry, context) = registered([
        log.pass(info("transform.A")),
        log.pass(info("relax.transform.A")),
        log.pass(info("relay._transform.B")),
        log.pass(info("relax.transform.B")),
        log.pass(info("relax.transform.C")),
        log.pass(info("tir.transform.C")),
        log.pass(info("tir.transform.D")),
        log.pass(info("acme.transform.E")),
    ]);
    for (name, canonical) in [
        ("A", "transform.A"),
        ("B", "relay._transform.B"),
        ("C", "relax.transform.C"),
        ("D", "tir.transform.D"),
        ("tir.transform.C", "tir.transform.C"),
    ] {
        assert_eq!(registry.get_pass(name).unwrap().info().name, canonical);
        assert_eq!(registry.canonical(name), canonical);
    }
    // What has `transform.` in it is looked up as it is, and a vendor's passes have no short names.
    assert!(!registry.contains("transform.D"));
    assert!(!registry.contains("E"));
    // In a context's lists, too; a pass that isn't registered may bear a short name itself.
    let cx = context.disabled_pass(["C", "D"]).build().unwrap();
    let passes = [registry.get_pass("C").unwrap(), log.pass(info("D"))];
    cx.scope(|_| passdock::Sequential::new(passes).call(module()))
        .unwrap();
    log.check(expect![""]);
}

#[test]
fn r013_an_unknown_name_says_who_asked_and_what_was_meant() {
    let log = Log::new();
    let needs = info("acme.transform.A").required(["relax.transform.FoldConstants"]);
    let (registry, context) = registered([
        log.pass(info("relax.transform.FoldConstant")),
        log.pass(needs),
    ]);
    expect!["There is no pass `relax.transform.FoldConstants`. Did you mean `relax.transform.FoldConstant`?"]
        .assert_eq(&error(registry.get_pass("relax.transform.FoldConstants").map(drop)));
    expect!["There is no pass `Xyzzy`. `passdock list passes` shows what there is."]
        .assert_eq(&error(registry.get_pass("Xyzzy").map(drop)));
    expect!["There is no pass `Xyzzy`. No passes are registered; name a directory of plugins."]
        .assert_eq(&error(Registry::new().get_pass("Xyzzy").map(drop)));
    let sequential = passdock::Sequential::new([registry.get_pass("acme.transform.A").unwrap()]);
    let cx = context.build().unwrap();
    expect!["There is no pass `relax.transform.FoldConstants`. Did you mean `relax.transform.FoldConstant`? (required by `acme.transform.A`)"]
        .assert_eq(&error(cx.scope(|_| sequential.call(module()))));
}
