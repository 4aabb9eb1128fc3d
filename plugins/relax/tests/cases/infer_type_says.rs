//! What `relax.transform.InferType` says of models that contradict themselves.

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use passdock::Registry;

/// Runs the pass, and compares what comes out and what is said.
#[track_caller]
pub(crate) fn check(source: &str, expected: Expect) {
    let registry = Registry::new();
    for plugin in [
        passdock_plugins_onnx_ops::PLUGIN,
        passdock_plugins_relax::PLUGIN,
    ] {
        registry
            .load_static(plugin)
            .expect("the standard plugins are well made");
    }
    let said = Arc::new(Mutex::new(String::new()));
    let sink = said.clone();
    let passes = ["relax.transform.InferType"];
    let text = passdock::testing::run_on_text(&registry, &passes, source, |context| {
        context.on_diagnostic(move |diagnostic| {
            let mut sink = sink.lock().expect("nobody else holds it");
            *sink += &diagnostic.render(false);
            sink.push('\n');
        })
    });
    let said = said.lock().expect("the pass is done");
    expected.assert_eq(&format!("{text}\n{said}"));
}

#[test]
fn a_type_that_the_model_declares_is_checked() {
    check(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y: f32[4]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[4]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[2,3]
                return %0
              }
            }

            warning[relax::infer-type]: onnx.Relu gives f32[2,3], and f32[4] is declared.
             --> test.ir:3:10
              |
            3 |     %0 = onnx.Relu(%x) : f32[4]
              |     --   ^^^^^^^^^
              |     |
              |     is declared f32[4]
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op0 (onnx.Relu)
              = by the definition of onnx.Relu of plugin onnx-ops
              = help: The inferred type is used: correct the declared one, or the op.
        "#]],
    );
}

#[test]
fn one_wrong_result_does_not_hide_the_others() {
    check(
        r#"module {
  fn @main(%x: f32[4,3]) -> (%y, %z) opset("" = 17) {
    %0, %1 = onnx.Split(%x) {axis = 0} : f32[7,3], f32[?,3]
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,3]) -> (%y, %z) opset("" = 17) {
                %0, %1 = onnx.Split(%x) {axis = 0} : f32[2,3], f32[2,3]
                return %0, %1
              }
            }

            warning[relax::infer-type]: onnx.Split gives f32[2,3], and f32[7,3] is declared.
             --> test.ir:3:14
              |
            3 |     %0, %1 = onnx.Split(%x) {axis = 0} : f32[7,3], f32[?,3]
              |     --       ^^^^^^^^^^
              |     |
              |     is declared f32[7,3]
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op0 (onnx.Split)
              = by the definition of onnx.Split of plugin onnx-ops
              = help: The inferred type is used: correct the declared one, or the op.
        "#]],
    );
}

#[test]
fn regions_are_the_attributes_of_their_names() {
    check(
        r#"module {
  fn @main(%x: f32[2,3], %c: bool[]) -> (%y, %z) opset("" = 17) {
    %0 = onnx.If(%c)
      region then_branch {
        yield %x
      }
      region else_branch {
        yield %x
      }
    %1 = onnx.If(%c)
      region then_branch {
        yield %x
      }
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %c: bool[]) -> (%y, %z) opset("" = 17) {
                %0 = onnx.If(%c) : f32[2,3]
                  region then_branch {
                    yield %x
                  }
                  region else_branch {
                    yield %x
                  }
                %1 = onnx.If(%c)
                  region then_branch {
                    yield %x
                  }
                return %0, %1
              }
            }

            warning[relax::malformed-op]: onnx.If lacks its attribute `else_branch`.
              --> test.ir:10:5
               |
            10 |     %1 = onnx.If(%c)
               |     ^^^^^^^^^^^^^^^^
               |
               = in pass relax.transform.InferType of plugin relax, function @main, op3 (onnx.If)
               = help: `passdock list ops onnx.If` shows its operands and attributes.
        "#]],
    );
}

#[test]
fn what_is_given_out_is_checked() {
    check(
        r#"module {
  fn @main(%x: f32[2,3], %c: bool[]) -> (%y: f32[4], %z) opset("" = 17) {
    %0 = onnx.Relu(%x)
    %1 = onnx.If(%c) {then_branch = region, else_branch = region}
      region then_branch -> (%a: i64[2,3]) {
        %2 = onnx.Neg(%x)
        yield %2
      }
      region else_branch {
        yield %x
      }
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %c: bool[]) -> (%y: f32[2,3], %z) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[2,3]
                %1 = onnx.If(%c) {then_branch = region, else_branch = region} : f32[2,3]
                  region then_branch -> (%a: f32[2,3]) {
                    %2 = onnx.Neg(%x) : f32[2,3]
                    yield %2
                  }
                  region else_branch {
                    yield %x
                  }
                return %0, %1
              }
            }

            warning[relax::infer-type]: What is given out is f32[2,3], and i64[2,3] is declared.
              |
              | yield %2
              |       ^^ is declared i64[2,3]
              |
             ::: test.ir:6:9
              |
            6 |         %2 = onnx.Neg(%x)
              |         -- is f32[2,3]
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op3 (yield)
              = help: The inferred type is used: correct the declared one, or the op.
            warning[relax::infer-type]: What is given out is f32[2,3], and f32[4] is declared.
              |
              | return %0, %1
              |        ^^ is declared f32[4]
              |
             ::: test.ir:3:5
              |
            3 |     %0 = onnx.Relu(%x)
              |     -- is f32[2,3]
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op5 (return)
              = help: The inferred type is used: correct the declared one, or the op.
        "#]],
    );
}

#[test]
fn what_goes_into_a_region_is_checked() {
    check(
        r#"module {
  fn @main(%x: f32[2,3], %n: i64[]) -> (%y) opset("" = 17) {
    %go = const bool[] true
    %0 = onnx.Loop(%n, %go, %x) {body = region}
      region body (%i: i64[], %goes: bool[], %v: f32[7]) {
        yield %goes, %v
      }
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %n: i64[]) -> (%y) opset("" = 17) {
                %go = const bool[] true
                %0 = onnx.Loop(%n, %go, %x) {body = region} : f32[2,3]
                  region body(%i: i64[], %goes: bool[], %v: f32[2,3]) {
                    yield %goes, %v
                  }
                return %0
              }
            }

            warning[relax::infer-type]: onnx.Loop takes what its region declares as f32[7], and is given something else.
             --> test.ir:4:29
              |
            4 |     %0 = onnx.Loop(%n, %go, %x) {body = region}
              |                             ^^ is f32[2,3]
              |
              | yield %goes, %v
              |              -- is declared f32[7]
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op0 (onnx.Loop)
              = help: The inferred type is used: correct the declared one, or the op.
        "#]],
    );
}

#[test]
fn operands_of_calls_are_checked() {
    check(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y) opset("" = 17) {
    %0 = acme.F(%x)
    return %0
  }
  fn @acme.F(%v: f32[5]) -> (%w: f32[5]) opset("" = 17) {
    %0 = onnx.Transpose(%v) {perm = [0]}
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y) opset("" = 17) {
                %0 = acme.F(%x) : f32[5]
                return %0
              }
              fn @acme.F(%v: f32[5]) -> (%w: f32[5]) opset("" = 17) {
                %0 = onnx.Transpose(%v) {perm = [0]} : f32[5]
                return %0
              }
            }

            warning[relax::infer-type]: @acme.F is called with f32[2,3], and f32[5] is declared.
             --> test.ir:3:17
              |
            3 |     %0 = acme.F(%x)
              |                 ^^ is f32[2,3]
              |
             ::: test.ir:7:25
              |
            7 |     %0 = onnx.Transpose(%v) {perm = [0]}
              |                         -- is declared f32[5]
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op0 (acme.F)
              = help: The declared type was kept: correct it, or the call.
            warning[relax::infer-type]: In this call of @acme.F: op1 (onnx.Transpose) is wrong: a perm of 1 for 2 dims
             --> test.ir:3:5
              |
            3 |     %0 = acme.F(%x)
              |     ^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op0 (acme.F)
              = by the definition of onnx.Transpose of plugin onnx-ops
        "#]],
    );
}

#[test]
fn operands_that_do_not_fit_are_reported() {
    check(
        r#"module {
  fn @main(%x: f32[2,3], %z: f32[5]) -> (%y) opset("" = 17) {
    %0 = onnx.Add(%x, %z)
    %1 = onnx.Add(%x, %z) : f32[2,3]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %z: f32[5]) -> (%y) opset("" = 17) {
                %0 = onnx.Add(%x, %z)
                %1 = onnx.Add(%x, %z) : f32[2,3]
                return %0
              }
            }

            warning[relax::infer-type]: op0 (onnx.Add) is wrong: 3 and 5 don't broadcast
             --> test.ir:3:5
              |
            3 |     %0 = onnx.Add(%x, %z)
              |     ^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op0 (onnx.Add)
              = by the definition of onnx.Add of plugin onnx-ops
            warning[relax::infer-type]: op1 (onnx.Add) is wrong: 3 and 5 don't broadcast
             --> test.ir:4:5
              |
            4 |     %1 = onnx.Add(%x, %z) : f32[2,3]
              |     ^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op1 (onnx.Add)
              = by the definition of onnx.Add of plugin onnx-ops
        "#]],
    );
}

#[test]
fn an_attribute_out_of_range_is_told_and_the_type_known_all_the_same() {
    check(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
    %0 = onnx.Softmax(%x) {axis = 7}
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
                %0 = onnx.Softmax(%x) {axis = 7} : f32[2,3]
                return %0
              }
            }

            warning[relax::infer-type]: op0 (onnx.Softmax) is wrong: axis 7 is out of range for rank 2
             --> test.ir:3:5
              |
            3 |     %0 = onnx.Softmax(%x) {axis = 7}
              |     ^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op0 (onnx.Softmax)
              = by the definition of onnx.Softmax of plugin onnx-ops
        "#]],
    );
}

/// Nobody checks what a model declares of its outputs, so what uses one goes by what the output's own op says.
#[test]
fn what_uses_an_output_goes_by_the_outputs_op() {
    check(
        r#"module {
  fn @main(%x: f32[2,2]) -> (%v: f32[2,2], %w: f32[2,2], %z) opset("" = 23) {
    %s = onnx.SequenceConstruct(%x)
    %c = onnx.ConcatFromSequence(%s) {axis = 1, new_axis = 1}
    %v = onnx.Identity(%c) : f32[2,2]
    %t = onnx.Transpose(%v) {perm = [0, 1, 2]}
    %w = onnx.Squeeze(%t) : f32[2,2]
    %z = onnx.Neg(%v)
    return %v, %w, %z
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,2]) -> (%v: f32[2,?,2], %w: f32[2,2], %z) opset("" = 23) {
                %s = onnx.SequenceConstruct(%x) : seq<f32[2,2]>
                %c = onnx.ConcatFromSequence(%s) {axis = 1, new_axis = 1} : f32[2,_1,2]
                %v = onnx.Identity(%c) : f32[2,_1,2]
                %t = onnx.Transpose(%v) {perm = [0, 1, 2]} : f32[2,_1,2]
                %w = onnx.Squeeze(%t) : f32[*]
                %z = onnx.Neg(%v) : f32[2,_1,2]
                return %v, %w, %z
              }
            }

            warning[relax::infer-type]: onnx.Identity gives f32[2,_1,2], and f32[2,2] is declared.
             --> test.ir:5:10
              |
            5 |     %v = onnx.Identity(%c) : f32[2,2]
              |     --   ^^^^^^^^^^^^^
              |     |
              |     is declared f32[2,2]
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op2 (onnx.Identity)
              = by the definition of onnx.Identity of plugin onnx-ops
              = help: The inferred type is used: correct the declared one, or the op.
        "#]],
    );
}

/// A number that is declared and can't be found out isn't relied on either; the name of a size is, and so is what is
/// declared of ops without a definition.
#[test]
fn what_only_an_output_declares_is_its_own() {
    check(
        r#"module {
  fn @main(%x: f32[n], %s: i64[2]) -> (%a: i64[1,k], %b: f32[4,5], %c: f32[6], %d, %e, %f) opset("" = 17, "acme" = 1) {
    %a = onnx.NonZero(%x) : i64[1,k]
    %b = onnx.Reshape(%x, %s) : f32[4,5]
    %c = acme.Own(%x) : f32[6]
    %d = onnx.Neg(%a)
    %e = onnx.Neg(%b)
    %f = onnx.Neg(%c)
    return %a, %b, %c, %d, %e, %f
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n], %s: i64[2]) -> (%a: i64[1,k], %b: f32[4,5], %c: f32[6], %d, %e, %f) opset("" = 17, "acme" = 1) {
                %a = onnx.NonZero(%x) : i64[1,k]
                %b = onnx.Reshape(%x, %s) : f32[_1,_2]
                %c = acme.Own(%x) : f32[6]
                %d = onnx.Neg(%a) : i64[1,k]
                %e = onnx.Neg(%b) : f32[_1,_2]
                %f = onnx.Neg(%c) : f32[6]
                return %a, %b, %c, %d, %e, %f
              }
            }

        "#]],
    );
}

#[test]
fn a_name_that_only_an_output_declares_takes_no_inputs_place() {
    check(
        r#"module {
  fn @main(%a: f32[n], %b: f32[m], %k: bool[m]) -> (%y: f32[m], %v) opset("" = 17) {
    %y = onnx.Relu(%a) : f32[m]
    %r = onnx.Exp(%y)
    %v = onnx.Where(%k, %r, %r)
    return %y, %v
  }
}"#,
        expect![[r#"
            module {
              fn @main(%a: f32[n], %b: f32[m], %k: bool[m]) -> (%y: f32[m], %v) opset("" = 17) {
                %y = onnx.Relu(%a) : f32[n]
                %r = onnx.Exp(%y) : f32[n]
                %v = onnx.Where(%k, %r, %r) : f32[broadcast(m,n)]
                return %y, %v
              }
            }

        "#]],
    );
}

#[test]
fn a_name_of_two_outputs_is_that_of_the_first() {
    check(
        r#"module {
  fn @main(%a: f32[n], %b: f32[m]) -> (%x: f32[k], %y: f32[k], %u, %v) opset("" = 17) {
    %x = onnx.Concat(%a, %a) {axis = 0} : f32[k]
    %y = onnx.Concat(%b, %b) {axis = 0} : f32[k]
    %u = onnx.Exp(%x)
    %v = onnx.Exp(%y)
    return %x, %y, %u, %v
  }
}"#,
        expect![[r#"
            module {
              fn @main(%a: f32[n], %b: f32[m]) -> (%x: f32[k], %y: f32[k], %u, %v) opset("" = 17) {
                %x = onnx.Concat(%a, %a) {axis = 0} : f32[n*2]
                %y = onnx.Concat(%b, %b) {axis = 0} : f32[m*2]
                %u = onnx.Exp(%x) : f32[n*2]
                %v = onnx.Exp(%y) : f32[m*2]
                return %x, %y, %u, %v
              }
            }

        "#]],
    );
}
