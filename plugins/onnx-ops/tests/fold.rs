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

/// ONNX Runtime gives the same.
#[test]
fn windows_of_constants() {
    check(
        r#"
    %p = const f32[1,1,4,4] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]
    %w = const f32[2,1,2,2] [1.0, 0.0, 0.0, -1.0, 0.5, 0.5, 0.5, 0.5]
    %b = const f32[2] [10.0, 0.0]
    %0 = onnx.Conv(%p, %w, %b) {strides = [2, 2]}
    %1 = onnx.Conv(%p, %w) {auto_pad = "SAME_LOWER", strides = [2, 2]}
    %2 = onnx.AveragePool(%p) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [3, 3]}
    %3 = onnx.AveragePool(%p) {count_include_pad = 1, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [3, 3]}
    %4 = onnx.MaxPool(%p) {ceil_mode = 1, kernel_shape = [2, 3], strides = [3, 3]}
    %5, %6 = onnx.MaxPool(%p) {dilations = [2, 2], kernel_shape = [2, 2]}
    %7 = onnx.LpPool(%p) {kernel_shape = [1, 2], p = 1, strides = [2, 2]}
    %8 = onnx.GlobalAveragePool(%p)
    %9 = onnx.GlobalMaxPool(%p)
    %10 = onnx.GlobalLpPool(%p)
"#,
        expect![[r#"
            %p = const f32[1,1,4,4] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]
            %w = const f32[2,1,2,2] [1.0, 0.0, 0.0, -1.0, 0.5, 0.5, 0.5, 0.5]
            %b = const f32[2] [10.0, 0.0]
            %0 = const f32[1,2,2,2] [5.0, 5.0, 5.0, 5.0, 7.0, 11.0, 23.0, 27.0]
            %1 = const f32[1,2,2,2] [-5.0, -5.0, -5.0, -5.0, 7.0, 11.0, 23.0, 27.0]
            %2 = const f32[1,1,2,2] [3.5, 5.5, 11.5, 13.5]
            %3 = const f32[1,1,2,2] [1.5555556, 2.4444444, 5.111111, 6.0]
            %4 = const f32[1,1,2,2] [7.0, 8.0, 15.0, 16.0]
            %5 = const f32[1,1,2,2] [11.0, 12.0, 15.0, 16.0]
            %6 = const i64[1,1,2,2] [10, 11, 14, 15]
            %7 = const f32[1,1,2,2] [3.0, 7.0, 19.0, 23.0]
            %8 = const f32[1,1,1,1] [8.5]
            %9 = const f32[1,1,1,1] [16.0]
            %10 = const f32[1,1,1,1] [38.678158]
        "#]],
    );
}

#[test]
fn windows_that_runtimes_differ_in_stay() {
    check(
        r#"
    %p = const f32[1,1,4,4] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]
    %w = const f32[1,1,1,1] [2.0]
    %h = const f16[1,1,2] [1.0, 2.0]
    %none = const f32[0,1,9,9] []
    %z = const f32[1,1,2] [0.0, -0.0]
    %0 = onnx.MaxPool(%p) {auto_pad = "SAME_UPPER", kernel_shape = [1, 1], strides = [4, 3]}
    %1 = onnx.MaxPool(%p) {auto_pad = "SAME_UPPER", dilations = [2, 2], kernel_shape = [2, 2]}
    %2 = onnx.AveragePool(%p) {ceil_mode = 1, count_include_pad = 1, kernel_shape = [3, 3], strides = [2, 2]}
    %3 = onnx.Conv(%p, %w) {auto_pad = "VALID", pads = [1, 1, 1, 1]}
    %4 = onnx.AveragePool(%h) {kernel_shape = [2]}
    %5 = onnx.GlobalAveragePool(%none)
    %6 = onnx.GlobalMaxPool(%z)
    %7, %8 = onnx.MaxPool(%p) {kernel_shape = [2, 2], storage_order = 1}
    %9 = onnx.LpPool(%p) {kernel_shape = [2, 2], p = 65}
"#,
        expect![[r#"
            %p = const f32[1,1,4,4] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]
            %w = const f32[1,1,1,1] [2.0]
            %h = const f16[1,1,2] [1.0, 2.0]
            %none = const f32[0,1,9,9] []
            %z = const f32[1,1,2] [0.0, -0.0]
            %0 = onnx.MaxPool(%p) {auto_pad = "SAME_UPPER", kernel_shape = [1, 1], strides = [4, 3]} : f32[1,1,1,2]
            %1 = onnx.MaxPool(%p) {auto_pad = "SAME_UPPER", dilations = [2, 2], kernel_shape = [2, 2]} : f32[1,1,?,?]
            %2 = onnx.AveragePool(%p) {ceil_mode = 1, count_include_pad = 1, kernel_shape = [3, 3], strides = [2, 2]} : f32[1,1,2,2]
            %3 = onnx.Conv(%p, %w) {auto_pad = "VALID", pads = [1, 1, 1, 1]} : f32[1,1,?,?]
            %4 = onnx.AveragePool(%h) {kernel_shape = [2]} : f16[1,1,1]
            %5 = onnx.GlobalAveragePool(%none) : f32[0,1,1,1]
            %6 = onnx.GlobalMaxPool(%z) : f32[1,1,1]
            %7, %8 = onnx.MaxPool(%p) {kernel_shape = [2, 2], storage_order = 1} : f32[1,1,3,3], i64[1,1,3,3]
            %9 = onnx.LpPool(%p) {kernel_shape = [2, 2], p = 65} : f32[1,1,3,3]
        "#]],
    );
}

#[test]
fn sums_of_products_by_letters() {
    check(
        r#"
    %a = const f32[2] [1.0, 2.0]
    %b = const f32[3] [1.0, 10.0, 100.0]
    %m = const i64[2,2] [1, 2, 3, 4]
    %d = const i64[1,2,2] [1, 1, 1, 2]
    %0 = onnx.Einsum(%a, %b) {equation = "i,j->ij"}
    %1 = onnx.Einsum(%a, %a) {equation = "i, i"}
    %2 = onnx.Einsum(%m) {equation = "ii->i"}
    %3 = onnx.Einsum(%m) {equation = "ba"}
    %4 = onnx.Einsum(%m, %d, %m) {equation = "ij,...jk,kl->...il"}
    %5 = onnx.Einsum(%a, %b) {equation = "i,i"}
    %6 = onnx.Einsum(%a) {equation = "i->ii"}
    %7 = onnx.Einsum(%d) {equation = "...i->i"}
"#,
        expect![[r#"
            %a = const f32[2] [1.0, 2.0]
            %b = const f32[3] [1.0, 10.0, 100.0]
            %m = const i64[2,2] [1, 2, 3, 4]
            %d = const i64[1,2,2] [1, 1, 1, 2]
            %0 = const f32[2,3] [1.0, 10.0, 100.0, 2.0, 20.0, 200.0]
            %1 = const f32[] 5.0
            %2 = const i64[2] [1, 4]
            %3 = const i64[2,2] [1, 3, 2, 4]
            %4 = const i64[1,2,2] [18, 26, 40, 58]
            %5 = onnx.Einsum(%a, %b) {equation = "i,i"}
            %6 = onnx.Einsum(%a) {equation = "i->ii"} : f32[2,2]
            %7 = onnx.Einsum(%d) {equation = "...i->i"} : i64[2]
        "#]],
    );
}

#[test]
fn windows_of_cosines() {
    check(
        r#"
    %n = const i64[] 4
    %one = const i32[1] [1]
    %no = const i64[] -3
    %0 = onnx.HannWindow(%n)
    %1 = onnx.HammingWindow(%n) {periodic = 0}
    %2 = onnx.BlackmanWindow(%n) {periodic = 0}
    %3 = onnx.HannWindow(%one) {periodic = 0}
    %4 = onnx.HannWindow(%n) {output_datatype = 10}
    %5 = onnx.HannWindow(%no)
"#,
        expect![[r#"
            %n = const i64[] 4
            %one = const i32[1] [1]
            %no = const i64[] -3
            %0 = const f32[4] [0.0, 0.5, 1.0, 0.5]
            %1 = const f32[4] [0.0869565, 0.7717391, 0.7717391, 0.0869565]
            %2 = const f32[4] [1.4901161e-8, 0.63, 0.63, 1.4901161e-8]
            %3 = onnx.HannWindow(%one) {periodic = 0} : f32[1]
            %4 = onnx.HannWindow(%n) {output_datatype = 10} : f16[4]
            %5 = onnx.HannWindow(%no)
        "#]],
    );
}

#[test]
fn sizes_between_elements() {
    check(
        r#"
    %p = const f32[4] [1.0, 2.0, 3.0, 5.0]
    %eight = const i64[1] [8]
    %three = const i64[1] [3]
    %half = const f32[1] [0.5]
    %odd = const f32[1] [0.6]
    %roi = const f32[2] [0.25, 1.25]
    %i = const i32[2] [1, 2]
    %0 = onnx.Resize(%p, _, _, %eight) {mode = "linear"}
    %1 = onnx.Resize(%p, _, _, %three) {coordinate_transformation_mode = "align_corners", mode = "linear"}
    %2 = onnx.Resize(%p, _, %half) {mode = "cubic"}
    %3 = onnx.Resize(%p, _, %half) {exclude_outside = 1, mode = "cubic"}
    %4 = onnx.Resize(%p, _, %half) {antialias = 1, mode = "linear"}
    %5 = onnx.Resize(%p, %roi, _, %three) {coordinate_transformation_mode = "tf_crop_and_resize", extrapolation_value = -1.0, mode = "linear"}
    %6 = onnx.Resize(%p, _, %odd) {coordinate_transformation_mode = "align_corners", mode = "linear"}
    %7 = onnx.Resize(%i, _, %half) {mode = "linear"}
    %8 = onnx.Resize(%p, _, _, %three) {axes = [0], keep_aspect_ratio_policy = "not_larger", mode = "linear"}
"#,
        expect![[r#"
            %p = const f32[4] [1.0, 2.0, 3.0, 5.0]
            %eight = const i64[1] [8]
            %three = const i64[1] [3]
            %half = const f32[1] [0.5]
            %odd = const f32[1] [0.6]
            %roi = const f32[2] [0.25, 1.25]
            %i = const i32[2] [1, 2]
            %0 = const f32[8] [1.0, 1.25, 1.75, 2.25, 2.75, 3.5, 4.5, 5.0]
            %1 = const f32[3] [1.0, 2.5, 5.0]
            %2 = const f32[2] [1.40625, 4.09375]
            %3 = const f32[2] [1.3714286, 4.1714287]
            %4 = const f32[2] [1.625, 3.875]
            %5 = const f32[3] [1.75, 3.5, -1.0]
            %6 = const f32[3] [1.1666667, 2.5, 4.6666665]
            %7 = onnx.Resize(%p, _, %odd) {coordinate_transformation_mode = "align_corners", mode = "linear"} : f32[2]
            %8 = onnx.Resize(%i, _, %half) {mode = "linear"} : i32[1]
        "#]],
    );
}
