//! Cases of `relax.transform.InferType`.

mod support;

use expect_test::{Expect, expect};

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check("relax.transform.InferType", source, expected);
}

#[test]
fn elementwise_ops_broadcast() {
    check(
        r#"module {
  fn @main(%x: f32[n,1,4], %y: f32[3,1]) -> (%z: f32[n,3,4]) opset("" = 17) {
    %0 = onnx.Relu(%x)
    %1 = onnx.Add(%0, %y)
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,1,4], %y: f32[3,1]) -> (%z: f32[n,3,4]) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[n,1,4]
                %1 = onnx.Add(%0, %y) : f32[n,3,4]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn shapes_are_followed_through_shape_computations() {
    check(
        r#"module {
  fn @main(%x: f32[n,3,4]) -> (%z: f32[n,12]) opset("" = 17) {
    %i = const i64[] 0
    %rest = const i64[1] [12]
    %axes = const i64[1] [0]
    %0 = onnx.Shape(%x)
    %1 = onnx.Gather(%0, %i) {axis = 0}
    %2 = onnx.Unsqueeze(%1, %axes)
    %3 = onnx.Concat(%2, %rest) {axis = 0}
    %4 = onnx.Reshape(%x, %3)
    return %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,3,4]) -> (%z: f32[n,12]) opset("" = 17) {
                %i = const i64[] 0
                %rest = const i64[1] [12]
                %axes = const i64[1] [0]
                %0 = onnx.Shape(%x) : i64[3]
                %1 = onnx.Gather(%0, %i) {axis = 0} : i64[]
                %2 = onnx.Unsqueeze(%1, %axes) : i64[1]
                %3 = onnx.Concat(%2, %rest) {axis = 0} : i64[2]
                %4 = onnx.Reshape(%x, %3) : f32[n,12]
                return %4
              }
            }
        "#]],
    );
}
