//! Cases of `relax.transform.ToMixedPrecision`: as few `Cast`s as can be.

use expect_test::{Expect, expect};

use crate::mixed_precision::{PASS, module};
use crate::support;

const IMAGE: &str = "%y: f32[1,2,4,4]";

#[track_caller]
fn check(results: &str, body: &str, expected: Expect) {
    support::check(PASS, &module(results, 17, body), expected);
}

#[test]
fn a_value_is_cast_once() {
    check(
        "%y: f32[1,2,4,4], %z: f32[1,2,4,4], %a: f32[1,2,4,4]",
        "    %0 = onnx.Conv(%x, %w)
    %1 = onnx.Conv(%x, %v)
    %2 = onnx.Exp(%1)
    %3 = onnx.Log(%1)
    return %0, %2, %3",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4], %z: f32[1,2,4,4], %a: f32[1,2,4,4]) opset("" = 17) {
                %0 = onnx.Cast(%x) {to = 10} : f16[1,2,4,4]
                %1 = onnx.Cast(%w) {to = 10} : f16[2,2,1,1]
                %2 = onnx.Cast(%v) {to = 10} : f16[2,2,1,1]
                %3 = onnx.Conv(%0, %1) : f16[1,2,4,4]
                %4 = onnx.Cast(%3) {to = 1} : f32[1,2,4,4]
                %5 = onnx.Conv(%0, %2) : f16[1,2,4,4]
                %6 = onnx.Cast(%5) {to = 1} : f32[1,2,4,4]
                %7 = onnx.Exp(%6) : f32[1,2,4,4]
                %8 = onnx.Log(%6) : f32[1,2,4,4]
                return %4, %7, %8
              }
            }
        "#]],
    );
}

#[test]
fn what_stands_between_is_not_cast_there_and_back() {
    // To add in float32 would take two casts: of the first convolution, and for the second one.
    check(
        IMAGE,
        "    %0 = onnx.Conv(%x, %w)
    %s = onnx.Exp(%x)
    %1 = onnx.Add(%0, %s)
    %2 = onnx.Relu(%1)
    %3 = onnx.Conv(%2, %v)
    return %3",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
                %0 = onnx.Cast(%x) {to = 10} : f16[1,2,4,4]
                %1 = onnx.Cast(%w) {to = 10} : f16[2,2,1,1]
                %2 = onnx.Cast(%v) {to = 10} : f16[2,2,1,1]
                %3 = onnx.Conv(%0, %1) : f16[1,2,4,4]
                %s = onnx.Exp(%x) : f32[1,2,4,4]
                %4 = onnx.Cast(%s) {to = 10} : f16[1,2,4,4]
                %5 = onnx.Add(%3, %4) : f16[1,2,4,4]
                %6 = onnx.Relu(%5) : f16[1,2,4,4]
                %7 = onnx.Conv(%6, %2) : f16[1,2,4,4]
                %8 = onnx.Cast(%7) {to = 1} : f32[1,2,4,4]
                return %8
              }
            }
        "#]],
    );
    // Here both ways take one.
    check(
        IMAGE,
        "    %0 = onnx.Conv(%x, %w)
    %s = onnx.Exp(%x)
    %1 = onnx.Add(%0, %s)
    %2 = onnx.Exp(%1)
    return %2",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
                %0 = onnx.Cast(%x) {to = 10} : f16[1,2,4,4]
                %1 = onnx.Cast(%w) {to = 10} : f16[2,2,1,1]
                %2 = onnx.Conv(%0, %1) : f16[1,2,4,4]
                %3 = onnx.Cast(%2) {to = 1} : f32[1,2,4,4]
                %s = onnx.Exp(%x) : f32[1,2,4,4]
                %4 = onnx.Add(%3, %s) : f32[1,2,4,4]
                %5 = onnx.Exp(%4) : f32[1,2,4,4]
                return %5
              }
            }
        "#]],
    );
}

#[test]
fn one_cast_above_is_better_than_several_below() {
    check(
        "%y: f32[1,2,4,4], %z: f32[1,2,4,4]",
        "    %s = const i64[2] [1, 1]
    %0, %1 = onnx.Split(%x, %s) {axis = 1}
    %2 = onnx.Concat(%1, %0) {axis = 1}
    %3 = onnx.Transpose(%x) {perm = [0, 1, 3, 2]}
    %4 = onnx.Conv(%2, %w)
    %5 = onnx.Conv(%3, %v)
    return %4, %5",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4], %z: f32[1,2,4,4]) opset("" = 17) {
                %s = const i64[2] [1, 1]
                %0 = onnx.Cast(%x) {to = 10} : f16[1,2,4,4]
                %1 = onnx.Cast(%w) {to = 10} : f16[2,2,1,1]
                %2 = onnx.Cast(%v) {to = 10} : f16[2,2,1,1]
                %3, %4 = onnx.Split(%0, %s) {axis = 1} : f16[1,1,4,4], f16[1,1,4,4]
                %5 = onnx.Concat(%4, %3) {axis = 1} : f16[1,2,4,4]
                %6 = onnx.Transpose(%0) {perm = [0, 1, 3, 2]} : f16[1,2,4,4]
                %7 = onnx.Conv(%5, %1) : f16[1,2,4,4]
                %8 = onnx.Cast(%7) {to = 1} : f32[1,2,4,4]
                %9 = onnx.Conv(%6, %2) : f16[1,2,4,4]
                %10 = onnx.Cast(%9) {to = 1} : f32[1,2,4,4]
                return %8, %10
              }
            }
        "#]],
    );
}

#[test]
fn casts_of_casts_are_removed() {
    // Weights that the model has in the smaller type, and a value that is cast to it anyway.
    check(
        "%y: f32[1,2,4,4], %n: i64[4]",
        "    %h = const f16[2,2,1,1] [1.0, 2.0, 3.0, 4.0]
    %k = onnx.Cast(%h) {to = 1}
    %0 = onnx.Conv(%x, %k)
    %1 = onnx.Cast(%0) {to = 10}
    %2 = onnx.Relu(%1)
    %3 = onnx.Cast(%2) {to = 1}
    %4 = onnx.Conv(%3, %v)
    %5 = onnx.Shape(%1)
    return %4, %5",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4], %n: i64[4]) opset("" = 17) {
                %h = const f16[2,2,1,1] [1.0, 2.0, 3.0, 4.0]
                %0 = onnx.Cast(%x) {to = 10} : f16[1,2,4,4]
                %1 = onnx.Cast(%v) {to = 10} : f16[2,2,1,1]
                %2 = onnx.Conv(%0, %h) : f16[1,2,4,4]
                %3 = onnx.Relu(%2) : f16[1,2,4,4]
                %4 = onnx.Conv(%3, %1) : f16[1,2,4,4]
                %5 = onnx.Cast(%4) {to = 1} : f32[1,2,4,4]
                %6 = onnx.Shape(%2) : i64[4]
                return %5, %6
              }
            }
        "#]],
    );
    // A Cast to another type stays: float32 has what neither of them keeps.
    check(
        "%y: f32[n,n]",
        "    %0 = onnx.Cast(%m) {to = 16}
    %1 = onnx.Cast(%0) {to = 1}
    %2 = onnx.Transpose(%1) {perm = [1, 0]}
    %3 = onnx.MatMul(%1, %2)
    return %3",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[n,n]) opset("" = 17) {
                %0 = onnx.Cast(%m) {to = 16} : bf16[n,2]
                %1 = onnx.Cast(%0) {to = 1} : f32[n,2]
                %2 = onnx.Cast(%1) {to = 10} : f16[n,2]
                %3 = onnx.Transpose(%2) {perm = [1, 0]} : f16[2,n]
                %4 = onnx.MatMul(%2, %3) : f16[n,n]
                %5 = onnx.Cast(%4) {to = 1} : f32[n,n]
                return %5
              }
            }
        "#]],
    );
}

#[test]
fn what_a_region_gives_out_is_made_in_it() {
    check(
        "%y: f16[1,2,4,4]",
        "    %c = const bool[] true
    %0 = onnx.Conv(%x, %w)
    %1 = onnx.If(%c) {then_branch = region, else_branch = region} : f16[1,2,4,4]
      region then_branch {
        %2 = onnx.Cast(%0) {to = 10}
        yield %2
      }
      region else_branch {
        %3 = onnx.Cast(%x) {to = 10}
        yield %3
      }
    return %1",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f16[1,2,4,4]) opset("" = 17) {
                %c = const bool[] true
                %0 = onnx.Cast(%x) {to = 10} : f16[1,2,4,4]
                %1 = onnx.Cast(%w) {to = 10} : f16[2,2,1,1]
                %2 = onnx.Conv(%0, %1) : f16[1,2,4,4]
                %3 = onnx.If(%c) {then_branch = region, else_branch = region} : f16[1,2,4,4]
                  region then_branch {
                    %4 = onnx.Cast(%2) {to = 10} : f16[1,2,4,4]
                    yield %4
                  }
                  region else_branch {
                    %5 = onnx.Cast(%x) {to = 10} : f16[1,2,4,4]
                    yield %5
                  }
                return %3
              }
            }
        "#]],
    );
}
