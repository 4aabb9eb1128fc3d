//! Cases of `relax.transform.DecomposeOps`.

use expect_test::{Expect, expect};

use crate::support;

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check("relax.transform.DecomposeOps", source, expected);
}

#[test]
fn an_op_becomes_its_body_wherever_it_is() {
    check(
        r#"module {
  fn @main(%x: f32[n], %c: bool[]) -> (%y: f32[n]) opset("" = 20) {
    %a = onnx.Softsign(%x) : f32[n] loc("act")
    %b = onnx.If(%c) : f32[n]
      region then_branch {
        %t = onnx.Gelu(%a) : f32[n]
        yield %t
      }
      region else_branch {
        yield %a
      }
    return %b
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n], %c: bool[]) -> (%y: f32[n]) opset("" = 20) {
                %0 = const f32[] 1.0
                %1 = const f32[] 1.4142135
                %2 = const f32[] 1.0
                %3 = const f32[] 0.5
                %4 = onnx.Abs(%x) : f32[n] loc("act")
                %5 = onnx.Add(%0, %4) : f32[n] loc("act")
                %a = onnx.Div(%x, %5) : f32[n] loc("act")
                %b = onnx.If(%c) : f32[n]
                  region then_branch {
                    %6 = onnx.Div(%a, %1) : f32[n]
                    %7 = onnx.Erf(%6) : f32[n]
                    %8 = onnx.Add(%2, %7) : f32[n]
                    %9 = onnx.Mul(%3, %a) : f32[n]
                    %t = onnx.Mul(%9, %8) : f32[n]
                    yield %t
                  }
                  region else_branch {
                    yield %a
                  }
                return %b
              }
            }
        "#]],
    );
}

#[test]
fn bodies_of_bodies_are_replaced_too() {
    check(
        r#"module {
  fn @main(%x: f32[n,c,d], %t: i64[n,d]) -> (%y: f32[]) opset("" = 13) {
    %a = onnx.SoftmaxCrossEntropyLoss(%x, %t) {ignore_index = 3} : f32[]
    return %a
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,c,d], %t: i64[n,d]) -> (%y: f32[]) opset("" = 13) {
                %0 = const i64[3] [0, 0, -1]
                %1 = const i64[1] [2]
                %2 = const i64[] 3
                %3 = const i64[] 0
                %4 = const i64[1] [1]
                %5 = const i64[1] [1]
                %6 = const f32[] 0.0
                %7 = const f32[] 1.0
                %8 = onnx.Shape(%x) : i64[3]
                %9 = onnx.Reshape(%x, %0) : f32[n,c,d]
                %10 = onnx.Transpose(%9) {perm = [0, 2, 1]} : f32[n,d,c]
                %11 = onnx.ReduceMax(%10) {axes = [2], keepdims = 1} : f32[n,d,1]
                %12 = onnx.Sub(%10, %11) : f32[n,d,c]
                %13 = onnx.Exp(%12) : f32[n,d,c]
                %14 = onnx.ReduceSum(%13, %1) {keepdims = 1} : f32[n,d,1]
                %15 = onnx.Log(%14) : f32[n,d,1]
                %16 = onnx.Sub(%12, %15) : f32[n,d,c]
                %17 = onnx.Transpose(%16) {perm = [0, 2, 1]} : f32[n,c,d]
                %18 = onnx.Reshape(%17, %8) : f32[n,c,d]
                %19 = onnx.Equal(%t, %2) : bool[n,d]
                %20 = onnx.Where(%19, %3, %t) : i64[n,d]
                %21 = onnx.Unsqueeze(%20, %4) : i64[n,1,d]
                %22 = onnx.GatherElements(%18, %21) {axis = 1} : f32[n,1,d]
                %23 = onnx.Squeeze(%22, %5) : f32[n,d]
                %24 = onnx.Neg(%23) : f32[n,d]
                %25 = onnx.Where(%19, %6, %7) : f32[n,d]
                %26 = onnx.Mul(%24, %25) : f32[n,d]
                %27 = onnx.ReduceSum(%26) {keepdims = 0} : f32[]
                %28 = onnx.ReduceSum(%25) {keepdims = 0} : f32[]
                %a = onnx.Div(%27, %28) : f32[]
                return %a
              }
            }
        "#]],
    );
}

#[test]
fn what_is_not_known_stays() {
    check(
        r#"module {
  fn @main(%x: ?, %z: f32[2]) -> (%y: ?) opset("" = 17, "acme" = 1) {
    %a = onnx.Celu(%x)
    %b = onnx.Clip(%z, %a)
    %c = acme.Thing(%b)
    %d = onnx.LeakyRelu(%z) {other = 1} : f32[2]
    return %c
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: ?, %z: f32[2]) -> (%y: ?) opset("" = 17, "acme" = 1) {
                %a = onnx.Celu(%x)
                %0 = onnx.Less(%z, %a) : bool[*]
                %b = onnx.Where(%0, %a, %z) : f32[*]
                %c = acme.Thing(%b)
                %d = onnx.LeakyRelu(%z) {other = 1} : f32[2]
                return %c
              }
            }
        "#]],
    );
}

/// Operators of a plugin whose bodies have each other: in the middle of what comes to an end.
mod own {
    use passdock_plugin_api::prelude::*;

    const PING: OpDef = OpDef::new("acme.Ping", 1)
        .operands(1, 1)
        .traits(OpTraits::PURE)
        .decompose(|call| {
            call.set_body("fn @ping(%x) { %a = onnx.Relu(%x) %b = acme.Pong(%a) return %b }")?;
            Ok(())
        });

    const PONG: OpDef = OpDef::new("acme.Pong", 1)
        .operands(1, 1)
        .traits(OpTraits::PURE)
        .decompose(|call| {
            call.set_body("fn @pong(%x) { %a = acme.Ping(%x) %b = onnx.Neg(%a) return %b }")?;
            Ok(())
        });

    plugin! {
        name: "acme",
        ops: [PING, PONG],
    }
}

#[test]
fn what_is_made_of_itself_is_an_error() {
    let registry = support::registry();
    registry.load_static(own::PLUGIN).expect("it is well made");
    let source = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %0 = acme.Ping(%x)
    return %0
  }
}"#;
    let run = |options: &str| {
        let pass = "relax.transform.DecomposeOps";
        passdock::testing::run_with_options(&registry, pass, options, source)
    };
    expect![[r#"
        error[pass-failed]: The body of acme.Ping never comes to an end: it is made of itself.
         --> test.ir:3:5
          |
        3 |     %0 = acme.Ping(%x)
          |     ^^^^^^^^^^^^^^^^^^
          |
          = in pass relax.transform.DecomposeOps of plugin relax, function @main, op160 (acme.Ping)"#]].assert_eq(&run(""));
    expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
            %0 = const f32[] 0.0
            %1 = onnx.Max(%x, %0) : f32[2]
            %2 = acme.Pong(%1)
            return %2
          }
        }
    "#]]
    .assert_eq(&run(r#"except = ["acme.Pong"]"#));
}
