//! Bisection with an instrument that checks results, like `numerics`.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use std::sync::Arc;

use expect_test::expect;
use passdock::ir::{PrintOptions, print_with};
use passdock::oracle::Verdict;
use passdock::pipeline::{PipelineText, Request};
use passdock::sdk::{Function, PassContext, PassResult, Rules, rules};
use passdock::{
    InstrumentResult, InstrumentSpec, Module, PassCall, PassInstrument, Registry, model_file,
};
use passdock_tools::bisect::{self, Bisection};

passdock::sdk::options! {
    /// An instrument that fails if the model computes different results.
    struct Results {}
}

impl PassInstrument for Results {
    fn name(&self) -> &str {
        "results"
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let text = print_with(call.module, &PrintOptions::default());
        match text.contains("onnx.Sub") {
            true => Ok(()),
            false => Err("The results differ.".into()),
        }
    }
}

static RULES: Rules = rules! {
    rule neg_neg { onnx.Neg(onnx.Neg(%x)) => %x }
    rule sub_self { onnx.Sub(%x, %x) => %x }
};

fn rewrites(f: &mut Function, cx: &PassContext) -> PassResult {
    cx.rewrite(f, &[&RULES])
}

/// Rewrites, and also breaks the model itself if it has a `Relu`.
fn break_relu(f: &mut Function, cx: &PassContext) -> PassResult {
    cx.rewrite(f, &[&RULES])?;
    for op in f.ops_named("onnx.Relu") {
        f.set_attr(op, "spoilt", 1)?;
    }
    Ok(())
}

passdock::sdk::plugin! {
    name: "demo",
    passes: [
        /// Rewrites.
        function "demo.transform.Rewrite" => rewrites,
        /// Rewrites, and breaks each `Relu`.
        function "demo.transform.Spoil" => break_relu,
    ],
}

/// A chain in `@g` with a correct, a wrong and a correct rewrite; `@f` is rewritten before.
const MODEL: &str = r#"module {
  fn @f(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Neg(%x) : f32[2]
    %1 = onnx.Neg(%0) : f32[2]
    %2 = onnx.Tanh(%1) : f32[2]
    return %2
  }
  fn @g(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Neg(%x) : f32[2]
    %1 = onnx.Neg(%0) : f32[2]
    %2 = onnx.Relu(%1) : f32[2]
    %3 = onnx.Sub(%2, %2) : f32[2]
    %4 = onnx.Neg(%3) : f32[2]
    %5 = onnx.Neg(%4) : f32[2]
    %6 = onnx.Tanh(%5) : f32[2]
    return %6
  }
}
"#;

/// Bisects a pipeline on the model. `is_bad` checks the text of a module.
fn run_bisect(pipeline: &str, is_bad: fn(&str) -> bool) -> Bisection {
    let registry = Registry::new();
    registry.load_static(PLUGIN).expect("a valid plugin");
    registry
        .register_instrument(InstrumentSpec::new(
            "results",
            "Fails if the model computes different results.",
            |results: Results, _| Ok(Arc::new(results)),
        ))
        .expect("a new name");
    let request = Request {
        pipeline: Some(PipelineText::from_file("p.toml", pipeline)),
        ..Request::default()
    };
    let module = model_file::parse_text("m.ir", MODEL).expect("a module");
    let mut check = |module: &Module| {
        let text = print_with(module, &PrintOptions::default());
        Ok(match is_bad(&text) {
            true => Verdict::Bad,
            false => Verdict::Good,
        })
    };
    bisect::bisect(&registry, &request, module, &mut check, &mut |_| ()).expect("a failure")
}

/// Describes the rewrite that was found.
fn rewrite(found: &Bisection) -> String {
    let Some(rewrite) = &found.rewrite else {
        return "none".to_owned();
    };
    let diff = rewrite.diff.as_ref().expect("modules without and with it");
    let ops = diff.functions.iter().flat_map(|function| &function.ops);
    let ops: Vec<&str> = ops.map(|op| op.op.as_str()).collect();
    format!(
        "{} of {}: {} in @{}: {}",
        rewrite.number,
        rewrite.count,
        rewrite.rule,
        rewrite.function.as_deref().unwrap_or("none"),
        ops.join("; ")
    )
}

#[test]
fn bisect_finds_the_rewrite_failing_an_instrument() {
    let pipeline = "[[instruments]]\nname = 'results'\n\
        [[passes]]\nname = 'demo.transform.Rewrite'\n";
    let found = run_bisect(pipeline, |_| false);
    let failure = found.failure.as_ref().expect("a failure of the instrument");
    assert_eq!(failure.pass.as_deref(), Some("demo.transform.Rewrite"));
    expect!["3 of 4: sub_self in @g: %2 = onnx.Sub(%1, %1) : f32[2]"].assert_eq(&rewrite(&found));
    let proof = found.proof.expect("a reproducer");
    assert_eq!(proof.site.context.settings().rewrite_limit, Some(3));
    let error = proof.error();
    let site = error.site().expect("a site");
    assert_eq!(site.context.settings().rewrite_limit, Some(3));
}

#[test]
fn bisect_finds_the_rewrite_failing_a_check() {
    let pipeline = "[[passes]]\nname = 'demo.transform.Rewrite'\n";
    let found = run_bisect(pipeline, |text| !text.contains("onnx.Sub"));
    expect!["3 of 4: sub_self in @g: %2 = onnx.Sub(%1, %1) : f32[2]"].assert_eq(&rewrite(&found));
}

#[test]
fn bisect_reports_only_the_pass_without_bad_rewrite() {
    let is_broken = |text: &str| text.contains("spoilt");
    let pipeline = "[[passes]]\nname = 'demo.transform.Spoil'\n";
    let bisection = run_bisect(pipeline, is_broken);
    assert_eq!(bisection.suspects[0].pass, "demo.transform.Spoil");
    assert_eq!(rewrite(&bisection), "none");
    // A pipeline with a rewrite limit isn't run with other limits.
    let pipeline = format!("[context]\nrewrite_limit = 3\n{pipeline}");
    assert_eq!(rewrite(&run_bisect(&pipeline, is_broken)), "none");
}
