//! The principles: broadcasting, shapes as values, symbols, what isn't known, what is wrong.

use expect_test::{Expect, expect};

use crate::support::infer;

/// The ops of `@main(SIGNATURE) opset("" = 17)` after inference.
#[track_caller]
fn check(params: &str, body: &str, expected: Expect) {
    expected.assert_eq(&infer(17, params, body));
}

#[test]
fn elementwise_operators_broadcast_and_keep_symbols() {
    check(
        "%x: f32[n,1,4], %y: f32[3,1], %c: bool[n,3,4]",
        "
    %0 = onnx.Relu(%x)
    %1 = onnx.Add(%0, %y)
    %2 = onnx.Less(%1, %x)
    %3 = onnx.Where(%c, %1, %y)
    %4 = onnx.Cast(%3) {to = 7}
    %5 = onnx.Max(%x, %y, %0)
",
        expect![[r#"
            %0 = onnx.Relu(%x) : f32[n,1,4]
            %1 = onnx.Add(%0, %y) : f32[n,3,4]
            %2 = onnx.Less(%1, %x) : bool[n,3,4]
            %3 = onnx.Where(%c, %1, %y) : f32[n,3,4]
            %4 = onnx.Cast(%3) {to = 7} : i64[n,3,4]
            %5 = onnx.Max(%x, %y, %0) : f32[n,3,4]
        "#]],
    );
}

#[test]
fn shapes_are_followed_through_their_elements() {
    check(
        "%x: f32[n,3,h,w]",
        "
    %zero = const i64[] 0
    %one = const i64[] 1
    %axes = const i64[1] [0]
    %rest = const i64[1] [-1]
    %two = const i64[1] [2]
    %0 = onnx.Shape(%x)
    %1 = onnx.Gather(%0, %zero) {axis = 0}
    %2 = onnx.Unsqueeze(%1, %axes)
    %3 = onnx.Concat(%2, %rest) {axis = 0}
    %4 = onnx.Reshape(%x, %3)
    %5 = onnx.Mul(%2, %two)
    %6 = onnx.Concat(%5, %rest) {axis = 0}
    %7 = onnx.Reshape(%x, %6)
    %8 = onnx.ConstantOfShape(%2)
    %9 = onnx.Slice(%0, %axes, %two)
    %10 = onnx.Expand(%zero, %9)
    %11 = onnx.Range(%zero, %1, %one)
",
        expect![[r#"
            %zero = const i64[] 0
            %one = const i64[] 1
            %axes = const i64[1] [0]
            %rest = const i64[1] [-1]
            %two = const i64[1] [2]
            %0 = onnx.Shape(%x) : i64[4]
            %1 = onnx.Gather(%0, %zero) {axis = 0} : i64[]
            %2 = onnx.Unsqueeze(%1, %axes) : i64[1]
            %3 = onnx.Concat(%2, %rest) {axis = 0} : i64[2]
            %4 = onnx.Reshape(%x, %3) : f32[n,h*w*3]
            %5 = onnx.Mul(%2, %two) : i64[1]
            %6 = onnx.Concat(%5, %rest) {axis = 0} : i64[2]
            %7 = onnx.Reshape(%x, %6) : f32[n*2,h*w*3/2]
            %8 = onnx.ConstantOfShape(%2) : f32[n]
            %9 = onnx.Slice(%0, %axes, %two) : i64[2]
            %10 = onnx.Expand(%zero, %9) : i64[n,3]
            %11 = onnx.Range(%zero, %1, %one) : i64[n]
        "#]],
    );
}

#[test]
fn pads_are_followed_through_a_matrix() {
    check(
        "%x: f32[n,3,8,8]",
        "
    %two = const i64[] 2
    %axes = const i64[1] [0]
    %front = const i64[7] [0, 0, 0, 0, 0, 0, 0]
    %half = const i64[2] [2, 4]
    %back = const i64[1] [-1]
    %0 = onnx.Shape(%x)
    %1 = onnx.Gather(%0, %two)
    %2 = onnx.Unsqueeze(%1, %axes)
    %3 = onnx.Concat(%front, %2) {axis = 0}
    %4 = onnx.Reshape(%3, %half)
    %5 = onnx.Transpose(%4)
    %6 = onnx.Transpose(%5)
    %7 = onnx.Reshape(%6, %back)
    %8 = onnx.Pad(%x, %7)
",
        expect![[r#"
            %two = const i64[] 2
            %axes = const i64[1] [0]
            %front = const i64[7] [0, 0, 0, 0, 0, 0, 0]
            %half = const i64[2] [2, 4]
            %back = const i64[1] [-1]
            %0 = onnx.Shape(%x) : i64[4]
            %1 = onnx.Gather(%0, %two) : i64[]
            %2 = onnx.Unsqueeze(%1, %axes) : i64[1]
            %3 = onnx.Concat(%front, %2) {axis = 0} : i64[8]
            %4 = onnx.Reshape(%3, %half) : i64[2,4]
            %5 = onnx.Transpose(%4) : i64[4,2]
            %6 = onnx.Transpose(%5) : i64[2,4]
            %7 = onnx.Reshape(%6, %back) : i64[8]
            %8 = onnx.Pad(%x, %7) : f32[n,3,8,16]
        "#]],
    );
}

#[test]
fn a_shape_compared_with_minus_one_is_decided() {
    check(
        "%x: f32[n,1], %y: f32[4]",
        "
    %minus = const i64[2] [-1, -1]
    %ones = const i64[2] [1, 1]
    %0 = onnx.Shape(%x)
    %1 = onnx.Equal(%0, %minus)
    %2 = onnx.Where(%1, %ones, %0)
    %3 = onnx.Expand(%y, %2)
",
        expect![[r#"
            %minus = const i64[2] [-1, -1]
            %ones = const i64[2] [1, 1]
            %0 = onnx.Shape(%x) : i64[2]
            %1 = onnx.Equal(%0, %minus) : bool[2]
            %2 = onnx.Where(%1, %ones, %0) : i64[2]
            %3 = onnx.Expand(%y, %2) : f32[n,4]
        "#]],
    );
}

#[test]
fn data_movement_operators_move_dims() {
    check(
        "%x: f32[n,3,8,8], %i: i64[2,5]",
        "
    %starts = const i64[2] [1, -3]
    %ends = const i64[2] [9223372036854775807, -1]
    %axes = const i64[2] [2, 3]
    %pads = const i64[8] [0, 0, 1, 1, 0, 0, 1, 1]
    %repeats = const i64[4] [2, 1, 1, 3]
    %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]}
    %1 = onnx.Slice(%x, %starts, %ends, %axes)
    %2 = onnx.Pad(%x, %pads)
    %3 = onnx.Tile(%x, %repeats)
    %4 = onnx.Gather(%x, %i) {axis = 1}
    %5, %6 = onnx.Split(%x) {axis = 2}
    %7 = onnx.Flatten(%x)
    %8 = onnx.Concat(%x, %x) {axis = 0}
    %9 = onnx.Squeeze(%x)
    %10 = onnx.SpaceToDepth(%x) {blocksize = 2}
",
        expect![[r#"
            %starts = const i64[2] [1, -3]
            %ends = const i64[2] [9223372036854775807, -1]
            %axes = const i64[2] [2, 3]
            %pads = const i64[8] [0, 0, 1, 1, 0, 0, 1, 1]
            %repeats = const i64[4] [2, 1, 1, 3]
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[n,8,8,3]
            %1 = onnx.Slice(%x, %starts, %ends, %axes) : f32[n,3,7,2]
            %2 = onnx.Pad(%x, %pads) : f32[n,3,10,10]
            %3 = onnx.Tile(%x, %repeats) : f32[n*2,3,8,24]
            %4 = onnx.Gather(%x, %i) {axis = 1} : f32[n,2,5,8,8]
            %5, %6 = onnx.Split(%x) {axis = 2} : f32[n,3,4,8], f32[n,3,4,8]
            %7 = onnx.Flatten(%x) : f32[n,192]
            %8 = onnx.Concat(%x, %x) {axis = 0} : f32[n*2,3,8,8]
            %9 = onnx.Squeeze(%x) : f32[*]
            %10 = onnx.SpaceToDepth(%x) {blocksize = 2} : f32[n,12,4,4]
        "#]],
    );
}

#[test]
fn layers_have_their_sizes() {
    check(
        "%x: f32[n,3,224,w], %k: f32[64,3,7,7], %a: f32[b,s,64], %m: f32[64,96], %lw: f32[1,128,64], %lr: f32[1,128,32]",
        "
    %0 = onnx.Conv(%x, %k) {pads = [3, 3, 3, 3], strides = [2, 2]}
    %1 = onnx.MaxPool(%0) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]}
    %2 = onnx.GlobalAveragePool(%1)
    %3 = onnx.MatMul(%a, %m)
    %4 = onnx.Softmax(%3) {axis = -1}
    %5, %6, %7 = onnx.LSTM(%a, %lw, %lr) {hidden_size = 32}
    %8 = onnx.ReduceMean(%x) {axes = [2, 3], keepdims = 0}
    %9 = onnx.ArgMax(%x) {axis = 1, keepdims = 0}
    %10 = onnx.Einsum(%a, %m) {equation = \"bsd,de->bse\"}
",
        expect![[r#"
            %0 = onnx.Conv(%x, %k) {pads = [3, 3, 3, 3], strides = [2, 2]} : f32[n,64,112,(w+1)/2]
            %1 = onnx.MaxPool(%0) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]} : f32[n,64,56,(w+3)/4]
            %2 = onnx.GlobalAveragePool(%1) : f32[n,64,1,1]
            %3 = onnx.MatMul(%a, %m) : f32[b,s,96]
            %4 = onnx.Softmax(%3) {axis = -1} : f32[b,s,96]
            %5, %6, %7 = onnx.LSTM(%a, %lw, %lr) {hidden_size = 32} : f32[b,1,s,32], f32[1,s,32], f32[1,s,32]
            %8 = onnx.ReduceMean(%x) {axes = [2, 3], keepdims = 0} : f32[n,3]
            %9 = onnx.ArgMax(%x) {axis = 1, keepdims = 0} : i64[n,224,w]
            %10 = onnx.Einsum(%a, %m) {equation = "bsd,de->bse"} : f32[b,s,96]
        "#]],
    );
}

#[test]
fn sizes_that_no_number_says_are_expressions() {
    check(
        "%x: f32[n,m], %y: f32[m,n], %t: f32[512], %q: f32[1,n], %u: f32[?]",
        "
    %zero = const i64[1] [0]
    %one = const i64[1] [1]
    %two = const i64[1] [2]
    %minus = const i64[1] [-1]
    %three = const i64[1] [-3]
    %end = const i64[1] [9223372036854775807]
    %0 = onnx.Add(%x, %y)
    %1 = onnx.Add(%0, %x)
    %2 = onnx.Shape(%x) {end = 1}
    %3 = onnx.Slice(%t, %zero, %2)
    %4 = onnx.Add(%3, %q)
    %5 = onnx.Slice(%x, %one, %end, %zero)
    %6 = onnx.Slice(%x, %zero, %minus, %zero)
    %7 = onnx.Slice(%x, %three, %end, %zero)
    %8 = onnx.Slice(%x, %three, %minus, %zero)
    %9 = onnx.Slice(%x, %one, %minus, %zero, %two)
    %10 = onnx.Slice(%t, %2, %end)
    %11 = onnx.Slice(%x, %zero, %2, %one)
    %12 = onnx.Slice(%u, %end, %end, %zero)
",
        expect![[r#"
            %zero = const i64[1] [0]
            %one = const i64[1] [1]
            %two = const i64[1] [2]
            %minus = const i64[1] [-1]
            %three = const i64[1] [-3]
            %end = const i64[1] [9223372036854775807]
            %0 = onnx.Add(%x, %y) : f32[broadcast(m,n),broadcast(m,n)]
            %1 = onnx.Add(%0, %x) : f32[broadcast(m,n),broadcast(m,n)]
            %2 = onnx.Shape(%x) {end = 1} : i64[1]
            %3 = onnx.Slice(%t, %zero, %2) : f32[min(n,512)]
            %4 = onnx.Add(%3, %q) : f32[1,n]
            %5 = onnx.Slice(%x, %one, %end, %zero) : f32[max(n-1,0),m]
            %6 = onnx.Slice(%x, %zero, %minus, %zero) : f32[max(n-1,0),m]
            %7 = onnx.Slice(%x, %three, %end, %zero) : f32[min(n,3),m]
            %8 = onnx.Slice(%x, %three, %minus, %zero) : f32[max(min(n,3)-1,0),m]
            %9 = onnx.Slice(%x, %one, %minus, %zero, %two) : f32[(max(n-2,0)+1)/2,m]
            %10 = onnx.Slice(%t, %2, %end) : f32[max(n*-1+512,0)]
            %11 = onnx.Slice(%x, %zero, %2, %one) : f32[n,min(m,n)]
            %12 = onnx.Slice(%u, %end, %end, %zero) : f32[?]
        "#]],
    );
}

#[test]
fn shapes_are_computed_with() {
    check(
        "%x: f32[n,12], %f: f32[]",
        "
    %i = const i64[] 12
    %four = const i64[] 4
    %zero = const i64[] 0
    %like = onnx.CastLike(%four, %i)
    %0 = onnx.Range(%zero, %i, %like)
    %1 = onnx.SplitToSequence(%x, %like) {axis = 1}
    %2 = onnx.SequenceAt(%1, %zero)
    %3 = onnx.Size(%x)
    %4 = onnx.Div(%3, %i)
    %5 = onnx.Sub(%3, %4)
    %6 = onnx.Sub(%4, %four)
    %8 = onnx.Expand(%f, %4)
    %9 = onnx.Unsqueeze(%5, %zero)
    %10 = onnx.ConstantOfShape(%9)
    %11 = onnx.Unsqueeze(%6, %zero)
    %12 = onnx.ConstantOfShape(%11)
",
        expect![[r#"
            %i = const i64[] 12
            %four = const i64[] 4
            %zero = const i64[] 0
            %like = onnx.CastLike(%four, %i) : i64[]
            %0 = onnx.Range(%zero, %i, %like) : i64[3]
            %1 = onnx.SplitToSequence(%x, %like) {axis = 1} : seq<f32[n,4]>
            %2 = onnx.SequenceAt(%1, %zero) : f32[n,4]
            %3 = onnx.Size(%x) : i64[]
            %4 = onnx.Div(%3, %i) : i64[]
            %5 = onnx.Sub(%3, %4) : i64[]
            %6 = onnx.Sub(%4, %four) : i64[]
            %7 = onnx.Expand(%f, %4) : f32[n]
            %8 = onnx.Unsqueeze(%5, %zero) : i64[1]
            %9 = onnx.ConstantOfShape(%8) : f32[n*11]
            %10 = onnx.Unsqueeze(%6, %zero) : i64[1]
            %11 = onnx.ConstantOfShape(%10) : f32[?]
        "#]],
    );
}

#[test]
fn what_is_not_known_is_not_guessed() {
    check(
        "%x: f32[*], %y: f32[?,4], %s: i64[3]",
        "
    %0 = onnx.Relu(%x)
    %1 = onnx.Add(%x, %y)
    %2 = onnx.Reshape(%x, %s)
    %3 = onnx.Add(%y, %y)
    %4 = onnx.Unknown(%y)
    %5 = onnx.Concat(%y, %y) {axis = ref(later, int)}
",
        expect![[r#"
            %0 = onnx.Relu(%x) : f32[*]
            %1 = onnx.Add(%x, %y) : f32[*]
            %2 = onnx.Reshape(%x, %s) : f32[?,?,?]
            %3 = onnx.Add(%y, %y) : f32[?,4]
            %4 = onnx.Unknown(%y)
            %5 = onnx.Concat(%y, %y) {axis = ref(later, int)}
        "#]],
    );
}

#[test]
fn a_wrong_op_is_named() {
    check(
        "%x: f32[2,3]",
        "\n    %0 = onnx.Transpose(%x) {perm = [0, 0]}\n",
        expect![[r#"
            error[pass-failed]: op0 (onnx.Transpose) is wrong: axis 0 is named twice
             --> test.ir:3:5
              |
            3 |     %0 = onnx.Transpose(%x) {perm = [0, 0]}
              |     ^^^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass test.transform.Ask, function @main, op0 (onnx.Transpose)
              = by the definition of onnx.Transpose of plugin onnx-ops"#]],
    );
    check(
        "%x: f32[2,3], %y: f32[2,4]",
        "\n    %0 = onnx.Concat(%x, %y) {axis = 0}\n",
        expect![[r#"
            error[pass-failed]: op0 (onnx.Concat) is wrong: 3 and 4 should be the same size
             --> test.ir:3:5
              |
            3 |     %0 = onnx.Concat(%x, %y) {axis = 0}
              |     ^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass test.transform.Ask, function @main, op0 (onnx.Concat)
              = by the definition of onnx.Concat of plugin onnx-ops"#]],
    );
    check(
        "%x: f32[n,3,2,2]",
        "\n    %0 = onnx.DepthToSpace(%x) {blocksize = 2}\n",
        expect![[r#"
            error[pass-failed]: op0 (onnx.DepthToSpace) is wrong: 3 isn't a multiple of 4
             --> test.ir:3:5
              |
            3 |     %0 = onnx.DepthToSpace(%x) {blocksize = 2}
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass test.transform.Ask, function @main, op0 (onnx.DepthToSpace)
              = by the definition of onnx.DepthToSpace of plugin onnx-ops"#]],
    );
    check(
        "%x: f32[2,3], %y: f32[4]",
        "\n    %0 = onnx.Mul(%x, %y)\n",
        expect![[r#"
            error[pass-failed]: op0 (onnx.Mul) is wrong: 3 and 4 don't broadcast
             --> test.ir:3:5
              |
            3 |     %0 = onnx.Mul(%x, %y)
              |     ^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass test.transform.Ask, function @main, op0 (onnx.Mul)
              = by the definition of onnx.Mul of plugin onnx-ops"#]],
    );
}
