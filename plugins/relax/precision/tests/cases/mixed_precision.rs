//! Cases of `relax.transform.ToMixedPrecision`: which ops are computed in the smaller type.

use expect_test::{Expect, expect};
use passdock_plugin_api::OptionValue;

use crate::support;

pub(crate) const PASS: &str = "relax.transform.ToMixedPrecision";

/// An image, weights of two convolutions as inputs and a matrix; all types are inferred.
pub(crate) fn module(results: &str, opset: u32, body: &str) -> String {
    let text = format!(
        r#"module {{
  fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> ({results}) opset("" = {opset}) {{
{body}
  }}
}}"#
    );
    support::run("relax.transform.InferType", &text)
}

const IMAGE: &str = "%y: f32[1,2,4,4]";

#[track_caller]
fn check(results: &str, body: &str, expected: Expect) {
    support::check(PASS, &module(results, 17, body), expected);
}

#[track_caller]
fn check_stays(results: &str, body: &str) {
    support::check_stays(PASS, &module(results, 17, body));
}

#[test]
fn a_convolution_is_computed_in_the_smaller_type() {
    check(
        IMAGE,
        "    %0 = onnx.Conv(%x, %w)
    return %0",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
                %0 = onnx.Cast(%x) {to = 10} : f16[1,2,4,4]
                %1 = onnx.Cast(%w) {to = 10} : f16[2,2,1,1]
                %2 = onnx.Conv(%0, %1) : f16[1,2,4,4]
                %3 = onnx.Cast(%2) {to = 1} : f32[1,2,4,4]
                return %3
              }
            }
        "#]],
    );
    // What it is of has another type already, or one that isn't known.
    check_stays(
        "%y: f64[1,2,4,4]",
        "    %0 = onnx.Cast(%x) {to = 11}
    %1 = onnx.Cast(%w) {to = 11}
    %2 = onnx.Conv(%0, %1)
    return %2",
    );
    check_stays(
        "%y: f32[*]",
        "    %0 = acme.Filter(%x)
    %1 = onnx.Conv(%x, %0)
    return %1",
    );
}

#[test]
fn what_follows_it_follows() {
    check(
        IMAGE,
        "    %0 = onnx.Relu(%x)
    %1 = onnx.Conv(%0, %w)
    %2 = onnx.Relu(%1)
    %3 = onnx.Conv(%2, %v)
    return %3",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
                %0 = onnx.Cast(%w) {to = 10} : f16[2,2,1,1]
                %1 = onnx.Cast(%v) {to = 10} : f16[2,2,1,1]
                %2 = onnx.Relu(%x) : f32[1,2,4,4]
                %3 = onnx.Cast(%2) {to = 10} : f16[1,2,4,4]
                %4 = onnx.Conv(%3, %0) : f16[1,2,4,4]
                %5 = onnx.Relu(%4) : f16[1,2,4,4]
                %6 = onnx.Conv(%5, %1) : f16[1,2,4,4]
                %7 = onnx.Cast(%6) {to = 1} : f32[1,2,4,4]
                return %7
              }
            }
        "#]],
    );
    check_stays(
        IMAGE,
        "    %0 = onnx.Relu(%x)
    %1 = onnx.Softmax(%0)
    return %1",
    );
}

#[test]
fn what_never_is_stays() {
    check(
        IMAGE,
        "    %0 = onnx.Conv(%x, %w)
    %1 = onnx.Softmax(%x)
    %2 = onnx.Add(%0, %1)
    %3 = onnx.Exp(%2)
    return %3",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
                %0 = onnx.Cast(%x) {to = 10} : f16[1,2,4,4]
                %1 = onnx.Cast(%w) {to = 10} : f16[2,2,1,1]
                %2 = onnx.Conv(%0, %1) : f16[1,2,4,4]
                %3 = onnx.Cast(%2) {to = 1} : f32[1,2,4,4]
                %4 = onnx.Softmax(%x) : f32[1,2,4,4]
                %5 = onnx.Add(%3, %4) : f32[1,2,4,4]
                %6 = onnx.Exp(%5) : f32[1,2,4,4]
                return %6
              }
            }
        "#]],
    );
}

#[test]
fn products_sums_and_several_results() {
    check(
        "%y: f32[n,1]",
        "    %b = const f32[2] [0.5, -0.5]
    %k = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %0 = onnx.Concat(%m, %m) {axis = 0}
    %1 = onnx.Gemm(%0, %k, %b)
    %2 = onnx.Sigmoid(%1)
    %3 = onnx.Mul(%1, %2)
    %s = const i64[2] [1, 1]
    %4, %5 = onnx.Split(%3, %s) {axis = 1}
    %6 = onnx.Add(%4, %5)
    return %6",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[n,1]) opset("" = 17) {
                %s = const i64[2] [1, 1]
                %k = const f16[2,2] [1.0, 2.0, 3.0, 4.0]
                %b = const f16[2] [0.5, -0.5]
                %0 = onnx.Concat(%m, %m) {axis = 0} : f32[n*2,2]
                %1 = onnx.Cast(%0) {to = 10} : f16[n*2,2]
                %2 = onnx.Gemm(%1, %k, %b) : f16[n*2,2]
                %3 = onnx.Sigmoid(%2) : f16[n*2,2]
                %4 = onnx.Mul(%2, %3) : f16[n*2,2]
                %5, %6 = onnx.Split(%4, %s) {axis = 1} : f16[n*2,1], f16[n*2,1]
                %7 = onnx.Add(%5, %6) : f16[n*2,1]
                %8 = onnx.Cast(%7) {to = 1} : f32[n*2,1]
                return %8
              }
            }
        "#]],
    );
}

#[test]
fn what_is_of_the_smaller_type_already_stays() {
    check_stays(
        "%y: f16[n,2]",
        "    %0 = onnx.Cast(%m) {to = 10}
    %1 = onnx.Transpose(%0) {perm = [1, 0]}
    %2 = onnx.MatMul(%0, %1)
    %3 = onnx.MatMul(%2, %0)
    return %3",
    );
}

#[test]
fn operands_of_other_types_stay() {
    check(
        IMAGE,
        "    %0 = onnx.Conv(%x, %w)
    %from = const i64[1] [0]
    %to = const i64[1] [4]
    %1 = onnx.Slice(%0, %from, %to, %from)
    %s = const f32[4] [1.0, 1.0, 1.0, 1.0]
    %none = const f32[0] []
    %2 = onnx.Resize(%1, %none, %s)
    %size = onnx.Shape(%2)
    %3 = onnx.Reshape(%2, %size)
    return %3",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
                %from = const i64[1] [0]
                %to = const i64[1] [4]
                %s = const f32[4] [1.0, 1.0, 1.0, 1.0]
                %none = const f32[0] []
                %0 = onnx.Cast(%x) {to = 10} : f16[1,2,4,4]
                %1 = onnx.Cast(%w) {to = 10} : f16[2,2,1,1]
                %2 = onnx.Conv(%0, %1) : f16[1,2,4,4]
                %3 = onnx.Slice(%2, %from, %to, %from) : f16[1,2,4,4]
                %4 = onnx.Resize(%3, %none, %s) : f16[1,2,4,4]
                %size = onnx.Shape(%4) : i64[4]
                %5 = onnx.Reshape(%4, %size) : f16[1,2,4,4]
                %6 = onnx.Cast(%5) {to = 1} : f32[1,2,4,4]
                return %6
              }
            }
        "#]],
    );
}

#[test]
fn what_a_version_does_not_take_stays() {
    let source = module(
        IMAGE,
        17,
        "    %0 = onnx.Conv(%x, %w)
    %1 = onnx.Relu(%0)
    return %1",
    );
    let bfloat16 = OptionValue::String("bfloat16".to_owned());
    let options = OptionValue::Table(vec![("dtype".to_owned(), bfloat16)]);
    let said = support::run_saying(PASS, "relax.ToMixedPrecision", options, &source);
    expect![[r#"
        note[relax::precision-opset]: Ops of `Conv` stay in float32: they take bfloat16 from opset 22 on, and this function means 17.
         --> test.ir:3:10
          |
        3 |     %0 = onnx.Conv(%x, %w) : f32[1,2,4,4]
          |          ^^^^^^^^^
          |
          = in pass relax.transform.ToMixedPrecision of plugin relax, function @main, op0 (onnx.Conv)
          = help: `relax.transform.RaiseOpset` with `to = 22` raises it.
        module {
          fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
            %0 = onnx.Conv(%x, %w) : f32[1,2,4,4]
            %1 = onnx.Relu(%0) : f32[1,2,4,4]
            return %1
          }
        }
    "#]].assert_eq(&said);
    // Casts know it from opset 13 on only.
    let source = module(
        "%y: f32[n,n]",
        12,
        "    %0 = onnx.Transpose(%m) {perm = [1, 0]}\n    %1 = onnx.MatMul(%m, %0)\n    return %1",
    );
    assert_eq!(
        support::run_options(PASS, "dtype = \"bfloat16\"", &source),
        source
    );
}

#[test]
fn regions_give_and_take_float32() {
    check(
        IMAGE,
        "    %c = const bool[] true
    %0 = onnx.Conv(%x, %w)
    %1 = onnx.If(%c) {then_branch = region, else_branch = region} : f32[1,2,4,4]
      region then_branch {
        %2 = onnx.Conv(%0, %v)
        %3 = onnx.Relu(%2)
        yield %3
      }
      region else_branch {
        %4 = onnx.Exp(%0)
        yield %4
      }
    %5 = onnx.Relu(%1)
    return %5",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
                %c = const bool[] true
                %0 = onnx.Cast(%x) {to = 10} : f16[1,2,4,4]
                %1 = onnx.Cast(%w) {to = 10} : f16[2,2,1,1]
                %2 = onnx.Cast(%v) {to = 10} : f16[2,2,1,1]
                %3 = onnx.Conv(%0, %1) : f16[1,2,4,4]
                %4 = onnx.Cast(%3) {to = 1} : f32[1,2,4,4]
                %5 = onnx.If(%c) {then_branch = region, else_branch = region} : f32[1,2,4,4]
                  region then_branch {
                    %6 = onnx.Conv(%3, %2) : f16[1,2,4,4]
                    %7 = onnx.Relu(%6) : f16[1,2,4,4]
                    %8 = onnx.Cast(%7) {to = 1} : f32[1,2,4,4]
                    yield %8
                  }
                  region else_branch {
                    %9 = onnx.Exp(%4) : f32[1,2,4,4]
                    yield %9
                  }
                %10 = onnx.Relu(%5) : f32[1,2,4,4]
                return %10
              }
            }
        "#]],
    );
}

#[test]
fn what_a_loop_carries_is_float32() {
    check(
        "%y: f32[n,2]",
        "    %trips = const i64[] 3
    %go = const bool[] true
    %k = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %0 = onnx.MatMul(%m, %k)
    %1 = onnx.Loop(%trips, %go, %0) {body = region} : f32[n,2]
      region body(%i: i64[], %c: bool[], %a: f32[n,2]) {
        %2 = onnx.MatMul(%a, %k)
        %3 = onnx.Add(%2, %0)
        yield %c, %3
      }
    return %1",
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4], %w: f32[2,2,1,1], %v: f32[2,2,1,1], %m: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
                %trips = const i64[] 3
                %go = const bool[] true
                %k = const f16[2,2] [1.0, 2.0, 3.0, 4.0]
                %0 = onnx.Cast(%m) {to = 10} : f16[n,2]
                %1 = onnx.MatMul(%0, %k) : f16[n,2]
                %2 = onnx.Cast(%1) {to = 1} : f32[n,2]
                %3 = onnx.Loop(%trips, %go, %2) {body = region} : f32[n,2]
                  region body(%i: i64[], %c: bool[], %a: f32[n,2]) {
                    %4 = onnx.Cast(%a) {to = 10} : f16[n,2]
                    %5 = onnx.MatMul(%4, %k) : f16[n,2]
                    %6 = onnx.Add(%5, %1) : f16[n,2]
                    %7 = onnx.Cast(%6) {to = 1} : f32[n,2]
                    yield %c, %7
                  }
                return %3
              }
            }
        "#]],
    );
}

#[test]
fn functions_give_and_take_float32() {
    support::check(
        PASS,
        r#"module {
  fn @main(%x: f32[2,2]) -> (%y: f32[2,2]) opset("" = 17, "acme" = 1) {
    %0 = onnx.MatMul(%x, %x) : f32[2,2]
    %1 = acme.Square(%0) : f32[2,2]
    return %1
  }
  fn @acme.Square(%a: f32[2,2]) -> (%r: f32[2,2]) opset("" = 17) {
    %0 = onnx.MatMul(%a, %a) : f32[2,2]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,2]) -> (%y: f32[2,2]) opset("" = 17, "acme" = 1) {
                %0 = onnx.Cast(%x) {to = 10} : f16[2,2]
                %1 = onnx.MatMul(%0, %0) : f16[2,2]
                %2 = onnx.Cast(%1) {to = 1} : f32[2,2]
                %3 = acme.Square(%2) : f32[2,2]
                return %3
              }
              fn @acme.Square(%a: f32[2,2]) -> (%r: f32[2,2]) opset("" = 17) {
                %0 = onnx.Cast(%a) {to = 10} : f16[2,2]
                %1 = onnx.MatMul(%0, %0) : f16[2,2]
                %2 = onnx.Cast(%1) {to = 1} : f32[2,2]
                return %2
              }
            }
        "#]],
    );
    // One that has the operator's name may be meant.
    support::check_stays(
        PASS,
        r#"module {
  fn @main(%x: f32[2,2]) -> (%y: f32[2,2]) opset("" = 17) {
    %0 = onnx.MatMul(%x, %x) : f32[2,2]
    return %0
  }
  fn @onnx.MatMul(%a: f32[2,2], %b: f32[2,2]) -> (%r: f32[2,2]) opset("" = 17) {
    %0 = onnx.Add(%a, %b) : f32[2,2]
    return %0
  }
}"#,
    );
}

#[test]
fn what_is_between_quantized_values_stays() {
    // Weights alone may be quantized, or what an op makes, or all of it.
    check_stays(
        IMAGE,
        r"    %s = const f32[] 0.5
    %q = const i8[2,2,1,1] [1, 2, 3, 4]
    %d = onnx.DequantizeLinear(%q, %s)
    %0 = onnx.Conv(%x, %d)
    %1 = onnx.Relu(%0)
    return %1",
    );
    check_stays(
        "%y: u8[1,2,4,4]",
        r"    %s = const f32[] 0.5
    %z = const u8[] 0
    %0 = onnx.QuantizeLinear(%x, %s, %z)
    %1 = onnx.DequantizeLinear(%0, %s, %z)
    %2 = onnx.Relu(%1)
    %3 = onnx.Conv(%2, %w)
    %4 = onnx.QuantizeLinear(%3, %s, %z)
    return %4",
    );
}

#[test]
fn what_scatters_and_reduces_stays() {
    let dtype = |operator: &str, indices: &str, attrs: &str| {
        let body = format!(
            "    %k = const f32[2,2] [1.0, 0.0, 0.0, 1.0]
    %i = const {indices}
    %u = const f32[1,2] [1.0, 2.0]
    %0 = onnx.MatMul(%m, %k)
    %1 = onnx.{operator}(%0, %i, %u){attrs}
    return %1"
        );
        let after = support::run(PASS, &module("%y: f32[n,2]", 18, &body));
        assert!(after.contains("onnx.MatMul(%0, %k) : f16"), "{after}");
        let mut lines = after.lines();
        let line = lines
            .find(|line| line.contains(operator))
            .expect("it is there");
        line.split(" : ").last().unwrap_or_default().to_owned()
    };
    for (operator, indices) in [
        ("ScatterND", "i64[1,1] [0]"),
        ("ScatterElements", "i64[1,2] [0, 0]"),
    ] {
        for reduction in ["add", "mul", "max", "min"] {
            let attrs = format!(" {{reduction = \"{reduction}\"}}");
            assert_eq!(dtype(operator, indices, &attrs), "f32[n,2]", "{reduction}");
        }
        for attrs in ["", " {reduction = \"none\"}"] {
            assert_eq!(dtype(operator, indices, attrs), "f16[n,2]");
        }
    }
}
