//! Cases of `relax.transform.SimplifyExpr`: casts.

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.SimplifyExpr";

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check(PASS, source, expected);
}

#[track_caller]
fn check_stays(source: &str) {
    support::check_stays(PASS, source);
}

#[test]
fn casts_that_lose_nothing() {
    check(
        r#"module {
  fn @main(%x: f16[n], %i: i32[n], %b: bool[]) -> (%a: f16[n], %c: f32[n], %d: f16[], %e: f64[n]) opset("" = 17) {
    %0 = onnx.Cast(%x) {to = 1} : f32[n]
    %1 = onnx.Cast(%0) {to = 10} : f16[n]
    %2 = onnx.Neg(%1) : f16[n]
    %3 = onnx.Cast(%i) {to = 7} : i64[n]
    %4 = onnx.Cast(%3) {to = 1} : f32[n]
    %5 = onnx.Cast(%b) {to = 7} : i64[]
    %6 = onnx.Cast(%5) {to = 10} : f16[]
    %7 = onnx.Cast(%0) {to = 11} : f64[n]
    return %2, %4, %6, %7
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f16[n], %i: i32[n], %b: bool[]) -> (%a: f16[n], %c: f32[n], %d: f16[], %e: f64[n]) opset("" = 17) {
                %0 = onnx.Neg(%x) : f16[n]
                %1 = onnx.Cast(%i) {to = 1} : f32[n]
                %2 = onnx.Cast(%b) {to = 10} : f16[]
                %3 = onnx.Cast(%x) {to = 11} : f64[n]
                return %0, %1, %2, %3
              }
            }
        "#]],
    );
}

#[test]
fn casts_that_lose_something_stay() {
    check_stays(
        r#"module {
  fn @main(%x: f32[n], %i: i32[n], %j: i8[n]) -> (%a: f32[n], %c: i32[n], %d: i32[n], %e: u8[n]) opset("" = 17) {
    %0 = onnx.Cast(%x) {to = 10} : f16[n]
    %1 = onnx.Cast(%0) {to = 1} : f32[n]
    %2 = onnx.Cast(%i) {to = 1} : f32[n]
    %3 = onnx.Cast(%2) {to = 6} : i32[n]
    %4 = onnx.Cast(%i) {to = 9} : bool[n]
    %5 = onnx.Cast(%4) {to = 6} : i32[n]
    %6 = onnx.Cast(%j) {to = 1} : f32[n]
    %7 = onnx.Cast(%6) {to = 2} : u8[n]
    return %1, %3, %5, %7
  }
}"#,
    );
}

#[test]
fn casts_of_what_is_kept_within_bounds() {
    check(
        r#"module {
  fn @main(%x: i32[n]) -> (%a: i32[n], %b: i16[n], %c: i32[n]) opset("" = 17) {
    %low = const i32[] 0
    %high = const i32[] 255
    %more = const i32[] 256
    %0 = onnx.Clip(%x, %low, %high) : i32[n]
    %1 = onnx.Cast(%0) {to = 2} : u8[n]
    %2 = onnx.Cast(%1) {to = 6} : i32[n]
    %3 = onnx.Cast(%1) {to = 5} : i16[n]
    %4 = onnx.Clip(%x, %low, %more) : i32[n]
    %5 = onnx.Cast(%4) {to = 2} : u8[n]
    %6 = onnx.Cast(%5) {to = 6} : i32[n]
    return %2, %3, %6
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: i32[n]) -> (%a: i32[n], %b: i16[n], %c: i32[n]) opset("" = 17) {
                %low = const i32[] 0
                %high = const i32[] 255
                %more = const i32[] 256
                %0 = onnx.Clip(%x, %low, %high) : i32[n]
                %1 = onnx.Cast(%0) {to = 5} : i16[n]
                %2 = onnx.Clip(%x, %low, %more) : i32[n]
                %3 = onnx.Cast(%2) {to = 2} : u8[n]
                %4 = onnx.Cast(%3) {to = 6} : i32[n]
                return %0, %1, %4
              }
            }
        "#]],
    );
}

#[test]
fn casts_of_what_may_be_out_of_bounds_stay() {
    check_stays(
        r#"module {
  fn @main(%x: i32[n], %f: f32[n]) -> (%a: i32[n], %b: i32[n], %c: i32[n]) opset("" = 17) {
    %low = const i32[] -1
    %high = const i32[] 255
    %0 = onnx.Clip(%x, %low, %high) : i32[n]
    %1 = onnx.Cast(%0) {to = 2} : u8[n]
    %2 = onnx.Cast(%1) {to = 6} : i32[n]
    %3 = onnx.Min(%x, %high) : i32[n]
    %4 = onnx.Cast(%3) {to = 2} : u8[n]
    %5 = onnx.Cast(%4) {to = 6} : i32[n]
    %zero = const f32[] 0.0
    %most = const f32[] 255.0
    %6 = onnx.Clip(%f, %zero, %most) : f32[n]
    %7 = onnx.Cast(%6) {to = 2} : u8[n]
    %8 = onnx.Cast(%7) {to = 6} : i32[n]
    return %2, %5, %8
  }
}"#,
    );
}

#[test]
fn casts_between_64_bits_with_and_without_a_sign_stay() {
    check_stays(
        r#"module {
  fn @main(%x: u64[n], %y: i64[n]) -> (%a: f32[n], %b: f32[n]) opset("" = 17) {
    %one = const u64[] 1
    %0 = onnx.Max(%x, %one) : u64[n]
    %1 = onnx.Cast(%0) {to = 7} : i64[n]
    %2 = onnx.Cast(%1) {to = 1} : f32[n]
    %most = const i64[] 9
    %3 = onnx.Min(%y, %most) : i64[n]
    %4 = onnx.Cast(%3) {to = 13} : u64[n]
    %5 = onnx.Cast(%4) {to = 1} : f32[n]
    return %2, %5
  }
}"#,
    );
}
