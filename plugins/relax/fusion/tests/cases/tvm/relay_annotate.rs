//! AnnotateTarget, after TVM's `tests/python/relay/test_pass_annotate_target.py`.

use super::{check_merged, check_partitioned};

#[test]
fn multiple_ends() {
    check_merged(
        &[("t", "onnx.Relu")],
        "%x: f32[10]",
        "%r = onnx.Relu(%x)
         %a = onnx.Abs(%r)
         %b = onnx.Abs(%r)
         %z = onnx.Add(%a, %b)
         return %z",
        &["Relu"],
    );
}

#[test]
fn type_propagation() {
    check_partitioned(
        &[("t", "onnx.Relu")],
        "%x: f32[10]",
        "%r = onnx.Relu(%x)
         %z = onnx.Relu(%r)
         return %z",
        &["Relu", "Relu"],
    );
}

#[test]
fn tuple() {
    check_merged(
        &[("t", "onnx.Relu onnx.Concat")],
        "%x: f32[10,5], %y: f32[10,5]",
        "%a = onnx.Relu(%x)
         %b = onnx.Relu(%y)
         %z = onnx.Concat(%a, %b) {axis = 1}
         return %z",
        &["Relu Relu Concat"],
    );
}

#[test]
fn double_target() {
    check_partitioned(
        &[("double_A", "onnx.Relu"), ("double_A", "onnx.Relu")],
        "%x: f32[10]",
        "%z = onnx.Relu(%x)
         return %z",
        &["Relu"],
    );
}

#[test]
fn different_targets() {
    check_partitioned(
        &[("A", "onnx.Relu"), ("B", "onnx.Add")],
        "%x: f32[10]",
        "%a = onnx.Relu(%x)
         %z = onnx.Add(%a, %a)
         return %z",
        &["Relu", "Add"],
    );
}

#[test]
fn multiple_runs() {
    check_partitioned(
        &[("A", "onnx.Relu"), ("B", "onnx.Add")],
        "%x: f32[10]",
        "%a = onnx.Relu(%x)
         %b = onnx.Abs(%a)
         %c = onnx.Relu(%a)
         %z = onnx.Add(%b, %c)
         return %z",
        &["Relu", "Relu", "Add"],
    );
}

#[test]
fn ends_with_tuple() {
    check_merged(
        &[("clip", "onnx.Clip")],
        "%x: f32[10]",
        "%l = const f32[] 0.0
         %h = const f32[] 15.0
         %k = const f32[] 31.0
         %a = onnx.Clip(%x, %l, %k)
         %b = onnx.Clip(%a, %l, %h)
         %c = onnx.Clip(%a, %h, %k)
         return %c, %b",
        &["Clip Clip Clip"],
    );
}

#[test]
fn if_else() {
    check_merged(
        &[("t", "onnx.Equal onnx.Tanh onnx.Sigmoid onnx.Erf")],
        "%x: f32[1,32], %p: f32[], %q: f32[]",
        "%e = onnx.Equal(%p, %q)
         %i = onnx.If(%e) : f32[1,32]
         region then_branch {
         %t = onnx.Tanh(%x)
         yield %t
         }
         region else_branch {
         %u = onnx.Sigmoid(%x)
         yield %u
         }
         %z = onnx.Erf(%i)
         return %z",
        &["Equal", "Tanh", "Sigmoid", "Erf"],
    );
}

#[test]
fn while_let() {
    check_merged(
        &[("t", "onnx.Less onnx.Add")],
        "%v: f32[2]",
        "%zero = const f32[2] [0.0, 0.0]
         %m = const i64[] 10
         %t = const bool[] true
         %z = onnx.Loop(%m, %t, %zero) : f32[2]
         region body(%i: i64[], %c: bool[], %s: f32[2]) {
         %ten = const i64[] 10
         %d = onnx.Less(%i, %ten)
         %u = onnx.Add(%s, %v)
         yield %d, %u
         }
         return %z",
        &["Less", "Add"],
    );
}
