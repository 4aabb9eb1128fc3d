//! Cases of `relax.transform.SimplifyExpr`: pieces of tensors along an axis.

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
fn elements_of_a_sequence_share_a_split() {
    check(
        r#"module {
  fn @main(%x: f16[n,6]) -> (%a: f16[n,2], %b: f16[n,2], %c: f16[n,2]) opset("" = 18) {
    %two = const i64[] 2
    %i = const i64[] 0
    %j = const i64[] 1
    %k = const i64[] -1
    %s = onnx.SplitToSequence(%x, %two) {axis = -1} : ?
    %0 = onnx.SequenceAt(%s, %i) : ?
    %1 = onnx.SequenceAt(%s, %j) : ?
    %2 = onnx.SequenceAt(%s, %k) : ?
    return %0, %1, %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f16[n,6]) -> (%a: f16[n,2], %b: f16[n,2], %c: f16[n,2]) opset("" = 18) {
                %0 = const i64[3] [2, 2, 2]
                %1, %2, %3 = onnx.Split(%x, %0) {axis = 1} : f16[n,2], f16[n,2], f16[n,2]
                return %1, %2, %3
              }
            }
        "#]],
    );
}

#[test]
fn the_last_piece_of_a_sequence_is_smaller() {
    check(
        r#"module {
  fn @main(%x: f32[5]) -> (%a: f32[2], %b: f32[1]) opset("" = 12) {
    %two = const i32[] 2
    %i = const i64[] 0
    %k = const i32[] 2
    %s = onnx.SplitToSequence(%x, %two) : ?
    %0 = onnx.SequenceAt(%s, %i) : ?
    %1 = onnx.SequenceAt(%s, %k) : ?
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[5]) -> (%a: f32[2], %b: f32[1]) opset("" = 12) {
                %0, %1, %2 = onnx.Split(%x) {axis = 0, split = [2, 2, 1]} : f32[2], f32[2], f32[1]
                return %0, %2
              }
            }
        "#]],
    );
}

#[test]
fn one_element_of_a_sequence_is_a_slice_or_a_gather() {
    check(
        r#"module {
  fn @main(%x: bf16[3,m]) -> (%a: bf16[3,2], %b: bf16[m]) opset("" = 17) {
    %sizes = const i64[3] [1, 2, 4]
    %j = const i64[] 1
    %s = onnx.SplitToSequence(%x, %sizes) {axis = 1} : ?
    %0 = onnx.SequenceAt(%s, %j) : ?
    %1 = onnx.Add(%0, %0) : bf16[3,2]
    %rows = onnx.SplitToSequence(%x) {keepdims = 0} : ?
    %2 = onnx.SequenceAt(%rows, %j) : bf16[m]
    return %1, %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: bf16[3,m]) -> (%a: bf16[3,2], %b: bf16[m]) opset("" = 17) {
                %0 = const i64[1] [1]
                %1 = const i64[1] [3]
                %2 = const i64[1] [1]
                %3 = const i64[] 1
                %4 = onnx.Slice(%x, %0, %1, %2) : bf16[3,max(min(m,3)-1,0)]
                %5 = onnx.Add(%4, %4) : bf16[3,2]
                %6 = onnx.Gather(%x, %3) {axis = 0} : bf16[m]
                return %5, %6
              }
            }
        "#]],
    );
}

#[test]
fn a_sequence_that_is_needed_itself_stays() {
    check_stays(
        r#"module {
  fn @main(%x: f32[4], %k: i64[]) -> (%a: f32[2], %b: i64[], %c: f32[2]) opset("" = 17) {
    %two = const i64[] 2
    %i = const i64[] 0
    %s = onnx.SplitToSequence(%x, %two) : seq<f32[2]>
    %0 = onnx.SequenceAt(%s, %i) : f32[2]
    %1 = onnx.SequenceLength(%s) : i64[]
    %t = onnx.SplitToSequence(%x, %two) : seq<f32[2]>
    %2 = onnx.SequenceAt(%t, %k) : f32[2]
    return %0, %1, %2
  }
}"#,
    );
}

#[test]
fn sequences_made_of_tensors() {
    check(
        r#"module {
  fn @main(%x: f32[2,3], %y: f32[4,3]) -> (%a: f32[4,3], %b: f32[6,3]) opset("" = 17) {
    %i = const i64[] -1
    %s = onnx.SequenceConstruct(%x, %y) : ?
    %0 = onnx.SequenceAt(%s, %i) : f32[4,3]
    %1 = onnx.Relu(%0) : f32[4,3]
    %2 = onnx.ConcatFromSequence(%s) {axis = 0} : f32[6,3]
    return %1, %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %y: f32[4,3]) -> (%a: f32[4,3], %b: f32[6,3]) opset("" = 17) {
                %0 = onnx.Relu(%y) : f32[4,3]
                %1 = onnx.Concat(%x, %y) {axis = 0} : f32[6,3]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn slices_that_cover_an_axis_are_a_split() {
    for opset in [9, 12, 17] {
        let (constants, slice) = match opset {
            9 => (
                "",
                "onnx.Slice(%x) {starts = [START], ends = [END], axes = [1]}",
            ),
            _ => ("%a = const i64[1] [-1]", "onnx.Slice(%x, %START, %END, %a)"),
        };
        let slice = |name: &str, start: i64, end: i64| {
            let slice = slice
                .replace("%START", &format!("%s{name}"))
                .replace("%END", &format!("%e{name}"));
            let slice = slice
                .replace("START", &start.to_string())
                .replace("END", &end.to_string());
            let bounds = match opset {
                9 => String::new(),
                _ => format!(
                    "%s{name} = const i64[1] [{start}]\n    %e{name} = const i64[1] [{end}]\n    "
                ),
            };
            format!("{bounds}%{name} = {slice} : f32[n,2] loc(\"{name}\")\n    ")
        };
        let source = format!(
            "module {{\n  fn @main(%x: f32[n,6]) -> (%p: f32[n,2], %q: f32[n,2], %r: f32[n,2], %s: f32[n,2]) opset(\"\" = {opset}) {{\n    {constants}\n    {}{}{}{}%1 = onnx.Neg(%u) : f32[n,2]\n    %2 = onnx.Abs(%w) : f32[n,2]\n    return %t, %1, %v, %2\n  }}\n}}",
            slice("u", 2, 4),
            slice("t", 0, 2),
            slice("v", 4, 1000),
            slice("w", -2, 6),
        );
        let after = support::run_options(PASS, "", &source);
        assert_eq!(after.matches("onnx.Split(").count(), 1, "{after}");
        assert_eq!(after.matches("onnx.Slice(").count(), 0, "{after}");
        assert!(after.contains(r#"loc("u", "t", "v")"#), "{after}");
        let attribute = after.contains("split = [2, 2, 2]");
        assert_eq!(attribute, opset < 13, "{after}");
    }
}

#[test]
fn slices_with_gaps_overlaps_or_steps_stay() {
    check_stays(
        r#"module {
  fn @main(%x: f32[6,m]) -> (%a: f32[2,m], %b: f32[3,m], %c: f32[3,m], %d: f32[3,m], %e: f32[6,1]) opset("" = 17) {
    %zero = const i64[1] [0]
    %one = const i64[1] [1]
    %two = const i64[1] [2]
    %three = const i64[1] [3]
    %six = const i64[1] [6]
    %0 = onnx.Slice(%x, %zero, %two, %zero) : f32[2,m]
    %1 = onnx.Slice(%x, %three, %six, %zero) : f32[3,m]
    %2 = onnx.Slice(%x, %zero, %six, %zero, %two) : f32[3,m]
    %3 = onnx.Slice(%x, %one, %six, %zero, %two) : f32[3,m]
    %4 = onnx.Slice(%x, %zero, %one, %one) : f32[6,1]
    return %0, %1, %2, %3, %4
  }
}"#,
    );
}

#[test]
fn a_slice_of_a_slice() {
    check(
        r#"module {
  fn @main(%x: f64[n,9,k]) -> (%a: f64[n,2,k2]) opset("" = 17) {
    %zero = const i32[1] [0]
    %one = const i32[1] [1]
    %axis = const i32[1] [-1]
    %minus = const i32[1] [-3]
    %most = const i32[1] [2147483647]
    %two = const i32[1] [2]
    %back = const i32[1] [-1]
    %0 = onnx.Slice(%x, %most, %zero, %axis, %back) : f64[n,9,k2]
    %1 = onnx.Slice(%0, %minus, %most, %one) : f64[n,3,k2]
    %2 = onnx.Slice(%1, %zero, %two, %one) : f64[n,2,k2]
    %3 = onnx.Neg(%2) : f64[n,2,k2]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f64[n,9,k]) -> (%a: f64[n,2,k2]) opset("" = 17) {
                %0 = const i64[2] [6, 2147483647]
                %1 = const i64[2] [8, 0]
                %2 = const i64[2] [1, 2]
                %3 = const i64[2] [1, -1]
                %4 = onnx.Slice(%x, %0, %1, %2, %3) : f64[n,2,?]
                %5 = onnx.Neg(%4) : f64[n,2,k2]
                return %5
              }
            }
        "#]],
    );
}

#[test]
fn slices_of_whole_axes() {
    check(
        r#"module {
  fn @main(%x: f32[?,n]) -> (%y: f32[?,n], %z: f32[?,k]) opset("" = 10) {
    %zero = const i64[2] [0, 0]
    %most = const i64[2] [9223372036854775807, 9223372036854775807]
    %large = const i64[2] [9223372036854775807, 2147483647]
    %0 = onnx.Slice(%x, %zero, %most) : f32[?,n]
    %1 = onnx.Neg(%0) : f32[?,n]
    %2 = onnx.Slice(%1, %zero, %large) : f32[?,k]
    return %1, %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[?,n]) -> (%y: f32[?,n], %z: f32[?,k]) opset("" = 10) {
                %zero = const i64[2] [0, 0]
                %large = const i64[2] [9223372036854775807, 2147483647]
                %0 = onnx.Neg(%x) : f32[?,n]
                %1 = onnx.Slice(%0, %zero, %large) : f32[?,k]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn a_slice_of_a_slice_of_an_unknown_size() {
    check(
        r#"module {
  fn @main(%x: f32[n]) -> (%a: f32[p], %b: f32[q]) opset("" = 17) {
    %axis = const i64[1] [0]
    %two = const i64[1] [2]
    %seven = const i64[1] [7]
    %minus = const i64[1] [-1]
    %most = const i64[1] [9223372036854775807]
    %0 = onnx.Slice(%x, %two, %seven, %axis) : f32[k]
    %1 = onnx.Slice(%0, %two, %most, %axis) : f32[p]
    %2 = onnx.Slice(%x, %two, %minus, %axis) : f32[l]
    %3 = onnx.Slice(%2, %two, %most, %axis) : f32[q]
    return %1, %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n]) -> (%a: f32[p], %b: f32[q]) opset("" = 17) {
                %axis = const i64[1] [0]
                %two = const i64[1] [2]
                %minus = const i64[1] [-1]
                %most = const i64[1] [9223372036854775807]
                %0 = const i64[1] [4]
                %1 = const i64[1] [7]
                %2 = const i64[1] [0]
                %3 = onnx.Slice(%x, %0, %1, %2) : f32[max(min(n,7)-4,0)]
                %4 = onnx.Slice(%x, %two, %minus, %axis) : f32[l]
                %5 = onnx.Slice(%4, %two, %most, %axis) : f32[q]
                return %3, %5
              }
            }
        "#]],
    );
}

#[test]
fn pieces_put_together_again() {
    check(
        r#"module {
  fn @main(%x: f32[n,6]) -> (%a: f32[n,6], %b: f32[n,4], %c: f32[n,6]) opset("" = 17) {
    %axis = const i64[1] [1]
    %zero = const i64[1] [0]
    %two = const i64[1] [2]
    %four = const i64[1] [4]
    %0, %1, %2 = onnx.Split(%x) {axis = 1} : f32[n,2], f32[n,2], f32[n,2]
    %3 = onnx.Concat(%0, %1, %2) {axis = -1} : f32[n,6]
    %4 = onnx.Relu(%3) : f32[n,6]
    %5 = onnx.Slice(%x, %zero, %two, %axis) : f32[n,2]
    %6 = onnx.Slice(%x, %two, %four, %axis) : f32[n,2]
    %7 = onnx.Concat(%5, %6) {axis = 1} : f32[n,4]
    %8 = onnx.Concat(%1, %0, %2) {axis = 1} : f32[n,6]
    return %4, %7, %8
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,6]) -> (%a: f32[n,6], %b: f32[n,4], %c: f32[n,6]) opset("" = 17) {
                %0 = const i64[1] [0]
                %1 = const i64[1] [4]
                %2 = const i64[1] [1]
                %3, %4, %5 = onnx.Split(%x) {axis = 1} : f32[n,2], f32[n,2], f32[n,2]
                %6 = onnx.Relu(%x) : f32[n,6]
                %7 = onnx.Slice(%x, %0, %1, %2) : f32[n,4]
                %8 = onnx.Concat(%4, %3, %5) {axis = 1} : f32[n,6]
                return %6, %7, %8
              }
            }
        "#]],
    );
}

#[test]
fn concats_on_one_axis_in_a_region() {
    check(
        r#"module {
  fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[k]) opset("" = 17) {
    %y = onnx.If(%c) : f32[k]
      region then_branch {
        %0 = onnx.Concat(%x, %x) {axis = 0} : f32[4]
        %1 = onnx.Concat(%x, %0) {axis = -1} : f32[6]
        yield %1
      }
      region else_branch {
        %2 = onnx.Concat(%x, %x) {axis = 0} : f32[4]
        %3 = onnx.Concat(%2, %2) {axis = 0} : f32[8]
        yield %3
      }
    return %y
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[k]) opset("" = 17) {
                %y = onnx.If(%c) : f32[k]
                  region then_branch {
                    %0 = onnx.Concat(%x, %x, %x) {axis = -1} : f32[6]
                    yield %0
                  }
                  region else_branch {
                    %1 = onnx.Concat(%x, %x) {axis = 0} : f32[4]
                    %2 = onnx.Concat(%1, %1) {axis = 0} : f32[8]
                    yield %2
                  }
                return %y
              }
            }
        "#]],
    );
}

#[test]
fn what_is_folded_anyway_is_not_split() {
    // Of a constant every piece is one.
    check_stays(
        r#"module {
  fn @main() -> (%y: f32[2,1], %z: f32[2,1]) opset("" = 17) {
    %x = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %one = const i64[] 1
    %zero = const i64[] 0
    %0 = onnx.SplitToSequence(%x) {axis = 1} : seq<f32[2,1]>
    %1 = onnx.SequenceAt(%0, %one) : f32[2,1]
    %2 = onnx.SequenceAt(%0, %zero) : f32[2,1]
    return %1, %2
  }
}"#,
    );
}

#[test]
fn dims_that_runtimes_drop_stay() {
    // By its definition `keepdims` means nothing beside sizes; with sizes of 1 ONNX Runtime drops the axis.
    check_stays(
        r#"module {
  fn @main(%x: f32[3,3]) -> (%y) opset("" = 18) {
    %one = const i64[] 1
    %two = const i64[] 2
    %0 = onnx.SplitToSequence(%x, %one) {axis = 0, keepdims = 0}
    %1 = onnx.SequenceAt(%0, %two)
    return %1
  }
}"#,
    );
}

#[test]
fn elements_of_a_split() {
    check(
        r#"module {
  fn @main(%x: f32[3,2,n]) -> (%y: f32[2,n], %z: f32[2,n]) opset("" = 17) {
    %axis = const i64[1] [0]
    %0, %1, %2 = onnx.Split(%x) {axis = 0} : f32[1,2,n], f32[1,2,n], f32[1,2,n]
    %3 = onnx.Squeeze(%0, %axis) : f32[2,n]
    %4 = onnx.Squeeze(%2, %axis) : f32[2,n]
    return %3, %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[3,2,n]) -> (%y: f32[2,n], %z: f32[2,n]) opset("" = 17) {
                %0 = const i64[] 0
                %1 = const i64[] 2
                %2 = onnx.Gather(%x, %0) {axis = 0} : f32[2,n]
                %3 = onnx.Gather(%x, %1) {axis = 0} : f32[2,n]
                return %2, %3
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,1,n]) -> (%y: f32[1,n], %z: f32[1,1,n], %v: f32[1,n]) opset("" = 17) {
    %axis = const i64[1] [0]
    %other = const i64[1] [1]
    %0, %1 = onnx.Split(%x) {axis = 0} : f32[1,1,n], f32[1,1,n]
    %2 = onnx.Squeeze(%0, %axis) : f32[1,n]
    %3 = onnx.Squeeze(%1, %other) : f32[1,n]
    return %2, %0, %3
  }
}"#,
    );
}
