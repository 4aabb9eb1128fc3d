//! ConvertLayout, after TVM's `tests/python/relax/test_transform_convert_layout.py`: more of axes in blocks.

use expect_test::expect;

use crate::laid::check;

/// It takes some of an axis that is cut, so it stays.
#[test]
fn conv2d_strided_slice() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %b = const i64[3] [0, 0, 0]
         %e = const i64[3] [4, 26, 26]
         %a = const i64[3] [1, 2, 3]
         %s = const i64[3] [2, 3, 4]
         %y = onnx.Slice(%c, %b, %e, %a, %s)
         return %y",
        expect![[r#"
            %b = const i64[3] [0, 0, 0]
            %e = const i64[3] [4, 26, 26]
            %a = const i64[3] [1, 2, 3]
            %s = const i64[3] [2, 3, 4]
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [2, 4, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %5 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4o(%6, %4) : f32[2,1,5,5,4]
            %8 = onnx.Transpose(%7) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,5,5]
            %c = onnx.Reshape(%8, %2) : f32[2,4,5,5]
            %y = onnx.Slice(%c, %b, %e, %a, %s) : f32[2,2,2,2]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_strided_slice_of_whole_axes() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %b = const i64[2] [0, 0]
         %e = const i64[2] [26, 26]
         %a = const i64[2] [2, 3]
         %s = const i64[2] [3, 4]
         %y = onnx.Slice(%c, %b, %e, %a, %s)
         return %y",
        expect![[r#"
            %b = const i64[2] [0, 0]
            %e = const i64[2] [26, 26]
            %s = const i64[2] [3, 4]
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[2] [2, 3]
            %3 = const i64[4] [2, 4, 2, 2]
            %4 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %6 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %7 = onnx.Transpose(%6) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %8 = passdock.layout.Conv_NCHW4c_OIHW4o(%7, %5) : f32[2,1,5,5,4]
            %9 = onnx.Slice(%8, %b, %e, %2, %s) : f32[2,1,2,2,4]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,2,2]
            %y = onnx.Reshape(%10, %3) : f32[2,4,2,2]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_relu_concat() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %r = onnx.Relu(%c)
         %y = onnx.Concat(%c, %r) {axis = 1}
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [2, 8, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %5 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4o(%6, %4) : f32[2,1,5,5,4]
            %8 = onnx.Relu(%7) : f32[2,1,5,5,4]
            %9 = onnx.Concat(%7, %8) {axis = 1} : f32[2,2,5,5,4]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 4, 2, 3]} : f32[2,2,4,5,5]
            %y = onnx.Reshape(%10, %2) : f32[2,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_relu_concat_inner_blocks() {
    check(
        "onnx.Conv N4cHWC O4oHWI",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %r = onnx.Relu(%c)
         %y = onnx.Concat(%c, %r) {axis = 1}
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [2, 8, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 1, 3, 4, 2]} : f32[1,4,3,3,16]
            %5 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 2, 3, 4, 1]} : f32[2,4,7,7,4]
            %7 = passdock.layout.Conv_N4cHWC_O4oHWI(%6, %4) : f32[2,4,5,5,1]
            %8 = onnx.Relu(%7) : f32[2,4,5,5,1]
            %9 = onnx.Concat(%7, %8) {axis = 4} : f32[2,4,5,5,2]
            %10 = onnx.Transpose(%9) {perm = [0, 4, 1, 2, 3]} : f32[2,2,4,5,5]
            %y = onnx.Reshape(%10, %2) : f32[2,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_relu_concat_split() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %r = onnx.Relu(%c)
         %j = onnx.Concat(%c, %r) {axis = 1}
         %sizes = const i64[2] [4, 4]
         %y, %z = onnx.Split(%j, %sizes) {axis = 1}
         return %y, %z",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[2] [1, 1]
            %3 = const i64[4] [2, 4, 5, 5]
            %4 = const i64[4] [2, 4, 5, 5]
            %5 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %6 = onnx.Transpose(%5) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %7 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %8 = onnx.Transpose(%7) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %9 = passdock.layout.Conv_NCHW4c_OIHW4o(%8, %6) : f32[2,1,5,5,4]
            %10 = onnx.Relu(%9) : f32[2,1,5,5,4]
            %11 = onnx.Concat(%9, %10) {axis = 1} : f32[2,2,5,5,4]
            %12, %13 = onnx.Split(%11, %2) {axis = 1} : f32[2,1,5,5,4], f32[2,1,5,5,4]
            %14 = onnx.Transpose(%13) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,5,5]
            %z = onnx.Reshape(%14, %4) : f32[2,4,5,5]
            %15 = onnx.Transpose(%12) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,5,5]
            %y = onnx.Reshape(%15, %3) : f32[2,4,5,5]
            return %y, %z
        "#]],
    );
}

/// The parts aren't of whole blocks: it stays.
#[test]
fn conv2d_relu_concat_split_div_exception() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %r = onnx.Relu(%c)
         %j = onnx.Concat(%c, %r) {axis = 1}
         %sizes = const i64[2] [2, 6]
         %y, %z = onnx.Split(%j, %sizes) {axis = 1}
         return %y, %z",
        expect![[r#"
            %sizes = const i64[2] [2, 6]
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [2, 8, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %5 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4o(%6, %4) : f32[2,1,5,5,4]
            %8 = onnx.Relu(%7) : f32[2,1,5,5,4]
            %9 = onnx.Concat(%7, %8) {axis = 1} : f32[2,2,5,5,4]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 4, 2, 3]} : f32[2,2,4,5,5]
            %j = onnx.Reshape(%10, %2) : f32[2,8,5,5]
            %y, %z = onnx.Split(%j, %sizes) {axis = 1} : f32[2,2,5,5], f32[2,6,5,5]
            return %y, %z
        "#]],
    );
}

#[test]
fn conv2d_maxpool2d() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.MaxPool(%c) {kernel_shape = [2, 2], strides = [2, 2]}
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [2, 4, 2, 2]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %5 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4o(%6, %4) : f32[2,1,5,5,4]
            %8 = passdock.layout.MaxPool_NCHW4c(%7) : f32[2,1,2,2,4]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,2,2]
            %y = onnx.Reshape(%9, %2) : f32[2,4,2,2]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_avgpool2d() {
    check(
        "onnx.Conv NHWC4c OHWI4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.GlobalAveragePool(%c)
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [2, 4, 1, 1]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 3, 4, 2, 1]} : f32[1,3,3,16,4]
            %5 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 3, 4, 1, 2]} : f32[2,7,7,4,4]
            %7 = passdock.layout.Conv_NHWC4c_OHWI4o(%6, %4) : f32[2,5,5,1,4]
            %8 = passdock.layout.GlobalAveragePool_NHWC4c(%7) : f32[2,1,1,1,4]
            %9 = onnx.Transpose(%8) {perm = [0, 3, 4, 1, 2]} : f32[2,1,4,1,1]
            %y = onnx.Reshape(%9, %2) : f32[2,4,1,1]
            return %y
        "#]],
    );
}

/// It works along an axis that is cut, so it stays.
#[test]
fn conv2d_softmax() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Softmax(%c) {axis = 1}
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [2, 4, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %5 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4o(%6, %4) : f32[2,1,5,5,4]
            %8 = onnx.Transpose(%7) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,5,5]
            %c = onnx.Reshape(%8, %2) : f32[2,4,5,5]
            %y = onnx.Softmax(%c) {axis = 1} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_softmax_along_another() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Softmax(%c) {axis = 2}
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [2, 4, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %5 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4o(%6, %4) : f32[2,1,5,5,4]
            %8 = onnx.Softmax(%7) {axis = 2} : f32[2,1,5,5,4]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,5,5]
            %y = onnx.Reshape(%9, %2) : f32[2,4,5,5]
            return %y
        "#]],
    );
}
