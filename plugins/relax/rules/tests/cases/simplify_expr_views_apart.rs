//! Cases of `relax.transform.SimplifyExpr`: views that ops element by element stand between.

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
fn views_with_ops_between() {
    check(
        r#"module {
  fn @main(%x: f32[1,n,m,4]) -> (%y: f32[1,n,m,4]) opset("" = 17) {
    %a = const i64[1] [0]
    %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,m,4,n]
    %1 = onnx.Squeeze(%0, %a) : f32[m,4,n]
    %2 = onnx.Elu(%1) : f32[m,4,n]
    %3 = onnx.Unsqueeze(%2, %a) : f32[1,m,4,n]
    %4 = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[1,n,m,4]
    return %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,n,m,4]) -> (%y: f32[1,n,m,4]) opset("" = 17) {
                %0 = onnx.Elu(%x) : f32[1,n,m,4]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[*]) -> (%y: f32[*]) opset("" = 17) {
    %a = const i64[1] [0]
    %1 = onnx.Squeeze(%x, %a) : f32[*]
    %2 = onnx.Elu(%1) : f32[*]
    %3 = onnx.Unsqueeze(%2, %a) : f32[*]
    %4 = onnx.Neg(%3) : f32[*]
    return %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[*]) -> (%y: f32[*]) opset("" = 17) {
                %0 = onnx.Elu(%x) : f32[*]
                %1 = onnx.Neg(%0) : f32[*]
                return %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,3,4]) -> (%y: f32[4,6]) opset("" = 17) {
    %a = const i64[2] [6, 4]
    %b = const i64[2] [4, 6]
    %1 = onnx.Reshape(%x, %a) : f32[6,4]
    %2 = onnx.Elu(%1) : f32[6,4]
    %3 = onnx.Reshape(%2, %b) : f32[4,6]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3,4]) -> (%y: f32[4,6]) opset("" = 17) {
                %0 = const i64[2] [4, 6]
                %1 = onnx.Elu(%x) : f32[2,3,4]
                %2 = onnx.Reshape(%1, %0) : f32[4,6]
                return %2
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,3,4], %w: f32[4]) -> (%y: f32[2,3,4]) opset("" = 17) {
    %a = const i64[2] [3, 8]
    %b = const i64[3] [2, 3, 4]
    %v = const f32[8] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    %1 = onnx.Reshape(%x, %a) : f32[3,8]
    %2 = onnx.Mul(%1, %v) : f32[3,8]
    %3 = onnx.Reshape(%2, %b) : f32[2,3,4]
    return %3
  }
}"#,
    );
}

#[test]
fn views_with_ops_between_that_share() {
    // An exporter's approximation of a Gelu, behind a Gemm of what was a matrix for it alone.
    check(
        r#"module {
  fn @main(%x: f32[18,4]) -> (%y: f32[18,4]) opset("" = 17) {
    %a = const i64[3] [2, 9, 4]
    %b = const i64[2] [18, 4]
    %half = const f32[] 0.5
    %three = const f32[] 3.0
    %1 = onnx.Reshape(%x, %a) : f32[2,9,4]
    %2 = onnx.Mul(%1, %half) : f32[2,9,4]
    %3 = onnx.Pow(%1, %three) : f32[2,9,4]
    %4 = onnx.Add(%1, %3) : f32[2,9,4]
    %5 = onnx.Tanh(%4) : f32[2,9,4]
    %6 = onnx.Mul(%2, %5) : f32[2,9,4]
    %7 = onnx.Reshape(%6, %b) : f32[18,4]
    return %7
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[18,4]) -> (%y: f32[18,4]) opset("" = 17) {
                %half = const f32[] 0.5
                %three = const f32[] 3.0
                %0 = onnx.Mul(%x, %half) : f32[18,4]
                %1 = onnx.Pow(%x, %three) : f32[18,4]
                %2 = onnx.Add(%x, %1) : f32[18,4]
                %3 = onnx.Tanh(%2) : f32[18,4]
                %4 = onnx.Mul(%0, %3) : f32[18,4]
                return %4
              }
            }
        "#]],
    );
    // Of two views, in float16, with a size of 0.
    check(
        r#"module {
  fn @main(%x: f16[n,4,0], %z: f16[n,4,0]) -> (%y: f16[n,4,0]) opset("" = 17) {
    %a = const i64[1] [2]
    %1 = onnx.Unsqueeze(%x, %a) : f16[n,4,1,0]
    %2 = onnx.Unsqueeze(%z, %a) : f16[n,4,1,0]
    %3 = onnx.Add(%1, %2) : f16[n,4,1,0]
    %4 = onnx.Squeeze(%3, %a) : f16[n,4,0]
    return %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f16[n,4,0], %z: f16[n,4,0]) -> (%y: f16[n,4,0]) opset("" = 17) {
                %0 = onnx.Add(%x, %z) : f16[n,4,0]
                return %0
              }
            }
        "#]],
    );
    // A view that somebody else needs stays.
    check(
        r#"module {
  fn @main(%x: f32[18,4]) -> (%y: f32[18,4], %z: f32[2,9,4]) opset("" = 17) {
    %a = const i64[3] [2, 9, 4]
    %b = const i64[2] [18, 4]
    %1 = onnx.Reshape(%x, %a) : f32[2,9,4]
    %2 = onnx.Exp(%1) : f32[2,9,4]
    %3 = onnx.Mul(%1, %2) : f32[2,9,4]
    %4 = onnx.Reshape(%3, %b) : f32[18,4]
    return %4, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[18,4]) -> (%y: f32[18,4], %z: f32[2,9,4]) opset("" = 17) {
                %a = const i64[3] [2, 9, 4]
                %0 = onnx.Reshape(%x, %a) : f32[2,9,4]
                %1 = onnx.Exp(%x) : f32[18,4]
                %2 = onnx.Mul(%x, %1) : f32[18,4]
                return %2, %0
              }
            }
        "#]],
    );
}

#[test]
fn views_with_ops_between_that_others_need_stay() {
    check_stays(
        r#"module {
  fn @main(%x: f32[18,4]) -> (%y: f32[18,4], %z: f32[2,9,4]) opset("" = 17) {
    %a = const i64[3] [2, 9, 4]
    %b = const i64[2] [18, 4]
    %1 = onnx.Reshape(%x, %a) : f32[2,9,4]
    %2 = onnx.Exp(%1) : f32[2,9,4]
    %3 = onnx.Mul(%1, %2) : f32[2,9,4]
    %4 = onnx.Reshape(%3, %b) : f32[18,4]
    return %4, %2
  }
}"#,
    );
    // One of the operands is no view, or is stretched.
    check_stays(
        r#"module {
  fn @main(%x: f32[18,4], %w: f32[2,9,4]) -> (%y: f32[18,4]) opset("" = 17) {
    %a = const i64[3] [2, 9, 4]
    %b = const i64[2] [18, 4]
    %1 = onnx.Reshape(%x, %a) : f32[2,9,4]
    %2 = onnx.Add(%1, %w) : f32[2,9,4]
    %3 = onnx.Reshape(%2, %b) : f32[18,4]
    return %3
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[18,4], %w: f32[9,4]) -> (%y: f32[18,4]) opset("" = 17) {
    %a = const i64[3] [2, 9, 4]
    %b = const i64[2] [18, 4]
    %c = const i64[3] [1, 9, 4]
    %1 = onnx.Reshape(%x, %a) : f32[2,9,4]
    %2 = onnx.Reshape(%w, %c) : f32[1,9,4]
    %3 = onnx.Add(%1, %2) : f32[2,9,4]
    %4 = onnx.Reshape(%3, %b) : f32[18,4]
    return %4
  }
}"#,
    );
    // Two sources of other shapes.
    check_stays(
        r#"module {
  fn @main(%x: f32[18,4], %w: f32[9,8]) -> (%y: f32[18,4]) opset("" = 17) {
    %a = const i64[3] [2, 9, 4]
    %b = const i64[2] [18, 4]
    %1 = onnx.Reshape(%x, %a) : f32[2,9,4]
    %2 = onnx.Reshape(%w, %a) : f32[2,9,4]
    %3 = onnx.Add(%1, %2) : f32[2,9,4]
    %4 = onnx.Reshape(%3, %b) : f32[18,4]
    return %4
  }
}"#,
    );
}

/// Channels cut into blocks of 4 and joined again, with what has one number for each channel between.
#[test]
fn what_is_stretched_goes_below_the_views() {
    check(
        r#"module {
  fn @main(%x: f32[2,8,n,3], %w: f32[8], %v: f32[8,1,1]) -> (%y: f32[2,8,n,3]) opset("" = 17) {
    %cut = const i64[5] [2, 2, 4, -1, 3]
    %joined = const i64[4] [2, 8, -1, 3]
    %blocks = const i64[5] [1, 2, 4, 1, 1]
    %c = const f32[1,2,4,1,1] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    %one = const f32[1] [0.5]
    %0 = onnx.Reshape(%x, %cut) : f32[2,2,4,n,3]
    %1 = onnx.Mul(%0, %c) : f32[2,2,4,n,3]
    %2 = onnx.Reshape(%w, %blocks) : f32[1,2,4,1,1]
    %3 = onnx.Add(%2, %1) : f32[2,2,4,n,3]
    %4 = onnx.Reshape(%v, %blocks) : f32[1,2,4,1,1]
    %5 = onnx.Sub(%3, %4) : f32[2,2,4,n,3]
    %6 = onnx.Mul(%5, %one) : f32[2,2,4,n,3]
    %7 = onnx.Relu(%6) : f32[2,2,4,n,3]
    %8 = onnx.Reshape(%7, %joined) : f32[2,8,n,3]
    return %8
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,8,n,3], %w: f32[8], %v: f32[8,1,1]) -> (%y: f32[2,8,n,3]) opset("" = 17) {
                %one = const f32[1] [0.5]
                %0 = const i64[4] [1, 8, 1, 1]
                %1 = const f32[1,8,1,1] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
                %2 = onnx.Reshape(%w, %0) : f32[1,8,1,1]
                %3 = onnx.Mul(%x, %1) : f32[2,8,n,3]
                %4 = onnx.Add(%2, %3) : f32[2,8,n,3]
                %5 = onnx.Sub(%4, %v) : f32[2,8,n,3]
                %6 = onnx.Mul(%5, %one) : f32[2,8,n,3]
                %7 = onnx.Relu(%6) : f32[2,8,n,3]
                return %7
              }
            }
        "#]],
    );
    // One view is left where the last one gives another shape.
    check(
        r#"module {
  fn @main(%x: f32[2,8,3]) -> (%y: f32[2,24]) opset("" = 17) {
    %cut = const i64[4] [2, 2, 4, 3]
    %joined = const i64[2] [2, 24]
    %c = const f32[2,4,1] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    %0 = onnx.Reshape(%x, %cut) : f32[2,2,4,3]
    %1 = onnx.Mul(%0, %c) : f32[2,2,4,3]
    %2 = onnx.Reshape(%1, %joined) : f32[2,24]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,8,3]) -> (%y: f32[2,24]) opset("" = 17) {
                %0 = const f32[1,8,1] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
                %1 = const i64[2] [2, 24]
                %2 = onnx.Mul(%x, %0) : f32[2,8,3]
                %3 = onnx.Reshape(%2, %1) : f32[2,24]
                return %3
              }
            }
        "#]],
    );
}

#[test]
fn what_is_stretched_stays() {
    // In a part of what is put together: a number for each block.
    check_stays(
        r#"module {
  fn @main(%x: f32[2,8,3]) -> (%y: f32[2,8,3]) opset("" = 17) {
    %cut = const i64[4] [2, 2, 4, 3]
    %joined = const i64[3] [2, 8, 3]
    %c = const f32[2,1,1] [1.0, 2.0]
    %0 = onnx.Reshape(%x, %cut) : f32[2,2,4,3]
    %1 = onnx.Mul(%0, %c) : f32[2,2,4,3]
    %2 = onnx.Reshape(%1, %joined) : f32[2,8,3]
    return %2
  }
}"#,
    );
    // More than the view, which others use: no view would go.
    check_stays(
        r#"module {
  fn @main(%x: f32[2,8,3], %w: f32[2,4,1]) -> (%y: f32[2,8,3], %z: f32[2,2,4,3]) opset("" = 17) {
    %cut = const i64[4] [2, 2, 4, 3]
    %joined = const i64[3] [2, 8, 3]
    %0 = onnx.Reshape(%x, %cut) : f32[2,2,4,3]
    %1 = onnx.Mul(%0, %w) : f32[2,2,4,3]
    %2 = onnx.Reshape(%1, %joined) : f32[2,8,3]
    return %2, %0
  }
}"#,
    );
    // What makes the view larger.
    check_stays(
        r#"module {
  fn @main(%x: f32[1,8,3], %w: f32[2,2,4,3]) -> (%y: f32[2,8,3]) opset("" = 17) {
    %cut = const i64[4] [1, 2, 4, 3]
    %joined = const i64[3] [2, 8, 3]
    %0 = onnx.Reshape(%x, %cut) : f32[1,2,4,3]
    %1 = onnx.Mul(%0, %w) : f32[2,2,4,3]
    %2 = onnx.Reshape(%1, %joined) : f32[2,8,3]
    return %2
  }
}"#,
    );
    // A size that no Reshape can say.
    check_stays(
        r#"module {
  fn @main(%x: f32[n,8,3], %w: f32[n,1,1,1]) -> (%y: f32[n,8,3]) opset("" = 17) {
    %cut = const i64[4] [-1, 2, 4, 3]
    %joined = const i64[3] [-1, 8, 3]
    %0 = onnx.Reshape(%x, %cut) : f32[n,2,4,3]
    %1 = onnx.Mul(%0, %w) : f32[n,2,4,3]
    %2 = onnx.Reshape(%1, %joined) : f32[n,8,3]
    return %2
  }
}"#,
    );
}

#[test]
fn views_that_are_put_together() {
    check(
        r#"module {
  fn @main(%x: f32[1,8,2,2], %z: f32[1,4,2,2]) -> (%y: f32[1,3,4,2,2], %a: f32[1,12,2,2]) opset("" = 17) {
    %two = const i64[5] [1, 2, 4, 2, 2]
    %one = const i64[5] [1, 1, 4, 2, 2]
    %joined = const i64[4] [1, 12, 2, 2]
    %0 = onnx.Reshape(%x, %two) : f32[1,2,4,2,2]
    %1 = onnx.Reshape(%z, %one) : f32[1,1,4,2,2]
    %2 = onnx.Concat(%0, %1) {axis = 1} : f32[1,3,4,2,2]
    %3 = onnx.Reshape(%2, %joined) : f32[1,12,2,2]
    %4 = onnx.Relu(%2) : f32[1,3,4,2,2]
    return %4, %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,8,2,2], %z: f32[1,4,2,2]) -> (%y: f32[1,3,4,2,2], %a: f32[1,12,2,2]) opset("" = 17) {
                %0 = const i64[5] [1, 3, 4, 2, 2]
                %1 = onnx.Concat(%x, %z) {axis = 1} : f32[1,12,2,2]
                %2 = onnx.Reshape(%1, %0) : f32[1,3,4,2,2]
                %3 = onnx.Relu(%2) : f32[1,3,4,2,2]
                return %3, %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,8], %z: f32[2,8]) -> (%y: f32[4,4,2]) opset("" = 17) {
    %s = const i64[3] [2, 4, 2]
    %0 = onnx.Reshape(%x, %s) : f32[2,4,2]
    %1 = onnx.Reshape(%z, %s) : f32[2,4,2]
    %2 = onnx.Concat(%0, %1) {axis = 0} : f32[4,4,2]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,8], %z: f32[2,8]) -> (%y: f32[4,4,2]) opset("" = 17) {
                %0 = const i64[3] [4, 4, 2]
                %1 = onnx.Concat(%x, %z) {axis = 0} : f32[4,8]
                %2 = onnx.Reshape(%1, %0) : f32[4,4,2]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn views_that_are_put_together_otherwise_stay() {
    // Elements would come to stand elsewhere: blocks are joined within.
    check_stays(
        r#"module {
  fn @main(%x: f32[1,8,3], %z: f32[1,8,3]) -> (%y: f32[1,2,8,3]) opset("" = 17) {
    %s = const i64[4] [1, 2, 4, 3]
    %0 = onnx.Reshape(%x, %s) : f32[1,2,4,3]
    %1 = onnx.Reshape(%z, %s) : f32[1,2,4,3]
    %2 = onnx.Concat(%0, %1) {axis = 2} : f32[1,2,8,3]
    return %2
  }
}"#,
    );
    // Two views are left for one.
    check_stays(
        r#"module {
  fn @main(%x: f32[1,8,3], %z: f32[1,4,3]) -> (%y: f32[1,3,4,3], %a: f32[1,2,4,3]) opset("" = 17) {
    %two = const i64[4] [1, 2, 4, 3]
    %one = const i64[4] [1, 1, 4, 3]
    %0 = onnx.Reshape(%x, %two) : f32[1,2,4,3]
    %1 = onnx.Reshape(%z, %one) : f32[1,1,4,3]
    %2 = onnx.Concat(%0, %1) {axis = 1} : f32[1,3,4,3]
    return %2, %0
  }
}"#,
    );
    // What they are made of differs in another axis, too.
    check_stays(
        r#"module {
  fn @main(%x: f32[2,3,4], %z: f32[3,2,4]) -> (%y: f32[4,6,2]) opset("" = 17) {
    %s = const i64[3] [2, 6, 2]
    %0 = onnx.Reshape(%x, %s) : f32[2,6,2]
    %1 = onnx.Reshape(%z, %s) : f32[2,6,2]
    %2 = onnx.Concat(%0, %1) {axis = 0} : f32[4,6,2]
    return %2
  }
}"#,
    );
}

/// A mask of scores, with ops between its two views and the sum; `%m` is the last of them.
fn masked(opset: u32, sizes: &str, between: &str, last: &str) -> String {
    format!(
        r#"module {{
  fn @main(%mask: f32[{sizes}], %scores: f32[b,2,8,8]) -> (%y: f32[b,2,8,8]) opset("" = {opset}) {{
    %one = const f32[] 1.0
    %low = const f32[] -10000.0
    %u = onnx.Unsqueeze(%mask) {{axes = [1]}} : f32[b,1,8]
    %v = onnx.Unsqueeze(%u) {{axes = [2]}} : f32[b,1,1,8]
{between}
    %a = onnx.Add(%scores, %m) : f32[b,2,8,8]
    %y = {last} : f32[b,2,8,8]
    return %y
  }}
}}"#
    )
}

#[test]
fn views_of_a_mask_stay() {
    let mask =
        "    %c = onnx.Sub(%one, %v) : f32[b,1,1,8]\n    %m = onnx.Mul(%c, %low) : f32[b,1,1,8]";
    let softmax = "onnx.Softmax(%a) {axis = 3}";
    check_stays(&masked(11, "b,8", mask, softmax));
    // Of other ops, they are one.
    let other = "    %c = onnx.Neg(%v) : f32[b,1,1,8]\n    %m = onnx.Mul(%c, %low) : f32[b,1,1,8]";
    for (between, last) in [(mask, "onnx.Abs(%a)"), (other, softmax)] {
        let text = support::run(PASS, &masked(11, "b,8", between, last));
        assert!(text.contains("onnx.Reshape(%mask"), "{text}");
    }
}
