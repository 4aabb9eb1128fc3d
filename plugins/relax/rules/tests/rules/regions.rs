//! Rules in and around the regions of ops.

use expect_test::expect;

use crate::check;

const NEG_NEG: &str = "rule r { onnx.Neg(onnx.Neg(%x)) => %x }";

#[test]
fn inside_of_them() {
    check(
        "rule r { onnx.Abs(onnx.Neg(%x)) => onnx.Abs(%x) }",
        "(%c: bool[], %x: f32[2]) -> (%y: f32[2])",
        "%0 = onnx.If(%c) : f32[2]
           region then_branch { %1 = onnx.Neg(%x) %2 = onnx.Abs(%1) yield %2 }
           region else_branch { %3 = onnx.Exp(%x) yield %3 }
         return %0",
        expect![[r#"
            %0 = onnx.If(%c) : f32[2]
              region then_branch {
                %1 = onnx.Abs(%x) : f32[2]
                yield %1
              }
              region else_branch {
                %2 = onnx.Exp(%x) : f32[2]
                yield %2
              }
            return %0
        "#]],
    );
}

#[test]
fn a_pattern_that_reaches_outside() {
    check(
        "rule r { onnx.Abs(onnx.Neg(%x)) => onnx.Abs(%x) }",
        "(%c: bool[], %x: f32[2]) -> (%y: f32[2])",
        "%n = onnx.Neg(%x)
         %0 = onnx.If(%c) : f32[2]
           region then_branch { %2 = onnx.Abs(%n) yield %2 }
           region else_branch { %3 = onnx.Exp(%x) yield %3 }
         return %0",
        expect![[r#"
            %0 = onnx.If(%c) : f32[2]
              region then_branch {
                %1 = onnx.Abs(%x) : f32[2]
                yield %1
              }
              region else_branch {
                %2 = onnx.Exp(%x) : f32[2]
                yield %2
              }
            return %0
        "#]],
    );
}

#[test]
fn a_region_gives_out_what_is_its_own() {
    // `%x` comes from outside, so that an op has to give it out; two ops become one.
    check(
        NEG_NEG,
        "(%c: bool[], %x: f32[2]) -> (%y: f32[2])",
        "%0 = onnx.If(%c) : f32[2]
           region then_branch { %1 = onnx.Neg(%x) %2 = onnx.Neg(%1) yield %2 }
           region else_branch { %3 = onnx.Exp(%x) yield %3 }
         return %0",
        expect![[r#"
            %0 = onnx.If(%c) : f32[2]
              region then_branch {
                %1 = onnx.Identity(%x) : f32[2]
                yield %1
              }
              region else_branch {
                %2 = onnx.Exp(%x) : f32[2]
                yield %2
              }
            return %0
        "#]],
    );
    // One op for one isn't worth it.
    check(
        "rule r { onnx.Dropout(%x, %more...) => %x }",
        "(%c: bool[], %x: f32[2]) -> (%y: f32[2])",
        "%0 = onnx.If(%c) : f32[2]
           region then_branch { %1 = onnx.Dropout(%x) yield %1 }
           region else_branch { %3 = onnx.Exp(%x) yield %3 }
         return %0",
        expect![[r#"
            %0 = onnx.If(%c) : f32[2]
              region then_branch {
                %1 = onnx.Dropout(%x) : f32[2]
                yield %1
              }
              region else_branch {
                %2 = onnx.Exp(%x) : f32[2]
                yield %2
              }
            return %0
        "#]],
    );
}

#[test]
fn the_body_gives_nothing_out_twice() {
    check(
        NEG_NEG,
        "(%x: f32[2]) -> (%a: f32[2], %b: f32[2])",
        "%0 = onnx.Exp(%x)\n%1 = onnx.Neg(%0)\n%2 = onnx.Neg(%1)\nreturn %0, %2",
        expect![[r#"
            %0 = onnx.Exp(%x) : f32[2]
            %1 = onnx.Identity(%0) : f32[2]
            return %0, %1
        "#]],
    );
}

#[test]
fn the_body_of_a_loop() {
    check(
        NEG_NEG,
        "(%n: i64[], %go: bool[], %x: f32[2]) -> (%y: f32[2])",
        "%0 = onnx.Loop(%n, %go, %x) : f32[2]
           region body(%i: i64[], %c: bool[], %v: f32[2]) {
             %1 = onnx.Neg(%v) %2 = onnx.Neg(%1) %3 = onnx.Exp(%2) %4 = onnx.Identity(%c)
             yield %4, %3
           }
         return %0",
        expect![[r#"
            %0 = onnx.Loop(%n, %go, %x) : f32[2]
              region body(%i: i64[], %c: bool[], %v: f32[2]) {
                %1 = onnx.Exp(%v) : f32[2]
                %2 = onnx.Identity(%c) : bool[]
                yield %2, %1
              }
            return %0
        "#]],
    );
}
