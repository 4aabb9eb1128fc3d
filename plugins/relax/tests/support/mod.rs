//! Runs passes on IR text.

#![allow(dead_code, reason = "not every test file needs all of it")]

use passdock::Registry;

/// Runs a pass at the highest level, and returns the module or the error as text.
pub(crate) fn run(pass: &str, source: &str) -> String {
    passdock::testing::run_on_text(&registry(), &[pass], source, |context| context)
}

/// Runs a pass with options, `n = 1, m = 2`.
pub(crate) fn run_options(pass: &str, options: &str, source: &str) -> String {
    passdock::testing::run_with_options(&registry(), pass, options, source)
}

/// Checks that a pass leaves a module unchanged.
#[track_caller]
pub(crate) fn check_unchanged(pass: &str, source: &str) {
    let run =
        |passes: &[&str]| passdock::testing::run_on_text(&registry(), passes, source, |cx| cx);
    let before = run(&[]);
    assert!(before.starts_with("module"), "{before}");
    assert_eq!(before, run(&[pass]));
}

/// Returns a registry with the standard passes and operators.
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
