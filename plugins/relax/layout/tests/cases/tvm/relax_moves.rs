//! ConvertLayout, after TVM's `tests/python/relax/test_transform_convert_layout.py`: what repeats, takes and puts elements.

use expect_test::expect;

use crate::laid::check;

#[test]
fn conv2d_repeat() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %r = const i64[4] [1, 2, 1, 1]
         %y = onnx.Tile(%c, %r)
         return %y",
        expect![[r#"
            %0 = const i64[4] [1, 1, 1, 2]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.Tile(%3, %0) : f32[2,5,5,8]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[2,8,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_repeat_flatten() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %s = const i64[1] [-1]
         %y = onnx.Reshape(%c, %s)
         return %y",
        expect![[r#"
            %s = const i64[1] [-1]
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %c = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            %y = onnx.Reshape(%c, %s) : f32[200]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_tile() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %r = const i64[4] [1, 2, 3, 4]
         %y = onnx.Tile(%c, %r)
         return %y",
        expect![[r#"
            %0 = const i64[4] [1, 3, 4, 2]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.Tile(%3, %0) : f32[2,15,20,8]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[2,8,15,20]
            return %y
        "#]],
    );
}

/// ONNX's `Tile` has a number for each axis; a shape may be shorter.
#[test]
fn conv2d_tile_repeats_shorter() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %s = const i64[2] [5, 1]
         %y = onnx.Expand(%c, %s)
         return %y",
        expect![[r#"
            %0 = const i64[4] [1, 5, 1, 1]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.Expand(%3, %0) : f32[2,5,5,4]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_tile_repeats_longer() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %s = const i64[5] [2, 1, 1, 1, 1]
         %y = onnx.Expand(%c, %s)
         return %y",
        expect![[r#"
            %s = const i64[5] [2, 1, 1, 1, 1]
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %c = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            %y = onnx.Expand(%c, %s) : f32[2,2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_tile_repeats_large_value() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %r = const i64[4] [1, 10, 1, 1]
         %y = onnx.Tile(%c, %r)
         return %y",
        expect![[r#"
            %0 = const i64[4] [1, 1, 1, 10]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.Tile(%3, %0) : f32[2,5,5,40]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[2,40,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_tile_repeats_computed() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3], %r: i64[4]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Tile(%c, %r)
         return %y",
        expect![[r#"
            %0 = const i64[4] [0, 2, 3, 1]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.Gather(%r, %0) {axis = 0} : i64[4]
            %5 = onnx.Tile(%3, %4) : f32[_1,_3,_4,_2]
            %y = onnx.Transpose(%5) {perm = [0, 3, 1, 2]} : f32[_1,_2,_3,_4]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_dynamic_strided_slice() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3], %b: i64[4], %e: i64[4], %s: i64[4]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.Slice(%c, %b, %e, _, %s)
         return %y",
        expect![[r#"
            %0 = const i64[4] [0, 3, 1, 2]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.Slice(%3, %b, %e, %0, %s) : f32[_1,_3,_4,_2]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[_1,_2,_3,_4]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_flip() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3]",
        "%c = onnx.Conv(%x, %w)
         %b = const i64[1] [-1]
         %e = const i64[1] [-100]
         %a = const i64[1] [1]
         %s = const i64[1] [-1]
         %y = onnx.Slice(%c, %b, %e, %a, %s)
         return %y",
        expect![[r#"
            %b = const i64[1] [-1]
            %e = const i64[1] [-100]
            %s = const i64[1] [-1]
            %0 = const i64[1] [3]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.Slice(%3, %b, %e, %0, %s) : f32[2,5,5,4]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_scatter_elements() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3], %i: i64[2,4,5,5]",
        "%c = onnx.Conv(%x, %w)
         %r = onnx.Relu(%c)
         %y = onnx.ScatterElements(%c, %i, %r) {axis = 1}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%i) {perm = [0, 2, 3, 1]} : i64[2,5,5,4]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.Relu(%3) : f32[2,5,5,4]
            %5 = onnx.ScatterElements(%3, %0, %4) {axis = 3} : f32[2,5,5,4]
            %y = onnx.Transpose(%5) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_scatter_nd() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3], %i: i64[2,1]",
        "%c = onnx.Conv(%x, %w)
         %r = onnx.Relu(%c)
         %y = onnx.ScatterND(%c, %i, %r)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %2 = passdock.layout.Conv_NHWC_OHWI(%1, %0) : f32[2,5,5,4]
            %c = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            %3 = onnx.Relu(%2) : f32[2,5,5,4]
            %r = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            %y = onnx.ScatterND(%c, %i, %r) : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn conv2d_gather_elements() {
    check(
        "onnx.Conv NHWC OHWI",
        "%x: f32[2,3,7,7], %w: f32[4,3,3,3], %i: i64[2,4,5,5]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.GatherElements(%c, %i) {axis = 1}
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%i) {perm = [0, 2, 3, 1]} : i64[2,5,5,4]
            %1 = onnx.Transpose(%w) {perm = [0, 2, 3, 1]} : f32[4,3,3,3]
            %2 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,3]
            %3 = passdock.layout.Conv_NHWC_OHWI(%2, %1) : f32[2,5,5,4]
            %4 = onnx.GatherElements(%3, %0) {axis = 3} : f32[2,5,5,4]
            %y = onnx.Transpose(%4) {perm = [0, 3, 1, 2]} : f32[2,4,5,5]
            return %y
        "#]],
    );
}

#[test]
fn layout_cb() {
    check(
        "onnx.Conv NHWC",
        "%x: f32[2,4,7,7], %w: f32[4,4,3,3], %b: f32[2,4,5,5]",
        "%c = onnx.Conv(%x, %w)
         %a = onnx.Add(%c, %b)
         %r = onnx.Relu(%a)
         %y = onnx.Conv(%r, %w)
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%b) {perm = [0, 2, 3, 1]} : f32[2,5,5,4]
            %1 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,7,7,4]
            %2 = passdock.layout.Conv_NHWC(%1, %w) : f32[2,5,5,4]
            %3 = onnx.Add(%2, %0) : f32[2,5,5,4]
            %4 = onnx.Relu(%3) : f32[2,5,5,4]
            %5 = passdock.layout.Conv_NHWC(%4, %w) : f32[2,3,3,4]
            %y = onnx.Transpose(%5) {perm = [0, 3, 1, 2]} : f32[2,4,3,3]
            return %y
        "#]],
    );
}
