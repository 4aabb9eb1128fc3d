//! Cases of `relax.transform.SimplifyInference`.

use std::collections::BTreeMap;

use crate::support;

use expect_test::{Expect, expect};

const PASS: &str = "relax.transform.SimplifyInference";

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check(PASS, source, expected);
}

/// The pass leaves the module as it is, also with `batch_norm`.
#[track_caller]
fn check_stays(source: &str) {
    let run = |passes: &[&str]| {
        passdock::testing::run_on_text(&support::registry(), passes, source, with_batch_norm)
    };
    let printed = run(&["relax.transform.InferType"]);
    assert!(printed.starts_with("module"), "{printed}");
    assert_eq!(run(&[PASS]), printed);
}

/// With `batch_norm`, then with the constants folded.
#[track_caller]
fn check_batch_norm(source: &str, expected: Expect) {
    let passes = [PASS, "relax.transform.FoldConstant"];
    let registry = support::registry();
    let result = passdock::testing::run_on_text(&registry, &passes, source, with_batch_norm);
    expected.assert_eq(&result);
}

fn with_batch_norm(context: passdock::ContextBuilder) -> passdock::ContextBuilder {
    let options = BTreeMap::from([("batch_norm", true)]);
    context.config("relax.SimplifyInference", options)
}

#[test]
fn an_old_dropout_is_its_operand() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 7) {
    %0 = onnx.Neg(%x) : f32[2]
    %1 = onnx.Dropout(%0) {ratio = 0.5} : f32[2]
    %2 = onnx.Relu(%1) : f32[2]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 7) {
                %0 = onnx.Neg(%x) : f32[2]
                %1 = onnx.Relu(%0) : f32[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_dropout_that_is_not_trained_is_its_operand() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 13) {
    %f = const bool[] false
    %r = const f32[] 0.5
    %0 = onnx.Dropout(%x) : f32[2]
    %1 = onnx.Neg(%0) : f32[2]
    %2 = onnx.Dropout(%1, %r, %f) : f32[2]
    %3 = onnx.Neg(%2) : f32[2]
    %4 = onnx.Dropout(%3, _, %f) : f32[2]
    %5 = onnx.Neg(%4) : f32[2]
    return %5
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 13) {
                %f = const bool[] false
                %r = const f32[] 0.5
                %0 = onnx.Neg(%x) : f32[2]
                %1 = onnx.Neg(%0) : f32[2]
                %2 = onnx.Neg(%1) : f32[2]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn a_ratio_of_zero_drops_nothing() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 13) {
    %t = const bool[] true
    %r = const f32[] 0.0
    %0 = onnx.Dropout(%x, %r, %t) : f32[2]
    %1 = onnx.Neg(%0) : f32[2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 13) {
                %t = const bool[] true
                %r = const f32[] 0.0
                %0 = onnx.Neg(%x) : f32[2]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_dropout_that_may_be_trained_stays() {
    check_stays(
        r#"module {
  fn @main(%x: f32[2], %on: bool[], %x2: f32[]) -> (%y: f32[2]) opset("" = 13) {
    %t = const bool[] true
    %r = const f32[] 0.5
    %0 = onnx.Dropout(%x, %r, %t) : f32[2]
    %1 = onnx.Dropout(%0, _, %t) : f32[2]
    %2 = onnx.Dropout(%1, %r, %on) : f32[2]
    %3 = onnx.Dropout(%2, %x2, %t) : f32[2]
    return %3
  }
}"#,
    );
}

#[test]
fn an_overridable_default_may_be_overridden() {
    check_stays(
        r#"module {
  fn @main(%x: f32[2], %on: bool[] = const bool[] false) -> (%y: f32[2]) opset("" = 13) {
    %r = const f32[] 0.5
    %0 = onnx.Dropout(%x, %r, %on) : f32[2]
    return %0
  }
}"#,
    );
}

#[test]
fn a_mask_that_is_used_stays() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2], %m: bool[2]) opset("" = 13) {
    %0, %1 = onnx.Dropout(%x) : f32[2], bool[2]
    %2 = onnx.Neg(%0) : f32[2]
    return %2, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2], %m: bool[2]) opset("" = 13) {
                %0, %1 = onnx.Dropout(%x) : f32[2], bool[2]
                %2 = onnx.Neg(%x) : f32[2]
                return %2, %1
              }
            }
        "#]],
    );
}

#[test]
fn what_is_given_out_of_a_region_is_a_copy() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 13) {
    %0 = onnx.Dropout(%x) : f32[2]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 13) {
                %0 = onnx.Identity(%x) : f32[2]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn batch_normalization_stays_unless_asked_for() {
    check(
        r#"module {
  fn @main(%x: f32[n,3,4,4]) -> (%y: f32[n,3,4,4]) opset("" = 15) {
    %s = const f32[3] [1.0, 2.0, 0.5]
    %b = const f32[3] [0.0, 1.0, -1.0]
    %m = const f32[3] [0.5, 0.25, 0.0]
    %v = const f32[3] [1.0, 4.0, 0.25]
    %0 = onnx.BatchNormalization(%x, %s, %b, %m, %v) {epsilon = 0.0} : f32[n,3,4,4]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,3,4,4]) -> (%y: f32[n,3,4,4]) opset("" = 15) {
                %s = const f32[3] [1.0, 2.0, 0.5]
                %b = const f32[3] [0.0, 1.0, -1.0]
                %m = const f32[3] [0.5, 0.25, 0.0]
                %v = const f32[3] [1.0, 4.0, 0.25]
                %0 = onnx.BatchNormalization(%x, %s, %b, %m, %v) {epsilon = 0.0} : f32[n,3,4,4]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn batch_normalization_of_constants_is_a_product_and_a_sum() {
    check_batch_norm(
        r#"module {
  fn @main(%x: f32[n,3,4,4]) -> (%y: f32[n,3,4,4]) opset("" = 15) {
    %s = const f32[3] [1.0, 2.0, 0.5]
    %b = const f32[3] [0.0, 1.0, -1.0]
    %m = const f32[3] [0.5, 0.25, 0.0]
    %v = const f32[3] [1.0, 4.0, 0.25]
    %0 = onnx.BatchNormalization(%x, %s, %b, %m, %v) {epsilon = 0.0} : f32[n,3,4,4]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,3,4,4]) -> (%y: f32[n,3,4,4]) opset("" = 15) {
                %0 = const f32[3,1,1] [1.0, 1.0, 1.0]
                %1 = const f32[3,1,1] [-0.5, 0.75, -1.0]
                %2 = onnx.Mul(%x, %0) : f32[n,3,4,4]
                %3 = onnx.Add(%2, %1) : f32[n,3,4,4]
                return %3
              }
            }
        "#]],
    );
}

#[test]
fn batch_normalization_of_anything_is_taken_apart() {
    check_batch_norm(
        r#"module {
  fn @main(%x: f64[2,3], %s: f64[3], %b: f64[3], %m: f64[3], %v: f64[3]) -> (%y: f64[2,3]) opset("" = 9) {
    %0 = onnx.BatchNormalization(%x, %s, %b, %m, %v) : f64[2,3]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f64[2,3], %s: f64[3], %b: f64[3], %m: f64[3], %v: f64[3]) -> (%y: f64[2,3]) opset("" = 9) {
                %0 = const f64[] 9.999999747378752e-6
                %1 = onnx.Add(%v, %0) : f64[3]
                %2 = onnx.Sqrt(%1) : f64[3]
                %3 = onnx.Div(%s, %2) : f64[3]
                %4 = onnx.Mul(%m, %3) : f64[3]
                %5 = onnx.Sub(%b, %4) : f64[3]
                %6 = onnx.Mul(%x, %3) : f64[2,3]
                %7 = onnx.Add(%6, %5) : f64[2,3]
                return %7
              }
            }
        "#]],
    );
}

#[test]
fn batch_normalization_that_is_trained_or_of_small_types_stays() {
    check_stays(
        r#"module {
  fn @main(%x: f32[2,3], %h: f16[2,3], %u: f32[*]) -> (%y: f32[2,3], %z: f16[2,3], %w: f32[*]) opset("" = 15) {
    %s = const f32[3] [1.0, 2.0, 0.5]
    %0, %1, %2 = onnx.BatchNormalization(%x, %s, %s, %s, %s) {training_mode = 1} : f32[2,3], f32[3], f32[3]
    %3 = onnx.BatchNormalization(%h, %s, %s, %s, %s) : f16[2,3]
    %4 = onnx.BatchNormalization(%u, %s, %s, %s, %s) : f32[*]
    return %0, %3, %4
  }
}"#,
    );
}

#[test]
fn old_batch_normalization_with_statistics_stays() {
    check_stays(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y: f32[2,3], %z: f32[3]) opset("" = 9) {
    %s = const f32[3] [1.0, 2.0, 0.5]
    %0, %1, %2, %3, %4 = onnx.BatchNormalization(%x, %s, %s, %s, %s) : f32[2,3], f32[3], f32[3], f32[3], f32[3]
    return %0, %1
  }
}"#,
    );
}
