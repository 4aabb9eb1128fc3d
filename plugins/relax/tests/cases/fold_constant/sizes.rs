//! Sizes that are known once what pads and slices is constant, and what follows from them.

use expect_test::expect;

use super::{check, check_stays};

/// Exporters compute what pads each convolution from the size behind the one before.
#[test]
fn each_pad_tells_the_size_that_the_next_one_is_computed_of() {
    check(
        r#"module {
  fn @main(%x: f32[1,9]) -> (%y) opset("" = 17) {
    %none = const i64[2] [0, 0]
    %last = const i64[2] [0, 1]
    %s = onnx.Shape(%x) : i64[2]
    %m = onnx.Mul(%s, %last) : i64[2]
    %p = onnx.Concat(%none, %m) {axis = 0} : i64[4]
    %a = onnx.Pad(%x, %p) : f32[1,?]
    %r = onnx.Relu(%a) : f32[1,?]
    %s2 = onnx.Shape(%r) : i64[2]
    %m2 = onnx.Mul(%s2, %last) : i64[2]
    %p2 = onnx.Concat(%none, %m2) {axis = 0} : i64[4]
    %b = onnx.Pad(%r, %p2) : f32[1,?]
    %s3 = onnx.Shape(%b) : i64[2]
    %p3 = onnx.Concat(%none, %s3) {axis = 0} : i64[4]
    %c = onnx.Pad(%b, %p3)
    return %c
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,9]) -> (%y) opset("" = 17) {
                %p = const i64[4] [0, 0, 0, 9]
                %p2 = const i64[4] [0, 0, 0, 18]
                %p3 = const i64[4] [0, 0, 1, 36]
                %a = onnx.Pad(%x, %p) : f32[1,18]
                %r = onnx.Relu(%a) : f32[1,18]
                %b = onnx.Pad(%r, %p2) : f32[1,36]
                %c = onnx.Pad(%b, %p3)
                return %c
              }
            }
        "#]],
    );
}

#[test]
fn what_nobody_inferred_stays_without_a_type() {
    check_stays(
        r#"module {
  fn @main(%x: f32[n,9], %p: i64[4]) -> (%y: f32[?,?], %s: i64[2]) opset("" = 17) {
    %a = onnx.Pad(%x, %p)
    %s = onnx.Shape(%a)
    return %a, %s
  }
}"#,
        expect![[""]],
    );
}
