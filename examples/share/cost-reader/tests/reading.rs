//! Tests that one plugin reads the data that another publishes. The real host loads both.
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::PathBuf;

use passdock_plugin_api::testing::Check;

const TEXT: &str = "module {
  fn @main(%x: f32[4,8], %w: f32[8,16]) -> (%y: f32[4,16]) opset(\"\" = 17) {
    %a = onnx.Relu(%x) : f32[4,8]
    %b = onnx.MatMul(%a, %w) : f32[4,16]
    %y = onnx.Relu(%b)
    return %y
  }
}";

/// Returns a plugin's library: the one that an environment variable names, which another compiler may have
/// built, or the one that cargo built next to this test.
fn library(variable: &str, name: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(file) => file.into(),
        None => {
            let test = std::env::current_exe().expect("the test's own path");
            test.with_file_name(format!("{DLL_PREFIX}{name}{DLL_SUFFIX}"))
        }
    }
}

fn messages(passes: &[&str]) -> String {
    Check::new()
        .plugin(library("COST_READER", "cost_reader"))
        .args(["--plugin"])
        .args([library("COST_MAKER", "cost_maker")])
        .passes(passes)
        .messages(TEXT)
}

#[test]
fn published_cost_is_read_by_another_plugin() {
    let output = messages(&[
        "acme.transform.PublishCost",
        "other.transform.ReportDearest",
    ]);
    assert!(
        output.contains("the most expensive op computes 64 elements"),
        "{output}"
    );
    assert!(output.contains("ops of unknown cost: 1"), "{output}");
}

#[test]
fn edit_invalidates_published_cost() {
    let output = messages(&[
        "acme.transform.PublishCost",
        "relax.transform.InferType",
        "other.transform.ReportDearest",
    ]);
    assert!(output.contains("no cost is published"), "{output}");
}
