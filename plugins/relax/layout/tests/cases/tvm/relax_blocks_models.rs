//! ConvertLayout, after TVM's `tests/python/relax/test_transform_convert_layout.py`: norms and branches in blocks.

use expect_test::expect;

use crate::laid::check;

#[test]
fn conv2d_batchnorm() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3], %g: f32[4], %b: f32[4], %m: f32[4], %v: f32[4]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.BatchNormalization(%c, %g, %b, %m, %v)
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
            %8 = passdock.layout.BatchNormalization_NCHW4c(%7, %g, %b, %m, %v) : f32[2,1,5,5,4]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,5,5]
            %y = onnx.Reshape(%9, %2) : f32[2,4,5,5]
            return %y
        "#]],
    );
}

/// The axes from one on are all that lies behind the batch, with the blocks.
#[test]
fn conv2d_layernorm() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3], %g: f32[4,5,5], %b: f32[4,5,5]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.LayerNormalization(%c, %g, %b) {axis = 1}
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
            %y = onnx.LayerNormalization(%c, %g, %b) {axis = 1} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_resize2d() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %s = const f32[4] [1.0, 1.0, 2.0, 2.0]
         %y = onnx.Resize(%c, _, %s)
         return %y",
        expect![[r#"
            %s = const f32[4] [1.0, 1.0, 2.0, 2.0]
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [2, 4, 10, 10]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %5 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4o(%6, %4) : f32[2,1,5,5,4]
            %8 = passdock.layout.Resize_NCHW4c(%7, %s) : f32[2,1,10,10,4]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,10,10]
            %y = onnx.Reshape(%9, %2) : f32[2,4,10,10]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_unknown_bias_dim() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3], %b: f32[*]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Add(%b, %c)
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
            %y = onnx.Add(%b, %c) : f32[*]
            return %y
        "#]],
    );
}

/// What has no channels has one element for each of a block.
#[test]
fn binary_broadcast() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3], %b: f32[5,5]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Add(%c, %b)
         return %y",
        expect![[r#"
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[1] [2]
            %3 = const i64[4] [2, 4, 5, 5]
            %4 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %6 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %7 = onnx.Transpose(%6) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %8 = passdock.layout.Conv_NCHW4c_OIHW4o(%7, %5) : f32[2,1,5,5,4]
            %9 = onnx.Unsqueeze(%b, %2) : f32[5,5,1]
            %10 = onnx.Add(%8, %9) : f32[2,1,5,5,4]
            %11 = onnx.Transpose(%10) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,5,5]
            %y = onnx.Reshape(%11, %3) : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn binary_ewise_scalar() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,16,7,7], %w: f32[4,16,3,3]",
        "%c = onnx.Conv(%x, %w)
         %one = const f32[] 1.0
         %y = onnx.Add(%c, %one)
         return %y",
        expect![[r#"
            %one = const f32[] 1.0
            %0 = const i64[5] [2, 4, 4, 7, 7]
            %1 = const i64[5] [1, 4, 16, 3, 3]
            %2 = const i64[4] [2, 4, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[1,4,16,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 4, 1]} : f32[1,16,3,3,4]
            %5 = onnx.Reshape(%x, %0) : f32[2,4,4,7,7]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[2,4,7,7,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4o(%6, %4) : f32[2,1,5,5,4]
            %8 = onnx.Add(%7, %one) : f32[2,1,5,5,4]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 4, 2, 3]} : f32[2,1,4,5,5]
            %y = onnx.Reshape(%9, %2) : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_conv2d_conv2d_concat() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,32,8,8], %w1: f32[96,32,2,2], %w2: f32[32,96,2,2], %w3: f32[8,96,2,2], %b1: f32[1,96,1,1], %b2: f32[1,32,1,1]",
        "%c1 = onnx.Conv(%x, %w1) {strides = [2, 2]}
         %a1 = onnx.Add(%c1, %b1)
         %r1 = onnx.Relu(%a1)
         %c2 = onnx.Conv(%r1, %w2) {strides = [2, 2]}
         %a2 = onnx.Add(%c2, %b2)
         %r2 = onnx.Relu(%a2)
         %c3 = onnx.Conv(%r1, %w3) {strides = [2, 2]}
         %y = onnx.Concat(%c2, %c3) {axis = 1}
         return %y, %r2",
        expect![[r#"
            %0 = const i64[5] [2, 8, 4, 8, 8]
            %1 = const i64[5] [24, 4, 32, 2, 2]
            %2 = const i64[5] [1, 24, 1, 1, 4]
            %3 = const i64[5] [8, 4, 96, 2, 2]
            %4 = const i64[5] [1, 8, 1, 1, 4]
            %5 = const i64[5] [2, 4, 96, 2, 2]
            %6 = const i64[4] [2, 40, 2, 2]
            %7 = const i64[4] [2, 32, 2, 2]
            %8 = onnx.Reshape(%w3, %5) : f32[2,4,96,2,2]
            %9 = onnx.Transpose(%8) {perm = [0, 2, 3, 4, 1]} : f32[2,96,2,2,4]
            %10 = onnx.Reshape(%b2, %4) : f32[1,8,1,1,4]
            %11 = onnx.Reshape(%w2, %3) : f32[8,4,96,2,2]
            %12 = onnx.Transpose(%11) {perm = [0, 2, 3, 4, 1]} : f32[8,96,2,2,4]
            %13 = onnx.Reshape(%b1, %2) : f32[1,24,1,1,4]
            %14 = onnx.Reshape(%w1, %1) : f32[24,4,32,2,2]
            %15 = onnx.Transpose(%14) {perm = [0, 2, 3, 4, 1]} : f32[24,32,2,2,4]
            %16 = onnx.Reshape(%x, %0) : f32[2,8,4,8,8]
            %17 = onnx.Transpose(%16) {perm = [0, 1, 3, 4, 2]} : f32[2,8,8,8,4]
            %18 = passdock.layout.Conv_NCHW4c_OIHW4o(%17, %15) : f32[2,24,4,4,4]
            %19 = onnx.Add(%18, %13) : f32[2,24,4,4,4]
            %20 = onnx.Relu(%19) : f32[2,24,4,4,4]
            %21 = passdock.layout.Conv_NCHW4c_OIHW4o_1(%20, %12) : f32[2,8,2,2,4]
            %22 = onnx.Add(%21, %10) : f32[2,8,2,2,4]
            %23 = onnx.Relu(%22) : f32[2,8,2,2,4]
            %24 = onnx.Transpose(%23) {perm = [0, 1, 4, 2, 3]} : f32[2,8,4,2,2]
            %r2 = onnx.Reshape(%24, %7) : f32[2,32,2,2]
            %25 = passdock.layout.Conv_NCHW4c_OIHW4o_2(%20, %9) : f32[2,2,2,2,4]
            %26 = onnx.Concat(%21, %25) {axis = 1} : f32[2,10,2,2,4]
            %27 = onnx.Transpose(%26) {perm = [0, 1, 4, 2, 3]} : f32[2,10,4,2,2]
            %y = onnx.Reshape(%27, %6) : f32[2,40,2,2]
            return %y, %r2
        "#]],
    );
}

/// Five channels aren't of whole blocks: what they are put behind is led back.
#[test]
fn conv2d_conv2d_callback_to_buffer_conv2d_concat() {
    check(
        "onnx.Conv NCHW4c default",
        "%x: f32[2,32,8,8], %w1: f32[96,32,2,2], %w2: f32[32,96,2,2], %w3: f32[5,96,2,2], %b1: f32[1,96,1,1], %b2: f32[1,32,1,1]",
        "%c1 = onnx.Conv(%x, %w1) {strides = [2, 2]}
         %a1 = onnx.Add(%c1, %b1)
         %r1 = onnx.Relu(%a1)
         %c2 = onnx.Conv(%r1, %w2) {strides = [2, 2]}
         %a2 = onnx.Add(%c2, %b2)
         %r2 = onnx.Relu(%a2)
         %c3 = onnx.Conv(%r1, %w3) {strides = [2, 2]}
         %y = onnx.Concat(%c2, %c3) {axis = 1}
         return %y, %r2",
        expect![[r#"
            %0 = const i64[5] [2, 8, 4, 8, 8]
            %1 = const i64[5] [1, 24, 1, 1, 4]
            %2 = const i64[5] [1, 8, 1, 1, 4]
            %3 = const i64[4] [2, 32, 2, 2]
            %4 = const i64[4] [2, 32, 2, 2]
            %5 = onnx.Reshape(%b2, %2) : f32[1,8,1,1,4]
            %6 = onnx.Reshape(%b1, %1) : f32[1,24,1,1,4]
            %7 = onnx.Reshape(%x, %0) : f32[2,8,4,8,8]
            %8 = onnx.Transpose(%7) {perm = [0, 1, 3, 4, 2]} : f32[2,8,8,8,4]
            %9 = passdock.layout.Conv_NCHW4c(%8, %w1) : f32[2,24,4,4,4]
            %10 = onnx.Add(%9, %6) : f32[2,24,4,4,4]
            %11 = onnx.Relu(%10) : f32[2,24,4,4,4]
            %12 = passdock.layout.Conv_NCHW4c_1(%11, %w2) : f32[2,8,2,2,4]
            %13 = onnx.Transpose(%12) {perm = [0, 1, 4, 2, 3]} : f32[2,8,4,2,2]
            %c2 = onnx.Reshape(%13, %3) : f32[2,32,2,2]
            %14 = onnx.Add(%12, %5) : f32[2,8,2,2,4]
            %15 = onnx.Relu(%14) : f32[2,8,2,2,4]
            %16 = onnx.Transpose(%15) {perm = [0, 1, 4, 2, 3]} : f32[2,8,4,2,2]
            %r2 = onnx.Reshape(%16, %4) : f32[2,32,2,2]
            %c3 = passdock.layout.Conv_NCHW4c_to_default(%11, %w3) : f32[2,5,2,2]
            %y = onnx.Concat(%c2, %c3) {axis = 1} : f32[2,37,2,2]
            return %y, %r2
        "#]],
    );
}

#[test]
fn pooling_branching_texture_params() {
    check(
        "onnx.Conv NCHW4c OIHW4o",
        "%x: f32[2,32,8,8], %w1: f32[32,32,1,1], %w2: f32[32,32,2,2], %w3: f32[32,32,1,1], %w4: f32[32,32,2,2], %b: f32[1,32,1,1]",
        "%c1 = onnx.Conv(%x, %w1)
         %p = onnx.MaxPool(%c1) {kernel_shape = [2, 2], strides = [2, 2]}
         %c2 = onnx.Conv(%p, %w2) {pads = [0, 0, 1, 1]}
         %a = onnx.Add(%c2, %b)
         %r = onnx.Relu(%a)
         %c3 = onnx.Conv(%p, %w3)
         %c4 = onnx.Conv(%p, %w4) {pads = [0, 1, 1, 0]}
         %s = onnx.Relu(%c4)
         %t = onnx.Add(%c2, %c3)
         %y = onnx.Add(%t, %c4)
         return %y, %r, %s",
        expect![[r#"
            %0 = const i64[5] [2, 8, 4, 8, 8]
            %1 = const i64[5] [8, 4, 32, 1, 1]
            %2 = const i64[5] [8, 4, 32, 2, 2]
            %3 = const i64[5] [1, 8, 1, 1, 4]
            %4 = const i64[5] [8, 4, 32, 1, 1]
            %5 = const i64[5] [8, 4, 32, 2, 2]
            %6 = const i64[4] [2, 32, 4, 4]
            %7 = const i64[4] [2, 32, 4, 4]
            %8 = const i64[4] [2, 32, 4, 4]
            %9 = onnx.Reshape(%w4, %5) : f32[8,4,32,2,2]
            %10 = onnx.Transpose(%9) {perm = [0, 2, 3, 4, 1]} : f32[8,32,2,2,4]
            %11 = onnx.Reshape(%w3, %4) : f32[8,4,32,1,1]
            %12 = onnx.Transpose(%11) {perm = [0, 2, 3, 4, 1]} : f32[8,32,1,1,4]
            %13 = onnx.Reshape(%b, %3) : f32[1,8,1,1,4]
            %14 = onnx.Reshape(%w2, %2) : f32[8,4,32,2,2]
            %15 = onnx.Transpose(%14) {perm = [0, 2, 3, 4, 1]} : f32[8,32,2,2,4]
            %16 = onnx.Reshape(%w1, %1) : f32[8,4,32,1,1]
            %17 = onnx.Transpose(%16) {perm = [0, 2, 3, 4, 1]} : f32[8,32,1,1,4]
            %18 = onnx.Reshape(%x, %0) : f32[2,8,4,8,8]
            %19 = onnx.Transpose(%18) {perm = [0, 1, 3, 4, 2]} : f32[2,8,8,8,4]
            %20 = passdock.layout.Conv_NCHW4c_OIHW4o(%19, %17) : f32[2,8,8,8,4]
            %21 = passdock.layout.MaxPool_NCHW4c(%20) : f32[2,8,4,4,4]
            %22 = passdock.layout.Conv_NCHW4c_OIHW4o_1(%21, %15) : f32[2,8,4,4,4]
            %23 = onnx.Add(%22, %13) : f32[2,8,4,4,4]
            %24 = onnx.Relu(%23) : f32[2,8,4,4,4]
            %25 = onnx.Transpose(%24) {perm = [0, 1, 4, 2, 3]} : f32[2,8,4,4,4]
            %r = onnx.Reshape(%25, %7) : f32[2,32,4,4]
            %26 = passdock.layout.Conv_NCHW4c_OIHW4o_2(%21, %12) : f32[2,8,4,4,4]
            %27 = passdock.layout.Conv_NCHW4c_OIHW4o_3(%21, %10) : f32[2,8,4,4,4]
            %28 = onnx.Relu(%27) : f32[2,8,4,4,4]
            %29 = onnx.Transpose(%28) {perm = [0, 1, 4, 2, 3]} : f32[2,8,4,4,4]
            %s = onnx.Reshape(%29, %8) : f32[2,32,4,4]
            %30 = onnx.Add(%22, %26) : f32[2,8,4,4,4]
            %31 = onnx.Add(%30, %27) : f32[2,8,4,4,4]
            %32 = onnx.Transpose(%31) {perm = [0, 1, 4, 2, 3]} : f32[2,8,4,4,4]
            %y = onnx.Reshape(%32, %6) : f32[2,32,4,4]
            return %y, %r, %s
        "#]],
    );
}
