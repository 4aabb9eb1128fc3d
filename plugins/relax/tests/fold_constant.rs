//! Cases of `relax.transform.FoldConstant`.

mod support;

use expect_test::{Expect, expect};

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check("relax.transform.FoldConstant", source, expected);
}

#[test]
fn an_op_on_constants_is_its_value() {
    check(
        r#"module {
  fn @main(%x: i64[2]) -> (%y: i64[2]) opset("" = 17) {
    %a = const i64[2] [2, 3]
    %b = const i64[2] [10, 20]
    %0 = onnx.Add(%a, %b) : i64[2]
    %1 = onnx.Mul(%x, %0) : i64[2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: i64[2]) -> (%y: i64[2]) opset("" = 17) {
                %0 = const i64[2] [12, 23]
                %1 = onnx.Mul(%x, %0) : i64[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_chain_folds_in_one_run() {
    check(
        r#"module {
  fn @main(%x: f32[3]) -> (%y: f32[3]) opset("" = 17) {
    %a = const f32[3] [1.0, 4.0, 9.0]
    %0 = onnx.Sqrt(%a) : f32[3]
    %1 = onnx.Add(%0, %0) : f32[3]
    %2 = onnx.Mul(%x, %1) : f32[3]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[3]) -> (%y: f32[3]) opset("" = 17) {
                %0 = const f32[3] [2.0, 4.0, 6.0]
                %1 = onnx.Mul(%x, %0) : f32[3]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn what_depends_on_an_input_stays() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] [1.0, 2.0]
    %0 = onnx.Add(%x, %a) : f32[2]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %a = const f32[2] [1.0, 2.0]
                %0 = onnx.Add(%x, %a) : f32[2]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn an_overridable_initializer_stays() {
    check(
        r#"module {
  fn @main(%x: f32[1] = const f32[1] [1.0]) -> (%y: f32[1]) opset("" = 17) {
    %a = const f32[1] [2.0]
    %0 = onnx.Add(%x, %a) : f32[1]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1] = const f32[1] [1.0]) -> (%y: f32[1]) opset("" = 17) {
                %a = const f32[1] [2.0]
                %0 = onnx.Add(%x, %a) : f32[1]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn what_is_random_stays() {
    check(
        r#"module {
  fn @main() -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] [1.0, 2.0]
    %0 = onnx.RandomUniformLike(%a) : f32[2]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: f32[2]) opset("" = 17) {
                %a = const f32[2] [1.0, 2.0]
                %0 = onnx.RandomUniformLike(%a) : f32[2]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn what_would_grow_the_model_stays() {
    check(
        r#"module {
  fn @main() -> (%y: f32[1]) opset("" = 17) {
    %a = const f32[] 1.0
    %shape = const i64[2] [5000, 5000]
    %0 = onnx.Expand(%a, %shape) : f32[5000,5000]
    %1 = onnx.ReduceMean(%0) {axes = [0, 1], keepdims = 0} : f32[]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: f32[1]) opset("" = 17) {
                %0 = const f32[] 1.0
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_constant_if_is_its_branch() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %c = const bool[] true
    %0 = onnx.If(%c) : f32[2]
      region then_branch {
        %1 = onnx.Relu(%x) : f32[2]
        yield %1
      }
      region else_branch {
        %2 = onnx.Neg(%x) : f32[2]
        yield %2
      }
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %c = const bool[] true
                %0 = onnx.Relu(%x) : f32[2]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn the_shape_of_a_tensor_of_known_dims_is_constant() {
    check(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y: i64[2]) opset("" = 17) {
    %0 = onnx.Shape(%x) : i64[2]
    %1 = onnx.Identity(%0) : i64[2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y: i64[2]) opset("" = 17) {
                %0 = const i64[2] [2, 3]
                return %0
              }
            }
        "#]],
    );
}

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
