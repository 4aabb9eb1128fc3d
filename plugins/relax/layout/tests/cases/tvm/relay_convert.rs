//! ConvertLayout, after TVM's `tests/python/relay/test_pass_convert_op_layout.py`. What TVM's models have in NHWC stands between `Transpose`s, as a converter of TensorFlow's writes it.

use expect_test::expect;

use crate::laid::{check, check_of, check_stays};

#[test]
fn no_convert_layout() {
    check_stays(
        "onnx.Conv NCHW default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.Relu(%c)
         return %y",
    );
}

#[test]
fn qnn_binary_no_convert_layout() {
    check_stays(
        "onnx.QLinearConv NHWC",
        "%x: u8[2,2], %y: u8[1,2]",
        "%s = const f32[] 0.015
         %z = const u8[] 127
         %a = onnx.DequantizeLinear(%x, %s, %z)
         %b = onnx.DequantizeLinear(%y, %s, %z)
         %c = onnx.Add(%a, %b)
         %q = onnx.QuantizeLinear(%c, %s, %z)
         return %q",
    );
}

/// The model's own `Transpose`s go.
#[test]
fn conv_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,5,5,8], %w: f32[8,8,1,1]",
        "%t = onnx.Transpose(%x) {perm = [0, 3, 1, 2]}
         %c = onnx.Conv(%t, %w)
         %r = onnx.Relu(%c)
         %y = onnx.Transpose(%r) {perm = [0, 2, 3, 1]}
         return %y",
        expect![[r#"
            %0 = passdock.layout.Conv_NHWC(%x, %w) : f32[1,5,5,8]
            %y = onnx.Relu(%0) : f32[1,5,5,8]
            return %y
        "#]],
    );
}

#[test]
fn conv_nhwc_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.Relu(%c)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = onnx.Relu(%1) : f32[1,5,5,8]
            %y = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv_transpose_convert_layout() {
    check(
        "onnx.ConvTranspose NHWC HWIO",
        "%x: f32[1,8,5,5], %w: f32[8,4,3,3]",
        "%c = onnx.ConvTranspose(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.Relu(%c)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [2, 3, 0, 1]} : f32[3,3,8,4]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %2 = passdock.layout.ConvTranspose_NHWC_HWIO(%1, %0) : f32[1,5,5,4]
            %3 = onnx.Relu(%2) : f32[1,5,5,4]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[1,4,5,5]
            return %y
        "#]],
    );
}

/// `Flatten` has the elements in their order, so it has its operand led back.
#[test]
fn conv_bias_pool_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %b: f32[8,1,1]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %a = onnx.Add(%c, %b)
         %r = onnx.Relu(%a)
         %p = onnx.MaxPool(%r) {kernel_shape = [2, 2]}
         %k = onnx.Cast(%p) {to = 6}
         %y = onnx.Flatten(%k)
         return %y",
        expect![[r#"
            %0 = const i64[3] [1, 1, 8]
            %1 = onnx.Reshape(%b, %0) : f32[1,1,8]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %3 = passdock.layout.Conv_NHWC(%2, %w) : f32[1,5,5,8]
            %4 = onnx.Add(%3, %1) : f32[1,5,5,8]
            %5 = onnx.Relu(%4) : f32[1,5,5,8]
            %6 = passdock.layout.MaxPool_NHWC(%5) : f32[1,4,4,8]
            %7 = onnx.Cast(%6) {to = 6} : i32[1,4,4,8]
            %k = onnx.Transpose(%7) {perm = [0, 3, 1, 2]} : i32[1,8,4,4]
            %y = onnx.Flatten(%k) : i32[1,128]
            return %y
        "#]],
    );
}

/// What is asked for in its own layout has it.
#[test]
fn conv_bias_pool_uses_specified_convert_layout() {
    check(
        "onnx.Conv NHWC; onnx.MaxPool NCHW",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %b: f32[8,1,1]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %a = onnx.Add(%c, %b)
         %r = onnx.Relu(%a)
         %p = onnx.MaxPool(%r) {kernel_shape = [2, 2]}
         %k = onnx.Cast(%p) {to = 6}
         %y = onnx.Flatten(%k)
         return %y",
        expect![[r#"
            %0 = const i64[3] [1, 1, 8]
            %1 = onnx.Reshape(%b, %0) : f32[1,1,8]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %3 = passdock.layout.Conv_NHWC(%2, %w) : f32[1,5,5,8]
            %4 = onnx.Add(%3, %1) : f32[1,5,5,8]
            %5 = onnx.Relu(%4) : f32[1,5,5,8]
            %r = onnx.Transpose(%5) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            %p = onnx.MaxPool(%r) {kernel_shape = [2, 2]} : f32[1,8,4,4]
            %k = onnx.Cast(%p) {to = 6} : i32[1,8,4,4]
            %y = onnx.Flatten(%k) : i32[1,128]
            return %y
        "#]],
    );
}

#[test]
fn conv_concat_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %w2: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %d = onnx.Conv(%c, %w2) {pads = [1, 1, 1, 1]}
         %y = onnx.Concat(%c, %d) {axis = 1}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = passdock.layout.Conv_NHWC(%1, %w2) : f32[1,5,5,8]
            %3 = onnx.Concat(%1, %2) {axis = 3} : f32[1,5,5,16]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[1,16,5,5]
            return %y
        "#]],
    );
}

#[test]
fn deformable_conv_bias_pool_convert_layout() {
    check_of(
        19,
        "onnx.DeformConv NHWC HWIO",
        "%x: f32[1,8,6,6], %w: f32[4,8,3,3], %o: f32[1,18,4,4], %b: f32[4,1,1]",
        "%d = onnx.DeformConv(%x, %w, %o)
         %a = onnx.Add(%d, %b)
         %r = onnx.Relu(%a)
         %y = onnx.MaxPool(%r) {kernel_shape = [2, 2]}
         return %y",
        expect![[r#"
            %0 = const i64[3] [1, 1, 4]
            %1 = onnx.Reshape(%b, %0) : f32[1,1,4]
            %2 = onnx.Transpose(%w) {perm = [2, 3, 1, 0]} : f32[3,3,8,4]
            %3 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,6,6,8]
            %4 = passdock.layout.DeformConv_NHWC_HWIO(%3, %2, %o) : f32[1,4,4,4]
            %5 = onnx.Add(%4, %1) : f32[1,4,4,4]
            %6 = onnx.Relu(%5) : f32[1,4,4,4]
            %7 = passdock.layout.MaxPool_NHWC(%6) : f32[1,3,3,4]
            %y = onnx.Transpose(%7) {perm = [0, 3, 1, 2]} : f32[1,4,3,3]
            return %y
        "#]],
    );
}

/// A pool that is asked for in its own layout has it.
#[test]
fn deformable_conv_bias_pool_uses_specified_convert_layout() {
    check_of(
        19,
        "onnx.DeformConv NHWC HWIO; onnx.MaxPool NCHW",
        "%x: f32[1,8,6,6], %w: f32[4,8,3,3], %o: f32[1,18,4,4], %b: f32[4,1,1]",
        "%d = onnx.DeformConv(%x, %w, %o)
         %a = onnx.Add(%d, %b)
         %r = onnx.Relu(%a)
         %y = onnx.MaxPool(%r) {kernel_shape = [2, 2]}
         return %y",
        expect![[r#"
            %0 = const i64[3] [1, 1, 4]
            %1 = onnx.Reshape(%b, %0) : f32[1,1,4]
            %2 = onnx.Transpose(%w) {perm = [2, 3, 1, 0]} : f32[3,3,8,4]
            %3 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,6,6,8]
            %4 = passdock.layout.DeformConv_NHWC_HWIO(%3, %2, %o) : f32[1,4,4,4]
            %5 = onnx.Add(%4, %1) : f32[1,4,4,4]
            %6 = onnx.Relu(%5) : f32[1,4,4,4]
            %r = onnx.Transpose(%6) {perm = [0, 3, 1, 2]} : f32[1,4,4,4]
            %y = onnx.MaxPool(%r) {kernel_shape = [2, 2]} : f32[1,4,3,3]
            return %y
        "#]],
    );
}

#[test]
fn dual_path_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w1: f32[8,8,3,3], %w2: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w1) {pads = [1, 1, 1, 1]}
         %r = onnx.Relu(%c)
         %d = onnx.Conv(%r, %w2) {pads = [1, 1, 1, 1]}
         %y = onnx.Relu(%d)
         %z = onnx.Flatten(%r)
         return %y, %z",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w1) : f32[1,5,5,8]
            %2 = onnx.Relu(%1) : f32[1,5,5,8]
            %r = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            %3 = passdock.layout.Conv_NHWC(%2, %w2) : f32[1,5,5,8]
            %4 = onnx.Relu(%3) : f32[1,5,5,8]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            %z = onnx.Flatten(%r) : f32[1,200]
            return %y, %z
        "#]],
    );
}

#[test]
fn bn_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %g: f32[8], %b: f32[8], %m: f32[8], %v: f32[8]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.BatchNormalization(%c, %g, %b, %m, %v)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = passdock.layout.BatchNormalization_NHWC(%1, %g, %b, %m, %v) : f32[1,5,5,8]
            %y = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn slice_like_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %s = onnx.Shape(%x) {start = 2, end = 4}
         %b = const i64[2] [0, 0]
         %a = const i64[2] [2, 3]
         %y = onnx.Slice(%c, %b, %s, %a)
         return %y",
        expect![[r#"
            %b = const i64[2] [0, 0]
            %0 = const i64[2] [1, 2]
            %1 = const i64[2] [1, 2]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %3 = passdock.layout.Conv_NHWC(%2, %w) : f32[1,5,5,8]
            %4 = onnx.Shape(%2) : i64[4]
            %s = onnx.Gather(%4, %0) {axis = 0} : i64[2]
            %5 = onnx.Slice(%3, %b, %s, %1) : f32[1,5,5,8]
            %y = onnx.Transpose(%5) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn transpose_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %r = onnx.Relu(%c)
         %t = onnx.Transpose(%r) {perm = [0, 3, 2, 1]}
         %y = onnx.Relu(%t)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = onnx.Relu(%1) : f32[1,5,5,8]
            %3 = onnx.Relu(%2) : f32[1,5,5,8]
            %y = onnx.Transpose(%3) {perm = [0, 2, 1, 3]} : f32[1,5,5,8]
            return %y
        "#]],
    );
}

#[test]
fn resnet_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w1: f32[4,8,3,3], %w2: f32[4,8,1,1]",
        "%c = onnx.Conv(%x, %w1) {pads = [1, 1, 1, 1]}
         %r = onnx.Relu(%c)
         %d = onnx.Conv(%x, %w2)
         %s = onnx.Relu(%d)
         %a = onnx.Add(%r, %s)
         %y = onnx.GlobalMaxPool(%a)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w1) : f32[1,5,5,4]
            %2 = onnx.Relu(%1) : f32[1,5,5,4]
            %3 = passdock.layout.Conv_NHWC_1(%0, %w2) : f32[1,5,5,4]
            %4 = onnx.Relu(%3) : f32[1,5,5,4]
            %5 = onnx.Add(%2, %4) : f32[1,5,5,4]
            %6 = passdock.layout.GlobalMaxPool_NHWC(%5) : f32[1,1,1,4]
            %y = onnx.Transpose(%6) {perm = [0, 3, 1, 2]} : f32[1,4,1,1]
            return %y
        "#]],
    );
}

#[test]
fn resnet_pool_uses_specified_convert_layout() {
    check(
        "onnx.Conv NHWC; onnx.GlobalMaxPool NCHW",
        "%x: f32[1,8,5,5], %w1: f32[4,8,3,3], %w2: f32[4,8,1,1]",
        "%c = onnx.Conv(%x, %w1) {pads = [1, 1, 1, 1]}
         %r = onnx.Relu(%c)
         %d = onnx.Conv(%x, %w2)
         %s = onnx.Relu(%d)
         %a = onnx.Add(%r, %s)
         %y = onnx.GlobalMaxPool(%a)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w1) : f32[1,5,5,4]
            %2 = onnx.Relu(%1) : f32[1,5,5,4]
            %3 = passdock.layout.Conv_NHWC_1(%0, %w2) : f32[1,5,5,4]
            %4 = onnx.Relu(%3) : f32[1,5,5,4]
            %5 = onnx.Add(%2, %4) : f32[1,5,5,4]
            %a = onnx.Transpose(%5) {perm = [0, 3, 1, 2]} : f32[1,4,5,5]
            %y = onnx.GlobalMaxPool(%a) : f32[1,4,1,1]
            return %y
        "#]],
    );
}

#[test]
fn scalar_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %one = const f32[] 1.0
         %y = onnx.Add(%c, %one)
         return %y",
        expect![[r#"
            %one = const f32[] 1.0
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = onnx.Add(%1, %one) : f32[1,5,5,8]
            %y = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv_ln_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %g: f32[8,5,5], %b: f32[8,5,5]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.LayerNormalization(%c, %g, %b) {axis = 1}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %c = onnx.Transpose(%1) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            %y = onnx.LayerNormalization(%c, %g, %b) {axis = 1} : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv_instance_norm_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %g: f32[8], %b: f32[8]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.InstanceNormalization(%c, %g, %b)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = passdock.layout.InstanceNormalization_NHWC(%1, %g, %b) : f32[1,5,5,8]
            %y = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv_bn_convert_layout() {
    check(
        "onnx.Conv NHWC default",
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %g: f32[8], %b: f32[8], %m: f32[8], %v: f32[8]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %n = onnx.BatchNormalization(%c, %g, %b, %m, %v)
         %y = onnx.Relu(%n)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,8]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,8]
            %2 = passdock.layout.BatchNormalization_NHWC(%1, %g, %b, %m, %v) : f32[1,5,5,8]
            %3 = onnx.Relu(%2) : f32[1,5,5,8]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn qnn_conv_requantize_convert_layout() {
    check(
        "onnx.QLinearConv NHWC",
        "%x: u8[1,8,5,5], %w: u8[8,8,3,3], %sx: f32[], %zx: u8[], %sw: f32[], %zw: u8[], %sy: f32[], %zy: u8[]",
        "%c = onnx.QLinearConv(%x, %sx, %zx, %w, %sw, %zw, %sy, %zy) {pads = [1, 1, 1, 1]}
         %d = onnx.DequantizeLinear(%c, %sy, %zy)
         %y = onnx.QuantizeLinear(%d, %sx, %zx)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : u8[1,5,5,8]
            %1 = passdock.layout.QLinearConv_NHWC(%0, %sx, %zx, %w, %sw, %zw, %sy, %zy) : u8[1,5,5,8]
            %2 = onnx.DequantizeLinear(%1, %sy, %zy) : f32[1,5,5,8]
            %3 = onnx.QuantizeLinear(%2, %sx, %zx) : u8[1,5,5,8]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : u8[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn qnn_conv_concat_convert_layout() {
    check(
        "onnx.QLinearConv NHWC",
        "%x: u8[1,8,5,5], %w: u8[8,8,3,3], %sx: f32[], %zx: u8[], %sw: f32[], %zw: u8[], %sy: f32[], %zy: u8[]",
        "%c = onnx.QLinearConv(%x, %sx, %zx, %w, %sw, %zw, %sy, %zy) {pads = [1, 1, 1, 1]}
         %d = onnx.QLinearConv(%c, %sy, %zy, %w, %sw, %zw, %sy, %zy) {pads = [1, 1, 1, 1]}
         %y = onnx.Concat(%c, %d) {axis = 1}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : u8[1,5,5,8]
            %1 = passdock.layout.QLinearConv_NHWC(%0, %sx, %zx, %w, %sw, %zw, %sy, %zy) : u8[1,5,5,8]
            %2 = passdock.layout.QLinearConv_NHWC(%1, %sy, %zy, %w, %sw, %zw, %sy, %zy) : u8[1,5,5,8]
            %3 = onnx.Concat(%1, %2) {axis = 3} : u8[1,5,5,16]
            %y = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : u8[1,16,5,5]
            return %y
        "#]],
    );
}

#[test]
fn qnn_conv_add_convert_layout() {
    check(
        "onnx.QLinearConv NHWC",
        "%x: u8[1,8,5,5], %w: u8[8,8,3,3], %sx: f32[], %zx: u8[], %sw: f32[], %zw: u8[], %sy: f32[], %zy: u8[]",
        "%c = onnx.QLinearConv(%x, %sx, %zx, %w, %sw, %zw, %sy, %zy) {pads = [1, 1, 1, 1]}
         %a = onnx.DequantizeLinear(%c, %sy, %zy)
         %d = onnx.QLinearConv(%c, %sy, %zy, %w, %sw, %zw, %sy, %zy) {pads = [1, 1, 1, 1]}
         %b = onnx.DequantizeLinear(%d, %sy, %zy)
         %e = onnx.Add(%a, %b)
         %y = onnx.QuantizeLinear(%e, %sy, %zy)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : u8[1,5,5,8]
            %1 = passdock.layout.QLinearConv_NHWC(%0, %sx, %zx, %w, %sw, %zw, %sy, %zy) : u8[1,5,5,8]
            %2 = onnx.DequantizeLinear(%1, %sy, %zy) : f32[1,5,5,8]
            %3 = passdock.layout.QLinearConv_NHWC(%1, %sy, %zy, %w, %sw, %zw, %sy, %zy) : u8[1,5,5,8]
            %4 = onnx.DequantizeLinear(%3, %sy, %zy) : f32[1,5,5,8]
            %5 = onnx.Add(%2, %4) : f32[1,5,5,8]
            %6 = onnx.QuantizeLinear(%5, %sy, %zy) : u8[1,5,5,8]
            %y = onnx.Transpose(%6) {perm = [0, 3, 1, 2]} : u8[1,8,5,5]
            return %y
        "#]],
    );
}
