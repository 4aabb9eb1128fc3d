//! Resize and Upsample, version by version.

use expect_test::expect;

use crate::{check, wrong};

#[test]
fn scales_were_an_attribute_then_an_operand() {
    let params = "%x: f32[n,1,2,w]";
    check(
        7,
        params,
        "\n    %0 = onnx.Upsample(%x) {scales = [1.0, 1.0, 2.0, 3.0]}\n",
        expect![[r#"
            %0 = onnx.Upsample(%x) {scales = [1.0, 1.0, 2.0, 3.0]} : f32[n,1,4,w*3]
        "#]],
    );
    let body = "
    %scales = const f32[4] [1.0, 1.0, 2.0, 3.0]
    %0 = onnx.Upsample(%x, %scales)
";
    check(
        9,
        params,
        body,
        expect![[r#"
        %scales = const f32[4] [1.0, 1.0, 2.0, 3.0]
        %0 = onnx.Upsample(%x, %scales) : f32[n,1,4,w*3]
    "#]],
    );
    let body = "
    %scales = const f32[4] [1.0, 1.0, 0.6, 0.5]
    %0 = onnx.Resize(%x, %scales)
";
    check(
        10,
        params,
        body,
        expect![[r#"
        %scales = const f32[4] [1.0, 1.0, 0.6, 0.5]
        %0 = onnx.Resize(%x, %scales) : f32[n,1,1,w/2]
    "#]],
    );
    let body = "
    %scales = const f32[4] [1.0, 1.0, 1.5, 1.5]
    %sizes = const i64[4] [1, 1, 7, 8]
    %roi = const f32[0] []
    %0 = onnx.Resize(%x, %roi, %scales)
    %1 = onnx.Resize(%x, %roi, %roi, %sizes)
";
    check(
        11,
        params,
        body,
        expect![[r#"
        %scales = const f32[4] [1.0, 1.0, 1.5, 1.5]
        %sizes = const i64[4] [1, 1, 7, 8]
        %roi = const f32[0] []
        %0 = onnx.Resize(%x, %roi, %scales) : f32[n,1,3,w*3/2]
        %1 = onnx.Resize(%x, %roi, %roi, %sizes) : f32[1,1,7,8]
    "#]],
    );
    check(
        13,
        params,
        body,
        expect![[r#"
        %scales = const f32[4] [1.0, 1.0, 1.5, 1.5]
        %sizes = const i64[4] [1, 1, 7, 8]
        %roi = const f32[0] []
        %0 = onnx.Resize(%x, %roi, %scales) : f32[n,1,3,w*3/2]
        %1 = onnx.Resize(%x, %roi, %roi, %sizes) : f32[1,1,7,8]
    "#]],
    );
}

#[test]
fn axes_and_proportions_came_later() {
    check(
        18,
        "%x: f32[n,c,3,7], %s: i64[2]",
        "
    %sizes = const i64[2] [7, 8]
    %scales = const f32[2] [2.0, 0.5]
    %0 = onnx.Resize(%x, _, _, %sizes) {axes = [2, 3]}
    %1 = onnx.Resize(%x, _, _, %sizes) {axes = [-1, -2]}
    %2 = onnx.Resize(%x, _, _, %sizes) {axes = [2, 3], keep_aspect_ratio_policy = \"not_larger\"}
    %3 = onnx.Resize(%x, _, _, %sizes) {axes = [2, 3], keep_aspect_ratio_policy = \"not_smaller\"}
    %4 = onnx.Resize(%x, _, %scales) {axes = [2, 3]}
    %5 = onnx.Resize(%x, _, _, %s) {axes = [2, 3]}
    %6 = onnx.Resize(%x, _, _, %sizes) {axes = [0, 1], keep_aspect_ratio_policy = \"not_larger\"}
",
        expect![[r#"
            %sizes = const i64[2] [7, 8]
            %scales = const f32[2] [2.0, 0.5]
            %0 = onnx.Resize(%x, _, _, %sizes) {axes = [2, 3]} : f32[n,c,7,8]
            %1 = onnx.Resize(%x, _, _, %sizes) {axes = [-1, -2]} : f32[n,c,8,7]
            %2 = onnx.Resize(%x, _, _, %sizes) {axes = [2, 3], keep_aspect_ratio_policy = "not_larger"} : f32[n,c,3,8]
            %3 = onnx.Resize(%x, _, _, %sizes) {axes = [2, 3], keep_aspect_ratio_policy = "not_smaller"} : f32[n,c,7,16]
            %4 = onnx.Resize(%x, _, %scales) {axes = [2, 3]} : f32[n,c,6,3]
            %5 = onnx.Resize(%x, _, _, %s) {axes = [2, 3]} : f32[n,c,?,?]
            %6 = onnx.Resize(%x, _, _, %sizes) {axes = [0, 1], keep_aspect_ratio_policy = "not_larger"} : f32[?,?,3,7]
        "#]],
    );
}

#[test]
fn sizes_and_scales_belong_to_axes() {
    wrong(
        19,
        "%x: f32[1,1,2,2], %s: i64[3]",
        "%0 = onnx.Resize(%x, _, _, %s)",
        expect!["onnx.Resize: 3 sizes for 4 axes"],
    );
    wrong(
        7,
        "%x: f32[1,1,2,2]",
        "%0 = onnx.Upsample(%x) {scales = [2.0, 2.0]}",
        expect!["onnx.Upsample: 2 scales for 4 axes"],
    );
}

/// ONNX Runtime leaves such an axis as it is, ONNX's inference resizes it.
#[test]
fn axes_counted_from_the_back_keep_no_proportion() {
    check(
        18,
        "%x: f32[1,2,4,6]",
        "
    %sizes = const i64[2] [8, 8]
    %0 = onnx.Resize(%x, _, _, %sizes) {axes = [2, 3], keep_aspect_ratio_policy = \"not_larger\"}
    %1 = onnx.Resize(%x, _, _, %sizes) {axes = [-2, -1], keep_aspect_ratio_policy = \"not_larger\"}
    %2 = onnx.Resize(%x, _, _, %sizes) {axes = [-2, -1]}
",
        expect![[r#"
            %sizes = const i64[2] [8, 8]
            %0 = onnx.Resize(%x, _, _, %sizes) {axes = [2, 3], keep_aspect_ratio_policy = "not_larger"} : f32[1,2,5,8]
            %1 = onnx.Resize(%x, _, _, %sizes) {axes = [-2, -1], keep_aspect_ratio_policy = "not_larger"} : f32[1,2,?,?]
            %2 = onnx.Resize(%x, _, _, %sizes) {axes = [-2, -1]} : f32[1,2,8,8]
        "#]],
    );
}
