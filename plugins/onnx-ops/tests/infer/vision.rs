//! Pictures: sampling, regions of interest, patches.

use expect_test::expect;

use crate::{check, wrong};

#[test]
fn grids_and_patches() {
    check(
        20,
        "%t: f32[n,2,3], %s: i64[4], %x: f32[n,c,h,w], %g: f32[n,5,6,2], %b: f32[n,15,l], %u: i64[2]",
        "
    %size = const i64[4] [2, 3, 5, 6]
    %image = const i64[2] [5, 5]
    %block = const i64[2] [1, 5]
    %crop = const i64[2] [10, 9]
    %0 = onnx.AffineGrid(%t, %size)
    %1 = onnx.AffineGrid(%t, %s)
    %2 = onnx.GridSample(%x, %g)
    %3 = onnx.Col2Im(%b, %image, %block)
    %4 = onnx.Col2Im(%b, %u, %block)
    %5 = onnx.CenterCropPad(%x, %crop) {axes = [1, -1]}
    %6 = onnx.CenterCropPad(%x, %s)
    %7 = onnx.CenterCropPad(%x, %u) {axes = [2, 3]}
",
        expect![[r#"
            %size = const i64[4] [2, 3, 5, 6]
            %image = const i64[2] [5, 5]
            %block = const i64[2] [1, 5]
            %crop = const i64[2] [10, 9]
            %0 = onnx.AffineGrid(%t, %size) : f32[2,5,6,2]
            %1 = onnx.AffineGrid(%t, %s) : f32[n,?,?,2]
            %2 = onnx.GridSample(%x, %g) : f32[n,c,5,6]
            %3 = onnx.Col2Im(%b, %image, %block) : f32[n,3,5,5]
            %4 = onnx.Col2Im(%b, %u, %block) : f32[n,3,?,?]
            %5 = onnx.CenterCropPad(%x, %crop) {axes = [1, -1]} : f32[n,10,h,9]
            %6 = onnx.CenterCropPad(%x, %s) : f32[?,?,?,?]
            %7 = onnx.CenterCropPad(%x, %u) {axes = [2, 3]} : f32[n,c,?,?]
        "#]],
    );
    wrong(
        20,
        "%t: f32[1,3,4]",
        "%size = const i64[4] [1, 3, 5, 6]\n    %0 = onnx.AffineGrid(%t, %size)",
        expect!["onnx.AffineGrid: 3 and 2 should be the same size"],
    );
    wrong(
        20,
        "%x: f32[1,1,4,4], %g: f32[1,5,6,3]",
        "%0 = onnx.GridSample(%x, %g)",
        expect!["onnx.GridSample: 3 and 2 should be the same size"],
    );
    wrong(
        20,
        "%x: f32[1,1,4,4], %s: i64[3]",
        "%0 = onnx.CenterCropPad(%x, %s) {axes = [2, 3]}",
        expect!["onnx.CenterCropPad: a shape of 3 for 2 axes"],
    );
    wrong(
        20,
        "%b: f32[1,16,4], %i: i64[2]",
        "%block = const i64[2] [1, 5]\n    %0 = onnx.Col2Im(%b, %i, %block)",
        expect!["onnx.Col2Im: 16 isn't a multiple of 5"],
    );
}

#[test]
fn regions_and_boxes() {
    check(
        20,
        "%x: f32[n,c,h,w], %r: f32[k,4], %i: i64[k], %o: f32[m,5], %b: f32[n,s,4], %s: f32[n,3,s], %e: u8[len]",
        "
    %0 = onnx.RoiAlign(%x, %r, %i) {output_height = 5, output_width = 6}
    %1 = onnx.RoiAlign(%x, %r, %i)
    %2 = onnx.MaxRoiPool(%x, %o) {pooled_shape = [7, 8]}
    %3 = onnx.NonMaxSuppression(%b, %s)
    %4 = onnx.ImageDecoder(%e)
    %5 = onnx.ImageDecoder(%e) {pixel_format = \"Grayscale\"}
",
        expect![[r#"
            %0 = onnx.RoiAlign(%x, %r, %i) {output_height = 5, output_width = 6} : f32[k,c,5,6]
            %1 = onnx.RoiAlign(%x, %r, %i) : f32[k,c,1,1]
            %2 = onnx.MaxRoiPool(%x, %o) {pooled_shape = [7, 8]} : f32[m,c,7,8]
            %3 = onnx.NonMaxSuppression(%b, %s) : i64[?,3]
            %4 = onnx.ImageDecoder(%e) : u8[?,?,3]
            %5 = onnx.ImageDecoder(%e) {pixel_format = "Grayscale"} : u8[?,?,1]
        "#]],
    );
    wrong(
        20,
        "%x: f32[1,1,4,4], %r: f32[2,4], %i: i64[3]",
        "%0 = onnx.RoiAlign(%x, %r, %i)",
        expect!["onnx.RoiAlign: 2 and 3 should be the same size"],
    );
    wrong(
        20,
        "%b: f32[1,6,4], %s: f32[1,2,5]",
        "%0 = onnx.NonMaxSuppression(%b, %s)",
        expect!["onnx.NonMaxSuppression: 6 and 5 should be the same size"],
    );
}
