//! Cases of `relax.transform.RaiseOpset`: ops that are written otherwise in later versions.

use expect_test::{Expect, expect};
use passdock_plugin_api::OptionValue;

use crate::support;

#[track_caller]
fn check(to: i64, source: &str, expected: Expect) {
    expected.assert_eq(&run(to, source));
}

fn run(to: i64, source: &str) -> String {
    let options = OptionValue::Table(vec![("to".to_owned(), OptionValue::Int(to))]);
    let (pass, key) = ("relax.transform.RaiseOpset", "relax.RaiseOpset");
    support::run_saying(pass, key, options, source)
}

#[test]
fn axes_become_operands() {
    check(
        13,
        r#"module {
  fn @main(%x: f32[2,1,3]) -> (%a, %b, %c, %d, %e) opset("" = 11) {
    %a = onnx.Squeeze(%x) {axes = [-2]}
    %b = onnx.Squeeze(%x)
    %c = onnx.Unsqueeze(%x) {axes = [0, -1]}
    %d = onnx.ReduceSum(%x) {axes = [0], keepdims = 0}
    %e = onnx.ReduceMean(%x) {axes = [0]}
    return %a, %b, %c, %d, %e
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,1,3]) -> (%a, %b, %c, %d, %e) opset("" = 13) {
                %0 = const i64[1] [-2]
                %1 = const i64[2] [0, -1]
                %2 = const i64[1] [0]
                %a = onnx.Squeeze(%x, %0)
                %b = onnx.Squeeze(%x)
                %c = onnx.Unsqueeze(%x, %1)
                %d = onnx.ReduceSum(%x, %2) {keepdims = 0}
                %e = onnx.ReduceMean(%x) {axes = [0]}
                return %a, %b, %c, %d, %e
              }
            }
        "#]],
    );
}

#[test]
fn axes_of_all_reductions_become_operands_with_18() {
    check(
        18,
        r#"module {
  fn @main(%x: f32[2,1,3]) -> (%a, %b, %c) opset("" = 13) {
    %a = onnx.ReduceMean(%x) {axes = [-1], keepdims = 0}
    %b = onnx.ReduceL2(%x)
    %c = onnx.ReduceMax(%x) {axes = ints[]}
    return %a, %b, %c
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,1,3]) -> (%a, %b, %c) opset("" = 18) {
                %0 = const i64[1] [-1]
                %a = onnx.ReduceMean(%x, %0) {keepdims = 0}
                %b = onnx.ReduceL2(%x)
                %c = onnx.ReduceMax(%x)
                return %a, %b, %c
              }
            }
        "#]],
    );
}

#[test]
fn pieces_of_a_split() {
    check(
        18,
        r#"module {
  fn @main(%x: f32[4,6]) -> (%a, %b, %c, %d, %e) opset("" = 11) {
    %a, %b = onnx.Split(%x) {axis = 1, split = [2, 4]}
    %c, %d, %e = onnx.Split(%x) {axis = -1}
    return %a, %b, %c, %d, %e
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,6]) -> (%a, %b, %c, %d, %e) opset("" = 18) {
                %0 = const i64[2] [2, 4]
                %a, %b = onnx.Split(%x, %0) {axis = 1}
                %c, %d, %e = onnx.Split(%x) {axis = -1, num_outputs = 3}
                return %a, %b, %c, %d, %e
              }
            }
        "#]],
    );
}

#[test]
fn pads_and_what_is_padded_with() {
    check(
        19,
        r#"module {
  fn @main(%x: f32[4,6], %z: f64[2]) -> (%a, %b, %c, %d) opset("" = 10) {
    %a = onnx.Pad(%x) {pads = [0, 1, 0, 2]}
    %b = onnx.Pad(%x) {pads = [0, 1, 0, 2], value = 1.5}
    %c = onnx.Pad(%x) {mode = "edge", pads = [0, 1, 0, 2], value = 1.5}
    %d = onnx.Pad(%z) {mode = "constant", pads = [1, 1], value = -inf}
    return %a, %b, %c, %d
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,6], %z: f64[2]) -> (%a, %b, %c, %d) opset("" = 19) {
                %0 = const i64[4] [0, 1, 0, 2]
                %1 = const f32[] 1.5
                %2 = const i64[2] [1, 1]
                %3 = const f64[] -inf
                %a = onnx.Pad(%x, %0)
                %b = onnx.Pad(%x, %0, %1)
                %c = onnx.Pad(%x, %0) {mode = "edge"}
                %d = onnx.Pad(%z, %2, %3) {mode = "constant"}
                return %a, %b, %c, %d
              }
            }
        "#]],
    );
}

#[test]
fn bounds_of_a_clip() {
    check(
        13,
        r#"module {
  fn @main(%x: f32[4], %z: f64[2], %h: f16[2]) -> (%a, %b, %c, %d, %e) opset("" = 7) {
    %a = onnx.Clip(%x) {max = 6.0, min = 0.0}
    %b = onnx.Clip(%x) {max = 6.0}
    %c = onnx.Clip(%x)
    %d = onnx.Clip(%z) {min = 0.5}
    %e = onnx.Clip(%h)
    return %a, %b, %c, %d, %e
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4], %z: f64[2], %h: f16[2]) -> (%a, %b, %c, %d, %e) opset("" = 13) {
                %0 = const f32[] 0.0
                %1 = const f32[] 6.0
                %2 = const f32[] 6.0
                %3 = const f64[] 0.5
                %4 = const f64[] 3.4028234663852886e38
                %5 = const f16[] -inf
                %6 = const f16[] inf
                %a = onnx.Clip(%x, %0, %1)
                %b = onnx.Clip(%x, _, %2)
                %c = onnx.Clip(%x)
                %d = onnx.Clip(%z, %3, %4)
                %e = onnx.Clip(%h, %5, %6)
                return %a, %b, %c, %d, %e
              }
            }
        "#]],
    );
}

#[test]
fn parts_of_a_slice() {
    check(
        13,
        r#"module {
  fn @main(%x: f32[4,6]) -> (%a, %b) opset("" = 9) {
    %a = onnx.Slice(%x) {ends = [3, -1], starts = [1, 0]}
    %b = onnx.Slice(%x) {axes = [1], ends = [9223372036854775807], starts = [-2]}
    return %a, %b
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,6]) -> (%a, %b) opset("" = 13) {
                %0 = const i64[2] [1, 0]
                %1 = const i64[2] [3, -1]
                %2 = const i64[2] [0, 1]
                %3 = const i64[1] [-2]
                %4 = const i64[1] [9223372036854775807]
                %5 = const i64[1] [1]
                %a = onnx.Slice(%x, %0, %1, %2)
                %b = onnx.Slice(%x, %3, %4, %5)
                return %a, %b
              }
            }
        "#]],
    );
}

#[test]
fn a_softmax_of_one_axis_says_which() {
    check(
        13,
        r#"module {
  fn @main(%x: f32[2,3], %y: f32[n,4,1,1], %z: f32[*], %o: f32[2,1,1], %w: f32[n,3,0]) -> (%a, %b, %c, %d, %e, %f) opset("" = 11) {
    %a = onnx.Softmax(%x)
    %b = onnx.LogSoftmax(%y)
    %c = onnx.Hardmax(%z) {axis = -1}
    %d = onnx.Softmax(%y) {axis = -3}
    %e = onnx.Softmax(%o)
    %f = onnx.Softmax(%w)
    return %a, %b, %c, %d, %e, %f
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %y: f32[n,4,1,1], %z: f32[*], %o: f32[2,1,1], %w: f32[n,3,0]) -> (%a, %b, %c, %d, %e, %f) opset("" = 13) {
                %a = onnx.Softmax(%x) {axis = 1}
                %b = onnx.LogSoftmax(%y) {axis = 1}
                %c = onnx.Hardmax(%z) {axis = -1}
                %d = onnx.Softmax(%y) {axis = 1}
                %e = onnx.Softmax(%o) {axis = 1}
                %f = onnx.Softmax(%w) {axis = -1}
                return %a, %b, %c, %d, %e, %f
              }
            }
        "#]],
    );
}

#[test]
fn a_softmax_of_several_axes_is_one_of_a_matrix() {
    check(
        17,
        r#"module {
  fn @main(%x: f32[2,3,4], %y: f32[n,4,5], %z: f32[*]) -> (%a: f32[2,3,4], %b: f32[n,4,5], %c) opset("" = 11) {
    %a = onnx.Softmax(%x) : f32[2,3,4] loc("soft")
    %b = onnx.LogSoftmax(%y) {axis = 0} : f32[n,4,5]
    %c = onnx.Hardmax(%z)
    return %a, %b, %c
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3,4], %y: f32[n,4,5], %z: f32[*]) -> (%a: f32[2,3,4], %b: f32[n,4,5], %c) opset("" = 17) {
                %0 = const i64[3] [2, 3, 4]
                %1 = onnx.Flatten(%x) {axis = 1} : f32[2,12] loc("soft")
                %2 = onnx.Softmax(%1) {axis = -1} : f32[2,12] loc("soft")
                %a = onnx.Reshape(%2, %0) : f32[2,3,4] loc("soft")
                %3 = onnx.Flatten(%y) {axis = 0} : f32[1,n*20]
                %4 = onnx.Shape(%y) : i64[3]
                %5 = onnx.LogSoftmax(%3) {axis = -1} : f32[1,n*20]
                %b = onnx.Reshape(%5, %4) {allowzero = 1} : f32[n,4,5]
                %6 = onnx.Flatten(%z) {axis = 1} : f32[?,?]
                %7 = onnx.Shape(%z) : i64[?]
                %8 = onnx.Hardmax(%6) {axis = -1} : f32[?,?]
                %c = onnx.Reshape(%8, %7) {allowzero = 1}
                return %a, %b, %c
              }
            }
        "#]],
    );
}

#[test]
fn a_dropout_keeps_its_ratio() {
    check(
        13,
        r#"module {
  fn @main(%x: f32[4]) -> (%a, %b, %c) opset("" = 7) {
    %a = onnx.Dropout(%x) {ratio = 0.25}
    %b = onnx.Dropout(%a)
    %c, %mask = onnx.Dropout(%b) : f32[4], f32[4]
    return %a, %b, %c
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%a, %b, %c) opset("" = 13) {
                %0 = const f32[] 0.25
                %a = onnx.Dropout(%x, %0)
                %b = onnx.Dropout(%a)
                %c = onnx.Dropout(%b) : f32[4]
                return %a, %b, %c
              }
            }
        "#]],
    );
}

#[test]
fn a_mask_that_is_used_is_in_the_way() {
    let from = |opset: i64| {
        let source = format!(
            "module {{ fn @main(%x: f32[4]) -> (%a, %m) opset(\"\" = {opset}) {{ %a, %m = onnx.Dropout(%x) return %a, %m }} }}"
        );
        let said = run(22, &source);
        said.lines().next().unwrap_or_default().to_owned() + "\n"
    };
    expect![[r#"
        error[relax::opset-not-raised]: onnx.Dropout of opset 7 can't be raised to opset 22: its mask is used, and has bools from version 10 on.
        error[relax::opset-not-raised]: onnx.Dropout of opset 10 can't be raised to opset 22: its mask is used, and is all true from version 12 on.
        module {
    "#]].assert_eq(&(from(7) + &from(10) + &from(12)));
}

#[test]
fn a_batch_normalization_of_inference_stays() {
    check(
        20,
        r#"module {
  fn @main(%x: f32[2,3], %s: f32[3]) -> (%a, %b) opset("" = 7) {
    %a = onnx.BatchNormalization(%x, %s, %s, %s, %s) {epsilon = 0.001, spatial = 1}
    %b = onnx.BatchNormalization(%a, %s, %s, %s, %s) {momentum = 0.5}
    return %a, %b
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %s: f32[3]) -> (%a, %b) opset("" = 20) {
                %a = onnx.BatchNormalization(%x, %s, %s, %s, %s) {epsilon = 0.001}
                %b = onnx.BatchNormalization(%a, %s, %s, %s, %s) {momentum = 0.5}
                return %a, %b
              }
            }
        "#]],
    );
}

#[test]
fn a_resize_says_how_it_finds_places() {
    check(
        11,
        r#"module {
  fn @main(%x: f32[1,1,4,4]) -> (%a) opset("" = 10) {
    %longer = const f32[4] [1.0, 1.0, 2.0, 2.0]
    %a = onnx.Resize(%x, %longer) {mode = "linear"}
    return %a
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,4,4]) -> (%a) opset("" = 11) {
                %longer = const f32[4] [1.0, 1.0, 2.0, 2.0]
                %0 = const f32[0] []
                %a = onnx.Resize(%x, %0, %longer) {mode = "linear", coordinate_transformation_mode = "asymmetric"}
                return %a
              }
            }
        "#]],
    );
    check(
        20,
        r#"module {
  fn @main(%x: f32[1,1,4,4]) -> (%a, %b) opset("" = 10) {
    %longer = const f32[4] [1.0, 1.0, 2.0, 2.0]
    %shorter = const f32[4] [1.0, 1.0, 0.5, 0.5]
    %a = onnx.Resize(%x, %longer)
    %b = onnx.Resize(%x, %shorter)
    return %a, %b
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,4,4]) -> (%a, %b) opset("" = 20) {
                %longer = const f32[4] [1.0, 1.0, 2.0, 2.0]
                %shorter = const f32[4] [1.0, 1.0, 0.5, 0.5]
                %a = onnx.Resize(%x, _, %longer) {nearest_mode = "floor", coordinate_transformation_mode = "asymmetric"}
                %b = onnx.Resize(%x, _, %shorter) {nearest_mode = "ceil", coordinate_transformation_mode = "asymmetric"}
                return %a, %b
              }
            }
        "#]],
    );
}

#[test]
fn a_resize_with_sizes_has_no_scales_from_13_on() {
    check(
        18,
        r#"module {
  fn @main(%x: f32[1,1,4,4]) -> (%a, %b) opset("" = 11) {
    %none = const f32[0] []
    %scales = const f32[4] [1.0, 1.0, 2.0, 2.0]
    %sizes = const i64[4] [1, 1, 6, 6]
    %a = onnx.Resize(%x, %none, %none, %sizes)
    %b = onnx.Resize(%x, %none, %scales)
    return %a, %b
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,4,4]) -> (%a, %b) opset("" = 18) {
                %none = const f32[0] []
                %scales = const f32[4] [1.0, 1.0, 2.0, 2.0]
                %sizes = const i64[4] [1, 1, 6, 6]
                %a = onnx.Resize(%x, %none, _, %sizes)
                %b = onnx.Resize(%x, %none, %scales)
                return %a, %b
              }
            }
        "#]],
    );
}

#[test]
fn a_resize_that_cannot_be_said_is_in_the_way() {
    let said = |opset: i64, op: &str| {
        let source = format!(
            r#"module {{
  fn @main(%x: f32[1,1,4,4], %s: f32[4], %z: i64[4]) -> (%a) opset("" = {opset}) {{
    %both = const f32[4] [1.0, 1.0, 0.5, 2.0]
    %a = onnx.Resize(%x, {op}
    return %a
  }}
}}"#
        );
        run(20, &source)
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
            + "\n"
    };
    expect![[r#"
        error[relax::opset-not-raised]: onnx.Resize of opset 10 can't be raised to opset 20: which element is the nearest depends on its scales, and these aren't constant.
        error[relax::opset-not-raised]: onnx.Resize of opset 10 can't be raised to opset 20: one axis gets shorter and another one longer, which find the nearest element in different ways.
        error[relax::opset-not-raised]: onnx.Resize of opset 11 can't be raised to opset 20: it has scales and sizes, of which only one counts.
        error[relax::opset-not-raised]: onnx.Resize of opset 11 can't be raised to opset 20: its `coordinate_transformation_mode` is gone from version 13 on.
    "#]].assert_eq(
        &[
            said(10, "%s)"),
            said(10, "%both)"),
            said(11, "%s, %s, %z)"),
            said(
                11,
                r#"%s, %s) {coordinate_transformation_mode = "tf_half_pixel_for_nn"}"#,
            ),
        ]
        .concat(),
    );
}
