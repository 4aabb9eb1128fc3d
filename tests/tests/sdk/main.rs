//! The SDK in the host: passes written with it assert what it answers, and what they make is compared
//! here; so do the examples of its documentation.
//!
//! The plugin is loaded from its library: the one that cargo built beside this test, or the one that
//! `PASSDOCK_SDK_PASSES` names, which rustc 1.63 built (`cargo xtask test`).
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

mod api;
mod examples;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use expect_test::Expect;
use passdock::{LoadOptions, Registry};

const CHAIN: &str = r#"module {
  fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[2,3]
    %1 = onnx.Relu(%0) : f32[2,3]
    %2 = onnx.Add(%1, %1) : f32[2,3]
    return %2
  }
}
"#;

fn library() -> PathBuf {
    match std::env::var_os("PASSDOCK_SDK_PASSES") {
        Some(library) => library.into(),
        None => passdock_tests::library("passdock_sdk_passes"),
    }
}

/// The standard plugins, and the one of the SDK's passes.
fn registry() -> Registry {
    let registry = passdock_tests::standard_registry();
    let loaded = registry.load_plugin(&library(), &LoadOptions::default());
    loaded.unwrap_or_else(|error| panic!("{error}"));
    registry
}

/// What comes out of passes, or the failure, and what they said.
fn outcome(passes: &[&str], source: &str) -> String {
    let said = Arc::new(Mutex::new(Vec::new()));
    let hear = said.clone();
    let answer = passdock::testing::run_on_text(&registry(), passes, source, |context| {
        context.on_diagnostic(move |diagnostic| hear.lock().unwrap().push(diagnostic.message))
    });
    let mut lines = std::mem::take(&mut *said.lock().unwrap());
    lines.push(answer);
    let text = lines.join("\n");
    text.replace(&library().display().to_string(), "SDK")
}

#[track_caller]
fn check(pass: &str, source: &str, after: Expect) {
    after.assert_eq(&outcome(&[pass], source));
}
