//! Normalisations, Dropout, Softmax and Clip, version by version; recurrent layers; quantisation.

use expect_test::expect;

use crate::{check, wrong};

#[test]
fn a_mask_of_dropout_was_of_the_operands_type() {
    let body = "\n    %0, %1 = onnx.Dropout(%x)\n";
    check(
        7,
        "%x: f16[n,2]",
        body,
        expect![[r#"
        %0, %1 = onnx.Dropout(%x) : f16[n,2], f16[n,2]
    "#]],
    );
    check(
        10,
        "%x: f16[n,2]",
        body,
        expect![[r#"
        %0, %1 = onnx.Dropout(%x) : f16[n,2], bool[n,2]
    "#]],
    );
    check(
        13,
        "%x: f16[n,2]",
        body,
        expect![[r#"
        %0, %1 = onnx.Dropout(%x) : f16[n,2], bool[n,2]
    "#]],
    );
}

#[test]
fn a_batch_normalization_in_training_says_what_it_found() {
    let params = "%x: f16[n,c,5], %s: f16[3], %b: f16[3], %m: f16[3], %v: f16[3]";
    let body = "\n    %0, %1, %2, %3, %4 = onnx.BatchNormalization(%x, %s, %b, %m, %v)\n";
    check(
        7,
        params,
        body,
        expect![[r#"
            %0, %1, %2, %3, %4 = onnx.BatchNormalization(%x, %s, %b, %m, %v) : f16[n,c,5], f16[3], f16[3], f16[3], f16[3]
        "#]],
    );
    check(
        9,
        params,
        body,
        expect![[r#"
            %0, %1, %2, %3, %4 = onnx.BatchNormalization(%x, %s, %b, %m, %v) : f16[n,c,5], f16[3], f16[3], f16[3], f16[3]
        "#]],
    );
    let params = "%x: f16[n,c,5], %s: f16[3], %b: f16[3], %m: f32[3], %v: f32[3]";
    let body =
        "\n    %0, %1, %2 = onnx.BatchNormalization(%x, %s, %b, %m, %v) {training_mode = 1}\n";
    check(
        14,
        params,
        body,
        expect![[r#"
        %0, %1, %2 = onnx.BatchNormalization(%x, %s, %b, %m, %v) {training_mode = 1} : f16[n,c,5], f32[3], f32[3]
    "#]],
    );
    check(
        15,
        params,
        body,
        expect![[r#"
        %0, %1, %2 = onnx.BatchNormalization(%x, %s, %b, %m, %v) {training_mode = 1} : f16[n,c,5], f32[3], f32[3]
    "#]],
    );
    wrong(
        15,
        "%x: f32[n,4,5], %s: f32[3], %b: f32[3], %m: f32[3], %v: f32[3]",
        "%0 = onnx.BatchNormalization(%x, %s, %b, %m, %v)",
        expect!["onnx.BatchNormalization: 4 and 3 should be the same size"],
    );
}

#[test]
fn shapes_stay_in_every_version() {
    for version in [6, 12] {
        let body = match version {
            6 => "\n    %0 = onnx.Clip(%x) {max = 1.0, min = 0.0}\n    %1 = onnx.Softmax(%x)\n",
            _ => "\n    %0 = onnx.Clip(%x, _, %m)\n    %1 = onnx.Softmax(%x) {axis = 1}\n",
        };
        let text = crate::support::infer(version, "%x: f32[n,2], %m: f32[]", body);
        assert_eq!(text.matches(" : f32[n,2]").count(), 2, "{text}");
    }
    check(
        17,
        "%x: f32[n,2,w], %s: f32[w]",
        "
    %0, %1, %2 = onnx.LayerNormalization(%x, %s)
    %3 = onnx.LogSoftmax(%x)
    %4 = onnx.Hardmax(%x) {axis = 0}
",
        expect![[r#"
            %0, %1, %2 = onnx.LayerNormalization(%x, %s) : f32[n,2,w], f32[n,2,1], f32[n,2,1]
            %3 = onnx.LogSoftmax(%x) : f32[n,2,w]
            %4 = onnx.Hardmax(%x) {axis = 0} : f32[n,2,w]
        "#]],
    );
}

#[test]
fn recurrent_layers_may_have_the_batch_first() {
    check(
        14,
        "%x: f32[s,b,4], %w: f32[1,9,4], %r: f32[1,9,3], %l: f32[2,12,4], %lr: f32[2,12,3]",
        "
    %0, %1 = onnx.GRU(%x, %w, %r) {hidden_size = 3}
    %2, %3 = onnx.RNN(%x, %w, %r) {hidden_size = 3, layout = 1}
    %4, %5, %6 = onnx.LSTM(%x, %l, %lr) {direction = \"bidirectional\", hidden_size = 3, layout = 1}
",
        expect![[r#"
            %0, %1 = onnx.GRU(%x, %w, %r) {hidden_size = 3} : f32[s,1,b,3], f32[1,b,3]
            %2, %3 = onnx.RNN(%x, %w, %r) {hidden_size = 3, layout = 1} : f32[s,b,1,3], f32[s,1,3]
            %4, %5, %6 = onnx.LSTM(%x, %l, %lr) {direction = "bidirectional", hidden_size = 3, layout = 1} : f32[s,b,2,3], f32[s,2,3], f32[s,2,3]
        "#]],
    );
}

#[test]
fn quantized_tensors_have_the_zero_points_type() {
    check(
        21,
        "%x: f32[n,4], %s: f32[], %z: i8[], %q: u8[n,4], %m: u8[4,5], %zq: u8[]",
        "
    %0 = onnx.QuantizeLinear(%x, %s, %z)
    %1 = onnx.QuantizeLinear(%x, %s)
    %2 = onnx.DequantizeLinear(%q, %s)
    %3, %4, %5 = onnx.DynamicQuantizeLinear(%x)
    %6 = onnx.QLinearMatMul(%q, %s, %zq, %m, %s, %zq, %s, %z)
    %7 = onnx.MatMulInteger(%q, %m)
",
        expect![[r#"
            %0 = onnx.QuantizeLinear(%x, %s, %z) : i8[n,4]
            %1 = onnx.QuantizeLinear(%x, %s) : u8[n,4]
            %2 = onnx.DequantizeLinear(%q, %s) : f32[n,4]
            %3, %4, %5 = onnx.DynamicQuantizeLinear(%x) : u8[n,4], f32[], u8[]
            %6 = onnx.QLinearMatMul(%q, %s, %zq, %m, %s, %zq, %s, %z) : i8[n,5]
            %7 = onnx.MatMulInteger(%q, %m) : i32[n,5]
        "#]],
    );
}
