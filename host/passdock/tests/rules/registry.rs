//! B. Registry.

use expect_test::expect;

use crate::common::{Log, error, info, module, registered};

#[test]
fn r012_an_alias_finds_the_pass() {
    let log = Log::new();
    let (registry, _) = registered([log.pass(info("relax.transform.Fold"))]);
    let aliased = registry.register_alias("Fold", "relax.transform.Fold");
    aliased.unwrap();
    let by_alias = registry.get_pass("Fold").unwrap();
    assert_eq!(by_alias.info().name, "relax.transform.Fold");
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
fn r013_an_unknown_name_that_is_near_none() {
    let log = Log::new();
    let (registry, _) = registered([log.pass(info("relax.transform.FoldConstant"))]);
    for name in ["Xyzzy", "relax.transform.Xyzzy"] {
        expect!["There is no pass `NAME`. `passdock list passes` shows what there is."]
            .assert_eq(&error(registry.get_pass(name).map(drop)).replace(name, "NAME"));
    }
}
