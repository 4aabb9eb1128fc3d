//! Tests of the pass, as IR text.
use passdock_plugin_api::testing::check;

#[test]
fn relu_of_relu_is_fused() {
    check(
        "module {
          fn @main(%x: f32[n,8]) -> (%y: f32[n,8]) opset(\"\" = 17) {
            %a = onnx.Relu(%x) : f32[n,8]
            %b = onnx.Relu(%a) : f32[n,8]
            %y = onnx.Relu(%b) : f32[n,8]
            return %y
          }
        }",
        "module {
          fn @main(%x: f32[n,8]) -> (%y: f32[n,8]) opset(\"\" = 17) {
            %a = onnx.Relu(%x) : f32[n,8]
            return %a
          }
        }",
    );
}

#[test]
fn other_ops_are_unchanged() {
    let text = "module {
      fn @main(%x: f32[n,8]) -> (%y: f32[n,8]) opset(\"\" = 17) {
        %a = onnx.Neg(%x) : f32[n,8]
        %y = onnx.Relu(%a) : f32[n,8]
        return %y
      }
    }";
    check(text, text);
}
