//! Cases of `relax.transform.DynamicToStatic`: sizes that aren't known, but the same.

use expect_test::{Expect, expect};

use crate::support;

/// Runs the pass on `fn @main(PARAMS) -> (RESULTS) { BODY }`, and takes away what is dead.
#[track_caller]
fn check(signature: &str, body: &str, expected: Expect) {
    check_version(17, signature, body, expected);
}

#[track_caller]
fn check_version(version: i64, signature: &str, body: &str, expected: Expect) {
    let source = format!(
        "module {{\n  fn @main{signature} opset(\"\" = {version}) {{
    %zero = const i64[] 0
    %one = const i64[] 1
    %front = const i64[1] [0]
{body}  }}\n}}"
    );
    let passes = [
        "relax.transform.InferType",
        "relax.transform.FoldConstant",
        "relax.transform.DynamicToStatic",
        "relax.transform.DeadCodeElimination",
    ];
    support::check_all(&passes, &source, expected);
}

#[test]
fn one_size_of_two_tensors_is_read_once() {
    check(
        "(%x: f32[b,s], %y: f32[s,b]) -> (%r: i64[?], %q: i64[?])",
        "\
    %0 = onnx.Shape(%x)
    %1 = onnx.Gather(%0, %one)
    %2 = onnx.Range(%zero, %1, %one)
    %3 = onnx.Shape(%y)
    %4 = onnx.Gather(%3, %zero)
    %5 = onnx.Range(%zero, %4, %one)
    return %2, %5
",
        expect![[r#"
            module {
              fn @main(%x: f32[b,s], %y: f32[s,b]) -> (%r: i64[?], %q: i64[?]) opset("" = 17) {
                %zero = const i64[] 0
                %one = const i64[] 1
                %0 = onnx.Shape(%x) : i64[2]
                %1 = onnx.Gather(%0, %one) : i64[]
                %2 = onnx.Range(%zero, %1, %one) : i64[s]
                %3 = onnx.Range(%zero, %1, %one) : i64[s]
                return %2, %3
              }
            }
        "#]],
    );
}

#[test]
fn a_shape_put_together_again_is_the_shape() {
    check(
        "(%x: f32[b,s,8], %y: f32[1,1,8]) -> (%r: f32[?,?,?])",
        "\
    %k = const i64[1] [8]
    %0 = onnx.Shape(%x)
    %1 = onnx.Gather(%0, %zero)
    %2 = onnx.Gather(%0, %one)
    %3 = onnx.Unsqueeze(%1, %front)
    %4 = onnx.Unsqueeze(%2, %front)
    %5 = onnx.Concat(%3, %4, %k) {axis = 0}
    %6 = onnx.Expand(%y, %5)
    return %6
",
        expect![[r#"
            module {
              fn @main(%x: f32[b,s,8], %y: f32[1,1,8]) -> (%r: f32[?,?,?]) opset("" = 17) {
                %0 = onnx.Shape(%x) : i64[3]
                %1 = onnx.Expand(%y, %0) : f32[b,s,8]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn dims_of_one_tensor_are_gathered() {
    check(
        "(%x: f32[b,s,t], %y: f32[1,1]) -> (%r: f32[?,?])",
        "\
    %0 = onnx.Shape(%x)
    %1 = onnx.Gather(%0, %zero)
    %2 = onnx.Gather(%0, %one)
    %3 = onnx.Unsqueeze(%1, %front)
    %4 = onnx.Unsqueeze(%2, %front)
    %5 = onnx.Concat(%4, %3) {axis = 0}
    %6 = onnx.Expand(%y, %5)
    return %6
",
        expect![[r#"
            module {
              fn @main(%x: f32[b,s,t], %y: f32[1,1]) -> (%r: f32[?,?]) opset("" = 17) {
                %0 = const i64[2] [1, 0]
                %1 = onnx.Shape(%x) : i64[3]
                %2 = onnx.Gather(%1, %0) {axis = 0} : i64[2]
                %3 = onnx.Expand(%y, %2) : f32[s,b]
                return %3
              }
            }
        "#]],
    );
}

#[test]
fn a_size_that_is_asked_for_to_be_minus_one_is_itself() {
    check(
        "(%x: f32[b,s], %y: f32[1,1]) -> (%r: f32[?,?])",
        "\
    %minus = const i64[2] [-1, -1]
    %ones = const i64[2] [1, 1]
    %0 = onnx.Shape(%x)
    %1 = onnx.Equal(%0, %minus)
    %2 = onnx.Where(%1, %ones, %0)
    %3 = onnx.Expand(%y, %2)
    return %3
",
        expect![[r#"
            module {
              fn @main(%x: f32[b,s], %y: f32[1,1]) -> (%r: f32[?,?]) opset("" = 17) {
                %0 = onnx.Shape(%x) : i64[2]
                %1 = onnx.Expand(%y, %0) : f32[b,s]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn what_stands_in_a_branch_is_for_that_branch() {
    check(
        "(%x: f32[b,s], %y: f32[b,s], %c: bool[]) -> (%r: i64[?], %q: i64[?])",
        "\
    %0 = onnx.If(%c)
    region then_branch {
      %1 = onnx.Shape(%x)
      %2 = onnx.Gather(%1, %one)
      %3 = onnx.Range(%zero, %2, %one)
      yield %3
    }
    region else_branch {
      %4 = onnx.Shape(%y)
      %5 = onnx.Gather(%4, %one)
      %6 = onnx.Range(%one, %5, %one)
      yield %6
    }
    %7 = onnx.Shape(%y)
    %8 = onnx.Gather(%7, %one)
    %9 = onnx.Range(%zero, %8, %one)
    return %0, %9
",
        expect![[r#"
            module {
              fn @main(%x: f32[b,s], %y: f32[b,s], %c: bool[]) -> (%r: i64[?], %q: i64[?]) opset("" = 17) {
                %zero = const i64[] 0
                %one = const i64[] 1
                %0 = onnx.If(%c) : i64[_2]
                  region then_branch {
                    %1 = onnx.Shape(%x) : i64[2]
                    %2 = onnx.Gather(%1, %one) : i64[]
                    %3 = onnx.Range(%zero, %2, %one) : i64[s]
                    yield %3
                  }
                  region else_branch {
                    %4 = onnx.Shape(%y) : i64[2]
                    %5 = onnx.Gather(%4, %one) : i64[]
                    %6 = onnx.Range(%one, %5, %one) : i64[_1]
                    yield %6
                  }
                %7 = onnx.Shape(%y) : i64[2]
                %8 = onnx.Gather(%7, %one) : i64[]
                %9 = onnx.Range(%zero, %8, %one) : i64[s]
                return %0, %9
              }
            }
        "#]],
    );
}

#[test]
fn sizes_that_may_differ_stay() {
    // Other symbols, sizes that nobody knows, and what the function gives.
    check(
        "(%x: f32[a,?], %y: f32[b,?]) -> (%r: i64[?], %q: i64[?], %p: i64[2], %o: i64[2])",
        "\
    %0 = onnx.Shape(%x)
    %1 = onnx.Gather(%0, %zero)
    %2 = onnx.Range(%zero, %1, %one)
    %3 = onnx.Shape(%y)
    %4 = onnx.Gather(%3, %zero)
    %5 = onnx.Range(%zero, %4, %one)
    return %2, %5, %0, %3
",
        expect![[r#"
            module {
              fn @main(%x: f32[a,?], %y: f32[b,?]) -> (%r: i64[?], %q: i64[?], %p: i64[2], %o: i64[2]) opset("" = 17) {
                %zero = const i64[] 0
                %one = const i64[] 1
                %0 = onnx.Shape(%x) : i64[2]
                %1 = onnx.Gather(%0, %zero) : i64[]
                %2 = onnx.Range(%zero, %1, %one) : i64[a]
                %3 = onnx.Shape(%y) : i64[2]
                %4 = onnx.Gather(%3, %zero) : i64[]
                %5 = onnx.Range(%zero, %4, %one) : i64[b]
                return %2, %5, %0, %3
              }
            }
        "#]],
    );
    check(
        "(%x: f32[a,b], %y: f32[a,b]) -> (%p: i64[2], %o: i64[2])",
        "\
    %0 = onnx.Shape(%x)
    %1 = onnx.Shape(%y)
    return %0, %1
",
        expect![[r#"
            module {
              fn @main(%x: f32[a,b], %y: f32[a,b]) -> (%p: i64[2], %o: i64[2]) opset("" = 17) {
                %0 = onnx.Shape(%x) : i64[2]
                %1 = onnx.Shape(%y) : i64[2]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn what_is_gathered_of_a_shape_is_a_part_of_it() {
    let signature = "(%x: f32[b,s,t], %y: f32[1,1,1]) -> (%r: f32[?,?,?])";
    let body = "\
    %k = const i64[1] [4]
    %last = const i64[1] [-1]
    %0 = onnx.Shape(%x)
    %1 = onnx.Gather(%0, %zero)
    %2 = onnx.Gather(%0, %last)
    %3 = onnx.Unsqueeze(%1, %front)
    %4 = onnx.Concat(%3, %k, %2) {axis = 0}
    %5 = onnx.Expand(%y, %4)
    return %5
";
    check_version(
        15,
        signature,
        body,
        expect![[r#"
        module {
          fn @main(%x: f32[b,s,t], %y: f32[1,1,1]) -> (%r: f32[?,?,?]) opset("" = 15) {
            %k = const i64[1] [4]
            %0 = onnx.Shape(%x) {end = 3, start = 2} : i64[1]
            %1 = onnx.Shape(%x) {end = 1} : i64[1]
            %2 = onnx.Concat(%1, %k, %0) {axis = 0} : i64[3]
            %3 = onnx.Expand(%y, %2) : f32[b,4,t]
            return %3
          }
        }
    "#]],
    );
    check_version(
        14,
        signature,
        body,
        expect![[r#"
        module {
          fn @main(%x: f32[b,s,t], %y: f32[1,1,1]) -> (%r: f32[?,?,?]) opset("" = 14) {
            %k = const i64[1] [4]
            %last = const i64[1] [-1]
            %0 = const i64[1] [0]
            %1 = onnx.Shape(%x) : i64[3]
            %2 = onnx.Gather(%1, %last) : i64[1]
            %3 = onnx.Gather(%1, %0) {axis = 0} : i64[1]
            %4 = onnx.Concat(%3, %k, %2) {axis = 0} : i64[3]
            %5 = onnx.Expand(%y, %4) : f32[b,4,t]
            return %5
          }
        }
    "#]],
    );
    // What is used in another way stays.
    check(
        "(%x: f32[b,s,t], %y: f32[1]) -> (%r: f32[?], %p: i64[3])",
        "\
    %0 = onnx.Shape(%x)
    %1 = onnx.Gather(%0, %front)
    %2 = onnx.Expand(%y, %1)
    return %2, %0
",
        expect![[r#"
            module {
              fn @main(%x: f32[b,s,t], %y: f32[1]) -> (%r: f32[?], %p: i64[3]) opset("" = 17) {
                %front = const i64[1] [0]
                %0 = onnx.Shape(%x) : i64[3]
                %1 = onnx.Gather(%0, %front) : i64[1]
                %2 = onnx.Expand(%y, %1) : f32[b]
                return %2, %0
              }
            }
        "#]],
    );
}
