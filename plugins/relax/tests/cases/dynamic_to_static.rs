//! Cases of `relax.transform.DynamicToStatic`.
//!
//! What becomes static is shown after FoldConstant and DeadCodeElimination, which take away what
//! computed the shape.

use expect_test::{Expect, expect};

use crate::support;

/// Runs the pass on `fn @main(PARAMS) -> (RESULTS) { BODY }`, and takes away what is dead.
#[track_caller]
fn check(signature: &str, body: &str, expected: Expect) {
    let source = format!("module {{\n  fn @main{signature} opset(\"\" = 17) {{\n{body}  }}\n}}");
    let passes = [
        "relax.transform.InferType",
        "relax.transform.FoldConstant",
        "relax.transform.DynamicToStatic",
        "relax.transform.DeadCodeElimination",
    ];
    support::check_all(&passes, &source, expected);
}

/// `%shape` is the shape of `%x`, `%n` and `%m` its first two dims.
const SHAPE: &str = "\
    %zero = const i64[1] [0]
    %one = const i64[1] [1]
    %shape = onnx.Shape(%x)
    %n = onnx.Gather(%shape, %zero)
    %m = onnx.Gather(%shape, %one)
";

#[track_caller]
fn check_shape(signature: &str, body: &str, expected: Expect) {
    check(signature, &(SHAPE.to_owned() + body), expected);
}

#[test]
fn a_reshape_to_a_known_shape() {
    check_shape(
        "(%x: f32[8,4,16]) -> (%y: f32[?,?])",
        "\
    %k = const i64[1] [16]
    %0 = onnx.Mul(%n, %m)
    %1 = onnx.Concat(%0, %k) {axis = 0}
    %2 = onnx.Reshape(%x, %1)
    return %2
",
        expect![[r#"
            module {
              fn @main(%x: f32[8,4,16]) -> (%y: f32[?,?]) opset("" = 17) {
                %0 = const i64[2] [32, 16]
                %1 = onnx.Reshape(%x, %0) : f32[32,16]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn reshapes_of_reshapes() {
    check_shape(
        "(%x: f32[n,m,16]) -> (%y: f32[?,?,?])",
        "\
    %k = const i64[1] [16]
    %0 = onnx.Mul(%n, %m)
    %1 = onnx.Concat(%0, %k) {axis = 0}
    %2 = onnx.Reshape(%x, %1)
    %3 = onnx.Shape(%2)
    %4 = onnx.Reshape(%2, %3)
    %5 = onnx.Reshape(%4, %shape)
    return %5
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,m,16]) -> (%y: f32[?,?,?]) opset("" = 17) {
                %0 = const i64[2] [-1, 16]
                %1 = const i64[2] [0, 16]
                %shape = onnx.Shape(%x) : i64[3]
                %2 = onnx.Reshape(%x, %0) : f32[m*n,16]
                %3 = onnx.Reshape(%2, %1) : f32[m*n,16]
                %4 = onnx.Reshape(%3, %shape) : f32[n,m,16]
                return %4
              }
            }
        "#]],
    );
}

#[test]
fn a_reshape_copies_dims_and_works_one_out() {
    check_shape(
        "(%x: f32[n,m,64]) -> (%y: f32[?,?,?,?], %z: f32[?,?])",
        "\
    %heads = const i64[2] [4, 16]
    %k = const i64[1] [64]
    %split = onnx.Concat(%n, %m, %heads) {axis = 0}
    %0 = onnx.Reshape(%x, %split)
    %nm = onnx.Mul(%n, %m)
    %flat = onnx.Concat(%nm, %k) {axis = 0}
    %1 = onnx.Reshape(%x, %flat)
    return %0, %1
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,m,64]) -> (%y: f32[?,?,?,?], %z: f32[?,?]) opset("" = 17) {
                %0 = const i64[4] [0, 0, 4, 16]
                %1 = const i64[2] [-1, 64]
                %2 = onnx.Reshape(%x, %0) : f32[n,m,4,16]
                %3 = onnx.Reshape(%x, %1) : f32[m*n,64]
                return %2, %3
              }
            }
        "#]],
    );
}

#[test]
fn a_reshape_that_leaves_a_dim_open_itself() {
    check_shape(
        "(%x: f32[n,m,k]) -> (%y: f32[?,?])",
        "\
    %open = const i64[1] [-1]
    %to = onnx.Concat(%n, %open) {axis = 0}
    %0 = onnx.Reshape(%x, %to)
    return %0
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,m,k]) -> (%y: f32[?,?]) opset("" = 17) {
                %0 = const i64[2] [0, -1]
                %1 = onnx.Reshape(%x, %0) : f32[n,k*m]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn what_was_to_be_worked_out_says_its_size_so_that_another_dim_can_be() {
    check_shape(
        "(%x: f32[n,4,256,64]) -> (%y: f32[?,?,?], %z: f32[?,?,?,?])",
        "\
    %four = const i64[1] [4]
    %middle = const i64[1] [256]
    %open = const i64[1] [-1]
    %all = onnx.Mul(%n, %four)
    %to = onnx.Concat(%all, %middle, %open) {axis = 0}
    %0 = onnx.Reshape(%x, %to)
    %back = onnx.Concat(%n, %four, %middle, %open) {axis = 0}
    %1 = onnx.Reshape(%0, %back)
    return %0, %1
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,4,256,64]) -> (%y: f32[?,?,?], %z: f32[?,?,?,?]) opset("" = 17) {
                %0 = const i64[3] [-1, 256, 64]
                %1 = const i64[4] [-1, 4, 256, 64]
                %2 = onnx.Reshape(%x, %0) : f32[n*4,256,64]
                %3 = onnx.Reshape(%2, %1) : f32[n,4,256,64]
                return %2, %3
              }
            }
        "#]],
    );
}

#[test]
fn what_was_to_be_worked_out_stays_so_if_its_size_may_be_0_or_two_dims_are_open() {
    // With n = 0 there is no telling the first dim.
    check_shape(
        "(%x: f32[n,0,4]) -> (%y: f32[?,?])",
        "\
    %open = const i64[1] [-1]
    %to = onnx.Concat(%n, %open) {axis = 0}
    %0 = onnx.Reshape(%x, %to) {allowzero = 1}
    return %0
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,0,4]) -> (%y: f32[?,?]) opset("" = 17) {
                %open = const i64[1] [-1]
                %n = onnx.Shape(%x) {end = 1} : i64[1]
                %to = onnx.Concat(%n, %open) {axis = 0} : i64[2]
                %0 = onnx.Reshape(%x, %to) {allowzero = 1} : f32[n,0]
                return %0
              }
            }
        "#]],
    );
    // A 0 that is taken literally beside a -1 is what a runtime makes of it.
    check_shape(
        "(%x: f32[n,m,64]) -> (%y: f32[?,?])",
        "\
    %open = const i64[1] [-1]
    %all = onnx.Mul(%m, %n)
    %to = onnx.Concat(%all, %open) {axis = 0}
    %0 = onnx.Reshape(%x, %to) {allowzero = 1}
    return %0
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,m,64]) -> (%y: f32[?,?]) opset("" = 17) {
                %open = const i64[1] [-1]
                %n = onnx.Shape(%x) {end = 1} : i64[1]
                %m = onnx.Shape(%x) {end = 2, start = 1} : i64[1]
                %all = onnx.Mul(%m, %n) : i64[1]
                %to = onnx.Concat(%all, %open) {axis = 0} : i64[2]
                %0 = onnx.Reshape(%x, %to) {allowzero = 1} : f32[m*n,64]
                return %0
              }
            }
        "#]],
    );
    // With m = 0 the first dim is n.
    check_shape(
        "(%x: f32[n,m,64]) -> (%y: f32[?,?])",
        "\
    %open = const i64[1] [-1]
    %all = onnx.Mul(%m, %n)
    %to = onnx.Concat(%all, %open) {axis = 0}
    %0 = onnx.Reshape(%x, %to)
    return %0
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,m,64]) -> (%y: f32[?,?]) opset("" = 17) {
                %open = const i64[1] [-1]
                %n = onnx.Shape(%x) {end = 1} : i64[1]
                %m = onnx.Shape(%x) {end = 2, start = 1} : i64[1]
                %all = onnx.Mul(%m, %n) : i64[1]
                %to = onnx.Concat(%all, %open) {axis = 0} : i64[2]
                %0 = onnx.Reshape(%x, %to) : f32[m*n,64]
                return %0
              }
            }
        "#]],
    );
    check_shape(
        "(%x: f32[n,m,64]) -> (%y: f32[?,?,?])",
        "\
    %open = const i64[1] [-1]
    %to = onnx.Concat(%m, %n, %open) {axis = 0}
    %0 = onnx.Reshape(%x, %to)
    return %0
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,m,64]) -> (%y: f32[?,?,?]) opset("" = 17) {
                %open = const i64[1] [-1]
                %n = onnx.Shape(%x) {end = 1} : i64[1]
                %m = onnx.Shape(%x) {end = 2, start = 1} : i64[1]
                %to = onnx.Concat(%m, %n, %open) {axis = 0} : i64[3]
                %0 = onnx.Reshape(%x, %to) : f32[m,n,64]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_reshape_stays_where_nothing_could_be_worked_out() {
    // With m = 0 there is no telling what the first dim is.
    check_shape(
        "(%x: f32[n,m]) -> (%y: f32[?,?])",
        "\
    %to = onnx.Concat(%m, %n) {axis = 0}
    %0 = onnx.Reshape(%x, %to)
    return %0
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,m]) -> (%y: f32[?,?]) opset("" = 17) {
                %0 = const i64[2] [1, 0]
                %shape = onnx.Shape(%x) : i64[2]
                %to = onnx.Gather(%shape, %0) {axis = 0} : i64[2]
                %1 = onnx.Reshape(%x, %to) : f32[m,n]
                return %1
              }
            }
        "#]],
    );
    // With n = 0 the second dim is that of %x, 1, and the first is 0, not 6.
    check_shape(
        "(%x: f32[n,1,6]) -> (%y: f32[?,?])",
        "\
    %open = const i64[1] [-1]
    %to = onnx.Concat(%open, %n) {axis = 0}
    %0 = onnx.Reshape(%x, %to)
    return %0
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,1,6]) -> (%y: f32[?,?]) opset("" = 17) {
                %open = const i64[1] [-1]
                %n = onnx.Shape(%x) {end = 1} : i64[1]
                %to = onnx.Concat(%open, %n) {axis = 0} : i64[2]
                %0 = onnx.Reshape(%x, %to) : f32[6,n]
                return %0
              }
            }
        "#]],
    );
    // A size of 0 that isn't copied.
    check_shape(
        "(%x: f32[n,0]) -> (%y: f32[?,?])",
        "\
    %to = onnx.Concat(%m, %n) {axis = 0}
    %0 = onnx.Reshape(%x, %to)
    return %0
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,0]) -> (%y: f32[?,?]) opset("" = 17) {
                %0 = const i64[2] [1, 0]
                %shape = onnx.Shape(%x) : i64[2]
                %to = onnx.Gather(%shape, %0) {axis = 0} : i64[2]
                %1 = onnx.Reshape(%x, %to) : f32[n,n]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_reshape_that_takes_zeros_literally_copies_nothing() {
    check_shape(
        "(%x: f32[n,m,64]) -> (%y: f32[?,?,?,?], %z: f32[?,?])",
        "\
    %heads = const i64[2] [4, 16]
    %k = const i64[1] [64]
    %split = onnx.Concat(%n, %m, %heads) {axis = 0}
    %0 = onnx.Reshape(%x, %split) {allowzero = 1}
    %nm = onnx.Mul(%n, %m)
    %flat = onnx.Concat(%nm, %k) {axis = 0}
    %1 = onnx.Reshape(%x, %flat) {allowzero = 1}
    return %0, %1
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,m,64]) -> (%y: f32[?,?,?,?], %z: f32[?,?]) opset("" = 17) {
                %heads = const i64[2] [4, 16]
                %0 = const i64[2] [-1, 64]
                %n = onnx.Shape(%x) {end = 1} : i64[1]
                %m = onnx.Shape(%x) {end = 2, start = 1} : i64[1]
                %split = onnx.Concat(%n, %m, %heads) {axis = 0} : i64[4]
                %1 = onnx.Reshape(%x, %split) {allowzero = 1} : f32[n,m,4,16]
                %2 = onnx.Reshape(%x, %0) {allowzero = 1} : f32[m*n,64]
                return %1, %2
              }
            }
        "#]],
    );
}

#[test]
fn an_expand_to_what_is_there_already() {
    check_shape(
        "(%x: f32[n,m], %b: f32[n,1]) -> (%y: f32[?,?,?])",
        "\
    %k = const i64[2] [3, 1]
    %last = const i64[1] [7]
    %0 = onnx.Concat(%k, %last) {axis = 0}
    %1 = onnx.Slice(%0, %zero, %one)
    %to = onnx.Concat(%1, %n, %last) {axis = 0}
    %2 = onnx.Expand(%b, %to)
    return %2
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,m], %b: f32[n,1]) -> (%y: f32[?,?,?]) opset("" = 17) {
                %0 = const i64[3] [3, 1, 7]
                %1 = onnx.Expand(%b, %0) : f32[3,n,7]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn an_expand_to_a_size_that_is_elsewhere_stays() {
    check_shape(
        "(%x: f32[n,m], %b: f32[n,1]) -> (%y: f32[?,?])",
        "\
    %0 = onnx.Expand(%b, %shape)
    return %0
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,m], %b: f32[n,1]) -> (%y: f32[?,?]) opset("" = 17) {
                %shape = onnx.Shape(%x) : i64[2]
                %0 = onnx.Expand(%b, %shape) : f32[n,m]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_slice_to_the_end() {
    check_shape(
        "(%x: f32[n,m]) -> (%y: f32[?,?], %z: f32[?,?])",
        "\
    %last = const i64[1] [-1]
    %0 = onnx.Slice(%x, %one, %m, %one)
    %1 = onnx.Slice(%x, %zero, %m, %last)
    return %0, %1
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,m]) -> (%y: f32[?,?], %z: f32[?,?]) opset("" = 17) {
                %zero = const i64[1] [0]
                %one = const i64[1] [1]
                %last = const i64[1] [-1]
                %0 = const i64[1] [9223372036854775807]
                %1 = const i64[1] [9223372036854775807]
                %2 = onnx.Slice(%x, %one, %0, %one) : f32[n,max(m-1,0)]
                %3 = onnx.Slice(%x, %zero, %1, %last) : f32[n,m]
                return %2, %3
              }
            }
        "#]],
    );
}

#[test]
fn a_slice_to_elsewhere_or_backwards_stays() {
    check_shape(
        "(%x: f32[n,m]) -> (%y: f32[?,?], %z: f32[?,?])",
        "\
    %back = const i64[1] [-1]
    %0 = onnx.Slice(%x, %one, %n, %one)
    %1 = onnx.Slice(%x, %zero, %m, %one, %back)
    return %0, %1
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,m]) -> (%y: f32[?,?], %z: f32[?,?]) opset("" = 17) {
                %zero = const i64[1] [0]
                %one = const i64[1] [1]
                %back = const i64[1] [-1]
                %n = onnx.Shape(%x) {end = 1} : i64[1]
                %m = onnx.Shape(%x) {end = 2, start = 1} : i64[1]
                %0 = onnx.Slice(%x, %one, %n, %one) : f32[n,max(min(m,n)-1,0)]
                %1 = onnx.Slice(%x, %zero, %m, %one, %back) : f32[n,_1]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn operands_of_all_kinds_whose_elements_are_known() {
    check_shape(
        "(%x: f32[2,3], %i: i64[4], %s: f32[1,1,2,2]) -> (%tile: f32[?,?], %k: f32[?,?], %ki: i64[?,?], %ones: f32[?,?], %hot: f32[?,?], %padded: f32[?,?], %sliced: f32[?,?], %more: f32[?,?,?], %less: f32[?], %range: i64[?], %sized: f32[?,?,?,?])",
        "\
    %values = const f32[2] [0.0, 1.0]
    %scalar = const i64[] 0
    %step = const i64[] 1
    %n0 = onnx.Squeeze(%n, %zero)
    %tile = onnx.Tile(%x, %shape)
    %k, %ki = onnx.TopK(%x, %n)
    %ones = onnx.ConstantOfShape(%shape)
    %hot = onnx.OneHot(%i, %m, %values)
    %pads = onnx.Concat(%shape, %shape) {axis = 0}
    %padded = onnx.Pad(%x, %pads)
    %sliced = onnx.Slice(%x, %zero, %n, %one)
    %more = onnx.Unsqueeze(%x, %n)
    %row = onnx.Gather(%x, %scalar)
    %less = onnx.Unsqueeze(%row, %zero)
    %lesser = onnx.Squeeze(%less, %zero)
    %range = onnx.Range(%scalar, %n0, %step)
    %sizes = onnx.Concat(%one, %one, %shape) {axis = 0}
    %sized = onnx.Resize(%s, _, _, %sizes)
    return %tile, %k, %ki, %ones, %hot, %padded, %sliced, %more, %lesser, %range, %sized
",
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %i: i64[4], %s: f32[1,1,2,2]) -> (%tile: f32[?,?], %k: f32[?,?], %ki: i64[?,?], %ones: f32[?,?], %hot: f32[?,?], %padded: f32[?,?], %sliced: f32[?,?], %more: f32[?,?,?], %less: f32[?], %range: i64[?], %sized: f32[?,?,?,?]) opset("" = 17) {
                %zero = const i64[1] [0]
                %one = const i64[1] [1]
                %values = const f32[2] [0.0, 1.0]
                %scalar = const i64[] 0
                %shape = const i64[2] [2, 3]
                %n = const i64[1] [2]
                %m = const i64[1] [3]
                %ones = const f32[2,3] [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
                %pads = const i64[4] [2, 3, 2, 3]
                %range = const i64[2] [0, 1]
                %sizes = const i64[4] [1, 1, 2, 3]
                %tile = onnx.Tile(%x, %shape) : f32[4,9]
                %k, %ki = onnx.TopK(%x, %n) : f32[2,2], i64[2,2]
                %hot = onnx.OneHot(%i, %m, %values) : f32[4,3]
                %padded = onnx.Pad(%x, %pads) : f32[6,9]
                %sliced = onnx.Slice(%x, %zero, %n, %one) : f32[2,2]
                %more = onnx.Unsqueeze(%x, %n) : f32[2,3,1]
                %row = onnx.Gather(%x, %scalar) : f32[3]
                %less = onnx.Unsqueeze(%row, %zero) : f32[1,3]
                %lesser = onnx.Squeeze(%less, %zero) : f32[3]
                %sized = onnx.Resize(%s, _, _, %sizes) : f32[1,1,2,3]
                return %tile, %k, %ki, %ones, %hot, %padded, %sliced, %more, %lesser, %range, %sized
              }
            }
        "#]],
    );
}

#[test]
fn operands_of_all_kinds_whose_elements_are_not_known() {
    check_shape(
        "(%x: f32[n,m], %i: i64[4], %s: f32[1,1,2,2]) -> (%tile: f32[?,?], %ones: f32[?,?], %hot: f32[?,?], %padded: f32[?,?], %sized: f32[?,?,?,?])",
        "\
    %values = const f32[2] [0.0, 1.0]
    %tile = onnx.Tile(%x, %shape)
    %ones = onnx.ConstantOfShape(%shape)
    %hot = onnx.OneHot(%i, %m, %values)
    %pads = onnx.Concat(%shape, %shape) {axis = 0}
    %padded = onnx.Pad(%x, %pads)
    %sizes = onnx.Concat(%one, %one, %shape) {axis = 0}
    %sized = onnx.Resize(%s, _, _, %sizes)
    return %tile, %ones, %hot, %padded, %sized
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,m], %i: i64[4], %s: f32[1,1,2,2]) -> (%tile: f32[?,?], %ones: f32[?,?], %hot: f32[?,?], %padded: f32[?,?], %sized: f32[?,?,?,?]) opset("" = 17) {
                %one = const i64[1] [1]
                %values = const f32[2] [0.0, 1.0]
                %0 = const i64[4] [0, 1, 0, 1]
                %shape = onnx.Shape(%x) : i64[2]
                %m = onnx.Gather(%shape, %one) : i64[1]
                %tile = onnx.Tile(%x, %shape) : f32[n*n,m*m]
                %ones = onnx.ConstantOfShape(%shape) : f32[n,m]
                %hot = onnx.OneHot(%i, %m, %values) : f32[4,m]
                %pads = onnx.Gather(%shape, %0) {axis = 0} : i64[4]
                %padded = onnx.Pad(%x, %pads) : f32[_1,_2]
                %sizes = onnx.Concat(%one, %one, %shape) {axis = 0} : i64[4]
                %sized = onnx.Resize(%s, _, _, %sizes) : f32[1,1,n,m]
                return %tile, %ones, %hot, %padded, %sized
              }
            }
        "#]],
    );
}

#[test]
fn inside_of_regions_too() {
    check_shape(
        "(%x: f32[n,m,64], %c: bool[]) -> (%y: f32[?,?])",
        "\
    %k = const i64[1] [64]
    %0 = onnx.If(%c)
    region then_branch {
      %nm = onnx.Mul(%n, %m)
      %flat = onnx.Concat(%nm, %k) {axis = 0}
      %1 = onnx.Reshape(%x, %flat)
      yield %1
    }
    region else_branch {
      %mn = onnx.Mul(%m, %n)
      %flat_too = onnx.Concat(%mn, %k) {axis = 0}
      %2 = onnx.Reshape(%x, %flat_too)
      yield %2
    }
    return %0
",
        expect![[r#"
            module {
              fn @main(%x: f32[n,m,64], %c: bool[]) -> (%y: f32[?,?]) opset("" = 17) {
                %0 = const i64[2] [-1, 64]
                %1 = const i64[2] [-1, 64]
                %2 = onnx.If(%c) : f32[m*n,64]
                  region then_branch {
                    %3 = onnx.Reshape(%x, %0) : f32[m*n,64]
                    yield %3
                  }
                  region else_branch {
                    %4 = onnx.Reshape(%x, %1) : f32[m*n,64]
                    yield %4
                  }
                return %2
              }
            }
        "#]],
    );
}
