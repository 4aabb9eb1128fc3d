//! FuseOps, after TVM's `tests/python/relax/test_transform_fuse_ops.py`.

use super::check_fused;

#[test]
fn simple() {
    check_fused(
        "%x: f32[10,20]",
        "%one = const f32[] 1.0
         %a = onnx.Add(%x, %one)
         %b = onnx.Exp(%a)
         %c = onnx.Squeeze(%b)
         return %c",
        &["Add Exp Squeeze"],
    );
}

#[test]
fn conv2d_fuse() {
    check_fused(
        "%x: f32[1,16,64,64], %w1: f32[16,16,3,3], %w2: f32[16,16,1,1], %w3: f32[16,16,3,3]",
        "%one = const f32[] 1.0
         %l0 = onnx.Add(%x, %one)
         %l1 = onnx.Conv(%l0, %w1) {pads = [1, 1, 1, 1]}
         %l2 = onnx.Add(%one, %l1)
         %l3 = onnx.Add(%l1, %l2)
         %l4 = onnx.Conv(%l3, %w2)
         %l5 = onnx.Conv(%l3, %w3) {pads = [1, 1, 1, 1]}
         %z = onnx.Add(%l4, %l5)
         return %z",
        &["Conv Add Add", "Conv Add"],
    );
}

#[test]
fn concatenate() {
    check_fused(
        "%x: f32[1,16,64,64]",
        r#"%one = const f32[] 1.0
         %s = const f32[4] [1.0, 1.0, 2.0, 2.0]
         %p = onnx.MaxPool(%x) {kernel_shape = [2, 2], strides = [2, 2]}
         %u = onnx.Resize(%p, _, %s) {mode = "nearest"}
         %c = onnx.Concat(%u, %x) {axis = 1}
         %z = onnx.Add(%c, %one)
         return %z"#,
        &["Resize Concat Add"],
    );
}

#[test]
fn tuple_root() {
    check_fused(
        "%x: f32[1,16,64,64]",
        r#"%s = const f32[4] [1.0, 1.0, 2.0, 2.0]
         %p = onnx.MaxPool(%x) {kernel_shape = [2, 2], strides = [2, 2]}
         %u = onnx.Resize(%p, _, %s) {mode = "nearest"}
         return %u"#,
        &[],
    );
}

#[test]
fn tuple_get_elemwise() {
    check_fused(
        "%x: f32[1,10], %w: f32[10,30]",
        "%d = onnx.MatMul(%x, %w)
         %a, %b, %c = onnx.Split(%d) {axis = 1}
         %e = onnx.Sigmoid(%a)
         %f = onnx.Tanh(%b)
         %g = onnx.Exp(%c)
         %h = onnx.Mul(%f, %g)
         %z = onnx.Add(%e, %h)
         return %z",
        &["Split Sigmoid Tanh Exp Mul Add"],
    );
}

#[test]
fn tuple_get_root() {
    check_fused(
        "%x: f32[1,30], %w: f32[10,10]",
        "%a, %b, %c = onnx.Split(%x) {axis = 1}
         %z = onnx.MatMul(%a, %w)
         return %z",
        &[],
    );
}

#[test]
fn tuple_intermediate() {
    check_fused(
        "%x: f32[1,16,64,64]",
        "%one = const f32[] 1.0
         %l0 = onnx.Squeeze(%x)
         %l1 = onnx.Add(%l0, %one)
         %l2 = onnx.Squeeze(%l0)
         %l3 = onnx.Add(%l2, %one)
         %l4 = onnx.Add(%l3, %one)
         %l5 = onnx.Add(%l0, %one)
         %l6 = onnx.Concat(%l1, %l4, %l5) {axis = 1}
         %l7 = onnx.Squeeze(%l6)
         %z = onnx.Add(%l7, %one)
         return %z",
        &["Squeeze Add Squeeze Add Add Add Concat Squeeze Add"],
    );
}

#[test]
fn tuple_consecutive() {
    check_fused(
        "%x: f32[1,16,64,64]",
        "%one = const f32[] 1.0
         %a00 = onnx.Add(%x, %one)
         %a01 = onnx.Add(%x, %one)
         %a02 = onnx.Add(%x, %one)
         %c0 = onnx.Concat(%a00, %a01, %a02) {axis = 1}
         %d0 = onnx.Add(%c0, %one)
         %a10 = onnx.Add(%x, %one)
         %a11 = onnx.Add(%x, %one)
         %a12 = onnx.Add(%x, %one)
         %c1 = onnx.Concat(%a10, %a11, %a12) {axis = 1}
         %d1 = onnx.Add(%c1, %one)
         %a20 = onnx.Add(%x, %one)
         %a21 = onnx.Add(%x, %one)
         %a22 = onnx.Add(%x, %one)
         %c2 = onnx.Concat(%a20, %a21, %a22) {axis = 1}
         %d2 = onnx.Add(%c2, %one)
         %e = onnx.Concat(%d0, %d1, %d2) {axis = 1}
         %p = onnx.MaxPool(%e) {kernel_shape = [2, 2], strides = [2, 2]}
         %f = onnx.Add(%p, %one)
         %g = onnx.Add(%f, %one)
         return %f, %g",
        &[
            "Add Add Add Concat Add Add Add Add Concat Add Add Add Add Concat Add Concat",
            "MaxPool Add",
        ],
    );
}

#[test]
fn inception_like() {
    check_fused(
        "%x: f32[1,16,64,64], %w0: f32[16,16,3,3], %w1: f32[16,16,3,3], %w2: f32[16,32,3,3], %w3: f32[16,32,3,3]",
        "%l0 = onnx.Conv(%x, %w0) {pads = [1, 1, 1, 1]}
         %l1 = onnx.Relu(%l0)
         %l2 = onnx.Conv(%x, %w1) {pads = [1, 1, 1, 1]}
         %l3 = onnx.Relu(%l2)
         %l4 = onnx.Concat(%l1, %l3) {axis = 1}
         %l5 = onnx.Conv(%l4, %w2) {pads = [1, 1, 1, 1]}
         %l6 = onnx.Relu(%l5)
         %l7 = onnx.Conv(%l4, %w3) {pads = [1, 1, 1, 1]}
         %l8 = onnx.Relu(%l7)
         %z = onnx.Concat(%l6, %l8) {axis = 1}
         return %z",
        &["Conv Relu", "Conv Relu", "Conv Relu", "Conv Relu"],
    );
}

#[test]
fn parallel_injective() {
    check_fused(
        "%x: u32[10,20]",
        r#"%one = const u32[] 1
         %l0 = onnx.Add(%x, %one)
         %l1 = onnx.Squeeze(%l0)
         %l2 = onnx.Transpose(%l0) {perm = [1, 0]}
         %l3 = onnx.Transpose(%l2) {perm = [1, 0]}
         %z = onnx.BitShift(%l1, %l3) {direction = "LEFT"}
         return %z"#,
        &["Add Squeeze Transpose Transpose BitShift"],
    );
}

#[test]
fn softmax() {
    check_fused(
        "%x: f32[16,16]",
        "%l = onnx.Softmax(%x)
         %z = onnx.Cast(%l) {to = 10}
         return %z",
        &["Softmax Cast"],
    );
}

#[test]
fn skip_call_dps_packed() {
    check_fused(
        "%x: f32[2,3]",
        "%y = acme.Packed(%x) : f32[2,3]
         return %y",
        &[],
    );
}

#[test]
fn edge_with_call_dps_packed() {
    check_fused(
        "%x: f32[2,3]",
        "%a = onnx.Exp(%x)
         %b = onnx.Exp(%a)
         %c = acme.Packed(%a) : f32[2,3]
         return %b, %c",
        &[],
    );
}

#[test]
fn layer_norm_silu() {
    check_fused(
        "%x: f32[1,512,64,64], %m: f32[64,64], %v: f32[64,64]",
        "%l = onnx.LayerNormalization(%x, %m, %v) {axis = 2}
         %z = onnx.Relu(%l)
         return %z",
        &["LayerNormalization Relu"],
    );
}

#[test]
fn multiple_paths() {
    check_fused(
        "%i0: f32[2,320,64,64], %i1: f32[2,1280], %w1: f32[320,320,3,3], %b1: f32[320], %w2: f32[320,1280], %b2: f32[320]",
        "%s1 = const i64[4] [1, 320, 1, 1]
         %s2 = const i64[4] [2, 320, 1, 1]
         %l27 = onnx.Conv(%i0, %w1) {pads = [1, 1, 1, 1]}
         %l28 = onnx.Reshape(%b1, %s1)
         %l29 = onnx.Add(%l27, %l28)
         %l31 = onnx.Transpose(%w2)
         %l32 = onnx.MatMul(%i1, %l31)
         %l33 = onnx.Add(%l32, %b2)
         %l35 = onnx.Reshape(%l33, %s2)
         %z = onnx.Add(%l29, %l35)
         return %z",
        &["MatMul Add", "Conv Add Add"],
    );
}

#[test]
fn dead_group() {
    check_fused(
        "%i0: f32[1,784], %i1: f32[1,128], %b1: f32[128], %w1: f32[128,784], %b2: f32[10], %w2: f32[10,128]",
        "%l = onnx.Transpose(%w1)
         %l1 = onnx.MatMul(%i0, %l)
         %l2 = onnx.Add(%l1, %b1)
         %l3 = onnx.Relu(%l2)
         %l4 = onnx.Transpose(%w2)
         %l5 = onnx.MatMul(%i1, %l4)
         %z = onnx.Add(%l5, %b2)
         return %z",
        &["MatMul Add"],
    );
}

#[test]
fn symbolic_shape_aware_fuse() {
    check_fused(
        "%x: f32[n,m]",
        "%one = const f32[] 1.0
         %a = onnx.Add(%x, %one)
         %b = onnx.Exp(%a)
         %c = onnx.Squeeze(%b)
         return %c",
        &["Add Exp Squeeze"],
    );
}

#[test]
fn symbolic_shape_aware_fuse_2() {
    check_fused(
        "%s: i64[2]",
        "%two = const i64[2] [1, 1]
         %four = onnx.Concat(%two, %s) {axis = 0}
         %l0 = onnx.ConstantOfShape(%s)
         %one = const i64[] 1
         %l1 = onnx.Trilu(%l0, %one)
         %z = onnx.Expand(%l1, %four)
         return %z",
        &["Concat ConstantOfShape Trilu Expand"],
    );
}

#[test]
fn shape_expr_arg() {
    check_fused(
        "%s: i64[2], %kv: ?",
        "%two = const i64[2] [1, 1]
         %four = onnx.Concat(%two, %s) {axis = 0}
         %l0 = onnx.ConstantOfShape(%s)
         %one = const i64[] 1
         %l1 = onnx.Trilu(%l0, %one)
         %z = onnx.Expand(%l1, %four)
         %y = acme.View(%kv, %s)
         return %y, %z",
        &["Concat ConstantOfShape Trilu Expand"],
    );
}

#[test]
fn skipping_match_cast() {
    check_fused(
        "%x: f32[10,20]",
        "%y = onnx.Identity(%x)
         return %y",
        &[],
    );
}

#[test]
fn skipping_primvalue() {
    check_fused(
        "%x: f32[2,2]",
        r#"%a = acme.f1(%x) {k = 0} : f32[2,2]
         %b = acme.f2(%a) {k = "str"} : f32[2,2]
         %y = acme.f3(%b) {k = 1} : f32[2,2]
         return %y"#,
        &[],
    );
}

#[test]
fn partially_used_tuple_param() {
    check_fused(
        "%x0: f32[2], %x1: f32[2], %x2: f32[2]",
        "%one = const f32[] 1.0
         %a = onnx.Add(%x0, %one)
         %y = onnx.Div(%a, %one)
         return %y",
        &["Add Div"],
    );
}

#[test]
fn packed_params() {
    check_fused(
        "%x: f32[16,16], %p: f16[16,16], %q: f16[16,16]",
        "%l2 = onnx.Cast(%p) {to = 1}
         %l3 = onnx.MatMul(%x, %l2)
         %l4 = onnx.Cast(%q) {to = 1}
         %z = onnx.MatMul(%l3, %l4)
         return %z",
        &[],
    );
}
