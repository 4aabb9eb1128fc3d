//! TVM's kinds of cases of InferType, one after the other, and the IR's own ops.

use expect_test::{Expect, expect};

use crate::support;

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check("relax.transform.InferType", source, expected);
}

#[track_caller]
fn check_stays(source: &str) {
    support::check_stays("relax.transform.InferType", source);
}

// Let: a value has the type of what it is bound to, and so have its uses.
#[test]
fn a_binding() {
    check(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y) opset("" = 17) {
    %0 = onnx.Relu(%x)
    %1 = onnx.Add(%0, %0)
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[2,3]
                %1 = onnx.Add(%0, %0) : f32[2,3]
                return %1
              }
            }
        "#]],
    );
}

// Ops: one with attributes, one with several results.
#[test]
fn ops() {
    check(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y, %z) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [1, 0]}
    %k = const i64[1] [1]
    %1, %2 = onnx.TopK(%0, %k) {axis = 0}
    return %1, %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y, %z) opset("" = 17) {
                %k = const i64[1] [1]
                %0 = onnx.Transpose(%x) {perm = [1, 0]} : f32[3,2]
                %1, %2 = onnx.TopK(%0, %k) {axis = 0} : f32[1,2], i64[1,2]
                return %1, %2
              }
            }
        "#]],
    );
}

// Broadcast: of sizes, of ranks, of a symbol and 1.
#[test]
fn broadcast() {
    check(
        r#"module {
  fn @main(%x: f32[n,1,3], %z: f32[4,1], %s: f32[]) -> (%y) opset("" = 17) {
    %0 = onnx.Add(%x, %z)
    %1 = onnx.Mul(%0, %s)
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,1,3], %z: f32[4,1], %s: f32[]) -> (%y) opset("" = 17) {
                %0 = onnx.Add(%x, %z) : f32[n,4,3]
                %1 = onnx.Mul(%0, %s) : f32[n,4,3]
                return %1
              }
            }
        "#]],
    );
}

// Recursion: only what is declared is known of what calls itself.
#[test]
fn recursion() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y) opset("" = 17, "acme" = 1) {
    %0 = acme.Again(%x)
    return %0
  }
  fn @acme.Again(%v) -> (%r) opset("" = 17, "acme" = 1) {
    %0 = onnx.Relu(%v)
    %1 = acme.Again(%0)
    %2 = onnx.Add(%0, %1)
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y) opset("" = 17, "acme" = 1) {
                %0 = acme.Again(%x) : f32[*]
                return %0
              }
              fn @acme.Again(%v: f32[2]) -> (%r) opset("" = 17, "acme" = 1) {
                %0 = onnx.Relu(%v) : f32[2]
                %1 = acme.Again(%0) : f32[*]
                %2 = onnx.Add(%0, %1) : f32[*]
                return %2
              }
            }
        "#]],
    );
}

// Higher order: there are no functions as values; an op whose region is a function of its arguments.
#[test]
fn higher_order() {
    check(
        r#"module {
  fn @main(%s: seq<f32[2]>) -> (%y) opset("" = 17) {
    %0 = onnx.SequenceMap(%s)
    region body (%v: ?) -> (%r) {
      %1 = onnx.Shape(%v)
      yield %1
    }
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%s: seq<f32[2]>) -> (%y) opset("" = 17) {
                %0 = onnx.SequenceMap(%s) : seq<i64[1]>
                  region body(%v: f32[2]) -> (%r) {
                    %1 = onnx.Shape(%v) : i64[1]
                    yield %1
                  }
                return %0
              }
            }
        "#]],
    );
}

// Tuple: of its operands' types, nested, and its fields.
#[test]
fn tuples() {
    check(
        r#"module {
  fn @main(%x: f32[n,4], %i: i64[3]) -> (%y, %z) opset("" = 17) {
    %0 = onnx.Relu(%x)
    %1 = tuple(%0, %i)
    %2 = tuple(%1, %x)
    %3 = tuple_get(%2) {index = 0}
    %4 = tuple_get(%3) {index = 1}
    %5 = onnx.Neg(%4)
    %6 = tuple()
    return %5, %6
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,4], %i: i64[3]) -> (%y, %z) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[n,4]
                %1 = tuple(%0, %i) : tuple<f32[n,4], i64[3]>
                %2 = tuple(%1, %x) : tuple<tuple<f32[n,4], i64[3]>, f32[n,4]>
                %3 = tuple_get(%2) {index = 0} : tuple<f32[n,4], i64[3]>
                %4 = tuple_get(%3) {index = 1} : i64[3]
                %5 = onnx.Neg(%4) : i64[3]
                %6 = tuple() : tuple<>
                return %5, %6
              }
            }
        "#]],
    );
}

#[test]
fn a_field_of_what_isnt_known_isnt_either() {
    check_stays(
        r#"module {
  fn @main(%x: ?) -> (%y) opset("" = 17, "acme" = 1) {
    %0 = acme.Pair(%x)
    %1 = tuple_get(%0) {index = 0}
    return %1
  }
}"#,
    );
}

#[test]
fn a_field_that_there_isnt_has_no_type() {
    check_stays(
        r#"module {
  fn @main(%x: f32[2]) -> (%y, %z, %w) opset("" = 17) {
    %0 = tuple(%x, %x) : tuple<f32[2], f32[2]>
    %1 = tuple_get(%0) {index = 2}
    %2 = tuple_get(%0)
    %3 = tuple_get(%x) {index = 0}
    return %1, %2, %3
  }
}"#,
    );
}

#[test]
fn a_declared_tuple_stays_what_it_is() {
    check(
        r#"module {
  fn @main(%x: f32[2], %v: f32[n]) -> (%y, %z) opset("" = 17) {
    %0 = tuple(%x) : tuple<i64[2]>
    %1 = tuple(%v, %x) : tuple<f32[3], ?>
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2], %v: f32[n]) -> (%y, %z) opset("" = 17) {
                %0 = tuple(%x) : tuple<f32[2]>
                %1 = tuple(%v, %x) : tuple<f32[n], f32[2]>
                return %0, %1
              }
            }
        "#]],
    );
}

// If: what both branches agree on.
#[test]
fn an_if() {
    check(
        r#"module {
  fn @main(%c: bool[], %x: f32[2,3], %z: f32[n,3]) -> (%a, %b, %d) opset("" = 17) {
    %0, %1, %2 = if(%c)
    region then_branch -> (%t, %u, %v) {
      %3 = onnx.Relu(%x)
      %4 = tuple(%x, %x)
      yield %3, %4, %x
    }
    region else_branch -> (%t, %u, %v) {
      %3 = onnx.Neg(%z)
      %4 = tuple(%z, %x)
      %5 = onnx.Shape(%z)
      yield %3, %4, %5
    }
    %6 = onnx.Abs(%0)
    return %6, %1, %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[2,3], %z: f32[n,3]) -> (%a, %b, %d) opset("" = 17) {
                %0, %1, %2 = if(%c) : f32[_1,3], tuple<f32[?,3], f32[2,3]>, any[*]
                  region then_branch -> (%t, %u, %v) {
                    %3 = onnx.Relu(%x) : f32[2,3]
                    %4 = tuple(%x, %x) : tuple<f32[2,3], f32[2,3]>
                    yield %3, %4, %x
                  }
                  region else_branch -> (%t, %u, %v) {
                    %5 = onnx.Neg(%z) : f32[n,3]
                    %6 = tuple(%z, %x) : tuple<f32[n,3], f32[2,3]>
                    %7 = onnx.Shape(%z) : i64[2]
                    yield %5, %6, %7
                  }
                %8 = onnx.Abs(%0) : f32[_1,3]
                return %8, %1, %2
              }
            }
        "#]],
    );
}

#[test]
fn an_if_without_else_gives_nothing_that_is_known() {
    check_stays(
        r#"module {
  fn @main(%c: bool[], %x: f32[2]) -> (%y) opset("" = 17) {
    %0 = if(%c)
    region then_branch -> (%t) {
      yield %x
    }
    return %0
  }
}"#,
    );
}

// Custom op relation: an operator of a vendor that nobody defines says nothing, and goes around.
#[test]
fn an_operator_that_nobody_defines() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y, %z) opset("" = 17, "acme" = 1) {
    %0 = acme.Mystery(%x)
    %1 = onnx.Relu(%0)
    %2 = acme.Mystery(%x) : f32[5]
    %3 = onnx.Relu(%2)
    return %1, %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y, %z) opset("" = 17, "acme" = 1) {
                %0 = acme.Mystery(%x)
                %1 = onnx.Relu(%0)
                %2 = acme.Mystery(%x) : f32[5]
                %3 = onnx.Relu(%2) : f32[5]
                return %1, %3
              }
            }
        "#]],
    );
}

// An error in a relation: the op is left as it is, and what follows is inferred from what is known.
#[test]
fn an_op_that_is_wrong() {
    check(
        r#"module {
  fn @main(%x: f32[2], %z: f32[3]) -> (%y, %w) opset("" = 17) {
    %0 = onnx.Add(%x, %z)
    %1 = onnx.Shape(%x)
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2], %z: f32[3]) -> (%y, %w) opset("" = 17) {
                %0 = onnx.Add(%x, %z)
                %1 = onnx.Shape(%x) : i64[1]
                return %0, %1
              }
            }
        "#]],
    );
}

// Dynamic: unknown sizes, an unknown rank, a size that is an element.
#[test]
fn dynamic() {
    check(
        r#"module {
  fn @main(%x: f32[n,?], %r: f32[*], %s: i64[2]) -> (%a, %b, %d, %e) opset("" = 17) {
    %0 = onnx.Relu(%x)
    %1 = onnx.Add(%x, %r)
    %2 = onnx.Reshape(%x, %s)
    %3 = onnx.NonZero(%x)
    return %0, %1, %2, %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,?], %r: f32[*], %s: i64[2]) -> (%a, %b, %d, %e) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[n,_1]
                %1 = onnx.Add(%x, %r) : f32[*]
                %2 = onnx.Reshape(%x, %s) : f32[_2,_3]
                %3 = onnx.NonZero(%x) : i64[2,_4]
                return %0, %1, %2, %3
              }
            }
        "#]],
    );
}
