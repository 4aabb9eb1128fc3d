//! Signals and strings.

use expect_test::expect;

use crate::{check, wrong};

#[test]
fn windows_are_as_long_as_said() {
    check(
        17,
        "%x: f32[n,4], %s: i64[]",
        "
    %ten = const i32[] 10
    %axis = const i64[] 0
    %0 = onnx.HannWindow(%ten)
    %1 = onnx.HammingWindow(%ten) {output_datatype = 11}
    %2 = onnx.BlackmanWindow(%s)
    %3 = onnx.Shape(%x)
    %4 = onnx.Gather(%3, %axis)
    %5 = onnx.HannWindow(%4)
    %bins = const i64[] 10
    %hertz = const f32[] 100.0
    %6 = onnx.MelWeightMatrix(%bins, %4, %bins, %hertz, %hertz)
",
        expect![[r#"
            %ten = const i32[] 10
            %axis = const i64[] 0
            %bins = const i64[] 10
            %hertz = const f32[] 100.0
            %0 = onnx.HannWindow(%ten) : f32[10]
            %1 = onnx.HammingWindow(%ten) {output_datatype = 11} : f64[10]
            %2 = onnx.BlackmanWindow(%s) : f32[?]
            %3 = onnx.Shape(%x) : i64[2]
            %4 = onnx.Gather(%3, %axis) : i64[]
            %5 = onnx.HannWindow(%4) : f32[n]
            %6 = onnx.MelWeightMatrix(%bins, %4, %bins, %hertz, %hertz) : f32[n/2+1,10]
        "#]],
    );
    wrong(
        17,
        "%s: i64[]",
        "%0 = onnx.HannWindow(%s) {output_datatype = 99}",
        expect!["onnx.HannWindow: its `output_datatype` 99 isn't an element type"],
    );
    wrong(
        17,
        "",
        "%s = const i64[] -1\n    %0 = onnx.HannWindow(%s)",
        expect!["onnx.HannWindow: -1 isn't a size"],
    );
}

#[test]
fn the_axis_of_dft_was_an_attribute() {
    check(
        17,
        "%x: f32[b,n,m,1], %z: f32[b,n,m,2]",
        "
    %len = const i64[] 7
    %0 = onnx.DFT(%x)
    %1 = onnx.DFT(%x, %len) {axis = 2, onesided = 1}
    %2 = onnx.DFT(%z) {inverse = 1, onesided = 1}
",
        expect![[r#"
            %len = const i64[] 7
            %0 = onnx.DFT(%x) : f32[b,n,m,2]
            %1 = onnx.DFT(%x, %len) {axis = 2, onesided = 1} : f32[b,n,4,2]
            %2 = onnx.DFT(%z) {inverse = 1, onesided = 1} : f32[b,n*2-2,m,1]
        "#]],
    );
    check(
        20,
        "%x: f32[b,n,m,1], %a: i64[]",
        "
    %len = const i64[] 7
    %axis = const i64[] 1
    %0 = onnx.DFT(%x)
    %1 = onnx.DFT(%x, _, %axis) {onesided = 1}
    %2 = onnx.DFT(%x, _, %a)
    %3 = onnx.DFT(%x, %len, %a)
    %4 = onnx.DFT(%x, %len)
",
        expect![[r#"
            %len = const i64[] 7
            %axis = const i64[] 1
            %0 = onnx.DFT(%x) : f32[b,n,m,2]
            %1 = onnx.DFT(%x, _, %axis) {onesided = 1} : f32[b,n/2+1,m,2]
            %2 = onnx.DFT(%x, _, %a) : f32[b,n,m,2]
            %3 = onnx.DFT(%x, %len, %a) : f32[?,?,?,2]
            %4 = onnx.DFT(%x, %len) : f32[b,n,7,2]
        "#]],
    );
    wrong(
        20,
        "%x: f32[1,8,2]",
        "%axis = const i64[] -1\n    %0 = onnx.DFT(%x, _, %axis)",
        expect!["onnx.DFT: axis 2 is that of the real and imaginary parts"],
    );
}

#[test]
fn frames_are_windows_of_the_signal() {
    check(
        17,
        "%x: f32[b,128,1], %y: f32[b,n,1], %w: f32[16], %s: i64[]",
        "
    %step = const i64[] 8
    %len = const i64[] 16
    %0 = onnx.STFT(%x, %step, _, %len)
    %1 = onnx.STFT(%x, %step, %w) {onesided = 0}
    %2 = onnx.STFT(%y, %step, %w)
    %3 = onnx.STFT(%y, %s, %w)
    %4 = onnx.STFT(%y, %s)
",
        expect![[r#"
            %step = const i64[] 8
            %len = const i64[] 16
            %0 = onnx.STFT(%x, %step, _, %len) : f32[b,15,9,2]
            %1 = onnx.STFT(%x, %step, %w) {onesided = 0} : f32[b,15,16,2]
            %2 = onnx.STFT(%y, %step, %w) : f32[b,n/8-1,9,2]
            %3 = onnx.STFT(%y, %s, %w) : f32[b,?,9,2]
            %4 = onnx.STFT(%y, %s) : f32[b,1,n/2+1,2]
        "#]],
    );
    wrong(
        17,
        "%x: f32[1,128,1], %w: f32[15], %s: i64[]",
        "%len = const i64[] 16\n    %0 = onnx.STFT(%x, %s, %w, %len)",
        expect!["onnx.STFT: 16 and 15 should be the same size"],
    );
}

#[test]
fn strings_are_matched_joined_and_split() {
    check(
        20,
        "%x: str[n,2], %y: str[2], %z: str[1,3], %w: i64[n,5]",
        "
    %0 = onnx.RegexFullMatch(%x) {pattern = \"a*\"}
    %1 = onnx.StringConcat(%x, %y)
    %2, %3 = onnx.StringSplit(%x)
    %4 = onnx.StringNormalizer(%y)
    %5 = onnx.StringNormalizer(%z) {stopwords = [\"a\"]}
    %6 = onnx.TfIdfVectorizer(%w) {max_gram_length = 2, max_skip_count = 0, min_gram_length = 1, mode = \"TF\", ngram_counts = [0, 4], ngram_indexes = [0, 6, 3], pool_int64s = [1, 2, 3]}
",
        expect![[r#"
            %0 = onnx.RegexFullMatch(%x) {pattern = "a*"} : bool[n,2]
            %1 = onnx.StringConcat(%x, %y) : str[n,2]
            %2, %3 = onnx.StringSplit(%x) : str[n,2,?], i64[n,2]
            %4 = onnx.StringNormalizer(%y) : str[2]
            %5 = onnx.StringNormalizer(%z) {stopwords = ["a"]} : str[1,?]
            %6 = onnx.TfIdfVectorizer(%w) {max_gram_length = 2, max_skip_count = 0, min_gram_length = 1, mode = "TF", ngram_counts = [0, 4], ngram_indexes = [0, 6, 3], pool_int64s = [1, 2, 3]} : f32[n,7]
        "#]],
    );
    wrong(
        20,
        "%x: str[2,3,4]",
        "%0 = onnx.StringNormalizer(%x)",
        expect!["onnx.StringNormalizer: its operand has 3 dims, not one or two"],
    );
}
