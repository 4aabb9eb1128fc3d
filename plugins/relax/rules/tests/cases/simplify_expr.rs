//! Cases of `relax.transform.SimplifyExpr`.

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.SimplifyExpr";

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check(PASS, source, expected);
}

#[test]
fn neutral_arithmetic_in_a_chain() {
    check(
        r#"module {
  fn @main(%x: f16[2,n]) -> (%y: f16[2,n]) opset("" = 17) {
    %zero = const f16[] 0.0
    %one = const f16[1] [1.0]
    %0 = onnx.Add(%zero, %x) : f16[2,n]
    %1 = onnx.Mul(%0, %one) : f16[2,n]
    %2 = onnx.Relu(%1) : f16[2,n]
    %3 = onnx.Sub(%2, %zero) : f16[2,n]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f16[2,n]) -> (%y: f16[2,n]) opset("" = 17) {
                %0 = onnx.Relu(%x) : f16[2,n]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_neutral_operand_that_stretches_the_other_stays() {
    check(
        r#"module {
  fn @main(%x: f32[3]) -> (%y: f32[2,3]) opset("" = 17) {
    %zero = const f32[2,1] [0.0, 0.0]
    %0 = onnx.Add(%x, %zero) : f32[2,3]
    %1 = onnx.Neg(%0) : f32[2,3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[3]) -> (%y: f32[2,3]) opset("" = 17) {
                %zero = const f32[2,1] [0.0, 0.0]
                %0 = onnx.Add(%x, %zero) : f32[2,3]
                %1 = onnx.Neg(%0) : f32[2,3]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn what_a_region_gives_out() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2], %z: f32[2]) opset("" = 17) {
    %one = const f32[] 1.0
    %0 = onnx.Mul(%x, %one) : f32[2]
    %1 = onnx.Neg(%x) : f32[2]
    %2 = onnx.Neg(%1) : f32[2]
    return %0, %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2], %z: f32[2]) opset("" = 17) {
                %one = const f32[] 1.0
                %0 = onnx.Mul(%x, %one) : f32[2]
                %1 = onnx.Identity(%x) : f32[2]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn transposes_are_one() {
    check(
        r#"module {
  fn @main(%x: f32[2,3,4]) -> (%y: f32[4,2,3], %z: f32[2,3,4]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [1, 0, 2]} : f32[3,2,4]
    %1 = onnx.Transpose(%0) {perm = [2, 1, 0]} : f32[4,2,3]
    %2 = onnx.Transpose(%1) {perm = [1, 2, 0]} : f32[2,3,4]
    %3 = onnx.Relu(%2) : f32[2,3,4]
    return %1, %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3,4]) -> (%y: f32[4,2,3], %z: f32[2,3,4]) opset("" = 17) {
                %0 = onnx.Transpose(%x) {perm = [2, 0, 1]} : f32[4,2,3]
                %1 = onnx.Relu(%x) : f32[2,3,4]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn transposes_meet_through_elementwise_ops() {
    check(
        r#"module {
  fn @main(%x: f32[2,3,4], %z: f32[4,2,3]) -> (%y: f32[2,3,4]) opset("" = 17) {
    %c = const f32[] 2.0
    %b = const f32[1,2,1] [3.0, 4.0]
    %0 = onnx.Transpose(%x) {perm = [2, 0, 1]} : f32[4,2,3]
    %1 = onnx.Mul(%0, %c) : f32[4,2,3]
    %2 = onnx.Add(%b, %1) : f32[4,2,3]
    %3 = onnx.Relu(%2) : f32[4,2,3]
    %4 = onnx.Transpose(%3) {perm = [1, 2, 0]} : f32[2,3,4]
    return %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3,4], %z: f32[4,2,3]) -> (%y: f32[2,3,4]) opset("" = 17) {
                %c = const f32[] 2.0
                %0 = const f32[2,1,1] [3.0, 4.0]
                %1 = onnx.Mul(%x, %c) : f32[2,3,4]
                %2 = onnx.Add(%0, %1) : f32[2,3,4]
                %3 = onnx.Relu(%2) : f32[2,3,4]
                return %3
              }
            }
        "#]],
    );
}

#[test]
fn transposes_below_a_concat() {
    check(
        r#"module {
  fn @main(%a: f32[2,3,4], %b: f32[2,3,5]) -> (%y: f32[9,3,2]) opset("" = 17) {
    %0 = onnx.Transpose(%a) : f32[4,3,2]
    %1 = onnx.Transpose(%b) {perm = [2, 1, 0]} : f32[5,3,2]
    %2 = onnx.Concat(%0, %1) {axis = -3} : f32[9,3,2]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%a: f32[2,3,4], %b: f32[2,3,5]) -> (%y: f32[9,3,2]) opset("" = 17) {
                %0 = onnx.Concat(%a, %b) {axis = 2} : f32[2,3,9]
                %1 = onnx.Transpose(%0) {perm = [2, 1, 0]} : f32[9,3,2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn what_lies_next_to_one_is_not_one() {
    let source = r#"module {
  fn @main(%x: bf16[3], %z: f64[3]) -> (%y: bf16[3], %u: f64[3]) opset("" = 17) {
    %a = const bf16[] 0.99609375
    %b = const f64[] 1e-200
    %0 = onnx.Mul(%x, %a) : bf16[3]
    %1 = onnx.Mul(%z, %b) : f64[3]
    %2 = onnx.Mul(%1, %b) : f64[3]
    return %0, %2
  }
}"#;
    let kept = support::run(PASS, source);
    assert_eq!(kept.matches("onnx.Mul").count(), 3, "{kept}");
}
