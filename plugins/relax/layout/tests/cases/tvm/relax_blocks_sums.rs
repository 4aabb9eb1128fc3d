//! ConvertLayout, after TVM's `tests/python/relax/test_transform_convert_layout.py`: sums and views of axes in blocks.

use expect_test::expect;

use crate::laid::check;

#[test]
fn conv2d_sum() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %axes = const i64[2] [2, 3]
         %y = onnx.ReduceSum(%c, %axes) {keepdims = 0}
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[2] [2, 3]
            %3 = const i64[2] [2, 4]
            %4 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %6 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %7 = onnx.Transpose(%6) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %8 = passdock.layout.Conv_NCHW4c_OIHW4o(%7, %5) : f32[2,1,5,5,4]
            %9 = onnx.ReduceSum(%8, %2) {keepdims = 0} : f32[2,1,4]
            %y = onnx.Reshape(%9, %3) : f32[2,4]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_sum_keepdims() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %axes = const i64[2] [2, 3]
         %y = onnx.ReduceSum(%c, %axes) {keepdims = 1}
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[2] [2, 3]
            %3 = const i64[4] [2, 4, 1, 1]
            %4 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %6 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %7 = onnx.Transpose(%6) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %8 = passdock.layout.Conv_NCHW4c_OIHW4o(%7, %5) : f32[2,1,5,5,4]
            %9 = onnx.ReduceSum(%8, %2) {keepdims = 1} : f32[2,1,1,1,4]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,1,1]
            %y = onnx.Reshape(%10, %3) : f32[2,4,1,1]
            return %y
        "#]],
    );
}

/// An axis that is cut is summed over all of its places.
#[test]
fn conv2d_sum_reduce() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %axes = const i64[2] [1, 2]
         %y = onnx.ReduceSum(%c, %axes) {keepdims = 0}
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[3] [1, 2, 4]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %5 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4o(%6, %4) : f32[2,1,5,5,4]
            %y = onnx.ReduceSum(%7, %2) {keepdims = 0} : f32[2,5]
            return %y
        "#]],
    );
}

/// One element isn't of whole blocks: it stays.
#[test]
fn conv2d_sum_reduce_keepdims() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %axes = const i64[2] [1, 2]
         %y = onnx.ReduceSum(%c, %axes) {keepdims = 1}
         return %y",
        expect![[r#"
            %axes = const i64[2] [1, 2]
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
            %y = onnx.ReduceSum(%c, %axes) {keepdims = 1} : f32[2,1,1,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_sum_reduce_batch_in_blocks() {
    check(
        "onnx.Conv NCHW2n4c OIHW2i4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %axes = const i64[2] [1, 2]
         %y = onnx.ReduceSum(%c, %axes) {keepdims = 0}
         return %y",
        expect![[r#"
            %0 = const i64[6] [1, 2, 4, 4, 7, 7]
            %1 = const i64[6] [1, 4, 8, 2, 3, 3]
            %2 = const i64[3] [1, 2, 5]
            %3 = const i64[2] [2, 5]
            %4 = onnx.Reshape(%w, %1) : f32[1,4,8,2,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 4, 5, 3, 1]} : f32[1,8,3,3,2,4]
            %6 = onnx.Reshape(%x, %0) : f32[1,2,4,4,7,7]
            %7 = onnx.Transpose(%6) {perm = [0, 2, 4, 5, 1, 3]} : f32[1,4,7,7,2,4]
            %8 = passdock.layout.Conv_NCHW2n4c_OIHW2i4o(%7, %5) : f32[1,1,5,5,2,4]
            %9 = onnx.ReduceSum(%8, %2) {keepdims = 0} : f32[1,5,2]
            %10 = onnx.Transpose(%9) {perm = [0, 2, 1]} : f32[1,2,5]
            %y = onnx.Reshape(%10, %3) : f32[2,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_sum_negative_dims() {
    check(
        "onnx.Conv NHWC4c OHWI4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %axes = const i64[2] [-2, -1]
         %y = onnx.ReduceSum(%c, %axes) {keepdims = 0}
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[2] [1, 2]
            %3 = const i64[2] [2, 4]
            %4 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 3, 4, 2, 1]} : f32[1,3,3,16,4]
            %6 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %7 = onnx.Transpose(%6) {perm = [0, 3, 4, 1, 2]} : f32[2,7,7,4,4]
            %8 = passdock.layout.Conv_NHWC4c_OHWI4o(%7, %5) : f32[2,5,5,1,4]
            %9 = onnx.ReduceSum(%8, %2) {keepdims = 0} : f32[2,1,4]
            %y = onnx.Reshape(%9, %3) : f32[2,4]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_transpose() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Transpose(%c) {perm = [3, 2, 1, 0]}
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [5, 5, 4, 2]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %5 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4o(%6, %4) : f32[2,1,5,5,4]
            %8 = onnx.Transpose(%7) {perm = [3, 2, 1, 4, 0]} : f32[5,5,1,4,2]
            %y = onnx.Reshape(%8, %2) : f32[5,5,4,2]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_expand_dims() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %axes = const i64[2] [-3, 1]
         %y = onnx.Unsqueeze(%c, %axes)
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[2] [1, 3]
            %3 = const i64[6] [2, 1, 4, 1, 5, 5]
            %4 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %6 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %7 = onnx.Transpose(%6) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %8 = passdock.layout.Conv_NCHW4c_OIHW4o(%7, %5) : f32[2,1,5,5,4]
            %9 = onnx.Unsqueeze(%8, %2) : f32[2,1,1,1,5,5,4]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 2, 6, 3, 4, 5]} : f32[2,1,1,4,1,5,5]
            %y = onnx.Reshape(%10, %3) : f32[2,1,4,1,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_squeeze() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[1,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %axes = const i64[1] [0]
         %y = onnx.Squeeze(%c, %axes)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[1] [0]
            %3 = const i64[3] [4, 5, 5]
            %4 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %6 = onnx.Reshape(%x, %0) : f32[1,4,4,7,7]
            %7 = onnx.Transpose(%6) {perm = [0, 1, 3, 4, 2]} : f32[1,4,7,7,4]
            %8 = passdock.layout.Conv_NCHW4c_OIHW4o(%7, %5) : f32[1,1,5,5,4]
            %9 = onnx.Squeeze(%8, %2) : f32[1,5,5,4]
            %10 = onnx.Transpose(%9) {perm = [0, 3, 1, 2]} : f32[1,4,5,5]
            %y = onnx.Reshape(%10, %3) : f32[4,5,5]
            return %y
        "#]],
    );
}
