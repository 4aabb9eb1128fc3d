//! Cases of `relax.transform.CanonicalizeBindings`.

use expect_test::{Expect, expect};

use crate::support;

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check("relax.transform.CanonicalizeBindings", source, expected);
}

#[test]
fn a_chain_of_copies_is_the_original() {
    check(
        r#"module {
  fn @main(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) {
    %0 = onnx.Identity(%x) : f32[4]
    %1 = onnx.Identity(%0) : f32[4]
    %2 = onnx.Relu(%1) : f32[4]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[4]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_copy_of_a_result_that_goes_out_is_the_result() {
    check(
        r#"module {
  fn @main(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[4]
    %1 = onnx.Identity(%0) : f32[4]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[4]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn copies_that_export_would_make_again_stay() {
    check(
        r#"module {
  fn @main(%x: f32[4]) -> (%y: f32[4], %z: f32[4], %w: f32[4]) opset("" = 17) {
    %0 = onnx.Identity(%x) : f32[4]
    %1 = onnx.Relu(%x) : f32[4]
    %2 = onnx.Identity(%1) : f32[4]
    return %0, %1, %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%y: f32[4], %z: f32[4], %w: f32[4]) opset("" = 17) {
                %0 = onnx.Identity(%x) : f32[4]
                %1 = onnx.Relu(%x) : f32[4]
                %2 = onnx.Identity(%1) : f32[4]
                return %0, %1, %2
              }
            }
        "#]],
    );
}

#[test]
fn a_field_of_a_tuple_at_hand_is_the_operand() {
    check(
        r#"module {
  fn @main(%x: f32[4], %y: f32[4]) -> (%z: f32[4]) {
    %0 = tuple(%x, %y) : tuple<f32[4], f32[4]>
    %1 = tuple_get(%0) {index = 1} : f32[4]
    %2 = onnx.Relu(%1) : f32[4]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4], %y: f32[4]) -> (%z: f32[4]) {
                %0 = tuple(%x, %y) : tuple<f32[4], f32[4]>
                %1 = onnx.Relu(%y) : f32[4]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_tuple_of_all_fields_of_another_is_that_one() {
    check(
        r#"module {
  fn @main(%x: f32[4]) -> (%z: f32[4]) opset("acme" = 1) {
    %t = acme.Pair(%x) : tuple<f32[4], f32[4]>
    %a = tuple_get(%t) {index = 0} : f32[4]
    %b = tuple_get(%t) {index = 1} : f32[4]
    %same = tuple(%a, %b) : tuple<f32[4], f32[4]>
    %turned = tuple(%b, %a) : tuple<f32[4], f32[4]>
    %part = tuple(%a) : tuple<f32[4]>
    %0 = acme.Use(%same, %turned, %part) : f32[4]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%z: f32[4]) opset("acme" = 1) {
                %t = acme.Pair(%x) : tuple<f32[4], f32[4]>
                %a = tuple_get(%t) {index = 0} : f32[4]
                %b = tuple_get(%t) {index = 1} : f32[4]
                %turned = tuple(%b, %a) : tuple<f32[4], f32[4]>
                %part = tuple(%a) : tuple<f32[4]>
                %0 = acme.Use(%t, %turned, %part) : f32[4]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_copy_of_which_something_else_is_declared_stays() {
    // Runtimes run it, and give out what comes.
    support::check_stays(
        "relax.transform.CanonicalizeBindings",
        r#"module {
  fn @main(%x: f32[1,2]) -> (%y: f32[n,3]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[1,2]
    %1 = onnx.Identity(%0) : f32[n,3]
    return %1
  }
}"#,
    );
}
