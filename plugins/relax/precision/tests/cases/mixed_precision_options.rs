//! Cases of `relax.transform.ToMixedPrecision`: its options.

use expect_test::{Expect, expect};

use crate::mixed_precision::{PASS, module};
use crate::support;

#[track_caller]
fn check(options: &str, results: &str, opset: u32, body: &str, expected: Expect) {
    support::check_options(PASS, options, &module(results, opset, body), expected);
}

const IMAGE: &str = "%y: f32[1,2,4,4]";

#[test]
fn operators_change_their_category() {
    let body = "    %0 = onnx.Conv(%x, %w)
    %1 = onnx.Relu(%0)
    %2 = onnx.Softmax(%1)
    return %2";
    check(
        "never = [\"onnx.Conv\"]",
        IMAGE,
        17,
        body,
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
                %0 = onnx.Conv(%x, %w) : f32[1,2,4,4]
                %1 = onnx.Relu(%0) : f32[1,2,4,4]
                %2 = onnx.Softmax(%1) : f32[1,2,4,4]
                return %2
              }
            }
        "#]],
    );
    check(
        "follow = [\"onnx.Softmax\"]",
        IMAGE,
        17,
        body,
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
                %0 = onnx.Cast(%x) {to = 10} : f16[1,2,4,4]
                %1 = onnx.Cast(%w) {to = 10} : f16[2,2,1,1]
                %2 = onnx.Conv(%0, %1) : f16[1,2,4,4]
                %3 = onnx.Relu(%2) : f16[1,2,4,4]
                %4 = onnx.Softmax(%3) : f16[1,2,4,4]
                %5 = onnx.Cast(%4) {to = 1} : f32[1,2,4,4]
                return %5
              }
            }
        "#]],
    );
    check(
        "always = [\"onnx.Softmax\"], never = [\"onnx.Relu\", \"onnx.Conv\"]",
        IMAGE,
        17,
        body,
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
                %0 = onnx.Conv(%x, %w) : f32[1,2,4,4]
                %1 = onnx.Relu(%0) : f32[1,2,4,4]
                %2 = onnx.Cast(%1) {to = 10} : f16[1,2,4,4]
                %3 = onnx.Softmax(%2) : f16[1,2,4,4]
                %4 = onnx.Cast(%3) {to = 1} : f32[1,2,4,4]
                return %4
              }
            }
        "#]],
    );
}

#[test]
fn categories_that_contradict_or_are_of_nothing() {
    let body = "    %0 = onnx.Conv(%x, %w)\n    return %0";
    check(
        "always = [\"onnx.Relu\"], never = [\"onnx.Relu\"]",
        IMAGE,
        17,
        body,
        expect![[r#"
            error[config]: `onnx.Relu` is named in two of `always`, `follow`, `never`.
             |
             = in pass relax.transform.ToMixedPrecision of plugin relax, function @main"#]],
    );
    check(
        "always = [\"onnx.And\"]",
        IMAGE,
        17,
        body,
        expect![[r#"
            error[config]: ONNX has no operator `onnx.And` that takes a smaller type than float32 for it.
             |
             = in pass relax.transform.ToMixedPrecision of plugin relax, function @main"#]],
    );
}

#[test]
fn operators_of_later_opsets_may_be_named() {
    for list in ["always", "follow", "never"] {
        let options = format!("{list} = [\"onnx.LayerNormalization\"]");
        let body = "    %0 = onnx.Conv(%x, %w)\n    return %0";
        let after = support::run_options(PASS, &options, &module(IMAGE, 13, body));
        assert!(
            after.contains("onnx.Conv") && after.contains("f16"),
            "{after}"
        );
    }
}

#[test]
fn operators_that_are_not_there_are_refused() {
    let body = "    %0 = onnx.Conv(%x, %w)\n    return %0";
    check(
        "never = [\"Conv\"]",
        IMAGE,
        17,
        body,
        expect![[r#"
            error[config]: The option `never` names `Conv`, which is no operator. Did you mean `onnx.Conv`?
             |
             = in pass relax.transform.ToMixedPrecision of plugin relax, function @main"#]],
    );
    check(
        "follow = [\"onnx.Cnov\"]",
        IMAGE,
        17,
        body,
        expect![[r#"
            error[config]: The option `follow` names `onnx.Cnov`, which is no operator. Did you mean `onnx.Conv`?
             |
             = in pass relax.transform.ToMixedPrecision of plugin relax, function @main"#]],
    );
}

#[test]
fn an_operator_without_a_definition_stays() {
    check(
        "always = [\"acme.Filter\"]",
        IMAGE,
        17,
        "    %0 = acme.Filter(%x) : f32[1,2,4,4]
    return %0",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
                %0 = acme.Filter(%x) : f32[1,2,4,4]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn bfloat16() {
    check(
        "dtype = \"bfloat16\"",
        IMAGE,
        22,
        "    %k = const f32[2,2,1,1] [1.0, 70000.0, 3.0, 4.0]
    %0 = onnx.Conv(%x, %k)
    %1 = onnx.Relu(%0)
    return %1",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4]) opset("" = 22) {
                %k = const bf16[2,2,1,1] [1.0, 70144.0, 3.0, 4.0]
                %0 = onnx.Cast(%x) {to = 16} : bf16[1,2,4,4]
                %1 = onnx.Conv(%0, %k) : bf16[1,2,4,4]
                %2 = onnx.Relu(%1) : bf16[1,2,4,4]
                %3 = onnx.Cast(%2) {to = 1} : f32[1,2,4,4]
                return %3
              }
            }
        "#]],
    );
}

#[test]
fn inputs_and_outputs_change_where_that_saves_a_cast() {
    check(
        "keep_io = false",
        "%y: f32[1,2,4,4], %z: f32[n,2], %a: f32[n,2]",
        17,
        "    %0 = onnx.Relu(%x)
    %1 = onnx.Conv(%0, %w)
    %2 = onnx.Exp(%m)
    return %1, %2, %m",
        expect![[r#"
            module {
              fn @main(%x: f16[1,2,4,4], %w: f16[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f16[1,2,4,4], %z: f32[n,2], %a: f32[n,2]) opset("" = 17) {
                %0 = onnx.Relu(%x) : f16[1,2,4,4]
                %1 = onnx.Conv(%0, %w) : f16[1,2,4,4]
                %2 = onnx.Exp(%m) : f32[n,2]
                return %1, %2, %m
              }
            }
        "#]],
    );
}

#[test]
fn an_input_that_is_cast_back_keeps_its_name() {
    check(
        "keep_io = false, accumulate_float32 = true",
        "%y: f32[n,2], %z: f32[n,2]",
        17,
        "    %k = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %0 = onnx.MatMul(%m, %k)
    %1 = onnx.Exp(%m)
    return %0, %1",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f16[n,2]) -> (%y: f32[n,2], %z: f32[n,2]) opset("" = 17) {
                %k = const f16[2,2] [1.0, 2.0, 3.0, 4.0]
                %0 = onnx.Cast(%m) {to = 1} : f32[n,2]
                %1 = onnx.Cast(%k) {to = 1} : f32[2,2]
                %2 = onnx.MatMul(%0, %1) : f32[n,2]
                %3 = onnx.Exp(%0) : f32[n,2]
                return %2, %3
              }
            }
        "#]],
    );
}

#[test]
fn sums_are_in_float32_if_asked_for() {
    check(
        "accumulate_float32 = true",
        "%y: f32[n,2], %z: f32[n,2]",
        17,
        "    %k = const f32[2,2] [1.0, 2.0, 3.0, 0.1]
    %0 = onnx.MatMul(%m, %k)
    %1 = onnx.Relu(%0)
    %2 = onnx.MatMul(%1, %k)
    %3 = onnx.Exp(%2)
    return %2, %3",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[n,2], %z: f32[n,2]) opset("" = 17) {
                %k = const f16[2,2] [1.0, 2.0, 3.0, 0.099975586]
                %0 = onnx.Cast(%m) {to = 10} : f16[n,2]
                %1 = onnx.Cast(%0) {to = 1} : f32[n,2]
                %2 = onnx.Cast(%k) {to = 1} : f32[2,2]
                %3 = onnx.MatMul(%1, %2) : f32[n,2]
                %4 = onnx.Relu(%3) : f32[n,2]
                %5 = onnx.Cast(%4) {to = 10} : f16[n,2]
                %6 = onnx.Cast(%5) {to = 1} : f32[n,2]
                %7 = onnx.MatMul(%6, %2) : f32[n,2]
                %8 = onnx.Exp(%7) : f32[n,2]
                return %7, %8
              }
            }
        "#]],
    );
}
