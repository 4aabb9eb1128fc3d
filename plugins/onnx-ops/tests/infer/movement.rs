//! Operators that move elements, version by version.

use expect_test::expect;

use crate::{check, wrong};

#[test]
fn axes_of_squeeze_were_an_attribute() {
    check(
        11,
        "%x: f32[1,n,1]",
        "
    %0 = onnx.Squeeze(%x) {axes = [0]}
    %1 = onnx.Unsqueeze(%x) {axes = [0, 4]}
",
        expect![[r#"
            %0 = onnx.Squeeze(%x) {axes = [0]} : f32[n,1]
            %1 = onnx.Unsqueeze(%x) {axes = [0, 4]} : f32[1,1,n,1,1]
        "#]],
    );
    check(
        13,
        "%x: f32[1,n,1], %a: i64[1]",
        "
    %axes = const i64[1] [-1]
    %0 = onnx.Squeeze(%x, %axes)
    %1 = onnx.Unsqueeze(%x, %axes)
    %2 = onnx.Squeeze(%x, %a)
",
        expect![[r#"
            %axes = const i64[1] [-1]
            %0 = onnx.Squeeze(%x, %axes) : f32[1,n]
            %1 = onnx.Unsqueeze(%x, %axes) : f32[1,n,1,1]
            %2 = onnx.Squeeze(%x, %a) : f32[?,?]
        "#]],
    );
}

#[test]
fn pads_were_an_attribute() {
    check(
        2,
        "%x: f32[n,4]",
        "\n    %0 = onnx.Pad(%x) {pads = [0, 1, 2, 3]}\n",
        expect![[r#"
            %0 = onnx.Pad(%x) {pads = [0, 1, 2, 3]} : f32[n+2,8]
        "#]],
    );
    check(
        18,
        "%x: f32[n,4], %p: i64[4]",
        "
    %pads = const i64[2] [1, -2]
    %axes = const i64[1] [1]
    %0 = onnx.Pad(%x, %pads, _, %axes)
    %1 = onnx.Pad(%x, %p)
",
        expect![[r#"
            %pads = const i64[2] [1, -2]
            %axes = const i64[1] [1]
            %0 = onnx.Pad(%x, %pads, _, %axes) : f32[n,3]
            %1 = onnx.Pad(%x, %p) : f32[?,?]
        "#]],
    );
}

#[test]
fn slices_of_symbols_are_clamped() {
    check(
        1,
        "%x: f32[n,4]",
        "\n    %0 = onnx.Slice(%x) {axes = [0, 1], ends = [5, -1], starts = [0, 1]}\n",
        expect![[r#"
            %0 = onnx.Slice(%x) {axes = [0, 1], ends = [5, -1], starts = [0, 1]} : f32[min(n,5),2]
        "#]],
    );
    check(
        13,
        "%x: f32[n,m,k]",
        "
    %zero = const i64[1] [0]
    %one = const i64[1] [1]
    %minus = const i64[1] [-1]
    %three = const i64[1] [3]
    %far = const i64[1] [9223372036854775807]
    %near = const i64[1] [-9223372036854775808]
    %0 = onnx.Slice(%x, %zero, %far, %one)
    %1 = onnx.Slice(%x, %one, %far, %one)
    %2 = onnx.Slice(%x, %zero, %minus, %one)
    %3 = onnx.Slice(%x, %minus, %far, %one)
    %4 = onnx.Slice(%x, %one, %three, %one)
    %5 = onnx.Slice(%x, %zero, %far, %one, %three)
    %6 = onnx.Slice(%x, %minus, %near, %one, %minus)
    %7 = onnx.Slice(%x, %three, %one, %one)
    %8 = onnx.Slice(%x, %far, %near, %one, %minus)
    %9 = onnx.Slice(%x, %minus, %minus, %one)
",
        expect![[r#"
            %zero = const i64[1] [0]
            %one = const i64[1] [1]
            %minus = const i64[1] [-1]
            %three = const i64[1] [3]
            %far = const i64[1] [9223372036854775807]
            %near = const i64[1] [-9223372036854775808]
            %0 = onnx.Slice(%x, %zero, %far, %one) : f32[n,m,k]
            %1 = onnx.Slice(%x, %one, %far, %one) : f32[n,max(m-1,0),k]
            %2 = onnx.Slice(%x, %zero, %minus, %one) : f32[n,max(m-1,0),k]
            %3 = onnx.Slice(%x, %minus, %far, %one) : f32[n,min(m,1),k]
            %4 = onnx.Slice(%x, %one, %three, %one) : f32[n,max(min(m,3)-1,0),k]
            %5 = onnx.Slice(%x, %zero, %far, %one, %three) : f32[n,(m+2)/3,k]
            %6 = onnx.Slice(%x, %minus, %near, %one, %minus) : f32[n,m,k]
            %7 = onnx.Slice(%x, %three, %one, %one) : f32[n,max(min(m,1)-3,0),k]
            %8 = onnx.Slice(%x, %far, %near, %one, %minus) : f32[n,m,k]
            %9 = onnx.Slice(%x, %minus, %minus, %one) : f32[n,max(min(m,1)-1,0),k]
        "#]],
    );
}

#[test]
fn lengths_of_split_were_an_attribute() {
    check(
        2,
        "%x: f32[6,n]",
        "
    %0, %1 = onnx.Split(%x) {split = [2, 4]}
    %2, %3 = onnx.Split(%x) {axis = 1}
",
        expect![[r#"
            %0, %1 = onnx.Split(%x) {split = [2, 4]} : f32[2,n], f32[4,n]
            %2, %3 = onnx.Split(%x) {axis = 1} : f32[6,n/2], f32[6,n/2]
        "#]],
    );
    check(
        13,
        "%x: f32[6,n]",
        "
    %lengths = const i64[2] [2, 4]
    %0, %1 = onnx.Split(%x, %lengths)
    %2, %3, %4 = onnx.Split(%x)
",
        expect![[r#"
            %lengths = const i64[2] [2, 4]
            %0, %1 = onnx.Split(%x, %lengths) : f32[2,n], f32[4,n]
            %2, %3, %4 = onnx.Split(%x) : f32[2,n], f32[2,n], f32[2,n]
        "#]],
    );
    check(
        18,
        "%x: f32[7,n]",
        "
    %0, %1, %2 = onnx.Split(%x) {num_outputs = 3}
    %3, %4 = onnx.Split(%x) {axis = 1, num_outputs = 2}
",
        expect![[r#"
            %0, %1, %2 = onnx.Split(%x) {num_outputs = 3} : f32[3,n], f32[3,n], f32[1,n]
            %3, %4 = onnx.Split(%x) {axis = 1, num_outputs = 2} : f32[7,?], f32[7,?]
        "#]],
    );
    wrong(
        13,
        "%x: f32[7,n], %l: i64[3]",
        "%0, %1 = onnx.Split(%x, %l)",
        expect!["onnx.Split: 3 lengths for 2 results"],
    );
}

#[test]
fn what_depends_on_elements_is_known_of_constants() {
    check(
        17,
        "%x: f32[3,n], %c: bool[3]",
        "
    %condition = const bool[3] [true, false, true]
    %0 = onnx.Compress(%x, %condition) {axis = 0}
    %1 = onnx.Compress(%x, %c) {axis = 0}
    %2 = onnx.Compress(%x, %condition)
    %3, %4, %5, %6 = onnx.Unique(%x) {axis = 1}
    %7, %8, %9, %10 = onnx.Unique(%x)
    %11 = onnx.NonZero(%x)
",
        expect![[r#"
            %condition = const bool[3] [true, false, true]
            %0 = onnx.Compress(%x, %condition) {axis = 0} : f32[2,n]
            %1 = onnx.Compress(%x, %c) {axis = 0} : f32[?,n]
            %2 = onnx.Compress(%x, %condition) : f32[2]
            %3, %4, %5, %6 = onnx.Unique(%x) {axis = 1} : f32[3,?], i64[?], i64[n], i64[?]
            %7, %8, %9, %10 = onnx.Unique(%x) : f32[?], i64[?], i64[n*3], i64[?]
            %11 = onnx.NonZero(%x) : i64[2,?]
        "#]],
    );
}

#[test]
fn sizes_may_be_any_numbers() {
    check(
        13,
        "%i: i64[n], %v: f32[2], %d: i64[]",
        "
    %depth = const f32[] 5.0
    %many = const i64[1] [7]
    %0 = onnx.OneHot(%i, %depth, %v)
    %1 = onnx.OneHot(%i, %many, %v) {axis = 0}
    %2 = onnx.OneHot(%i, %d, %v)
    %start = const f32[] 1.0
    %limit = const f32[] 2.0
    %step = const f32[] 0.25
    %3 = onnx.Range(%start, %limit, %step)
    %4 = onnx.Range(%limit, %start, %step)
",
        expect![[r#"
            %depth = const f32[] 5.0
            %many = const i64[1] [7]
            %start = const f32[] 1.0
            %limit = const f32[] 2.0
            %step = const f32[] 0.25
            %0 = onnx.OneHot(%i, %depth, %v) : f32[n,5]
            %1 = onnx.OneHot(%i, %many, %v) {axis = 0} : f32[7,n]
            %2 = onnx.OneHot(%i, %d, %v) : f32[n,?]
            %3 = onnx.Range(%start, %limit, %step) : f32[4]
            %4 = onnx.Range(%limit, %start, %step) : f32[0]
        "#]],
    );
}
