//! Reductions and TopK, version by version.

use expect_test::expect;

use crate::{check, wrong};

#[test]
fn axes_of_reductions_were_an_attribute() {
    check(
        11,
        "%x: f32[n,3,4]",
        "
    %0 = onnx.ReduceSum(%x) {axes = [1], keepdims = 0}
    %1 = onnx.ReduceMax(%x) {axes = [-1]}
    %2 = onnx.ReduceMean(%x)
",
        expect![[r#"
            %0 = onnx.ReduceSum(%x) {axes = [1], keepdims = 0} : f32[n,4]
            %1 = onnx.ReduceMax(%x) {axes = [-1]} : f32[n,3,1]
            %2 = onnx.ReduceMean(%x) : f32[1,1,1]
        "#]],
    );
    check(
        13,
        "%x: f32[n,3,4], %a: i64[1]",
        "
    %axes = const i64[1] [1]
    %0 = onnx.ReduceSum(%x, %axes) {keepdims = 0}
    %1 = onnx.ReduceMax(%x) {axes = [-1]}
    %2 = onnx.ReduceSum(%x, %a)
    %3 = onnx.ReduceSum(%x, %a) {keepdims = 0}
    %4 = onnx.ReduceSum(%x) {noop_with_empty_axes = 1}
",
        expect![[r#"
            %axes = const i64[1] [1]
            %0 = onnx.ReduceSum(%x, %axes) {keepdims = 0} : f32[n,4]
            %1 = onnx.ReduceMax(%x) {axes = [-1]} : f32[n,3,1]
            %2 = onnx.ReduceSum(%x, %a) : f32[?,?,?]
            %3 = onnx.ReduceSum(%x, %a) {keepdims = 0} : f32[?,?]
            %4 = onnx.ReduceSum(%x) {noop_with_empty_axes = 1} : f32[n,3,4]
        "#]],
    );
    check(
        18,
        "%x: f32[n,3,4]",
        "
    %axes = const i64[2] [0, 2]
    %0 = onnx.ReduceMax(%x, %axes)
",
        expect![[r#"
            %axes = const i64[2] [0, 2]
            %0 = onnx.ReduceMax(%x, %axes) : f32[1,3,1]
        "#]],
    );
    wrong(
        18,
        "%x: f32[n,3,4]",
        "%axes = const i64[1] [3]\n    %0 = onnx.ReduceMax(%x, %axes)",
        expect!["onnx.ReduceMax: axis 3 is out of range for rank 3"],
    );
}

#[test]
fn the_count_of_top_k_was_an_attribute() {
    let body = "\n    %0, %1 = onnx.TopK(%x) {axis = 1, k = 2}\n";
    check(
        1,
        "%x: f32[n,5]",
        body,
        expect![[r#"
        %0, %1 = onnx.TopK(%x) {axis = 1, k = 2} : f32[n,2], i64[n,2]
    "#]],
    );
    let body = "
    %k = const i64[1] [2]
    %0, %1 = onnx.TopK(%x, %k)
    %2, %3 = onnx.TopK(%x, %c) {axis = 0}
";
    check(
        10,
        "%x: f32[n,5], %c: i64[1]",
        body,
        expect![[r#"
        %k = const i64[1] [2]
        %0, %1 = onnx.TopK(%x, %k) : f32[n,2], i64[n,2]
        %2, %3 = onnx.TopK(%x, %c) {axis = 0} : f32[?,5], i64[?,5]
    "#]],
    );
    check(
        11,
        "%x: f32[n,5], %c: i64[1]",
        body,
        expect![[r#"
        %k = const i64[1] [2]
        %0, %1 = onnx.TopK(%x, %k) : f32[n,2], i64[n,2]
        %2, %3 = onnx.TopK(%x, %c) {axis = 0} : f32[?,5], i64[?,5]
    "#]],
    );
}
