//! Evaluations, asked through the host: what is folded, what is left alone.

mod support;

use expect_test::{Expect, expect};
use support::fold;

#[track_caller]
fn check(body: &str, expected: Expect) {
    expected.assert_eq(&fold(28, "%x: f32[n,3]", body));
}

#[test]
fn integers_are_exact_and_wrap() {
    check(
        "
    %a = const i64[2] [9007199254740993, 9223372036854775807]
    %b = const i64[] 1
    %c = const u8[3] [200, 100, 7]
    %d = const u8[3] [100, 200, 7]
    %e = const i32[4] [7, -7, 7, -7]
    %f = const i32[4] [2, 2, -2, -2]
    %0 = onnx.Add(%a, %b)
    %1 = onnx.Sub(%c, %d)
    %2 = onnx.Div(%e, %f)
    %3 = onnx.Mod(%e, %f)
    %4 = onnx.Mod(%e, %f) {fmod = 1}
    %5 = onnx.Pow(%a, %b)
",
        expect![[r#"
            %a = const i64[2] [9007199254740993, 9223372036854775807]
            %b = const i64[] 1
            %c = const u8[3] [200, 100, 7]
            %d = const u8[3] [100, 200, 7]
            %e = const i32[4] [7, -7, 7, -7]
            %f = const i32[4] [2, 2, -2, -2]
            %0 = const i64[2] [9007199254740994, -9223372036854775808]
            %1 = const u8[3] [100, 156, 0]
            %2 = const i32[4] [3, -3, -3, 3]
            %3 = const i32[4] [1, 1, -1, -1]
            %4 = const i32[4] [1, -1, 1, -1]
            %5 = const i64[2] [9007199254740993, 9223372036854775807]
        "#]],
    );
}

#[test]
fn floats_keep_their_signs_and_specials() {
    check(
        "
    %a = const f32[4] [-1.0, -0.0, 1.0, nan]
    %z = const f32[] -0.0
    %c = const f32[4] [0.5, 1.5, 2.5, -0.5]
    %h = const f16[2] [65504.0, 0.1]
    %b = const bf16[2] [256.0, 1.0]
    %one = const f32[] 1.0
    %0 = onnx.Div(%one, %z)
    %1 = onnx.Max(%a, %z)
    %2 = onnx.Add(%h, %h)
    %3 = onnx.Add(%b, %b)
    %4 = onnx.Reciprocal(%z)
    %5 = onnx.Round(%c)
",
        expect![[r#"
            %a = const f32[4] [-1.0, -0.0, 1.0, nan]
            %z = const f32[] -0.0
            %c = const f32[4] [0.5, 1.5, 2.5, -0.5]
            %h = const f16[2] [65504.0, 0.099975586]
            %b = const bf16[2] [256.0, 1.0]
            %one = const f32[] 1.0
            %0 = const f32[] -inf
            %1 = const f32[4] [-0.0, -0.0, 1.0, nan]
            %2 = const f16[2] [inf, 0.19995117]
            %3 = const bf16[2] [512.0, 2.0]
            %4 = const f32[] -inf
            %5 = const f32[4] [0.0, 2.0, 2.0, -0.0]
        "#]],
    );
}

#[test]
fn every_element_type_moves() {
    check(
        "
    %s = const str[3] [\"a\", \"\", \"ccc\"]
    %i = const i4[2,3] [-8, -1, 0, 1, 2, 7]
    %f = const f8e4m3fn[2] [0x38, 0xc0]
    %c = const c64[1] [1.0, 2.0]
    %at = const i64[2] [2, -3]
    %0 = onnx.Gather(%s, %at)
    %1 = onnx.Transpose(%i)
    %2 = onnx.Concat(%f, %f) {axis = 0}
",
        expect![[r#"
            %s = const str[3] ["a", "", "ccc"]
            %i = const i4[2,3] [-8, -1, 0, 1, 2, 7]
            %f = const f8e4m3fn[2] [0x38, 0xc0]
            %c = const c64[1] [1.0, 2.0]
            %at = const i64[2] [2, -3]
            %0 = const str[2] ["ccc", "a"]
            %1 = const i4[3,2] [-8, 1, -1, 2, 0, 7]
            %2 = const f8e4m3fn[4] [0x38, 0xc0, 0x38, 0xc0]
        "#]],
    );
}

#[test]
fn casts_round_and_what_is_undefined_stays() {
    check(
        "
    %a = const f32[3] [1.9, -1.9, 300.0]
    %b = const f32[2] [1.9, -1.9]
    %i = const i32[3] [200, -1, 65]
    %s = const str[2] [\"3.5\", \"-INF\"]
    %n = const i64[1] [16777217]
    %0 = onnx.Cast(%a) {to = 3}
    %1 = onnx.Cast(%b) {to = 3}
    %2 = onnx.Cast(%i) {to = 3}
    %3 = onnx.Cast(%s) {to = 1}
    %4 = onnx.Cast(%n) {to = 1}
    %5 = onnx.Cast(%b) {to = 17}
    %6 = onnx.Cast(%i) {to = 8}
",
        expect![[r#"
            %a = const f32[3] [1.9, -1.9, 300.0]
            %b = const f32[2] [1.9, -1.9]
            %i = const i32[3] [200, -1, 65]
            %s = const str[2] ["3.5", "-INF"]
            %n = const i64[1] [16777217]
            %0 = const i8[2] [1, -1]
            %1 = const i8[3] [-56, -1, 65]
            %2 = const f32[2] [3.5, -inf]
            %3 = const f32[1] [16777216.0]
            %4 = const f8e4m3fn[2] [0x3f, 0xbf]
            %5 = const str[3] ["200", "-1", "65"]
            %6 = onnx.Cast(%a) {to = 3} : i8[3]
        "#]],
    );
}

#[test]
fn slices_follow_numpy() {
    check(
        "
    %a = const i64[5] [0, 1, 2, 3, 4]
    %m1 = const i64[1] [-1]
    %min = const i64[1] [-9223372036854775808]
    %max = const i64[1] [9223372036854775807]
    %nil = const i64[1] [0]
    %two = const i64[1] [2]
    %0 = onnx.Slice(%a, %m1, %min, %nil, %m1)
    %1 = onnx.Slice(%a, %nil, %max, %nil, %two)
    %2 = onnx.Slice(%a, %two, %m1)
    %3 = onnx.Slice(%a, %max, %nil)
",
        expect![[r#"
            %a = const i64[5] [0, 1, 2, 3, 4]
            %m1 = const i64[1] [-1]
            %min = const i64[1] [-9223372036854775808]
            %max = const i64[1] [9223372036854775807]
            %nil = const i64[1] [0]
            %two = const i64[1] [2]
            %0 = const i64[5] [4, 3, 2, 1, 0]
            %1 = const i64[3] [0, 2, 4]
            %2 = const i64[2] [2, 3]
            %3 = const i64[0] []
        "#]],
    );
}

#[test]
fn what_types_say_is_folded_too() {
    check(
        "
    %one = const i64[] 1
    %zero = const i64[] 0
    %0 = onnx.Shape(%x)
    %1 = onnx.Gather(%0, %one)
    %2 = onnx.Gather(%0, %zero)
    %3 = onnx.Shape(%x) {start = 1}
    %4 = onnx.Size(%3)
",
        expect![[r#"
            %one = const i64[] 1
            %zero = const i64[] 0
            %0 = const i64[] 3
            %1 = const i64[1] [3]
            %2 = const i64[] 1
            %3 = onnx.Shape(%x) : i64[2]
            %4 = onnx.Gather(%3, %zero) : i64[]
        "#]],
    );
}

#[test]
fn what_is_not_certain_stays() {
    check(
        "
    %zero = const i64[1] [0]
    %one = const i64[1] [1]
    %big = const i64[2] [100000, 100000]
    %at = const i64[1] [5]
    %w = const i64[2,1] [0, 0]
    %u = const i64[2] [7, 8]
    %0 = onnx.Div(%one, %zero)
    %1 = onnx.ConstantOfShape(%big)
    %2 = onnx.Gather(%one, %at)
    %3 = onnx.ScatterND(%one, %w, %u)
    %4 = onnx.Transpose(%one) {unheard_of = 1}
    %5 = onnx.RandomUniformLike(%one) {dtype = 1}
    %6 = onnx.Concat(%one, %zero) {axis = ref(later, int)}
",
        expect![[r#"
            %zero = const i64[1] [0]
            %one = const i64[1] [1]
            %big = const i64[2] [100000, 100000]
            %at = const i64[1] [5]
            %w = const i64[2,1] [0, 0]
            %u = const i64[2] [7, 8]
            %0 = onnx.Div(%one, %zero) : i64[1]
            %1 = onnx.ConstantOfShape(%big) : f32[100000,100000]
            %2 = onnx.Gather(%one, %at) : i64[1]
            %3 = onnx.ScatterND(%one, %w, %u) : i64[1]
            %4 = onnx.Transpose(%one) {unheard_of = 1}
            %5 = onnx.RandomUniformLike(%one) {dtype = 1} : f32[1]
            %6 = onnx.Concat(%one, %zero) {axis = ref(later, int)}
        "#]],
    );
}
