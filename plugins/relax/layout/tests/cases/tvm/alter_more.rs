//! AlterOpLayout, after TVM's `tests/python/relay/test_pass_alter_op_layout.py`: sums, and whole models.

use expect_test::expect;

use crate::laid::check_altered;
use crate::vendor::registry;

#[test]
fn alter_layout_sum() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %a = const i64[1] [1]
         %y = onnx.ReduceSum(%c, %a) {keepdims = 1}
         return %y",
        expect![[r#"
            %a = const i64[1] [1]
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
            %y = onnx.ReduceSum(%c, %a) {keepdims = 1} : f32[1,1,5,5]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_sum_without_the_axis() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %a = const i64[1] [1]
         %y = onnx.ReduceSum(%c, %a) {keepdims = 0}
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[2] [1, 4]
            %3 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %5 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%6, %4) : f32[1,2,5,5,4]
            %y = onnx.ReduceSum(%7, %2) {keepdims = 0} : f32[1,5,5]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_nhwc_arm() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %w2: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %r = onnx.Relu(%c)
         %p = onnx.AveragePool(%r) {kernel_shape = [1, 1]}
         %d = onnx.Conv(%p, %w2)
         %y = onnx.Relu(%d)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[6] [2, 4, 2, 4, 3, 3]
            %3 = const i64[4] [1, 8, 3, 3]
            %4 = onnx.Reshape(%w2, %2) : f32[2,4,2,4,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %6 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %7 = onnx.Transpose(%6) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %8 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %10 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%9, %7) : f32[1,2,5,5,4]
            %11 = onnx.Relu(%10) : f32[1,2,5,5,4]
            %12 = passdock.layout.AveragePool_NCHW4c(%11) : f32[1,2,5,5,4]
            %13 = passdock.layout.Conv_NCHW4c_OIHW4i4o_1(%12, %5) : f32[1,2,3,3,4]
            %14 = onnx.Relu(%13) : f32[1,2,3,3,4]
            %15 = onnx.Transpose(%14) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,3,3]
            %y = onnx.Reshape(%15, %3) : f32[1,8,3,3]
            return %y
        "#]],
    );
}

/// Seven channels aren't of whole blocks.
#[test]
fn alter_layout_nhwc_int8_aarch64() {
    check_altered(
        &registry(),
        "%x: f32[1,7,5,5], %w: f32[9,7,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         return %c",
        expect![[r#"
            %c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]} : f32[1,9,5,5]
            return %c
        "#]],
    );
}

#[test]
fn alter_op_dense() {
    check_altered(
        &registry(),
        "%x: f32[3,1,8], %w: f32[8,4]",
        "%a = const i64[1] [1]
         %s = onnx.Squeeze(%x, %a)
         %y = onnx.MatMul(%s, %w)
         return %y",
        expect![[r#"
            %a = const i64[1] [1]
            %s = onnx.Squeeze(%x, %a) : f32[3,8]
            %y = onnx.MatMul(%s, %w) : f32[3,4]
            return %y
        "#]],
    );
}

#[test]
fn not_inplace_modify() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %r = onnx.Relu(%c)
         %y = onnx.MaxPool(%r) {kernel_shape = [2, 2], strides = [2, 2]}
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[4] [1, 8, 2, 2]
            %3 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %5 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%6, %4) : f32[1,2,5,5,4]
            %8 = onnx.Relu(%7) : f32[1,2,5,5,4]
            %9 = passdock.layout.MaxPool_NCHW4c(%8) : f32[1,2,2,2,4]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,2,2]
            %y = onnx.Reshape(%10, %2) : f32[1,8,2,2]
            return %y
        "#]],
    );
}

#[test]
fn alter_op_dense_packed_data() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %d: f32[8,4]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %p = onnx.AveragePool(%c) {kernel_shape = [5, 5]}
         %a = const i64[2] [2, 3]
         %s = onnx.Squeeze(%p, %a)
         %y = onnx.MatMul(%s, %d)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[2] [2, 3]
            %3 = const i64[2] [1, 8]
            %4 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %6 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %7 = onnx.Transpose(%6) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %8 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%7, %5) : f32[1,2,5,5,4]
            %9 = passdock.layout.AveragePool_NCHW4c(%8) : f32[1,2,1,1,4]
            %10 = onnx.Squeeze(%9, %2) : f32[1,2,4]
            %s = onnx.Reshape(%10, %3) : f32[1,8]
            %y = onnx.MatMul(%s, %d) : f32[1,4]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_strided_slice_arbitrary_stride() {
    check_altered(
        &registry(),
        "%x: f32[4,12,1,1], %w: f32[9,12,1,1]",
        "%c = onnx.Conv(%x, %w)
         %b = const i64[1] [3]
         %e = const i64[1] [6]
         %a = const i64[1] [1]
         %s = const i64[1] [3]
         %y = onnx.Slice(%c, %b, %e, %a, %s)
         return %y",
        expect![[r#"
            %b = const i64[1] [3]
            %e = const i64[1] [6]
            %a = const i64[1] [1]
            %s = const i64[1] [3]
            %c = onnx.Conv(%x, %w) : f32[4,9,1,1]
            %y = onnx.Slice(%c, %b, %e, %a, %s) : f32[4,1,1,1]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_strided_slice_packed_to_unpacked() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %b = const i64[2] [0, 0]
         %e = const i64[2] [1, -1]
         %a = const i64[2] [0, 1]
         %s = const i64[2] [1, 8]
         %y = onnx.Slice(%c, %b, %e, %a, %s)
         return %y",
        expect![[r#"
            %b = const i64[2] [0, 0]
            %e = const i64[2] [1, -1]
            %a = const i64[2] [0, 1]
            %s = const i64[2] [1, 8]
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
            %y = onnx.Slice(%c, %b, %e, %a, %s) : f32[1,1,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_reduce_channels() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.ArgMin(%c) {axis = 1}
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
            %8 = onnx.Transpose(%7) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %c = onnx.Reshape(%8, %2) : f32[1,8,5,5]
            %y = onnx.ArgMin(%c) {axis = 1} : i64[1,1,5,5]
            return %y
        "#]],
    );
}
