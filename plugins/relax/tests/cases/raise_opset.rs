//! Cases of `relax.transform.RaiseOpset`: what is raised with it, and what refuses.

use expect_test::{Expect, expect};
use passdock_plugin_api::OptionValue;

use crate::support;

#[track_caller]
fn check(to: i64, source: &str, expected: Expect) {
    expected.assert_eq(&run(to, source));
}

fn run(to: i64, source: &str) -> String {
    let options = OptionValue::Table(vec![("to".to_owned(), OptionValue::Int(to))]);
    let (pass, key) = ("relax.transform.RaiseOpset", "relax.RaiseOpset");
    support::run_saying(pass, key, options, source)
}

/// The first line of what is said of an op in `@main` that can't be raised.
fn refusal(from: i64, to: i64, op: &str) -> String {
    let source = format!(
        "module {{ fn @main(%x: f32[2,3], %s: f32[3], %u) -> (%y) opset(\"\" = {from}) {{ %y, %z = {op} return %y }} }}"
    );
    let said = run(to, &source);
    let line = said.lines().next().unwrap_or_default().to_owned();
    line.replace("error[relax::opset-not-raised]: ", "") + "\n"
}

#[test]
fn nothing_is_raised_without_an_option() {
    let source = r#"module {
  fn @main(%x: f32[2,1]) -> (%y: f32[2]) opset("" = 11) {
    %0 = onnx.Squeeze(%x) {axes = [1]} : f32[2]
    return %0
  }
}"#;
    support::check_stays("relax.transform.RaiseOpset", source);
    assert_eq!(run(0, source), run(11, source));
}

#[test]
fn opsets_are_raised_only() {
    check(
        7,
        r#"module { fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 11) { return %x } }"#,
        expect![[r#"
            warning[relax::opset-not-raised]: Opset 7 was asked for, and the model means opset 11: opsets are raised only, so nothing is done.
             |
             = in pass relax.transform.RaiseOpset of plugin relax
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 11) {
                return %x
              }
            }
        "#]],
    );
}

#[test]
fn an_opset_that_there_is_not_is_an_error() {
    check(
        99,
        r#"module { fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 11) { return %x } }"#,
        expect![
            "error[config]: Expected the field `to` of `relax.RaiseOpset` to be from 0 to 28, but got the int 99."
        ],
    );
}

#[test]
fn functions_and_regions_are_raised_and_share_constants() {
    check(
        20,
        r#"module {
  fn @main(%c: bool[], %x: f32[2,1,3]) -> (%y: f32[2,3], %z: f32[2,3]) opset("" = 11, "own" = 1) {
    %0 = onnx.If(%c) : f32[2,3]
      region then_branch {
        %1 = onnx.Squeeze(%x) {axes = [1]} : f32[2,3]
        yield %1
      }
      region else_branch {
        %2 = onnx.ReduceSum(%x) {axes = [1], keepdims = 0} : f32[2,3]
        yield %2
      }
    %3 = own.Halve(%0) : f32[2,3]
    return %0, %3
  }
  fn @own.Halve(%a: f32[2,3]) -> (%b: f32[2,3]) opset("" = 11) attributes {SkipOptimization = 1} {
    %0, %1 = onnx.Split(%a) {axis = 0} : f32[1,3], f32[1,3]
    %2 = onnx.Concat(%1, %0) {axis = 0} : f32[2,3]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[2,1,3]) -> (%y: f32[2,3], %z: f32[2,3]) opset("" = 20, "own" = 1) {
                %0 = const i64[1] [1]
                %1 = onnx.If(%c) : f32[2,3]
                  region then_branch {
                    %2 = onnx.Squeeze(%x, %0) : f32[2,3]
                    yield %2
                  }
                  region else_branch {
                    %3 = onnx.ReduceSum(%x, %0) {keepdims = 0} : f32[2,3]
                    yield %3
                  }
                %4 = own.Halve(%1) : f32[2,3]
                return %1, %4
              }
              fn @own.Halve(%a: f32[2,3]) -> (%b: f32[2,3]) opset("" = 20) attributes {SkipOptimization = 1} {
                %0, %1 = onnx.Split(%a) {axis = 0, num_outputs = 2} : f32[1,3], f32[1,3]
                %2 = onnx.Concat(%1, %0) {axis = 0} : f32[2,3]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn nothing_changes_if_one_op_refuses() {
    check(
        20,
        r#"module {
  fn @main(%x: f32[1,1,4,4], %s: f32[4]) -> (%y, %z) opset("" = 9, "own" = 1) {
    %0 = onnx.Unsqueeze(%x) {axes = [0]}
    %1 = onnx.Upsample(%x, %s) loc("up")
    %2 = onnx.Upsample(%1, %s)
    %3 = own.Hot(%2)
    return %0, %3
  }
  fn @own.Hot(%a) -> (%b) opset("" = 9) {
    %0 = const i64[] 3
    %1 = const f32[2] [0.0, 1.0]
    %2 = onnx.OneHot(%a, %0, %1)
    return %2
  }
}"#,
        expect![[r#"
            error[relax::opset-not-raised]: onnx.Upsample of opset 9 can't be raised to opset 20: version 10 doesn't have it any more.
             --> test.ir:4:5
              |
            4 |     %1 = onnx.Upsample(%x, %s) loc("up")
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.RaiseOpset of plugin relax, function @main, op1 (onnx.Upsample)
              = note: So it is with 1 more of the function.
            error[relax::opset-not-raised]: onnx.OneHot of opset 9 can't be raised to opset 20: it means something else from version 11 on.
              --> test.ir:12:5
               |
            12 |     %2 = onnx.OneHot(%a, %0, %1)
               |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
               |
               = in pass relax.transform.RaiseOpset of plugin relax, function @own.Hot, op0 (onnx.OneHot)
               = help: Nothing was changed. Nothing is in the way of opset 9; for a later one, export the model anew, or replace these ops first.
            error[error-diagnostics]: One or more error diagnostics were emitted, please check diagnostic render for output.
             |
             = in pass relax.transform.RaiseOpset of plugin relax"#]],
    );
}

#[test]
fn what_changed_its_meaning_is_named_with_its_version() {
    let said = [
        refusal(9, 13, "onnx.Upsample(%x, %s)"),
        refusal(9, 13, "onnx.OneHot(%x, %s, %x)"),
        refusal(
            18,
            21,
            "onnx.GroupNormalization(%x, %s, %s) {num_groups = 1}",
        ),
        refusal(16, 20, "onnx.GridSample(%x, %x) {mode = \"bicubic\"}"),
        refusal(
            10,
            22,
            "onnx.MaxPool(%x) {ceil_mode = 1, kernel_shape = [1]}",
        ),
        refusal(7, 11, "onnx.ConvTranspose(%x, %x) {output_shape = [3]}"),
        refusal(9, 13, "onnx.Nonsense(%x)"),
        refusal(9, 17, "onnx.LayerNormalization(%x, %s)"),
        refusal(6, 7, "onnx.Add(%x, %s) {broadcast = 1}"),
    ];
    expect![[r#"
        onnx.Upsample of opset 9 can't be raised to opset 13: version 10 doesn't have it any more.
        onnx.OneHot of opset 9 can't be raised to opset 13: it means something else from version 11 on.
        onnx.GroupNormalization of opset 18 can't be raised to opset 21: it means something else from version 21 on.
        onnx.GridSample of opset 16 can't be raised to opset 20: its attribute `mode` means something else from version 20 on.
        onnx.MaxPool of opset 10 can't be raised to opset 22: its attribute `ceil_mode` means something else from version 22 on.
        onnx.ConvTranspose of opset 7 can't be raised to opset 11: its attribute `output_shape` means something else from version 11 on.
        onnx.Nonsense of opset 9 can't be raised to opset 13: opset 9 has no such operator.
        onnx.LayerNormalization of opset 9 can't be raised to opset 17: opset 9 has no such operator.
        onnx.Add of opset 6 can't be raised to opset 7: it means something else from version 7 on.
    "#]].assert_eq(&said.concat());
}

#[test]
fn what_cannot_be_written_any_more_is_named() {
    let said = [
        refusal(9, 14, "onnx.BatchNormalization(%x, %s, %s, %s, %s)"),
        refusal(
            8,
            9,
            "onnx.BatchNormalization(%x, %s, %s, %s, %s) {spatial = 0}",
        ),
        refusal(6, 7, "onnx.BatchNormalization(%x, %s, %s, %s, %s)"),
        refusal(6, 7, "onnx.Dropout(%x)"),
        refusal(12, 13, "onnx.Unsqueeze(%x)"),
        refusal(12, 13, "onnx.Squeeze(%x) {axes = 1}"),
        refusal(10, 11, "onnx.Clip(%u) {max = 1.0}"),
        refusal(9, 10, "onnx.Slice(%x) {starts = [1]}"),
    ];
    expect![[r#"
        onnx.BatchNormalization of opset 9 can't be raised to opset 14: it is one of training (it has more than one result).
        onnx.BatchNormalization of opset 8 can't be raised to opset 9: it normalizes each element by itself (`spatial` is 0).
        onnx.BatchNormalization of opset 6 can't be raised to opset 7: it is one of training (`is_test` is 0).
        onnx.Dropout of opset 6 can't be raised to opset 7: it is one of training (`is_test` is 0).
        onnx.Unsqueeze of opset 12 can't be raised to opset 13: it has no axes.
        onnx.Squeeze of opset 12 can't be raised to opset 13: its attribute `axes` has another kind of value than it should.
        onnx.Clip of opset 10 can't be raised to opset 11: its operand's element type isn't known, or not one of floats.
        onnx.Slice of opset 9 can't be raised to opset 10: it has no starts or no ends.
    "#]].assert_eq(&said.concat());
}

#[test]
fn attributes_of_the_function_cannot_become_operands() {
    check(
        13,
        r#"module {
  fn @main(%x: f32[2,1]) -> (%y) opset("" = 11, "own" = 1) {
    %0 = own.F(%x) {axes = [1]}
    return %0
  }
  fn @own.F(%a) -> (%b) opset("" = 11) attributes {param axes} {
    %0 = onnx.Squeeze(%a) {axes = ref(axes, ints)}
    return %0
  }
}"#,
        expect![[r#"
            error[relax::opset-not-raised]: onnx.Squeeze of opset 11 can't be raised to opset 13: its attribute `axes` is one of the function's, and an operand can't be.
             --> test.ir:7:5
              |
            7 |     %0 = onnx.Squeeze(%a) {axes = ref(axes, ints)}
              |     ^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.RaiseOpset of plugin relax, function @own.F, op0 (onnx.Squeeze)
              = help: Nothing was changed. Nothing is in the way of opset 12; for a later one, export the model anew, or replace these ops first.
            error[error-diagnostics]: One or more error diagnostics were emitted, please check diagnostic render for output.
             |
             = in pass relax.transform.RaiseOpset of plugin relax"#]],
    );
}

#[test]
fn operators_that_lost_types_stay_for_those_that_are_left() {
    let with = |dtype: &str| {
        let source = format!(
            "module {{ fn @main(%x: {dtype}[2]) -> (%y: {dtype}[2]) opset(\"\" = 9) {{ %0 = onnx.Erf(%x) : {dtype}[2] return %0 }} }}"
        );
        run(13, &source)
    };
    expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 13) {
            %0 = onnx.Erf(%x) : f32[2]
            return %0
          }
        }
        error[relax::opset-not-raised]: onnx.Erf of opset 9 can't be raised to opset 13: from version 13 on it doesn't take i32.
         --> test.ir:1:63
          |
        1 | module { fn @main(%x: i32[2]) -> (%y: i32[2]) opset("" = 9) { %0 = onnx.Erf(%x) : i32[2] return %0 } }
          |                                                               ^^^^^^^^^^^^^^^^^
          |
          = in pass relax.transform.RaiseOpset of plugin relax, function @main, op0 (onnx.Erf)
          = help: Nothing was changed. Nothing is in the way of opset 12; for a later one, export the model anew, or replace these ops first.
        error[error-diagnostics]: One or more error diagnostics were emitted, please check diagnostic render for output.
         |
         = in pass relax.transform.RaiseOpset of plugin relax"#]].assert_eq(&(with("f32") + &with("i32")));
}

#[test]
fn a_function_of_an_operators_name_is_anybodys_guess() {
    check(
        13,
        r#"module {
  fn @main(%x: f32[2]) -> (%y) opset("" = 11) {
    %0 = onnx.Relu(%x)
    return %0
  }
  fn @onnx.Relu(%a) -> (%b) opset("" = 11) {
    %0 = onnx.Neg(%a)
    return %0
  }
}"#,
        expect![[r#"
            error[relax::opset-not-raised]: onnx.Relu of opset 11 can't be raised to opset 13: the module has a function of its name, and whether the operator is meant can't be known.
             --> test.ir:3:5
              |
            3 |     %0 = onnx.Relu(%x)
              |     ^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.RaiseOpset of plugin relax, function @main, op0 (onnx.Relu)
              = help: Nothing was changed. Nothing is in the way of opset 11; for a later one, export the model anew, or replace these ops first.
            error[error-diagnostics]: One or more error diagnostics were emitted, please check diagnostic render for output.
             |
             = in pass relax.transform.RaiseOpset of plugin relax"#]],
    );
}
