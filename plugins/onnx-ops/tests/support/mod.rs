//! Asks the definitions about every op of a function written as IR text.

#![allow(dead_code, reason = "each test crate uses a part of it")]

use passdock::{PassInfo, Registry, create_function_pass};
use passdock_plugin_api::prelude::*;

/// The ops after type inference, or the first error.
pub(crate) fn infer(opset: i64, params: &str, body: &str) -> String {
    run(opset, params, body, |f, cx| {
        f.walk(f.body()).try_for_each(|op| cx.infer(f, op))
    })
}

/// The ops after inference and folding, op by op; one that isn't folded stays.
pub(crate) fn fold(opset: i64, params: &str, body: &str) -> String {
    run(opset, params, body, |f, cx| {
        for op in f.walk(f.body()) {
            // One that is wrong isn't folded either.
            let _ = cx.infer(f, op);
            if f.traits(op).folds()
                && let Some(values) = cx.evaluate(f, op, 1 << 20)?
            {
                f.replace_op_with(op, &values)?;
            }
        }
        Ok(())
    })
}

/// The ops after each that has a body was replaced by it, and type inference.
pub(crate) fn decompose(opset: i64, params: &str, body: &str) -> String {
    run(opset, params, body, |f, cx| {
        for op in f.walk(f.body()) {
            if let Some(values) = cx.decompose(f, op)? {
                f.replace_op_with(op, &values)?;
            }
        }
        f.walk(f.body()).try_for_each(|op| cx.infer(f, op))
    })
}

fn run(
    opset: i64,
    params: &str,
    body: &str,
    pass: impl Fn(&mut Function, &PassContext) -> Result<(), EditError> + Send + Sync + 'static,
) -> String {
    let registry = Registry::new();
    registry
        .load_static(passdock_plugins_onnx_ops::PLUGIN)
        .expect("the plugin is well made");
    let info = PassInfo::new("test.transform.Ask");
    let pass = create_function_pass(info, move |f, cx| Ok(pass(f, cx)?));
    registry.register(pass).expect("the name is free");
    let source = format!(
        "module {{\n  fn @main({params}) opset(\"\" = {opset}, \"ai.onnx.ml\" = 5, \"ai.onnx.preview\" = 1, \"ai.onnx.preview.training\" = 1) {{{body}    return\n  }}\n}}"
    );
    let text =
        passdock::testing::run_on_text(&registry, &["test.transform.Ask"], &source, |context| {
            context
        });
    if !text.starts_with("module") {
        return text;
    }
    let body = text
        .lines()
        .filter(|line| line.starts_with("    ") && line.trim() != "return");
    body.map(|line| format!("{}\n", line.trim())).collect()
}
