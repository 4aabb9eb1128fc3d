//! Cases of `relax.transform.Legalize`.

use expect_test::{Expect, expect};

use crate::support;

/// What an accelerator has, and what is run without it.
mod npu {
    use passdock_plugin_api::prelude::*;

    /// Legal as it is up to rank 2; else in two halves, which are legal.
    const FMA: OpDef = OpDef::new("npu.FMA", 1)
        .operands(3, 3)
        .traits(OpTraits::PURE)
        .legalize(|call| {
            let rank = call.operand_type(0).rank().ok_or("its rank isn't known")?;
            if rank <= 2 {
                return Err("it is legal".into());
            }
            call.set_body(
                "fn @fma(%a, %b, %c) { %m = npu.Mul(%a, %b) %s = onnx.Add(%m, %c) return %s }",
            )?;
            Ok(())
        });

    const MUL: OpDef = OpDef::new("npu.Mul", 1)
        .operands(2, 2)
        .traits(OpTraits::PURE)
        .legalize(|call| {
            call.set_body("fn @mul(%a, %b) { %m = onnx.Mul(%a, %b) return %m }")?;
            Ok(())
        });

    /// Its legal form has itself.
    const LOOP: OpDef = OpDef::new("npu.Loop", 1).legalize(|call| {
        call.set_body("fn @again(%x) { %y = npu.Loop(%x) return %y }")?;
        Ok(())
    });

    plugin! {
        name: "npu",
        ops: [FMA, MUL, LOOP],
    }
}

fn legalized(source: &str) -> String {
    let registry = support::registry();
    registry.load_static(npu::PLUGIN).expect("it is well made");
    passdock::testing::run_with_options(&registry, "relax.transform.Legalize", "", source)
}

#[track_caller]
fn check(source: &str, expected: Expect) {
    expected.assert_eq(&legalized(source));
}

#[test]
fn an_op_becomes_its_legal_form_which_is_legalized_in_turn() {
    check(
        r#"module {
  fn @main(%x: f32[2, 3, n], %c: bool[]) -> (%y: f32[2, 3, n]) opset("" = 20, "npu" = 1) {
    %a = npu.FMA(%x, %x, %x) : f32[2, 3, n] loc("fma")
    %b = onnx.If(%c) : f32[2, 3, n]
      region then_branch {
        %t = npu.Mul(%a, %x) : f32[2, 3, n]
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
              fn @main(%x: f32[2,3,n], %c: bool[]) -> (%y: f32[2,3,n]) opset("" = 20, "npu" = 1) {
                %0 = onnx.Mul(%x, %x) : f32[2,3,n] loc("fma")
                %a = onnx.Add(%0, %x) : f32[2,3,n] loc("fma")
                %b = onnx.If(%c) : f32[2,3,n]
                  region then_branch {
                    %t = onnx.Mul(%a, %x) : f32[2,3,n]
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
fn what_is_legal_stays() {
    let source = r#"module {
  fn @main(%x: f32[2, n], %u) -> (%y: f32[2, n]) opset("" = 20, "npu" = 1, "other" = 1) {
    %a = npu.FMA(%x, %x, %x) : f32[2,n]
    %b = npu.FMA(%u, %u, %u)
    %c = other.Op(%a, %b) : f32[2,n]
    return %c
  }
}
"#;
    check(
        source,
        expect![[r#"
        module {
          fn @main(%x: f32[2,n], %u: ?) -> (%y: f32[2,n]) opset("" = 20, "npu" = 1, "other" = 1) {
            %a = npu.FMA(%x, %x, %x) : f32[2,n]
            %b = npu.FMA(%u, %u, %u)
            %c = other.Op(%a, %b) : f32[2,n]
            return %c
          }
        }
    "#]],
    );
}

#[test]
fn a_form_that_never_comes_to_an_end_is_an_error() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 20, "npu" = 1) {
    %a = npu.Loop(%x) : f32[2]
    return %a
  }
}"#,
        expect![[r#"
            error[pass-failed]: The body of npu.Loop never comes to an end: it is made of itself.
             --> test.ir:3:5
              |
            3 |     %a = npu.Loop(%x) : f32[2]
              |     ^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.Legalize of plugin relax, function @main, op65 (npu.Loop)"#]],
    );
}
