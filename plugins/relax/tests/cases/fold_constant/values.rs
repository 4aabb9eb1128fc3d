//! The values are exactly those that ONNX has in mind.

use expect_test::expect;

use super::{check, check_stays};

#[test]
fn minus_zero_is_kept() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] [0.0, -0.0]
    %0 = onnx.Neg(%a) : f32[2]
    %1 = onnx.Div(%x, %0) : f32[2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %0 = const f32[2] [-0.0, 0.0]
                %1 = onnx.Div(%x, %0) : f32[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn integers_are_exact() {
    check(
        r#"module {
  fn @main(%x: i64[2]) -> (%y: i64[2]) opset("" = 17) {
    %a = const i64[2] [9007199254740993, -9223372036854775807]
    %b = const i64[2] [2, 1]
    %0 = onnx.Add(%a, %b) : i64[2]
    %1 = onnx.Mul(%x, %0) : i64[2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: i64[2]) -> (%y: i64[2]) opset("" = 17) {
                %0 = const i64[2] [9007199254740995, -9223372036854775806]
                %1 = onnx.Mul(%x, %0) : i64[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn half_and_bfloat16_are_rounded() {
    check(
        r#"module {
  fn @main() -> (%y: f16[2], %z: bf16[2]) opset("" = 17) {
    %a = const f16[2] [2048.0, 1.0]
    %b = const f16[2] [1.0, 0.0009765625]
    %0 = onnx.Add(%a, %b) : f16[2]
    %c = const bf16[2] [256.0, 1.0]
    %d = const bf16[2] [1.0, 0.0078125]
    %1 = onnx.Add(%c, %d) : bf16[2]
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: f16[2], %z: bf16[2]) opset("" = 17) {
                %0 = const f16[2] [2048.0, 1.0009766]
                %1 = const bf16[2] [256.0, 1.0078125]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn small_types_and_strings_keep_their_elements() {
    check(
        r#"module {
  fn @main() -> (%y: f32[]) opset("" = 21) {
    %a = const i4[3] [-8, 3, 7]
    %s = const str[2] ["a", "b\xff"]
    %i = const i64[1] [1]
    %shape = const i64[2] [1, 3]
    %0 = onnx.Reshape(%a, %shape) : i4[1,3]
    %1 = onnx.Gather(%s, %i) : str[1]
    %2 = t.Use(%0, %1) : f32[]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: f32[]) opset("" = 21) {
                %0 = const i4[1,3] [-8, 3, 7]
                %1 = const str[1] ["b\xff"]
                %2 = t.Use(%0, %1) : f32[]
                return %2
              }
            }
            ; 1 t.Use: no plugin defines it.
        "#]],
    );
}

#[test]
fn nans_and_infinities_are_values() {
    check(
        r#"module {
  fn @main(%x: f32[3]) -> (%y: f32[3]) opset("" = 17) {
    %a = const f32[3] [1.0, -1.0, 0.0]
    %zero = const f32[] 0.0
    %0 = onnx.Div(%a, %zero) : f32[3]
    %1 = onnx.Mul(%x, %0) : f32[3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[3]) -> (%y: f32[3]) opset("" = 17) {
                %0 = const f32[3] [inf, -inf, 0xffc00000]
                %1 = onnx.Mul(%x, %0) : f32[3]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_shape_that_onnx_forbids_is_left_to_be_an_error_when_it_is_used() {
    let source = |attributes: &str| {
        r#"module {
  fn @main(%x: f32[n,4]) -> (%y: f32[*]) opset("" = 17) {
    %a = const i64[1] [-1]
    %b = const i64[1] [0]
    %0 = onnx.Concat(%a, %b) {axis = 0}
    %1 = onnx.Reshape(%x, %0)ATTRIBUTES : f32[*]
    return %1
  }
}"#
        .replace("ATTRIBUTES", attributes)
    };
    check_stays(
        &source(" {allowzero = 1}"),
        expect![[r#"
            1 onnx.Concat: onnx.Reshape couldn't take its value: nothing says what -1 stands for beside a dim of 0.
        "#]],
    );
    check(
        &source(""),
        expect![[r#"
        module {
          fn @main(%x: f32[n,4]) -> (%y: f32[*]) opset("" = 17) {
            %0 = const i64[2] [-1, 0]
            %1 = onnx.Reshape(%x, %0) : f32[*]
            return %1
          }
        }
    "#]],
    );
}
