//! Checks a pass on IR text: the body of `@main` before, and after.

#![allow(dead_code, reason = "not every test file needs all of it")]

use std::sync::{Arc, Mutex};

use expect_test::Expect;
use passdock::Registry;
use passdock_plugin_api::OptionValue;

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

/// As [`check`], with options: `n = 1, m = 2`.
#[track_caller]
pub(crate) fn check_options(pass: &str, options: &str, source: &str, expected: Expect) {
    expected.assert_eq(&run_options(pass, options, source));
}

/// What [`check`] compares.
pub(crate) fn run(pass: &str, source: &str) -> String {
    passdock::testing::run_on_text(&registry(), &[pass], source, |context| context)
}

/// What [`check_options`] compares.
pub(crate) fn run_options(pass: &str, options: &str, source: &str) -> String {
    passdock::testing::run_with_options(&registry(), pass, options, source)
}

/// What a pass says, and then what [`check`] compares; its options are set by its config key.
pub(crate) fn run_saying(pass: &str, key: &str, options: OptionValue, source: &str) -> String {
    let said = Arc::new(Mutex::new(String::new()));
    let sink = said.clone();
    let text = passdock::testing::run_on_text(&registry(), &[pass], source, |context| {
        let context = context.config(key, options);
        context.on_diagnostic(move |diagnostic| {
            let mut sink = sink.lock().expect("nobody else holds it");
            *sink += &diagnostic.render(false);
            sink.push('\n');
        })
    });
    let said = said.lock().expect("the pass is done");
    said.clone() + &text
}

/// Runs a pass on a module that it has to leave as it is.
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
