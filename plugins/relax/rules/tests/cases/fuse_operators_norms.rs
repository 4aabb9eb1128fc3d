//! Cases of `relax.transform.FuseOperators`: what is normalised.

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.FuseOperators";

const INFER: &str = "relax.transform.InferType";

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check_all(&[INFER, PASS], source, expected);
}

/// The pass changes no more than the inference of types does.
#[track_caller]
fn stays(source: &str) {
    let run = |passes: &[&str]| {
        passdock::testing::run_on_text(&support::registry(), passes, source, |cx| cx)
    };
    let before = run(&[INFER]);
    assert!(before.starts_with("module"), "{before}");
    assert_eq!(before, run(&[INFER, PASS]));
}

/// What is normalised along axes, with a scale and a bias, in a model of some opset.
fn layer(opset: u32, axes: &str, second: &str, result: &str) -> String {
    format!(
        r#"module {{
  fn @main(%x: f32[n,8,8]) -> (%y: f32[n,8,8]{}) opset("" = {opset}) {{
    %epsilon = const f32[] 1e-5
    %two = const f32[] 2.0
    %scale = const f32[8] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    %bias = const f32[8] [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    %0 = onnx.ReduceMean(%x) {{axes = {axes}}}
    %1 = onnx.Sub(%x, %0)
    %2 = onnx.Pow(%1, %two)
    %3 = onnx.ReduceMean(%2) {{axes = {second}}}
    %4 = onnx.Add(%3, %epsilon)
    %5 = onnx.Sqrt(%4)
    %6 = onnx.Div(%1, %5)
    %7 = onnx.Mul(%6, %scale)
    %8 = onnx.Add(%7, %bias)
    return %8{result}
  }}
}}"#,
        if result.is_empty() { "" } else { ", %z: f32" }
    )
}

#[test]
fn layer_norm_with_scale_and_bias() {
    check(
        &layer(17, "[-1]", "[2]", ""),
        expect![[r#"
        module {
          fn @main(%x: f32[n,8,8]) -> (%y: f32[n,8,8]) opset("" = 17) {
            %scale = const f32[8] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
            %bias = const f32[8] [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
            %0 = onnx.LayerNormalization(%x, %scale, %bias) {axis = -1, epsilon = 1e-5} : f32[n,8,8]
            return %0
          }
        }
    "#]],
    );
}

#[test]
fn layer_norm_of_two_dims() {
    check(
        &layer(17, "[1, 2]", "[-1, -2]", ""),
        expect![[r#"
        module {
          fn @main(%x: f32[n,8,8]) -> (%y: f32[n,8,8]) opset("" = 17) {
            %scale = const f32[8] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
            %bias = const f32[8] [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
            %0 = const f32[8,8] [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
            %1 = onnx.LayerNormalization(%x, %0) {axis = -2, epsilon = 1e-5} : f32[n,8,8]
            %2 = onnx.Mul(%1, %scale) : f32[n,8,8]
            %3 = onnx.Add(%2, %bias) : f32[n,8,8]
            return %3
          }
        }
    "#]],
    );
}

#[test]
fn layer_norm_isnt_there_yet() {
    stays(&layer(16, "[-1]", "[-1]", ""));
}

#[test]
fn other_axes_than_the_last() {
    stays(&layer(17, "[1]", "[1]", ""));
    stays(&layer(17, "[-1]", "[-2]", ""));
    stays(&layer(17, "[0, 2]", "[0, 2]", ""));
}

#[test]
fn a_variance_that_others_use() {
    stays(&layer(17, "[-1]", "[-1]", ", %3"));
}

#[test]
fn a_mean_that_others_use() {
    check(
        &layer(17, "[-1]", "[-1]", ", %0"),
        expect![[r#"
        module {
          fn @main(%x: f32[n,8,8]) -> (%y: f32[n,8,8], %z: f32) opset("" = 17) {
            %scale = const f32[8] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
            %bias = const f32[8] [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
            %0 = onnx.ReduceMean(%x) {axes = [-1]} : f32[n,8,1]
            %1 = onnx.LayerNormalization(%x, %scale, %bias) {axis = -1, epsilon = 1e-5} : f32[n,8,8]
            return %1, %0
          }
        }
    "#]],
    );
}

#[test]
fn a_large_scale_is_stretched() {
    check(
        r#"module {
  fn @main(%x: f32[n,4096]) -> (%y: f32[n,4096]) opset("" = 18) {
    %epsilon = const f32[] 1e-6
    %last = const i64[1] [-1]
    %0 = onnx.ReduceMean(%x, %last) : f32[n,1]
    %1 = onnx.Sub(%x, %0) : f32[n,4096]
    %2 = onnx.Mul(%1, %1) : f32[n,4096]
    %3 = onnx.ReduceMean(%2, %last) : f32[n,1]
    %4 = onnx.Add(%3, %epsilon) : f32[n,1]
    %5 = onnx.Sqrt(%4) : f32[n,1]
    %6 = onnx.Reciprocal(%5) : f32[n,1]
    %7 = onnx.Mul(%1, %6) : f32[n,4096]
    return %7
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,4096]) -> (%y: f32[n,4096]) opset("" = 18) {
                %0 = const f32[] 1.0
                %1 = const i64[1] [4096]
                %2 = onnx.Expand(%0, %1) : f32[4096]
                %3 = onnx.LayerNormalization(%x, %2) {axis = -1, epsilon = 1e-6} : f32[n,4096]
                return %3
              }
            }
        "#]],
    );
}

#[test]
fn sizes_that_are_not_known() {
    stays(
        r#"module {
  fn @main(%x: f32[n,m]) -> (%y: f32[n,m]) opset("" = 18) {
    %epsilon = const f32[] 1e-6
    %last = const i64[1] [-1]
    %0 = onnx.ReduceMean(%x, %last) : f32[n,1]
    %1 = onnx.Sub(%x, %0) : f32[n,m]
    %2 = onnx.Mul(%1, %1) : f32[n,m]
    %3 = onnx.ReduceMean(%2, %last) : f32[n,1]
    %4 = onnx.Add(%3, %epsilon) : f32[n,1]
    %5 = onnx.Sqrt(%4) : f32[n,1]
    %6 = onnx.Div(%1, %5) : f32[n,m]
    return %6
  }
}"#,
    );
}

#[test]
fn halves_that_are_normalised_as_floats() {
    check(
        r#"module {
  fn @main(%x: f16[n,4], %s: f16[4], %b: f16[4]) -> (%y: f16[n,4]) opset("" = 18) {
    %epsilon = const f32[] 1e-5
    %last = const i64[1] [-1]
    %0 = onnx.Cast(%x) {to = 1} : f32[n,4]
    %1 = onnx.ReduceMean(%0, %last) : f32[n,1]
    %2 = onnx.Sub(%0, %1) : f32[n,4]
    %3 = onnx.Mul(%2, %2) : f32[n,4]
    %4 = onnx.ReduceMean(%3, %last) : f32[n,1]
    %5 = onnx.Add(%4, %epsilon) : f32[n,1]
    %6 = onnx.Sqrt(%5) : f32[n,1]
    %7 = onnx.Div(%2, %6) : f32[n,4]
    %8 = onnx.Cast(%7) {to = 10} : f16[n,4]
    %9 = onnx.Mul(%8, %s) : f16[n,4]
    %10 = onnx.Add(%9, %b) : f16[n,4]
    return %10
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f16[n,4], %s: f16[4], %b: f16[4]) -> (%y: f16[n,4]) opset("" = 18) {
                %0 = onnx.LayerNormalization(%x, %s, %b) {axis = -1, epsilon = 1e-5} : f16[n,4]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_scale_that_no_half_is() {
    check(
        r#"module {
  fn @main(%x: f16[n,2]) -> (%y: f16[n,2]) opset("" = 17) {
    %scale = const f32[2] [1.0, 0.1]
    %0 = onnx.Cast(%x) {to = 1} : f32[n,2]
    %1 = onnx.LayerNormalization(%0, %scale) : f32[n,2]
    %2 = onnx.Cast(%1) {to = 10} : f16[n,2]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f16[n,2]) -> (%y: f16[n,2]) opset("" = 17) {
                %scale = const f32[2] [1.0, 0.1]
                %0 = onnx.Cast(%x) {to = 1} : f32[n,2]
                %1 = onnx.LayerNormalization(%0, %scale) : f32[n,2]
                %2 = onnx.Cast(%1) {to = 10} : f16[n,2]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn a_scale_for_other_dims() {
    check(
        r#"module {
  fn @main(%x: f32[n,3,4]) -> (%y: f32[n,3,4], %z: f32[n,3,4]) opset("" = 17) {
    %ones = const f32[4] [1.0, 1.0, 1.0, 1.0]
    %scale = const f32[3,1] [1.0, 2.0, 3.0]
    %bias = const f32[1,1,4] [1.0, 2.0, 3.0, 4.0]
    %0 = onnx.LayerNormalization(%x, %ones) : f32[n,3,4]
    %1 = onnx.Mul(%0, %scale) : f32[n,3,4]
    %2 = onnx.LayerNormalization(%x, %ones) {epsilon = 0.001} : f32[n,3,4]
    %3 = onnx.Add(%bias, %2) : f32[n,3,4]
    return %1, %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,3,4]) -> (%y: f32[n,3,4], %z: f32[n,3,4]) opset("" = 17) {
                %ones = const f32[4] [1.0, 1.0, 1.0, 1.0]
                %scale = const f32[3,1] [1.0, 2.0, 3.0]
                %0 = const f32[4] [1.0, 2.0, 3.0, 4.0]
                %1 = onnx.LayerNormalization(%x, %ones) : f32[n,3,4]
                %2 = onnx.Mul(%1, %scale) : f32[n,3,4]
                %3 = onnx.LayerNormalization(%x, %ones, %0) {epsilon = 0.001} : f32[n,3,4]
                return %2, %3
              }
            }
        "#]],
    );
}

#[test]
fn rms_norm() {
    check(
        r#"module {
  fn @main(%x: bf16[n,4], %s: bf16[4]) -> (%y: bf16[n,4]) opset("" = 23) {
    %epsilon = const f32[] 1e-6
    %two = const f32[] 2.0
    %last = const i64[1] [-1]
    %0 = onnx.Cast(%x) {to = 1} : f32[n,4]
    %1 = onnx.Pow(%0, %two) : f32[n,4]
    %2 = onnx.ReduceMean(%1, %last) : f32[n,1]
    %3 = onnx.Add(%2, %epsilon) : f32[n,1]
    %4 = onnx.Sqrt(%3) : f32[n,1]
    %5 = onnx.Reciprocal(%4) : f32[n,1]
    %6 = onnx.Mul(%0, %5) : f32[n,4]
    %7 = onnx.Cast(%6) {to = 16} : bf16[n,4]
    %8 = onnx.Mul(%s, %7) : bf16[n,4]
    return %8
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: bf16[n,4], %s: bf16[4]) -> (%y: bf16[n,4]) opset("" = 23) {
                %0 = onnx.RMSNormalization(%x, %s) {axis = -1, epsilon = 1e-6} : bf16[n,4]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn the_square_of_something_else() {
    stays(
        r#"module {
  fn @main(%x: f32[n,4], %z: f32[n,4]) -> (%y: f32[n,4]) opset("" = 23) {
    %epsilon = const f32[] 1e-6
    %last = const i64[1] [-1]
    %0 = onnx.Mul(%z, %z) : f32[n,4]
    %1 = onnx.ReduceMean(%0, %last) : f32[n,1]
    %2 = onnx.Add(%1, %epsilon) : f32[n,1]
    %3 = onnx.Sqrt(%2) : f32[n,1]
    %4 = onnx.Div(%x, %3) : f32[n,4]
    return %4
  }
}"#,
    );
}

#[test]
fn factors_as_keras_writes_them() {
    check(
        r#"module {
  fn @main(%x: f32[n,s,4]) -> (%y: f32[n,s,4]) opset("" = 17) {
    %epsilon = const f32[] 0.001
    %scale = const f32[4] [1.0, 2.0, 3.0, 4.0]
    %bias = const f32[4] [5.0, 6.0, 7.0, 8.0]
    %0 = onnx.ReduceMean(%x) {axes = [2]} : f32[n,s,1]
    %1 = onnx.Sub(%x, %0) : f32[n,s,4]
    %2 = onnx.Mul(%1, %1) : f32[n,s,4]
    %3 = onnx.ReduceMean(%2) {axes = [2]} : f32[n,s,1]
    %4 = onnx.Add(%3, %epsilon) : f32[n,s,1]
    %5 = onnx.Sqrt(%4) : f32[n,s,1]
    %6 = onnx.Reciprocal(%5) : f32[n,s,1]
    %7 = onnx.Mul(%6, %scale) : f32[n,s,4]
    %8 = onnx.Mul(%x, %7) : f32[n,s,4]
    %9 = onnx.Mul(%0, %7) : f32[n,s,4]
    %10 = onnx.Sub(%bias, %9) : f32[n,s,4]
    %11 = onnx.Add(%8, %10) : f32[n,s,4]
    return %11
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,s,4]) -> (%y: f32[n,s,4]) opset("" = 17) {
                %scale = const f32[4] [1.0, 2.0, 3.0, 4.0]
                %bias = const f32[4] [5.0, 6.0, 7.0, 8.0]
                %0 = onnx.LayerNormalization(%x, %scale, %bias) {axis = -1, epsilon = 0.001} : f32[n,s,4]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn factors_of_two_values() {
    stays(
        r#"module {
  fn @main(%x: f32[n,4], %z: f32[n,4]) -> (%y: f32[n,4]) opset("" = 17) {
    %epsilon = const f32[] 0.001
    %bias = const f32[4] [5.0, 6.0, 7.0, 8.0]
    %0 = onnx.ReduceMean(%x) {axes = [1]} : f32[n,1]
    %1 = onnx.Sub(%x, %0) : f32[n,4]
    %2 = onnx.Mul(%1, %1) : f32[n,4]
    %3 = onnx.ReduceMean(%2) {axes = [1]} : f32[n,1]
    %4 = onnx.Add(%3, %epsilon) : f32[n,1]
    %5 = onnx.Sqrt(%4) : f32[n,1]
    %6 = onnx.Reciprocal(%5) : f32[n,1]
    %7 = onnx.Mul(%z, %6) : f32[n,4]
    %8 = onnx.Mul(%0, %6) : f32[n,1]
    %9 = onnx.Sub(%bias, %8) : f32[n,4]
    %10 = onnx.Add(%7, %9) : f32[n,4]
    return %10
  }
}"#,
    );
}
