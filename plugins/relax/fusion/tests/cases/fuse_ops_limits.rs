//! Cases of `relax.transform.FuseOps`: its options, and what it leaves alone.

use std::fmt::Write;

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.FuseOps";

#[track_caller]
fn check(options: &str, source: &str, expected: Expect) {
    support::check_options(PASS, options, source, expected);
}

/// A chain of ops.
fn chain(ops: usize) -> String {
    let mut body = String::new();
    for at in 1..=ops {
        writeln!(body, "    %v{at} = onnx.Neg(%v{}) : f32[2]", at - 1).expect("text");
    }
    format!(
        "module {{\n  fn @main(%v0: f32[2]) -> (%v{ops}: f32[2]) opset(\"\" = 17) {{\n{body}    \
         return %v{ops}\n  }}\n}}"
    )
}

/// The number of ops of each function.
fn sizes(text: &str) -> Vec<usize> {
    let functions = text.split("  fn @").skip(1);
    functions
        .map(|f| f.lines().filter(|line| line.starts_with("    %")).count())
        .collect()
}

#[test]
fn groups_are_no_larger_than_the_limit() {
    let made = |depth: &str| sizes(&support::run_options(PASS, depth, &chain(10)));
    assert_eq!(made("max_depth = 256"), [1, 10]);
    assert_eq!(made("max_depth = 4"), [3, 4, 2]);
    assert_eq!(made("max_depth = 1"), [10]);
    assert_eq!(made("max_depth = 0"), [10]);
}

#[test]
fn the_limit_is_256_ops() {
    assert_eq!(sizes(&support::run(PASS, &chain(600))), [3, 256, 88]);
}

const SUM: &str = r#"module {
  fn @main(%a: f32[2], %b: f32[2], %c: f32[2], %d: f32[2]) -> (%z: f32[2]) opset("" = 17) {
    %one = const f32[] 1.0
    %v = onnx.Add(%a, %one) : f32[2]
    %w = onnx.Add(%v, %b) : f32[2]
    %x = onnx.Mul(%w, %c) : f32[2]
    %y = onnx.Sub(%x, %d) : f32[2]
    %z = onnx.Neg(%y) : f32[2]
    return %z
  }
}"#;

#[test]
fn groups_have_no_more_arguments_than_the_limit() {
    check(
        "max_args = 3",
        SUM,
        expect![[r#"
        module {
          fn @main(%a: f32[2], %b: f32[2], %c: f32[2], %d: f32[2]) -> (%z: f32[2]) opset("" = 17, "passdock.fused" = 1) {
            %one = const f32[] 1.0
            %w = passdock.fused.fused_add_add(%a, %b) : f32[2]
            %x = onnx.Mul(%w, %c) : f32[2]
            %z = passdock.fused.fused_sub_neg(%x, %d) : f32[2]
            return %z
          }
          fn @passdock.fused.fused_add_add(%a: f32[2], %b: f32[2]) -> (%w: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
            %one = const f32[] 1.0
            %v = onnx.Add(%a, %one) : f32[2]
            %w = onnx.Add(%v, %b) : f32[2]
            return %w
          }
          fn @passdock.fused.fused_sub_neg(%x: f32[2], %d: f32[2]) -> (%z: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
            %y = onnx.Sub(%x, %d) : f32[2]
            %z = onnx.Neg(%y) : f32[2]
            return %z
          }
        }
    "#]],
    );
    check(
        "max_args = 5",
        SUM,
        expect![[r#"
        module {
          fn @main(%a: f32[2], %b: f32[2], %c: f32[2], %d: f32[2]) -> (%z: f32[2]) opset("" = 17, "passdock.fused" = 1) {
            %one = const f32[] 1.0
            %z = passdock.fused.fused_add_add_mul_sub_neg(%a, %b, %c, %d) : f32[2]
            return %z
          }
          fn @passdock.fused.fused_add_add_mul_sub_neg(%a: f32[2], %b: f32[2], %c: f32[2], %d: f32[2]) -> (%z: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
            %one = const f32[] 1.0
            %v = onnx.Add(%a, %one) : f32[2]
            %w = onnx.Add(%v, %b) : f32[2]
            %x = onnx.Mul(%w, %c) : f32[2]
            %y = onnx.Sub(%x, %d) : f32[2]
            %z = onnx.Neg(%y) : f32[2]
            return %z
          }
        }
    "#]],
    );
}

#[test]
fn at_level_0_nothing_is_fused() {
    let plain = passdock::testing::run_on_text(&support::registry(), &[], SUM, |cx| cx);
    assert_eq!(support::run_options(PASS, "fuse_opt_level = 0", SUM), plain);
    let run = |level| {
        passdock::testing::run_on_text(&support::registry(), &[PASS], SUM, |cx| cx.opt_level(level))
    };
    assert_eq!(run(0), plain);
    assert_ne!(run(1), plain);
}

#[test]
fn kernels_and_what_skips_optimization_stay() {
    support::check_stays(
        PASS,
        r#"module {
  fn @main(%x: f32[2]) -> (%b: f32[2]) opset("" = 17, "acme" = 1) attributes {SkipOptimization = 1} {
    %a = acme.Block(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    return %b
  }
  fn @acme.Block(%x: f32[2]) -> (%b: f32[2]) opset("" = 17) attributes {Primitive = 1} {
    %a = onnx.Exp(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    return %b
  }
  fn @acme.Other(%x: f32[2]) -> (%b: f32[2]) opset("" = 17) attributes {Compiler = "npu"} {
    %a = onnx.Exp(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    return %b
  }
}"#,
    );
}

#[test]
fn a_second_run_changes_nothing() {
    let once = support::run(PASS, SUM);
    support::check_stays(PASS, &once);
}

#[test]
fn every_function_of_the_module_is_gone_through() {
    check(
        "max_depth = 256",
        r#"module {
  fn @main(%x: f32[2]) -> (%c: f32[2]) opset("" = 17, "acme" = 1) {
    %a = onnx.Exp(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    %c = acme.Block(%b) : f32[2]
    return %c
  }
  fn @acme.Block(%x: f32[2]) -> (%b: f32[2]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    return %b
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%c: f32[2]) opset("" = 17, "acme" = 1, "passdock.fused" = 1) {
                %b = passdock.fused.fused_exp_neg(%x) : f32[2]
                %c = acme.Block(%b) : f32[2]
                return %c
              }
              fn @acme.Block(%x: f32[2]) -> (%b: f32[2]) opset("" = 17, "passdock.fused" = 1) {
                %b = passdock.fused.fused_exp_neg_1(%x) : f32[2]
                return %b
              }
              fn @passdock.fused.fused_exp_neg(%x: f32[2]) -> (%b: f32[2]) opset("" = 17, "acme" = 1, "passdock.fused" = 1) attributes {Primitive = 1} {
                %a = onnx.Exp(%x) : f32[2]
                %b = onnx.Neg(%a) : f32[2]
                return %b
              }
              fn @passdock.fused.fused_exp_neg_1(%x: f32[2]) -> (%b: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %a = onnx.Exp(%x) : f32[2]
                %b = onnx.Neg(%a) : f32[2]
                return %b
              }
            }
        "#]],
    );
}

#[test]
fn what_nobody_uses_is_no_group() {
    support::check_stays(
        PASS,
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    %y = onnx.Abs(%x) : f32[2]
    return %y
  }
}"#,
    );
}

#[test]
fn a_limit_is_not_negative() {
    let said = |options| support::run_options(PASS, options, SUM);
    expect!["error[config]: Expected the field `max_depth` of `relax.transform.FuseOps` to be ≥ 0, but got the int -1."].assert_eq(&said("max_depth = -1"));
    assert!(said("max_args = -1").starts_with("error[config]"));
}
