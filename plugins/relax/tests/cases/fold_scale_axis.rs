//! Cases of `relax.transform.BackwardFoldScaleAxis` and `ForwardFoldScaleAxis`.

use expect_test::{Expect, expect};

use crate::support;

const BACKWARD: &str = "relax.transform.BackwardFoldScaleAxis";
const FORWARD: &str = "relax.transform.ForwardFoldScaleAxis";

/// A module with weights, a factor of each of two channels, and one of which one is negative.
fn module(signature: &str, body: &str) -> String {
    format!(
        r#"module {{
  fn @main{signature} opset("" = 17) {{
    %w = const f32[2,2,1] [1.0, 2.0, 3.0, 4.0]
    %c = const f32[2,1] [2.0, 10.0]
    %d = const f32[1,2,1] [0.5, 0.25]
    %n = const f32[2,1] [2.0, -10.0]
{body}
  }}
}}"#
    )
}

const LINE: &str = "(%x: f32[1,2,n]) -> (%y: f32[1,2,n])";

#[track_caller]
fn check(pass: &str, body: &str, expected: Expect) {
    support::check(pass, &module(LINE, body), expected);
}

#[track_caller]
fn check_stays(pass: &str, body: &str) {
    support::check_stays(pass, &module(LINE, body));
}

#[test]
fn behind_weights_a_whole_chain() {
    check(
        BACKWARD,
        "    %0 = onnx.Conv(%x, %w) : f32[1,2,n]
    %1 = onnx.Mul(%c, %0) : f32[1,2,n]
    %2 = onnx.Add(%1, %d) : f32[1,2,n]
    %3 = onnx.Div(%2, %d) : f32[1,2,n]
    %4 = onnx.Sub(%c, %3) : f32[1,2,n]
    %5 = onnx.Neg(%4) : f32[1,2,n]
    return %5",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
                %n = const f32[2,1] [2.0, -10.0]
                %0 = const f32[2,2,1] [4.0, 8.0, 120.0, 160.0]
                %1 = const f32[2] [-1.0, -9.0]
                %2 = onnx.Conv(%x, %0, %1) : f32[1,2,n]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn behind_products_of_matrices() {
    // What is added there would need another operator.
    support::check(
        BACKWARD,
        r#"module {
  fn @main(%x: f32[b,n,2], %m: f32[n,2]) -> (%y: f32[b,n,2], %z: f32[n,2]) opset("" = 17) {
    %w = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %v = const f32[2,2] [1.0, 2.0, 3.0, 5.0]
    %c = const f32[2] [2.0, 10.0]
    %0 = onnx.MatMul(%x, %w) : f32[b,n,2]
    %1 = onnx.Mul(%0, %c) : f32[b,n,2]
    %2 = onnx.Add(%1, %c) : f32[b,n,2]
    %3 = onnx.Gemm(%m, %v) {transB = 1} : f32[n,2]
    %4 = onnx.Mul(%3, %c) : f32[n,2]
    %5 = onnx.Add(%4, %c) : f32[n,2]
    return %2, %5
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[b,n,2], %m: f32[n,2]) -> (%y: f32[b,n,2], %z: f32[n,2]) opset("" = 17) {
                %c = const f32[2] [2.0, 10.0]
                %0 = const f32[2,2] [2.0, 20.0, 6.0, 40.0]
                %1 = const f32[2,2] [2.0, 4.0, 30.0, 50.0]
                %2 = const f32[2] [2.0, 10.0]
                %3 = onnx.MatMul(%x, %0) : f32[b,n,2]
                %4 = onnx.Add(%3, %c) : f32[b,n,2]
                %5 = onnx.Gemm(%m, %1, %2) {transB = 1} : f32[n,2]
                return %4, %5
              }
            }
        "#]],
    );
}

#[test]
fn backward_through_what_keeps_positive_factors() {
    check(
        BACKWARD,
        "    %0 = onnx.Conv(%x, %w) : f32[1,2,n]
    %1 = onnx.Relu(%0) : f32[1,2,n]
    %2 = onnx.Mul(%1, %c) : f32[1,2,n]
    return %2",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
                %d = const f32[1,2,1] [0.5, 0.25]
                %n = const f32[2,1] [2.0, -10.0]
                %0 = const f32[2,2,1] [2.0, 4.0, 30.0, 40.0]
                %1 = onnx.Conv(%x, %0) : f32[1,2,n]
                %2 = onnx.Relu(%1) : f32[1,2,n]
                return %2
              }
            }
        "#]],
    );
    for last in ["onnx.Mul(%1, %n)", "onnx.Add(%1, %c)"] {
        check_stays(
            BACKWARD,
            &format!(
                "    %0 = onnx.Conv(%x, %w) : f32[1,2,n]
    %1 = onnx.Relu(%0) : f32[1,2,n]
    %2 = {last} : f32[1,2,n]
    return %2"
            ),
        );
    }
}

#[test]
fn backward_into_both_sides_of_a_sum() {
    support::check(
        BACKWARD,
        r#"module {
  fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
    %w = const f32[2,2,1] [1.0, 2.0, 3.0, 4.0]
    %v = const f32[2,2,1] [5.0, 6.0, 7.0, 8.0]
    %c = const f32[2,1] [2.0, 10.0]
    %0 = onnx.Conv(%x, %w) : f32[1,2,n]
    %1 = onnx.Conv(%x, %v) : f32[1,2,n]
    %2 = onnx.Relu(%1) : f32[1,2,n]
    %3 = onnx.Add(%0, %2) : f32[1,2,n]
    %4 = onnx.Mul(%3, %c) : f32[1,2,n]
    return %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
                %0 = const f32[2,2,1] [2.0, 4.0, 30.0, 40.0]
                %1 = const f32[2,2,1] [10.0, 12.0, 70.0, 80.0]
                %2 = onnx.Conv(%x, %0) : f32[1,2,n]
                %3 = onnx.Conv(%x, %1) : f32[1,2,n]
                %4 = onnx.Relu(%3) : f32[1,2,n]
                %5 = onnx.Add(%2, %4) : f32[1,2,n]
                return %5
              }
            }
        "#]],
    );
    check_stays(
        BACKWARD,
        "    %0 = onnx.Conv(%x, %w) : f32[1,2,n]
    %1 = onnx.Add(%0, %x) : f32[1,2,n]
    %2 = onnx.Mul(%1, %c) : f32[1,2,n]
    return %2",
    );
}

#[test]
fn weights_that_all_users_multiply_alike() {
    // As of TVM's dual consumers.
    check(
        BACKWARD,
        "    %0 = onnx.Conv(%x, %w) : f32[1,2,n]
    %1 = onnx.Mul(%0, %c) : f32[1,2,n]
    %2 = onnx.Relu(%1) : f32[1,2,n]
    %3 = onnx.Conv(%2, %w) : f32[1,2,n]
    %4 = onnx.Mul(%3, %c) : f32[1,2,n]
    %5 = onnx.Relu(%4) : f32[1,2,n]
    %6 = onnx.Conv(%2, %w) : f32[1,2,n]
    %7 = onnx.Mul(%6, %c) : f32[1,2,n]
    %8 = onnx.Relu(%7) : f32[1,2,n]
    %9 = onnx.Add(%5, %8) : f32[1,2,n]
    return %9",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
                %d = const f32[1,2,1] [0.5, 0.25]
                %n = const f32[2,1] [2.0, -10.0]
                %0 = const f32[2,2,1] [2.0, 4.0, 30.0, 40.0]
                %1 = onnx.Conv(%x, %0) : f32[1,2,n]
                %2 = onnx.Relu(%1) : f32[1,2,n]
                %3 = onnx.Conv(%2, %0) : f32[1,2,n]
                %4 = onnx.Relu(%3) : f32[1,2,n]
                %5 = onnx.Conv(%2, %0) : f32[1,2,n]
                %6 = onnx.Relu(%5) : f32[1,2,n]
                %7 = onnx.Add(%4, %6) : f32[1,2,n]
                return %7
              }
            }
        "#]],
    );
}

#[test]
fn backward_fails() {
    let conv = "    %0 = onnx.Conv(%x, %w) : f32[1,2,n]\n";
    for (why, rest) in [
        (
            "the wrong axis",
            "    %k = const f32[2] [2.0, 3.0]\n    %1 = onnx.Mul(%0, %k)\n    return %1",
        ),
        (
            "a factor that isn't known",
            "    %1 = onnx.Mul(%0, %x) : f32[1,2,n]\n    return %1",
        ),
        (
            "itself",
            "    %1 = onnx.Mul(%0, %0) : f32[1,2,n]\n    return %1",
        ),
        (
            "infinite",
            "    %k = const f32[] 0.0\n    %1 = onnx.Div(%0, %k) : f32[1,2,n]\n    return %1",
        ),
        (
            "a division of it",
            "    %1 = onnx.Div(%c, %0) : f32[1,2,n]\n    return %1",
        ),
        (
            "two users",
            "    %1 = onnx.Mul(%0, %c) : f32[1,2,n]\n    %2 = onnx.Add(%0, %1) : f32[1,2,n]\n    return %2",
        ),
    ] {
        let source = module(LINE, &format!("{conv}{rest}"));
        assert!(
            support::run(BACKWARD, &source).contains("const f32[2,2,1] [1.0, 2.0, 3.0, 4.0]"),
            "{why}"
        );
        support::check_stays(BACKWARD, &source);
    }
}

#[test]
fn a_factor_that_stretches_stays() {
    support::check_stays(
        BACKWARD,
        &module(
            "(%x: f32[1,2,1]) -> (%y: f32[1,2,3])",
            "    %k = const f32[1,2,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    %0 = onnx.Conv(%x, %w) : f32[1,2,1]
    %1 = onnx.Mul(%0, %k) : f32[1,2,3]
    return %1",
        ),
    );
    // One channel becomes three.
    support::check_stays(
        BACKWARD,
        &module(
            "(%x: f32[1,2,n]) -> (%y: f32[1,3,n])",
            "    %v = const f32[1,2,1] [1.0, 2.0]
    %k = const f32[3,1] [1.0, 2.0, 3.0]
    %0 = onnx.Conv(%x, %v) : f32[1,1,n]
    %1 = onnx.Mul(%0, %k) : f32[1,3,n]
    return %1",
        ),
    );
    // A higher rank.
    support::check_stays(
        BACKWARD,
        &module(
            "(%x: f32[1,2,n]) -> (%y: f32[1,1,2,n])",
            "    %k = const f32[1,1,1,1] [2.0]
    %0 = onnx.Conv(%x, %w) : f32[1,2,n]
    %1 = onnx.Mul(%0, %k) : f32[1,1,2,n]
    return %1",
        ),
    );
}

#[test]
fn a_branch_does_not_take_weights_in() {
    support::check_stays(
        BACKWARD,
        &module(
            "(%x: f32[1,2,n], %t: bool[]) -> (%y: f32[1,2,n])",
            "    %0 = onnx.Conv(%x, %w) : f32[1,2,n]
    %1 = onnx.If(%t) {then_branch = region, else_branch = region} : f32[1,2,n]
      region then_branch {
        %2 = onnx.Mul(%0, %c) : f32[1,2,n]
        yield %2
      }
      region else_branch {
        %3 = onnx.Neg(%x) : f32[1,2,n]
        yield %3
      }
    return %1",
        ),
    );
}

#[test]
fn before_weights_a_whole_chain() {
    check(
        FORWARD,
        "    %0 = onnx.Div(%x, %d) : f32[1,2,n]
    %1 = onnx.Mul(%0, %c) : f32[1,2,n]
    %2 = onnx.Sub(%1, %d) : f32[1,2,n]
    %3 = onnx.Conv(%2, %w) : f32[1,2,n]
    return %3",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
                %n = const f32[2,1] [2.0, -10.0]
                %0 = const f32[2] [-1.0, -2.5]
                %1 = const f32[2,2,1] [4.0, 80.0, 12.0, 160.0]
                %2 = onnx.Conv(%x, %1, %0) : f32[1,2,n]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn padding_meets_what_is_added_but_no_factor() {
    check(
        FORWARD,
        "    %0 = onnx.Mul(%x, %c) : f32[1,2,n]
    %1 = onnx.Add(%0, %d) : f32[1,2,n]
    %2 = onnx.Conv(%1, %w) {pads = [1, 1]} : f32[1,2,n+2]
    %3 = onnx.Mul(%x, %n) : f32[1,2,n]
    %v = const f32[2,2,1] [5.0, 6.0, 7.0, 8.0]
    %4 = onnx.Conv(%3, %v) {pads = [1, 1]} : f32[1,2,n+2]
    %5 = onnx.Add(%2, %4) : f32[1,2,n+2]
    %6 = onnx.ReduceSum(%5) : f32[1,1,1]
    %7 = onnx.Add(%6, %x) : f32[1,2,n]
    return %7",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
                %0 = const f32[2,2,1] [10.0, -60.0, 14.0, -80.0]
                %1 = const f32[2,2,1] [2.0, 20.0, 6.0, 40.0]
                %2 = const f32[2,1] [0.25, 0.025]
                %3 = onnx.Add(%x, %2) : f32[1,2,n]
                %4 = onnx.Conv(%3, %1) {pads = [1, 1]} : f32[1,2,n+2]
                %5 = onnx.Conv(%x, %0) {pads = [1, 1]} : f32[1,2,n+2]
                %6 = onnx.Add(%4, %5) : f32[1,2,n+2]
                %7 = onnx.ReduceSum(%6) : f32[1,1,1]
                %8 = onnx.Add(%7, %x) : f32[1,2,n]
                return %8
              }
            }
        "#]],
    );
}

#[test]
fn forward_through_sums_and_what_keeps_positive_factors() {
    check(
        FORWARD,
        "    %0 = onnx.Mul(%x, %c) : f32[1,2,n]
    %1 = onnx.Add(%0, %d) : f32[1,2,n]
    %2 = onnx.Relu(%1) : f32[1,2,n]
    %3 = onnx.Conv(%2, %w) : f32[1,2,n]
    return %3",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
                %n = const f32[2,1] [2.0, -10.0]
                %0 = const f32[2,2,1] [2.0, 20.0, 6.0, 40.0]
                %1 = const f32[2,1] [0.25, 0.025]
                %2 = onnx.Add(%x, %1) : f32[1,2,n]
                %3 = onnx.Relu(%2) : f32[1,2,n]
                %4 = onnx.Conv(%3, %0) : f32[1,2,n]
                return %4
              }
            }
        "#]],
    );
    check_stays(
        FORWARD,
        "    %0 = onnx.Mul(%x, %n) : f32[1,2,n]
    %1 = onnx.Relu(%0) : f32[1,2,n]
    %2 = onnx.Conv(%1, %w) : f32[1,2,n]
    return %2",
    );
}

#[test]
fn forward_into_all_users() {
    let body = |last: &str| {
        format!(
            "    %v = const f32[2,2,1] [5.0, 6.0, 7.0, 8.0]
    %0 = onnx.Mul(%x, %c) : f32[1,2,n]
    %1 = onnx.Relu(%0) : f32[1,2,n]
    %2 = onnx.Conv(%1, %w) : f32[1,2,n]
    %3 = {last} : f32[1,2,n]
    %4 = onnx.Add(%2, %3) : f32[1,2,n]
    return %4"
        )
    };
    check(
        FORWARD,
        &body("onnx.Conv(%0, %v)"),
        expect![[r#"
        module {
          fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
            %d = const f32[1,2,1] [0.5, 0.25]
            %n = const f32[2,1] [2.0, -10.0]
            %0 = const f32[2,2,1] [10.0, 60.0, 14.0, 80.0]
            %1 = const f32[2,2,1] [2.0, 20.0, 6.0, 40.0]
            %2 = onnx.Relu(%x) : f32[1,2,n]
            %3 = onnx.Conv(%2, %1) : f32[1,2,n]
            %4 = onnx.Conv(%x, %0) : f32[1,2,n]
            %5 = onnx.Add(%3, %4) : f32[1,2,n]
            return %5
          }
        }
    "#]],
    );
    check_stays(FORWARD, &body("onnx.Neg(%0)"));
}

#[test]
fn weights_that_all_users_of_a_product_share() {
    check(
        FORWARD,
        "    %0 = onnx.Mul(%x, %c) : f32[1,2,n]
    %1 = onnx.Relu(%0) : f32[1,2,n]
    %2 = onnx.Conv(%1, %w) : f32[1,2,n]
    %3 = onnx.Conv(%0, %w) : f32[1,2,n]
    %4 = onnx.Add(%2, %3) : f32[1,2,n]
    return %4",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
                %d = const f32[1,2,1] [0.5, 0.25]
                %n = const f32[2,1] [2.0, -10.0]
                %0 = const f32[2,2,1] [2.0, 20.0, 6.0, 40.0]
                %1 = onnx.Relu(%x) : f32[1,2,n]
                %2 = onnx.Conv(%1, %0) : f32[1,2,n]
                %3 = onnx.Conv(%x, %0) : f32[1,2,n]
                %4 = onnx.Add(%2, %3) : f32[1,2,n]
                return %4
              }
            }
        "#]],
    );
}

#[test]
fn groups_of_operands() {
    support::check(
        FORWARD,
        r#"module {
  fn @main(%x: f32[1,4,n]) -> (%y: f32[1,2,n], %z: f32[1,2,n+1]) opset("" = 17) {
    %w = const f32[2,2,1] [1.0, 2.0, 3.0, 4.0]
    %t = const f32[4,1,2] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    %c = const f32[4,1] [1.0, 10.0, 100.0, 1000.0]
    %0 = onnx.Mul(%x, %c) : f32[1,4,n]
    %1 = onnx.Conv(%0, %w) {group = 2} : f32[1,2,n]
    %2 = onnx.ConvTranspose(%0, %t) {group = 2} : f32[1,2,n+1]
    return %1, %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,4,n]) -> (%y: f32[1,2,n], %z: f32[1,2,n+1]) opset("" = 17) {
                %0 = const f32[4,1,2] [1.0, 2.0, 30.0, 40.0, 500.0, 600.0, 7000.0, 8000.0]
                %1 = const f32[2,2,1] [1.0, 20.0, 300.0, 4000.0]
                %2 = onnx.Conv(%x, %1) {group = 2} : f32[1,2,n]
                %3 = onnx.ConvTranspose(%x, %0) {group = 2} : f32[1,2,n+1]
                return %2, %3
              }
            }
        "#]],
    );
}

#[test]
fn what_is_added_to_small_types_stays() {
    for dtype in ["f16", "bf16"] {
        let body = "    %0 = onnx.Sub(%x, %d) : f32[1,2,n]
    %1 = onnx.Conv(%0, %w) : f32[1,2,n]
    return %1";
        support::check_stays(FORWARD, &module(LINE, body).replace("f32", dtype));
        let factor = body.replace("Sub", "Mul");
        let result = support::run(FORWARD, &module(LINE, &factor).replace("f32", dtype));
        assert!(!result.contains("onnx.Mul"), "{result}");
    }
}

#[test]
fn forward_fails() {
    // The operand has another shape than the result: of a higher rank, of more channels.
    for (signature, body) in [
        (
            "(%x: f32[2,n]) -> (%y: f32[1,2,n])",
            "    %0 = onnx.Mul(%x, %d) : f32[1,2,n]
    %1 = onnx.Conv(%0, %w) : f32[1,2,n]
    return %1",
        ),
        (
            "(%x: f32[1,1,n]) -> (%y: f32[1,2,n])",
            "    %0 = onnx.Mul(%x, %c) : f32[1,2,n]
    %1 = onnx.Conv(%0, %w) : f32[1,2,n]
    return %1",
        ),
        (
            "(%x: f32[1,m,n]) -> (%y: f32[1,2,n])",
            "    %0 = onnx.Mul(%x, %c) : f32[1,2,n]
    %1 = onnx.Conv(%0, %w) : f32[1,2,n]
    return %1",
        ),
        (
            "(%x: f32[1,2,n]) -> (%y: f32[1,2,n], %z: f32[1,2,n])",
            "    %0 = onnx.Mul(%x, %c) : f32[1,2,n]
    %1 = onnx.Conv(%0, %w) : f32[1,2,n]
    return %1, %0",
        ),
    ] {
        support::check_stays(FORWARD, &module(signature, body));
    }
}

#[test]
fn the_sequential_runs_both() {
    support::check(
        "relax.transform.FoldScaleAxis",
        &module(
            LINE,
            "    %0 = onnx.Mul(%x, %c) : f32[1,2,n]
    %1 = onnx.Conv(%0, %w) : f32[1,2,n]
    %2 = onnx.Mul(%1, %n) : f32[1,2,n]
    return %2",
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
                %d = const f32[1,2,1] [0.5, 0.25]
                %0 = const f32[2,2,1] [4.0, 40.0, -60.0, -400.0]
                %1 = onnx.Conv(%x, %0) : f32[1,2,n]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_factor_that_nobody_uses_stays_for_dead_code_elimination() {
    support::check_stays(
        "relax.transform.BackwardFoldScaleAxis",
        r#"module {
  fn @main(%x: f32[2,4]) -> (%y: f32[2,4]) opset("" = 17) {
    %w = const f32[4,2] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    %s = const f32[2] [2.0, 3.0]
    %0 = onnx.MatMul(%x, %w) : f32[2,2]
    %1 = onnx.Mul(%0, %s) : f32[2,2]
    %2 = onnx.Relu(%x) : f32[2,4]
    return %2
  }
}"#,
    );
}
