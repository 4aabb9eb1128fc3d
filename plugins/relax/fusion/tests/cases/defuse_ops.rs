//! Cases of `relax.transform.DefuseOps`: what was fused comes back as it was.

use expect_test::{Expect, expect};

use crate::support;

const FUSE: &str = "relax.transform.FuseOps";
const DEFUSE: &str = "relax.transform.DefuseOps";

/// Fuses, and gives back: the text is the same.
#[track_caller]
fn check_same(source: &str) {
    let run = |passes: &[&str]| {
        passdock::testing::run_on_text(&support::registry(), passes, source, |cx| cx)
    };
    let (plain, fused, back) = (
        run(&["relax.transform.InferType"]),
        run(&[FUSE]),
        run(&[FUSE, DEFUSE]),
    );
    assert_ne!(plain, fused);
    assert_eq!(back, plain);
}

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check(DEFUSE, source, expected);
}

#[test]
fn names_locations_and_order_come_back() {
    check_same(
        r#"module {
  fn @main(%x: f32[2,n], %y: f32[2,n]) -> (%e: f32[2,n], %f: f32[2,n]) opset("" = 17) {
    %half = const f32[] 0.5
    %also = const f32[] 0.5
    %a = onnx.Mul(%x, %half) : !f32[2,n] loc("m1")
    %b = onnx.Mul(%y, %also) : f32[2,n]
    %c = onnx.Neg(%a) : f32[2,n] loc("n1")
    %g = onnx.Softmax(%y) : f32[2,n]
    %d = onnx.Neg(%b) : f32[2,n] loc("n2")
    %e = onnx.Exp(%c) : f32[2,n]
    %f = onnx.Exp(%d) : f32[2,n]
    return %e, %f
  }
}"#,
    );
}

#[test]
fn documentation_and_metadata_come_back() {
    check_same(
        r#"module {
  fn @main(%x: f32[2]) -> (%b: f32[2], %d: f32[2]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[2] loc("e") doc("the first")
    %b = onnx.Neg(%a) : f32[2] meta {from = "here"}
    %c = onnx.Exp(%x) : f32[2]
    %d = onnx.Neg(%c) : f32[2] loc("one", "two")
    return %b, %d
  }
}"#,
    );
}

#[test]
fn ops_of_regions_come_back() {
    check_same(
        r#"module {
  fn @main(%c: bool[], %x: f32[2], %y: f32[2]) -> (%r: f32[2]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    %r = onnx.If(%c) : f32[2]
      region then_branch {
        %k = const f32[2] [1.0, 2.0]
        %d = onnx.Mul(%b, %k) : f32[2]
        %e = onnx.Add(%d, %y) : f32[2]
        yield %e
      }
      region else_branch {
        %k = const f32[2] [1.0, 2.0]
        %f = onnx.Mul(%b, %k) : f32[2]
        %g = onnx.Add(%f, %x) : f32[2]
        yield %g
      }
    return %r
  }
}"#,
    );
}

#[test]
fn a_constant_that_is_gone_is_made_again() {
    let source = r#"module {
  fn @main(%x: f32[2]) -> (%b: f32[2]) opset("" = 17) {
    %half = const f32[] 0.5
    %a = onnx.Mul(%x, %half) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    return %b
  }
}"#;
    support::check_all(
        &[FUSE, "relax.transform.DeadCodeElimination", DEFUSE],
        source,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%b: f32[2]) opset("" = 17) {
                %half = const f32[] 0.5
                %a = onnx.Mul(%x, %half) : f32[2]
                %b = onnx.Neg(%a) : f32[2]
                return %b
              }
            }
        "#]],
    );
}

#[test]
fn what_was_changed_since_stays_right() {
    // Names and places that are no longer right count for nothing, and dims are the call's.
    check(
        r#"module {
  fn @main(%x: f32[k,3]) -> (%y: f32[k,3]) opset("" = 17, "passdock.fused" = 1) {
    %a = passdock.fused.fused_exp_neg(%x) {names = ["one"], places = [900, -3]} : f32[k,3]
    %y = passdock.fused.fused_exp_neg(%a) {places = [0, 1]} : f32[k,3]
    return %y
  }
  fn @passdock.fused.fused_exp_neg(%x: f32[n,m]) -> (%y: f32[n,m]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1, param names = strings[], param places = ints[]} {
    %e = onnx.Exp(%x) : f32[n,m]
    %y = onnx.Neg(%e) : f32[n,m]
    return %y
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[k,3]) -> (%y: f32[k,3]) opset("" = 17) {
                %e = onnx.Exp(%x)
                %a = onnx.Neg(%e) : f32[k,3]
                %e_1 = onnx.Exp(%a)
                %y = onnx.Neg(%e_1) : f32[k,3]
                return %y
              }
            }
        "#]],
    );
}

#[test]
fn another_version_stays_a_call() {
    let source = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 18, "passdock.fused" = 1) {
    %y = passdock.fused.fused_exp_neg(%x) : f32[2]
    return %y
  }
  fn @passdock.fused.fused_exp_neg(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) attributes {Primitive = 1} {
    %e = onnx.Exp(%x) : f32[2]
    %y = onnx.Neg(%e) : f32[2]
    return %y
  }
}"#;
    support::check_stays(DEFUSE, source);
}

#[test]
fn functions_that_are_no_kernels_stay() {
    support::check_stays(
        DEFUSE,
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %y = acme.Block(%x) : f32[2]
    return %y
  }
  fn @acme.Block(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %y = onnx.Neg(%x) : f32[2]
    return %y
  }
}"#,
    );
}

#[test]
fn a_domain_stays_whose_ops_or_functions_stay() {
    let source = |more: &str, functions: &str| {
        format!(
            r#"module {{
  fn @main(%x: f32[4]) -> (%y: f32[4]) opset("" = 17, "passdock.fused" = 1, "acme" = 1) {{
    %a = passdock.fused.f(%x) : f32[4]
    %y = {more}(%a) : f32[4]
    return %y
  }}
  fn @passdock.fused.f(%x: f32[4]) -> (%y: f32[4]) opset("" = 17, "passdock.fused" = 1) attributes {{Primitive = 1}} {{
    %y = onnx.Exp(%x) : f32[4]
    return %y
  }}{functions}
}}"#
        )
    };
    let opsets = |source: String| {
        let registry = support::registry();
        let text = passdock::testing::run_on_text(&registry, &[DEFUSE], &source, |cx| cx);
        let header = text.lines().nth(1).unwrap_or_default().to_owned();
        header[header.find("opset").unwrap_or(0)..].to_owned()
    };
    let other = "\n  fn @passdock.fused.other(%x) -> (%y) opset(\"\" = 17) {\n    %y = onnx.Neg(%x)\n    return %y\n  }";
    // What isn't ours stays, used or not.
    expect![[r#"opset("" = 17, "acme" = 1) {"#]].assert_eq(&opsets(source("onnx.Neg", "")));
    expect![[r#"opset("" = 17, "passdock.fused" = 1, "acme" = 1) {"#]]
        .assert_eq(&opsets(source("passdock.fused.unknown", "")));
    expect![[r#"opset("" = 17, "passdock.fused" = 1, "acme" = 1) {"#]]
        .assert_eq(&opsets(source("onnx.Neg", other)));
}
