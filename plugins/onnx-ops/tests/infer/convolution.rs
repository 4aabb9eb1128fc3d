//! Convolutions and pools.

use expect_test::expect;

use crate::{check, wrong};

#[test]
fn windows_of_symbols_are_expressions() {
    check(
        22,
        "%x: f32[n,3,h,w], %k: f32[8,3,3,3], %g: f32[6,1,3,3], %t: f32[3,8,2,2]",
        "
    %0 = onnx.Conv(%x, %k)
    %1 = onnx.Conv(%x, %k) {auto_pad = \"SAME_UPPER\", strides = [2, 2]}
    %2 = onnx.Conv(%x, %k) {dilations = [2, 2], pads = [1, 1, 1, 1]}
    %3 = onnx.Conv(%x, %g) {group = 3}
    %4 = onnx.ConvTranspose(%x, %t) {strides = [2, 2]}
    %5 = onnx.ConvTranspose(%x, %t) {auto_pad = \"SAME_LOWER\", strides = [2, 2]}
    %6 = onnx.ConvTranspose(%x, %t) {output_shape = [10, 11], strides = [2, 2]}
    %7 = onnx.ConvTranspose(%x, %t) {group = 3, output_padding = [1, 0], pads = [1, 0, 1, 0], strides = [2, 1]}
",
        expect![[r#"
            %0 = onnx.Conv(%x, %k) : f32[n,8,h-2,w-2]
            %1 = onnx.Conv(%x, %k) {auto_pad = "SAME_UPPER", strides = [2, 2]} : f32[n,8,(h+1)/2,(w+1)/2]
            %2 = onnx.Conv(%x, %k) {dilations = [2, 2], pads = [1, 1, 1, 1]} : f32[n,8,h-2,w-2]
            %3 = onnx.Conv(%x, %g) {group = 3} : f32[n,6,h-2,w-2]
            %4 = onnx.ConvTranspose(%x, %t) {strides = [2, 2]} : f32[n,8,h*2,w*2]
            %5 = onnx.ConvTranspose(%x, %t) {auto_pad = "SAME_LOWER", strides = [2, 2]} : f32[n,8,h*2,w*2]
            %6 = onnx.ConvTranspose(%x, %t) {output_shape = [10, 11], strides = [2, 2]} : f32[n,8,10,11]
            %7 = onnx.ConvTranspose(%x, %t) {group = 3, output_padding = [1, 0], pads = [1, 0, 1, 0], strides = [2, 1]} : f32[n,24,h*2-1,w+1]
        "#]],
    );
}

#[test]
fn of_a_value_of_unknown_rank_the_weights_say_rank_and_channels() {
    check(
        22,
        "%x: f32[*], %k: f32[8,3,1], %g: f32[*]",
        "
    %0 = onnx.Conv(%x, %k)
    %1 = onnx.Conv(%x, %g)
",
        expect![[r#"
            %0 = onnx.Conv(%x, %k) : f32[?,8,?]
            %1 = onnx.Conv(%x, %g) : f32[*]
        "#]],
    );
}

#[test]
fn a_deformed_convolution_has_the_dims_of_its_offsets() {
    check(
        19,
        "%x: f32[1,1,h,w], %k: f32[4,1,2,2], %o: f32[n,8,2,2], %m: f32[n,4,2,2]",
        "
    %0 = onnx.DeformConv(%x, %k, %o, _, %m)
    %1 = onnx.DeformConv(%x, %k, %o) {kernel_shape = [2, 2], strides = [2, 2]}
",
        expect![[r#"
            %0 = onnx.DeformConv(%x, %k, %o, _, %m) : f32[1,4,2,2]
            %1 = onnx.DeformConv(%x, %k, %o) {kernel_shape = [2, 2], strides = [2, 2]} : f32[1,4,2,2]
        "#]],
    );
    wrong(
        19,
        "%x: f32[1,1,3,3], %k: f32[4,1,2,2], %o: f32[1,8,3,2]",
        "%0 = onnx.DeformConv(%x, %k, %o)",
        expect!["onnx.DeformConv: 2 and 3 should be the same size"],
    );
}

#[test]
fn a_pool_rounds_up_where_that_is_certain() {
    check(
        21,
        "%x: f32[1,1,4,4], %y: f32[1,1,h,w], %z: f32[1,1,2,2]",
        "
    %0 = onnx.MaxPool(%x) {ceil_mode = 1, kernel_shape = [3, 3], strides = [2, 2]}
    %1, %2 = onnx.MaxPool(%y) {ceil_mode = 1, kernel_shape = [3, 3], strides = [2, 2]}
    %3 = onnx.AveragePool(%y) {ceil_mode = 1, kernel_shape = [3, 3], pads = [0, 0, 2, 2], strides = [3, 3]}
    %4 = onnx.MaxPool(%z) {ceil_mode = 1, kernel_shape = [1, 1], strides = [2, 2]}
",
        expect![[r#"
            %0 = onnx.MaxPool(%x) {ceil_mode = 1, kernel_shape = [3, 3], strides = [2, 2]} : f32[1,1,2,2]
            %1, %2 = onnx.MaxPool(%y) {ceil_mode = 1, kernel_shape = [3, 3], strides = [2, 2]} : f32[1,1,h/2,w/2], i64[1,1,h/2,w/2]
            %3 = onnx.AveragePool(%y) {ceil_mode = 1, kernel_shape = [3, 3], pads = [0, 0, 2, 2], strides = [3, 3]} : f32[1,1,?,?]
            %4 = onnx.MaxPool(%z) {ceil_mode = 1, kernel_shape = [1, 1], strides = [2, 2]} : f32[1,1,?,?]
        "#]],
    );
    // Since this version it is said that a window that starts in the padding doesn't count.
    check(
        22,
        "%z: f32[1,1,2,2]",
        "
    %0 = onnx.MaxPool(%z) {ceil_mode = 1, kernel_shape = [1, 1], strides = [2, 2]}
    %1 = onnx.LpPool(%z) {kernel_shape = [2, 1]}
",
        expect![[r#"
            %0 = onnx.MaxPool(%z) {ceil_mode = 1, kernel_shape = [1, 1], strides = [2, 2]} : f32[1,1,1,1]
            %1 = onnx.LpPool(%z) {kernel_shape = [2, 1]} : f32[1,1,1,2]
        "#]],
    );
}

#[test]
fn what_was_pooled_is_spread_again() {
    check(
        11,
        "%x: f32[n,c,2,w], %i: i64[n,c,2,w], %s: i64[4]",
        "
    %shape = const i64[4] [1, 1, 5, 5]
    %0 = onnx.MaxUnpool(%x, %i) {kernel_shape = [2, 2], strides = [2, 2]}
    %1 = onnx.MaxUnpool(%x, %i, %shape) {kernel_shape = [2, 2], strides = [2, 2]}
    %2 = onnx.MaxUnpool(%x, %i, %s) {kernel_shape = [2, 2], strides = [2, 2]}
",
        expect![[r#"
            %shape = const i64[4] [1, 1, 5, 5]
            %0 = onnx.MaxUnpool(%x, %i) {kernel_shape = [2, 2], strides = [2, 2]} : f32[n,c,4,w*2]
            %1 = onnx.MaxUnpool(%x, %i, %shape) {kernel_shape = [2, 2], strides = [2, 2]} : f32[1,1,5,5]
            %2 = onnx.MaxUnpool(%x, %i, %s) {kernel_shape = [2, 2], strides = [2, 2]} : f32[?,?,?,?]
        "#]],
    );
    wrong(
        11,
        "%x: f32[1,1,2,2], %i: i64[1,1,2,2]",
        "%0 = onnx.MaxUnpool(%x, %i) {kernel_shape = [2]}",
        expect!["onnx.MaxUnpool: a kernel of 1 dims for 2"],
    );
}

/// ONNX Runtime and ONNX's inference agree on all but what an `output_padding` adds: sizes that they
/// don't agree on aren't said.
#[test]
fn automatic_pads_take_off_what_is_more_than_a_stride() {
    check(
        17,
        "%x: f32[n,3,5,w], %k: f32[3,4,3,3], %one: f32[3,4,1,1], %s: f32[3,4,a,b]",
        "
    %0 = onnx.ConvTranspose(%x, %k) {auto_pad = \"SAME_UPPER\", strides = [2, 2]}
    %1 = onnx.ConvTranspose(%x, %k) {auto_pad = \"SAME_LOWER\", output_padding = [1, 0], strides = [3, 2]}
    %2 = onnx.ConvTranspose(%x, %k) {auto_pad = \"SAME_UPPER\", output_padding = [1, 1], strides = [4, 5]}
    %3 = onnx.ConvTranspose(%x, %one) {auto_pad = \"SAME_UPPER\", strides = [3, 2]}
    %4 = onnx.ConvTranspose(%x, %k) {auto_pad = \"SAME_UPPER\", dilations = [2, 1], strides = [4, 4]}
    %5 = onnx.ConvTranspose(%x, %k) {auto_pad = \"VALID\", output_padding = [1, 0], strides = [2, 3]}
    %6 = onnx.ConvTranspose(%x, %k) {auto_pad = \"SAME_UPPER\", pads = [0, 0, 0, 0], strides = [2, 2]}
    %7 = onnx.ConvTranspose(%x, %k) {auto_pad = \"SAME_UPPER\", output_shape = [9, 9], strides = [2, 2]}
    %8 = onnx.ConvTranspose(%x, %k) {output_shape = [4, 9]}
    %9 = onnx.ConvTranspose(%x, %s) {output_padding = [1, 0], pads = [1, 0, 1, 1], strides = [3, 2]}
    %10 = onnx.ConvTranspose(%x, %s) {auto_pad = \"SAME_UPPER\", dilations = [2, 1], strides = [2, 3]}
    %11 = onnx.ConvTranspose(%x, %s) {auto_pad = \"SAME_UPPER\", output_padding = [1, 0], strides = [2, 1]}
",
        expect![[r#"
            %0 = onnx.ConvTranspose(%x, %k) {auto_pad = "SAME_UPPER", strides = [2, 2]} : f32[n,4,10,w*2]
            %1 = onnx.ConvTranspose(%x, %k) {auto_pad = "SAME_LOWER", output_padding = [1, 0], strides = [3, 2]} : f32[n,4,?,w*2]
            %2 = onnx.ConvTranspose(%x, %k) {auto_pad = "SAME_UPPER", output_padding = [1, 1], strides = [4, 5]} : f32[n,4,20,w*5-1]
            %3 = onnx.ConvTranspose(%x, %one) {auto_pad = "SAME_UPPER", strides = [3, 2]} : f32[n,4,13,w*2-1]
            %4 = onnx.ConvTranspose(%x, %k) {auto_pad = "SAME_UPPER", dilations = [2, 1], strides = [4, 4]} : f32[n,4,20,w*4-1]
            %5 = onnx.ConvTranspose(%x, %k) {auto_pad = "VALID", output_padding = [1, 0], strides = [2, 3]} : f32[n,4,12,w*3]
            %6 = onnx.ConvTranspose(%x, %k) {auto_pad = "SAME_UPPER", pads = [0, 0, 0, 0], strides = [2, 2]} : f32[n,4,?,?]
            %7 = onnx.ConvTranspose(%x, %k) {auto_pad = "SAME_UPPER", output_shape = [9, 9], strides = [2, 2]} : f32[n,4,9,9]
            %8 = onnx.ConvTranspose(%x, %k) {output_shape = [4, 9]} : f32[*]
            %9 = onnx.ConvTranspose(%x, %s) {output_padding = [1, 0], pads = [1, 0, 1, 1], strides = [3, 2]} : f32[n,4,a+11,b+w*2-3]
            %10 = onnx.ConvTranspose(%x, %s) {auto_pad = "SAME_UPPER", dilations = [2, 1], strides = [2, 3]} : f32[n,4,min(a*2-1,2)+8,min(b,3)+w*3-3]
            %11 = onnx.ConvTranspose(%x, %s) {auto_pad = "SAME_UPPER", output_padding = [1, 0], strides = [2, 1]} : f32[n,4,?,min(b,1)+w-1]
        "#]],
    );
}

/// ONNX Runtime pads dilated pools for a kernel without dilations, and refuses `pads` beside `auto_pad`.
#[test]
fn windows_with_automatic_pads() {
    check(
        19,
        "%x: f32[1,3,7,w], %k: f32[8,3,3,3]",
        "
    %0 = onnx.Conv(%x, %k) {auto_pad = \"SAME_LOWER\", dilations = [2, 2], strides = [2, 2]}
    %1, %2 = onnx.MaxPool(%x) {auto_pad = \"SAME_LOWER\", dilations = [2, 1], kernel_shape = [2, 2], strides = [2, 2]}
    %3 = onnx.AveragePool(%x) {auto_pad = \"SAME_UPPER\", ceil_mode = 1, kernel_shape = [2, 2], strides = [3, 2]}
    %4 = onnx.AveragePool(%x) {auto_pad = \"SAME_UPPER\", ceil_mode = 1, kernel_shape = [2, 2], strides = [2, 3]}
    %5 = onnx.LpPool(%x) {auto_pad = \"SAME_UPPER\", kernel_shape = [2, 2], pads = [1, 0, 0, 1]}
    %6 = onnx.Conv(%x, %k) {auto_pad = \"VALID\", pads = [1, 1, 1, 1]}
    %7 = onnx.Conv(%x, %k) {auto_pad = \"VALID\", pads = [0, 0, 0, 0]}
",
        expect![[r#"
            %0 = onnx.Conv(%x, %k) {auto_pad = "SAME_LOWER", dilations = [2, 2], strides = [2, 2]} : f32[1,8,4,(w+1)/2]
            %1, %2 = onnx.MaxPool(%x) {auto_pad = "SAME_LOWER", dilations = [2, 1], kernel_shape = [2, 2], strides = [2, 2]} : f32[1,3,?,(w+1)/2], i64[1,3,?,(w+1)/2]
            %3 = onnx.AveragePool(%x) {auto_pad = "SAME_UPPER", ceil_mode = 1, kernel_shape = [2, 2], strides = [3, 2]} : f32[1,3,?,(w+1)/2]
            %4 = onnx.AveragePool(%x) {auto_pad = "SAME_UPPER", ceil_mode = 1, kernel_shape = [2, 2], strides = [2, 3]} : f32[1,3,4,(w+2)/3]
            %5 = onnx.LpPool(%x) {auto_pad = "SAME_UPPER", kernel_shape = [2, 2], pads = [1, 0, 0, 1]} : f32[1,3,?,?]
            %6 = onnx.Conv(%x, %k) {auto_pad = "VALID", pads = [1, 1, 1, 1]} : f32[1,8,?,?]
            %7 = onnx.Conv(%x, %k) {auto_pad = "VALID", pads = [0, 0, 0, 0]} : f32[1,8,5,w-2]
        "#]],
    );
}
