//! Legalize, after TVM's `tests/python/relay/test_pass_legalize.py` and `tests/python/relax/test_transform_legalize_ops*.py`, as far
//! as these are about the pass: what becomes of each operator is its definition's to say.

use expect_test::{Expect, expect};
use passdock::Registry;

use super::npu::{registry, registry_with_another};
use super::{INFER, module_of};
use crate::support;

const LEGALIZE: &str = "relax.transform.Legalize";

/// Legalizes what a module has, and compares it. A second run has to change nothing, and so has one without the plugins.
#[track_caller]
fn check_module(registry: &Registry, source: &str, expected: Expect) {
    let run = |registry: &Registry, passes: &[&str], text: &str| {
        passdock::testing::run_on_text(registry, passes, text, |context| context)
    };
    let nobody = support::registry();
    let without = run(&nobody, &[INFER], source);
    assert_eq!(without, run(&nobody, &[INFER, LEGALIZE], source));
    let once = run(registry, &[INFER, LEGALIZE], source);
    if once.starts_with("module") {
        assert_eq!(once, run(registry, &[LEGALIZE], &once));
    }
    expected.assert_eq(&once);
}

#[track_caller]
fn check(params: &str, results: &str, body: &str, expected: Expect) {
    check_module(&registry(), &module_of(params, results, body), expected);
}

/// Relay takes a legal form as it is; here, as in Relax, it is legalized in turn, so one that has the very op needs a condition.
#[test]
fn legalize() {
    check(
        "%x: f32[2,3], %w: f32[3,4]",
        "(%y: f32[2,4])",
        "%y = onnx.MatMul(%x, %w) : f32[2,4]
         return %y",
        expect![[r#"
            error[pass-failed]: The body of onnx.MatMul never comes to an end: it is made of itself.
             --> test.ir:1:105
              |
            1 | module { fn @main(%x: f32[2,3], %w: f32[3,4]) -> (%y: f32[2,4]) opset("" = 20, "acme" = 1, "npu" = 1) { %y = onnx.MatMul(%x, %w) : f3...
              |                                                                                                         ^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.Legalize of plugin relax, function @main, op129 (onnx.MatMul)"#]],
    );
}

/// The definition says of this op that it is legal.
#[test]
fn legalize_none() {
    check(
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "(%y: f32[1,8,3,3])",
        "%y = onnx.Conv(%x, %w) : f32[1,8,3,3]
         return %y",
        expect![[r#"
            module {
              fn @main(%x: f32[1,8,5,5], %w: f32[8,8,3,3]) -> (%y: f32[1,8,3,3]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %y = onnx.Conv(%x, %w) : f32[1,8,3,3]
                return %y
              }
            }
        "#]],
    );
}

#[test]
fn legalize_multiple_ops() {
    check(
        "%x: f32[1,6,5,5], %w: f32[8,6,3,3]",
        "(%y: f32[1,8,5,5])",
        r#"%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]} : f32[1,8,5,5] loc("conv")
         %y = onnx.Relu(%c) : f32[1,8,5,5] loc("relu")
         return %y"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,6,5,5], %w: f32[8,6,3,3]) -> (%y: f32[1,8,5,5]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %0 = const i64[8] [0, 0, 0, 0, 0, 2, 0, 0]
                %1 = const f32[] 0.0
                %2 = onnx.Pad(%x, %0) : f32[1,8,5,5] loc("conv")
                %3 = onnx.Pad(%w, %0) : f32[8,8,3,3] loc("conv")
                %c = onnx.Conv(%2, %3) {pads = [1, 1, 1, 1]} : f32[1,8,5,5] loc("conv")
                %y = onnx.Max(%1, %c) : f32[1,8,5,5] loc("relu")
                return %y
              }
            }
        "#]],
    );
}

/// A definition knows all operands of an op, and their types.
#[test]
fn legalize_multi_input() {
    check(
        "%x: f32[2,56], %y: f32[2,20], %z: f32[2,10], %u: f32[2,n]",
        "(%r: f32[2,n+86])",
        "%r = onnx.Concat(%x, %y, %z, %u) {axis = 1} : f32[2,n+86]
         return %r",
        expect![[r#"
            module {
              fn @main(%x: f32[2,56], %y: f32[2,20], %z: f32[2,10], %u: f32[2,n]) -> (%r: f32[2,n+86]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %0 = onnx.Concat(%z, %u) {axis = 1} : f32[2,n+10]
                %1 = onnx.Concat(%y, %0) {axis = 1} : f32[2,n+30]
                %r = onnx.Concat(%x, %1) {axis = 1} : f32[2,n+86]
                return %r
              }
            }
        "#]],
    );
}

#[test]
fn legalize_multi_input_of_another_type() {
    check(
        "%x: i8[2,56], %y: i8[2,20], %z: i8[2,10]",
        "(%r: i8[2,86])",
        "%r = onnx.Concat(%x, %y, %z) {axis = 1} : i8[2,86]
         return %r",
        expect![[r#"
            module {
              fn @main(%x: i8[2,56], %y: i8[2,20], %z: i8[2,10]) -> (%r: i8[2,86]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %r = onnx.Concat(%x, %y, %z) {axis = 1} : i8[2,86]
                return %r
              }
            }
        "#]],
    );
}

/// Its channels are padded, as the accelerator takes four at a time.
#[test]
fn conv2d_nhwc_legalize() {
    check(
        "%x: f32[1,3,1,1], %w: f32[4,3,1,1]",
        "(%y: f32[1,4,1,1])",
        "%y = onnx.Conv(%x, %w) : f32[1,4,1,1]
         return %y",
        expect![[r#"
            module {
              fn @main(%x: f32[1,3,1,1], %w: f32[4,3,1,1]) -> (%y: f32[1,4,1,1]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %0 = const i64[8] [0, 0, 0, 0, 0, 1, 0, 0]
                %1 = onnx.Pad(%x, %0) : f32[1,4,1,1]
                %2 = onnx.Pad(%w, %0) : f32[4,4,1,1]
                %y = onnx.Conv(%1, %2) : f32[1,4,1,1]
                return %y
              }
            }
        "#]],
    );
}

/// Nobody says anything of Add; of the Conv too little is known.
#[test]
fn can_not_legalize() {
    check(
        "%x: f32[1,c,5,5], %w: f32[8,c,3,3], %u: f32[*], %b: f32[8,1,1]",
        "(%y: f32[1,8,3,3], %z: f32[*])",
        "%a = onnx.Conv(%x, %w) : f32[1,8,3,3]
         %y = onnx.Add(%a, %b) : f32[1,8,3,3]
         %z = onnx.Conv(%u, %w) : f32[*]
         return %y, %z",
        expect![[r#"
            module {
              fn @main(%x: f32[1,c,5,5], %w: f32[8,c,3,3], %u: f32[*], %b: f32[8,1,1]) -> (%y: f32[1,8,3,3], %z: f32[*]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %a = onnx.Conv(%x, %w) : f32[1,8,3,3]
                %y = onnx.Add(%a, %b) : f32[1,8,3,3]
                %z = onnx.Conv(%u, %w) : f32[_1,8,_2,_3]
                return %y, %z
              }
            }
        "#]],
    );
}

/// It stays, where Relax raises an error.
#[test]
fn matmul_legalization_requires_known_dtype() {
    check(
        "%x: ?",
        "(%y)",
        "%y = onnx.Relu(%x)
         return %y",
        expect![[r#"
            module {
              fn @main(%x: ?) -> (%y) opset("" = 20, "acme" = 1, "npu" = 1) {
                %y = onnx.Relu(%x)
                return %y
              }
            }
        "#]],
    );
}

#[test]
fn legalize_scalar_data_type_preserve() {
    check(
        "%x: f16[3,3], %y: i8[3,3], %z: f64[3,3]",
        "(%a: f16[3,3], %b: i8[3,3], %c: f64[3,3])",
        "%a = onnx.Relu(%x) : f16[3,3]
         %b = onnx.Relu(%y) : i8[3,3]
         %c = onnx.Relu(%z) : f64[3,3]
         return %a, %b, %c",
        expect![[r#"
            module {
              fn @main(%x: f16[3,3], %y: i8[3,3], %z: f64[3,3]) -> (%a: f16[3,3], %b: i8[3,3], %c: f64[3,3]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %0 = const f16[] 0.0
                %1 = const i8[] 0
                %2 = const f64[] 0.0
                %a = onnx.Max(%0, %x) : f16[3,3]
                %b = onnx.Max(%1, %y) : i8[3,3]
                %c = onnx.Max(%2, %z) : f64[3,3]
                return %a, %b, %c
              }
            }
        "#]],
    );
}

#[test]
fn recursive_legalization() {
    check(
        "%x: f32[1,3,5,5], %w: f32[4,3,3,3]",
        "(%y: f32[1,4,3,3])",
        "%y = npu.ConvRelu(%x, %w)
         return %y",
        expect![[r#"
            module {
              fn @main(%x: f32[1,3,5,5], %w: f32[4,3,3,3]) -> (%y: f32[1,4,3,3]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %0 = const i64[8] [0, 0, 0, 0, 0, 1, 0, 0]
                %1 = const f32[] 0.0
                %2 = onnx.Pad(%x, %0) : f32[1,4,5,5]
                %3 = onnx.Pad(%w, %0) : f32[4,4,3,3]
                %4 = onnx.Conv(%2, %3) : f32[1,4,3,3]
                %y = onnx.Max(%1, %4) : f32[1,4,3,3]
                return %y
              }
            }
        "#]],
    );
}

/// An operand may stand for a result.
#[test]
fn dropout() {
    check(
        "%x: f32[2,3]",
        "(%y: f32[2,3], %z: bool[2,3])",
        "%d, %z = onnx.Dropout(%x) : f32[2,3], bool[2,3]
         %y = onnx.Abs(%d) : f32[2,3]
         return %y, %z",
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y: f32[2,3], %z: bool[2,3]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %0 = onnx.Shape(%x) : i64[2]
                %z = onnx.ConstantOfShape(%0) {value = tensor bool[1] [true]} : bool[2,3]
                %y = onnx.Abs(%x) : f32[2,3]
                return %y, %z
              }
            }
        "#]],
    );
}

/// What another plugin says of the same operator, and is registered later, comes first.
#[test]
fn customize_legalize() {
    check_module(
        &registry_with_another(),
        &module_of(
            "%x: f32[2,3]",
            "(%y: f32[2,3])",
            "%y = onnx.Relu(%x) : f32[2,3] return %y",
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 20, "acme" = 1, "npu" = 1) {
                %y = onnx.Abs(%x) : f32[2,3]
                return %y
              }
            }
        "#]],
    );
}

/// Functions that are called are legalized where they stand, and calls of them stay.
#[test]
fn legalize_multiple_types_of_call() {
    check_module(
        &registry(),
        r#"module {
  fn @own.twice(%x: f32[3,3]) -> (%y: f32[3,3]) opset("" = 20) {
    %y = onnx.Relu(%x) : f32[3,3]
    return %y
  }
  fn @main(%x: f32[3,3]) -> (%y: f32[3,3]) opset("" = 20, "own" = 1) {
    %a = call @own.twice(%x) : f32[3,3]
    %b = own.Other(%a) : f32[3,3]
    %y = onnx.Relu(%b) : f32[3,3]
    return %y
  }
}"#,
        expect![[r#"
            module {
              fn @own.twice(%x: f32[3,3]) -> (%y: f32[3,3]) opset("" = 20) {
                %0 = const f32[] 0.0
                %y = onnx.Max(%0, %x) : f32[3,3]
                return %y
              }
              fn @main(%x: f32[3,3]) -> (%y: f32[3,3]) opset("" = 20, "own" = 1) {
                %0 = const f32[] 0.0
                %a = call @own.twice(%x) : f32[3,3]
                %b = own.Other(%a) : f32[3,3]
                %y = onnx.Max(%0, %b) : f32[3,3]
                return %y
              }
            }
        "#]],
    );
}
