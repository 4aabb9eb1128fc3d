//! Cases of `relax.transform.FoldBatchNorm`: sums between it and weights.

use crate::support;

const PASS: &str = "relax.transform.FoldBatchNorm";

/// A module with the parameters of a BatchNormalization that multiplies by 2 and 5 and adds -1.5 and -9.75.
fn module(body: &str) -> String {
    format!(
        r#"module {{
  fn @main(%x: f32[1,1,4]) -> (%y: f32[1,2,2]) opset("" = 17) {{
    %scale = const f32[2] [2.0, 10.0]
    %bias = const f32[2] [0.5, 0.25]
    %mean = const f32[2] [1.0, 2.0]
    %var = const f32[2] [0.75, 3.75]
{body}
  }}
}}"#
    )
}

#[test]
fn past_a_sum_with_numbers() {
    // The sum takes what is added, in whichever order it says its numbers.
    for sum in ["onnx.Add(%0, %c)", "onnx.Sub(%0, %c)", "onnx.Sub(%c, %0)"] {
        let body = format!(
            "    %w = const f32[2,1,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    %c = const f32[1,2,1] [10.0, 100.0]
    %0 = onnx.Conv(%x, %w) : f32[1,2,2]
    %1 = {sum} : f32[1,2,2]
    %2 = onnx.BatchNormalization(%1, %scale, %bias, %mean, %var) {{epsilon = 0.25}} : f32[1,2,2]
    return %2"
        );
        let made = support::run(PASS, &module(&body));
        assert!(!made.contains("BatchNormalization"), "{made}");
        assert!(made.contains("[2.0, 4.0, 6.0, 20.0, 25.0, 30.0]"), "{made}");
        // x * 2 - 1.5 and x * 5 - 9.75 of what the sum was.
        let numbers = match sum {
            "onnx.Sub(%0, %c)" => "[21.5, 509.75]",
            _ => "[18.5, 490.25]",
        };
        assert!(made.contains(numbers), "{made}");
    }
}

#[test]
fn a_sum_of_what_is_not_known_takes_nothing() {
    let body = "    %w = const f32[2,1,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    %0 = onnx.Conv(%x, %w) : f32[1,2,2]
    %1 = onnx.Conv(%x, %w) {auto_pad = \"VALID\"} : f32[1,2,2]
    %2 = onnx.Add(%0, %1) : f32[1,2,2]
    %3 = onnx.BatchNormalization(%2, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[1,2,2]
    return %3";
    support::check_stays(PASS, &module(body));
}
