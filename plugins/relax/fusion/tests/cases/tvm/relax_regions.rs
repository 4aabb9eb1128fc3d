//! MergeRegions, after TVM's `tests/python/relax/test_transform_merge_composite_functions.py`.

use super::check_merged;

#[test]
fn x2() {
    check_merged(
        &[("t", "onnx.Abs onnx.Relu")],
        "%x: f32[10]",
        "%a = onnx.Abs(%x)
         %b = onnx.Relu(%a)
         %c = onnx.Abs(%b)
         %z = onnx.Relu(%c)
         return %z",
        &["Abs Relu Abs Relu"],
    );
}

#[test]
fn diamond_cyclic_dep() {
    check_merged(
        &[("A", "onnx.Abs onnx.Relu onnx.Add"), ("B", "onnx.Erf")],
        "%x: f32[10]",
        "%a = onnx.Abs(%x)
         %r = onnx.Relu(%a)
         %g = onnx.Erf(%a)
         %z = onnx.Add(%r, %g)
         return %z",
        &["Abs Relu", "Erf", "Add"],
    );
}

#[test]
fn diamond() {
    check_merged(
        &[("A", "onnx.Abs onnx.Relu onnx.Add onnx.Erf")],
        "%x: f32[10]",
        "%a = onnx.Abs(%x)
         %r = onnx.Relu(%a)
         %g = onnx.Erf(%a)
         %z = onnx.Add(%r, %g)
         return %z",
        &["Abs Relu Erf Add"],
    );
}

#[test]
fn producers() {
    check_merged(
        &[("A", "onnx.Relu onnx.Erf onnx.Add")],
        "%x: f32[10], %y: f32[10]",
        "%a = onnx.Relu(%x)
         %b = onnx.Erf(%y)
         %c = onnx.Relu(%a)
         %d = onnx.Erf(%b)
         %z = onnx.Add(%c, %d)
         return %z",
        &["Relu Erf Relu Erf Add"],
    );
}

#[test]
fn producers_cyclic() {
    check_merged(
        &[("A", "onnx.Relu onnx.Erf onnx.Add")],
        "%x: f32[10]",
        "%a = onnx.Relu(%x)
         %b = onnx.Abs(%a)
         %c = onnx.Erf(%b)
         %z = onnx.Add(%a, %c)
         return %z",
        &["Relu", "Erf Add"],
    );
}

#[test]
fn regions_example() {
    check_merged(
        &[("A", "onnx.Add onnx.Relu"), ("B", "onnx.Erf")],
        "%x: f32[10], %y: f32[10], %w: f32[10]",
        "%l = onnx.Add(%x, %y)
         %l1 = onnx.Erf(%w)
         %l11 = onnx.Add(%l, %l1)
         %l12 = onnx.Erf(%l11)
         %l2 = onnx.Relu(%l11)
         %l21 = onnx.Add(%l12, %l2)
         %z = onnx.Relu(%l21)
         return %z",
        &["Erf", "Add Add Relu", "Erf", "Add Relu"],
    );
}

#[test]
fn non_composite() {
    check_merged(
        &[("A", "onnx.Abs")],
        "%x: f32[10]",
        "%a = onnx.Abs(%x)
         %z = onnx.Relu(%a)
         return %z",
        &["Abs"],
    );
}

#[test]
fn reshape() {
    check_merged(
        &[("A", "onnx.Reshape onnx.MatMul")],
        "%x: f32[1,1,28,28], %w: f32[512,784]",
        "%s = const i64[2] [1, 784]
         %l = onnx.Reshape(%x, %s)
         %l1 = onnx.Transpose(%w)
         %z = onnx.MatMul(%l, %l1)
         return %z",
        &["Reshape MatMul"],
    );
}

#[test]
fn call_tir() {
    check_merged(
        &[("A", "onnx.Relu onnx.Erf")],
        "%x: f32[10]",
        "%a = onnx.Relu(%x)
         %b = acme.relu(%a) : f32[10]
         %z = onnx.Erf(%b)
         return %z",
        &["Relu", "Erf"],
    );
}
