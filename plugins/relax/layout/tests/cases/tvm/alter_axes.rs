//! AlterOpLayout, after TVM's `tests/python/relay/test_pass_alter_op_layout.py`: what has axes.

use expect_test::expect;

use crate::laid::check_altered;
use crate::vendor::registry;

#[test]
fn alter_layout_nchw_upsamping_op() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %s = const f32[4] [1.0, 1.0, 2.0, 2.0]
         %u = onnx.Resize(%c, _, %s)
         %y = onnx.AveragePool(%u) {kernel_shape = [2, 2], strides = [2, 2]}
         return %y",
        expect![[r#"
            %s = const f32[4] [1.0, 1.0, 2.0, 2.0]
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[4] [1, 8, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %5 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%6, %4) : f32[1,2,5,5,4]
            %8 = passdock.layout.Resize_NCHW4c(%7, %s) : f32[1,2,10,10,4]
            %9 = passdock.layout.AveragePool_NCHW4c(%8) : f32[1,2,5,5,4]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%10, %2) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

/// Its result's channels aren't known, so it gives it as it is.
#[test]
fn alter_layout_nchw_dyn_upsamping_op() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %s: f32[4]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %u = onnx.Resize(%c, _, %s)
         %y = onnx.AveragePool(%u) {kernel_shape = [2, 2], strides = [2, 2]}
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %3 = onnx.Transpose(%2) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %4 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %5 = onnx.Transpose(%4) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %6 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%5, %3) : f32[1,2,5,5,4]
            %u = passdock.layout.Resize_NCHW4c_to_default(%6, %s) : f32[_1,_2,_3,_4]
            %y = onnx.AveragePool(%u) {kernel_shape = [2, 2], strides = [2, 2]} : f32[_1,_2,_3/2,_4/2]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_strided_slice() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %b = const i64[2] [0, 4]
         %e = const i64[2] [1, 33]
         %a = const i64[2] [0, 1]
         %y = onnx.Slice(%c, %b, %e, %a)
         return %y",
        expect![[r#"
            %b = const i64[2] [0, 4]
            %e = const i64[2] [1, 33]
            %a = const i64[2] [0, 1]
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[4] [1, 8, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %5 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%6, %4) : f32[1,2,5,5,4]
            %8 = onnx.Transpose(%7) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %c = onnx.Reshape(%8, %2) : f32[1,8,5,5]
            %y = onnx.Slice(%c, %b, %e, %a) : f32[1,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_strided_slice_axes_nhwc() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %b = const i64[2] [0, 1]
         %e = const i64[2] [1, 4]
         %a = const i64[2] [0, 3]
         %y = onnx.Slice(%c, %b, %e, %a)
         return %y",
        expect![[r#"
            %b = const i64[2] [0, 1]
            %e = const i64[2] [1, 4]
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[2] [0, 3]
            %3 = const i64[4] [1, 8, 5, 3]
            %4 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %6 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %7 = onnx.Transpose(%6) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %8 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%7, %5) : f32[1,2,5,5,4]
            %9 = onnx.Slice(%8, %b, %e, %2) : f32[1,2,5,3,4]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,3]
            %y = onnx.Reshape(%10, %3) : f32[1,8,5,3]
            return %y
        "#]],
    );
}

/// The plugin wants none with groups.
#[test]
fn alter_layout_depthwise_conv2d() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,1,3,3]",
        "%c = onnx.Conv(%x, %w) {group = 8, pads = [1, 1, 1, 1]}
         return %c",
        expect![[r#"
            %c = onnx.Conv(%x, %w) {group = 8, pads = [1, 1, 1, 1]} : f32[1,8,5,5]
            return %c
        "#]],
    );
}

#[test]
fn alter_layout_prelu() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %s: f32[8,1,1]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.PRelu(%c, %s)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[4] [2, 1, 1, 4]
            %3 = const i64[4] [1, 8, 5, 5]
            %4 = onnx.Reshape(%s, %2) : f32[2,1,1,4]
            %5 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %6 = onnx.Transpose(%5) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %7 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %8 = onnx.Transpose(%7) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %9 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%8, %6) : f32[1,2,5,5,4]
            %10 = onnx.PRelu(%9, %4) : f32[1,2,5,5,4]
            %11 = onnx.Transpose(%10) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%11, %3) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_pad() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %p = const i64[8] [0, 0, 1, 1, 0, 0, 1, 1]
         %y = onnx.Pad(%c, %p)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[10] [0, 0, 1, 1, 0, 0, 0, 1, 1, 0]
            %3 = const i64[4] [1, 8, 7, 7]
            %4 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %6 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %7 = onnx.Transpose(%6) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %8 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%7, %5) : f32[1,2,5,5,4]
            %9 = onnx.Pad(%8, %2) : f32[1,2,7,7,4]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,7,7]
            %y = onnx.Reshape(%10, %3) : f32[1,8,7,7]
            return %y
        "#]],
    );
}

/// It pads an axis that is cut, so it stays.
#[test]
fn alter_layout_pad_channels() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %p = const i64[8] [0, 1, 1, 1, 0, 1, 1, 1]
         %y = onnx.Pad(%c, %p)
         return %y",
        expect![[r#"
            %p = const i64[8] [0, 1, 1, 1, 0, 1, 1, 1]
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[4] [1, 8, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %5 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%6, %4) : f32[1,2,5,5,4]
            %8 = onnx.Transpose(%7) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %c = onnx.Reshape(%8, %2) : f32[1,8,5,5]
            %y = onnx.Pad(%c, %p) : f32[1,10,7,7]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_pool() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.AveragePool(%c) {kernel_shape = [1, 1]}
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[4] [1, 8, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %5 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%6, %4) : f32[1,2,5,5,4]
            %8 = passdock.layout.AveragePool_NCHW4c(%7) : f32[1,2,5,5,4]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%9, %2) : f32[1,8,5,5]
            return %y
        "#]],
    );
}
