//! The SDK in the host. Passes written with it assert its results, and their outputs are compared here. The same is
//! done for the examples of its documentation.
//!
//! The plugin is loaded from its library: the one that cargo built next to this test, or the one in
//! `PASSDOCK_SDK_PASSES`, which rustc 1.63 built (`cargo xtask test`).
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

mod api;
mod examples;
mod macros;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use expect_test::expect_file;
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

/// Returns a registry with the standard plugins and the plugin of the SDK's passes.
fn registry() -> Registry {
    let registry = passdock_tests::standard_registry();
    let loaded = registry.load_plugin(&library(), &LoadOptions::default());
    loaded.unwrap_or_else(|error| panic!("{error}"));
    registry
}

/// Returns the output of passes, or the failure, and their diagnostics.
fn outcome(passes: &[&str], source: &str) -> String {
    let messages = Arc::new(Mutex::new(Vec::new()));
    let sink = messages.clone();
    let result = passdock::testing::run_on_text(&registry(), passes, source, |context| {
        context.on_diagnostic(move |diagnostic| sink.lock().unwrap().push(diagnostic.message))
    });
    let mut lines = std::mem::take(&mut *messages.lock().unwrap());
    lines.push(result);
    let text = lines.join("\n");
    text.replace(&library().display().to_string(), "SDK")
}

/// Runs the cases of `passes.txt`. A case has a title `# WORDS`; a module after `| `, by default the one at the head of
/// the file; and passes, each after `$ `, with the expected output. `UPDATE_EXPECT=1` updates the outputs.
#[test]
fn pass_cases_match_expected_output() {
    let (mut played, mut source) = (CHAIN.to_owned(), CHAIN.to_owned());
    let file = include_str!("passes.txt");
    let mut lines = file
        .strip_prefix(CHAIN)
        .expect("the chain")
        .lines()
        .peekable();
    while let Some(line) = lines.next() {
        match line.split_at_checked(2) {
            Some(("  ", _)) => continue,
            Some(("# ", _)) => CHAIN.clone_into(&mut source),
            Some(("| ", first)) => {
                source = format!("{first}\n");
                played += &format!("{line}\n");
                while let Some(line) = lines.next_if(|line| line.starts_with('|')) {
                    source += &format!("{}\n", line[1..].strip_prefix(' ').unwrap_or_default());
                    played += &format!("{line}\n");
                }
                continue;
            }
            Some(("$ ", pass)) => {
                let after = outcome(&[pass], &source);
                let after = if after == source { "unchanged" } else { &after };
                let after = after.lines().map(|line| format!("  {line}"));
                played += &format!("{line}\n");
                after.for_each(|line| played += &(line.trim_end().to_owned() + "\n"));
                continue;
            }
            _ => assert_eq!(line, "", "what is this?"),
        }
        played += &format!("{line}\n");
    }
    expect_file!["passes.txt"].assert_eq(&played);
}
