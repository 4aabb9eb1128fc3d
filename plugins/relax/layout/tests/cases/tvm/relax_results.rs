//! ConvertLayout, after TVM's `tests/python/relax/test_transform_convert_layout.py`: pools, norms, broadcasts.

use expect_test::expect;

use crate::laid::check;

#[test]
fn conv2d_maxpool2d() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.MaxPool(%c) {kernel_shape = [2, 2], strides = [2, 2]}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %3 = passdock.layout.MaxPool_NHWC(%2) : f32[2,2,2,4]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[2,4,2,2]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_avgpool2d() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.GlobalAveragePool(%c)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %3 = passdock.layout.GlobalAveragePool_NHWC(%2) : f32[2,1,1,4]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[2,4,1,1]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_softmax() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Softmax(%c) {axis = 1}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %3 = onnx.Softmax(%2) {axis = 3} : f32[2,5,5,4]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_batchnorm() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3], %g: f32[4], %b: f32[4], %m: f32[4], %v: f32[4]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.BatchNormalization(%c, %g, %b, %m, %v)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %3 = passdock.layout.BatchNormalization_NHWC(%2, %g, %b, %m, %v) : f32[2,5,5,4]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

/// The last axes aren't the spatial ones any more: it stays, and has its operand led back.
#[test]
fn conv2d_layernorm() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3], %g: f32[5,5], %b: f32[5,5]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.LayerNormalization(%c, %g, %b) {axis = -2}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %c = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            %y = onnx.LayerNormalization(%c, %g, %b) {axis = -2} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_resize2d() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %s = const f32[4] [1.0, 1.0, 2.0, 2.0]
         %y = onnx.Resize(%c, _, %s)
         return %y",
        expect![[r#"
            %s = const f32[4] [1.0, 1.0, 2.0, 2.0]
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %3 = passdock.layout.Resize_NHWC(%2, %s) : f32[2,10,10,4]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[2,4,10,10]
            return %y
        "#]],
    );
}

#[test]
fn resize2d_conv2d() {
    check(
        "onnx.Conv NHWC OHWI; onnx.Resize NHWC",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%s = const f32[4] [1.0, 1.0, 2.0, 2.0]
         %r = onnx.Resize(%x, _, %s)
         %y = onnx.Conv(%r, %w)
         return %y",
        expect![[r#"
            %s = const f32[4] [1.0, 1.0, 2.0, 2.0]
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Resize_NHWC(%1, %s) : f32[2,14,14,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %0) : f32[2,12,12,4]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[2,4,12,12]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_unknown_bias_dim() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3], %b: f32[*]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Add(%b, %c)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %c = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            %y = onnx.Add(%b, %c) : f32[*]
            return %y
        "#]],
    );
}

#[test]
fn binary_broadcast() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3], %b: f32[5,5]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Add(%c, %b)
         return %y",
        expect![[r#"
            %0 = const i64[1] [2]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.Unsqueeze(%b, %0) : f32[5,5,1]
            %5 = onnx.Add(%3, %4) : f32[2,5,5,4]
            %y = onnx.Transpose(%5) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn binary_ewise_scalar() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %one = const f32[] 1.0
         %y = onnx.Add(%c, %one)
         return %y",
        expect![[r#"
            %one = const f32[] 1.0
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %3 = onnx.Add(%2, %one) : f32[2,5,5,4]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %y
        "#]],
    );
}
