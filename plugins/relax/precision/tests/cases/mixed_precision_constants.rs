//! Cases of `relax.transform.ToMixedPrecision`: constants.

use expect_test::{Expect, expect};
use passdock_plugin_api::OptionValue;

use crate::mixed_precision::{PASS, module};
use crate::support;

#[track_caller]
fn check_saying(results: &str, body: &str, expected: Expect) {
    let source = module(results, 17, body);
    let none = OptionValue::Table(Vec::new());
    let said = support::run_saying(PASS, "relax.ToMixedPrecision", none, &source);
    expected.assert_eq(&said);
}

#[test]
fn a_constant_is_converted_once_and_shared() {
    check_saying(
        "%y: f32[n,2], %z: f32[n,2]",
        "    %k = const f32[2,2] [1.0, 2.0, 3.0, 0.1]
    %s = const f32[2,2] splat(0.3)
    %0 = onnx.MatMul(%m, %k)
    %1 = onnx.MatMul(%0, %k)
    %2 = onnx.MatMul(%1, %s)
    %3 = onnx.Pow(%m, %k)
    return %2, %3",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[n,2], %z: f32[n,2]) opset("" = 17) {
                %k = const f32[2,2] [1.0, 2.0, 3.0, 0.1]
                %0 = const f16[2,2] [1.0, 2.0, 3.0, 0.099975586]
                %s = const f16[2,2] splat(0.30004883)
                %1 = onnx.Cast(%m) {to = 10} : f16[n,2]
                %2 = onnx.MatMul(%1, %0) : f16[n,2]
                %3 = onnx.MatMul(%2, %0) : f16[n,2]
                %4 = onnx.MatMul(%3, %s) : f16[n,2]
                %5 = onnx.Cast(%4) {to = 1} : f32[n,2]
                %6 = onnx.Pow(%m, %k) : f32[2,2]
                return %5, %6
              }
            }
        "#]],
    );
}

#[test]
fn one_that_would_overflow_keeps_its_op() {
    check_saying(
        "%y: f32[n,2]",
        "    %k = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %b = const f32[2] [0.5, 70000.0]
    %0 = onnx.MatMul(%m, %k)
    %1 = onnx.Add(%0, %b)
    return %1",
        expect![[r#"
            note[relax::precision-range]: This op stays in float32: 70000.0 in the constant `b` would turn to infinity in float16.
             --> test.ir:6:23
              |
            6 |     %1 = onnx.Add(%0, %b) : f32[n,2]
              |                       ^^
              |
              = in pass relax.transform.ToMixedPrecision of plugin relax, function @main, op1 (onnx.Add)
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
                %b = const f32[2] [0.5, 70000.0]
                %k = const f16[2,2] [1.0, 2.0, 3.0, 4.0]
                %0 = onnx.Cast(%m) {to = 10} : f16[n,2]
                %1 = onnx.MatMul(%0, %k) : f16[n,2]
                %2 = onnx.Cast(%1) {to = 1} : f32[n,2]
                %3 = onnx.Add(%2, %b) : f32[n,2]
                return %3
              }
            }
        "#]],
    );
    check_saying(
        "%y: f32[n,2]",
        "    %k = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %b = const f32[2] [0.5, 60000.0]
    %0 = onnx.MatMul(%m, %k)
    %1 = onnx.Add(%0, %b)
    return %1",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
                %k = const f16[2,2] [1.0, 2.0, 3.0, 4.0]
                %b = const f16[2] [0.5, 60000.0]
                %0 = onnx.Cast(%m) {to = 10} : f16[n,2]
                %1 = onnx.MatMul(%0, %k) : f16[n,2]
                %2 = onnx.Add(%1, %b) : f16[n,2]
                %3 = onnx.Cast(%2) {to = 1} : f32[n,2]
                return %3
              }
            }
        "#]],
    );
    // Among what stays in float32 nothing is said.
    check_saying(
        "%y: f32[n,2]",
        "    %b = const f32[2] [0.5, 70000.0]
    %0 = onnx.Add(%m, %b)
    return %0",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
                %b = const f32[2] [0.5, 70000.0]
                %0 = onnx.Add(%m, %b) : f32[n,2]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn one_that_would_be_zero_keeps_its_op() {
    check_saying(
        "%y: f32[n,2]",
        "    %k = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %e = const f32[] 1e-12
    %0 = onnx.MatMul(%m, %k)
    %1 = onnx.Add(%0, %e)
    return %1",
        expect![[r#"
            note[relax::precision-range]: This op stays in float32: all of the constant `e` that isn't zero, as 1e-12, would turn to zero in float16.
             --> test.ir:6:23
              |
            6 |     %1 = onnx.Add(%0, %e) : f32[n,2]
              |                       ^^
              |
              = in pass relax.transform.ToMixedPrecision of plugin relax, function @main, op1 (onnx.Add)
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
                %e = const f32[] 1e-12
                %k = const f16[2,2] [1.0, 2.0, 3.0, 4.0]
                %0 = onnx.Cast(%m) {to = 10} : f16[n,2]
                %1 = onnx.MatMul(%0, %k) : f16[n,2]
                %2 = onnx.Cast(%1) {to = 1} : f32[n,2]
                %3 = onnx.Add(%2, %e) : f32[n,2]
                return %3
              }
            }
        "#]],
    );
}

#[test]
fn small_numbers_are_noted() {
    check_saying(
        "%y: f32[n,2]",
        "    %k = const f32[2,2] [1.0, 2.0, 3.0, 0.00001]
    %0 = onnx.MatMul(%m, %k)
    return %0",
        expect![[r#"
            note[relax::precision-small]: In float16 25.0 % of the constant `k` lose precision: they are smaller than the smallest number that has all of it.
             --> test.ir:4:26
              |
            4 |     %0 = onnx.MatMul(%m, %k) : f32[n,2]
              |                          ^^
              |
              = in pass relax.transform.ToMixedPrecision of plugin relax, function @main, op0 (onnx.MatMul)
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
                %k = const f16[2,2] [1.0, 2.0, 3.0, 1.001358e-5]
                %0 = onnx.Cast(%m) {to = 10} : f16[n,2]
                %1 = onnx.MatMul(%0, %k) : f16[n,2]
                %2 = onnx.Cast(%1) {to = 1} : f32[n,2]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn infinity_stays_infinity() {
    check_saying(
        "%y: f32[n,2]",
        "    %k = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %b = const f32[2] [-inf, 0.0]
    %0 = onnx.MatMul(%m, %k)
    %1 = onnx.Add(%0, %b)
    return %1",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
                %k = const f16[2,2] [1.0, 2.0, 3.0, 4.0]
                %b = const f16[2] [-inf, 0.0]
                %0 = onnx.Cast(%m) {to = 10} : f16[n,2]
                %1 = onnx.MatMul(%0, %k) : f16[n,2]
                %2 = onnx.Add(%1, %b) : f16[n,2]
                %3 = onnx.Cast(%2) {to = 1} : f32[n,2]
                return %3
              }
            }
        "#]],
    );
}
