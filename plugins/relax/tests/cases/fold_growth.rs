//! What weights and parameters that others share may cost.

use crate::support;

/// Two convolutions of the same weights, each with a BatchNormalization of its own; and another model's worth of
/// weights beside them.
fn shared_weights(beside: u32) -> String {
    format!(
        r#"module {{
  fn @main(%x: f32[1,1,65], %a: f32[1,{beside}]) -> (%y: f32[1,2,2], %z: f32[1,2,2], %u: f32[1,100]) opset("" = 17) {{
    %w = const f32[2,1,64] splat(1.0)
    %scale = const f32[2] [2.0, 10.0]
    %other = const f32[2] [3.0, 20.0]
    %bias = const f32[2] [0.5, 0.25]
    %mean = const f32[2] [1.0, 2.0]
    %var = const f32[2] [0.75, 3.75]
    %beside = const f32[{beside},100] splat(1.0)
    %0 = onnx.Conv(%x, %w) : f32[1,2,2]
    %1 = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) {{epsilon = 0.25}} : f32[1,2,2]
    %2 = onnx.Neg(%x) : f32[1,1,65]
    %3 = onnx.Conv(%2, %w) : f32[1,2,2]
    %4 = onnx.BatchNormalization(%3, %other, %bias, %mean, %var) {{epsilon = 0.25}} : f32[1,2,2]
    %5 = onnx.MatMul(%a, %beside) : f32[1,100]
    return %1, %4, %5
  }}
}}"#
    )
}

/// BatchNormalizations that share their parameters, behind convolutions that share nothing.
fn shared_parameters(beside: u32) -> String {
    let row = |number: &str| vec![number; 64].join(", ");
    let (one, two) = (row("1.0"), row("0.5"));
    let mut body = String::new();
    for at in 0..3 {
        body += &format!(
            "    %w{at} = const f32[64,1,1] [{two}]
    %c{at} = onnx.Conv(%x, %w{at}) : f32[1,64,4]
    %n{at} = onnx.BatchNormalization(%c{at}, %one, %two, %one, %one) : f32[1,64,4]
"
        );
    }
    format!(
        r#"module {{
  fn @main(%x: f32[1,1,4], %a: f32[1,{beside}]) -> (%y: f32[1,64,4], %z: f32[1,64,4], %v: f32[1,64,4], %m: f32[64], %n: f32[64], %u: f32[1,100]) opset("" = 17) {{
    %one = const f32[64] [{one}]
    %two = const f32[64] [{two}]
    %beside = const f32[{beside},100] splat(1.0)
{body}    %5 = onnx.MatMul(%a, %beside) : f32[1,100]
    return %n0, %n1, %n2, %one, %two, %5
  }}
}}"#
    )
}

fn left(options: &str, source: &str) -> usize {
    let folded = support::run_options("relax.transform.FoldBatchNorm", options, source);
    assert!(folded.starts_with("module"), "{folded}");
    folded.matches("onnx.BatchNormalization").count()
}

#[test]
fn weights_that_others_need_are_made_once_more_where_that_is_little() {
    // The weights have 512 bytes, and 1/1000 of what is beside them is less, and more.
    assert_eq!(left("", &shared_weights(10)), 2);
    assert_eq!(left("", &shared_weights(2000)), 0);
    assert_eq!(left("allow_growth = true", &shared_weights(10)), 0);
}

#[test]
fn parameters_that_others_need_do_not_have_to_go() {
    // The biases of three convolutions have 288 bytes each; an op that goes pays for 64 of them. All go or none.
    assert_eq!(left("", &shared_parameters(10)), 3);
    assert_eq!(left("", &shared_parameters(1200)), 3);
    assert_eq!(left("", &shared_parameters(2000)), 0);
    assert_eq!(left("allow_growth = true", &shared_parameters(10)), 0);
}
