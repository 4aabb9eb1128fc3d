//! Attributes that can't be what they are: told, whatever else is known of the op.

use expect_test::{Expect, expect};

use crate::{check, support};

/// What is said of each op by itself.
#[track_caller]
fn told(version: i64, params: &str, ops: &[&str], expected: Expect) {
    let said = |op: &&str| {
        let text = support::infer(version, params, &format!("\n    {op}\n"));
        let said = text.lines().next().unwrap_or_default();
        let reason = said
            .split_once(" is wrong: ")
            .map_or(said, |(_, reason)| reason);
        format!("{reason}\n")
    };
    expected.assert_eq(&ops.iter().map(said).collect::<String>());
}

#[test]
fn an_axis_that_an_operand_has_not_is_told() {
    told(
        22,
        "%x: f32[n,4], %i: i64[n,4], %u: u8[n,4], %s: f32[4], %l: i64[4], %one: f32[]",
        &[
            "%0 = onnx.Softmax(%x) {axis = 7}",
            "%0 = onnx.LogSoftmax(%x) {axis = -3}",
            "%0 = onnx.Hardmax(%x) {axis = 2}",
            "%0 = onnx.LpNormalization(%x) {axis = 2}",
            "%0 = onnx.MeanVarianceNormalization(%x)",
            "%0 = onnx.GatherElements(%x, %i) {axis = 2}",
            "%0 = onnx.ScatterElements(%x, %i, %x) {axis = 2}",
            "%0 = onnx.ReverseSequence(%x, %l) {batch_axis = 1, time_axis = 1}",
            "%0 = onnx.ReverseSequence(%x, %l) {batch_axis = 2}",
            "%0 = onnx.DequantizeLinear(%u, %s) {axis = 2}",
            "%0 = onnx.DequantizeLinear(%u, %one) {axis = 2}",
            "%0 = onnx.QuantizeLinear(%x, %s) {axis = -3}",
            "%0 = onnx.Flatten(%x) {axis = 3}",
            "%0 = onnx.Concat(%x, %x) {axis = 2}",
            "%0 = onnx.ArgMax(%x) {axis = 2}",
            "%0 = onnx.Transpose(%x) {perm = [1, 1]}",
            "%0 = onnx.GatherND(%x, %i) {batch_dims = 2}",
            "%0 = onnx.GatherND(%x, %i) {batch_dims = -1}",
        ],
        expect![[r#"
            axis 7 is out of range for rank 2
            axis -3 is out of range for rank 2
            axis 2 is out of range for rank 2
            axis 2 is out of range for rank 2
            axis 2 is out of range for rank 2
            axis 2 is out of range for rank 2
            axis 2 is out of range for rank 2
            one axis can't be that of the batch and of the sequence
            its `batch_axis` can't be 2: it is from 0 to 1
            axis 2 is out of range for rank 2
            %0 = onnx.DequantizeLinear(%u, %one) {axis = 2} : f32[n,4]
            axis -3 is out of range for rank 2
            axis 3 is out of range for rank 2
            axis 2 is out of range for rank 2
            axis 2 is out of range for rank 2
            axis 1 is named twice
            2 dims of a batch for indices of 2
            its `batch_dims` can't be -1: it is at least 0
        "#]],
    );
    told(
        12,
        "%x: f32[4], %y: f32[*]",
        &[
            "%0 = onnx.Softmax(%x)",
            "%0 = onnx.Transpose(%y) {perm = [0, 2]}",
        ],
        expect![[r#"
            axis 1 is out of range for rank 1
            axis 2 is out of range for rank 2
        "#]],
    );
}

#[test]
fn a_number_that_is_too_small_or_too_large_is_told() {
    told(
        22,
        "%x: f32[n,8,16,16], %w: f32[4,8,3,3], %l: f32[8], %s: f32[n,3,8]",
        &[
            "%0 = onnx.Conv(%x, %w) {strides = [1, 0]}",
            "%0 = onnx.Conv(%x, %w) {group = 0}",
            "%0 = onnx.Conv(%x, %w) {group = 2}",
            "%0 = onnx.Conv(%x, %w) {kernel_shape = [3, 5]}",
            "%0 = onnx.MaxPool(%x) {kernel_shape = [0, 2]}",
            "%0 = onnx.MaxPool(%x) {kernel_shape = [2, 2, 2]}",
            "%0 = onnx.MaxPool(%x) {kernel_shape = [2, 2], storage_order = 2}",
            "%0 = onnx.AveragePool(%x) {kernel_shape = [2, 2], dilations = [0, 1]}",
            "%0 = onnx.LpNormalization(%x) {p = 3}",
            "%0 = onnx.GroupNormalization(%x, %l, %l) {num_groups = 3}",
            "%0 = onnx.DepthToSpace(%x) {blocksize = 0}",
            "%0 = onnx.Split(%x) {num_outputs = 0}",
            "%0 = onnx.GRU(%s, %s, %s) {hidden_size = 0}",
            "%0 = onnx.Multinomial(%x) {sample_size = 0}",
        ],
        expect![[r#"
            its `strides` can't be 0: it is at least 1
            its `group` can't be 0: it is at least 1
            8 and 16 should be the same size
            a kernel of [3, 5] for weights of [3, 3]
            its `kernel_shape` can't be 0: it is at least 1
            a kernel of 3 dims for 2
            its `storage_order` can't be 2: it is from 0 to 1
            its `dilations` can't be 0: it is at least 1
            its `p` can't be 3: it is from 1 to 2
            8 isn't a multiple of 3
            its `blocksize` can't be 0: it is at least 1
            its `num_outputs` can't be 0: it is at least 1
            its `hidden_size` can't be 0: it is at least 1
            its `sample_size` can't be 0: it is at least 1
        "#]],
    );
}

#[test]
fn a_word_that_an_attribute_cannot_be_is_told() {
    told(
        22,
        "%x: f32[n,8,16,16], %p: i64[8], %u: u8[2], %s: f32[n,3,8]",
        &[
            "%0 = onnx.MaxPool(%x) {kernel_shape = [2, 2], auto_pad = \"SAME\"}",
            "%0 = onnx.Pad(%x, %p) {mode = \"mirror\"}",
            "%0 = onnx.BitShift(%u, %u) {direction = \"left\"}",
            "%0 = onnx.Gelu(%x) {approximate = \"sigmoid\"}",
            "%0 = onnx.LSTM(%s, %s, %s) {direction = \"backward\", hidden_size = 2}",
        ],
        expect![[r#"
            its `auto_pad` can't be `SAME`; there are `NOTSET`, `VALID`, `SAME_UPPER`, `SAME_LOWER`
            its `mode` can't be `mirror`; there are `constant`, `reflect`, `edge`, `wrap`
            its `direction` can't be `left`; there are `LEFT`, `RIGHT`
            its `approximate` can't be `sigmoid`; there are `none`, `tanh`
            its `direction` can't be `backward`; there are `forward`, `reverse`, `bidirectional`
        "#]],
    );
}

#[test]
fn an_element_type_that_is_none_is_told() {
    told(
        22,
        "%x: f32[n]",
        &[
            "%0 = onnx.Cast(%x) {to = 99}",
            "%0 = onnx.EyeLike(%x) {dtype = -1}",
            "%0 = onnx.RandomNormalLike(%x) {dtype = 0}",
            "%0 = onnx.LayerNormalization(%x, %x) {stash_type = 77}",
            "%0 = onnx.QuantizeLinear(%x, %x) {output_dtype = 1000}",
        ],
        expect![[r#"
            its `to` 99 isn't an element type
            its `dtype` -1 isn't an element type
            its `dtype` 0 isn't an element type
            its `stash_type` 77 isn't an element type
            its `output_dtype` 1000 isn't an element type
        "#]],
    );
}

#[test]
fn what_an_operand_says_is_told_too() {
    told(
        17,
        "%i: i64[], %x: f32[2,3]",
        &[
            "%zero = const i64[] 0\n    %0 = onnx.Range(%i, %i, %zero)",
            "%zero = const i64[1] [0]\n    %0 = onnx.Slice(%x, %zero, %zero, %zero, %zero)",
            "%two = const i64[2] [2, 2]\n    %0, %1 = onnx.Split(%x, %two)",
            "%two = const i64[] 2\n    %0 = onnx.CumSum(%x, %two)",
        ],
        expect![[r#"
            steps of 0 lead nowhere
            a step of 0 goes nowhere
            lengths of 4 in all for 2
            axis 2 is out of range for rank 2
        "#]],
    );
}

#[test]
fn the_type_is_known_all_the_same_and_so_is_that_of_a_parameter() {
    let body = "\n    %0 = onnx.Softmax(%x) {axis = ref(later, int)}\n";
    check(
        22,
        "%x: f32[n,4]",
        body,
        expect![[r#"
        %0 = onnx.Softmax(%x) {axis = ref(later, int)} : f32[n,4]
    "#]],
    );
}
