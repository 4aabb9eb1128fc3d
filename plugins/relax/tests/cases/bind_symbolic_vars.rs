//! Cases of `relax.transform.BindSymbolicVars`.

use expect_test::{Expect, expect};

use crate::support;

#[track_caller]
fn check(options: &str, source: &str, expected: Expect) {
    let pass = "relax.transform.BindSymbolicVars";
    support::check_options(pass, options, source, expected);
}

const LINEAR: &str = r#"module {
  fn @main(%x: f32[batch,seq,4], %mask: bool[batch,seq]) -> (%y: f32[batch,seq*4]) opset("" = 17) {
    %flat = const i64[2] [0, -1]
    %0 = onnx.Relu(%x) : f32[batch,seq,4]
    %1 = onnx.Reshape(%0, %flat) : f32[batch,seq*4]
    return %1
  }
}"#;

#[test]
fn all_types_follow() {
    check(
        "batch = 2, seq = 8",
        LINEAR,
        expect![[r#"
        module {
          fn @main(%x: f32[2,8,4], %mask: bool[2,8]) -> (%y: f32[2,32]) opset("" = 17) {
            %flat = const i64[2] [0, -1]
            %0 = onnx.Relu(%x) : f32[2,8,4]
            %1 = onnx.Reshape(%0, %flat) : f32[2,32]
            return %1
          }
        }
    "#]],
    );
}

#[test]
fn one_of_two_symbols_stays() {
    check(
        "seq = 8",
        LINEAR,
        expect![[r#"
        module {
          fn @main(%x: f32[batch,8,4], %mask: bool[batch,8]) -> (%y: f32[batch,32]) opset("" = 17) {
            %flat = const i64[2] [0, -1]
            %0 = onnx.Relu(%x) : f32[batch,8,4]
            %1 = onnx.Reshape(%0, %flat) : f32[batch,32]
            return %1
          }
        }
    "#]],
    );
}

#[test]
fn nothing_to_bind_changes_nothing() {
    check(
        "",
        LINEAR,
        expect![[r#"
        module {
          fn @main(%x: f32[batch,seq,4], %mask: bool[batch,seq]) -> (%y: f32[batch,seq*4]) opset("" = 17) {
            %flat = const i64[2] [0, -1]
            %0 = onnx.Relu(%x) : f32[batch,seq,4]
            %1 = onnx.Reshape(%0, %flat) : f32[batch,seq*4]
            return %1
          }
        }
    "#]],
    );
}

#[test]
fn a_symbol_that_the_model_does_not_have_is_an_error() {
    check(
        "bacth = 1",
        LINEAR,
        expect![[r#"
            error[config]: The model has no dim symbol `bacth`. Did you mean `batch`? There are: `batch`, `seq`.
             |
             = in pass relax.transform.BindSymbolicVars of plugin relax"#]],
    );
    check(
        "x = 1",
        LINEAR,
        expect![[r#"
            error[config]: The model has no dim symbol `x`. There are: `batch`, `seq`.
             |
             = in pass relax.transform.BindSymbolicVars of plugin relax"#]],
    );
}

#[test]
fn sizes_are_positive_integers() {
    check(
        "batch = 0",
        LINEAR,
        expect![
            "error[config]: Expected `batch` of `relax.transform.BindSymbolicVars` to be an int ≥ 1, but got the int 0."
        ],
    );
    check(
        "batch = 1.5",
        LINEAR,
        expect![
            "error[config]: Expected `batch` of `relax.transform.BindSymbolicVars` to be an int ≥ 1, but got the float 1.5."
        ],
    );
}

#[test]
fn a_size_that_an_op_contradicts_is_an_error() {
    check(
        "n = 3",
        r#"module {
  fn @main(%x: f32[n,4]) -> (%y: f32[n,4]) opset("" = 17) {
    %w = const f32[2,4] splat(1.0)
    %0 = onnx.Add(%x, %w)
    return %0
  }
}"#,
        expect![[r#"
            error[config]: It can't be that `n` = 3: The value of the result `y` is of type f32[2,4] and would have to be of type f32[3,4].
             |
             = in pass relax.transform.BindSymbolicVars of plugin relax, function @main"#]],
    );
}

#[test]
fn a_size_that_an_op_inside_contradicts_is_an_error() {
    check(
        "n = 3",
        r#"module {
  fn @main(%x: f32[n,4]) -> (%y: f32[]) opset("" = 17) {
    %w = const f32[2,4] splat(1.0)
    %0 = onnx.Add(%x, %w)
    %1 = onnx.ReduceSum(%0) {keepdims = 0}
    return %1
  }
}"#,
        expect![[r#"
            error[config]: It can't be that `n` = 3: op0 (onnx.Add) is wrong: 3 and 2 don't broadcast
             --> test.ir:4:5
              |
            4 |     %0 = onnx.Add(%x, %w)
              |     ^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.BindSymbolicVars of plugin relax, function @main, op0 (onnx.Add)
              = by the definition of onnx.Add of plugin onnx-ops"#]],
    );
}

#[test]
fn a_size_that_a_default_or_a_result_contradicts_is_an_error() {
    check(
        "n = 3",
        r#"module {
  fn @main(%x: f32[n] = const f32[2] [1.0, 2.0]) -> (%y: f32[n]) opset("" = 17) {
    %0 = onnx.Relu(%x)
    return %0
  }
}"#,
        expect![[r#"
            error[config]: It can't be that `n` = 3: The default of %x is of type f32[2] and would have to be of type f32[3].
             |
             = in pass relax.transform.BindSymbolicVars of plugin relax, function @main"#]],
    );
    check(
        "n = 3",
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[n]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[2]
    return %0
  }
}"#,
        expect![[r#"
            error[config]: It can't be that `n` = 3: The value of the result `y` is of type f32[2] and would have to be of type f32[3].
             |
             = in pass relax.transform.BindSymbolicVars of plugin relax, function @main"#]],
    );
}

#[test]
fn a_size_that_makes_another_negative_is_an_error() {
    check(
        "n = 3",
        r#"module {
  fn @main(%x: f32[n]) -> (%y: f32[n + -4]) opset("" = 17) {
    %0 = acme.Crop(%x) : f32[n + -4]
    return %0
  }
}"#,
        expect![[r#"
            error[config]: It can't be that `n` = 3: A size of the value v1, of type f32[n-4], would be negative.
             |
             = in pass relax.transform.BindSymbolicVars of plugin relax, function @main"#]],
    );
}

#[test]
fn a_called_function_follows_if_its_callers_agree() {
    check(
        "n = 3, m = 3, k = 4",
        r#"module {
  fn @main(%x: f32[n], %z: f32[m], %w: f32[k]) -> (%y: f32[n], %u: f32[m], %v: f32[k], %t: f32[n]) opset("" = 17, "acme" = 1) {
    %0 = acme.Same(%x) : f32[n]
    %1 = acme.Same(%z) : f32[m]
    %2 = acme.Other(%w) : f32[k]
    %3 = acme.Other(%x) : f32[n]
    return %0, %1, %2, %3
  }
  fn @acme.Same(%a: f32[n]) -> (%b: f32[n]) opset("" = 17) {
    %0 = onnx.Relu(%a) : f32[n]
    return %0
  }
  fn @acme.Other(%a: f32[n]) -> (%b: f32[n]) opset("" = 17) {
    %0 = onnx.Relu(%a) : f32[n]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[3], %z: f32[3], %w: f32[4]) -> (%y: f32[3], %u: f32[3], %v: f32[4], %t: f32[3]) opset("" = 17, "acme" = 1) {
                %0 = acme.Same(%x) : f32[3]
                %1 = acme.Same(%z) : f32[3]
                %2 = acme.Other(%w) : f32[4]
                %3 = acme.Other(%x) : f32[3]
                return %0, %1, %2, %3
              }
              fn @acme.Same(%a: f32[3]) -> (%b: f32[3]) opset("" = 17) {
                %0 = onnx.Relu(%a) : f32[3]
                return %0
              }
              fn @acme.Other(%a: f32[n]) -> (%b: f32[n]) opset("" = 17) {
                %0 = onnx.Relu(%a) : f32[n]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_symbol_of_a_called_function_only_is_not_the_models() {
    check(
        "inner = 3",
        r#"module {
  fn @main(%x: f32[n]) -> (%y: f32[n]) opset("" = 17, "acme" = 1) {
    %0 = acme.Same(%x) : f32[n]
    return %0
  }
  fn @acme.Same(%a: f32[inner]) -> (%b: f32[inner]) opset("" = 17) {
    %0 = onnx.Relu(%a) : f32[inner]
    return %0
  }
}"#,
        expect![[r#"
            error[config]: The model has no dim symbol `inner`. There are: `n`.
             |
             = in pass relax.transform.BindSymbolicVars of plugin relax"#]],
    );
}
