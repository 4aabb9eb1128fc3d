//! Calls of the module's functions, by `call` and by their name: what is said of the one holds for the other.

use expect_test::expect;

use crate::support::{check, check_stays};

const DCE: &str = "relax.transform.DeadCodeElimination";
const CSE: &str = "relax.transform.EliminateCommonSubexpr";

#[test]
fn unused_calls_of_pure_functions_go() {
    check(
        DCE,
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %0 = acme.F(%x) : f32[2]
    %1 = call @acme.F(%x) : f32[2]
    %2 = call @calls(%x) : f32[2]
    %3 = call @logs(%x) : f32[2]
    return %x
  }
  fn @acme.F(%v) -> (%w) opset("" = 17) {
    %0 = onnx.Relu(%v)
    return %0
  }
  fn @calls(%v) -> (%w) opset("" = 17) {
    %0 = call @acme.F(%v)
    return %0
  }
  fn @logs(%v) -> (%w) opset("" = 17, "acme" = 1) {
    %0 = acme.Log(%v)
    return %v
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
                %0 = call @logs(%x) : f32[2]
                return %x
              }
              fn @logs(%v: ?) -> (%w) opset("" = 17, "acme" = 1) {
                %0 = acme.Log(%v)
                return %v
              }
            }
        "#]],
    );
}

#[test]
fn calls_of_pure_functions_are_made_once() {
    check(
        CSE,
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %0 = acme.F(%x) : f32[2]
    %1 = acme.F(%x) : f32[2]
    %2 = call @calls(%0) : f32[2]
    %3 = call @calls(%1) : f32[2]
    %4 = call @acme.F(%1) : f32[2]
    %5 = onnx.Sum(%2, %3, %4) : f32[2]
    return %5
  }
  fn @acme.F(%v) -> (%w) opset("" = 17) {
    %0 = onnx.Relu(%v)
    return %0
  }
  fn @calls(%v) -> (%w) opset("" = 17) {
    %0 = call @acme.F(%v)
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
                %0 = acme.F(%x) : f32[2]
                %1 = call @calls(%0) : f32[2]
                %2 = call @acme.F(%0) : f32[2]
                %3 = onnx.Sum(%1, %1, %2) : f32[2]
                return %3
              }
              fn @acme.F(%v: ?) -> (%w) opset("" = 17) {
                %0 = onnx.Relu(%v)
                return %0
              }
              fn @calls(%v: ?) -> (%w) opset("" = 17) {
                %0 = call @acme.F(%v)
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn calls_of_what_is_random_or_calls_itself_are_made_as_often_as_before() {
    check_stays(
        CSE,
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %0 = call @draws(%x) : f32[2]
    %1 = call @draws(%x) : f32[2]
    %2 = call @again(%x) : f32[2]
    %3 = call @again(%x) : f32[2]
    %4 = call @logs(%x) : f32[2]
    %5 = call @logs(%x) : f32[2]
    %6 = onnx.Sum(%0, %1, %2, %3, %4, %5) : f32[2]
    return %6
  }
  fn @draws(%v) -> (%w) opset("" = 17) {
    %0 = onnx.RandomUniformLike(%v)
    return %0
  }
  fn @again(%v) -> (%w) opset("" = 17) {
    %0 = call @again(%v)
    return %0
  }
  fn @logs(%v) -> (%w) opset("" = 17, "acme" = 1) {
    %0 = acme.Log(%v)
    return %v
  }
}"#,
    );
}
