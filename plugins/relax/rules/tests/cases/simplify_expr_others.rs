//! Cases of `relax.transform.SimplifyExpr`: views, sequences, recurrent ops, quantisation, and Resizes.

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
fn sequences_of_what_is_split() {
    check(
        r#"module {
  fn @main(%x: f32[4,3]) -> (%y: f32[2,3], %z: f32[2,3]) opset("" = 17) {
    %s = const i64[] 2
    %i = const i64[] 0
    %j = const i64[] 1
    %0 = onnx.SplitToSequence(%x, %s) : seq<f32[2,3]>
    %1 = onnx.SequenceAt(%0, %i) : f32[2,3]
    %2 = onnx.SequenceAt(%0, %j) : f32[2,3]
    return %1, %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,3]) -> (%y: f32[2,3], %z: f32[2,3]) opset("" = 17) {
                %0 = const i64[2] [2, 2]
                %1, %2 = onnx.Split(%x, %0) {axis = 0} : f32[2,3], f32[2,3]
                return %1, %2
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[4,3]) -> (%y: f32[4,3]) opset("" = 17) {
    %s = const i64[] 2
    %0 = onnx.SplitToSequence(%x, %s) : seq<f32[2,3]>
    %1 = onnx.ConcatFromSequence(%0) {axis = 0} : f32[4,3]
    %2 = onnx.Neg(%1) : f32[4,3]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,3]) -> (%y: f32[4,3]) opset("" = 17) {
                %0 = onnx.Neg(%x) : f32[4,3]
                return %0
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[4,3], %s: i64[]) -> (%y: f32[_,3]) opset("" = 17) {
    %0 = onnx.SplitToSequence(%x, %s) : seq<f32[_,3]>
    %1 = onnx.ConcatFromSequence(%0) {axis = 0} : f32[_,3]
    return %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[4,4]) -> (%y: f32[2,8]) opset("" = 17) {
    %s = const i64[] 2
    %0 = onnx.SplitToSequence(%x, %s) : seq<f32[2,4]>
    %1 = onnx.ConcatFromSequence(%0) {axis = 1} : f32[2,8]
    return %1
  }
}"#,
    );
}

#[test]
fn sequences_of_tensors() {
    check(
        r#"module {
  fn @main(%x: f32[3]) -> (%y: f32[1,3]) opset("" = 17) {
    %0 = onnx.SequenceConstruct(%x) : seq<f32[3]>
    %1 = onnx.ConcatFromSequence(%0) {axis = 0, new_axis = 1} : f32[1,3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[3]) -> (%y: f32[1,3]) opset("" = 17) {
                %0 = const i64[1] [0]
                %1 = onnx.Unsqueeze(%x, %0) : f32[1,3]
                return %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[3]) -> (%y: i64[]) opset("" = 17) {
    %0 = onnx.SequenceConstruct(%x, %x) : seq<f32[3]>
    %1 = onnx.SequenceLength(%0) : i64[]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[3]) -> (%y: i64[]) opset("" = 17) {
                %0 = const i64[] 2
                %1 = onnx.Identity(%0) : i64[]
                return %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[3], %w: f32[3]) -> (%y: f32[3]) opset("" = 17) {
    %i = const i64[] 1
    %0 = onnx.SequenceConstruct(%x) : seq<f32[3]>
    %1 = onnx.SequenceInsert(%0, %w) : seq<f32[3]>
    %2 = onnx.SequenceAt(%1, %i) : f32[3]
    %3 = onnx.Neg(%2) : f32[3]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[3], %w: f32[3]) -> (%y: f32[3]) opset("" = 17) {
                %0 = onnx.Neg(%w) : f32[3]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[3], %w: f32[3]) -> (%y: f32[6]) opset("" = 17) {
    %0 = onnx.SequenceEmpty() : seq<f32[*]>
    %1 = onnx.SequenceInsert(%0, %x) : seq<f32[*]>
    %2 = onnx.SequenceInsert(%1, %w) : seq<f32[*]>
    %3 = onnx.ConcatFromSequence(%2) {axis = 0} : f32[6]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[3], %w: f32[3]) -> (%y: f32[6]) opset("" = 17) {
                %0 = onnx.Concat(%x, %w) {axis = 0} : f32[6]
                return %0
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[3], %w: f32[3]) -> (%y: f32[2,3]) opset("" = 17) {
    %0 = onnx.SequenceConstruct(%x, %w) : seq<f32[3]>
    %1 = onnx.ConcatFromSequence(%0) {axis = 0, new_axis = 1} : f32[2,3]
    return %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[3], %i: i64[]) -> (%y: seq<f32[3]>) opset("" = 17) {
    %0 = onnx.SequenceConstruct(%x) : seq<f32[3]>
    %1 = onnx.SequenceInsert(%0, %x, %i) : seq<f32[3]>
    return %1
  }
}"#,
    );
}

/// A -0.0 is another number.
#[test]
fn initial_states_of_zeros() {
    check(
        r#"module {
  fn @main(%x: f32[4,n,3]) -> (%y: f32[4,1,n,2], %h: f32[1,n,2]) opset("" = 17) {
    %w = const f32[1,6,3] [1.0, 2.0, 3.0,1.0, 2.0, 3.0,1.0, 2.0, 3.0,1.0, 2.0, 3.0,1.0, 2.0, 3.0,1.0, 2.0, 3.0]
    %r = const f32[1,6,2] [1.0, 2.0, 1.0, 2.0,1.0, 2.0,1.0, 2.0,1.0, 2.0,1.0, 2.0]
    %one = const i64[1] [1]
    %two = const i64[1] [2]
    %0 = onnx.Shape(%x) {start = 1, end = 2} : i64[1]
    %1 = onnx.Concat(%one, %0, %two) {axis = 0} : i64[3]
    %2 = onnx.ConstantOfShape(%1) : f32[1,n,2]
    %3, %4 = onnx.GRU(%x, %w, %r, _, _, %2) {hidden_size = 2} : f32[4,1,n,2], f32[1,n,2]
    return %3, %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,n,3]) -> (%y: f32[4,1,n,2], %h: f32[1,n,2]) opset("" = 17) {
                %w = const f32[1,6,3] [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0]
                %r = const f32[1,6,2] [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]
                %0, %1 = onnx.GRU(%x, %w, %r) {hidden_size = 2} : f32[4,1,n,2], f32[1,n,2]
                return %0, %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[4,n,3]) -> (%y: f32[4,1,n,2], %h: f32[1,n,2]) opset("" = 17) {
    %w = const f32[1,8,3] [1.0, 2.0, 3.0,1.0, 2.0, 3.0,1.0, 2.0, 3.0,1.0, 2.0, 3.0,1.0, 2.0, 3.0,1.0, 2.0, 3.0,1.0, 2.0, 3.0,1.0, 2.0, 3.0]
    %r = const f32[1,8,2] [1.0, 2.0, 1.0, 2.0,1.0, 2.0,1.0, 2.0,1.0, 2.0,1.0, 2.0,1.0, 2.0,1.0, 2.0]
    %one = const i64[1] [1]
    %two = const i64[1] [2]
    %z = const f32[] 0.0
    %0 = onnx.Shape(%x) {start = 1, end = 2} : i64[1]
    %1 = onnx.Concat(%one, %0, %two) {axis = 0} : i64[3]
    %2 = onnx.Expand(%z, %1) : f32[1,n,2]
    %3, %4 = onnx.LSTM(%x, %w, %r, _, _, %2, %2) {hidden_size = 2} : f32[4,1,n,2], f32[1,n,2]
    return %3, %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,n,3]) -> (%y: f32[4,1,n,2], %h: f32[1,n,2]) opset("" = 17) {
                %w = const f32[1,8,3] [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0]
                %r = const f32[1,8,2] [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]
                %0, %1 = onnx.LSTM(%x, %w, %r) {hidden_size = 2} : f32[4,1,n,2], f32[1,n,2]
                return %0, %1
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[4,n,3]) -> (%y: f32[4,1,n,2], %h: f32[1,n,2]) opset("" = 17) {
    %w = const f32[1,6,3] [1.0, 2.0, 3.0,1.0, 2.0, 3.0,1.0, 2.0, 3.0,1.0, 2.0, 3.0,1.0, 2.0, 3.0,1.0, 2.0, 3.0]
    %r = const f32[1,6,2] [1.0, 2.0, 1.0, 2.0,1.0, 2.0,1.0, 2.0,1.0, 2.0,1.0, 2.0]
    %one = const i64[1] [1]
    %two = const i64[1] [2]
    %0 = onnx.Shape(%x) {start = 1, end = 2} : i64[1]
    %1 = onnx.Concat(%one, %0, %two) {axis = 0} : i64[3]
    %2 = onnx.ConstantOfShape(%1) {value = tensor f32[1] [-0.0]} : f32[1,n,2]
    %3, %4 = onnx.GRU(%x, %w, %r, _, _, %2) {hidden_size = 2} : f32[4,1,n,2], f32[1,n,2]
    return %3, %4
  }
}"#,
    );
}

#[test]
fn ops_between_dequantize_and_quantize_stay() {
    check_stays(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y: f32[3,2], %i: i64[2,1]) opset("" = 17) {
    %s = const f32[] 0.5
    %z = const i8[] 3
    %0 = onnx.Sigmoid(%x) : f32[2,3]
    %1 = onnx.QuantizeLinear(%0, %s, %z) : i8[2,3]
    %2 = onnx.DequantizeLinear(%1, %s, %z) : f32[2,3]
    %3 = onnx.Transpose(%2) {perm = [1, 0]} : f32[3,2]
    %4 = onnx.QuantizeLinear(%3, %s, %z) : i8[3,2]
    %5 = onnx.DequantizeLinear(%4, %s, %z) : f32[3,2]
    %6 = onnx.Tanh(%5) : f32[3,2]
    %7 = onnx.ArgMax(%2) {axis = 1} : i64[2,1]
    return %6, %7
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: u8[2,3], %w: u8[2,3]) -> (%y: u8[12]) opset("" = 17) {
    %s = const f32[] 0.5
    %z = const u8[] 3
    %h = const i64[1] [-1]
    %0 = onnx.DequantizeLinear(%x, %s, %z) : f32[2,3]
    %1 = onnx.DequantizeLinear(%w, %s, %z) : f32[2,3]
    %2 = onnx.Concat(%0, %1) {axis = 0} : f32[4,3]
    %3 = onnx.Reshape(%2, %h) : f32[12]
    %4 = onnx.QuantizeLinear(%3, %s, %z) : u8[12]
    return %4
  }
}"#,
    );
}

#[test]
fn resizes_to_the_size_that_is_there() {
    check(
        r#"module {
  fn @main(%x: f32[1,2,4,4]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
    %s = const f32[4] [1.0, 1.0, 1.0, 1.0]
    %0 = onnx.Resize(%x, _, %s) : f32[1,2,4,4]
    %1 = onnx.Neg(%0) : f32[1,2,4,4]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
                %0 = onnx.Neg(%x) : f32[1,2,4,4]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[1,2,4,4]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
    %s = const i64[4] [1, 2, 4, 4]
    %0 = onnx.Resize(%x, _, _, %s) {mode = "linear"} : f32[1,2,4,4]
    %1 = onnx.Neg(%0) : f32[1,2,4,4]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
                %0 = onnx.Neg(%x) : f32[1,2,4,4]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[1,2,4,4]) -> (%y: f32[1,2,4,4]) opset("" = 9) {
    %s = const f32[4] [1.0, 1.0, 1.0, 1.0]
    %0 = onnx.Upsample(%x, %s) : f32[1,2,4,4]
    %1 = onnx.Neg(%0) : f32[1,2,4,4]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,4,4]) -> (%y: f32[1,2,4,4]) opset("" = 9) {
                %0 = onnx.Neg(%x) : f32[1,2,4,4]
                return %0
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[1,2,4,4]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
    %s = const f32[4] [1.0, 1.0, 1.2, 1.0]
    %0 = onnx.Resize(%x, _, %s) : f32[1,2,4,4]
    %1 = onnx.Neg(%0) : f32[1,2,4,4]
    return %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[1,2,4,4]) -> (%y: f32[1,2,4,4]) opset("" = 17) {
    %s = const i64[4] [1, 2, 4, 4]
    %0 = onnx.Resize(%x, _, _, %s) {coordinate_transformation_mode = "tf_half_pixel_for_nn"} : f32[1,2,4,4]
    %1 = onnx.Neg(%0) : f32[1,2,4,4]
    return %1
  }
}"#,
    );
}

#[test]
fn a_condition_is_what_it_chooses() {
    check(
        r#"module {
  fn @main(%x: bool[2]) -> (%y: bool[2]) opset("" = 17) {
    %t = const bool[] true
    %f = const bool[] false
    %0 = onnx.Where(%x, %t, %f) : bool[2]
    %1 = onnx.Not(%0) : bool[2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: bool[2]) -> (%y: bool[2]) opset("" = 17) {
                %0 = onnx.Not(%x) : bool[2]
                return %0
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: bool[2]) -> (%y: bool[2]) opset("" = 17) {
    %t = const bool[] true
    %f = const bool[] false
    %0 = onnx.Where(%x, %f, %t) : bool[2]
    %1 = onnx.Not(%0) : bool[2]
    return %1
  }
}"#,
    );
}

#[test]
fn a_gemm_adds() {
    check(
        r#"module {
  fn @main(%x: f32[3,4], %b: f32[2]) -> (%y: f32[3,2]) opset("" = 17) {
    %w = const f32[4,2] [1.0, 2.0, 3.0, 4.0,1.0, 2.0, 3.0, 4.0]
    %0 = onnx.Gemm(%x, %w) : f32[3,2]
    %1 = onnx.Add(%0, %b) : f32[3,2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[3,4], %b: f32[2]) -> (%y: f32[3,2]) opset("" = 17) {
                %w = const f32[4,2] [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]
                %0 = onnx.Gemm(%x, %w, %b) : f32[3,2]
                return %0
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[3,4], %b: f32[5,1,2]) -> (%y: f32[5,3,2]) opset("" = 17) {
    %w = const f32[4,2] [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]
    %0 = onnx.Gemm(%x, %w) : f32[3,2]
    %1 = onnx.Add(%0, %b) : f32[5,3,2]
    return %1
  }
}"#,
    );
}

#[test]
fn in_a_loop() {
    check(
        r#"module {
  fn @main(%x: f32[6,2]) -> (%y: f32[6,2]) opset("" = 17) {
    %n = const i64[] 3
    %s = const i64[2] [2, 4]
    %0 = onnx.Loop(%n, _, %x) : f32[6,2]
      region body(%i: i64[], %on: bool[], %v: f32[6,2]) {
        %a, %b = onnx.Split(%v, %s) {axis = 0} : f32[2,2], f32[4,2]
        %c = onnx.Concat(%a, %b) {axis = 0} : f32[6,2]
        %d = onnx.Neg(%c) : f32[6,2]
        %k = onnx.Identity(%on) : bool[]
        yield %k, %d
      }
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[6,2]) -> (%y: f32[6,2]) opset("" = 17) {
                %n = const i64[] 3
                %0 = onnx.Loop(%n, _, %x) : f32[6,2]
                  region body(%i: i64[], %on: bool[], %v: f32[6,2]) {
                    %d = onnx.Neg(%v) : f32[6,2]
                    %k = onnx.Identity(%on) : bool[]
                    yield %k, %d
                  }
                return %0
              }
            }
        "#]],
    );
}
