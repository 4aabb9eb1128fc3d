//! Cases of `relax.transform.SimplifyExpr`: constants, bounds and products.

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
fn constants_one_after_another() {
    check(
        r#"module {
  fn @main(%x: f32[n,2], %i: i8[n]) -> (%a: f32[n,2], %b: i8[n]) opset("" = 17) {
    %two = const f32[] 2.0
    %row = const f32[2] [0.5, -3.0]
    %1 = onnx.Mul(%two, %x) : f32[n,2]
    %2 = onnx.Mul(%1, %row) : f32[n,2]
    %3 = onnx.Add(%2, %two) : f32[n,2]
    %4 = onnx.Add(%two, %3) : f32[n,2]
    %many = const i8[] 100
    %5 = onnx.Add(%i, %many) : i8[n]
    %6 = onnx.Add(%5, %many) : i8[n]
    return %4, %6
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,2], %i: i8[n]) -> (%a: f32[n,2], %b: i8[n]) opset("" = 17) {
                %0 = const f32[2] [1.0, -6.0]
                %1 = const f32[] 4.0
                %2 = const i8[] -56
                %3 = onnx.Mul(%x, %0) : f32[n,2]
                %4 = onnx.Add(%3, %1) : f32[n,2]
                %5 = onnx.Add(%i, %2) : i8[n]
                return %4, %5
              }
            }
        "#]],
    );
}

#[test]
fn constants_that_cancel_overflow_or_are_shared_stay() {
    check_stays(
        r#"module {
  fn @main(%x: f32[n]) -> (%a: f32[n], %b: f32[n], %c: f32[n], %d: f32[n]) opset("" = 17) {
    %round = const f32[] 12582912.0
    %back = const f32[] -12582912.0
    %large = const f32[] 1e30
    %0 = onnx.Add(%x, %round) : f32[n]
    %1 = onnx.Add(%0, %back) : f32[n]
    %2 = onnx.Mul(%x, %large) : f32[n]
    %3 = onnx.Mul(%2, %large) : f32[n]
    %4 = onnx.Mul(%x, %round) : f32[n]
    %5 = onnx.Mul(%4, %round) : f32[n]
    return %1, %3, %4, %5
  }
}"#,
    );
}

#[test]
fn bounds_one_after_another() {
    check(
        r#"module {
  fn @main(%x: f16[n], %y: f32[n]) -> (%a: f16[n], %b: f32[n], %c: f32[n]) opset("" = 13) {
    %minus = const f16[] -1.0
    %six = const f16[] 6.0
    %zero = const f32[] 0.0
    %0 = onnx.Clip(%x, %minus, %six) : f16[n]
    %1 = onnx.Relu(%0) : f16[n]
    %2 = onnx.Clip(%y, %zero) : f32[n]
    %3 = onnx.Relu(%2) : f32[n]
    %5 = onnx.Neg(%y) : f32[n]
    %6 = onnx.Relu(%5) : f32[n]
    %7 = onnx.Clip(%6, %none, %zero) : f32[n]
    return %1, %3, %7
  }
}"#
        .replace("%none", "_")
        .as_str(),
        expect![[r#"
            module {
              fn @main(%x: f16[n], %y: f32[n]) -> (%a: f16[n], %b: f32[n], %c: f32[n]) opset("" = 13) {
                %0 = const f16[] 0.0
                %1 = const f16[] 6.0
                %2 = const f32[] 0.0
                %3 = const f32[] 0.0
                %4 = const f32[] 0.0
                %5 = onnx.Clip(%x, %0, %1) : f16[n]
                %6 = onnx.Clip(%y, %2) : f32[n]
                %7 = onnx.Neg(%y) : f32[n]
                %8 = onnx.Clip(%7, %3, %4) : f32[n]
                return %5, %6, %8
              }
            }
        "#]],
    );
}

#[test]
fn bounds_that_are_not_known_or_cross_stay() {
    check_stays(
        r#"module {
  fn @main(%x: f32[n], %low: f32[]) -> (%a: f32[n], %b: f32[n], %c: f32[n], %d: f32[n]) opset("" = 13) {
    %one = const f32[] 1.0
    %two = const f32[] 2.0
    %0 = onnx.Clip(%x, %low) : f32[n]
    %1 = onnx.Relu(%0) : f32[n]
    %2 = onnx.Clip(%x, %two, %one) : f32[n]
    %3 = onnx.Relu(%2) : f32[n]
    %4 = onnx.Relu(%x) : f32[n]
    %5 = onnx.Clip(%4, %one) : f32[n]
    return %1, %3, %4, %5
  }
}"#,
    );
}

#[test]
fn bounds_of_older_versions() {
    check(
        r#"module {
  fn @main(%x: f32[n]) -> (%a: f32[n], %b: f32[n]) opset("" = 6) {
    %0 = onnx.Relu(%x) : f32[n]
    %1 = onnx.Clip(%0) {max = 6.0} : f32[n]
    %2 = onnx.Clip(%x) {min = 0.0} : f32[n]
    %3 = onnx.Clip(%2) {min = 0.5, max = 0.75} : f32[n]
    return %1, %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n]) -> (%a: f32[n], %b: f32[n]) opset("" = 6) {
                %0 = onnx.Clip(%x) {min = 0.0, max = 6.0} : f32[n]
                %1 = onnx.Clip(%x) {min = 0.5, max = 0.75} : f32[n]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn what_is_stretched_anyway() {
    check(
        r#"module {
  fn @main(%x: f32[1,m], %y: f32[n,m], %c: bool[n,m]) -> (%a: f32[n,m], %b: f32[n,m]) opset("" = 17) {
    %s = onnx.Shape(%y) : i64[2]
    %0 = onnx.Expand(%x, %s) : f32[n,m]
    %1 = onnx.Sub(%0, %y) : f32[n,m]
    %2 = onnx.Where(%c, %0, %y) : f32[n,m]
    return %1, %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,m], %y: f32[n,m], %c: bool[n,m]) -> (%a: f32[n,m], %b: f32[n,m]) opset("" = 17) {
                %0 = onnx.Sub(%x, %y) : f32[n,m]
                %1 = onnx.Where(%c, %x, %y) : f32[n,m]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn tiles_and_repeated_operands_of_ops_that_broadcast() {
    check(
        r#"module {
  fn @main(%x: f32[1,m], %y: f32[n,m], %i: f32[3,1], %j: f32[1,4], %k: f32[3,1]) -> (%a: f32[n,m], %b: bool[n,m], %c: f32[3,4], %d: f32[3,4], %e: f32[3,4]) opset("" = 17) {
    %w = const f32[1,4] [1.0, 2.0, 3.0, 4.0]
    %r = const i64[2] [3, 1]
    %q = const i64[2] [1, 4]
    %s = onnx.Shape(%y) {end = 1} : i64[1]
    %one = const i64[1] [1]
    %t = onnx.Concat(%s, %one) {axis = 0} : i64[2]
    %0 = onnx.Tile(%x, %t) : f32[n,m]
    %1 = onnx.Sub(%0, %y) : f32[n,m]
    %2 = onnx.GreaterOrEqual(%0, %y) : bool[n,m]
    %3 = onnx.Tile(%w, %r) : f32[3,4]
    %4 = onnx.Add(%i, %3) : f32[3,4]
    %5 = onnx.Tile(%k, %q) : f32[3,4]
    %6 = onnx.Tile(%j, %r) : f32[3,4]
    %7 = onnx.Max(%5, %6) : f32[3,4]
    %8 = onnx.Concat(%j, %j, %j) {axis = 0} : f32[3,4]
    %9 = onnx.Mul(%8, %k) : f32[3,4]
    return %1, %2, %4, %7, %9
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,m], %y: f32[n,m], %i: f32[3,1], %j: f32[1,4], %k: f32[3,1]) -> (%a: f32[n,m], %b: bool[n,m], %c: f32[3,4], %d: f32[3,4], %e: f32[3,4]) opset("" = 17) {
                %w = const f32[1,4] [1.0, 2.0, 3.0, 4.0]
                %0 = onnx.Sub(%x, %y) : f32[n,m]
                %1 = onnx.GreaterOrEqual(%x, %y) : bool[n,m]
                %2 = onnx.Add(%i, %w) : f32[3,4]
                %3 = onnx.Max(%k, %j) : f32[3,4]
                %4 = onnx.Mul(%j, %k) : f32[3,4]
                return %0, %1, %2, %3, %4
              }
            }
        "#]],
    );
}

#[test]
fn tiles_whose_size_no_other_operand_has_stay() {
    check_stays(
        r#"module {
  fn @main(%x: f32[1,4], %y: f32[2,4], %h: f32[6,4], %s: i64[2], %p: f32[4,4]) -> (%a: f32[3,4], %b: f32[6,4], %c: f32[?,4], %d: f32[1,3,4], %e: f32[4,4]) opset("" = 17) {
    %r = const i64[2] [3, 1]
    %u = const i64[3] [1, 3, 1]
    %z = const f32[] 0.0
    %v = const f32[1,1,4] [1.0, 2.0, 3.0, 4.0]
    %0 = onnx.Tile(%x, %r) : f32[3,4]
    %1 = onnx.Add(%0, %x) : f32[3,4]
    %2 = onnx.Tile(%y, %r) : f32[6,4]
    %3 = onnx.Mul(%2, %h) : f32[6,4]
    %4 = onnx.Tile(%x, %s) : f32[?,?]
    %5 = onnx.Add(%4, %x) : f32[?,4]
    %6 = onnx.Tile(%v, %u) : f32[1,3,4]
    %7 = onnx.Max(%6, %z) : f32[1,3,4]
    %8 = onnx.Concat(%x, %x, %x, %x) {axis = 0} : f32[4,4]
    %9 = onnx.PRelu(%8, %p) : f32[4,4]
    return %1, %3, %5, %7, %9
  }
}"#,
    );
}

#[test]
fn what_is_stretched_further_stays() {
    check_stays(
        r#"module {
  fn @main(%x: f32[1,m], %y: f32[1,m], %s: i64[2]) -> (%a: f32[k,m], %b: f32[?,m]) opset("" = 17) {
    %0 = onnx.Expand(%x, %s) : f32[k,m]
    %1 = onnx.Sub(%0, %y) : f32[k,m]
    %2 = onnx.Expand(%x, %s) : f32[?,m]
    %3 = onnx.Add(%2, %2) : f32[?,m]
    return %1, %3
  }
}"#,
    );
}

#[test]
fn matrices() {
    check(
        r#"module {
  fn @main(%a: f32[n,4], %b: f32[4,5], %c: f32[5], %t: f32[4,n]) -> (%y: f32[n,5], %z: f32[n,5]) opset("" = 13) {
    %0 = onnx.MatMul(%a, %b) : f32[n,5]
    %1 = onnx.Add(%c, %0) : f32[n,5]
    %2 = onnx.Transpose(%t) : f32[n,4]
    %3 = onnx.Gemm(%2, %b, %c) {alpha = 2.0} : f32[n,5]
    return %1, %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%a: f32[n,4], %b: f32[4,5], %c: f32[5], %t: f32[4,n]) -> (%y: f32[n,5], %z: f32[n,5]) opset("" = 13) {
                %0 = onnx.Gemm(%a, %b, %c) : f32[n,5]
                %1 = onnx.Gemm(%t, %b, %c) {alpha = 2.0, transA = 1} : f32[n,5]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn matrices_of_other_ranks_dtypes_and_sums_stay() {
    check_stays(
        r#"module {
  fn @main(%a: f32[n,4], %b: f32[4,5], %c: f32[2,1,5], %d: f32[2,n,4], %e: i32[3,4], %g: i32[4,5]) -> (%y: f32[2,n,5], %z: f32[2,n,5], %u: i32[3,5], %v: f32[n,5], %w: f32[n,5]) opset("" = 13) {
    %bias = const f32[5] [1.0, 2.0, 3.0, 4.0, 5.0]
    %0 = onnx.MatMul(%a, %b) : f32[n,5]
    %1 = onnx.Add(%0, %c) : f32[2,n,5]
    %2 = onnx.MatMul(%d, %b) : f32[2,n,5]
    %3 = onnx.Add(%2, %bias) : f32[2,n,5]
    %4 = onnx.MatMul(%e, %g) : i32[3,5]
    %5 = onnx.Add(%4, %4) : i32[3,5]
    %6 = onnx.Neg(%0) : f32[n,5]
    %7 = onnx.MatMul(%a, %b) : f32[n,5]
    %8 = onnx.Add(%7, %bias) : f32[n,5]
    %9 = onnx.Add(%7, %8) : f32[n,5]
    return %1, %3, %5, %6, %9
  }
}"#,
    );
}

#[test]
fn a_condition_turned_around() {
    check(
        r#"module {
  fn @main(%c: bool[n], %a: f32[n], %b: f32[]) -> (%y: f32[n]) opset("" = 13) {
    %0 = onnx.Not(%c) : bool[n]
    %1 = onnx.Where(%0, %a, %b) : f32[n]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[n], %a: f32[n], %b: f32[]) -> (%y: f32[n]) opset("" = 13) {
                %0 = onnx.Where(%c, %b, %a) : f32[n]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn one_condition_asked_twice() {
    check(
        r#"module {
  fn @main(%c: bool[2,n], %x: f32[2,n], %y: f32[n]) -> (%a: f32[2,n], %b: f32[2,n]) opset("" = 13) {
    %zero = const f32[] 0.0
    %most = const f32[] -100.0
    %0 = onnx.Where(%c, %x, %most) : f32[2,n]
    %1 = onnx.Where(%c, %zero, %0) : f32[2,n]
    %2 = onnx.Where(%c, %x, %y) : f32[2,n]
    %3 = onnx.Where(%c, %2, %most) : f32[2,n]
    return %1, %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[2,n], %x: f32[2,n], %y: f32[n]) -> (%a: f32[2,n], %b: f32[2,n]) opset("" = 13) {
                %zero = const f32[] 0.0
                %most = const f32[] -100.0
                %0 = onnx.Where(%c, %zero, %most) : f32[2,n]
                %1 = onnx.Where(%c, %x, %most) : f32[2,n]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn a_condition_that_what_is_lost_stretches_stays() {
    check_stays(
        r#"module {
  fn @main(%c: bool[n], %x: f32[2,n], %y: f32[n]) -> (%a: f32[2,n]) opset("" = 13) {
    %zero = const f32[] 0.0
    %0 = onnx.Where(%c, %x, %y) : f32[2,n]
    %1 = onnx.Where(%c, %zero, %0) : f32[2,n]
    return %1
  }
}"#,
    );
}

#[test]
fn quantised_again_and_padded_by_nothing() {
    check(
        r#"module {
  fn @main(%x: i8[n], %y: f32[n]) -> (%a: i8[n], %b: f32[n]) opset("" = 10) {
    %s = const f32[] 0.1
    %z = const i8[] 3
    %0 = onnx.DequantizeLinear(%x, %s, %z) : f32[n]
    %1 = onnx.QuantizeLinear(%0, %s, %z) : i8[n]
    %2 = onnx.DequantizeLinear(%1, %s, %z) : f32[n]
    %3 = onnx.QuantizeLinear(%2, %s, %z) : i8[n]
    %4 = onnx.Neg(%3) : i8[n]
    %5 = onnx.Pad(%y) {pads = [0, 0]} : f32[n]
    %6 = onnx.Abs(%5) : f32[n]
    return %4, %6
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: i8[n], %y: f32[n]) -> (%a: i8[n], %b: f32[n]) opset("" = 10) {
                %0 = onnx.Neg(%x) : i8[n]
                %1 = onnx.Abs(%y) : f32[n]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn quantised_otherwise_or_padded_stays() {
    check_stays(
        r#"module {
  fn @main(%x: i8[n], %y: f32[3], %t: f32[]) -> (%a: i8[n], %b: f32[3], %c: i8[n], %d: u8[n]) opset("" = 10) {
    %s = const f32[] 0.1
    %u = const f32[] 0.2
    %z = const i8[] 3
    %0 = onnx.DequantizeLinear(%x, %s, %z) : f32[n]
    %1 = onnx.QuantizeLinear(%0, %u, %z) : i8[n]
    %2 = onnx.Pad(%y) {pads = [1, -1]} : f32[3]
    %3 = onnx.DequantizeLinear(%x, %t, %z) : f32[n]
    %4 = onnx.QuantizeLinear(%3, %t, %z) : i8[n]
    %5 = onnx.DequantizeLinear(%x, %s) : f32[n]
    %6 = onnx.QuantizeLinear(%5, %s) : u8[n]
    return %1, %2, %4, %6
  }
}"#,
    );
}

#[test]
fn long_chains_stay_linear() {
    let ops = 20_000;
    let mut source = String::from(
        "module {\n  fn @main(%x: f32[8,8]) -> (%y: f32[8,8]) opset(\"\" = 17) {\n    %a = const i64[2] [0, 0]\n    %b = const i64[2] [8, 8]\n    %c = const f32[] 1.0\n    %v0 = onnx.Neg(%x) : f32[8,8]\n",
    );
    for at in 0..ops {
        let op = match at % 4 {
            0 => format!("onnx.Transpose(%v{at})"),
            1 => format!("onnx.Add(%v{at}, %c)"),
            2 => format!("onnx.Slice(%v{at}, %a, %b)"),
            _ => format!("onnx.Clip(%v{at}, %c)"),
        };
        source += &format!("    %v{} = {op} : f32[8,8]\n", at + 1);
    }
    source += &format!("    return %v{ops}\n  }}\n}}");
    let start = std::time::Instant::now();
    let after = support::run_options(PASS, "", &source);
    assert_eq!(after.matches("onnx.Slice").count(), 0);
    assert_eq!(after.matches("onnx.Transpose").count(), 0);
    assert!(start.elapsed().as_secs() < 60);
}

#[test]
fn zeros_that_change_a_sign_stay_if_asked() {
    let source = |ops: &str| {
        format!(
            "module {{
  fn @main(%x: f32[2], %i: i64[2]) -> (%y: f32[2], %z: f32[2], %j: i64[2]) opset(\"\" = 17) {{
    %zero = const f32[] 0.0
    %negative = const f32[] -0.0
    %none = const i64[] 0
{ops}
    return %1, %2, %4
  }}
}}"
        )
    };
    // x + 0.0 and x - -0.0 are 0.0 for an x of -0.0.
    let changing = source(
        "    %0 = onnx.Add(%x, %zero) : f32[2]
    %1 = onnx.Neg(%0) : f32[2]
    %2 = onnx.Sub(%1, %negative) : f32[2]
    %3 = onnx.Neg(%i) : i64[2]
    %4 = onnx.Neg(%3) : i64[2]",
    );
    support::check_options(
        PASS,
        "keep_negative_zero = true",
        &changing,
        expect![[r#"
            module {
              fn @main(%x: f32[2], %i: i64[2]) -> (%y: f32[2], %z: f32[2], %j: i64[2]) opset("" = 17) {
                %zero = const f32[] 0.0
                %negative = const f32[] -0.0
                %none = const i64[] 0
                %0 = onnx.Add(%x, %zero) : f32[2]
                %1 = onnx.Neg(%0) : f32[2]
                %2 = onnx.Sub(%1, %negative) : f32[2]
                %3 = onnx.Identity(%i) : i64[2]
                return %1, %2, %3
              }
            }
        "#]],
    );
    // These never are.
    let keeping = source(
        "    %0 = onnx.Add(%negative, %x) : f32[2]
    %1 = onnx.Neg(%0) : f32[2]
    %5 = onnx.Abs(%1) : f32[2]
    %2 = onnx.Sub(%5, %zero) : f32[2]
    %3 = onnx.Neg(%i) : i64[2]
    %4 = onnx.Add(%3, %none) : i64[2]",
    );
    support::check_options(
        PASS,
        "keep_negative_zero = true",
        &keeping,
        expect![[r#"
            module {
              fn @main(%x: f32[2], %i: i64[2]) -> (%y: f32[2], %z: f32[2], %j: i64[2]) opset("" = 17) {
                %0 = onnx.Neg(%x) : f32[2]
                %1 = onnx.Abs(%x) : f32[2]
                %2 = onnx.Neg(%i) : i64[2]
                return %0, %1, %2
              }
            }
        "#]],
    );
}

#[test]
fn scales_of_one_and_biases_of_zero_of_normalised_layers_stay() {
    let layer = |tail: &str| {
        format!(
            r#"module {{
  fn @main(%x: f32[n,4]) -> (%y: f32[n,4]) opset("" = 13) {{
    %ones = const f32[4] splat(1.0)
    %zeros = const f32[4] splat(0.0)
    %two = const f32[] 2.0
    %one = const f32[] 1.0
    %epsilon = const f32[] 1e-5
    %0 = onnx.ReduceMean(%x) {{axes = [-1]}} : f32[n,1]
    %1 = onnx.Sub(%x, %0) : f32[n,4]
    %2 = onnx.Pow(%1, %two) : f32[n,4]
    %3 = onnx.ReduceMean(%2) {{axes = [-1]}} : f32[n,1]
    %4 = onnx.Add(%3, %epsilon) : f32[n,1]
    %5 = onnx.Sqrt(%4) : f32[n,1]
    {tail}
  }}
}}"#
        )
    };
    for tail in [
        "%6 = onnx.Div(%1, %5) : f32[n,4]
    %7 = onnx.Mul(%6, %ones) : f32[n,4]
    %8 = onnx.Add(%7, %zeros) : f32[n,4]
    return %8",
        "%6 = onnx.Div(%one, %5) : f32[n,1]
    %7 = onnx.Mul(%1, %6) : f32[n,4]
    %8 = onnx.Mul(%ones, %7) : f32[n,4]
    return %8",
        "%6 = onnx.Reciprocal(%5) : f32[n,1]
    %7 = onnx.Mul(%1, %6) : f32[n,4]
    %8 = onnx.Mul(%7, %ones) : f32[n,4]
    return %8",
    ] {
        check_stays(&layer(tail));
    }
    let done = support::run(
        PASS,
        &layer(
            "%6 = onnx.Mul(%5, %ones) : f32[n,4]
    %7 = onnx.Add(%6, %zeros) : f32[n,4]
    %8 = onnx.Div(%1, %5) : f32[n,4]
    %9 = onnx.Add(%8, %zeros) : f32[n,4]
    %10 = onnx.Add(%9, %7) : f32[n,4]
    return %10",
        ),
    );
    assert_eq!(done.matches("onnx.Add").count(), 2, "{done}");
}
