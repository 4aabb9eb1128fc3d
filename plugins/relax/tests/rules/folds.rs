//! Passes that fold without patterns: each kind of fold is counted like a rule, can be disabled and limited.

use std::sync::Arc;

use expect_test::expect;
use passdock::{ContextBuilder, PassContext, PassStatus, Recorder, Sequential};

use crate::{module, support};

const LINE: &str = "(%x: f32[1,2,5]) -> (%y: f32[1,2,5])";
const IMAGE: &str = "(%x: f32[1,1,4,4]) -> (%y: f32[1,1,4,4])";
const NORM: &str = "onnx.BatchNormalization";

/// Returns a pass, the name of the fold, and a module, for each kind.
fn cases() -> [(&'static str, &'static str, String); 10] {
    let numbers = "%w = const f32[2,2,1] [1.0, 2.0, 3.0, 4.0] %c = const f32[2,1] [2.0, 10.0]
        %p = const f32[2] [2.0, 4.0] %q = const f32[2] [2.0, 2.0] %half = const f32[1] [0.5]";
    let line = |body: &str| module(LINE, &format!("{numbers} {body}"), 17);
    let (backward, forward) = ("BackwardFoldScaleAxis", "ForwardFoldScaleAxis");
    let pads = "%pads = const i64[8] [0, 0, 1, 1, 0, 0, 1, 1]
        %w = const f32[1,1,3,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]";
    let image = |body: &str| module(IMAGE, &format!("{pads} {body}"), 17);
    [
        (
            backward,
            "product_after_weights",
            line("%0 = onnx.Conv(%x, %w) %1 = onnx.Mul(%0, %c) return %1"),
        ),
        (
            backward,
            "sum_after_weights",
            line("%0 = onnx.Conv(%x, %w) %1 = onnx.Add(%0, %c) return %1"),
        ),
        (
            forward,
            "product_before_weights",
            line("%0 = onnx.Mul(%x, %c) %1 = onnx.Conv(%0, %w) return %1"),
        ),
        (
            forward,
            "sum_before_weights",
            line("%0 = onnx.Sub(%x, %c) %1 = onnx.Conv(%0, %w) return %1"),
        ),
        (
            "FoldBatchNorm",
            "batch_norm_after_weights",
            line(&format!(
                "%0 = onnx.Conv(%x, %w) %1 = {NORM}(%0, %p, %p, %p, %p) return %1"
            )),
        ),
        (
            "FoldBatchNorm",
            "batch_norm_before_weights",
            line(&format!(
                "%0 = {NORM}(%x, %p, %p, %p, %p) %1 = onnx.Conv(%0, %w) return %1"
            )),
        ),
        (
            "FoldBatchNorm",
            "batch_norm_before_arithmetic",
            line(&format!(
                "%0 = {NORM}(%x, %p, %p, %p, %p) %1 = onnx.Mul(%0, %c) return %1"
            )),
        ),
        (
            "FoldBatchNorm",
            "batch_norm_as_scalars",
            line(&format!(
                "%0 = {NORM}(%x, %q, %q, %q, %q) %1 = onnx.Mul(%0, %half) %2 = onnx.Add(%1, %half) return %2"
            )),
        ),
        (
            "FoldExplicitPadding",
            "pad_into_users",
            image("%0 = onnx.Pad(%x, %pads) %1 = onnx.Conv(%0, %w) return %1"),
        ),
        (
            "FoldExplicitPadding",
            "pad_nothing",
            image(
                "%none = const i64[8] [0, 0, 0, 0, 0, 0, 0, 0]
                %0 = onnx.Relu(%x) %1 = onnx.Pad(%0, %none) %2 = onnx.Neg(%1) return %2",
            ),
        ),
    ]
}

/// Returns the status of a pass, and its rewrites by rule.
fn ran(
    pass: &str,
    source: &str,
    configure: impl FnOnce(ContextBuilder) -> ContextBuilder,
) -> (PassStatus, String) {
    let (registry, recorder) = (support::registry(), Arc::new(Recorder::default()));
    let name = format!("relax.transform.{pass}");
    let module = passdock::ir::parse_text("test.ir", source).expect("a module");
    let context = PassContext::builder().registry(&registry);
    let context = configure(context.recorder(recorder.clone())).build();
    let context = context.expect("a plain context");
    let passes = Sequential::new([registry.get_pass(&name).expect("a pass")]);
    let result = context.scope(|cx| passes.call_in(module, cx));
    result.expect("it runs");
    let records = recorder.take();
    let record = records.iter().find(|record| record.name == name);
    let record = record.expect("the pass ran");
    (record.status, record.rewrites.to_string())
}

#[test]
fn each_fold_kind_is_counted() {
    for (pass, rule, source) in cases() {
        let (status, counts) = ran(pass, &source, |cx| cx);
        assert_eq!(status, PassStatus::Changed, "{rule}");
        assert_eq!(counts, format!("{rule} ×1"));
    }
}

#[test]
fn each_fold_kind_can_be_disabled_and_limited() {
    for (pass, rule, source) in cases() {
        let nothing = (PassStatus::Unchanged, String::new());
        assert_eq!(ran(pass, &source, |cx| cx.disabled_rule([rule])), nothing);
        assert_eq!(ran(pass, &source, |cx| cx.rewrite_limit(0)), nothing);
        let once = ran(pass, &source, |cx| cx.rewrite_limit(1));
        assert_eq!(once.1, format!("{rule} ×1"));
    }
}

#[test]
fn disabled_fold_kind_does_not_affect_others() {
    let body = "%w = const f32[2,2,1] [1.0, 2.0, 3.0, 4.0] %c = const f32[2,1] [2.0, 10.0]
        %0 = onnx.Conv(%x, %w) %1 = onnx.Mul(%0, %c) %2 = onnx.Mul(%1, %c) %3 = onnx.Add(%2, %c) return %3";
    let source = module(LINE, body, 17);
    let run = |disabled: &[&str]| {
        let rules = disabled.iter().copied();
        ran("BackwardFoldScaleAxis", &source, |cx| {
            cx.disabled_rule(rules)
        })
        .1
    };
    expect!["product_after_weights ×2, sum_after_weights ×1"].assert_eq(&run(&[]));
    expect!["product_after_weights ×2"].assert_eq(&run(&["sum_after_weights"]));
    expect![""].assert_eq(&run(&["sum_after_weights", "product_after_weights"]));
}
