//! MergeRegions, after TVM's `tests/python/relay/test_pass_merge_compiler_regions.py`.

use super::check_merged;

#[test]
fn diamond_fanouts() {
    check_merged(
        &[("t", "onnx.Abs onnx.Relu onnx.Add")],
        "%x: f32[10]",
        "%a = onnx.Abs(%x)
         %b = onnx.Relu(%a)
         %c = onnx.Tanh(%a)
         %z = onnx.Add(%b, %c)
         return %z",
        &["Abs Relu", "Add"],
    );
}

#[test]
fn example_graph() {
    check_merged(
        &[("t", "onnx.Add")],
        "%i1: f32[10], %i2: f32[10], %i3: f32[10], %i4: f32[10], %i5: f32[10], %i6: f32[10], %i7: f32[10], %i8: f32[10], %i9: f32[10], %i10: f32[10]",
        "%n0 = onnx.Add(%i1, %i2)
         %n1 = onnx.Add(%i3, %i4)
         %n2 = onnx.Add(%n0, %n1)
         %n3 = onnx.Sub(%i5, %i6)
         %n4 = onnx.Sub(%i7, %n3)
         %n5 = onnx.Add(%n2, %n4)
         %n6 = onnx.Sub(%i8, %n5)
         %n7 = onnx.Add(%i9, %n5)
         %n8 = onnx.Add(%n6, %n7)
         %z = onnx.Add(%i10, %n8)
         return %z",
        &["Add Add Add Add Add", "Add Add"],
    );
}

#[test]
fn if_else() {
    check_merged(
        &[("t", "onnx.Sigmoid onnx.Erf onnx.Add")],
        "%x: f32[1,32]",
        "%a = onnx.Add(%x, %x)
         %s = onnx.Sub(%a, %x)
         %ra = onnx.ReduceSum(%a) {keepdims = 0}
         %rs = onnx.ReduceSum(%s) {keepdims = 0}
         %e = onnx.Equal(%ra, %rs)
         %i = onnx.If(%e) : f32[1,32]
         region then_branch {
         %t = onnx.Sigmoid(%a)
         yield %t
         }
         region else_branch {
         %u = onnx.Sigmoid(%s)
         yield %u
         }
         %f = onnx.Erf(%i)
         %z = onnx.Add(%a, %f)
         return %z",
        &["Add", "Sigmoid", "Sigmoid", "Erf Add"],
    );
}
