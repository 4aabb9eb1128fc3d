//! ConvertLayout: convolutions, and what is between them.

use expect_test::expect;

use crate::support::check_options;

const PASS: &str = "relax.transform.ConvertLayout";
const NHWC: &str = r#"desired_layouts = { "onnx.Conv" = ["NHWC", "default"] }"#;

#[test]
fn a_convolution_and_what_follows() {
    check_options(
        PASS,
        NHWC,
        r#"module { fn @main(%x: f32[1,3,8,8], %w: f32[4,3,1,1], %b: f32[4,1,1]) -> (%y: f32[1,4,8,8]) opset("" = 17) {
          %c = onnx.Conv(%x, %w) {strides = [1, 1]} : f32[1,4,8,8] loc("conv")
          %a = onnx.Add(%c, %b) : f32[1,4,8,8] loc("add")
          %y = onnx.Relu(%a) : f32[1,4,8,8] loc("relu")
          return %y
        } }"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,3,8,8], %w: f32[4,3,1,1], %b: f32[4,1,1]) -> (%y: f32[1,4,8,8]) opset("" = 17, "passdock.layout" = 1) {
                %0 = onnx.Transpose(%b) {perm = [1, 2, 0]} : f32[1,1,4] loc("add")
                %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,8,8,3] loc("conv")
                %2 = passdock.layout.Conv_NHWC(%1, %w) : f32[1,8,8,4] loc("conv")
                %3 = onnx.Add(%2, %0) : f32[1,8,8,4] loc("add")
                %4 = onnx.Relu(%3) : f32[1,8,8,4] loc("relu")
                %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[1,4,8,8] loc("relu")
                return %y
              }
              fn @passdock.layout.Conv_NHWC(%0: ?, %1: ?) opset("" = 17, "passdock.layout" = 1) {
                %2 = onnx.Transpose(%0) {perm = [0, 3, 1, 2]}
                %3 = onnx.Conv(%2, %1) {strides = [1, 1]}
                %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 1]}
                return %4
              }
            }
        "#]],
    );
}
