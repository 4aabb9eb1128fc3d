//! Cases of `relax.transform.SimplifyExpr`: what treats rows, as of matrices.

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.SimplifyExpr";

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check(PASS, source, expected);
}

#[track_caller]
fn check_stays(source: &str) {
    support::check_stays(PASS, source);
}

#[test]
fn sums_with_products_between_two_views() {
    // One number for all, one for each column, and what an operator names as its axis.
    check(
        r#"module {
  fn @main(%x: f32[2,3,4], %w: f32[4,4], %b: f32[4]) -> (%y: f32[2,3,4]) opset("" = 17) {
    %half = const f32[1,1,1] [0.5]
    %list = const f32[1,1,4] [1.0, 2.0, 3.0, 4.0]
    %ones = const f32[4] [1.0, 1.0, 1.0, 2.0]
    %0 = onnx.MatMul(%x, %w) : f32[2,3,4]
    %1 = onnx.Add(%0, %b) : f32[2,3,4]
    %2 = onnx.Mul(%1, %half) : f32[2,3,4]
    %3 = onnx.MatMul(%2, %w) : f32[2,3,4]
    %4 = onnx.Add(%3, %2) : f32[2,3,4]
    %n = onnx.Neg(%4) : f32[2,3,4]
    %5 = onnx.LayerNormalization(%n, %ones) {axis = 2} : f32[2,3,4]
    %6 = onnx.Sub(%list, %5) : f32[2,3,4]
    %7 = onnx.MatMul(%6, %w) : f32[2,3,4]
    %8 = onnx.Add(%b, %7) : f32[2,3,4]
    %9 = onnx.Softmax(%8) {axis = -1} : f32[2,3,4]
    return %9
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3,4], %w: f32[4,4], %b: f32[4]) -> (%y: f32[2,3,4]) opset("" = 17) {
                %ones = const f32[4] [1.0, 1.0, 1.0, 2.0]
                %0 = const i64[2] [6, 4]
                %1 = const f32[1] [0.5]
                %2 = const f32[4] [1.0, 2.0, 3.0, 4.0]
                %3 = const i64[3] [2, 3, 4]
                %4 = onnx.Reshape(%x, %0) : f32[6,4]
                %5 = onnx.Gemm(%4, %w, %b) : f32[6,4]
                %6 = onnx.Mul(%5, %1) : f32[6,4]
                %7 = onnx.Gemm(%6, %w, %6) : f32[6,4]
                %8 = onnx.Neg(%7) : f32[6,4]
                %9 = onnx.LayerNormalization(%8, %ones) {axis = -1} : f32[6,4]
                %10 = onnx.Sub(%2, %9) : f32[6,4]
                %11 = onnx.Gemm(%10, %w, %b) : f32[6,4]
                %12 = onnx.Softmax(%11) {axis = -1} : f32[6,4]
                %13 = onnx.Reshape(%12, %3) : f32[2,3,4]
                return %13
              }
            }
        "#]],
    );
}

#[test]
fn views_before_and_behind_go() {
    check(
        r#"module {
  fn @main(%x: f32[n,2,3,2,2], %w: f32[4,6], %b: f32[6]) -> (%y: f32[n,6,3,2], %z: f32[k,3]) opset("" = 17) {
    %s = const i64[3] [-1, 6, 4]
    %t = const i64[4] [-1, 6, 3, 2]
    %u = const i64[2] [-1, 3]
    %0 = onnx.Reshape(%x, %s) : f32[n,6,4]
    %1 = onnx.MatMul(%0, %w) : f32[n,6,6]
    %2 = onnx.Add(%1, %b) : f32[n,6,6]
    %3, %4 = onnx.Split(%2) {axis = 2} : f32[n,6,3], f32[n,6,3]
    %5 = onnx.Reshape(%2, %t) : f32[n,6,3,2]
    %6 = onnx.Add(%3, %4) : f32[n,6,3]
    %7 = onnx.Reshape(%6, %u) : f32[k,3]
    return %5, %7
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,2,3,2,2], %w: f32[4,6], %b: f32[6]) -> (%y: f32[n,6,3,2], %z: f32[k,3]) opset("" = 17) {
                %t = const i64[4] [-1, 6, 3, 2]
                %u = const i64[2] [-1, 3]
                %0 = const i64[2] [-1, 4]
                %1 = const i64[4] [-1, 6, 3, 2]
                %2 = onnx.Reshape(%x, %0) : f32[n*6,4]
                %3 = onnx.Gemm(%2, %w, %b) : f32[n*6,6]
                %4, %5 = onnx.Split(%3) {axis = -1} : f32[n*6,3], f32[n*6,3]
                %6 = onnx.Reshape(%3, %1) : f32[n,6,3,2]
                %7 = onnx.Add(%4, %5) : f32[n*6,3]
                return %6, %7
              }
            }
        "#]],
    );
}

#[test]
fn means_of_rows() {
    check(
        r#"module {
  fn @main(%x: f32[6,4], %w: f32[4,4], %b: f32[4]) -> (%y: f32[6,4]) opset("" = 17) {
    %s = const i64[3] [2, 3, 4]
    %t = const i64[2] [6, 4]
    %0 = onnx.Reshape(%x, %s) : f32[2,3,4]
    %1 = onnx.MatMul(%0, %w) : f32[2,3,4]
    %2 = onnx.Add(%1, %b) : f32[2,3,4]
    %3 = onnx.ReduceMean(%2) {axes = [2], keepdims = 1} : f32[2,3,1]
    %4 = onnx.Sub(%2, %3) : f32[2,3,4]
    %5 = onnx.Reshape(%4, %t) : f32[6,4]
    return %5
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[6,4], %w: f32[4,4], %b: f32[4]) -> (%y: f32[6,4]) opset("" = 17) {
                %t = const i64[2] [6, 4]
                %0 = onnx.Gemm(%x, %w, %b) : f32[6,4]
                %1 = onnx.ReduceMean(%0) {keepdims = 1, axes = [-1]} : f32[6,1]
                %2 = onnx.Sub(%0, %1) : f32[6,4]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn stays_where_it_takes_as_many_ops() {
    // Two sums, and two views.
    check_stays(
        r#"module {
  fn @main(%x: f32[2,3,4], %w: f32[4,4], %b: f32[4]) -> (%y: f32[2,3,4]) opset("" = 17) {
    %0 = onnx.MatMul(%x, %w) : f32[2,3,4]
    %1 = onnx.Add(%0, %b) : f32[2,3,4]
    %2 = onnx.Elu(%1) : f32[2,3,4]
    %3 = onnx.MatMul(%2, %w) : f32[2,3,4]
    %4 = onnx.Add(%3, %b) : f32[2,3,4]
    return %4
  }
}"#,
    );
}

#[test]
fn stays_if_it_is_not_rows_alone() {
    // Two sizes that aren't known; an axis that isn't the last; a product with several matrices; a use of the product
    // beside the sum; integers, which a `Gemm` of ONNX Runtime doesn't take.
    for (types, middle) in [
        (["f32[n,m,4]", "f32[4,4]"], "onnx.Elu(%1)"),
        (["f32[2,3,4]", "f32[4,4]"], "onnx.Softmax(%1) {axis = 1}"),
        (["f32[2,4,4]", "f32[2,4,4]"], "onnx.Elu(%1)"),
        (["f32[2,3,4]", "f32[4,4]"], "onnx.Mul(%0, %1)"),
        (["i32[2,3,4]", "i32[4,4]"], "onnx.Abs(%1)"),
    ] {
        let [x, w] = types;
        let b = x.split('[').next().unwrap_or_default();
        check_stays(&format!(
            r#"module {{
  fn @main(%x: {x}, %w: {w}, %b: {b}[4]) -> (%y: {x}) opset("" = 17) {{
    %0 = onnx.MatMul(%x, %w) : {x}
    %1 = onnx.Add(%0, %b) : {x}
    %2 = {middle} : {x}
    %3 = onnx.MatMul(%2, %w) : {x}
    %4 = onnx.Add(%3, %b) : {x}
    %5 = onnx.MatMul(%4, %w) : {x}
    %6 = onnx.Add(%5, %b) : {x}
    return %6
  }}
}}"#
        ));
    }
}

/// Products with biases, `before` and after the normalised sum of two of them, which ONNX Runtime has a kernel for.
fn sum_normalised(before: usize) -> String {
    let mut products = String::new();
    let mut x = "x".to_string();
    for at in 0..before {
        products += &format!("    %m{at} = onnx.MatMul(%{x}, %w) : f32[n,3,4]\n");
        products += &format!("    %a{at} = onnx.Add(%m{at}, %b) : f32[n,3,4]\n");
        x = format!("a{at}");
    }
    format!(
        r#"module {{
  fn @main(%x: f32[n,3,4], %w: f32[4,4], %b: f32[4]) -> (%y: f32[n,3,4]) opset("" = 17) {{
    %ones = const f32[4] [1.0, 1.0, 1.0, 2.0]
{products}    %s = onnx.Add(%{x}, %a0) : f32[n,3,4]
    %n = onnx.LayerNormalization(%s, %ones) {{axis = 2}} : f32[n,3,4]
    %p = onnx.MatMul(%n, %w) : f32[n,3,4]
    %c = onnx.Add(%p, %b) : f32[n,3,4]
    return %c
  }}
}}"#
    )
}

#[test]
fn a_kernel_is_worth_three_ops() {
    // With two views, and the normalised sum as of matrices: a kernel less.
    for (before, is_whole) in [(2, false), (4, false), (5, true), (8, true)] {
        let source = sum_normalised(before);
        if !is_whole {
            check_stays(&source);
            continue;
        }
        let text = support::run(PASS, &source);
        assert_eq!(text.matches("onnx.Reshape").count(), 2, "{text}");
        assert_eq!(text.matches("onnx.Gemm").count(), before + 1, "{text}");
        assert!(!text.contains("onnx.MatMul"), "{text}");
    }
}
