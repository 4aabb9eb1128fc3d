//! Cases of `relax.transform.CombineParallelMatmul`.

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.CombineParallelMatmul";

/// A value `%x: f32[b,s,2]` and weights of one, two and three columns.
fn module(results: &str, opset: u32, body: &str) -> String {
    format!(
        r#"module {{
  fn @main(%x: f32[b,s,2], %c: bool[]) -> ({results}) opset("" = {opset}) {{
    %w1 = const f32[2,1] [1.0, 2.0]
    %w2 = const f32[2,2] [3.0, 4.0, 5.0, 6.0]
    %w3 = const f32[2,3] [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
    %b1 = const f32[1] [0.5]
    %b2 = const f32[2] [1.5, 2.5]
{body}
  }}
}}"#
    )
}

#[track_caller]
fn check(results: &str, opset: u32, body: &str, expected: Expect) {
    support::check(PASS, &module(results, opset, body), expected);
}

#[track_caller]
fn check_stays(results: &str, opset: u32, body: &str) {
    support::check_stays(PASS, &module(results, opset, body));
}

const THREE: &str = "%p: f32[b,s,1], %q: f32[b,s,2], %r: f32[b,s,3]";
const TWO: &str = "%p: f32[b,s,1], %q: f32[b,s,2]";

#[test]
fn three_products_are_one_and_a_split() {
    check(
        THREE,
        13,
        "    %0 = onnx.MatMul(%x, %w1) : f32[b,s,1]
    %1 = onnx.MatMul(%x, %w2) : f32[b,s,2]
    %2 = onnx.MatMul(%x, %w3) : f32[b,s,3]
    return %0, %1, %2",
        expect![[r#"
            module {
              fn @main(%x: f32[b,s,2], %c: bool[]) -> (%p: f32[b,s,1], %q: f32[b,s,2], %r: f32[b,s,3]) opset("" = 13) {
                %b1 = const f32[1] [0.5]
                %b2 = const f32[2] [1.5, 2.5]
                %0 = const f32[2,6] [1.0, 3.0, 4.0, 7.0, 8.0, 9.0, 2.0, 5.0, 6.0, 10.0, 11.0, 12.0]
                %1 = const i64[3] [1, 2, 3]
                %2 = onnx.MatMul(%x, %0) : f32[b,s,6]
                %3, %4, %5 = onnx.Split(%2, %1) {axis = 2} : f32[b,s,1], f32[b,s,2], f32[b,s,3]
                return %3, %4, %5
              }
            }
        "#]],
    );
}

#[test]
fn sums_that_not_all_have_stay() {
    check(
        THREE,
        12,
        "    %0 = onnx.MatMul(%x, %w1) : f32[b,s,1]
    %1 = onnx.Add(%0, %b1) : f32[b,s,1]
    %2 = onnx.MatMul(%x, %w2) : f32[b,s,2]
    %3 = onnx.MatMul(%x, %w3) : f32[b,s,3]
    return %1, %2, %3",
        expect![[r#"
            module {
              fn @main(%x: f32[b,s,2], %c: bool[]) -> (%p: f32[b,s,1], %q: f32[b,s,2], %r: f32[b,s,3]) opset("" = 12) {
                %b1 = const f32[1] [0.5]
                %b2 = const f32[2] [1.5, 2.5]
                %0 = const f32[2,6] [1.0, 3.0, 4.0, 7.0, 8.0, 9.0, 2.0, 5.0, 6.0, 10.0, 11.0, 12.0]
                %1 = onnx.MatMul(%x, %0) : f32[b,s,6]
                %2, %3, %4 = onnx.Split(%1) {axis = 2, split = [1, 2, 3]} : f32[b,s,1], f32[b,s,2], f32[b,s,3]
                %5 = onnx.Add(%2, %b1) : f32[b,s,1]
                return %5, %3, %4
              }
            }
        "#]],
    );
}

#[test]
fn two_products_with_sums_are_one_with_a_sum() {
    check(
        TWO,
        13,
        "    %0 = onnx.MatMul(%x, %w1) : f32[b,s,1]
    %1 = onnx.Add(%b1, %0) : f32[b,s,1]
    %2 = onnx.MatMul(%x, %w2) : f32[b,s,2]
    %3 = onnx.Add(%2, %b2) : f32[b,s,2]
    return %1, %3",
        expect![[r#"
            module {
              fn @main(%x: f32[b,s,2], %c: bool[]) -> (%p: f32[b,s,1], %q: f32[b,s,2]) opset("" = 13) {
                %w3 = const f32[2,3] [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
                %0 = const f32[2,3] [1.0, 3.0, 4.0, 2.0, 5.0, 6.0]
                %1 = const f32[3] [0.5, 1.5, 2.5]
                %2 = const i64[2] [1, 2]
                %3 = onnx.MatMul(%x, %0) : f32[b,s,3]
                %4 = onnx.Add(%3, %1) : f32[b,s,3]
                %5, %6 = onnx.Split(%4, %2) {axis = 2} : f32[b,s,1], f32[b,s,2]
                return %5, %6
              }
            }
        "#]],
    );
}

#[test]
fn what_stands_behind_all_is_put_together() {
    check(
        TWO,
        13,
        "    %0 = onnx.MatMul(%x, %w1) : f32[b,s,1]
    %1 = onnx.Add(%0, %b1) : f32[b,s,1]
    %2 = onnx.Relu(%1) : f32[b,s,1]
    %3 = onnx.MatMul(%x, %w2) : f32[b,s,2]
    %4 = onnx.Add(%3, %b2) : f32[b,s,2]
    %5 = onnx.Relu(%4) : f32[b,s,2]
    return %2, %5",
        expect![[r#"
            module {
              fn @main(%x: f32[b,s,2], %c: bool[]) -> (%p: f32[b,s,1], %q: f32[b,s,2]) opset("" = 13) {
                %w3 = const f32[2,3] [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
                %0 = const f32[2,3] [1.0, 3.0, 4.0, 2.0, 5.0, 6.0]
                %1 = const f32[3] [0.5, 1.5, 2.5]
                %2 = const i64[2] [1, 2]
                %3 = onnx.MatMul(%x, %0) : f32[b,s,3]
                %4 = onnx.Add(%3, %1) : f32[b,s,3]
                %5 = onnx.Relu(%4) : f32[b,s,3]
                %6, %7 = onnx.Split(%5, %2) {axis = 2} : f32[b,s,1], f32[b,s,2]
                return %6, %7
              }
            }
        "#]],
    );
}

#[test]
fn what_differs_stays_behind_the_split() {
    check(
        TWO,
        13,
        "    %0 = onnx.MatMul(%x, %w1) : f32[b,s,1]
    %1 = onnx.Add(%0, %b1) : f32[b,s,1]
    %2 = onnx.Relu(%1) : f32[b,s,1]
    %3 = onnx.MatMul(%x, %w2) : f32[b,s,2]
    %4 = onnx.Add(%3, %b2) : f32[b,s,2]
    %5 = onnx.Tanh(%4) : f32[b,s,2]
    return %2, %5",
        expect![[r#"
            module {
              fn @main(%x: f32[b,s,2], %c: bool[]) -> (%p: f32[b,s,1], %q: f32[b,s,2]) opset("" = 13) {
                %w3 = const f32[2,3] [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
                %0 = const f32[2,3] [1.0, 3.0, 4.0, 2.0, 5.0, 6.0]
                %1 = const f32[3] [0.5, 1.5, 2.5]
                %2 = const i64[2] [1, 2]
                %3 = onnx.MatMul(%x, %0) : f32[b,s,3]
                %4 = onnx.Add(%3, %1) : f32[b,s,3]
                %5, %6 = onnx.Split(%4, %2) {axis = 2} : f32[b,s,1], f32[b,s,2]
                %7 = onnx.Relu(%5) : f32[b,s,1]
                %8 = onnx.Tanh(%6) : f32[b,s,2]
                return %7, %8
              }
            }
        "#]],
    );
}

#[test]
fn what_would_leave_as_many_ops_stays() {
    check_stays(
        TWO,
        13,
        "    %0 = onnx.MatMul(%x, %w1) : f32[b,s,1]
    %1 = onnx.MatMul(%x, %w2) : f32[b,s,2]
    return %0, %1",
    );
}

#[test]
fn weights_that_others_use_stay() {
    check_stays(
        &format!("{THREE}, %w: f32[2,3]"),
        13,
        "    %0 = onnx.MatMul(%x, %w1) : f32[b,s,1]
    %1 = onnx.MatMul(%x, %w2) : f32[b,s,2]
    %2 = onnx.MatMul(%x, %w3) : f32[b,s,3]
    return %0, %1, %2, %w3",
    );
}

#[test]
fn what_isnt_multiplied_by_a_constant_from_the_right_stays() {
    check_stays(
        &format!("{THREE}, %t: f32[b,s,s]"),
        13,
        "    %0 = onnx.MatMul(%x, %w1) : f32[b,s,1]
    %1 = onnx.MatMul(%x, %w2) : f32[b,s,2]
    %2 = onnx.Concat(%0, %1) {axis = 2} : f32[b,s,3]
    %3 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[b,2,s]
    %4 = onnx.MatMul(%x, %3) : f32[b,s,s]
    return %0, %1, %2, %4",
    );
}

#[test]
fn products_of_different_regions_stay() {
    check_stays(
        THREE,
        13,
        "    %0 = onnx.MatMul(%x, %w1) : f32[b,s,1]
    %1 = onnx.MatMul(%x, %w2) : f32[b,s,2]
    %2 = onnx.If(%c) : f32[b,s,3]
      region then_branch {
        %3 = onnx.MatMul(%x, %w3) : f32[b,s,3]
        yield %3
      }
      region else_branch {
        %4 = onnx.Concat(%0, %1) {axis = 2} : f32[b,s,3]
        yield %4
      }
    return %0, %1, %2",
    );
}

#[test]
fn a_second_run_finds_nothing() {
    let source = module(
        THREE,
        13,
        "    %0 = onnx.MatMul(%x, %w1) : f32[b,s,1]
    %1 = onnx.MatMul(%x, %w2) : f32[b,s,2]
    %2 = onnx.MatMul(%x, %w3) : f32[b,s,3]
    return %0, %1, %2",
    );
    let once = support::run(PASS, &source);
    assert_eq!(once.matches("onnx.MatMul").count(), 1, "{once}");
    assert_eq!(support::run(PASS, &once), once);
}

#[test]
fn weights_that_would_take_much_memory_stay() {
    let module = r#"module {
  fn @main(%x: f32[n,8192]) -> (%p: f32[n,2048], %q: f32[n,2048], %r: f32[n,2048]) opset("" = 13) {
    %w1 = const f32[8192,2048] splat(1.0)
    %w2 = const f32[8192,2048] splat(2.0)
    %w3 = const f32[8192,2048] splat(3.0)
    %0 = onnx.MatMul(%x, %w1) : f32[n,2048]
    %1 = onnx.MatMul(%x, %w2) : f32[n,2048]
    %2 = onnx.MatMul(%x, %w3) : f32[n,2048]
    return %0, %1, %2
  }
}"#;
    support::check_stays(PASS, module);
}

#[test]
fn weights_of_any_rank_stand_beside_each_other() {
    let module = r#"module {
  fn @main(%x: f32[s,1]) -> (%p: f32[2,s,1], %q: f32[2,s,2], %r: f32[2,s,1]) opset("" = 13) {
    %w1 = const f32[2,1,1] [1.0, 2.0]
    %w2 = const f32[2,1,2] [3.0, 4.0, 5.0, 6.0]
    %w3 = const f32[2,1,1] [7.0, 8.0]
    %0 = onnx.MatMul(%x, %w1) : f32[2,s,1]
    %1 = onnx.MatMul(%x, %w2) : f32[2,s,2]
    %2 = onnx.MatMul(%x, %w3) : f32[2,s,1]
    return %0, %1, %2
  }
}"#;
    support::check(
        PASS,
        module,
        expect![[r#"
            module {
              fn @main(%x: f32[s,1]) -> (%p: f32[2,s,1], %q: f32[2,s,2], %r: f32[2,s,1]) opset("" = 13) {
                %0 = const f32[2,1,4] [1.0, 3.0, 4.0, 7.0, 2.0, 5.0, 6.0, 8.0]
                %1 = const i64[3] [1, 2, 1]
                %2 = onnx.MatMul(%x, %0) : f32[2,s,4]
                %3, %4, %5 = onnx.Split(%2, %1) {axis = 2} : f32[2,s,1], f32[2,s,2], f32[2,s,1]
                return %3, %4, %5
              }
            }
        "#]],
    );
}

#[test]
fn a_vector_and_weights_of_other_batches_stay() {
    let module = r#"module {
  fn @main(%x: f32[s,2]) -> (%p: f32[s], %q: f32[1,s,1], %r: f32[2,s,1]) opset("" = 13) {
    %w1 = const f32[2] [1.0, 2.0]
    %w2 = const f32[1,2,1] [3.0, 4.0]
    %w3 = const f32[2,2,1] [5.0, 6.0, 7.0, 8.0]
    %0 = onnx.MatMul(%x, %w1) : f32[s]
    %1 = onnx.MatMul(%x, %w2) : f32[1,s,1]
    %2 = onnx.MatMul(%x, %w3) : f32[2,s,1]
    return %0, %1, %2
  }
}"#;
    support::check_stays(PASS, module);
}

#[test]
fn as_many_as_were_asked_for_are_put_together() {
    let two = module(
        TWO,
        13,
        "    %0 = onnx.MatMul(%x, %w1) : f32[b,s,1]
    %1 = onnx.MatMul(%x, %w2) : f32[b,s,2]
    return %0, %1",
    );
    let three = module(
        THREE,
        13,
        "    %0 = onnx.MatMul(%x, %w1) : f32[b,s,1]
    %1 = onnx.MatMul(%x, %w2) : f32[b,s,2]
    %2 = onnx.MatMul(%x, %w3) : f32[b,s,3]
    return %0, %1, %2",
    );
    support::check_stays(PASS, &two);
    support::check_options(
        PASS,
        "min_num_branches = 2",
        &two,
        expect![[r#"
        module {
          fn @main(%x: f32[b,s,2], %c: bool[]) -> (%p: f32[b,s,1], %q: f32[b,s,2]) opset("" = 13) {
            %w3 = const f32[2,3] [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
            %b1 = const f32[1] [0.5]
            %b2 = const f32[2] [1.5, 2.5]
            %0 = const f32[2,3] [1.0, 3.0, 4.0, 2.0, 5.0, 6.0]
            %1 = const i64[2] [1, 2]
            %2 = onnx.MatMul(%x, %0) : f32[b,s,3]
            %3, %4 = onnx.Split(%2, %1) {axis = 2} : f32[b,s,1], f32[b,s,2]
            return %3, %4
          }
        }
    "#]],
    );
    let out = support::run_options(PASS, "min_num_branches = 4", &three);
    assert_eq!(out.matches("onnx.MatMul").count(), 3, "{out}");
}
