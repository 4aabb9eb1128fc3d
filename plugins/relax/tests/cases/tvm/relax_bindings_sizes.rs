//! CanonicalizeBindings, after TVM's `tests/python/relax/test_transform_canonicalize_bindings.py`: copies of which
//! something else is declared than of the original. They are what ONNX has for `match_cast`: a claim that nobody checks.

use expect_test::expect;

use super::check_bindings;

/// A parameter is what the interface says, so what more is declared is known of a copy only.
#[test]
fn match_cast() {
    check_bindings(
        "%x: f32[*]",
        "(%y)",
        "%q = onnx.Identity(%x) : f32[*]
         %z = onnx.Identity(%q) : !f32[m,n]
         %w = onnx.Identity(%z) : f32[m,n]
         return %w",
        expect![[r#"
            module {
              fn @main(%x: f32[*]) -> (%y) opset("" = 20, "acme" = 1, "npu" = 1) {
                %z = onnx.Identity(%x) : !f32[m,n]
                return %z
              }
            }
        "#]],
    );
}

/// Who says less has no copy of its own.
#[test]
fn casting() {
    check_bindings(
        "%x: f32[4]",
        "(%y)",
        "%a = onnx.Identity(%x) : f32[4]
         %z = onnx.Identity(%a) : ?
         %w = onnx.Relu(%z)
         return %w",
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%y) opset("" = 20, "acme" = 1, "npu" = 1) {
                %w = onnx.Relu(%x) : f32[4]
                return %w
              }
            }
        "#]],
    );
}

#[test]
fn same_shape() {
    check_bindings(
        "%x: f32[m,n]",
        "(%r: f32[m,n])",
        "%y = onnx.Identity(%x) : f32[m,n]
         %z = onnx.Identity(%x) : !f32[m,n]
         %w = onnx.Identity(%z) : f32[m,n]
         %q = onnx.Add(%w, %y) : f32[m,n]
         %r = onnx.Add(%q, %w) : f32[m,n]
         return %r",
        expect![[r#"
            module {
              fn @main(%x: f32[m,n]) -> (%r: f32[m,n]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %q = onnx.Add(%x, %x) : f32[m,n]
                %r = onnx.Add(%q, %x) : f32[m,n]
                return %r
              }
            }
        "#]],
    );
}

#[test]
fn change_shape() {
    check_bindings(
        "%x: f32[?,?]",
        "(%r)",
        "%y = onnx.Identity(%x) : f32[?,?]
         %z = onnx.Identity(%x) : !f32[o,p]
         %w = onnx.Identity(%z) : f32[o,p]
         %q = onnx.Add(%w, %y)
         %r = onnx.Add(%q, %w)
         return %r",
        expect![[r#"
            module {
              fn @main(%x: f32[?,?]) -> (%r) opset("" = 20, "acme" = 1, "npu" = 1) {
                %z = onnx.Identity(%x) : !f32[o,p]
                %q = onnx.Add(%z, %x) : f32[broadcast(_1,o),broadcast(_2,p)]
                %r = onnx.Add(%q, %z) : f32[broadcast(_1,o),broadcast(_2,p)]
                return %r
              }
            }
        "#]],
    );
}

/// The copy goes; what follows from its names isn't worked out again, where TVM puts `m` and `n` in their place.
#[test]
fn replace_symbolic_variable_and_remove_match_cast() {
    check_bindings(
        "%x: f32[m,n]",
        "(%r)",
        "%y = onnx.Identity(%x) : f32[m,n]
         %z = onnx.Identity(%x) : !f32[o,p]
         %w = onnx.Identity(%z) : f32[o,p]
         %q = onnx.Add(%w, %y)
         %r = onnx.Add(%q, %w)
         return %r",
        expect![[r#"
            module {
              fn @main(%x: f32[m,n]) -> (%r) opset("" = 20, "acme" = 1, "npu" = 1) {
                %q = onnx.Add(%x, %x) : f32[m,n]
                %r = onnx.Add(%q, %x) : f32[m,n]
                return %r
              }
            }
        "#]],
    );
}

#[test]
fn replace_symbolic_variable_and_remove_match_cast_of_tuple() {
    check_bindings(
        "%x: tuple<f32[m,n]>",
        "(%r)",
        "%y = onnx.Identity(%x) : tuple<f32[m,n]>
         %z = onnx.Identity(%x) : !tuple<f32[o,p]>
         %w = onnx.Identity(%z) : tuple<f32[o,p]>
         %a = tuple_get(%w) {index = 0} : f32[o,p]
         %b = tuple_get(%y) {index = 0} : f32[m,n]
         %q = onnx.Add(%a, %b)
         %r = onnx.Add(%q, %a)
         return %r",
        expect![[r#"
            module {
              fn @main(%x: tuple<f32[m,n]>) -> (%r) opset("" = 20, "acme" = 1, "npu" = 1) {
                %a = tuple_get(%x) {index = 0} : f32[m,n]
                %b = tuple_get(%x) {index = 0} : f32[m,n]
                %q = onnx.Add(%a, %b) : f32[m,n]
                %r = onnx.Add(%q, %a) : f32[m,n]
                return %r
              }
            }
        "#]],
    );
}

#[test]
fn fold_match_cast() {
    check_bindings(
        "",
        "(%n: i32[])",
        "%y = const i32[] 1
         %n = onnx.Identity(%y) : !i32[]
         %r = onnx.Neg(%n) : i32[]
         return %r",
        expect![[r#"
            module {
              fn @main() -> (%n: i32[]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %y = const i32[] 1
                %r = onnx.Neg(%y) : i32[]
                return %r
              }
            }
        "#]],
    );
}

#[test]
fn fold_variables_from_match_cast() {
    check_bindings(
        "%state: f32[16], %a: f32[16,16], %b: f32[16,16]",
        "(%p)",
        "%c = onnx.Identity(%a) : !f32[n1,m]
         %d = onnx.Identity(%b) : !f32[n2,m]
         %s = onnx.Identity(%state) : !f32[m]
         %l = onnx.Concat(%c, %d) {axis = 0} : f32[n1+n2,m]
         %p = onnx.MatMul(%l, %s) : f32[n1+n2]
         return %p",
        expect![[r#"
            module {
              fn @main(%state: f32[16], %a: f32[16,16], %b: f32[16,16]) -> (%p) opset("" = 20, "acme" = 1, "npu" = 1) {
                %l = onnx.Concat(%a, %b) {axis = 0} : f32[32,16]
                %p = onnx.MatMul(%l, %state) : f32[32]
                return %p
              }
            }
        "#]],
    );
}

/// InferType warns, and the pass goes on, where TVM raises an error.
#[test]
fn inconsistent_match_cast_raises_error() {
    check_bindings(
        "%state: f32[16], %a: f32[16,16], %b: f32[32,32]",
        "(%p)",
        "%c = onnx.Identity(%a) : !f32[n1,m]
         %d = onnx.Identity(%b) : !f32[n2,m]
         %s = onnx.Identity(%state) : !f32[m]
         %l = onnx.Concat(%c, %d) {axis = 0} : f32[n1+n2,m]
         %p = onnx.MatMul(%l, %s) : f32[n1+n2]
         return %p",
        expect![[r#"
            module {
              fn @main(%state: f32[16], %a: f32[16,16], %b: f32[32,32]) -> (%p) opset("" = 20, "acme" = 1, "npu" = 1) {
                %l = onnx.Concat(%a, %b) {axis = 0} : f32[n1+n2,m]
                %p = onnx.MatMul(%l, %state) : f32[n1+n2]
                return %p
              }
            }
        "#]],
    );
}

#[test]
fn match_cast_may_have_distinct_values_in_branches() {
    check_bindings(
        "%state: f32[n], %a: f32[m,16], %b: f32[m,32], %s: f32[], %is: bool[]",
        "(%p)",
        "%w = onnx.If(%is) : f32[m,n]
           region then_branch {
             %c = onnx.Mul(%a, %s) : f32[m,16]
             %d = onnx.Identity(%c) : !f32[m,n]
             %e = onnx.Mul(%d, %s) : f32[m,n]
             yield %e
           }
           region else_branch {
             %f = onnx.Mul(%b, %s) : f32[m,32]
             %g = onnx.Identity(%f) : !f32[m,n]
             %h = onnx.Mul(%g, %s) : f32[m,n]
             yield %h
           }
         %v = onnx.Mul(%w, %s) : f32[m,n]
         %p = onnx.MatMul(%v, %state) : f32[m]
         return %p",
        expect![[r#"
            module {
              fn @main(%state: f32[n], %a: f32[m,16], %b: f32[m,32], %s: f32[], %is: bool[]) -> (%p) opset("" = 20, "acme" = 1, "npu" = 1) {
                %w = onnx.If(%is) : f32[m,n]
                  region then_branch {
                    %c = onnx.Mul(%a, %s) : f32[m,16]
                    %e = onnx.Mul(%c, %s) : f32[m,16]
                    yield %e
                  }
                  region else_branch {
                    %f = onnx.Mul(%b, %s) : f32[m,32]
                    %h = onnx.Mul(%f, %s) : f32[m,32]
                    yield %h
                  }
                %v = onnx.Mul(%w, %s) : f32[m,n]
                %p = onnx.MatMul(%v, %state) : f32[m]
                return %p
              }
            }
        "#]],
    );
}

#[test]
fn canonicalize_with_updated_ty() {
    check_bindings(
        "%a: i32[n,16]",
        "(%y: i32[n,16])",
        "%b = onnx.Identity(%a) : i32[?,?]
         %c = onnx.Add(%b, %b) : i32[?,?]
         return %c",
        expect![[r#"
            module {
              fn @main(%a: i32[n,16]) -> (%y: i32[n,16]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %c = onnx.Add(%a, %a) : i32[n,16]
                return %c
              }
            }
        "#]],
    );
}

#[test]
fn canonicalization_causes_ty_update() {
    check_bindings(
        "%a: f16[v,4096], %b: f16[6144,4096]",
        "(%y)",
        "%c = onnx.Identity(%b) : f16[6144,4096]
         %d = tuple(%a, %c) : tuple<f16[?,?], f16[6144,4096]>
         %e = onnx.Identity(%d) : tuple<f16[?,?], f16[6144,4096]>
         return %e",
        expect![[r#"
            module {
              fn @main(%a: f16[v,4096], %b: f16[6144,4096]) -> (%y) opset("" = 20, "acme" = 1, "npu" = 1) {
                %d = tuple(%a, %b) : tuple<f16[v,4096], f16[6144,4096]>
                return %d
              }
            }
        "#]],
    );
}
