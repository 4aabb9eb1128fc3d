//! AlterOpLayout, after TVM's `tests/python/relay/test_pass_alter_op_layout.py`: a plugin wants convolutions in blocks of four channels, and packed weights.

use expect_test::expect;

use crate::laid::check_altered;
use crate::vendor::registry;

#[test]
fn alter_op() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.Relu(%c)
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
            %8 = onnx.Relu(%7) : f32[1,2,5,5,4]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%9, %2) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

/// Nothing is offered for it.
#[test]
fn alter_return_none() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5]",
        "%y = onnx.GlobalMaxPool(%x)
         return %y",
        expect![[r#"
            %y = onnx.GlobalMaxPool(%x) : f32[1,8,1,1]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %b: f32[8,1,1]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %a = onnx.Add(%c, %b)
         %r = onnx.Relu(%a)
         %p = onnx.MaxPool(%r) {kernel_shape = [2, 2]}
         %k = onnx.Cast(%p) {to = 6}
         %y = onnx.Flatten(%k)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[4] [2, 1, 1, 4]
            %3 = const i64[4] [1, 8, 4, 4]
            %4 = onnx.Reshape(%b, %2) : f32[2,1,1,4]
            %5 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %6 = onnx.Transpose(%5) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %7 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %8 = onnx.Transpose(%7) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %9 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%8, %6) : f32[1,2,5,5,4]
            %10 = onnx.Add(%9, %4) : f32[1,2,5,5,4]
            %11 = onnx.Relu(%10) : f32[1,2,5,5,4]
            %12 = passdock.layout.MaxPool_NCHW4c(%11) : f32[1,2,4,4,4]
            %13 = onnx.Cast(%12) {to = 6} : i32[1,2,4,4,4]
            %14 = onnx.Transpose(%13) {perm = [0, 1, 4, 2, 3]} : i32[1,2,4,4,4]
            %k = onnx.Reshape(%14, %3) : i32[1,8,4,4]
            %y = onnx.Flatten(%k) : i32[1,128]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_multi() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[16,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         return %c",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [4, 4, 2, 4, 3, 3]
            %2 = const i64[4] [1, 16, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[4,4,2,4,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 4, 5, 3, 1]} : f32[4,2,3,3,4,4]
            %5 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%6, %4) : f32[1,4,5,5,4]
            %8 = onnx.Transpose(%7) {perm = [0, 1, 4, 2, 3]} : f32[1,4,4,5,5]
            %c = onnx.Reshape(%8, %2) : f32[1,16,5,5]
            return %c
        "#]],
    );
}

#[test]
fn alter_layout_lrn() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %p = onnx.MaxPool(%c) {kernel_shape = [2, 2]}
         %y = onnx.LRN(%p) {size = 5}
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[4] [1, 8, 4, 4]
            %3 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %5 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%6, %4) : f32[1,2,5,5,4]
            %8 = passdock.layout.MaxPool_NCHW4c(%7) : f32[1,2,4,4,4]
            %9 = passdock.layout.LRN_NCHW4c(%8) : f32[1,2,4,4,4]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,4,4]
            %y = onnx.Reshape(%10, %2) : f32[1,8,4,4]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_dual_path() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %w2: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %r = onnx.Relu(%c)
         %d = onnx.Conv(%r, %w2) {pads = [1, 1, 1, 1]}
         %y = onnx.Relu(%d)
         %z = onnx.Flatten(%r)
         return %y, %z",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[6] [2, 4, 2, 4, 3, 3]
            %3 = const i64[4] [1, 8, 5, 5]
            %4 = const i64[4] [1, 8, 5, 5]
            %5 = onnx.Reshape(%w2, %2) : f32[2,4,2,4,3,3]
            %6 = onnx.Transpose(%5) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %7 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %8 = onnx.Transpose(%7) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %9 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %11 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%10, %8) : f32[1,2,5,5,4]
            %12 = onnx.Relu(%11) : f32[1,2,5,5,4]
            %13 = onnx.Transpose(%12) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %r = onnx.Reshape(%13, %3) : f32[1,8,5,5]
            %14 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%12, %6) : f32[1,2,5,5,4]
            %15 = onnx.Relu(%14) : f32[1,2,5,5,4]
            %16 = onnx.Transpose(%15) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%16, %4) : f32[1,8,5,5]
            %z = onnx.Flatten(%r) : f32[1,200]
            return %y, %z
        "#]],
    );
}

#[test]
fn alter_layout_resnet() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %w2: f32[8,8,1,1]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %r = onnx.Relu(%c)
         %d = onnx.Conv(%x, %w2)
         %s = onnx.Relu(%d)
         %a = onnx.Add(%r, %s)
         %y = onnx.GlobalMaxPool(%a)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[6] [2, 4, 2, 4, 1, 1]
            %3 = const i64[4] [1, 8, 1, 1]
            %4 = onnx.Reshape(%w2, %2) : f32[2,4,2,4,1,1]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,1,1,4,4]
            %6 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %7 = onnx.Transpose(%6) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %8 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %10 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%9, %7) : f32[1,2,5,5,4]
            %11 = onnx.Relu(%10) : f32[1,2,5,5,4]
            %12 = passdock.layout.Conv_NCHW4c_OIHW4i4o_1(%9, %5) : f32[1,2,5,5,4]
            %13 = onnx.Relu(%12) : f32[1,2,5,5,4]
            %14 = onnx.Add(%11, %13) : f32[1,2,5,5,4]
            %15 = passdock.layout.GlobalMaxPool_NCHW4c(%14) : f32[1,2,1,1,4]
            %16 = onnx.Transpose(%15) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,1,1]
            %y = onnx.Reshape(%16, %3) : f32[1,8,1,1]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_broadcast_op() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %b: f32[8,1,1], %s: f32[8,1,1]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %a = onnx.Add(%c, %b)
         %y = onnx.Mul(%s, %a)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[4] [2, 1, 1, 4]
            %3 = const i64[4] [2, 1, 1, 4]
            %4 = const i64[4] [1, 8, 5, 5]
            %5 = onnx.Reshape(%s, %3) : f32[2,1,1,4]
            %6 = onnx.Reshape(%b, %2) : f32[2,1,1,4]
            %7 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %8 = onnx.Transpose(%7) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %9 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %11 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%10, %8) : f32[1,2,5,5,4]
            %12 = onnx.Add(%11, %6) : f32[1,2,5,5,4]
            %13 = onnx.Mul(%5, %12) : f32[1,2,5,5,4]
            %14 = onnx.Transpose(%13) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%14, %4) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_broadcast_scalar_op() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %m: f32[1], %k: f32[1,1]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %a = onnx.Mul(%m, %c)
         %y = onnx.Mul(%a, %k)
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
            %8 = onnx.Mul(%m, %7) : f32[1,2,5,5,4]
            %9 = onnx.Mul(%8, %k) : f32[1,2,5,5,4]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%10, %2) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_scalar() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %one = const f32[] 1.0
         %y = onnx.Add(%c, %one)
         return %y",
        expect![[r#"
            %one = const f32[] 1.0
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[4] [1, 8, 5, 5]
            %3 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %5 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%6, %4) : f32[1,2,5,5,4]
            %8 = onnx.Add(%7, %one) : f32[1,2,5,5,4]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%9, %2) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

/// What is left of the reduction is in blocks, and led back for an operand that has none.
#[test]
fn alter_layout_scalar_regression() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %b: f32[1,8,1,1], %g: f32[8], %v: f32[8]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %a = onnx.Add(%c, %b)
         %m = onnx.ReduceMean(%a) {axes = [0, 2, 3], keepdims = 0}
         %y = onnx.BatchNormalization(%a, %g, %v, %m, %v)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[5] [1, 2, 1, 1, 4]
            %3 = const i64[1] [8]
            %4 = const i64[4] [1, 8, 5, 5]
            %5 = onnx.Reshape(%b, %2) : f32[1,2,1,1,4]
            %6 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %7 = onnx.Transpose(%6) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %8 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %10 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%9, %7) : f32[1,2,5,5,4]
            %11 = onnx.Add(%10, %5) : f32[1,2,5,5,4]
            %12 = onnx.ReduceMean(%11) {keepdims = 0, axes = [0, 2, 3]} : f32[2,4]
            %m = onnx.Reshape(%12, %3) : f32[8]
            %13 = passdock.layout.BatchNormalization_NCHW4c(%11, %g, %v, %m, %v) : f32[1,2,5,5,4]
            %14 = onnx.Transpose(%13) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%14, %4) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_concatenate() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %w2: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %d = onnx.Conv(%c, %w2) {pads = [1, 1, 1, 1]}
         %y = onnx.Concat(%c, %d) {axis = 1}
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[6] [2, 4, 2, 4, 3, 3]
            %3 = const i64[4] [1, 16, 5, 5]
            %4 = onnx.Reshape(%w2, %2) : f32[2,4,2,4,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %6 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %7 = onnx.Transpose(%6) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %8 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %10 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%9, %7) : f32[1,2,5,5,4]
            %11 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%10, %5) : f32[1,2,5,5,4]
            %12 = onnx.Concat(%10, %11) {axis = 1} : f32[1,4,5,5,4]
            %13 = onnx.Transpose(%12) {perm = [0, 1, 4, 2, 3]} : f32[1,4,4,5,5]
            %y = onnx.Reshape(%13, %3) : f32[1,16,5,5]
            return %y
        "#]],
    );
}
