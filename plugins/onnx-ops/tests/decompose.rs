//! Bodies of operators, asked for through the host: IR text in, IR text with the bodies out.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

mod support;

use expect_test::{Expect, expect};
use support::decompose;

/// The ops of `@main(SIGNATURE)` after each became what it is made of.
#[track_caller]
fn check(opset: i64, params: &str, body: &str, expected: Expect) {
    expected.assert_eq(&decompose(opset, params, body));
}

#[test]
fn hard_swish_is_a_product() {
    check(
        17,
        "%x: f16[n,3]",
        "\n%0 = onnx.HardSwish(%x)\n",
        expect![[r#"
            %0 = onnx.HardSigmoid(%x) {alpha = 0.16666667, beta = 0.5} : f16[n,3]
            %1 = onnx.Mul(%x, %0) : f16[n,3]
        "#]],
    );
}

/// Whatever the element type is: a body has to be read.
#[test]
fn zeros_are_written_as_their_type_writes_them() {
    check(
        27,
        "%x: f16[1,2,3], %w: f16[2,1,2]",
        "\n%0, %1 = onnx.CausalConvWithState(%x, %w)\n",
        expect![[r#"
            %0 = const i64[1] [1]
            %1 = const i64[1] [2]
            %2 = onnx.Shape(%w) {start = 2, end = 3} : i64[1]
            %3 = onnx.Sub(%2, %0) : i64[1]
            %4 = onnx.Shape(%x) {start = 0, end = 2} : i64[2]
            %5 = onnx.Concat(%4, %3) {axis = 0} : i64[3]
            %6 = onnx.ConstantOfShape(%5) {value = tensor f16[1] [0.0]} : f16[1,2,1]
            %7 = onnx.Concat(%6, %x) {axis = 2} : f16[1,2,4]
            %8 = onnx.Conv(%7, %w) {group = 2} : f16[1,2,3]
            %9 = onnx.Shape(%7) {start = 2, end = 3} : i64[1]
            %10 = onnx.Sub(%9, %3) : i64[1]
            %11 = onnx.Slice(%7, %10, %9, %1) : f16[1,2,1]
        "#]],
    );
}

#[test]
fn what_isnt_known_of_an_op_leaves_it_whole() {
    let whole = expect![[r#"
        %0 = onnx.HardSwish(%x) {slope = 2.0}
    "#]];
    check(
        17,
        "%x: f16[n,3]",
        "\n%0 = onnx.HardSwish(%x) {slope = 2.0}\n",
        whole,
    );
}

#[test]
fn an_opset_newer_than_all_has_the_newest_bodies() {
    check(
        99,
        "%x: f16[n,3]",
        "\n%0 = onnx.HardSwish(%x)\n",
        expect![[r#"
            %0 = onnx.HardSigmoid(%x) {alpha = 0.16666667, beta = 0.5} : f16[n,3]
            %1 = onnx.Mul(%x, %0) : f16[n,3]
        "#]],
    );
}

/// Axes became operands, Softmax lost its second dim: each version gets its own text.
#[test]
fn a_body_is_of_the_version_at_hand() {
    let softmax = "\n%0 = onnx.Softmax(%x)\n";
    check(
        11,
        "%x: f32[n,c,d]",
        softmax,
        expect![[r#"
        %0 = onnx.Flatten(%x) {axis = 1} : f32[n,c*d]
        %1 = onnx.ReduceMax(%0) {axes = [1], keepdims = 1} : f32[n,1]
        %2 = onnx.Sub(%0, %1) : f32[n,c*d]
        %3 = onnx.Exp(%2) : f32[n,c*d]
        %4 = onnx.ReduceSum(%3) {axes = [1], keepdims = 1} : f32[n,1]
        %5 = onnx.Div(%3, %4) : f32[n,c*d]
        %6 = onnx.Shape(%x) : i64[3]
        %7 = onnx.Reshape(%5, %6) : f32[n,c,d]
    "#]],
    );
    check(
        13,
        "%x: f32[n,c,d]",
        softmax,
        expect![[r#"
        %0 = const i64[1] [-1]
        %1 = onnx.ReduceMax(%x) {axes = [-1], keepdims = 1} : f32[n,c,1]
        %2 = onnx.Sub(%x, %1) : f32[n,c,d]
        %3 = onnx.Exp(%2) : f32[n,c,d]
        %4 = onnx.ReduceSum(%3, %0) {keepdims = 1} : f32[n,c,1]
        %5 = onnx.Div(%3, %4) : f32[n,c,d]
    "#]],
    );
    check(
        18,
        "%x: f32[n,c,d]",
        softmax,
        expect![[r#"
        %0 = const i64[1] [-1]
        %1 = const i64[1] [-1]
        %2 = onnx.ReduceMax(%x, %0) {keepdims = 1} : f32[n,c,1]
        %3 = onnx.Sub(%x, %2) : f32[n,c,d]
        %4 = onnx.Exp(%3) : f32[n,c,d]
        %5 = onnx.ReduceSum(%4, %1) {keepdims = 1} : f32[n,c,1]
        %6 = onnx.Div(%4, %5) : f32[n,c,d]
    "#]],
    );
    let norm = "\n%0 = onnx.ReduceL2(%x) {axes = [1], keepdims = 0}\n";
    check(
        11,
        "%x: f16[n,c]",
        norm,
        expect![[r#"
        %0 = onnx.Mul(%x, %x) : f16[n,c]
        %1 = onnx.ReduceSum(%0) {axes = [1], keepdims = 0} : f16[n]
        %2 = onnx.Cast(%1) {to = 1} : f32[n]
        %3 = onnx.Sqrt(%2) : f32[n]
        %4 = onnx.Cast(%3) {to = 10} : f16[n]
    "#]],
    );
    check(
        13,
        "%x: f32[n,c]",
        norm,
        expect![[r#"
        %0 = const i64[1] [1]
        %1 = onnx.Mul(%x, %x) : f32[n,c]
        %2 = onnx.ReduceSum(%1, %0) {keepdims = 0} : f32[n]
        %3 = onnx.Sqrt(%2) : f32[n]
    "#]],
    );
}

/// What is left out of an op is left out of its body.
#[test]
fn a_body_is_of_the_operands_at_hand() {
    check(
        13,
        "%x: i32[n], %m: i32[]",
        "\n%0 = onnx.Clip(%x, _, %m)\n",
        expect![[r#"
            %0 = onnx.Less(%m, %x) : bool[n]
            %1 = onnx.Where(%0, %m, %x) : i32[n]
        "#]],
    );
    check(
        13,
        "%x: i32[n]",
        "\n%0 = onnx.Clip(%x)\n",
        expect![[r#"
        %0 = onnx.Identity(%x) : i32[n]
    "#]],
    );
    let loss = "\n%0 = onnx.NegativeLogLikelihoodLoss(%x, %t)\n";
    check(
        12,
        "%x: f32[n,c], %t: i64[n]",
        loss,
        expect![[r#"
        %0 = onnx.Unsqueeze(%t) {axes = [1]} : i64[n,1]
        %1 = onnx.GatherElements(%x, %0) {axis = 1} : f32[n,1]
        %2 = onnx.Squeeze(%1) {axes = [1]} : f32[n]
        %3 = onnx.Neg(%2) : f32[n]
        %4 = onnx.ReduceMean(%3) {keepdims = 0} : f32[]
    "#]],
    );
}

/// Without types there are no constants of them, and before version 9 there is no `Where`.
#[test]
fn what_a_body_needs_has_to_be_known() {
    check(
        17,
        "%x: ?",
        "\n%0 = onnx.Elu(%x)\n",
        expect![[r#"
        %0 = onnx.Elu(%x)
    "#]],
    );
    check(
        8,
        "%x: f32[n]",
        "\n%0 = onnx.Elu(%x)\n",
        expect![[r#"
        %0 = onnx.Elu(%x) : f32[n]
    "#]],
    );
    check(
        17,
        "%x: f32[*]",
        "\n%0 = onnx.LayerNormalization(%x, %x) {axis = 1}\n",
        expect![[r#"
            %0 = onnx.LayerNormalization(%x, %x) {axis = 1} : f32[*]
        "#]],
    );
}
