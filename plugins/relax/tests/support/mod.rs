//! Checks a pass on IR text: the body of `@main` before, and after.

use expect_test::Expect;
use passdock::Registry;

/// Runs a pass on a module `fn @main(SIGNATURE) { BODY }` and compares what comes out.
#[track_caller]
pub(crate) fn check(pass: &str, source: &str, expected: Expect) {
    check_all(&[pass], source, expected);
}

/// As [`check`], for several passes in order.
#[track_caller]
pub(crate) fn check_all(passes: &[&str], source: &str, expected: Expect) {
    let result = passdock::testing::run_on_text(&registry(), passes, source, |context| context);
    expected.assert_eq(&result);
}

/// Runs a pass on a module that it has to leave as it is.
#[allow(dead_code, reason = "not every pass's tests have such cases")]
#[track_caller]
pub(crate) fn check_stays(pass: &str, source: &str) {
    let run =
        |passes: &[&str]| passdock::testing::run_on_text(&registry(), passes, source, |cx| cx);
    let before = run(&[]);
    assert!(before.starts_with("module"), "{before}");
    assert_eq!(before, run(&[pass]));
}

/// The standard passes and operators.
pub(crate) fn registry() -> Registry {
    let registry = Registry::new();
    for plugin in [
        passdock_plugins_onnx_ops::PLUGIN,
        passdock_plugins_relax::PLUGIN,
    ] {
        registry
            .load_static(plugin)
            .expect("the standard plugins are well made");
    }
    registry
}
