//! Cases of `relax.transform.ToANormalForm` and `ToGraphNormalForm`.

use expect_test::expect;

use crate::support;

const GRAPH: &str = r#"module {
  fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %late = onnx.Exp(%x) : f32[2]
    %a = onnx.Relu(%x) : f32[2]
    %b = onnx.Neg(%x) : f32[2]
    %unused = onnx.Sqrt(%b) : f32[2]
    %e = acme.Log(%a) : f32[2]
    %f = acme.Log(%x) : f32[2]
    %r = onnx.If(%c) : f32[2]
      region then_branch {
        %t = onnx.Abs(%late) : f32[2]
        %u = onnx.Ceil(%x) : f32[2]
        %v = onnx.Sub(%u, %t) : f32[2]
        yield %v
      }
    %d = onnx.Add(%b, %r) : f32[2]
    return %d
  }
}"#;

#[test]
fn depth_first_is_the_order_of_need() {
    support::check(
        "relax.transform.ToANormalForm",
        GRAPH,
        expect![[r#"
        module {
          fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
            %b = onnx.Neg(%x) : f32[2]
            %unused = onnx.Sqrt(%b) : f32[2]
            %a = onnx.Relu(%x) : f32[2]
            %e = acme.Log(%a) : f32[2]
            %f = acme.Log(%x) : f32[2]
            %late = onnx.Exp(%x) : f32[2]
            %r = onnx.If(%c) : f32[2]
              region then_branch {
                %u = onnx.Ceil(%x) : f32[2]
                %t = onnx.Abs(%late) : f32[2]
                %v = onnx.Sub(%u, %t) : f32[2]
                yield %v
              }
            %d = onnx.Add(%b, %r) : f32[2]
            return %d
          }
        }
    "#]],
    );
}

#[test]
fn levels_are_the_order_of_the_graph() {
    support::check(
        "relax.transform.ToGraphNormalForm",
        GRAPH,
        expect![[r#"
        module {
          fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
            %late = onnx.Exp(%x) : f32[2]
            %a = onnx.Relu(%x) : f32[2]
            %b = onnx.Neg(%x) : f32[2]
            %unused = onnx.Sqrt(%b) : f32[2]
            %e = acme.Log(%a) : f32[2]
            %r = onnx.If(%c) : f32[2]
              region then_branch {
                %t = onnx.Abs(%late) : f32[2]
                %u = onnx.Ceil(%x) : f32[2]
                %v = onnx.Sub(%u, %t) : f32[2]
                yield %v
              }
            %f = acme.Log(%x) : f32[2]
            %d = onnx.Add(%b, %r) : f32[2]
            return %d
          }
        }
    "#]],
    );
}

#[test]
fn what_is_in_this_order_already_stays() {
    let there = ["relax.transform.ToANormalForm"];
    let back = [
        "relax.transform.ToANormalForm",
        "relax.transform.ToGraphNormalForm",
        there[0],
    ];
    // Expected twice: the same.
    support::check_all(
        &there,
        GRAPH,
        expect![[r#"
        module {
          fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
            %b = onnx.Neg(%x) : f32[2]
            %unused = onnx.Sqrt(%b) : f32[2]
            %a = onnx.Relu(%x) : f32[2]
            %e = acme.Log(%a) : f32[2]
            %f = acme.Log(%x) : f32[2]
            %late = onnx.Exp(%x) : f32[2]
            %r = onnx.If(%c) : f32[2]
              region then_branch {
                %u = onnx.Ceil(%x) : f32[2]
                %t = onnx.Abs(%late) : f32[2]
                %v = onnx.Sub(%u, %t) : f32[2]
                yield %v
              }
            %d = onnx.Add(%b, %r) : f32[2]
            return %d
          }
        }
    "#]],
    );
    support::check_all(
        &back,
        GRAPH,
        expect![[r#"
        module {
          fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
            %b = onnx.Neg(%x) : f32[2]
            %unused = onnx.Sqrt(%b) : f32[2]
            %a = onnx.Relu(%x) : f32[2]
            %e = acme.Log(%a) : f32[2]
            %f = acme.Log(%x) : f32[2]
            %late = onnx.Exp(%x) : f32[2]
            %r = onnx.If(%c) : f32[2]
              region then_branch {
                %u = onnx.Ceil(%x) : f32[2]
                %t = onnx.Abs(%late) : f32[2]
                %v = onnx.Sub(%u, %t) : f32[2]
                yield %v
              }
            %d = onnx.Add(%b, %r) : f32[2]
            return %d
          }
        }
    "#]],
    );
    let source = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = onnx.Relu(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    return %b
  }
}"#;
    support::check_all(
        &there,
        source,
        expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %a = onnx.Relu(%x) : f32[2]
            %b = onnx.Neg(%a) : f32[2]
            return %b
          }
        }
    "#]],
    );
    support::check(
        "relax.transform.ToGraphNormalForm",
        source,
        expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %a = onnx.Relu(%x) : f32[2]
            %b = onnx.Neg(%a) : f32[2]
            return %b
          }
        }
    "#]],
    );
}
