//! Cases of `relax.transform.FoldBatchNorm`.

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.FoldBatchNorm";

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check(PASS, source, expected);
}

#[track_caller]
fn check_stays(source: &str) {
    support::check_stays(PASS, source);
}

/// A module with the parameters of a BatchNormalization of two channels, which multiplies by 2 and 5 and adds -1.5
/// and -9.75.
fn module(signature: &str, opset: i64, dtype: &str, body: &str) -> String {
    format!(
        r#"module {{
  fn @main{signature} opset("" = {opset}) {{
    %scale = const {dtype}[2] [2.0, 10.0]
    %bias = const {dtype}[2] [0.5, 0.25]
    %mean = const {dtype}[2] [1.0, 2.0]
    %var = const {dtype}[2] [0.75, 3.75]
{body}
  }}
}}"#
    )
}

const CONV: &str = "    %w = const f32[2,1,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    %0 = onnx.Conv(%x, %w) : f32[1,2,2]
    %1 = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[1,2,2]
    %2 = onnx.Relu(%1) : f32[1,2,2]
    return %2";
const LINE: &str = "(%x: f32[1,1,4]) -> (%y: f32[1,2,2])";

#[test]
fn behind_a_convolution() {
    check(
        &module(LINE, 17, "f32", CONV),
        expect![[r#"
        module {
          fn @main(%x: f32[1,1,4]) -> (%y: f32[1,2,2]) opset("" = 17) {
            %0 = const f32[2,1,3] [2.0, 4.0, 6.0, 20.0, 25.0, 30.0]
            %1 = const f32[2] [-1.5, -9.75]
            %2 = onnx.Conv(%x, %0, %1) : f32[1,2,2]
            %3 = onnx.Relu(%2) : f32[1,2,2]
            return %3
          }
        }
    "#]],
    );
}

#[test]
fn a_bias_is_multiplied_too() {
    let body = CONV
        .replace("%x, %w)", "%x, %w, %b)")
        .replace("    %0", "    %b = const f32[2] [1.0, 100.0]\n    %0");
    check(
        &module(LINE, 9, "f32", &body),
        expect![[r#"
        module {
          fn @main(%x: f32[1,1,4]) -> (%y: f32[1,2,2]) opset("" = 9) {
            %0 = const f32[2,1,3] [2.0, 4.0, 6.0, 20.0, 25.0, 30.0]
            %1 = const f32[2] [0.5, 490.25]
            %2 = onnx.Conv(%x, %0, %1) : f32[1,2,2]
            %3 = onnx.Relu(%2) : f32[1,2,2]
            return %3
          }
        }
    "#]],
    );
}

#[test]
fn a_convolution_that_is_given_out() {
    let signature = "(%x: f32[1,1,4]) -> (%y: f32[1,2,2], %z: f32[1,2,2])";
    let body = CONV.replace("return %2", "return %2, %0");
    check_stays(&module(signature, 17, "f32", &body));
}

#[test]
fn one_that_is_given_out_itself() {
    let body = CONV.replace("return %2", "return %1");
    check(
        &module(LINE, 17, "f32", &body),
        expect![[r#"
        module {
          fn @main(%x: f32[1,1,4]) -> (%y: f32[1,2,2]) opset("" = 17) {
            %0 = const f32[2,1,3] [2.0, 4.0, 6.0, 20.0, 25.0, 30.0]
            %1 = const f32[2] [-1.5, -9.75]
            %2 = onnx.Conv(%x, %0, %1) : f32[1,2,2]
            %3 = onnx.Relu(%2) : f32[1,2,2]
            return %2
          }
        }
    "#]],
    );
}

#[test]
fn groups_have_channels_of_their_own() {
    check(
        &module(
            "(%x: f32[1,2,3]) -> (%y: f32[1,2,3])",
            15,
            "f32",
            "    %w = const f32[2,1,1] [1.0, 3.0]
    %0 = onnx.Conv(%x, %w) {group = 2} : f32[1,2,3]
    %1 = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[1,2,3]
    return %1",
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,3]) -> (%y: f32[1,2,3]) opset("" = 15) {
                %0 = const f32[2,1,1] [2.0, 15.0]
                %1 = const f32[2] [-1.5, -9.75]
                %2 = onnx.Conv(%x, %0, %1) {group = 2} : f32[1,2,3]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn transposed_convolutions_have_them_on_the_second_axis() {
    check(
        &module(
            "(%x: f32[1,2,2]) -> (%y: f32[1,2,3])",
            15,
            "f32",
            "    %w = const f32[2,2,2] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    %0 = onnx.ConvTranspose(%x, %w) : f32[1,2,3]
    %1 = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[1,2,3]
    return %1",
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,2]) -> (%y: f32[1,2,3]) opset("" = 15) {
                %0 = const f32[2,2,2] [2.0, 4.0, 15.0, 20.0, 10.0, 12.0, 35.0, 40.0]
                %1 = const f32[2] [-1.5, -9.75]
                %2 = onnx.ConvTranspose(%x, %0, %1) : f32[1,2,3]
                return %2
              }
            }
        "#]],
    );
    // In groups, each row of the weights is one of a group's operands.
    check(
        &module(
            "(%x: f32[1,4,1]) -> (%y: f32[1,2,1])",
            15,
            "f32",
            "    %w = const f32[4,1,1] [1.0, 2.0, 3.0, 4.0]
    %0 = onnx.ConvTranspose(%x, %w) {group = 2} : f32[1,2,1]
    %1 = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[1,2,1]
    return %1",
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[1,4,1]) -> (%y: f32[1,2,1]) opset("" = 15) {
                %0 = const f32[4,1,1] [2.0, 4.0, 15.0, 20.0]
                %1 = const f32[2] [-1.5, -9.75]
                %2 = onnx.ConvTranspose(%x, %0, %1) {group = 2} : f32[1,2,1]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn gemm_in_both_layouts_and_with_factors() {
    check(
        &module(
            "(%x: f32[n,3]) -> (%y: f32[n,2], %z: f32[n,2])",
            15,
            "f32",
            "    %w = const f32[3,2] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    %t = const f32[2,3] [1.0, 2.0, 3.0, 4.0, 5.0, 7.0]
    %c = const f32[1,2] [1.0, 2.0]
    %0 = onnx.Gemm(%x, %w, %c) {alpha = 0.5, beta = 3.0} : f32[n,2]
    %1 = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[n,2]
    %2 = onnx.Gemm(%x, %t) {transB = 1} : f32[n,2]
    %3 = onnx.BatchNormalization(%2, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[n,2]
    return %1, %3",
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[n,3]) -> (%y: f32[n,2], %z: f32[n,2]) opset("" = 15) {
                %0 = const f32[3,2] [2.0, 10.0, 6.0, 20.0, 10.0, 30.0]
                %1 = const f32[2] [4.5, 20.25]
                %2 = const f32[2,3] [2.0, 4.0, 6.0, 20.0, 25.0, 35.0]
                %3 = const f32[2] [-1.5, -9.75]
                %4 = onnx.Gemm(%x, %0, %1) {alpha = 0.5, beta = 1.0} : f32[n,2]
                %5 = onnx.Gemm(%x, %2, %3) {transB = 1} : f32[n,2]
                return %4, %5
              }
            }
        "#]],
    );
}

#[test]
fn what_gemm_adds_to_each_row_stays() {
    check_stays(&module(
        "(%x: f32[2,3]) -> (%y: f32[2,2])",
        15,
        "f32",
        "    %w = const f32[3,2] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    %c = const f32[2,1] [1.0, 2.0]
    %0 = onnx.Gemm(%x, %w, %c) : f32[2,2]
    %1 = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) : f32[2,2]
    return %1",
    ));
}

#[test]
fn a_product_of_matrices_becomes_a_gemm() {
    check(
        &module(
            "(%x: f32[n,2]) -> (%y: f32[n,2])",
            15,
            "f32",
            "    %w = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %0 = onnx.MatMul(%x, %w) : f32[n,2]
    %1 = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[n,2]
    return %1",
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[n,2]) -> (%y: f32[n,2]) opset("" = 15) {
                %0 = const f32[2,2] [2.0, 10.0, 6.0, 20.0]
                %1 = const f32[2] [-1.5, -9.75]
                %2 = onnx.Gemm(%x, %0, %1) : f32[n,2]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn a_product_of_higher_rank_has_other_channels() {
    check_stays(&module(
        "(%x: f32[n,2,2]) -> (%y: f32[n,2,2])",
        15,
        "f32",
        "    %w = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %0 = onnx.MatMul(%x, %w) : f32[n,2,2]
    %1 = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) : f32[n,2,2]
    return %1",
    ));
}

#[test]
fn types_of_other_precision() {
    for dtype in ["f16", "bf16", "f64"] {
        let (line, body) = (LINE.replace("f32", dtype), CONV.replace("f32", dtype));
        let result = support::run(PASS, &module(&line, 15, dtype, &body));
        let wanted = [
            format!("const {dtype}[2,1,3] [2.0, 4.0, 6.0, 20.0, 25.0, 30.0]"),
            format!("const {dtype}[2] [-1.5, -9.75]"),
        ];
        for wanted in wanted {
            assert!(result.contains(&wanted), "{result}");
        }
        assert!(!result.contains("BatchNormalization"), "{result}");
    }
}

#[test]
fn parameters_may_be_of_another_type() {
    let body = CONV.replace("f32", "f16");
    check(
        &module(&LINE.replace("f32", "f16"), 15, "f32", &body),
        expect![[r#"
            module {
              fn @main(%x: f16[1,1,4]) -> (%y: f16[1,2,2]) opset("" = 15) {
                %0 = const f16[2,1,3] [2.0, 4.0, 6.0, 20.0, 25.0, 30.0]
                %1 = const f16[2] [-1.5, -9.75]
                %2 = onnx.Conv(%x, %0, %1) : f16[1,2,2]
                %3 = onnx.Relu(%2) : f16[1,2,2]
                return %3
              }
            }
        "#]],
    );
}

#[test]
fn what_trains_stays() {
    let training = CONV.replace("epsilon = 0.25", "epsilon = 0.25, training_mode = 1");
    check_stays(&module(LINE, 15, "f32", &training));
    let older = CONV.replace(
        "%1 = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[1,2,2]",
        "%1, %m, %v = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[1,2,2], f32[2], f32[2]",
    );
    check_stays(&module(LINE, 9, "f32", &older));
    // Before version 7 an attribute says that it doesn't.
    check_stays(&module(LINE, 6, "f32", CONV));
    let not_spatial = CONV.replace("epsilon = 0.25", "epsilon = 0.25, spatial = 0");
    check_stays(&module(LINE, 7, "f32", &not_spatial));
}

#[test]
fn older_ones_that_do_not_train() {
    let body = CONV.replace("epsilon = 0.25", "epsilon = 0.25, is_test = 1");
    let result = support::run(PASS, &module(LINE, 6, "f32", &body));
    assert!(!result.contains("BatchNormalization"), "{result}");
}

#[test]
fn an_attribute_of_the_function_around_may_be_anything() {
    let body = CONV.replace("epsilon = 0.25", "epsilon = ref(eps, float)");
    let source = module(LINE, 15, "f32", &body);
    check_stays(&source.replace(
        "opset(\"\" = 15)",
        "opset(\"\" = 15) attributes {param eps}",
    ));
}

#[test]
fn numbers_that_no_float_can_be_stay() {
    let zero = CONV.replace("epsilon = 0.25", "epsilon = 0.0");
    let source = module(LINE, 15, "f32", &zero);
    check_stays(&source.replace("[0.75, 3.75]", "[0.0, 3.75]"));
    check_stays(&source.replace("[0.75, 3.75]", "[-1.0, 3.75]"));
    // The product has no float16.
    let half = module(
        &LINE.replace("f32", "f16"),
        15,
        "f32",
        &zero.replace("f32", "f16"),
    );
    check_stays(&half.replace("[2.0, 10.0]", "[200000.0, 10.0]"));
    // All that is left of a channel would have few digits.
    check_stays(&half.replace("[2.0, 10.0]", "[0.000001, 10.0]"));
}

#[test]
fn another_op_needs_the_weights() {
    // They are too large to be there twice.
    let (line, body) = (
        "(%x: f32[1,1,4], %z: f32[1,1,4]) -> (%y: f32[1,2,2], %other: f32[1,2,2])",
        CONV.replace(
            "const f32[2,1,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]",
            "const f32[2,1,64] splat(1.0)",
        )
        .replace(
            "return %2",
            "%3 = onnx.Conv(%z, %w) : f32[1,2,2]\n    return %2, %3",
        ),
    );
    let (line, body) = (line.replace("1,1,4", "1,1,65"), body);
    let source = module(&line, 15, "f32", &body);
    // With the parameters used elsewhere, too, nothing goes.
    check_stays(&source);
    let grown = support::run_options(PASS, "allow_growth = true", &source);
    assert!(!grown.contains("BatchNormalization"), "{grown}");
}

#[test]
fn all_that_share_weights_are_normalised_alike() {
    check(
        &module(
            "(%a: f32[1,1,4], %b: f32[1,1,4]) -> (%y: f32[1,2,2], %z: f32[1,2,2])",
            15,
            "f32",
            "    %w = const f32[2,1,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    %0 = onnx.Conv(%a, %w) : f32[1,2,2]
    %1 = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[1,2,2]
    %2 = onnx.Conv(%b, %w) : f32[1,2,2]
    %3 = onnx.BatchNormalization(%2, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[1,2,2]
    return %1, %3",
        ),
        expect![[r#"
            module {
              fn @main(%a: f32[1,1,4], %b: f32[1,1,4]) -> (%y: f32[1,2,2], %z: f32[1,2,2]) opset("" = 15) {
                %0 = const f32[2,1,3] [2.0, 4.0, 6.0, 20.0, 25.0, 30.0]
                %1 = const f32[2] [-1.5, -9.75]
                %2 = onnx.Conv(%a, %0, %1) : f32[1,2,2]
                %3 = onnx.Conv(%b, %0, %1) : f32[1,2,2]
                return %2, %3
              }
            }
        "#]],
    );
}

#[test]
fn weights_or_parameters_that_are_not_known_stay() {
    check_stays(&module(
        "(%x: f32[1,1,4], %w: f32[2,1,3]) -> (%y: f32[1,2,2])",
        15,
        "f32",
        "    %0 = onnx.Conv(%x, %w) : f32[1,2,2]
    %1 = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) : f32[1,2,2]
    return %1",
    ));
    // Whoever runs the model may give others.
    let body = CONV.replace("%mean, %var", "%mean, %v");
    let line = "(%x: f32[1,1,4], %v: f32[2] = const f32[2] [1.0, 1.0]) -> (%y: f32[1,2,2])";
    check_stays(&module(line, 15, "f32", &body));
}

#[test]
fn the_model_has_a_function_of_the_name() {
    let source = module(LINE, 15, "f32", CONV);
    let function = r#"
  fn @onnx.Conv(%x, %w) -> (%y) opset("" = 15) {
    %0 = onnx.Neg(%x)
    return %0
  }
}"#;
    let source = format!("{}{function}", source.trim_end().trim_end_matches('}'));
    check_stays(&source);
}

#[test]
fn in_a_branch_the_weights_of_the_branch() {
    let body = "    %w = const f32[2,1,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    %0 = onnx.Conv(%x, %w) : f32[1,2,2]
    %1 = onnx.If(%c) {then_branch = region, else_branch = region} : f32[1,2,2]
      region then_branch {
        %2 = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[1,2,2]
        yield %2
      }
      region else_branch {
        %3 = onnx.Conv(%x, %w) : f32[1,2,2]
        %4 = onnx.BatchNormalization(%3, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[1,2,2]
        yield %4
      }
    return %1";
    let line = "(%x: f32[1,1,4], %c: bool[]) -> (%y: f32[1,2,2])";
    check(
        &module(line, 15, "f32", body),
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,4], %c: bool[]) -> (%y: f32[1,2,2]) opset("" = 15) {
                %scale = const f32[2] [2.0, 10.0]
                %bias = const f32[2] [0.5, 0.25]
                %mean = const f32[2] [1.0, 2.0]
                %var = const f32[2] [0.75, 3.75]
                %w = const f32[2,1,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
                %0 = const f32[2,1,3] [2.0, 4.0, 6.0, 20.0, 25.0, 30.0]
                %1 = const f32[2] [-1.5, -9.75]
                %2 = onnx.Conv(%x, %w) : f32[1,2,2]
                %3 = onnx.If(%c) {then_branch = region, else_branch = region} : f32[1,2,2]
                  region then_branch {
                    %4 = onnx.BatchNormalization(%2, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[1,2,2]
                    yield %4
                  }
                  region else_branch {
                    %5 = onnx.Conv(%x, %0, %1) : f32[1,2,2]
                    yield %5
                  }
                return %3
              }
            }
        "#]],
    );
}

#[test]
fn before_weights_that_no_padding_meets() {
    let body = |attrs: &str| {
        format!(
            "    %w = const f32[1,2,1] [1.0, 3.0]
    %0 = onnx.BatchNormalization(%x, %scale, %bias, %mean, %var) {{epsilon = 0.25}} : f32[1,2,n]
    %1 = onnx.Conv(%0, %w){attrs} : f32[1,1,n]
    return %1"
        )
    };
    let line = "(%x: f32[1,2,n]) -> (%y: f32[1,1,n])";
    check(
        &module(line, 15, "f32", &body("")),
        expect![[r#"
        module {
          fn @main(%x: f32[1,2,n]) -> (%y: f32[1,1,n]) opset("" = 15) {
            %0 = const f32[1,2,1] [2.0, 15.0]
            %1 = const f32[1] [-30.75]
            %2 = onnx.Conv(%x, %0, %1) : f32[1,1,n]
            return %2
          }
        }
    "#]],
    );
    let padded = body(" {pads = [1, 1]}").replace("f32[1,1,n]", "f32[1,1,m]");
    check_stays(&module(
        "(%x: f32[1,2,n]) -> (%y: f32[1,1,m])",
        15,
        "f32",
        &padded,
    ));
    let same = body(" {auto_pad = \"SAME_UPPER\"}");
    check_stays(&module(line, 15, "f32", &same));
}

#[test]
fn what_is_behind_it_goes_into_its_parameters() {
    check(
        &module(
            "(%x: f32[1,2,n]) -> (%y: f32[1,2,n])",
            15,
            "f32",
            "    %c = const f32[2,1] [3.0, 4.0]
    %d = const f32[1,2,1] [7.0, 8.0]
    %0 = onnx.BatchNormalization(%x, %scale, %bias, %mean, %var) : f32[1,2,n]
    %1 = onnx.Mul(%0, %c) : f32[1,2,n]
    %2 = onnx.Add(%d, %1) : f32[1,2,n]
    return %2",
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 15) {
                %mean = const f32[2] [1.0, 2.0]
                %var = const f32[2] [0.75, 3.75]
                %0 = const f32[2] [8.5, 9.0]
                %1 = const f32[2] [6.0, 40.0]
                %2 = onnx.BatchNormalization(%x, %1, %0, %mean, %var) : f32[1,2,n]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn the_same_for_all_channels_is_a_product_and_a_sum() {
    check(
        r#"module {
  fn @main(%x: f32[1,500,n]) -> (%y: f32[1,500,n]) opset("" = 9) {
    %list = const i64[1] [500]
    %p = onnx.ConstantOfShape(%list) {value = tensor f32[1] [4.0]} : f32[500]
    %q = onnx.Unsqueeze(%p) {axes = [1]} : f32[500,1]
    %0 = onnx.BatchNormalization(%x, %p, %p, %p, %p) {epsilon = 0.0} : f32[1,500,n]
    %1 = onnx.Mul(%0, %q) : f32[1,500,n]
    %2 = onnx.Add(%1, %q) : f32[1,500,n]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,500,n]) -> (%y: f32[1,500,n]) opset("" = 9) {
                %0 = const f32[] 8.0
                %1 = const f32[] -12.0
                %2 = onnx.Mul(%x, %0) : f32[1,500,n]
                %3 = onnx.Add(%2, %1) : f32[1,500,n]
                return %3
              }
            }
        "#]],
    );
}

#[test]
fn splats_stay_splats() {
    check(
        r#"module {
  fn @main(%x: f32[1,3,n,m]) -> (%y: f32[1,500,n,m], %z: f32[1,500,n,m]) opset("" = 9) {
    %list = const i64[1] [500]
    %sizes = const i64[4] [500, 3, 1, 1]
    %w = onnx.ConstantOfShape(%sizes) {value = tensor f32[1] [0.5]} : f32[500,3,1,1]
    %p = onnx.ConstantOfShape(%list) {value = tensor f32[1] [4.0]} : f32[500]
    %0 = onnx.Conv(%x, %w) : f32[1,500,n,m]
    %1 = onnx.BatchNormalization(%0, %p, %p, %p, %p) {epsilon = 0.0} : f32[1,500,n,m]
    %2 = onnx.Neg(%x) : f32[1,3,n,m]
    %3 = onnx.Conv(%2, %w) : f32[1,500,n,m]
    %4 = onnx.BatchNormalization(%3, %p, %p, %p, %p) {epsilon = 0.0} : f32[1,500,n,m]
    return %1, %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,3,n,m]) -> (%y: f32[1,500,n,m], %z: f32[1,500,n,m]) opset("" = 9) {
                %sizes = const i64[4] [500, 3, 1, 1]
                %0 = const i64[1] [500]
                %1 = onnx.ConstantOfShape(%0) {value = tensor f32[1] [-4.0]} : f32[500]
                %2 = onnx.ConstantOfShape(%sizes) {value = tensor f32[1] [1.0]} : f32[500,3,1,1]
                %3 = onnx.Conv(%x, %2, %1) : f32[1,500,n,m]
                %4 = onnx.Neg(%x) : f32[1,3,n,m]
                %5 = onnx.Conv(%4, %2, %1) : f32[1,500,n,m]
                return %3, %5
              }
            }
        "#]],
    );
}
