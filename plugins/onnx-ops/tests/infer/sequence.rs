//! Sequences and optional values.

use expect_test::expect;

use crate::{check, wrong};

#[test]
fn a_sequence_is_what_its_items_have_in_common() {
    check(
        17,
        "%x: f32[n,2], %y: f32[n,3], %z: f32[n], %i: i64[]",
        "
    %0 = onnx.SequenceConstruct(%x, %x)
    %1 = onnx.SequenceConstruct(%x, %y)
    %2 = onnx.SequenceConstruct(%x, %z)
    %3 = onnx.SequenceEmpty()
    %4 = onnx.SequenceEmpty() {dtype = 7}
    %5 = onnx.SequenceInsert(%0, %y)
    %6 = onnx.SequenceErase(%5, %i)
    %7 = onnx.SequenceAt(%6, %i)
    %8 = onnx.SequenceLength(%6)
    %9 = onnx.ConcatFromSequence(%0) {axis = 0}
    %10 = onnx.ConcatFromSequence(%0) {axis = -1, new_axis = 1}
",
        expect![[r#"
            %0 = onnx.SequenceConstruct(%x, %x) : seq<f32[n,2]>
            %1 = onnx.SequenceConstruct(%x, %y) : seq<f32[n,?]>
            %2 = onnx.SequenceConstruct(%x, %z) : seq<f32[*]>
            %3 = onnx.SequenceEmpty() : seq<f32[*]>
            %4 = onnx.SequenceEmpty() {dtype = 7} : seq<i64[*]>
            %5 = onnx.SequenceInsert(%0, %y) : seq<f32[n,?]>
            %6 = onnx.SequenceErase(%5, %i) : seq<f32[n,?]>
            %7 = onnx.SequenceAt(%6, %i) : f32[n,?]
            %8 = onnx.SequenceLength(%6) : i64[]
            %9 = onnx.ConcatFromSequence(%0) {axis = 0} : f32[?,2]
            %10 = onnx.ConcatFromSequence(%0) {axis = -1, new_axis = 1} : f32[n,2,?]
        "#]],
    );
    wrong(
        17,
        "%x: f32[2], %y: i64[2]",
        "%0 = onnx.SequenceConstruct(%x, %y)",
        expect![
            "onnx.SequenceConstruct: its operand 1 is i64, and its operand 0 is f32: it takes both of one type"
        ],
    );
}

#[test]
fn a_tensor_is_split_to_a_sequence() {
    check(
        17,
        "%x: f32[6,n]",
        "
    %two = const i64[] 2
    %four = const i64[] 4
    %even = const i64[2] [3, 3]
    %odd = const i64[2] [2, 4]
    %0 = onnx.SplitToSequence(%x)
    %1 = onnx.SplitToSequence(%x) {axis = 1, keepdims = 0}
    %2 = onnx.SplitToSequence(%x, %two)
    %3 = onnx.SplitToSequence(%x, %four)
    %4 = onnx.SplitToSequence(%x, %even)
    %5 = onnx.SplitToSequence(%x, %odd)
    %6 = onnx.SplitToSequence(%x, %two) {axis = 1}
",
        expect![[r#"
            %two = const i64[] 2
            %four = const i64[] 4
            %even = const i64[2] [3, 3]
            %odd = const i64[2] [2, 4]
            %0 = onnx.SplitToSequence(%x) : seq<f32[1,n]>
            %1 = onnx.SplitToSequence(%x) {axis = 1, keepdims = 0} : seq<f32[6]>
            %2 = onnx.SplitToSequence(%x, %two) : seq<f32[2,n]>
            %3 = onnx.SplitToSequence(%x, %four) : seq<f32[?,n]>
            %4 = onnx.SplitToSequence(%x, %even) : seq<f32[3,n]>
            %5 = onnx.SplitToSequence(%x, %odd) : seq<f32[?,n]>
            %6 = onnx.SplitToSequence(%x, %two) {axis = 1} : seq<f32[6,?]>
        "#]],
    );
    wrong(
        17,
        "%x: f32[7,2]",
        "%even = const i64[2] [3, 3]\n    %0 = onnx.SplitToSequence(%x, %even)",
        expect!["onnx.SplitToSequence: 7 and 6 should be the same size"],
    );
}

#[test]
fn an_optional_value_is_something_or_nothing() {
    check(
        18,
        "%x: f32[n], %s: seq<f32[2]>, %o: optional<seq<f32[n]>>",
        "
    %0 = onnx.Optional(%x)
    %1 = onnx.OptionalGetElement(%0)
    %2 = onnx.OptionalHasElement(%0)
    %3 = onnx.OptionalGetElement(%o)
    %4 = onnx.OptionalGetElement(%s)
    %5 = onnx.Optional(%s)
    %6 = onnx.OptionalHasElement()
",
        expect![[r#"
            %0 = onnx.Optional(%x) : optional<f32[n]>
            %1 = onnx.OptionalGetElement(%0) : f32[n]
            %2 = onnx.OptionalHasElement(%0) : bool[]
            %3 = onnx.OptionalGetElement(%o) : seq<f32[n]>
            %4 = onnx.OptionalGetElement(%s) : seq<f32[2]>
            %5 = onnx.Optional(%s) : optional<seq<f32[2]>>
            %6 = onnx.OptionalHasElement() : bool[]
        "#]],
    );
}
