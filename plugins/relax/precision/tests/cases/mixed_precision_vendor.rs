//! Cases of `relax.transform.ToMixedPrecision`: a vendor's operators, whose definitions are asked.

use expect_test::expect;
use passdock::testing::run_with_options;
use passdock_plugin_api::prelude::*;

use crate::mixed_precision::{PASS, module};
use crate::support;

/// Results in what its operand is of, and a float32 number.
const SCALE: OpDef = OpDef::new("acme.Scale", 1).operands(2, 2).infer(scale);

fn scale(call: &OpCall) -> OpResult {
    let (x, by) = (
        call.operand(0).ok_or("no operand")?,
        call.operand(1).ok_or("no factor")?,
    );
    if call.dtype(x) != call.dtype(by) {
        return Err("both operands have to be of one type".into());
    }
    call.set_result_like(0, x)?;
    Ok(())
}

/// Takes float32 alone.
const PICKY: OpDef = OpDef::new("acme.Picky", 1).operands(1, 1).infer(picky);

fn picky(call: &OpCall) -> OpResult {
    let x = call.operand(0).ok_or("no operand")?;
    if call.dtype(x) != DType::F32 {
        return Err("it takes float32 alone".into());
    }
    call.set_result_like(0, x)?;
    Ok(())
}

plugin! {
    name: "acme",
    passes: [],
    ops: [SCALE, PICKY],
}

fn run(options: &str, body: &str) -> String {
    let registry = support::registry();
    registry.load_static(PLUGIN).expect("it is well made");
    run_with_options(&registry, PASS, options, &module("%y: f32[n,2]", 17, body))
}

#[test]
fn what_the_definition_takes_is_computed_in_the_smaller_type() {
    let body = "    %s = const f32[] 2.0
    %k = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %0 = onnx.MatMul(%m, %k)
    %1 = acme.Scale(%0, %s) {times = 3} : f32[n,2]
    %2 = onnx.MatMul(%1, %k)
    return %2";
    expect![[r#"
        module {
          fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
            %k = const f16[2,2] [1.0, 2.0, 3.0, 4.0]
            %s = const f16[] 2.0
            %0 = onnx.Cast(%m) {to = 10} : f16[n,2]
            %1 = onnx.MatMul(%0, %k) : f16[n,2]
            %2 = acme.Scale(%1, %s) {times = 3} : f16[n,2]
            %3 = onnx.MatMul(%2, %k) : f16[n,2]
            %4 = onnx.Cast(%3) {to = 1} : f32[n,2]
            return %4
          }
        }
    "#]].assert_eq(&run("follow = [\"acme.Scale\"]", body));
    // Nobody said that it does.
    expect![[r#"
        module {
          fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
            %s = const f32[] 2.0
            %k = const f16[2,2] [1.0, 2.0, 3.0, 4.0]
            %0 = onnx.Cast(%m) {to = 10} : f16[n,2]
            %1 = onnx.MatMul(%0, %k) : f16[n,2]
            %2 = onnx.Cast(%1) {to = 1} : f32[n,2]
            %3 = acme.Scale(%2, %s) {times = 3} : f32[n,2]
            %4 = onnx.Cast(%3) {to = 10} : f16[n,2]
            %5 = onnx.MatMul(%4, %k) : f16[n,2]
            %6 = onnx.Cast(%5) {to = 1} : f32[n,2]
            return %6
          }
        }
    "#]].assert_eq(&run("", body));
}

#[test]
fn what_it_refuses_stays_in_float32() {
    let body = "    %0 = acme.Picky(%m) : f32[n,2]
    return %0";
    expect![[r#"
        module {
          fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
            %0 = acme.Picky(%m) : f32[n,2]
            return %0
          }
        }
    "#]].assert_eq(&run("always = [\"acme.Picky\"]", body));
}
