//! CanonicalizeBindings, after TVM's `tests/python/relax/test_transform_canonicalize_bindings.py`. Those of its cases that only ask whether a variable
//! leaves a block of dataflow aren't here, as there are no such blocks.

use expect_test::expect;

use super::check_bindings;

/// A copy of a parameter stays where it is given out: the model's output would be its input.
#[test]
fn simple_assignments() {
    check_bindings(
        "%x: f32[4]",
        "(%y: f32[4])",
        "%a = onnx.Identity(%x) : f32[4]
         %b = onnx.Identity(%a) : f32[4]
         %c = onnx.Identity(%b) : f32[4]
         %d = onnx.Identity(%c) : f32[4]
         return %d",
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%y: f32[4]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %d = onnx.Identity(%x) : f32[4]
                return %d
              }
            }
        "#]],
    );
}

/// An initializer can be an output, but not under another name.
#[test]
fn dataflow_block() {
    check_bindings(
        "",
        "(%y: i32[])",
        "%a = const i32[] 1
         %b = onnx.Identity(%a) : i32[]
         %c = onnx.Identity(%b) : i32[]
         %d = onnx.Identity(%c) : i32[]
         return %d",
        expect![[r#"
            module {
              fn @main() -> (%y: i32[]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %a = const i32[] 1
                %d = onnx.Identity(%a) : i32[]
                return %d
              }
            }
        "#]],
    );
}

#[test]
fn ops() {
    check_bindings(
        "%x: f32[4], %y: f32[4]",
        "(%z: f32[4])",
        "%w = onnx.Identity(%y) : f32[4]
         %q = onnx.Identity(%x) : f32[4]
         %a = onnx.Add(%w, %q) : f32[4]
         %z = onnx.Add(%q, %a) : f32[4]
         return %z",
        expect![[r#"
            module {
              fn @main(%x: f32[4], %y: f32[4]) -> (%z: f32[4]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %a = onnx.Add(%y, %x) : f32[4]
                %z = onnx.Add(%x, %a) : f32[4]
                return %z
              }
            }
        "#]],
    );
}

#[test]
fn unwrap_tuple() {
    check_bindings(
        "%x: f32[4], %y: f32[4]",
        "(%z: f32[4])",
        "%t = tuple(%x, %y) : tuple<f32[4], f32[4]>
         %w = tuple_get(%t) {index = 0} : f32[4]
         %q = tuple_get(%t) {index = 1} : f32[4]
         %a = onnx.Add(%w, %q) : f32[4]
         %z = onnx.Add(%q, %a) : f32[4]
         return %z",
        expect![[r#"
            module {
              fn @main(%x: f32[4], %y: f32[4]) -> (%z: f32[4]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %t = tuple(%x, %y) : tuple<f32[4], f32[4]>
                %a = onnx.Add(%x, %y) : f32[4]
                %z = onnx.Add(%y, %a) : f32[4]
                return %z
              }
            }
        "#]],
    );
}

#[test]
fn unwrap_tuple_of_constant() {
    check_bindings(
        "",
        "(%z: i64[])",
        "%c = const i64[] 0
         %d = const i64[] 1
         %t = tuple(%c, %d) : tuple<i64[], i64[]>
         %x = tuple_get(%t) {index = 0} : i64[]
         %y = tuple_get(%t) {index = 1} : i64[]
         %z = onnx.Add(%x, %y) : i64[]
         return %z",
        expect![[r#"
            module {
              fn @main() -> (%z: i64[]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %c = const i64[] 0
                %d = const i64[] 1
                %t = tuple(%c, %d) : tuple<i64[], i64[]>
                %z = onnx.Add(%c, %d) : i64[]
                return %z
              }
            }
        "#]],
    );
}

#[test]
fn multiple_outputs() {
    check_bindings(
        "",
        "(%x: i32[], %y: i32[], %z: i32[])",
        "%a = const i32[] 1
         %b = const i32[] 1
         %c = const i32[] 1
         %l = onnx.Identity(%a) : i32[]
         %m = onnx.Identity(%b) : i32[]
         %n = onnx.Identity(%c) : i32[]
         return %l, %m, %n",
        expect![[r#"
            module {
              fn @main() -> (%x: i32[], %y: i32[], %z: i32[]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %a = const i32[] 1
                %b = const i32[] 1
                %c = const i32[] 1
                %l = onnx.Identity(%a) : i32[]
                %m = onnx.Identity(%b) : i32[]
                %n = onnx.Identity(%c) : i32[]
                return %l, %m, %n
              }
            }
        "#]],
    );
}

#[test]
fn single_output_multiple_nondataflow() {
    check_bindings(
        "",
        "(%z: i32[])",
        "%a = const i32[] 1
         %b = const i32[] 1
         %c = const i32[] 1
         %l = onnx.Identity(%a) : i32[]
         %m = onnx.Identity(%b) : i32[]
         %n = onnx.Identity(%c) : i32[]
         return %n",
        expect![[r#"
            module {
              fn @main() -> (%z: i32[]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %a = const i32[] 1
                %b = const i32[] 1
                %c = const i32[] 1
                %n = onnx.Identity(%c) : i32[]
                return %n
              }
            }
        "#]],
    );
}

#[test]
fn update_dataflow_computations_if_var_replacement_occurs() {
    check_bindings(
        "%x: f32[4]",
        "(%y: f32[4], %z: f32[4])",
        "%one = const f32[] 1.0
         %l = onnx.Add(%x, %one) : f32[4]
         %g = onnx.Identity(%l) : f32[4]
         %h = onnx.Add(%l, %one) : f32[4]
         return %g, %h",
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%y: f32[4], %z: f32[4]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %one = const f32[] 1.0
                %l = onnx.Add(%x, %one) : f32[4]
                %h = onnx.Add(%l, %one) : f32[4]
                return %l, %h
              }
            }
        "#]],
    );
}

#[test]
fn update_dataflow_computations_if_var_replacement_occurs_after_usage() {
    check_bindings(
        "%x: f32[4]",
        "(%y: f32[4], %z: f32[4])",
        "%one = const f32[] 1.0
         %l = onnx.Add(%x, %one) : f32[4]
         %h = onnx.Add(%l, %one) : f32[4]
         %g = onnx.Identity(%l) : f32[4]
         return %g, %h",
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%y: f32[4], %z: f32[4]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %one = const f32[] 1.0
                %l = onnx.Add(%x, %one) : f32[4]
                %h = onnx.Add(%l, %one) : f32[4]
                return %l, %h
              }
            }
        "#]],
    );
}

#[test]
fn replace_var_with_dataflow_if_all_usage_within_dataflow_block() {
    check_bindings(
        "%x: f32[4]",
        "(%y: f32[4])",
        "%one = const f32[] 1.0
         %l = onnx.Add(%x, %one) : f32[4]
         %g = onnx.Identity(%l) : f32[4]
         %h = onnx.Add(%l, %one) : f32[4]
         return %h",
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%y: f32[4]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %one = const f32[] 1.0
                %l = onnx.Add(%x, %one) : f32[4]
                %h = onnx.Add(%l, %one) : f32[4]
                return %h
              }
            }
        "#]],
    );
}

/// A region gives each value out once.
#[test]
fn canonicalize_multiple_trivial_binding_to_dataflow_var() {
    check_bindings(
        "%w: f32[4]",
        "(%y: f32[4], %z: f32[4])",
        "%one = const f32[] 1.0
         %x = onnx.Add(%w, %one) : f32[4]
         %a = onnx.Identity(%x) : f32[4]
         %b = onnx.Identity(%x) : f32[4]
         return %a, %b",
        expect![[r#"
            module {
              fn @main(%w: f32[4]) -> (%y: f32[4], %z: f32[4]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %one = const f32[] 1.0
                %x = onnx.Add(%w, %one) : f32[4]
                %b = onnx.Identity(%x) : f32[4]
                return %x, %b
              }
            }
        "#]],
    );
}

#[test]
fn canonicalize_across_non_dataflow_tuple() {
    check_bindings(
        "%x: f32[4]",
        "(%y: f32[4])",
        "%one = const f32[] 1.0
         %a = onnx.Add(%x, %one) : f32[4]
         %t = tuple(%a) : tuple<f32[4]>
         %b = tuple_get(%t) {index = 0} : f32[4]
         %y = onnx.Add(%b, %one) : f32[4]
         return %y",
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%y: f32[4]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %one = const f32[] 1.0
                %a = onnx.Add(%x, %one) : f32[4]
                %t = tuple(%a) : tuple<f32[4]>
                %y = onnx.Add(%a, %one) : f32[4]
                return %y
              }
            }
        "#]],
    );
}

/// A function in a function is a region here. What it is given it can give out only as a copy.
#[test]
fn inner_function() {
    check_bindings(
        "%x: f32[4], %n: i64[]",
        "(%z: f32[4])",
        "%a = onnx.Identity(%x) : f32[4]
         %go = const bool[] true
         %z = onnx.Loop(%n, %go, %a) : f32[4]
           region body(%i: i64[], %c: bool[], %s: f32[4]) {
             %k = onnx.Identity(%c) : bool[]
             %u = onnx.Identity(%s) : f32[4]
             %v = onnx.Add(%u, %a) : f32[4]
             %w = onnx.Identity(%v) : f32[4]
             yield %k, %w
           }
         return %z",
        expect![[r#"
            module {
              fn @main(%x: f32[4], %n: i64[]) -> (%z: f32[4]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %go = const bool[] true
                %z = onnx.Loop(%n, %go, %x) : f32[4]
                  region body(%i: i64[], %c: bool[], %s: f32[4]) {
                    %k = onnx.Identity(%c) : bool[]
                    %v = onnx.Add(%s, %x) : f32[4]
                    yield %k, %v
                  }
                return %z
              }
            }
        "#]],
    );
}

#[test]
fn canonicalize_inside_branches() {
    check_bindings(
        "%x: f32[4], %y: f32[4], %c: bool[]",
        "(%q: f32[4])",
        "%z = onnx.Add(%x, %y) : f32[4]
         %q = onnx.If(%c) : f32[4]
           region then_branch {
             %w = onnx.Add(%z, %z) : f32[4]
             %u = onnx.Identity(%w) : f32[4]
             %v = onnx.Mul(%u, %w) : f32[4]
             %t = onnx.Identity(%v) : f32[4]
             yield %t
           }
           region else_branch {
             %e = onnx.Identity(%z) : f32[4]
             yield %e
           }
         return %q",
        expect![[r#"
            module {
              fn @main(%x: f32[4], %y: f32[4], %c: bool[]) -> (%q: f32[4]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %z = onnx.Add(%x, %y) : f32[4]
                %q = onnx.If(%c) : f32[4]
                  region then_branch {
                    %w = onnx.Add(%z, %z) : f32[4]
                    %v = onnx.Mul(%w, %w) : f32[4]
                    yield %v
                  }
                  region else_branch {
                    %e = onnx.Identity(%z) : f32[4]
                    yield %e
                  }
                return %q
              }
            }
        "#]],
    );
}

#[test]
fn trivial_binding_of_replaced_non_dataflow_var() {
    check_bindings(
        "%t: tuple<f32[4]>",
        "(%y: f32[4])",
        "%a = tuple_get(%t) {index = 0} : f32[4]
         %b = onnx.Identity(%a) : f32[4]
         %c = onnx.Add(%a, %b) : f32[4]
         return %c",
        expect![[r#"
            module {
              fn @main(%t: tuple<f32[4]>) -> (%y: f32[4]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %a = tuple_get(%t) {index = 0} : f32[4]
                %c = onnx.Add(%a, %a) : f32[4]
                return %c
              }
            }
        "#]],
    );
}

/// A copy of a parameter, of all its fields.
#[test]
fn trace_tuple_through_round_trip() {
    check_bindings(
        "%t: tuple<f32[4], f32[5], f32[6]>",
        "(%y: tuple<f32[4], f32[5], f32[6]>)",
        "%a = tuple_get(%t) {index = 0} : f32[4]
         %b = tuple_get(%t) {index = 1} : f32[5]
         %c = tuple_get(%t) {index = 2} : f32[6]
         %o = tuple(%a, %b, %c) : tuple<f32[4], f32[5], f32[6]>
         return %o",
        expect![[r#"
            module {
              fn @main(%t: tuple<f32[4], f32[5], f32[6]>) -> (%y: tuple<f32[4], f32[5], f32[6]>) opset("" = 20, "acme" = 1, "npu" = 1) {
                %a = tuple_get(%t) {index = 0} : f32[4]
                %b = tuple_get(%t) {index = 1} : f32[5]
                %c = tuple_get(%t) {index = 2} : f32[6]
                %o = tuple(%a, %b, %c) : tuple<f32[4], f32[5], f32[6]>
                return %o
              }
            }
        "#]],
    );
}

/// The same where it isn't given out.
#[test]
fn trace_tuple_through_round_trip_within() {
    check_bindings(
        "%t: tuple<f32[4], f32[5], f32[6]>",
        "(%y: f32[4])",
        "%a = tuple_get(%t) {index = 0} : f32[4]
         %b = tuple_get(%t) {index = 1} : f32[5]
         %c = tuple_get(%t) {index = 2} : f32[6]
         %o = tuple(%a, %b, %c) : tuple<f32[4], f32[5], f32[6]>
         %y = acme.Use(%o) : f32[4]
         return %y",
        expect![[r#"
            module {
              fn @main(%t: tuple<f32[4], f32[5], f32[6]>) -> (%y: f32[4]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %a = tuple_get(%t) {index = 0} : f32[4]
                %b = tuple_get(%t) {index = 1} : f32[5]
                %c = tuple_get(%t) {index = 2} : f32[6]
                %y = acme.Use(%t) : f32[4]
                return %y
              }
            }
        "#]],
    );
}

#[test]
fn trace_partial_tuple_through_round_trip() {
    check_bindings(
        "%t: tuple<f32[4], f32[5], f32[6]>",
        "(%y: tuple<f32[4], f32[5]>)",
        "%a = tuple_get(%t) {index = 0} : f32[4]
         %b = tuple_get(%t) {index = 1} : f32[5]
         %o = tuple(%a, %b) : tuple<f32[4], f32[5]>
         return %o",
        expect![[r#"
            module {
              fn @main(%t: tuple<f32[4], f32[5], f32[6]>) -> (%y: tuple<f32[4], f32[5]>) opset("" = 20, "acme" = 1, "npu" = 1) {
                %a = tuple_get(%t) {index = 0} : f32[4]
                %b = tuple_get(%t) {index = 1} : f32[5]
                %o = tuple(%a, %b) : tuple<f32[4], f32[5]>
                return %o
              }
            }
        "#]],
    );
}
