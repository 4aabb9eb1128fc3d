//! Cases of `relax.transform.FoldExplicitPadding`.

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.FoldExplicitPadding";

/// A module in which a 4 by 4 image is padded by 1 on all sides.
fn module(opset: i64, body: &str) -> String {
    format!(
        r#"module {{
  fn @main(%x: f32[1,1,4,4]) -> (%y: f32[1,1,n,m]) opset("" = {opset}) {{
    %w = const f32[1,1,3,3] splat(0.5)
    %pads = const i64[8] [0, 0, 1, 1, 0, 0, 1, 1]
{body}
  }}
}}"#
    )
}

#[track_caller]
fn check(body: &str, expected: Expect) {
    support::check(PASS, &module(18, body), expected);
}

#[track_caller]
fn check_stays(body: &str) {
    support::check_stays(PASS, &module(18, body));
}

#[test]
fn before_a_convolution() {
    check(
        "    %0 = onnx.Pad(%x, %pads)
    %1 = onnx.Conv(%0, %w) {auto_pad = \"VALID\", strides = [1, 1]}
    return %1",
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,4,4]) -> (%y: f32[1,1,n,m]) opset("" = 18) {
                %w = const f32[1,1,3,3] splat(0.5)
                %0 = onnx.Conv(%x, %w) {strides = [1, 1], pads = [1, 1, 1, 1]}
                return %0
              }
            }
        "#]],
    );
    // What the convolution pads itself is added; of two Pads both go; zero may be negative.
    check(
        "    %axes = const i64[1] [-1]
    %more = const i64[2] [2, 0]
    %zero = const f32[] -0.0
    %0 = onnx.Pad(%x, %more, %zero, %axes)
    %1 = onnx.Pad(%0, %pads)
    %2 = onnx.Conv(%1, %w) {pads = [0, 1, 0, 1]}
    return %2",
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,4,4]) -> (%y: f32[1,1,n,m]) opset("" = 18) {
                %w = const f32[1,1,3,3] splat(0.5)
                %0 = onnx.Conv(%x, %w) {pads = [1, 4, 1, 2]}
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn pads_that_are_an_attribute() {
    let body =
        "    %0 = onnx.Pad(%x) {mode = \"constant\", pads = [0, 0, 1, 1, 0, 0, 1, 1], value = 0.0}
    %1 = onnx.Conv(%0, %w)
    return %1";
    support::check(
        PASS,
        &module(9, body),
        expect![[r#"
        module {
          fn @main(%x: f32[1,1,4,4]) -> (%y: f32[1,1,n,m]) opset("" = 9) {
            %w = const f32[1,1,3,3] splat(0.5)
            %pads = const i64[8] [0, 0, 1, 1, 0, 0, 1, 1]
            %0 = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
            return %0
          }
        }
    "#]],
    );
    support::check_stays(
        PASS,
        &module(9, &body.replace("value = 0.0", "value = 1.0")),
    );
}

#[test]
fn all_users_or_none() {
    check(
        "    %v = const f32[1,1,2,2] splat(0.5)
    %0 = onnx.Pad(%x, %pads)
    %1 = onnx.Conv(%0, %w)
    %2 = onnx.Conv(%0, %v)
    %3 = onnx.Conv(%2, %w)
    %4 = onnx.ReduceMax(%3)
    %5 = onnx.Add(%1, %4)
    return %5",
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,4,4]) -> (%y: f32[1,1,n,m]) opset("" = 18) {
                %w = const f32[1,1,3,3] splat(0.5)
                %v = const f32[1,1,2,2] splat(0.5)
                %0 = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
                %1 = onnx.Conv(%x, %v) {pads = [1, 1, 1, 1]}
                %2 = onnx.Conv(%1, %w)
                %3 = onnx.ReduceMax(%2)
                %4 = onnx.Add(%0, %3)
                return %4
              }
            }
        "#]],
    );
    check_stays(
        "    %0 = onnx.Pad(%x, %pads)
    %1 = onnx.Conv(%0, %w)
    %2 = onnx.ReduceMax(%0)
    %3 = onnx.Add(%1, %2)
    return %3",
    );
}

#[test]
fn pads_that_no_convolution_has() {
    for (pads, pad, conv) in [
        ("[0, 0, 1, 1, 0, 0, 1, -1]", "%x, %pads)", ""),
        ("[1, 0, 1, 1, 0, 0, 1, 1]", "%x, %pads)", ""),
        (
            "[0, 0, 1, 1, 0, 0, 1, 1]",
            "%x, %pads) {mode = \"edge\"}",
            "",
        ),
        ("[0, 0, 1, 1, 0, 0, 1, 1]", "%x, %pads, %one)", ""),
        (
            "[0, 0, 1, 1, 0, 0, 1, 1]",
            "%x, %pads)",
            " {auto_pad = \"SAME_UPPER\"}",
        ),
    ] {
        let body = format!(
            "    %one = const f32[] 1.0
    %0 = onnx.Pad({pad}
    %1 = onnx.Conv(%0, %w){conv}
    return %1"
        );
        let source = module(18, &body).replace("[0, 0, 1, 1, 0, 0, 1, 1]", pads);
        let result = support::run(PASS, &source);
        assert!(result.contains("onnx.Pad(%x"), "{result}");
    }
}

#[test]
fn before_pools_that_average() {
    check(
        "    %0 = onnx.Pad(%x, %pads)
    %1 = onnx.AveragePool(%0) {kernel_shape = [2, 2]}
    %2 = onnx.Pad(%1, %pads)
    %3 = onnx.AveragePool(%2) {count_include_pad = 1, kernel_shape = [3, 3], pads = [1, 0, 1, 0]}
    return %3",
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,4,4]) -> (%y: f32[1,1,n,m]) opset("" = 18) {
                %w = const f32[1,1,3,3] splat(0.5)
                %0 = onnx.AveragePool(%x) {kernel_shape = [2, 2], pads = [1, 1, 1, 1], count_include_pad = 1}
                %1 = onnx.AveragePool(%0) {count_include_pad = 1, kernel_shape = [3, 3], pads = [2, 1, 2, 1]}
                return %1
              }
            }
        "#]],
    );
    for attrs in [
        // It counts what it pads, but not what was padded before.
        "kernel_shape = [3, 3], pads = [1, 1, 1, 1]",
        // A window more begins in what the Pad adds.
        "ceil_mode = 1, kernel_shape = [3, 3], strides = [2, 1]",
        // A whole window would be padding.
        "kernel_shape = [1, 1]",
    ] {
        check_stays(&format!(
            "    %0 = onnx.Pad(%x, %pads)
    %1 = onnx.AveragePool(%0) {{{attrs}}}
    return %1"
        ));
    }
}

#[test]
fn before_pools_that_take_the_largest() {
    check(
        "    %lowest = const f32[] -inf
    %0 = onnx.Pad(%x, %pads, %lowest)
    %1 = onnx.MaxPool(%0) {kernel_shape = [3, 3], pads = [0, 0, 1, 1]}
    return %1",
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,4,4]) -> (%y: f32[1,1,n,m]) opset("" = 18) {
                %w = const f32[1,1,3,3] splat(0.5)
                %0 = onnx.MaxPool(%x) {kernel_shape = [3, 3], pads = [1, 1, 2, 2]}
                return %0
              }
            }
        "#]],
    );
    let zeros = |first: &str, second: &str, attrs: &str| {
        format!(
            "    %0 = onnx.{first}(%x)
    %1 = onnx.Pad(%0, %pads)
    {second} = onnx.MaxPool(%1) {{kernel_shape = [2, 2]{attrs}}}
    return %2"
        )
    };
    check(
        &zeros("Relu", "%2", ""),
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,4,4]) -> (%y: f32[1,1,n,m]) opset("" = 18) {
                %w = const f32[1,1,3,3] splat(0.5)
                %0 = onnx.Relu(%x)
                %1 = onnx.MaxPool(%0) {kernel_shape = [2, 2], pads = [1, 1, 1, 1]}
                return %1
              }
            }
        "#]],
    );
    check_stays(&zeros("Neg", "%2", ""));
    check_stays(&zeros("Relu", "%2, %3", ""));
    // Both elements of a window would be padding.
    check_stays(&zeros("Relu", "%2", ", dilations = [5, 1]"));
    check_stays(&zeros("Relu", "%2", ", ceil_mode = 1, strides = [1, 3]"));
    check_stays(&zeros("Relu", "%2", ", pads = [1, 1, 1, 1]"));
}

#[test]
fn before_pools_that_round_up_to_the_same_size() {
    check(
        "    %0 = onnx.Relu(%x)
    %1 = onnx.Pad(%0, %pads)
    %2 = onnx.MaxPool(%1) {ceil_mode = 1, kernel_shape = [2, 2]}
    return %2",
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,4,4]) -> (%y: f32[1,1,n,m]) opset("" = 18) {
                %w = const f32[1,1,3,3] splat(0.5)
                %0 = onnx.Relu(%x)
                %1 = onnx.MaxPool(%0) {ceil_mode = 1, kernel_shape = [2, 2], pads = [1, 1, 1, 1]}
                return %1
              }
            }
        "#]],
    );
    check(
        "    %0 = onnx.Pad(%x, %pads)
    %1 = onnx.AveragePool(%0) {ceil_mode = 1, kernel_shape = [2, 3], strides = [2, 1]}
    return %1",
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,4,4]) -> (%y: f32[1,1,n,m]) opset("" = 18) {
                %w = const f32[1,1,3,3] splat(0.5)
                %0 = onnx.AveragePool(%x) {ceil_mode = 1, kernel_shape = [2, 3], strides = [2, 1], pads = [1, 1, 1, 1], count_include_pad = 1}
                return %0
              }
            }
        "#]],
    );
    // What is padded to 6, by windows whose elements are 2 apart.
    check(
        "    %lowest = const f32[] -inf
    %0 = onnx.Pad(%x, %pads, %lowest)
    %1 = onnx.MaxPool(%0) {ceil_mode = 1, dilations = [2, 1], kernel_shape = [3, 2], strides = [1, 2]}
    return %1",
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,4,4]) -> (%y: f32[1,1,n,m]) opset("" = 18) {
                %w = const f32[1,1,3,3] splat(0.5)
                %0 = onnx.MaxPool(%x) {ceil_mode = 1, dilations = [2, 1], kernel_shape = [3, 2], strides = [1, 2], pads = [1, 1, 1, 1]}
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn zeros_are_the_least_after_what_is_not_negative() {
    for first in [
        "onnx.Sigmoid(%x)",
        "onnx.Clip(%x, %zero, %six)",
        "onnx.Clip(%x, %zero)",
    ] {
        let body = format!(
            "    %zero = const f32[] 0.0
    %six = const f32[] 6.0
    %0 = {first}
    %1 = onnx.Pad(%0, %pads)
    %2 = onnx.MaxPool(%1) {{kernel_shape = [3, 3], strides = [2, 2]}}
    return %2"
        );
        let folded = support::run(PASS, &module(18, &body));
        assert!(folded.contains("pads = [1, 1, 1, 1]"), "{folded}");
    }
    for first in [
        "onnx.Clip(%x, %minus, %six)",
        "onnx.Clip(%x, _, %six)",
        "onnx.Clip(%x, %zero, %minus)",
        "onnx.Tanh(%x)",
    ] {
        check_stays(&format!(
            "    %zero = const f32[] 0.0
    %six = const f32[] 6.0
    %minus = const f32[] -1.0
    %0 = {first}
    %1 = onnx.Pad(%0, %pads)
    %2 = onnx.MaxPool(%1) {{kernel_shape = [3, 3]}}
    return %2"
        ));
    }
}

#[test]
fn convolutions_of_integers_pad_with_their_zero_point() {
    let source = |element: &str| {
        format!(
            r#"module {{
  fn @main(%x: u8[1,1,4,4]) -> (%y: i32[1,1,4,4], %z: u8[1,1,4,4]) opset("" = 18) {{
    %w = const u8[1,1,3,3] splat(2)
    %pads = const i64[8] [0, 0, 1, 1, 0, 0, 1, 1]
    %point = const u8[] 128
    %element = const u8[] {element}
    %scale = const f32[] 0.5
    %0 = onnx.Pad(%x, %pads, %element) : u8[1,1,6,6]
    %1 = onnx.ConvInteger(%0, %w, %point) : i32[1,1,4,4]
    %2 = onnx.QLinearConv(%0, %scale, %point, %w, %scale, %point, %scale, %point) : u8[1,1,4,4]
    return %1, %2
  }}
}}"#
        )
    };
    support::check(
        PASS,
        &source("128"),
        expect![[r#"
        module {
          fn @main(%x: u8[1,1,4,4]) -> (%y: i32[1,1,4,4], %z: u8[1,1,4,4]) opset("" = 18) {
            %w = const u8[1,1,3,3] splat(2)
            %point = const u8[] 128
            %scale = const f32[] 0.5
            %0 = onnx.ConvInteger(%x, %w, %point) {pads = [1, 1, 1, 1]} : i32[1,1,4,4]
            %1 = onnx.QLinearConv(%x, %scale, %point, %w, %scale, %point, %scale, %point) {pads = [1, 1, 1, 1]} : u8[1,1,4,4]
            return %0, %1
          }
        }
    "#]],
    );
    support::check_stays(PASS, &source("0"));
}

#[test]
fn nothing_is_padded() {
    support::check(
        PASS,
        r#"module {
  fn @main(%x: f32[n,m]) -> (%y: f32[n,m], %z: f32[n,m]) opset("" = 18) {
    %pads = const i64[4] [0, 0, 0, 0]
    %0 = onnx.Pad(%x, %pads) {mode = "reflect"} : f32[n,m]
    %1 = onnx.Neg(%0) : f32[n,m]
    %2 = onnx.Pad(%x, %pads) : f32[n,m]
    return %1, %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,m]) -> (%y: f32[n,m], %z: f32[n,m]) opset("" = 18) {
                %pads = const i64[4] [0, 0, 0, 0]
                %0 = onnx.Neg(%x) : f32[n,m]
                %1 = onnx.Pad(%x, %pads) : f32[n,m]
                return %0, %1
              }
            }
        "#]],
    );
}
