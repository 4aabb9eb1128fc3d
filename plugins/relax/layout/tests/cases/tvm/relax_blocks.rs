//! ConvertLayout, after TVM's `tests/python/relax/test_transform_convert_layout.py`: axes in blocks.

use expect_test::expect;

use crate::laid::{check, check_stays};

#[test]
fn conv2d_nchw() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         return %c",
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
            return %c
        "#]],
    );
}

#[test]
fn conv2d_nhwc() {
    check(
        "onnx.Conv NHWC4c OHWI4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         return %c",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [2, 4, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 3, 4, 2, 1]} : f32[1,3,3,16,4]
            %5 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 3, 4, 1, 2]} : f32[2,7,7,4,4]
            %7 = passdock.layout.Conv_NHWC4c_OHWI4o(%6, %4) : f32[2,5,5,1,4]
            %8 = onnx.Transpose(%7) {perm = [0, 3, 4, 1, 2]} : f32[2,1,4,5,5]
            %c = onnx.Reshape(%8, %2) : f32[2,4,5,5]
            return %c
        "#]],
    );
}

#[test]
fn conv2d_batch_in_blocks() {
    check(
        "onnx.Conv N2nHWC4c OHWI2i4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         return %c",
        expect![[r#"
            %0 = const i64[6] [1, 2, 4, 4, 7, 7]
            %1 = const i64[6] [1, 4, 8, 2, 3, 3]
            %2 = const i64[4] [2, 4, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,8,2,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 4, 5, 2, 3, 1]} : f32[1,3,3,8,2,4]
            %5 = onnx.Reshape(%x, %0) : f32[1,2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 4, 5, 2, 3]} : f32[1,2,7,7,4,4]
            %7 = passdock.layout.Conv_N2nHWC4c_OHWI2i4o(%6, %4) : f32[1,2,5,5,1,4]
            %8 = onnx.Transpose(%7) {perm = [0, 1, 4, 5, 2, 3]} : f32[1,2,1,4,5,5]
            %c = onnx.Reshape(%8, %2) : f32[2,4,5,5]
            return %c
        "#]],
    );
}

#[test]
fn conv2d_symbolic() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[n,16,h,w1], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         return %c",
        expect![[r#"
            %0 = const i64[5] [0, 0, 0, 4, 4]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [0, 0, 0, 4]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %5 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[n,h,w1,16]
            %6 = onnx.Reshape(%5, %0) : f32[n,h,w1,4,4]
            %7 = onnx.Transpose(%6) {perm = [0, 3, 1, 2, 4]} : f32[n,4,h,w1,4]
            %8 = passdock.layout.Conv_NCHW4c_OIHW4o(%7, %4) : f32[n,1,h-2,w1-2,4]
            %9 = onnx.Transpose(%8) {perm = [0, 2, 3, 1, 4]} : f32[n,h-2,w1-2,1,4]
            %10 = onnx.Reshape(%9, %2) : f32[n,h-2,w1-2,4]
            %c = onnx.Transpose(%10) {perm = [0, 3, 1, 2]} : f32[n,4,h-2,w1-2]
            return %c
        "#]],
    );
}

#[test]
fn conv2d_matchcast_bias() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[n,16,h,w1], %w: f32[4,16,1,1], %b: f32[n,4,h,w1]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Add(%c, %b)
         return %y",
        expect![[r#"
            %0 = const i64[5] [0, 0, 0, 4, 4]
            %1 = const i64[5] [1, 4, 16, 1, 1]
            %2 = const i64[5] [0, 0, 0, 1, 4]
            %3 = const i64[4] [0, 0, 0, 4]
            %4 = onnx.Transpose(%b) {perm = [0, 2, 3, 1]} : f32[n,h,w1,4]
            %5 = onnx.Reshape(%4, %2) : f32[n,h,w1,1,4]
            %6 = onnx.Transpose(%5) {perm = [0, 3, 1, 2, 4]} : f32[n,1,h,w1,4]
            %7 = onnx.Reshape(%w, %1) : f32[1,4,16,1,1]
            %8 = onnx.Transpose(%7) {perm = [0, 2, 3, 4, 1]} : f32[1,16,1,1,4]
            %9 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[n,h,w1,16]
            %10 = onnx.Reshape(%9, %0) : f32[n,h,w1,4,4]
            %11 = onnx.Transpose(%10) {perm = [0, 3, 1, 2, 4]} : f32[n,4,h,w1,4]
            %12 = passdock.layout.Conv_NCHW4c_OIHW4o(%11, %8) : f32[n,1,h,w1,4]
            %13 = onnx.Add(%12, %6) : f32[n,1,h,w1,4]
            %14 = onnx.Transpose(%13) {perm = [0, 2, 3, 1, 4]} : f32[n,h,w1,1,4]
            %15 = onnx.Reshape(%14, %3) : f32[n,h,w1,4]
            %y = onnx.Transpose(%15) {perm = [0, 3, 1, 2]} : f32[n,4,h,w1]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_bias_of_unknown_channels() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[n,16,h,w1], %w: f32[4,16,1,1], %b: f32[n,o,h,w1]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Add(%c, %b)
         return %y",
        expect![[r#"
            %0 = const i64[5] [0, 0, 0, 4, 4]
            %1 = const i64[5] [1, 4, 16, 1, 1]
            %2 = const i64[4] [0, 0, 0, 4]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,1,1]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 4, 1]} : f32[1,16,1,1,4]
            %5 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[n,h,w1,16]
            %6 = onnx.Reshape(%5, %0) : f32[n,h,w1,4,4]
            %7 = onnx.Transpose(%6) {perm = [0, 3, 1, 2, 4]} : f32[n,4,h,w1,4]
            %8 = passdock.layout.Conv_NCHW4c_OIHW4o(%7, %4) : f32[n,1,h,w1,4]
            %9 = onnx.Transpose(%8) {perm = [0, 2, 3, 1, 4]} : f32[n,h,w1,1,4]
            %10 = onnx.Reshape(%9, %2) : f32[n,h,w1,4]
            %c = onnx.Transpose(%10) {perm = [0, 3, 1, 2]} : f32[n,4,h,w1]
            %y = onnx.Add(%c, %b) : f32[n,4,h,w1]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_layout_incompatible_fallback() {
    check_stays(
        "onnx.Conv NHWC4c default",
        "%x: f32[n,15,h,w1], %w: f32[6,15,1,1], %b: f32[n,6,h,w1]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Add(%c, %b)
         return %y",
    );
}

#[test]
fn conv2d_relu() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Relu(%c)
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
            %8 = onnx.Relu(%7) : f32[2,1,5,5,4]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,5,5]
            %y = onnx.Reshape(%9, %2) : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn relu_conv2d_relu() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%r = onnx.Relu(%x)
         %c = onnx.Conv(%r, %w)
         %y = onnx.Relu(%c)
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [2, 4, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %r = onnx.Relu(%x) : f32[2,16,7,7]
            %5 = onnx.Reshape(%r, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4o(%6, %4) : f32[2,1,5,5,4]
            %8 = onnx.Relu(%7) : f32[2,1,5,5,4]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,5,5]
            %y = onnx.Reshape(%9, %2) : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_relu_tanh() {
    check(
        "onnx.Conv NHWC4c OHWI4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %r = onnx.Relu(%c)
         %y = onnx.Tanh(%r)
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [2, 4, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 3, 4, 2, 1]} : f32[1,3,3,16,4]
            %5 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 3, 4, 1, 2]} : f32[2,7,7,4,4]
            %7 = passdock.layout.Conv_NHWC4c_OHWI4o(%6, %4) : f32[2,5,5,1,4]
            %8 = onnx.Relu(%7) : f32[2,5,5,1,4]
            %9 = onnx.Tanh(%8) : f32[2,5,5,1,4]
            %10 = onnx.Transpose(%9) {perm = [0, 3, 4, 1, 2]} : f32[2,1,4,5,5]
            %y = onnx.Reshape(%10, %2) : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_add() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3], %b: f32[2,4,5,5]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Add(%c, %b)
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[5] [2, 1, 4, 5, 5]
            %3 = const i64[4] [2, 4, 5, 5]
            %4 = onnx.Reshape(%b, %2) : f32[2,1,4,5,5]
            %5 = onnx.Transpose(%4) {perm = [0, 1, 3, 4, 2]} : f32[2,1,5,5,4]
            %6 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %7 = onnx.Transpose(%6) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %8 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %10 = passdock.layout.Conv_NCHW4c_OIHW4o(%9, %7) : f32[2,1,5,5,4]
            %11 = onnx.Add(%10, %5) : f32[2,1,5,5,4]
            %12 = onnx.Transpose(%11) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,5,5]
            %y = onnx.Reshape(%12, %3) : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_add_relu_conv2d() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,4,7,7], %w: f32[4,4,3,3], %b: f32[2,4,5,5]",
        "%c = onnx.Conv(%x, %w)
         %a = onnx.Add(%c, %b)
         %r = onnx.Relu(%a)
         %y = onnx.Conv(%r, %w)
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 1, 4, 7, 7]
            %1 = const i64[5] [1, 4, 4, 3, 3]
            %2 = const i64[5] [2, 1, 4, 5, 5]
            %3 = const i64[4] [2, 4, 3, 3]
            %4 = onnx.Reshape(%b, %2) : f32[2,1,4,5,5]
            %5 = onnx.Transpose(%4) {perm = [0, 1, 3, 4, 2]} : f32[2,1,5,5,4]
            %6 = onnx.Reshape(%w, %1) : f32[1,4,4,3,3]
            %7 = onnx.Transpose(%6) {perm = [0, 2, 3, 4, 1]} : f32[1,4,3,3,4]
            %8 = onnx.Reshape(%x, %0) : f32[2,1,4,7,7]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 3, 4, 2]} : f32[2,1,7,7,4]
            %10 = passdock.layout.Conv_NCHW4c_OIHW4o(%9, %7) : f32[2,1,5,5,4]
            %11 = onnx.Add(%10, %5) : f32[2,1,5,5,4]
            %12 = onnx.Relu(%11) : f32[2,1,5,5,4]
            %13 = passdock.layout.Conv_NCHW4c_OIHW4o_1(%12, %7) : f32[2,1,3,3,4]
            %14 = onnx.Transpose(%13) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,3,3]
            %y = onnx.Reshape(%14, %3) : f32[2,4,3,3]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_add_relu_conv2d_nhwc() {
    check(
        "onnx.Conv NHWC4c OHWI4o",
        "%x: f32[2,4,7,7], %w: f32[4,4,3,3], %b: f32[2,4,5,5]",
        "%c = onnx.Conv(%x, %w)
         %a = onnx.Add(%c, %b)
         %r = onnx.Relu(%a)
         %y = onnx.Conv(%r, %w)
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 1, 4, 7, 7]
            %1 = const i64[5] [1, 4, 4, 3, 3]
            %2 = const i64[5] [2, 1, 4, 5, 5]
            %3 = const i64[4] [2, 4, 3, 3]
            %4 = onnx.Reshape(%b, %2) : f32[2,1,4,5,5]
            %5 = onnx.Transpose(%4) {perm = [0, 3, 4, 1, 2]} : f32[2,5,5,1,4]
            %6 = onnx.Reshape(%w, %1) : f32[1,4,4,3,3]
            %7 = onnx.Transpose(%6) {perm = [0, 3, 4, 2, 1]} : f32[1,3,3,4,4]
            %8 = onnx.Reshape(%x, %0) : f32[2,1,4,7,7]
            %9 = onnx.Transpose(%8) {perm = [0, 3, 4, 1, 2]} : f32[2,7,7,1,4]
            %10 = passdock.layout.Conv_NHWC4c_OHWI4o(%9, %7) : f32[2,5,5,1,4]
            %11 = onnx.Add(%10, %5) : f32[2,5,5,1,4]
            %12 = onnx.Relu(%11) : f32[2,5,5,1,4]
            %13 = passdock.layout.Conv_NHWC4c_OHWI4o_1(%12, %7) : f32[2,3,3,1,4]
            %14 = onnx.Transpose(%13) {perm = [0, 3, 4, 1, 2]} : f32[2,1,4,3,3]
            %y = onnx.Reshape(%14, %3) : f32[2,4,3,3]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_fma_relu_conv2d() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,4,7,7], %w: f32[4,4,3,3], %s: f32[2,4,5,5], %b: f32[2,4,5,5]",
        "%c = onnx.Conv(%x, %w)
         %m = onnx.Mul(%c, %s)
         %a = onnx.Add(%m, %b)
         %r = onnx.Relu(%a)
         %y = onnx.Conv(%r, %w)
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 1, 4, 7, 7]
            %1 = const i64[5] [1, 4, 4, 3, 3]
            %2 = const i64[5] [2, 1, 4, 5, 5]
            %3 = const i64[5] [2, 1, 4, 5, 5]
            %4 = const i64[4] [2, 4, 3, 3]
            %5 = onnx.Reshape(%b, %3) : f32[2,1,4,5,5]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[2,1,5,5,4]
            %7 = onnx.Reshape(%s, %2) : f32[2,1,4,5,5]
            %8 = onnx.Transpose(%7) {perm = [0, 1, 3, 4, 2]} : f32[2,1,5,5,4]
            %9 = onnx.Reshape(%w, %1) : f32[1,4,4,3,3]
            %10 = onnx.Transpose(%9) {perm = [0, 2, 3, 4, 1]} : f32[1,4,3,3,4]
            %11 = onnx.Reshape(%x, %0) : f32[2,1,4,7,7]
            %12 = onnx.Transpose(%11) {perm = [0, 1, 3, 4, 2]} : f32[2,1,7,7,4]
            %13 = passdock.layout.Conv_NCHW4c_OIHW4o(%12, %10) : f32[2,1,5,5,4]
            %14 = onnx.Mul(%13, %8) : f32[2,1,5,5,4]
            %15 = onnx.Add(%14, %6) : f32[2,1,5,5,4]
            %16 = onnx.Relu(%15) : f32[2,1,5,5,4]
            %17 = passdock.layout.Conv_NCHW4c_OIHW4o_1(%16, %10) : f32[2,1,3,3,4]
            %18 = onnx.Transpose(%17) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,3,3]
            %y = onnx.Reshape(%18, %4) : f32[2,4,3,3]
            return %y
        "#]],
    );
}
