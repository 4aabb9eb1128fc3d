//! G. Sequential.

use expect_test::expect;
use passdock::{PassContext, PassRef, Sequential};

use crate::common::{Log, error, info, module};

#[test]
fn r066_r069_r072_in_order_nested_and_the_same_pass_twice() {
    let log = Log::new();
    let a = log.pass(info("a"));
    let inner = Sequential::new([log.pass(info("b")), a.clone()]).into_pass();
    Sequential::new([a.clone(), inner, a])
        .call(module())
        .unwrap();
    log.check(expect![[r#"
        run a
        run b
        run a
        run a"#]]);
}

#[test]
fn r067_defaults() {
    let log = Log::new();
    let sequential = Sequential::new([log.pass(info("a"))]).into_pass();
    assert_eq!(sequential.info(), &info("sequential"));
}

#[test]
fn r068_an_empty_one_returns_its_input() {
    let before = module();
    let after = Sequential::new(Vec::<PassRef>::new())
        .call(before.clone())
        .unwrap();
    assert!(after.is_same(&before));
}

#[test]
fn r073_after_a_failure_the_rest_does_not_run_and_the_module_is_as_it_was() {
    let log = Log::new();
    let before = module();
    let sequential = Sequential::new([
        log.change(info("a")),
        log.fail(info("b")),
        log.pass(info("c")),
    ]);
    expect!["Error in pass b: it is broken"].assert_eq(&error(sequential.call(before.clone())));
    log.check(expect![[r#"
        change a
        fail b"#]]);
    assert_eq!(
        passdock_ir::text::print(&before),
        passdock_ir::text::print(&module())
    );
}

#[test]
fn r074_a_very_deep_nest_is_an_error() {
    let log = Log::new();
    let mut sequential = Sequential::new([log.pass(info("a"))]);
    for _ in 0..20_000 {
        sequential = Sequential::new([sequential]);
    }
    expect!["The Sequential `sequential` is nested more than 256 levels deep. Put the passes in one list."]
        .assert_eq(&error(sequential.call(module())));
    // One that is as deep as may be runs.
    let mut sequential = Sequential::new([log.pass(info("a"))]);
    for _ in 1..200 {
        sequential = Sequential::new([sequential]);
    }
    let cx = PassContext::builder().build().unwrap();
    cx.scope(|_| sequential.call(module())).unwrap();
    log.check(expect!["run a"]);
}
