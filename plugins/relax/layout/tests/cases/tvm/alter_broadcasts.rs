//! AlterOpLayout, after TVM's `tests/python/relay/test_pass_alter_op_layout.py` and `tests/python/relax/test_transform_alter_op_impl.py`: broadcasts, and several results.

use expect_test::expect;

use crate::laid::check_altered;
use crate::vendor::registry;

#[test]
fn alter_layout_nonscalar_broadcast() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %z: f32[1,5,5]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.Add(%c, %z)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[1] [3]
            %3 = const i64[4] [1, 8, 5, 5]
            %4 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %6 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %7 = onnx.Transpose(%6) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %8 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%7, %5) : f32[1,2,5,5,4]
            %9 = onnx.Unsqueeze(%z, %2) : f32[1,5,5,1]
            %10 = onnx.Add(%8, %9) : f32[1,2,5,5,4]
            %11 = onnx.Transpose(%10) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%11, %3) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_blocked_no_broadcast() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %z: f32[1,8,1,1]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.Add(%c, %z)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[5] [1, 2, 1, 1, 4]
            %3 = const i64[4] [1, 8, 5, 5]
            %4 = onnx.Reshape(%z, %2) : f32[1,2,1,1,4]
            %5 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %6 = onnx.Transpose(%5) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %7 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %8 = onnx.Transpose(%7) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %9 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%8, %6) : f32[1,2,5,5,4]
            %10 = onnx.Add(%9, %4) : f32[1,2,5,5,4]
            %11 = onnx.Transpose(%10) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%11, %3) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_blocked_broadcast() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %z: f32[1,1,1,1]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.Add(%c, %z)
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
            %8 = onnx.Add(%7, %z) : f32[1,2,5,5,4]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%9, %2) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn alter_layout_re_blocking_broadcast() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %z: f32[1,1,5,1]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.Add(%c, %z)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[1] [4]
            %3 = const i64[4] [1, 8, 5, 5]
            %4 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %6 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %7 = onnx.Transpose(%6) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %8 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%7, %5) : f32[1,2,5,5,4]
            %9 = onnx.Unsqueeze(%z, %2) : f32[1,1,5,1,1]
            %10 = onnx.Add(%8, %9) : f32[1,2,5,5,4]
            %11 = onnx.Transpose(%10) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%11, %3) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn broadcast_non_adaptable() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3], %z: f32[8,5,5]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.Add(%c, %z)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[4] [2, 4, 5, 5]
            %3 = const i64[4] [1, 8, 5, 5]
            %4 = onnx.Reshape(%z, %2) : f32[2,4,5,5]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 3, 1]} : f32[2,5,5,4]
            %6 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %7 = onnx.Transpose(%6) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %8 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %10 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%9, %7) : f32[1,2,5,5,4]
            %11 = onnx.Add(%10, %5) : f32[1,2,5,5,4]
            %12 = onnx.Transpose(%11) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%12, %3) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn broadcast_respect_input_layouts() {
    check_altered(
        &registry(),
        "%x: f32[1,8,1,1], %w: f32[8,8,1,1]",
        "%c = onnx.Conv(%x, %w)
         %a = onnx.ReduceMin(%c) {axes = [2], keepdims = 0}
         %b = onnx.ReduceMin(%c) {axes = [3], keepdims = 0}
         %y = onnx.Add(%a, %b)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 1, 1, 4]
            %1 = const i64[6] [2, 4, 2, 4, 1, 1]
            %2 = const i64[3] [1, 8, 1]
            %3 = onnx.Reshape(%w, %1) : f32[2,4,2,4,1,1]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,1,1,4,4]
            %5 = onnx.Reshape(%x, %0) : f32[1,2,1,1,4]
            %6 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%5, %4) : f32[1,2,1,1,4]
            %7 = onnx.ReduceMin(%6) {keepdims = 0, axes = [2]} : f32[1,2,1,4]
            %8 = onnx.ReduceMin(%6) {keepdims = 0, axes = [3]} : f32[1,2,1,4]
            %9 = onnx.Add(%7, %8) : f32[1,2,1,4]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 3, 2]} : f32[1,2,4,1]
            %y = onnx.Reshape(%10, %2) : f32[1,8,1]
            return %y
        "#]],
    );
}

/// Rows and columns change places between two convolutions: one `Transpose` does both.
#[test]
fn axis_semantic_change() {
    check_altered(
        &registry(),
        "%x: f32[1,8,4,6], %w: f32[8,8,1,1]",
        "%c = onnx.Conv(%x, %w)
         %t = onnx.Transpose(%c) {perm = [0, 1, 3, 2]}
         %y = onnx.Conv(%t, %w)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 4, 6]
            %1 = const i64[6] [2, 4, 2, 4, 1, 1]
            %2 = const i64[4] [1, 8, 6, 4]
            %3 = const i64[5] [1, 2, 4, 6, 4]
            %4 = const i64[4] [1, 8, 6, 4]
            %5 = onnx.Reshape(%w, %1) : f32[2,4,2,4,1,1]
            %6 = onnx.Transpose(%5) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,1,1,4,4]
            %7 = onnx.Reshape(%x, %0) : f32[1,2,4,4,6]
            %8 = onnx.Transpose(%7) {perm = [0, 1, 3, 4, 2]} : f32[1,2,4,6,4]
            %9 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%8, %6) : f32[1,2,4,6,4]
            %10 = onnx.Transpose(%9) {perm = [0, 1, 4, 3, 2]} : f32[1,2,4,6,4]
            %11 = onnx.Reshape(%10, %2) : f32[1,8,6,4]
            %12 = onnx.Reshape(%11, %3) : f32[1,2,4,6,4]
            %13 = onnx.Transpose(%12) {perm = [0, 1, 3, 4, 2]} : f32[1,2,6,4,4]
            %14 = passdock.layout.Conv_NCHW4c_OIHW4i4o_1(%13, %6) : f32[1,2,6,4,4]
            %15 = onnx.Transpose(%14) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,6,4]
            %y = onnx.Reshape(%15, %4) : f32[1,8,6,4]
            return %y
        "#]],
    );
}

#[test]
fn alter_with_reduce() {
    check_altered(
        &registry(),
        "%x: f32[1,8,4,4], %w: f32[8,8,1,1]",
        "%c = onnx.Conv(%x, %w)
         %m = onnx.ReduceMean(%c) {axes = [0], keepdims = 0}
         %y = onnx.Relu(%m)
         return %y",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 4, 4]
            %1 = const i64[6] [2, 4, 2, 4, 1, 1]
            %2 = const i64[3] [8, 4, 4]
            %3 = onnx.Reshape(%w, %1) : f32[2,4,2,4,1,1]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,1,1,4,4]
            %5 = onnx.Reshape(%x, %0) : f32[1,2,4,4,4]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[1,2,4,4,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%6, %4) : f32[1,2,4,4,4]
            %8 = onnx.ReduceMean(%7) {keepdims = 0, axes = [0]} : f32[2,4,4,4]
            %9 = onnx.Relu(%8) : f32[2,4,4,4]
            %10 = onnx.Transpose(%9) {perm = [0, 3, 1, 2]} : f32[2,4,4,4]
            %y = onnx.Reshape(%10, %2) : f32[8,4,4]
            return %y
        "#]],
    );
}

/// What the convolution takes has its blocks already.
#[test]
fn single_output() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.Add(%c, %x)
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
            %8 = onnx.Add(%7, %6) : f32[1,2,5,5,4]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%9, %2) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn empty_layout_changes() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5]",
        "%y = onnx.Relu(%x)
         return %y",
        expect![[r#"
            %y = onnx.Relu(%x) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn multiple_outputs() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %n = const i64[2] [4, 4]
         %a, %b = onnx.Split(%c, %n) {axis = 1}
         return %a, %b",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[2] [1, 1]
            %3 = const i64[4] [1, 4, 5, 5]
            %4 = const i64[4] [1, 4, 5, 5]
            %5 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %6 = onnx.Transpose(%5) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %7 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %8 = onnx.Transpose(%7) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %9 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%8, %6) : f32[1,2,5,5,4]
            %10, %11 = onnx.Split(%9, %2) {axis = 1} : f32[1,1,5,5,4], f32[1,1,5,5,4]
            %12 = onnx.Transpose(%11) {perm = [0, 1, 4, 2, 3]} : f32[1,1,4,5,5]
            %b = onnx.Reshape(%12, %4) : f32[1,4,5,5]
            %13 = onnx.Transpose(%10) {perm = [0, 1, 4, 2, 3]} : f32[1,1,4,5,5]
            %a = onnx.Reshape(%13, %3) : f32[1,4,5,5]
            return %a, %b
        "#]],
    );
}

/// Six channels would have to be padded: the plugin wants none of it.
#[test]
fn supported_implicit_padding() {
    check_altered(
        &registry(),
        "%x: f32[1,6,5,5], %w: f32[8,6,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.Relu(%c)
         return %y",
        expect![[r#"
            %c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]} : f32[1,8,5,5]
            %y = onnx.Relu(%c) : f32[1,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn multiple_call_sites() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %y = onnx.Conv(%c, %w) {pads = [1, 1, 1, 1]}
         return %y, %c",
        expect![[r#"
            %0 = const i64[5] [1, 2, 4, 5, 5]
            %1 = const i64[6] [2, 4, 2, 4, 3, 3]
            %2 = const i64[4] [1, 8, 5, 5]
            %3 = const i64[4] [1, 8, 5, 5]
            %4 = onnx.Reshape(%w, %1) : f32[2,4,2,4,3,3]
            %5 = onnx.Transpose(%4) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,3,3,4,4]
            %6 = onnx.Reshape(%x, %0) : f32[1,2,4,5,5]
            %7 = onnx.Transpose(%6) {perm = [0, 1, 3, 4, 2]} : f32[1,2,5,5,4]
            %8 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%7, %5) : f32[1,2,5,5,4]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %c = onnx.Reshape(%9, %3) : f32[1,8,5,5]
            %10 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%8, %5) : f32[1,2,5,5,4]
            %11 = onnx.Transpose(%10) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,5,5]
            %y = onnx.Reshape(%11, %2) : f32[1,8,5,5]
            return %y, %c
        "#]],
    );
}

/// Rows and columns lie side by side before the blocks, but put together they are an axis of a tensor that is cut.
#[test]
fn reshape() {
    check_altered(
        &registry(),
        "%x: f32[1,8,5,5], %w: f32[8,8,3,3]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %s = const i64[3] [1, 8, 25]
         %y = onnx.Reshape(%c, %s)
         return %y",
        expect![[r#"
            %s = const i64[3] [1, 8, 25]
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
            %y = onnx.Reshape(%c, %s) : f32[1,8,25]
            return %y
        "#]],
    );
}
