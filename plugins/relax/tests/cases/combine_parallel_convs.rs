//! Cases of `relax.transform.CombineParallelConv2D` and `relax.transform.CombineParallelGemm`.

use expect_test::{Expect, expect};

use crate::support;

const CONV: &str = "relax.transform.CombineParallelConv2D";
const GEMM: &str = "relax.transform.CombineParallelGemm";

/// A value `%x: f32[1,1,2,2]` and weights of one, two and three channels.
fn convs(results: &str, opset: u32, body: &str) -> String {
    format!(
        r#"module {{
  fn @main(%x: f32[1,1,2,2], %z: f32[1,1,2,2], %c: bool[]) -> ({results}) opset("" = {opset}) {{
    %w1 = const f32[1,1,1,1] [1.0]
    %w2 = const f32[2,1,1,1] [2.0, 3.0]
    %w3 = const f32[3,1,1,1] [4.0, 5.0, 6.0]
    %v3 = const f32[3,1,1,2] [4.0, 5.0, 6.0, 4.0, 5.0, 6.0]
    %b1 = const f32[1] [0.1]
    %b2 = const f32[2] [0.2, 0.3]
    %b3 = const f32[3] [0.4, 0.5, 0.6]
    %s1 = const f32[1,1,1] [1.5]
    %s2 = const f32[2,1,1] [2.5, 3.5]
    %t2 = const f32[1,2,1,1] [2.5, 3.5]
    %half = const f32[] 0.5
    %other = const f32[] 0.5
    %two = const f32[] 2.0
{body}
  }}
}}"#
    )
}

#[track_caller]
fn check(results: &str, opset: u32, body: &str, expected: Expect) {
    support::check(CONV, &convs(results, opset, body), expected);
}

#[track_caller]
fn check_stays(results: &str, body: &str) {
    support::check_stays(CONV, &convs(results, 17, body));
}

const THREE: &str = "%p: f32[1,1,2,2], %q: f32[1,2,2,2], %r: f32[1,3,2,2]";
const TWO: &str = "%p: f32[1,1,2,2], %q: f32[1,2,2,2]";

#[test]
fn three_convolutions_are_one_and_a_split() {
    let body = "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.Conv(%x, %w2) : f32[1,2,2,2]
    %2 = onnx.Conv(%x, %w3) : f32[1,3,2,2]
    return %0, %1, %2";
    check(
        THREE,
        12,
        body,
        expect![[r#"
                module {
                  fn @main(%x: f32[1,1,2,2], %z: f32[1,1,2,2], %c: bool[]) -> (%p: f32[1,1,2,2], %q: f32[1,2,2,2], %r: f32[1,3,2,2]) opset("" = 12) {
                    %v3 = const f32[3,1,1,2] [4.0, 5.0, 6.0, 4.0, 5.0, 6.0]
                    %b1 = const f32[1] [0.1]
                    %b2 = const f32[2] [0.2, 0.3]
                    %b3 = const f32[3] [0.4, 0.5, 0.6]
                    %s1 = const f32[1,1,1] [1.5]
                    %s2 = const f32[2,1,1] [2.5, 3.5]
                    %t2 = const f32[1,2,1,1] [2.5, 3.5]
                    %half = const f32[] 0.5
                    %other = const f32[] 0.5
                    %two = const f32[] 2.0
                    %0 = const f32[6,1,1,1] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
                    %1 = onnx.Conv(%x, %0) : f32[1,6,2,2]
                    %2, %3, %4 = onnx.Split(%1) {axis = 1, split = [1, 2, 3]} : f32[1,1,2,2], f32[1,2,2,2], f32[1,3,2,2]
                    return %2, %3, %4
                  }
                }
            "#]],
    );
    check(
        THREE,
        17,
        body,
        expect![[r#"
                module {
                  fn @main(%x: f32[1,1,2,2], %z: f32[1,1,2,2], %c: bool[]) -> (%p: f32[1,1,2,2], %q: f32[1,2,2,2], %r: f32[1,3,2,2]) opset("" = 17) {
                    %v3 = const f32[3,1,1,2] [4.0, 5.0, 6.0, 4.0, 5.0, 6.0]
                    %b1 = const f32[1] [0.1]
                    %b2 = const f32[2] [0.2, 0.3]
                    %b3 = const f32[3] [0.4, 0.5, 0.6]
                    %s1 = const f32[1,1,1] [1.5]
                    %s2 = const f32[2,1,1] [2.5, 3.5]
                    %t2 = const f32[1,2,1,1] [2.5, 3.5]
                    %half = const f32[] 0.5
                    %other = const f32[] 0.5
                    %two = const f32[] 2.0
                    %0 = const f32[6,1,1,1] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
                    %1 = const i64[3] [1, 2, 3]
                    %2 = onnx.Conv(%x, %0) : f32[1,6,2,2]
                    %3, %4, %5 = onnx.Split(%2, %1) {axis = 1} : f32[1,1,2,2], f32[1,2,2,2], f32[1,3,2,2]
                    return %3, %4, %5
                  }
                }
            "#]],
    );
}

#[test]
fn biases_and_what_stands_behind_are_put_together() {
    check(
        TWO,
        17,
        "    %0 = onnx.Conv(%x, %w1, %b1) {group = 1, pads = [0, 0, 0, 0]} : f32[1,1,2,2]
    %1 = onnx.Mul(%0, %s1) : f32[1,1,2,2]
    %2 = onnx.LeakyRelu(%1) {alpha = 0.25} : f32[1,1,2,2]
    %3 = onnx.Mul(%half, %2) : f32[1,1,2,2]
    %4 = onnx.Conv(%x, %w2, %b2) {group = 1, pads = [0, 0, 0, 0]} : f32[1,2,2,2]
    %5 = onnx.Mul(%4, %s2) : f32[1,2,2,2]
    %6 = onnx.LeakyRelu(%5) {alpha = 0.25} : f32[1,2,2,2]
    %7 = onnx.Mul(%other, %6) : f32[1,2,2,2]
    return %3, %7",
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,2,2], %z: f32[1,1,2,2], %c: bool[]) -> (%p: f32[1,1,2,2], %q: f32[1,2,2,2]) opset("" = 17) {
                %w3 = const f32[3,1,1,1] [4.0, 5.0, 6.0]
                %v3 = const f32[3,1,1,2] [4.0, 5.0, 6.0, 4.0, 5.0, 6.0]
                %b3 = const f32[3] [0.4, 0.5, 0.6]
                %t2 = const f32[1,2,1,1] [2.5, 3.5]
                %half = const f32[] 0.5
                %two = const f32[] 2.0
                %0 = const f32[3,1,1,1] [1.0, 2.0, 3.0]
                %1 = const f32[3] [0.1, 0.2, 0.3]
                %2 = const f32[3,1,1] [1.5, 2.5, 3.5]
                %3 = const i64[2] [1, 2]
                %4 = onnx.Conv(%x, %0, %1) {group = 1, pads = [0, 0, 0, 0]} : f32[1,3,2,2]
                %5 = onnx.Mul(%4, %2) : f32[1,3,2,2]
                %6 = onnx.LeakyRelu(%5) {alpha = 0.25} : f32[1,3,2,2]
                %7 = onnx.Mul(%half, %6) : f32[1,3,2,2]
                %8, %9 = onnx.Split(%7, %3) {axis = 1} : f32[1,1,2,2], f32[1,2,2,2]
                return %8, %9
              }
            }
        "#]],
    );
}

#[test]
fn what_differs_behind_stays_behind_the_split() {
    check(
        TWO,
        17,
        "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.Relu(%0) : f32[1,1,2,2]
    %2 = onnx.LeakyRelu(%1) {alpha = 0.25} : f32[1,1,2,2]
    %3 = onnx.Conv(%x, %w2) : f32[1,2,2,2]
    %4 = onnx.Relu(%3) : f32[1,2,2,2]
    %5 = onnx.LeakyRelu(%4) {alpha = 0.5} : f32[1,2,2,2]
    return %2, %5",
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,2,2], %z: f32[1,1,2,2], %c: bool[]) -> (%p: f32[1,1,2,2], %q: f32[1,2,2,2]) opset("" = 17) {
                %w3 = const f32[3,1,1,1] [4.0, 5.0, 6.0]
                %v3 = const f32[3,1,1,2] [4.0, 5.0, 6.0, 4.0, 5.0, 6.0]
                %b1 = const f32[1] [0.1]
                %b2 = const f32[2] [0.2, 0.3]
                %b3 = const f32[3] [0.4, 0.5, 0.6]
                %s1 = const f32[1,1,1] [1.5]
                %s2 = const f32[2,1,1] [2.5, 3.5]
                %t2 = const f32[1,2,1,1] [2.5, 3.5]
                %half = const f32[] 0.5
                %other = const f32[] 0.5
                %two = const f32[] 2.0
                %0 = const f32[3,1,1,1] [1.0, 2.0, 3.0]
                %1 = const i64[2] [1, 2]
                %2 = onnx.Conv(%x, %0) : f32[1,3,2,2]
                %3 = onnx.Relu(%2) : f32[1,3,2,2]
                %4, %5 = onnx.Split(%3, %1) {axis = 1} : f32[1,1,2,2], f32[1,2,2,2]
                %6 = onnx.LeakyRelu(%4) {alpha = 0.25} : f32[1,1,2,2]
                %7 = onnx.LeakyRelu(%5) {alpha = 0.5} : f32[1,2,2,2]
                return %6, %7
              }
            }
        "#]],
    );
}

#[test]
fn blocks_of_convolutions_are_put_together_each() {
    check(
        "%p: f32[1,2,2,2], %q: f32[1,1,2,2]",
        17,
        "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.Relu(%0) : f32[1,1,2,2]
    %2 = onnx.Conv(%x, %w2) : f32[1,2,2,2]
    %3 = onnx.Relu(%2) : f32[1,2,2,2]
    %u1 = const f32[1,1,1,1] [1.0]
    %u2 = const f32[2,1,1,1] [2.0, 3.0]
    %4 = onnx.Conv(%1, %u1) : f32[1,1,2,2]
    %5 = onnx.Neg(%4) : f32[1,1,2,2]
    %6 = onnx.Conv(%1, %u2) : f32[1,2,2,2]
    %7 = onnx.Neg(%6) : f32[1,2,2,2]
    %8 = onnx.Add(%3, %7) : f32[1,2,2,2]
    return %8, %5",
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,2,2], %z: f32[1,1,2,2], %c: bool[]) -> (%p: f32[1,2,2,2], %q: f32[1,1,2,2]) opset("" = 17) {
                %w3 = const f32[3,1,1,1] [4.0, 5.0, 6.0]
                %v3 = const f32[3,1,1,2] [4.0, 5.0, 6.0, 4.0, 5.0, 6.0]
                %b1 = const f32[1] [0.1]
                %b2 = const f32[2] [0.2, 0.3]
                %b3 = const f32[3] [0.4, 0.5, 0.6]
                %s1 = const f32[1,1,1] [1.5]
                %s2 = const f32[2,1,1] [2.5, 3.5]
                %t2 = const f32[1,2,1,1] [2.5, 3.5]
                %half = const f32[] 0.5
                %other = const f32[] 0.5
                %two = const f32[] 2.0
                %0 = const f32[3,1,1,1] [1.0, 2.0, 3.0]
                %1 = const i64[2] [1, 2]
                %2 = const f32[3,1,1,1] [1.0, 2.0, 3.0]
                %3 = const i64[2] [1, 2]
                %4 = onnx.Conv(%x, %0) : f32[1,3,2,2]
                %5 = onnx.Relu(%4) : f32[1,3,2,2]
                %6, %7 = onnx.Split(%5, %1) {axis = 1} : f32[1,1,2,2], f32[1,2,2,2]
                %8 = onnx.Conv(%6, %2) : f32[1,3,2,2]
                %9 = onnx.Neg(%8) : f32[1,3,2,2]
                %10, %11 = onnx.Split(%9, %3) {axis = 1} : f32[1,1,2,2], f32[1,2,2,2]
                %12 = onnx.Add(%7, %11) : f32[1,2,2,2]
                return %12, %10
              }
            }
        "#]],
    );
}

#[test]
fn two_convolutions_alone_stay() {
    check_stays(
        TWO,
        "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.Conv(%x, %w2) : f32[1,2,2,2]
    return %0, %1",
    );
}

#[test]
fn other_sizes_attributes_and_biases_stay() {
    check_stays(
        "%p: f32[1,1,2,2], %q: f32[1,2,2,2], %r: f32[1,3,2,1]",
        "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.Conv(%x, %w2, %b2) : f32[1,2,2,2]
    %2 = onnx.Conv(%x, %v3) : f32[1,3,2,1]
    return %0, %1, %2",
    );
    check_stays(
        "%p: f32[1,1,2,2], %q: f32[1,2,2,2], %r: f32[1,3,4,4]",
        "    %0 = onnx.Conv(%x, %w1) {dilations = [2, 2]} : f32[1,1,2,2]
    %1 = onnx.Conv(%x, %w2) : f32[1,2,2,2]
    %2 = onnx.Conv(%x, %w3) {pads = [1, 1, 1, 1]} : f32[1,3,4,4]
    return %0, %1, %2",
    );
}

#[test]
fn other_values_stay() {
    check_stays(
        THREE,
        "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.Conv(%z, %w2) : f32[1,2,2,2]
    %2 = onnx.Conv(%x, %w3) : f32[1,3,2,2]
    return %0, %1, %2",
    );
}

#[test]
fn weights_that_others_use_stay() {
    check_stays(
        "%p: f32[1,1,2,2], %q: f32[1,2,2,2], %r: f32[1,3,2,2], %w: f32[3,1,1,1]",
        "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.Conv(%x, %w2) : f32[1,2,2,2]
    %2 = onnx.Conv(%x, %w3) : f32[1,3,2,2]
    return %0, %1, %2, %w3",
    );
}

#[test]
fn convolutions_of_groups_stay() {
    support::check_stays(
        CONV,
        r#"module {
  fn @main(%x: f32[1,2,2,2]) -> (%p: f32[1,2,2,2], %q: f32[1,4,2,2]) opset("" = 17) {
    %v = const f32[2,1,1,1] [1.0, 2.0]
    %w = const f32[4,1,1,1] [3.0, 4.0, 5.0, 6.0]
    %0 = onnx.Conv(%x, %v) {group = 2} : f32[1,2,2,2]
    %1 = onnx.Relu(%0) : f32[1,2,2,2]
    %2 = onnx.Conv(%x, %w) {group = 2} : f32[1,4,2,2]
    %3 = onnx.Relu(%2) : f32[1,4,2,2]
    return %1, %3
  }
}"#,
    );
}

#[test]
fn numbers_behind_that_differ_stay_behind_the_split() {
    // Two branches, one op: nothing would be gained.
    check_stays(
        TWO,
        "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.Mul(%0, %half) : f32[1,1,2,2]
    %2 = onnx.Conv(%x, %w2) : f32[1,2,2,2]
    %3 = onnx.Mul(%2, %two) : f32[1,2,2,2]
    return %1, %3",
    );
    // Constants of another rank.
    check_stays(
        TWO,
        "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.Mul(%0, %s1) : f32[1,1,2,2]
    %2 = onnx.Conv(%x, %w2) : f32[1,2,2,2]
    %3 = onnx.Mul(%2, %t2) : f32[1,2,2,2]
    return %1, %3",
    );
    // Before and behind the sign.
    check_stays(
        TWO,
        "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.Sub(%0, %half) : f32[1,1,2,2]
    %2 = onnx.Conv(%x, %w2) : f32[1,2,2,2]
    %3 = onnx.Sub(%half, %2) : f32[1,2,2,2]
    return %1, %3",
    );
    // What is made of the whole.
    check_stays(
        TWO,
        "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.Softmax(%0) {axis = 1} : f32[1,1,2,2]
    %2 = onnx.Conv(%x, %w2) : f32[1,2,2,2]
    %3 = onnx.Softmax(%2) {axis = 1} : f32[1,2,2,2]
    return %1, %3",
    );
}

#[test]
fn what_takes_only_the_type_of_a_value_stays_behind_the_split() {
    check_stays(
        "%p: f32[], %q: f32[]",
        "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.CastLike(%half, %0) : f32[]
    %2 = onnx.Conv(%x, %w2) : f32[1,2,2,2]
    %3 = onnx.CastLike(%other, %2) : f32[]
    return %1, %3",
    );
    check_stays(
        "%p: f32[1,1,1], %q: f32[2,1,1]",
        "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.CastLike(%s1, %0) : f32[1,1,1]
    %2 = onnx.Conv(%x, %w2) : f32[1,2,2,2]
    %3 = onnx.CastLike(%s2, %2) : f32[2,1,1]
    return %1, %3",
    );
    check(
        TWO,
        17,
        "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.CastLike(%0, %half) : f32[1,1,2,2]
    %2 = onnx.Conv(%x, %w2) : f32[1,2,2,2]
    %3 = onnx.CastLike(%2, %half) : f32[1,2,2,2]
    return %1, %3",
        expect![[r#"
            module {
              fn @main(%x: f32[1,1,2,2], %z: f32[1,1,2,2], %c: bool[]) -> (%p: f32[1,1,2,2], %q: f32[1,2,2,2]) opset("" = 17) {
                %w3 = const f32[3,1,1,1] [4.0, 5.0, 6.0]
                %v3 = const f32[3,1,1,2] [4.0, 5.0, 6.0, 4.0, 5.0, 6.0]
                %b1 = const f32[1] [0.1]
                %b2 = const f32[2] [0.2, 0.3]
                %b3 = const f32[3] [0.4, 0.5, 0.6]
                %s1 = const f32[1,1,1] [1.5]
                %s2 = const f32[2,1,1] [2.5, 3.5]
                %t2 = const f32[1,2,1,1] [2.5, 3.5]
                %half = const f32[] 0.5
                %other = const f32[] 0.5
                %two = const f32[] 2.0
                %0 = const f32[3,1,1,1] [1.0, 2.0, 3.0]
                %1 = const i64[2] [1, 2]
                %2 = onnx.Conv(%x, %0) : f32[1,3,2,2]
                %3 = onnx.CastLike(%2, %half) : f32[1,3,2,2]
                %4, %5 = onnx.Split(%3, %1) {axis = 1} : f32[1,1,2,2], f32[1,2,2,2]
                return %4, %5
              }
            }
        "#]],
    );
}

#[test]
fn regions_stay_apart() {
    check_stays(
        "%p: f32[1,1,2,2], %q: f32[1,2,2,2]",
        "    %0 = onnx.Conv(%x, %w1) : f32[1,1,2,2]
    %1 = onnx.Relu(%0) : f32[1,1,2,2]
    %4 = onnx.If(%c) : f32[1,2,2,2]
      region then_branch() {
        %2 = onnx.Conv(%x, %w2) : f32[1,2,2,2]
        %3 = onnx.Relu(%2) : f32[1,2,2,2]
        yield %3
      }
      region else_branch() {
        %5 = onnx.Concat(%x, %x) {axis = 1} : f32[1,2,2,2]
        yield %5
      }
    return %1, %4",
    );
}

/// A value `%x: f32[n,2]` and weights of one, two and three columns.
fn gemms(results: &str, body: &str) -> String {
    format!(
        r#"module {{
  fn @main(%x: f32[n,2], %m: f32[n,3]) -> ({results}) opset("" = 17) {{
    %w1 = const f32[2,1] [1.0, 2.0]
    %w2 = const f32[2,2] [3.0, 4.0, 5.0, 6.0]
    %w3 = const f32[2,3] [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
    %v3 = const f32[3,2] [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
    %b1 = const f32[1] [0.1]
    %b2 = const f32[2] [0.2, 0.3]
    %c2 = const f32[1,2] [0.2, 0.3]
    %b3 = const f32[3] [0.4, 0.5, 0.6]
{body}
  }}
}}"#
    )
}

const COLUMNS: &str = "%p: f32[n,1], %q: f32[n,2], %r: f32[n,3]";

#[test]
fn three_gemms_are_one_and_a_split() {
    support::check(
        GEMM,
        &gemms(
            COLUMNS,
            "    %0 = onnx.Gemm(%x, %w1, %b1) {alpha = 0.5} : f32[n,1]
    %1 = onnx.Gemm(%x, %w2, %b2) {alpha = 0.5} : f32[n,2]
    %2 = onnx.Gemm(%x, %w3, %b3) {alpha = 0.5} : f32[n,3]
    return %0, %1, %2",
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[n,2], %m: f32[n,3]) -> (%p: f32[n,1], %q: f32[n,2], %r: f32[n,3]) opset("" = 17) {
                %v3 = const f32[3,2] [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
                %c2 = const f32[1,2] [0.2, 0.3]
                %0 = const f32[2,6] [1.0, 3.0, 4.0, 7.0, 8.0, 9.0, 2.0, 5.0, 6.0, 10.0, 11.0, 12.0]
                %1 = const f32[6] [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
                %2 = const i64[3] [1, 2, 3]
                %3 = onnx.Gemm(%x, %0, %1) {alpha = 0.5} : f32[n,6]
                %4, %5, %6 = onnx.Split(%3, %2) {axis = 1} : f32[n,1], f32[n,2], f32[n,3]
                return %4, %5, %6
              }
            }
        "#]],
    );
}

#[test]
fn gemms_without_a_bias_are_put_together() {
    support::check(
        GEMM,
        &gemms(
            "%p: f32[n,1], %q: f32[n,2]",
            "    %0 = onnx.Gemm(%x, %w1) : f32[n,1]
    %1 = onnx.Sub(%b1, %0) : f32[n,1]
    %2 = onnx.Gemm(%x, %w2) : f32[n,2]
    %3 = onnx.Sub(%b2, %2) : f32[n,2]
    return %1, %3",
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[n,2], %m: f32[n,3]) -> (%p: f32[n,1], %q: f32[n,2]) opset("" = 17) {
                %w3 = const f32[2,3] [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
                %v3 = const f32[3,2] [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
                %c2 = const f32[1,2] [0.2, 0.3]
                %b3 = const f32[3] [0.4, 0.5, 0.6]
                %0 = const f32[2,3] [1.0, 3.0, 4.0, 2.0, 5.0, 6.0]
                %1 = const f32[3] [0.1, 0.2, 0.3]
                %2 = const i64[2] [1, 2]
                %3 = onnx.Gemm(%x, %0) : f32[n,3]
                %4 = onnx.Sub(%1, %3) : f32[n,3]
                %5, %6 = onnx.Split(%4, %2) {axis = 1} : f32[n,1], f32[n,2]
                return %5, %6
              }
            }
        "#]],
    );
}

#[test]
fn gemms_that_differ_stay() {
    for body in [
        // In attributes.
        "    %0 = onnx.Gemm(%x, %w1, %b1) {alpha = 0.5} : f32[n,1]
    %1 = onnx.Gemm(%x, %w2, %b2) : f32[n,2]
    %2 = onnx.Gemm(%x, %w3, %b3) {beta = 0.5} : f32[n,3]
    return %0, %1, %2",
        // In how the weights lie.
        "    %0 = onnx.Gemm(%x, %w1, %b1) : f32[n,1]
    %1 = onnx.Gemm(%x, %w2, %b2) : f32[n,2]
    %2 = onnx.Gemm(%x, %v3, %b3) {transB = 1} : f32[n,3]
    return %0, %1, %2",
        // In what they add.
        "    %0 = onnx.Gemm(%x, %w1, %b1) : f32[n,1]
    %1 = onnx.Gemm(%x, %w2, %c2) : f32[n,2]
    %2 = onnx.Gemm(%x, %w3, %m) : f32[n,3]
    return %0, %1, %2",
    ] {
        support::check_stays(GEMM, &gemms(COLUMNS, body));
    }
}

#[test]
fn what_takes_only_the_type_of_a_product_stays() {
    support::check_stays(
        GEMM,
        &gemms(
            "%p: f32[1], %q: f32[2]",
            "    %0 = onnx.Gemm(%x, %w1) : f32[n,1]
    %1 = onnx.CastLike(%b1, %0) : f32[1]
    %2 = onnx.Gemm(%x, %w2) : f32[n,2]
    %3 = onnx.CastLike(%b2, %2) : f32[2]
    return %1, %3",
        ),
    );
}
