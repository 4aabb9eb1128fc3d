//! Cases of `relax.transform.SimplifyExpr`: what keeps numbers within bounds.

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
fn a_max_and_a_min_are_a_clip() {
    check(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
    %c = const f32[] 0.0
    %d = const f32[] 6.0
    %0 = onnx.Max(%x, %c) : f32[2,3]
    %1 = onnx.Min(%0, %d) : f32[2,3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
                %0 = const f32[] 0.0
                %1 = const f32[] 6.0
                %2 = onnx.Clip(%x, %0, %1) : f32[2,3]
                return %2
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: i64[2,3]) -> (%y: i64[2,3]) opset("" = 17) {
    %c = const i64[] 0
    %d = const i64[] 6
    %0 = onnx.Max(%x, %c) : i64[2,3]
    %1 = onnx.Min(%0, %d) : i64[2,3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: i64[2,3]) -> (%y: i64[2,3]) opset("" = 17) {
                %0 = const i64[] 0
                %1 = const i64[] 6
                %2 = onnx.Clip(%x, %0, %1) : i64[2,3]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn bounds_one_after_another_are_one() {
    check(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
    %c = const f32[] 1.0
    %d = const f32[] 2.0
    %0 = onnx.Min(%x, %c) : f32[2,3]
    %1 = onnx.Min(%0, %d) : f32[2,3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
                %0 = const f32[] 1.0
                %1 = onnx.Min(%x, %0) : f32[2,3]
                return %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
    %c = const f32[] 0.0
    %d = const f32[] 6.0
    %0 = onnx.Clip(%x, %c) : f32[2,3]
    %1 = onnx.Min(%0, %d) : f32[2,3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
                %0 = const f32[] 0.0
                %1 = const f32[] 6.0
                %2 = onnx.Clip(%x, %0, %1) : f32[2,3]
                return %2
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
    %c = const f32[] 0.0
    %d = const f32[] 6.0
    %0 = onnx.Relu(%x) : f32[2,3]
    %1 = onnx.Min(%d, %0) : f32[2,3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
                %c = const f32[] 0.0
                %0 = const f32[] 0.0
                %1 = const f32[] 6.0
                %2 = onnx.Clip(%x, %0, %1) : f32[2,3]
                return %2
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f64[2,3]) -> (%y: f64[2,3]) opset("" = 17) {
    %c = const f64[] 0.1
    %d = const f64[] 6.0
    %0 = onnx.Clip(%x, %c) : f64[2,3]
    %1 = onnx.Clip(%0, %c, %d) : f64[2,3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f64[2,3]) -> (%y: f64[2,3]) opset("" = 17) {
                %0 = const f64[] 0.1
                %1 = const f64[] 6.0
                %2 = onnx.Clip(%x, %0, %1) : f64[2,3]
                return %2
              }
            }
        "#]],
    );
}

/// A bound that an attribute can't hold stays a constant.
#[test]
fn bounds_in_a_model_of_an_old_version() {
    check(
        r#"module {
  fn @main(%x: f64[3]) -> (%y: f64[3]) opset("" = 10) {
    %c = const f64[] 0.5
    %d = const f64[] 6.0
    %0 = onnx.Max(%x, %c) : f64[3]
    %1 = onnx.Min(%0, %d) : f64[3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f64[3]) -> (%y: f64[3]) opset("" = 10) {
                %0 = onnx.Clip(%x) {min = 0.5, max = 6.0} : f64[3]
                return %0
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f64[3]) -> (%y: f64[3]) opset("" = 10) {
    %c = const f64[] 0.1
    %d = const f64[] 6.0
    %0 = onnx.Max(%x, %c) : f64[3]
    %1 = onnx.Min(%0, %d) : f64[3]
    return %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: i64[3]) -> (%y: i64[3]) opset("" = 11) {
    %c = const i64[] 0
    %d = const i64[] 6
    %0 = onnx.Max(%x, %c) : i64[3]
    %1 = onnx.Min(%0, %d) : i64[3]
    return %1
  }
}"#,
    );
}

#[test]
fn bounds_that_others_need_or_that_stretch_stay() {
    check_stays(
        r#"module {
  fn @main(%x: f32[3]) -> (%y: f32[3], %z: f32[3]) opset("" = 17) {
    %c = const f32[] 0.5
    %d = const f32[] 6.0
    %0 = onnx.Max(%x, %c) : f32[3]
    %1 = onnx.Min(%0, %d) : f32[3]
    return %0, %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[3]) -> (%y: f32[1,3]) opset("" = 17) {
    %c = const f32[1,1] [0.5]
    %d = const f32[] 6.0
    %0 = onnx.Max(%x, %c) : f32[1,3]
    %1 = onnx.Min(%0, %d) : f32[1,3]
    return %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[3]) -> (%y: f32[3]) opset("" = 17) {
    %c = const f32[3] [0.5, 1.0, 2.0]
    %d = const f32[] 6.0
    %0 = onnx.Max(%x, %c) : f32[3]
    %1 = onnx.Min(%0, %d) : f32[3]
    return %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[3]) -> (%y: f32[3]) opset("" = 17) {
    %c = const f32[] nan
    %d = const f32[] 6.0
    %0 = onnx.Max(%x, %c) : f32[3]
    %1 = onnx.Min(%0, %d) : f32[3]
    return %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: i64[3]) -> (%y: i64[3]) opset("" = 17) {
    %c = const i64[] 9007199254740993
    %d = const i64[] 9007199254740995
    %0 = onnx.Max(%x, %c) : i64[3]
    %1 = onnx.Min(%0, %d) : i64[3]
    return %1
  }
}"#,
    );
}

/// Of floats, a Clip without a bound makes the largest number of an infinity.
#[test]
fn integers_that_have_no_others() {
    check(
        r#"module {
  fn @main(%x: u8[2,3]) -> (%y: u8[2,3]) opset("" = 17) {
    %c = const u8[] 0
    %d = const u8[] 255
    %0 = onnx.Clip(%x, %c, %d) : u8[2,3]
    %1 = onnx.Add(%0, %0) : u8[2,3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: u8[2,3]) -> (%y: u8[2,3]) opset("" = 17) {
                %0 = onnx.Add(%x, %x) : u8[2,3]
                return %0
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
    %0 = onnx.Clip(%x) : f32[2,3]
    %1 = onnx.Neg(%0) : f32[2,3]
    return %1
  }
}"#,
    );
}

#[test]
fn min_of_several() {
    check(
        r#"module {
  fn @main(%x: f32[2,3], %z: f32[2,3], %w: f32[3]) -> (%y: f32[2,3]) opset("" = 17) {
    %0 = onnx.Min(%x, %z) : f32[2,3]
    %1 = onnx.Min(%w, %0) : f32[2,3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %z: f32[2,3], %w: f32[3]) -> (%y: f32[2,3]) opset("" = 17) {
                %0 = onnx.Min(%w, %x, %z) : f32[2,3]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,3], %z: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
    %0 = onnx.Min(%x, %z, %x) : f32[2,3]
    %1 = onnx.Min(%z, %0) : f32[2,3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %z: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
                %0 = onnx.Min(%z, %x) : f32[2,3]
                return %0
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[3], %w: f32[3]) -> (%y: f32[3]) opset("" = 17) {
    %0 = onnx.Max(%x, %w) : f32[3]
    %1 = onnx.Min(%0, %w) : f32[3]
    return %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[3], %w: f32[3]) -> (%y: f32[3], %z: f32[3]) opset("" = 17) {
    %0 = onnx.Min(%x, %w) : f32[3]
    %1 = onnx.Min(%0, %w) : f32[3]
    return %0, %1
  }
}"#,
    );
}

#[test]
fn what_is_within_bounds_already() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 11) {
    %0 = onnx.Sigmoid(%x) : f32[2]
    %1 = onnx.Relu(%0) : f32[2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 11) {
                %0 = onnx.Sigmoid(%x) : f32[2]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 11) {
    %0 = onnx.Exp(%x) : f32[2]
    %1 = onnx.Abs(%0) : f32[2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 11) {
                %0 = onnx.Exp(%x) : f32[2]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 11) {
    %0 = onnx.Relu(%x) : f32[2]
    %1 = onnx.Abs(%0) : f32[2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 11) {
                %0 = onnx.Relu(%x) : f32[2]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f16[3]) -> (%y: f16[3]) opset("" = 17) {
    %c = const f16[] 0.0
    %d = const f16[] 1.0
    %0 = onnx.Sigmoid(%x) : f16[3]
    %1 = onnx.Clip(%0, %c, %d) : f16[3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f16[3]) -> (%y: f16[3]) opset("" = 17) {
                %0 = onnx.Sigmoid(%x) : f16[3]
                return %0
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[3]) -> (%y: f32[3]) opset("" = 17) {
    %c = const f32[] 0.000001
    %d = const f32[] 0.999999
    %0 = onnx.Sigmoid(%x) : f32[3]
    %1 = onnx.Clip(%0, %c, %d) : f32[3]
    return %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[3]) -> (%y: f32[3]) opset("" = 17) {
    %0 = onnx.Tanh(%x) : f32[3]
    %1 = onnx.Relu(%0) : f32[3]
    return %1
  }
}"#,
    );
}
