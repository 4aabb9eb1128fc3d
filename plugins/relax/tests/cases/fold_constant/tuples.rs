//! The IR's own `if` and tuples.

use expect_test::expect;

use super::{check, check_stays};

#[test]
fn a_constant_if_is_its_branch() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2], %z: f32[2]) opset("" = 17) {
    %t = const bool[] true
    %0, %1 = if(%t) : f32[2], f32[2]
    region then_branch -> (%a: f32[2], %b: f32[2]) {
      %2 = onnx.Relu(%x) : f32[2]
      yield %2, %x
    }
    region else_branch -> (%a: f32[2], %b: f32[2]) {
      %2 = onnx.Neg(%x) : f32[2]
      yield %2, %2
    }
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2], %z: f32[2]) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[2]
                return %0, %x
              }
            }
        "#]],
    );
}

#[test]
fn a_condition_that_comes_to_a_constant() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %t = const bool[] true
    %1 = onnx.Not(%t) : bool[]
    %0 = if(%1) : f32[2]
    region then_branch -> (%a: f32[2]) {
      %2 = onnx.Relu(%x) : f32[2]
      yield %2
    }
    region else_branch -> (%a: f32[2]) {
      %2 = onnx.Neg(%x) : f32[2]
      yield %2
    }
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %0 = onnx.Neg(%x) : f32[2]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn what_isnt_decided_stays() {
    check_stays(
        r#"module {
  fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = if(%c) : f32[2]
    region then_branch -> (%a: f32[2]) {
      %1 = onnx.Relu(%x) : f32[2]
      yield %1
    }
    region else_branch -> (%a: f32[2]) {
      %1 = onnx.Neg(%x) : f32[2]
      yield %1
    }
    %f = const bool[] false
    %2 = if(%f) : f32[2]
    region then_branch -> (%a: f32[2]) {
      %3 = onnx.Abs(%x) : f32[2]
      yield %3
    }
    %4 = onnx.Add(%0, %2) : f32[2]
    return %4
  }
}"#,
        expect![[""]],
    );
}

#[test]
fn fields_of_tuples_of_constants_fold_and_lead_on() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] [1.0, 2.0]
    %b = const f32[2] [3.0, 4.0]
    %0 = onnx.Add(%a, %b) : f32[2]
    %1 = tuple(%0, %b) : tuple<f32[2], f32[2]>
    %2 = tuple(%1, %a) : tuple<tuple<f32[2], f32[2]>, f32[2]>
    %3 = tuple_get(%2) {index = 0} : tuple<f32[2], f32[2]>
    %4 = tuple_get(%3) {index = 0} : f32[2]
    %5 = onnx.Neg(%4) : f32[2]
    %6 = onnx.Mul(%5, %x) : f32[2]
    return %6
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %0 = const f32[2] [-4.0, -6.0]
                %1 = onnx.Mul(%0, %x) : f32[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_tuple_out_of_an_if_is_one_at_hand() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %t = const bool[] true
    %a = const f32[2] [1.0, 2.0]
    %0 = if(%t) : tuple<f32[2], f32[2]>
    region then_branch -> (%a: tuple<f32[2], f32[2]>) {
      %1 = tuple(%x, %a) : tuple<f32[2], f32[2]>
      yield %1
    }
    region else_branch -> (%a: tuple<f32[2], f32[2]>) {
      %1 = tuple(%a, %x) : tuple<f32[2], f32[2]>
      yield %1
    }
    %2 = tuple_get(%0) {index = 1} : f32[2]
    %3 = onnx.Neg(%2) : f32[2]
    %4 = onnx.Mul(%3, %x) : f32[2]
    return %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %0 = const f32[2] [-1.0, -2.0]
                %1 = onnx.Mul(%0, %x) : f32[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_field_of_what_an_op_gives_stays() {
    check_stays(
        r#"module {
  fn @main() -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %a = const f32[2] [1.0, 2.0]
    %0 = tuple(%a, %a) : tuple<f32[2], f32[2]>
    %1 = acme.Swap(%0) : tuple<f32[2], f32[2]>
    %2 = tuple_get(%1) {index = 0} : f32[2]
    return %2
  }
}"#,
        expect![[""]],
    );
}
