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

#[test]
fn what_only_a_copy_declares_is_known_of_the_original() {
    support::check_all(
        &[
            "relax.transform.CanonicalizeBindings",
            "relax.transform.InferType",
            "relax.transform.FoldConstant",
        ],
        r#"module {
  fn @main(%x: f32[4]) -> (%y: f32[], %z: f32[]) opset("" = 17, "acme" = 1) {
    %a = acme.Make(%x)
    %b = onnx.Identity(%a) : !f32[2,n]
    %c = onnx.Identity(%b) : !f32[2,3]
    %d = onnx.Shape(%c) : i64[2]
    %e = acme.Use(%d, %b) : f32[]
    %f = acme.Make(%e)
    %g = onnx.Identity(%f) : !f32[]
    return %e, %g
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%y: f32[], %z: f32[]) opset("" = 17, "acme" = 1) {
                %d = const i64[2] [2, 3]
                %a = acme.Make(%x) : f32[2,3]
                %e = acme.Use(%d, %a) : f32[]
                %f = acme.Make(%e)
                return %e, %f
              }
            }
        "#]],
    );
}

#[test]
fn a_copy_of_which_more_is_declared_than_can_be_said_of_the_original_stays() {
    // In the other branch nobody says that it is so large.
    support::check_stays(
        "relax.transform.CanonicalizeBindings",
        r#"module {
  fn @main(%x: f32[*], %c: bool[]) -> (%y: f32[], %z: f32[*]) opset("" = 17, "acme" = 1) {
    %a = onnx.Identity(%x) : !f32[2,3]
    %b = acme.Make(%a)
    %z = onnx.If(%c) : f32[*]
      region then_branch {
        %d = onnx.Identity(%b) : !f32[4]
        %e = acme.Use(%d, %d) : f32[4]
        yield %e
      }
      region else_branch {
        %g = acme.Use(%b, %b) : f32[*]
        yield %g
      }
    %y = acme.Use(%a, %b) : f32[]
    return %y, %z
  }
}"#,
    );
}

#[test]
fn what_is_declared_behind_a_branch_is_known_in_it() {
    check(
        r#"module {
  fn @main(%x: f32[4], %c: bool[]) -> (%y: f32[4], %z: f32[4]) opset("" = 17, "acme" = 1) {
    %b = acme.Make(%x)
    %y = onnx.If(%c) : f32[4]
      region then_branch {
        %d = onnx.Identity(%b) : !f32[4]
        %e = onnx.Relu(%d) : f32[4]
        yield %e
      }
      region else_branch {
        %g = onnx.Neg(%b)
        yield %g
      }
    %a = onnx.Identity(%b) : !f32[4]
    %z = onnx.Neg(%a) : f32[4]
    return %y, %z
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4], %c: bool[]) -> (%y: f32[4], %z: f32[4]) opset("" = 17, "acme" = 1) {
                %b = acme.Make(%x) : f32[4]
                %y = onnx.If(%c) : f32[4]
                  region then_branch {
                    %e = onnx.Relu(%b) : f32[4]
                    yield %e
                  }
                  region else_branch {
                    %g = onnx.Neg(%b)
                    yield %g
                  }
                %z = onnx.Neg(%b) : f32[4]
                return %y, %z
              }
            }
        "#]],
    );
}

#[test]
fn what_a_model_declares_of_its_output_is_not_known_of_the_original() {
    check(
        r#"module {
  fn @main(%x: f32[4]) -> (%y: f32[2], %z) opset("" = 17, "acme" = 1) {
    %a = acme.Make(%x)
    %y = onnx.Identity(%a) : f32[2]
    %z = onnx.Neg(%a)
    return %y, %z
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%y: f32[2], %z) opset("" = 17, "acme" = 1) {
                %a = acme.Make(%x)
                %z = onnx.Neg(%a)
                return %a, %z
              }
            }
        "#]],
    );
}

#[test]
fn a_name_that_was_made_up_for_a_size_keeps_no_copy() {
    support::check_all(
        &[
            "relax.transform.InferType",
            "relax.transform.CanonicalizeBindings",
        ],
        r#"module {
  fn @main(%x: f32[?,4]) -> (%y: f32[?,4]) opset("" = 17) {
    %a = onnx.Identity(%x)
    %y = onnx.Relu(%a) : f32[?,4]
    return %y
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[?,4]) -> (%y: f32[?,4]) opset("" = 17) {
                %y = onnx.Relu(%x) : f32[_1,4]
                return %y
              }
            }
        "#]],
    );
}
