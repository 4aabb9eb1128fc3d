//! Cases of `relax.transform.SimplifyExpr`: Transposes that others stand between.

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
fn transposes_around_what_works_along_axes() {
    check(
        r#"module {
  fn @main(%x: f32[2,4,3]) -> (%y: f32[2,2,3], %z: f32[2,2,3]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %s = const i64[2] [2, 2]
    %1, %2 = onnx.Split(%0, %s) {axis = 2} : f32[2,3,2], f32[2,3,2]
    %3 = onnx.Transpose(%1) {perm = [0, 2, 1]} : f32[2,2,3]
    %4 = onnx.Transpose(%2) {perm = [0, 2, 1]} : f32[2,2,3]
    return %3, %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3]) -> (%y: f32[2,2,3], %z: f32[2,2,3]) opset("" = 17) {
                %s = const i64[2] [2, 2]
                %0, %1 = onnx.Split(%x, %s) {axis = 1} : f32[2,2,3], f32[2,2,3]
                return %0, %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,4,3]) -> (%y: f32[2,5,3]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %p = const i64[6] [0, 0, 1, 0, 0, 0]
    %1 = onnx.Pad(%0, %p) : f32[2,3,5]
    %3 = onnx.Transpose(%1) {perm = [0, 2, 1]} : f32[2,5,3]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3]) -> (%y: f32[2,5,3]) opset("" = 17) {
                %0 = const i64[6] [0, 1, 0, 0, 0, 0]
                %1 = onnx.Pad(%x, %0) : f32[2,5,3]
                return %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,4,3]) -> (%y: f32[2,1,3]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %1 = onnx.ReduceL1(%0) {axes = [-1]} : f32[2,3,1]
    %3 = onnx.Transpose(%1) {perm = [0, 2, 1]} : f32[2,1,3]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3]) -> (%y: f32[2,1,3]) opset("" = 17) {
                %0 = onnx.ReduceL1(%x) {axes = [1]} : f32[2,1,3]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,4,3]) -> (%y: i64[2,1,3]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %1 = onnx.ArgMax(%0) {axis = 2} : i64[2,3,1]
    %3 = onnx.Transpose(%1) {perm = [0, 2, 1]} : i64[2,1,3]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3]) -> (%y: i64[2,1,3]) opset("" = 17) {
                %0 = onnx.ArgMax(%x) {axis = 1} : i64[2,1,3]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: u8[2,4,3]) -> (%y: f32[2,4,3]) opset("" = 17) {
    %s = const f32[] 0.5
    %z = const u8[] 3
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : u8[2,3,4]
    %1 = onnx.DequantizeLinear(%0, %s, %z) : f32[2,3,4]
    %2 = onnx.Relu(%1) : f32[2,3,4]
    %3 = onnx.Transpose(%2) {perm = [0, 2, 1]} : f32[2,4,3]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: u8[2,4,3]) -> (%y: f32[2,4,3]) opset("" = 17) {
                %s = const f32[] 0.5
                %z = const u8[] 3
                %0 = onnx.DequantizeLinear(%x, %s, %z) : f32[2,4,3]
                %1 = onnx.Relu(%0) : f32[2,4,3]
                return %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: u8[2,4,3]) -> (%y: f32[2,4,3]) opset("" = 17) {
    %s = const f32[4] [0.5, 0.25, 1.0, 2.0]
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : u8[2,3,4]
    %1 = onnx.DequantizeLinear(%0, %s) {axis = 2} : f32[2,3,4]
    %2 = onnx.Transpose(%1) {perm = [0, 2, 1]} : f32[2,4,3]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: u8[2,4,3]) -> (%y: f32[2,4,3]) opset("" = 17) {
                %s = const f32[4] [0.5, 0.25, 1.0, 2.0]
                %0 = onnx.DequantizeLinear(%x, %s) {axis = 1} : f32[2,4,3]
                return %0
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,4,3]) -> (%y: f32[2,4,3]) opset("" = 11) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %1 = onnx.Softmax(%0) {axis = 2} : f32[2,3,4]
    %3 = onnx.Transpose(%1) {perm = [0, 2, 1]} : f32[2,4,3]
    return %3
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,4,3], %p: i64[6]) -> (%y: f32[_,_,_]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %1 = onnx.Pad(%0, %p) : f32[_,_,_]
    %2 = onnx.Transpose(%1) {perm = [0, 2, 1]} : f32[_,_,_]
    return %2
  }
}"#,
    );
}

/// What nobody transposes back keeps its Transpose.
#[test]
fn transposes_around_what_several_use() {
    check(
        r#"module {
  fn @main(%x: f32[2,4,3], %w: f32[2,4,3]) -> (%y: f32[2,4,3], %z: f32[2,4,3]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %2 = onnx.Sigmoid(%0) : f32[2,3,4]
    %3 = onnx.Tanh(%2) : f32[2,3,4]
    %4 = onnx.Neg(%2) : f32[2,3,4]
    %5 = onnx.Transpose(%4) {perm = [0, 2, 1]} : f32[2,4,3]
    %6 = onnx.Transpose(%3) {perm = [0, 2, 1]} : f32[2,4,3]
    return %5, %6
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3], %w: f32[2,4,3]) -> (%y: f32[2,4,3], %z: f32[2,4,3]) opset("" = 17) {
                %0 = onnx.Sigmoid(%x) : f32[2,4,3]
                %1 = onnx.Neg(%0) : f32[2,4,3]
                %2 = onnx.Tanh(%0) : f32[2,4,3]
                return %1, %2
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,4,3], %w: f32[2,4,3]) -> (%y: f32[2,4,3]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %1 = onnx.Transpose(%w) {perm = [0, 2, 1]} : f32[2,3,4]
    %2 = onnx.Sigmoid(%0) : f32[2,3,4]
    %3 = onnx.Tanh(%1) : f32[2,3,4]
    %4 = onnx.Add(%3, %2) : f32[2,3,4]
    %6 = onnx.Neg(%4) : f32[2,3,4]
    %5 = onnx.Transpose(%6) {perm = [0, 2, 1]} : f32[2,4,3]
    return %5
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3], %w: f32[2,4,3]) -> (%y: f32[2,4,3]) opset("" = 17) {
                %0 = onnx.Tanh(%w) : f32[2,4,3]
                %1 = onnx.Sigmoid(%x) : f32[2,4,3]
                %2 = onnx.Add(%0, %1) : f32[2,4,3]
                %3 = onnx.Neg(%2) : f32[2,4,3]
                return %3
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,4,3]) -> (%y: f32[2,4,3], %z: f32[2,3,4]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %1 = onnx.Sigmoid(%0) : f32[2,3,4]
    %2 = onnx.Tanh(%1) : f32[2,3,4]
    %3 = onnx.Neg(%1) : f32[2,3,4]
    %4 = onnx.Transpose(%3) {perm = [0, 2, 1]} : f32[2,4,3]
    return %4, %2
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,4,4]) -> (%y: f32[2,2,4], %z: f32[2,4,2]) opset("" = 17) {
    %s = const i64[2] [2, 2]
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,4,4]
    %1, %2 = onnx.Split(%0, %s) {axis = 2} : f32[2,4,2], f32[2,4,2]
    %3 = onnx.Transpose(%1) {perm = [0, 2, 1]} : f32[2,2,4]
    return %3, %2
  }
}"#,
    );
}

#[test]
fn transposes_around_what_takes_or_gives_dims() {
    check(
        r#"module {
  fn @main(%x: f32[2,1,4,3]) -> (%y: f32[2,4,3]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 1, 3, 2]} : f32[2,1,3,4]
    %a = const i64[1] [1]
    %1 = onnx.Squeeze(%0, %a) : f32[2,3,4]
    %3 = onnx.Transpose(%1) {perm = [0, 2, 1]} : f32[2,4,3]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,1,4,3]) -> (%y: f32[2,4,3]) opset("" = 17) {
                %0 = const i64[1] [1]
                %1 = onnx.Squeeze(%x, %0) : f32[2,4,3]
                return %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,4,3]) -> (%y: f32[2,1,4,3]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %a = const i64[1] [1]
    %1 = onnx.Unsqueeze(%0, %a) : f32[2,1,3,4]
    %3 = onnx.Transpose(%1) {perm = [0, 1, 3, 2]} : f32[2,1,4,3]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3]) -> (%y: f32[2,1,4,3]) opset("" = 17) {
                %0 = const i64[1] [1]
                %1 = onnx.Unsqueeze(%x, %0) : f32[2,1,4,3]
                return %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,4,3]) -> (%y: i64[2,3]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %1 = onnx.ArgMax(%0) {axis = 2, keepdims = 0} : i64[2,3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3]) -> (%y: i64[2,3]) opset("" = 17) {
                %0 = onnx.ArgMax(%x) {keepdims = 0, axis = 1} : i64[2,3]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,4,3]) -> (%y: f32[]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %1 = onnx.ReduceMax(%0) {keepdims = 0} : f32[]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3]) -> (%y: f32[]) opset("" = 17) {
                %0 = onnx.ReduceMax(%x) {keepdims = 0, axes = [0, 2, 1]} : f32[]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,4,3,5]) -> (%y: f32[4,5,2]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,3,5,4]
    %1 = onnx.ReduceMean(%0) {axes = [1], keepdims = 0} : f32[2,5,4]
    %2 = onnx.Transpose(%1) {perm = [2, 1, 0]} : f32[4,5,2]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3,5]) -> (%y: f32[4,5,2]) opset("" = 17) {
                %0 = onnx.ReduceMean(%x) {keepdims = 0, axes = [2]} : f32[2,4,5]
                %1 = onnx.Transpose(%0) {perm = [1, 2, 0]} : f32[4,5,2]
                return %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[4,3]) -> (%y: f32[4,1,3,1]) opset("" = 17) {
    %a = const i64[2] [0, 3]
    %0 = onnx.Transpose(%x) {perm = [1, 0]} : f32[3,4]
    %1 = onnx.Unsqueeze(%0, %a) : f32[1,3,4,1]
    %2 = onnx.Transpose(%1) {perm = [2, 0, 1, 3]} : f32[4,1,3,1]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,3]) -> (%y: f32[4,1,3,1]) opset("" = 17) {
                %0 = const i64[2] [1, 3]
                %1 = onnx.Unsqueeze(%x, %0) : f32[4,1,3,1]
                return %1
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,1,4,3]) -> (%y: f32[2,4,3], %z: f32[2,3,4]) opset("" = 17) {
    %a = const i64[1] [1]
    %0 = onnx.Transpose(%x) {perm = [0, 1, 3, 2]} : f32[2,1,3,4]
    %1 = onnx.Squeeze(%0, %a) : f32[2,3,4]
    %2 = onnx.Transpose(%1) {perm = [0, 2, 1]} : f32[2,4,3]
    return %2, %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,4,3,5]) -> (%y: f32[2,5,4]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,3,5,4]
    %1 = onnx.ReduceMean(%0) {axes = [1], keepdims = 0} : f32[2,5,4]
    return %1
  }
}"#,
    );
}

#[test]
fn transposes_before_a_concat() {
    check(
        r#"module {
  fn @main(%x: f32[2,4,3], %w: f32[2,3,4]) -> (%y: f32[2,8,3]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %2 = onnx.Concat(%0, %w) {axis = 2} : f32[2,3,8]
    %3 = onnx.Transpose(%2) {perm = [0, 2, 1]} : f32[2,8,3]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3], %w: f32[2,3,4]) -> (%y: f32[2,8,3]) opset("" = 17) {
                %0 = onnx.Transpose(%w) {perm = [0, 2, 1]} : f32[2,4,3]
                %1 = onnx.Concat(%x, %0) {axis = 1} : f32[2,8,3]
                return %1
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,4,3], %w: f32[2,3,4], %v: f32[2,3,4], %u: f32[2,3,4]) -> (%y: f32[2,16,3]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %1 = onnx.Concat(%0, %w, %v, %u) {axis = 2} : f32[2,3,16]
    %2 = onnx.Transpose(%1) {perm = [0, 2, 1]} : f32[2,16,3]
    return %2
  }
}"#,
    );
}

#[test]
fn an_op_of_transposes_is_transposed_once() {
    check(
        r#"module {
  fn @main(%x: f32[2,4,3], %w: f32[2,4,3]) -> (%y: f32[2,3,4]) opset("" = 17) {
    %c = const f32[] 2.0
    %d = const f32[4] [1.0, 2.0, 3.0, 4.0]
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %1 = onnx.Transpose(%w) {perm = [0, 2, 1]} : f32[2,3,4]
    %2 = onnx.Mul(%0, %0) : f32[2,3,4]
    %3 = onnx.Mul(%1, %1) : f32[2,3,4]
    %4 = onnx.Add(%2, %3) : f32[2,3,4]
    %5 = onnx.Sqrt(%4) : f32[2,3,4]
    %6 = onnx.Pow(%5, %c) : f32[2,3,4]
    %7 = onnx.Mul(%6, %d) : f32[2,3,4]
    return %7
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3], %w: f32[2,4,3]) -> (%y: f32[2,3,4]) opset("" = 17) {
                %c = const f32[] 2.0
                %d = const f32[4] [1.0, 2.0, 3.0, 4.0]
                %0 = onnx.Mul(%x, %x) : f32[2,4,3]
                %1 = onnx.Mul(%w, %w) : f32[2,4,3]
                %2 = onnx.Add(%0, %1) : f32[2,4,3]
                %3 = onnx.Transpose(%2) {perm = [0, 2, 1]} : f32[2,3,4]
                %4 = onnx.Sqrt(%3) : f32[2,3,4]
                %5 = onnx.Pow(%4, %c) : f32[2,3,4]
                %6 = onnx.Mul(%5, %d) : f32[2,3,4]
                return %6
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,4,3], %w: f32[2,4,3]) -> (%y: f32[2,3,4], %z: f32[2,3,4]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %1 = onnx.Transpose(%w) {perm = [0, 2, 1]} : f32[2,3,4]
    %2 = onnx.Mul(%0, %1) : f32[2,3,4]
    return %2, %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,4,3], %w: f32[4,3,2]) -> (%y: f32[2,3,4]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %1 = onnx.Transpose(%w) {perm = [2, 1, 0]} : f32[2,3,4]
    %2 = onnx.Mul(%0, %1) : f32[2,3,4]
    return %2
  }
}"#,
    );
}

/// For as many Transposes they go up, and don't come back: that would be without an end.
#[test]
fn an_op_of_transposes_and_others_is_transposed_once_for_fewer() {
    check(
        r#"
        module { fn @main(%x: f32[2,4,3], %u: f32[2,3,4], %v: f32[2,3,4]) -> (%y: f32[2,4,3]) opset("" = 17) {
          %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
          %1 = onnx.Max(%0, %u) : f32[2,3,4]
          %2 = onnx.Min(%1, %v) : f32[2,3,4]
          %3 = onnx.Transpose(%2) {perm = [0, 2, 1]} : f32[2,4,3]
          return %3
        } }"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3], %u: f32[2,3,4], %v: f32[2,3,4]) -> (%y: f32[2,4,3]) opset("" = 17) {
                %0 = onnx.Transpose(%u) {perm = [0, 2, 1]} : f32[2,4,3]
                %1 = onnx.Max(%x, %0) : f32[2,4,3]
                %2 = onnx.Transpose(%v) {perm = [0, 2, 1]} : f32[2,4,3]
                %3 = onnx.Min(%1, %2) : f32[2,4,3]
                return %3
              }
            }
        "#]],
    );
    check(
        r#"
        module { fn @main(%x: f32[2,4,3], %w: f32[2,4,3], %z: f32[2,4,3], %u: f32[2,3,4]) -> (%y: f32[2,3,4]) opset("" = 17) {
          %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
          %1 = onnx.Transpose(%w) {perm = [0, 2, 1]} : f32[2,3,4]
          %2 = onnx.Transpose(%z) {perm = [0, 2, 1]} : f32[2,3,4]
          %3 = onnx.Mul(%0, %u) : f32[2,3,4]
          %4 = onnx.Max(%3, %1, %2) : f32[2,3,4]
          return %4
        } }"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3], %w: f32[2,4,3], %z: f32[2,4,3], %u: f32[2,3,4]) -> (%y: f32[2,3,4]) opset("" = 17) {
                %0 = onnx.Transpose(%u) {perm = [0, 2, 1]} : f32[2,4,3]
                %1 = onnx.Mul(%x, %0) : f32[2,4,3]
                %2 = onnx.Max(%1, %w, %z) : f32[2,4,3]
                %3 = onnx.Transpose(%2) {perm = [0, 2, 1]} : f32[2,3,4]
                return %3
              }
            }
        "#]],
    );
}

#[test]
fn products_of_transposed_matrices() {
    check(
        r#"module {
  fn @main(%x: f32[2,4,3], %w: f32[2,5,4]) -> (%y: f32[2,5,3]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %1 = onnx.Transpose(%w) {perm = [0, 2, 1]} : f32[2,4,5]
    %2 = onnx.MatMul(%0, %1) : f32[2,3,5]
    %3 = onnx.Transpose(%2) {perm = [0, 2, 1]} : f32[2,5,3]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,4,3], %w: f32[2,5,4]) -> (%y: f32[2,5,3]) opset("" = 17) {
                %0 = onnx.MatMul(%w, %x) : f32[2,5,3]
                return %0
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,4,3], %w: f32[2,5,4]) -> (%y: f32[2,3,5], %z: f32[2,4,5]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[2,3,4]
    %1 = onnx.Transpose(%w) {perm = [0, 2, 1]} : f32[2,4,5]
    %2 = onnx.MatMul(%0, %1) : f32[2,3,5]
    return %2, %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[4,2,3], %w: f32[5,2,3]) -> (%y: f32[2,4,5]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [1, 0, 2]} : f32[2,4,3]
    %1 = onnx.Transpose(%w) {perm = [1, 2, 0]} : f32[2,3,5]
    %2 = onnx.MatMul(%0, %1) : f32[2,4,5]
    return %2
  }
}"#,
    );
}

/// Numbers of channels, computed and given dims of 1, are given these elsewhere.
#[test]
fn views_of_fewer_dims_between_transposes() {
    check(
        r#"
        module { fn @main(%x: f32[2,3,4,5], %b: f32[3]) -> (%y) opset("" = 17) {
          %axes = const i64[2] [0, 1]
          %u = onnx.Unsqueeze(%b, %axes) : f32[1,1,3]
          %t = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,4,5,3]
          %m = onnx.Mul(%t, %u) : f32[2,4,5,3]
          %y = onnx.Transpose(%m) {perm = [0, 3, 1, 2]} : f32[2,3,4,5]
          return %y
        } }"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3,4,5], %b: f32[3]) -> (%y) opset("" = 17) {
                %0 = const i64[4] [1, 3, 1, 1]
                %1 = onnx.Reshape(%b, %0) : f32[1,3,1,1]
                %y = onnx.Mul(%x, %1) : f32[2,3,4,5]
                return %y
              }
            }
        "#]],
    );
}

/// Numbers of rows and channels would change places.
#[test]
fn views_of_fewer_dims_that_would_turn_stay() {
    check_stays(
        r#"
        module { fn @main(%x: f32[2,3,4,5], %b: f32[20,3]) -> (%y) opset("" = 17) {
          %shape = const i64[3] [4, 5, 3]
          %u = onnx.Reshape(%b, %shape) : f32[4,5,3]
          %t = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[2,4,5,3]
          %m = onnx.Mul(%t, %u) : f32[2,4,5,3]
          %y = onnx.Transpose(%m) {perm = [0, 3, 1, 2]} : f32[2,3,4,5]
          return %y
        } }"#,
    );
}
