//! Cases of `relax.transform.BackwardFoldScaleAxis`, `ForwardFoldScaleAxis` and `FoldBatchNorm` where the weights of a
//! product of matrices are on its left.

use expect_test::expect;

use crate::support;

const BACKWARD: &str = "relax.transform.BackwardFoldScaleAxis";
const FORWARD: &str = "relax.transform.ForwardFoldScaleAxis";

#[test]
fn factors_of_rows_behind_it() {
    support::check(
        BACKWARD,
        r#"module {
  fn @main(%x: f32[b,3,n], %m: f32[3,n]) -> (%y: f32[b,2,n], %z: f32[2,n], %u: f32[2,n]) opset("" = 17) {
    %w = const f32[2,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    %v = const f32[2,3] [1.0, 2.0, 3.0, 4.0, 5.0, 7.0]
    %k = const f32[2,3] [1.0, 2.0, 3.0, 4.0, 5.0, 8.0]
    %c = const f32[2,1] [2.0, 10.0]
    %half = const f32[] 0.5
    %0 = onnx.MatMul(%w, %x) : f32[b,2,n]
    %1 = onnx.Mul(%0, %c) : f32[b,2,n]
    %2 = onnx.MatMul(%v, %m) : f32[2,n]
    %3 = onnx.Div(%2, %half) : f32[2,n]
    %4 = onnx.MatMul(%k, %m) : f32[2,n]
    %5 = onnx.Mul(%c, %4) : f32[2,n]
    %6 = onnx.Sub(%5, %c) : f32[2,n]
    return %1, %3, %6
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[b,3,n], %m: f32[3,n]) -> (%y: f32[b,2,n], %z: f32[2,n], %u: f32[2,n]) opset("" = 17) {
                %0 = const f32[2,3] [2.0, 4.0, 6.0, 40.0, 50.0, 60.0]
                %1 = const f32[2,3] [2.0, 4.0, 6.0, 8.0, 10.0, 14.0]
                %2 = const f32[2,3] [2.0, 4.0, 6.0, 40.0, 50.0, 80.0]
                %3 = const f32[2,1] [-2.0, -10.0]
                %4 = onnx.MatMul(%0, %x) : f32[b,2,n]
                %5 = onnx.MatMul(%1, %m) : f32[2,n]
                %6 = onnx.Gemm(%2, %m, %3) : f32[2,n]
                return %4, %5, %6
              }
            }
        "#]],
    );
}

#[test]
fn factors_of_columns_before_it() {
    support::check(
        FORWARD,
        r#"module {
  fn @main(%x: f32[b,3,n]) -> (%y: f32[b,2,n]) opset("" = 17) {
    %w = const f32[2,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    %c = const f32[3,1] [2.0, 10.0, 0.5]
    %0 = onnx.Mul(%x, %c) : f32[b,3,n]
    %1 = onnx.MatMul(%w, %0) : f32[b,2,n]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[b,3,n]) -> (%y: f32[b,2,n]) opset("" = 17) {
                %0 = const f32[2,3] [2.0, 20.0, 1.5, 8.0, 50.0, 3.0]
                %1 = onnx.MatMul(%0, %x) : f32[b,2,n]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_normalization_of_rows() {
    support::check(
        "relax.transform.FoldBatchNorm",
        r#"module {
  fn @main(%m: f32[3,n], %x: f32[b,3,n]) -> (%y: f32[b,2,n]) opset("" = 17) {
    %w = const f32[2,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    %scale = const f32[2] [2.0, 10.0]
    %zero = const f32[2] [0.0, 0.0]
    %var = const f32[2] [0.75, 3.75]
    %0 = onnx.MatMul(%w, %x) : f32[b,2,n]
    %1 = onnx.BatchNormalization(%0, %scale, %zero, %zero, %var) {epsilon = 0.25} : f32[b,2,n]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%m: f32[3,n], %x: f32[b,3,n]) -> (%y: f32[b,2,n]) opset("" = 17) {
                %0 = const f32[2,3] [2.0, 4.0, 6.0, 20.0, 25.0, 30.0]
                %1 = onnx.MatMul(%0, %x) : f32[b,2,n]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn factors_of_other_axes_stay() {
    for (pass, body) in [
        // Along the columns of the operand, which the weights haven't.
        (
            BACKWARD,
            "    %0 = onnx.MatMul(%w, %x) : f32[b,2,2]\n    %1 = onnx.Mul(%0, %row) : f32[b,2,2]\n    return %1",
        ),
        // One for each element.
        (
            BACKWARD,
            "    %0 = onnx.MatMul(%w, %x) : f32[b,2,2]\n    %1 = onnx.Mul(%0, %all) : f32[b,2,2]\n    return %1",
        ),
        // A vector has no rows.
        (
            BACKWARD,
            "    %0 = onnx.MatMul(%w, %v) : f32[2]\n    %1 = onnx.Mul(%0, %row) : f32[2]\n    %2 = onnx.Add(%x, %1) : f32[b,2,2]\n    return %2",
        ),
        // Somebody else uses the product.
        (
            BACKWARD,
            "    %0 = onnx.MatMul(%w, %x) : f32[b,2,2]\n    %1 = onnx.Mul(%0, %c) : f32[b,2,2]\n    %2 = onnx.Add(%0, %1) : f32[b,2,2]\n    return %2",
        ),
        (
            FORWARD,
            "    %0 = onnx.Mul(%x, %row) : f32[b,2,2]\n    %1 = onnx.MatMul(%w, %0) : f32[b,2,2]\n    return %1",
        ),
        // A sum before it, of which the result would gain another one.
        (
            FORWARD,
            "    %0 = onnx.Add(%x, %c) : f32[b,2,2]\n    %1 = onnx.MatMul(%w, %0) : f32[b,2,2]\n    return %1",
        ),
    ] {
        let source = format!(
            r#"module {{
  fn @main(%x: f32[b,2,2], %v: f32[2]) -> (%y: f32[b,2,2]) opset("" = 17) {{
    %w = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %c = const f32[2,1] [2.0, 10.0]
    %row = const f32[2] [2.0, 10.0]
    %all = const f32[2,2] [2.0, 10.0, 3.0, 4.0]
{body}
  }}
}}"#
        );
        support::check_stays(pass, &source);
    }
}

/// Weights that a product behind them and somebody else use, so many times, in a model of other constants of 2.8 MB.
fn shared_weights(count: usize) -> String {
    let each = |text: &str| -> String {
        (1..=count)
            .map(|at| text.replace('@', &at.to_string()))
            .collect()
    };
    format!(
        r#"module {{
  fn @main(%x: f32[1,16,n]) -> ({}%z: f32[700000]) opset("" = 17) {{
    %rest = const f32[700000] splat(1.0){}
    return {}%rest
  }}
}}"#,
        each("%y@: f32[1,16,n], %o@: f32[1,16,n], "),
        each(
            "
    %w@ = const f32[16,16,1] splat(@.5)
    %s@ = const f32[16,1] splat(@.25)
    %0@ = onnx.Conv(%x, %w@) : f32[1,16,n]
    %1@ = onnx.Mul(%0@, %s@) : f32[1,16,n]
    %2@ = onnx.Conv(%x, %w@) : f32[1,16,n]
    %3@ = onnx.Relu(%2@) : f32[1,16,n]"
        ),
        each("%1@, %3@, "),
    )
}

#[test]
fn what_may_cost_something_is_all_folded_or_none_and_then_not_the_next_time_either() {
    for pass in [BACKWARD, "relax.transform.FoldScaleAxis"] {
        let folded = |source: &str| support::run(pass, source);
        let products = |text: &str| text.matches("onnx.Mul").count();
        // The weights take 1 kB once more, and all such may take 1.4 kB.
        let one = folded(&shared_weights(1));
        assert_eq!(products(&one), 0, "{one}");
        assert_eq!(folded(&one), one);
        let two = folded(&shared_weights(2));
        assert_eq!(products(&two), 2, "{two}");
        assert_eq!(folded(&two), two);
    }
}
