//! ConvertLayout, after TVM's `tests/python/relax/test_transform_convert_layout.py`: layouts of whole axes.

use expect_test::expect;

use crate::laid::{check, check_stays};

#[test]
fn conv2d() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         return %c",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %c = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %c
        "#]],
    );
}

#[test]
fn conv2d_of_no_whole_blocks() {
    check_stays(
        "onnx.Conv NCHW4c default",
        "%x: f32[2,3,7,7], %w: f32[6,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         return %c",
    );
}

#[test]
fn conv2d_onlydim() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[?,?,?,?], %w: f32[?,?,?,?]",
        "%c = onnx.Conv(%x, %w)
         return %c",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[?,?,?,?]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[?,?,?,?]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[_1,_3,_4,_2]
            %c = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[_1,_2,_3,_4]
            return %c
        "#]],
    );
}

#[test]
fn conv2d_symbolic() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[n,c,h,w1], %w: f32[o,c,3,3]",
        "%c = onnx.Conv(%x, %w)
         return %c",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[o,3,3,c]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[n,h,w1,c]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[n,h-2,w1-2,o]
            %c = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[n,o,h-2,w1-2]
            return %c
        "#]],
    );
}

#[test]
fn conv2d_matchcast_bias() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[n,c,h,w1], %w: f32[o,c,1,1], %b: f32[n,o,h,w1]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Add(%c, %b)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%b) {perm = [0, 2, 3, 1]} : f32[n,h,w1,o]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[o,1,1,c]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[n,h,w1,c]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[n,h,w1,o]
            %4 = onnx.Add(%3, %0) : f32[n,h,w1,o]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[n,o,h,w1]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_relu() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Relu(%c)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %3 = onnx.Relu(%2) : f32[2,5,5,4]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn relu_conv2d_relu() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%r = onnx.Relu(%x)
         %c = onnx.Conv(%r, %w)
         %y = onnx.Relu(%c)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %r = onnx.Relu(%x) : f32[2,3,7,7]
            %1 = onnx.Transpose(%r) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %3 = onnx.Relu(%2) : f32[2,5,5,4]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_relu_tanh() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %r = onnx.Relu(%c)
         %y = onnx.Tanh(%r)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %3 = onnx.Relu(%2) : f32[2,5,5,4]
            %4 = onnx.Tanh(%3) : f32[2,5,5,4]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_add() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3], %b: f32[2,4,5,5]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Add(%c, %b)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%b) {perm = [0, 2, 3, 1]} : f32[2,5,5,4]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.Add(%3, %0) : f32[2,5,5,4]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_add_relu_conv2d() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,4,7,7], %w: f32[4,4,3,3], %b: f32[2,4,5,5]",
        "%c = onnx.Conv(%x, %w)
         %a = onnx.Add(%c, %b)
         %r = onnx.Relu(%a)
         %y = onnx.Conv(%r, %w)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%b) {perm = [0, 2, 3, 1]} : f32[2,5,5,4]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,4]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,4]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.Add(%3, %0) : f32[2,5,5,4]
            %5 = onnx.Relu(%4) : f32[2,5,5,4]
            %6 = passdock.layout.Conv_NHWC_OHWI(%5, %1) : f32[2,3,3,4]
            %y = onnx.Transpose(%6) {perm = [0, 3, 1, 2]} : f32[2,4,3,3]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_fma_relu_conv2d() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,4,7,7], %w: f32[4,4,3,3], %s: f32[2,4,5,5], %b: f32[2,4,5,5]",
        "%c = onnx.Conv(%x, %w)
         %m = onnx.Mul(%c, %s)
         %a = onnx.Add(%m, %b)
         %r = onnx.Relu(%a)
         %y = onnx.Conv(%r, %w)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%b) {perm = [0, 2, 3, 1]} : f32[2,5,5,4]
            %1 = onnx.Transpose(%s) {perm = [0, 2, 3, 1]} : f32[2,5,5,4]
            %2 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,4]
            %3 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,4]
            %4 = passdock.layout.Conv_NHWC_OHWI(%3, %2) : f32[2,5,5,4]
            %5 = onnx.Mul(%4, %1) : f32[2,5,5,4]
            %6 = onnx.Add(%5, %0) : f32[2,5,5,4]
            %7 = onnx.Relu(%6) : f32[2,5,5,4]
            %8 = passdock.layout.Conv_NHWC_OHWI(%7, %2) : f32[2,3,3,4]
            %y = onnx.Transpose(%8) {perm = [0, 3, 1, 2]} : f32[2,4,3,3]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_sum() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %axes = const i64[2] [2, 3]
         %y = onnx.ReduceSum(%c, %axes) {keepdims = 0}
         return %y",
        expect![[r#"
            %0 = const i64[2] [1, 2]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %y = onnx.ReduceSum(%3, %0) {keepdims = 0} : f32[2,4]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_sum_keepdim() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %axes = const i64[2] [2, 3]
         %y = onnx.ReduceSum(%c, %axes) {keepdims = 1}
         return %y",
        expect![[r#"
            %0 = const i64[2] [1, 2]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.ReduceSum(%3, %0) {keepdims = 1} : f32[2,1,1,4]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[2,4,1,1]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_sum_negative_dims() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %axes = const i64[2] [-2, -1]
         %y = onnx.ReduceSum(%c, %axes) {keepdims = 0}
         return %y",
        expect![[r#"
            %0 = const i64[2] [1, 2]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %y = onnx.ReduceSum(%3, %0) {keepdims = 0} : f32[2,4]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_transpose() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Transpose(%c) {perm = [3, 2, 1, 0]}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %y = onnx.Transpose(%2) {perm = [2, 1, 3, 0]} : f32[5,5,4,2]
            return %y
        "#]],
    );
}

#[test]
fn expand_dims_scalar() {
    check_stays(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2]",
        "%k = const i64[] 0
         %axes = const i64[1] [0]
         %y = onnx.Unsqueeze(%k, %axes)
         return %y",
    );
}

#[test]
fn conv2d_expand_dims() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %axes = const i64[2] [-3, 1]
         %y = onnx.Unsqueeze(%c, %axes)
         return %y",
        expect![[r#"
            %0 = const i64[2] [1, 4]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.Unsqueeze(%3, %0) : f32[2,1,5,5,1,4]
            %y = onnx.Transpose(%4) {perm = [0, 4, 5, 1, 2, 3]} : f32[2,1,4,1,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_expand_dims_squeeze() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %axes = const i64[2] [-3, 1]
         %u = onnx.Unsqueeze(%c, %axes)
         %back = const i64[2] [1, 3]
         %y = onnx.Squeeze(%u, %back)
         return %y",
        expect![[r#"
            %0 = const i64[2] [1, 4]
            %1 = const i64[2] [1, 4]
            %2 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %3 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %4 = passdock.layout.Conv_NHWC_OHWI(%3, %2) : f32[2,5,5,4]
            %5 = onnx.Unsqueeze(%4, %0) : f32[2,1,5,5,1,4]
            %6 = onnx.Squeeze(%5, %1) : f32[2,5,5,4]
            %y = onnx.Transpose(%6) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_strided_slice() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
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
            %s = const i64[3] [2, 3, 4]
            %0 = const i64[3] [3, 1, 2]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.Slice(%3, %b, %e, %0, %s) : f32[2,2,2,2]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[2,2,2,2]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_relu_concat() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %r = onnx.Relu(%c)
         %y = onnx.Concat(%c, %r) {axis = 1}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %3 = onnx.Relu(%2) : f32[2,5,5,4]
            %4 = onnx.Concat(%2, %3) {axis = 3} : f32[2,5,5,8]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[2,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_relu_concat_split() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %r = onnx.Relu(%c)
         %j = onnx.Concat(%c, %r) {axis = 1}
         %sizes = const i64[2] [4, 4]
         %y, %z = onnx.Split(%j, %sizes) {axis = 1}
         return %y, %z",
        expect![[r#"
            %sizes = const i64[2] [4, 4]
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %3 = onnx.Relu(%2) : f32[2,5,5,4]
            %4 = onnx.Concat(%2, %3) {axis = 3} : f32[2,5,5,8]
            %5, %6 = onnx.Split(%4, %sizes) {axis = 3} : f32[2,5,5,4], f32[2,5,5,4]
            %z = onnx.Transpose(%6) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            %y = onnx.Transpose(%5) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %y, %z
        "#]],
    );
}
