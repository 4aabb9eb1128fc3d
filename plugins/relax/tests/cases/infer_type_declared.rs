//! What `relax.transform.InferType` makes of declared types that are wrong, and of ops that can't be right.

use expect_test::expect;

use crate::infer_type_says::check;

/// A size that the input leaves open isn't the number that a stale `value_info` declares; one report says how many there are, and
/// nothing else that is declared is relied on.
#[test]
fn a_declared_type_narrows_no_open_size() {
    check(
        r#"module {
  fn @main(%x: f32[batch,3], %s: i64[2]) -> (%y: f32[1,3], %z) opset("" = 17) {
    %a = onnx.Relu(%x) : !f32[1,3]
    %b = onnx.Neg(%a) : !f32[1,3]
    %r = onnx.Reshape(%b, %s) : !f32[1,3]
    %y = onnx.Abs(%b) : f32[1,3]
    %z = onnx.Shape(%r)
    return %y, %z
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[batch,3], %s: i64[2]) -> (%y: f32[1,3], %z) opset("" = 17) {
                %a = onnx.Relu(%x) : !f32[batch,3]
                %b = onnx.Neg(%a) : !f32[batch,3]
                %r = onnx.Reshape(%b, %s) : !f32[_1,_2]
                %y = onnx.Abs(%b) : f32[batch,3]
                %z = onnx.Shape(%r) : i64[2]
                return %y, %z
              }
            }

            warning[relax::infer-type]: onnx.Relu gives f32[batch,3], and f32[1,3] is declared, which isn't so for all inputs.
             --> test.ir:3:10
              |
            3 |     %a = onnx.Relu(%x) : !f32[1,3]
              |     --   ^^^^^^^^^
              |     |
              |     is declared f32[1,3]
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op0 (onnx.Relu)
              = note: 2 more declared types have numbers for sizes that the inputs leave open.
              = help: The inferred type is used: bind the size (`--bind`), or correct what is declared.
        "#]],
    );
}

/// What is made of an input's size without a name is unknown as well.
#[test]
fn a_declared_type_narrows_no_size_without_a_name() {
    check(
        r#"module {
  fn @main(%x: f32[?,3]) -> (%y) opset("" = 17) {
    %a = onnx.Relu(%x) : !f32[1,3]
    %y = onnx.Shape(%a)
    return %y
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[?,3]) -> (%y) opset("" = 17) {
                %a = onnx.Relu(%x) : !f32[_1,3]
                %y = onnx.Shape(%a) : i64[2]
                return %y
              }
            }

        "#]],
    );
}

/// An output's value has the type of its op, so that a `Shape` of it isn't folded to what is only declared.
#[test]
fn a_declared_output_narrows_no_open_size() {
    check(
        r#"module {
  fn @main(%x: f32[batch,2]) -> (%y: f32[1,2], %n: i64[2,5], %s) opset("" = 17) {
    %y = onnx.Relu(%x) : f32[1,2]
    %n = onnx.NonZero(%x) : i64[2,5]
    %s = onnx.Shape(%y)
    return %y, %n, %s
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[batch,2]) -> (%y: f32[1,2], %n: i64[2,5], %s) opset("" = 17) {
                %y = onnx.Relu(%x) : f32[batch,2]
                %n = onnx.NonZero(%x) : i64[2,_1]
                %s = onnx.Shape(%y) : i64[2]
                return %y, %n, %s
              }
            }

            warning[relax::infer-type]: onnx.Relu gives f32[batch,2], and f32[1,2] is declared, which isn't so for all inputs.
             --> test.ir:3:10
              |
            3 |     %y = onnx.Relu(%x) : f32[1,2]
              |     --   ^^^^^^^^^
              |     |
              |     is declared f32[1,2]
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op0 (onnx.Relu)
              = help: The inferred type is used: bind the size (`--bind`), or correct what is declared.
        "#]],
    );
}

/// A declared name of another size is none of the value's.
#[test]
fn a_declared_name_is_no_other_size() {
    check(
        r#"module {
  fn @main(%x: f32[n]) -> (%y) opset("" = 17) {
    %a = onnx.Concat(%x, %x) {axis = 0} : !f32[n]
    %y = onnx.Neg(%a)
    return %y
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n]) -> (%y) opset("" = 17) {
                %a = onnx.Concat(%x, %x) {axis = 0} : !f32[n*2]
                %y = onnx.Neg(%a) : f32[n*2]
                return %y
              }
            }

        "#]],
    );
}

#[test]
fn an_op_has_the_results_that_its_regions_give() {
    check(
        r#"module {
  fn @main(%c: bool[], %x: f32[2]) -> (%y, %z) opset("" = 17) {
    %y, %z = onnx.If(%c)
      region then_branch {
        yield %x
      }
      region else_branch {
        yield %x
      }
    return %y, %z
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[2]) -> (%y, %z) opset("" = 17) {
                %y, %z = onnx.If(%c)
                  region then_branch {
                    yield %x
                  }
                  region else_branch {
                    yield %x
                  }
                return %y, %z
              }
            }

            warning[relax::infer-type]: op0 (onnx.If) is wrong: the number of results of its `then_branch` is 1, expected 2
             --> test.ir:3:5
              |
            3 |     %y, %z = onnx.If(%c)
              |     ^^^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op0 (onnx.If)
              = by the definition of onnx.If of plugin onnx-ops
        "#]],
    );
    check(
        r#"module {
  fn @main(%c: bool[], %x: f32[2]) -> (%y) opset("" = 17) {
    %y = onnx.If(%c)
      region then_branch {
        yield %x
      }
      region else_branch {
        yield %x, %x
      }
    return %y
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[2]) -> (%y) opset("" = 17) {
                %y = onnx.If(%c)
                  region then_branch {
                    yield %x
                  }
                  region else_branch {
                    yield %x, %x
                  }
                return %y
              }
            }

            warning[relax::infer-type]: op0 (onnx.If) is wrong: the number of results of its `else_branch` is 2, expected 1
             --> test.ir:3:5
              |
            3 |     %y = onnx.If(%c)
              |     ^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op0 (onnx.If)
              = by the definition of onnx.If of plugin onnx-ops
        "#]],
    );
}

#[test]
fn element_types_of_operands_are_checked() {
    check(
        r#"module {
  fn @main(%x: f32[2], %i: i64[2], %d: f64[2,2], %m: f32[2,2]) -> (%a, %b, %c, %e) opset("" = 17) {
    %a = onnx.Add(%x, %i)
    %b = onnx.MatMul(%m, %d)
    %c = onnx.Gather(%x, %x)
    %e = onnx.Concat(%x, %x, %i) {axis = 0}
    return %a, %b, %c, %e
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2], %i: i64[2], %d: f64[2,2], %m: f32[2,2]) -> (%a, %b, %c, %e) opset("" = 17) {
                %a = onnx.Add(%x, %i) : f32[2]
                %b = onnx.MatMul(%m, %d) : f32[2,2]
                %c = onnx.Gather(%x, %x) : f32[2]
                %e = onnx.Concat(%x, %x, %i) {axis = 0} : f32[6]
                return %a, %b, %c, %e
              }
            }

            warning[relax::infer-type]: op0 (onnx.Add) is wrong: its operand 1 is i64, and its operand 0 is f32: it takes both of one type
             --> test.ir:3:5
              |
            3 |     %a = onnx.Add(%x, %i)
              |     ^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op0 (onnx.Add)
              = by the definition of onnx.Add of plugin onnx-ops
            warning[relax::infer-type]: op1 (onnx.MatMul) is wrong: its operand 1 is f64, and its operand 0 is f32: it takes both of one type
             --> test.ir:4:5
              |
            4 |     %b = onnx.MatMul(%m, %d)
              |     ^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op1 (onnx.MatMul)
              = by the definition of onnx.MatMul of plugin onnx-ops
            warning[relax::infer-type]: op2 (onnx.Gather) is wrong: its operand 1 is f32, and it takes i32, i64
             --> test.ir:5:5
              |
            5 |     %c = onnx.Gather(%x, %x)
              |     ^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op2 (onnx.Gather)
              = by the definition of onnx.Gather of plugin onnx-ops
            warning[relax::infer-type]: op3 (onnx.Concat) is wrong: its operand 2 is i64, and its operand 0 is f32: it takes both of one type
             --> test.ir:6:5
              |
            6 |     %e = onnx.Concat(%x, %x, %i) {axis = 0}
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.InferType of plugin relax, function @main, op3 (onnx.Concat)
              = by the definition of onnx.Concat of plugin onnx-ops
        "#]],
    );
}
