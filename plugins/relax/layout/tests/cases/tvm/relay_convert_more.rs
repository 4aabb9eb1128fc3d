//! ConvertLayout, after TVM's `tests/python/relay/test_pass_convert_op_layout.py`: the second half.

use expect_test::expect;

use crate::laid::{check, check_stays};

#[test]
fn qnn_conv_nhwc_convert_layout() {
    check(
        "onnx.ConvInteger NHWC",
        "%x: u8[1,8,5,5], %w: u8[8,8,3,3]",
        "%c = onnx.ConvInteger(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.Relu(%c)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : u8[1,5,5,8]
            %1 = passdock.layout.ConvInteger_NHWC(%0, %w) : i32[1,5,5,8]
            %2 = onnx.Relu(%1) : i32[1,5,5,8]
            %y = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : i32[1,8,5,5]
            return %y
        "#]],
    );
}

/// Scales are those of an axis, wherever it lies.
#[test]
fn qnn_conv_per_axis_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %s: f32[8], %z: u8[8]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %q = onnx.QuantizeLinear(%c, %s, %z) {axis = 1}
         %y = onnx.DequantizeLinear(%q, %s, %z) {axis = 1}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = onnx.QuantizeLinear(%1, %s, %z) {axis = 3} : u8[1,5,5,8]
            %3 = onnx.DequantizeLinear(%2, %s, %z) {axis = 3} : f32[1,5,5,8]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv_convert_kernel_layout() {
    check(
        "onnx.Conv default OHWI",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         return %c",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[8,3,3,8]
            %c = passdock.layout.Conv_OHWI(%x, %0) : f32[1,8,5,5]
            return %c
        "#]],
    );
}

#[test]
fn conv_roi_align_convert_layout() {
    check(
        "onnx.Conv NHWC; onnx.RoiAlign NHWC",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %rois: f32[3,4], %of: i64[3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.RoiAlign(%c, %rois, %of) {output_height = 2, output_width = 2}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = passdock.layout.RoiAlign_NHWC(%1, %rois, %of) : f32[3,2,2,8]
            %y = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[3,8,2,2]
            return %y
        "#]],
    );
}

#[test]
fn conv_strided_slice_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %r = onnx.Relu(%c)
         %b = const i64[2] [0, 1]
         %e = const i64[2] [1, -1]
         %s = const i64[2] [1, 2]
         %y = onnx.Slice(%r, %b, %e, _, %s)
         return %y",
        expect![[r#"
            %b = const i64[2] [0, 1]
            %e = const i64[2] [1, -1]
            %s = const i64[2] [1, 2]
            %0 = const i64[2] [0, 3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %2 = passdock.layout.Conv_NHWC(%1, %w) : f32[1,5,5,8]
            %3 = onnx.Relu(%2) : f32[1,5,5,8]
            %4 = onnx.Slice(%3, %b, %e, %0, %s) : f32[1,5,5,3]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[1,3,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv_split_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %r = onnx.Relu(%c)
         %n = const i64[2] [4, 4]
         %a, %b = onnx.Split(%r, %n) {axis = 1}
         return %a, %b",
        expect![[r#"
            %n = const i64[2] [4, 4]
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = onnx.Relu(%1) : f32[1,5,5,8]
            %3, %4 = onnx.Split(%2, %n) {axis = 3} : f32[1,5,5,4], f32[1,5,5,4]
            %b = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[1,4,5,5]
            %a = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[1,4,5,5]
            return %a, %b
        "#]],
    );
}

#[test]
fn conv_strided_slice_axes_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %b = const i64[2] [0, 4]
         %e = const i64[2] [1, 33]
         %a = const i64[2] [0, -3]
         %y = onnx.Slice(%c, %b, %e, %a)
         return %y",
        expect![[r#"
            %b = const i64[2] [0, 4]
            %e = const i64[2] [1, 33]
            %0 = const i64[2] [0, 3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %2 = passdock.layout.Conv_NHWC(%1, %w) : f32[1,5,5,8]
            %3 = onnx.Slice(%2, %b, %e, %0) : f32[1,5,5,4]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[1,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv_topk_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %k = const i64[1] [2]
         %y, %i = onnx.TopK(%c, %k) {axis = 2}
         return %y, %i",
        expect![[r#"
            %k = const i64[1] [2]
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2, %3 = onnx.TopK(%1, %k) {axis = 1} : f32[1,2,5,8], i64[1,2,5,8]
            %i = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : i64[1,8,2,5]
            %y = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[1,8,2,5]
            return %y, %i
        "#]],
    );
}

#[test]
fn conv_roi_pool_convert_layout() {
    check(
        "onnx.Conv NHWC",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %rois: f32[3,5]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.MaxRoiPool(%c, %rois) {pooled_shape = [2, 2]}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = passdock.layout.MaxRoiPool_NHWC(%1, %rois) : f32[3,2,2,8]
            %y = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[3,8,2,2]
            return %y
        "#]],
    );
}

#[test]
fn default_keyword() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         return %c",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %c = onnx.Transpose(%1) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            return %c
        "#]],
    );
}

/// What is asked for in its own layout stays, between two that aren't.
#[test]
fn different_ops_convert_layout() {
    check(
        "onnx.Conv NHWC HWIO; onnx.QLinearConv NCHW; onnx.ConvTranspose NHWC",
        "%x: f32[1,8,5,5], %w1: f32[8,8,3,3], %w2: i8[8,8,3,3], %w3: f32[8,8,3,3]",
        "%s = const f32[] 1.0
         %p = const i8[] 1
         %c = onnx.Conv(%x, %w1) {pads = [1, 1, 1, 1]}
         %q = onnx.Cast(%c) {to = 3}
         %d = onnx.QLinearConv(%q, %s, %p, %w2, %s, %p, %s, %p) {pads = [1, 1, 1, 1]}
         %e = onnx.Cast(%d) {to = 1}
         %y = onnx.ConvTranspose(%e, %w3) {pads = [1, 1, 1, 1]}
         return %y",
        expect![[r#"
            %s = const f32[] 1.0
            %p = const i8[] 1
            %0 = onnx.Transpose(%w1) {perm = [2, 3, 1, 0]} : f32[3,3,8,8]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %2 = passdock.layout.Conv_NHWC_HWIO(%1, %0) : f32[1,5,5,8]
            %3 = onnx.Cast(%2) {to = 3} : i8[1,5,5,8]
            %q = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : i8[1,8,5,5]
            %d = onnx.QLinearConv(%q, %s, %p, %w2, %s, %p, %s, %p) {pads = [1, 1, 1, 1]} : i8[1,8,5,5]
            %e = onnx.Cast(%d) {to = 1} : f32[1,8,5,5]
            %4 = onnx.Transpose(%e) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %5 = passdock.layout.ConvTranspose_NHWC(%4, %w3) : f32[1,5,5,8]
            %y = onnx.Transpose(%5) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            return %y
        "#]],
    );
}

/// In TVM an op that nothing is asked for stays; here it follows, which takes as many `Transpose`s.
#[test]
fn no_desired_layout_follows() {
    check(
        "onnx.Conv NHWC HWIO",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %rois: f32[3,4], %of: i64[3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.RoiAlign(%c, %rois, %of) {output_height = 2, output_width = 2}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [2, 3, 1, 0]} : f32[3,3,8,8]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %2 = passdock.layout.Conv_NHWC_HWIO(%1, %0) : f32[1,5,5,8]
            %3 = passdock.layout.RoiAlign_NHWC(%2, %rois, %of) : f32[3,2,2,8]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[3,8,2,2]
            return %y
        "#]],
    );
}

#[test]
fn no_desired_layout() {
    check_stays(
        "onnx.RoiAlign default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %rois: f32[3,4], %of: i64[3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.RoiAlign(%c, %rois, %of) {output_height = 2, output_width = 2}
         return %y",
    );
}

/// No kernel has its spatial axes turned around.
#[test]
fn convert_with_config() {
    check_stays(
        "onnx.Conv NWHC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         return %c",
    );
}

#[test]
fn conv_squeeze_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,1,1], %w: f32[16,8,1,1]",
        "%c = onnx.Conv(%x, %w)
         %r = onnx.Relu(%c)
         %a = const i64[1] [-2]
         %y = onnx.Squeeze(%r, %a)
         return %y",
        expect![[r#"
            %0 = const i64[4] [1, 1, 1, 8]
            %1 = const i64[1] [1]
            %2 = onnx.Reshape(%x, %0) : f32[1,1,1,8]
            %3 = passdock.layout.Conv_NHWC(%2, %w) : f32[1,1,1,16]
            %4 = onnx.Relu(%3) : f32[1,1,1,16]
            %5 = onnx.Squeeze(%4, %1) : f32[1,1,16]
            %y = onnx.Transpose(%5) {perm = [0, 2, 1]} : f32[1,16,1]
            return %y
        "#]],
    );
}

#[test]
fn conv_squeeze_all_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,1,1], %w: f32[16,8,1,1]",
        "%c = onnx.Conv(%x, %w)
         %r = onnx.Relu(%c)
         %y = onnx.Squeeze(%r)
         return %y",
        expect![[r#"
            %0 = const i64[4] [1, 1, 1, 8]
            %1 = const i64[3] [0, 1, 2]
            %2 = onnx.Reshape(%x, %0) : f32[1,1,1,8]
            %3 = passdock.layout.Conv_NHWC(%2, %w) : f32[1,1,1,16]
            %4 = onnx.Relu(%3) : f32[1,1,1,16]
            %y = onnx.Squeeze(%4, %1) : f32[16]
            return %y
        "#]],
    );
}

#[test]
fn conv_reduce_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %r = onnx.Relu(%c)
         %a = const i64[2] [2, 3]
         %s = onnx.ReduceSum(%r, %a) {keepdims = 0}
         %b = const i64[1] [1]
         %t = onnx.ReduceSum(%s, %b) {keepdims = 0}
         %y = onnx.ReduceSum(%t) {keepdims = 0}
         return %y",
        expect![[r#"
            %b = const i64[1] [1]
            %0 = const i64[2] [1, 2]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %2 = passdock.layout.Conv_NHWC(%1, %w) : f32[1,5,5,8]
            %3 = onnx.Relu(%2) : f32[1,5,5,8]
            %s = onnx.ReduceSum(%3, %0) {keepdims = 0} : f32[1,8]
            %t = onnx.ReduceSum(%s, %b) {keepdims = 0} : f32[1]
            %y = onnx.ReduceSum(%t) {keepdims = 0} : f32[]
            return %y
        "#]],
    );
}

#[test]
fn conv_reduce_all_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.ReduceMax(%c) {keepdims = 0}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %y = onnx.ReduceMax(%1) {keepdims = 0} : f32[]
            return %y
        "#]],
    );
}

#[test]
fn image_resize2d_convert_layout() {
    check(
        "onnx.Resize NHWC",
        "%x: f32[1,2,4,4]",
        "%s = const f32[4] [1.0, 1.0, 2.0, 2.0]
         %y = onnx.Resize(%x, _, %s)
         return %y",
        expect![[r#"
            %s = const f32[4] [1.0, 1.0, 2.0, 2.0]
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,4,4,2]
            %1 = passdock.layout.Resize_NHWC(%0, %s) : f32[1,8,8,2]
            %y = onnx.Transpose(%1) {perm = [0, 3, 1, 2]} : f32[1,2,8,8]
            return %y
        "#]],
    );
}

#[test]
fn conv_image_resize2d_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %s = const i64[4] [1, 8, 10, 10]
         %y = onnx.Resize(%c, _, _, %s)
         return %y",
        expect![[r#"
            %s = const i64[4] [1, 8, 10, 10]
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = passdock.layout.Resize_NHWC(%1, %s) : f32[1,10,10,8]
            %y = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[1,8,10,10]
            return %y
        "#]],
    );
}

/// Of an op that nobody defines nothing is known: it has its operand in its own layout.
#[test]
fn infer_correct_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %r = acme.Relu(%c)
         %y = onnx.Relu(%r)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %c = onnx.Transpose(%1) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            %r = acme.Relu(%c)
            %y = onnx.Relu(%r)
            return %y
        "#]],
    );
}

#[test]
fn reduce_op_argmax_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.ArgMax(%c) {axis = 1, keepdims = 0}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %y = onnx.ArgMax(%1) {keepdims = 0, axis = 3} : i64[1,5,5]
            return %y
        "#]],
    );
}

#[test]
fn reduce_op_mean_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.ReduceMean(%c) {axes = [2, 3], keepdims = 1}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = onnx.ReduceMean(%1) {keepdims = 1, axes = [1, 2]} : f32[1,1,1,8]
            %y = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[1,8,1,1]
            return %y
        "#]],
    );
}

#[test]
fn reduce_op_max_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.ReduceMax(%c) {axes = [-1], keepdims = 0}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = onnx.ReduceMax(%1) {keepdims = 0, axes = [2]} : f32[1,5,8]
            %y = onnx.Transpose(%2) {perm = [0, 2, 1]} : f32[1,8,5]
            return %y
        "#]],
    );
}

#[test]
fn conv_max_pool_uses_specified_convert_layout() {
    check(
        "onnx.Conv NHWC OHWI; onnx.MaxPool NHWC",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %r = onnx.Relu(%c)
         %p = onnx.MaxPool(%r) {kernel_shape = [2, 2]}
         %y = onnx.Flatten(%p)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[8,3,3,8]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[1,5,5,8]
            %3 = onnx.Relu(%2) : f32[1,5,5,8]
            %4 = passdock.layout.MaxPool_NHWC(%3) : f32[1,4,4,8]
            %p = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[1,8,4,4]
            %y = onnx.Flatten(%p) : f32[1,128]
            return %y
        "#]],
    );
}

#[test]
fn simulated_quantize_uses_specified_convert_layout() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %s = const f32[] 0.1
         %z = const u8[] 0
         %q = onnx.QuantizeLinear(%c, %s, %z)
         %d = onnx.DequantizeLinear(%q, %s, %z)
         %y = onnx.Relu(%d)
         return %y",
        expect![[r#"
            %s = const f32[] 0.1
            %z = const u8[] 0
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[8,3,3,8]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[1,5,5,8]
            %3 = onnx.QuantizeLinear(%2, %s, %z) : u8[1,5,5,8]
            %4 = onnx.DequantizeLinear(%3, %s, %z) : f32[1,5,5,8]
            %5 = onnx.Relu(%4) : f32[1,5,5,8]
            %y = onnx.Transpose(%5) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            return %y
        "#]],
    );
}

/// Three channels aren't of whole blocks: the first one only gives what is in blocks.
#[test]
fn resnet_convert_layout_nchwc() {
    check(
        "onnx.Conv NCHW4c OIHW4i4o",
        "%x: f32[1,3,16,16], %w1: f32[8,3,3,3], %w2: f32[8,8,3,3], %w3: f32[8,8,1,1]",
        "%c1 = onnx.Conv(%x, %w1) {pads = [1, 1, 1, 1], strides = [2, 2]}
         %r1 = onnx.Relu(%c1)
         %p = onnx.MaxPool(%r1) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]}
         %c2 = onnx.Conv(%p, %w2) {pads = [1, 1, 1, 1]}
         %r2 = onnx.Relu(%c2)
         %c3 = onnx.Conv(%p, %w3)
         %r3 = onnx.Relu(%c3)
         %a = onnx.Add(%r2, %r3)
         %y = onnx.GlobalMaxPool(%a)
         return %y",
        expect![[r#"
            %0 = const i64[6] [2, 4, 2, 4, 3, 3]
            %1 = const i64[6] [2, 4, 2, 4, 1, 1]
            %2 = const i64[4] [1, 8, 1, 1]
            %3 = onnx.Reshape(%w3, %1) : f32[2,4,2,4,1,1]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,1,1,4,4]
            %5 = onnx.Reshape(%w2, %0) : f32[2,4,2,4,3,3]
            %6 = onnx.Transpose(%5) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %7 = passdock.layout.Conv_to_NCHW4c(%x, %w1) : f32[1,2,8,8,4]
            %8 = onnx.Relu(%7) : f32[1,2,8,8,4]
            %9 = passdock.layout.MaxPool_NCHW4c(%8) : f32[1,2,4,4,4]
            %10 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%9, %6) : f32[1,2,4,4,4]
            %11 = onnx.Relu(%10) : f32[1,2,4,4,4]
            %12 = passdock.layout.Conv_NCHW4c_OIHW4i4o_1(%9, %4) : f32[1,2,4,4,4]
            %13 = onnx.Relu(%12) : f32[1,2,4,4,4]
            %14 = onnx.Add(%11, %13) : f32[1,2,4,4,4]
            %15 = passdock.layout.GlobalMaxPool_NCHW4c(%14) : f32[1,2,1,1,4]
            %16 = onnx.Transpose(%15) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,1,1]
            %y = onnx.Reshape(%16, %2) : f32[1,8,1,1]
            return %y
        "#]],
    );
}

#[test]
fn conv_l2n_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.LpNormalization(%c) {axis = 1, p = 2}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = onnx.LpNormalization(%1) {p = 2, axis = 3} : f32[1,5,5,8]
            %y = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            return %y
        "#]],
    );
}
