//! An `onnx.If` that joins ranks, of which only one branch can run.

use expect_test::expect;

use super::{check, check_stays, said};

/// An If that squeezes or doesn't, and what follows.
fn joined(signature: &str, rest: &str) -> String {
    format!(
        r#"module {{
  fn @main({signature}) -> (%y: f32[*]) opset("" = 17) {{
    %axis = const i64[1] [-1]
    %front = const i64[1] [0]
    %joined = onnx.If(%c) : f32[*]
      region then_branch {{
        %flat = onnx.Squeeze(%x, %axis) : f32[n,8]
        yield %flat
      }}
      region else_branch {{
        %same = onnx.Identity(%x) : f32[n,8,t]
        yield %same
      }}
{rest}  }}
}}"#
    )
}

const SIGNATURE: &str = "%x: f32[n,8,t], %w: f32[4,8,1], %c: bool[], %d: bool[]";

#[test]
fn a_convolution_takes_as_many_dims_as_its_weights_have() {
    check(
        &joined(
            SIGNATURE,
            "    %0 = onnx.Conv(%joined, %w) : f32[?,4,?]\n    return %0\n",
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[n,8,t], %w: f32[4,8,1], %c: bool[], %d: bool[]) -> (%y: f32[*]) opset("" = 17) {
                %axis = const i64[1] [-1]
                %front = const i64[1] [0]
                %0 = onnx.Conv(%x, %w) : f32[?,4,?]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn ranks_go_back_through_what_keeps_or_shifts_them() {
    check(
        &joined(
            "%x: f32[n,8,t], %w: f32[1,16,8], %r: f32[1,16,4], %c: bool[]",
            "\
    %0 = onnx.Relu(%joined) : f32[*]
    %1 = onnx.Cast(%0) {to = 1} : f32[*]
    %2 = onnx.Unsqueeze(%1, %front) : f32[*]
    %3, %4, %5 = onnx.LSTM(%2, %w, %r) {hidden_size = 4} : f32[?,1,?,4], f32[1,?,4], f32[1,?,4]
    return %3
",
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[n,8,t], %w: f32[1,16,8], %r: f32[1,16,4], %c: bool[]) -> (%y: f32[*]) opset("" = 17) {
                %axis = const i64[1] [-1]
                %front = const i64[1] [0]
                %flat = onnx.Squeeze(%x, %axis) : f32[n,8]
                %0 = onnx.Relu(%flat) : f32[*]
                %1 = onnx.Cast(%0) {to = 1} : f32[*]
                %2 = onnx.Unsqueeze(%1, %front) : f32[*]
                %3, %4, %5 = onnx.LSTM(%2, %w, %r) {hidden_size = 4} : f32[?,1,?,4], f32[1,?,4], f32[1,?,4]
                return %3
              }
            }
        "#]],
    );
}

/// The If squeezes before each of these, or doesn't, or stays.
#[track_caller]
fn squeezes(signature: &str, users: &[&str], squeezes: Option<bool>) {
    for user in users {
        let source = joined(signature, &format!("    {user}\n    return %0\n"));
        let (text, _) = said(&source);
        assert!(text.starts_with("module"), "{text}");
        assert_eq!(text.contains("onnx.If"), squeezes.is_none(), "{text}");
        assert_eq!(
            text.contains("onnx.Squeeze"),
            squeezes != Some(false),
            "{text}"
        );
    }
}

#[test]
fn axes_and_lists_say_how_many_dims_there_are() {
    let signature = "%x: f32[n,8,t], %c: bool[]";
    let of_three = [
        "%0 = onnx.Transpose(%joined) {perm = [2, 0, 1]} : f32[*]",
        "%0 = onnx.ReduceMax(%joined) {axes = [-3]} : f32[*]",
        "%0 = onnx.MaxPool(%joined) {kernel_shape = [2]} : f32[*]",
        "%0 = onnx.Concat(%joined, %x) {axis = 0} : f32[*]",
        "%0 = onnx.Concat(%joined, %joined) {axis = 2} : f32[*]",
        "%0, %1 = onnx.TopK(%joined, %front) {axis = 2} : f32[*], i64[*]",
    ];
    squeezes(signature, &of_three, Some(false));
    let of_two = [
        "%0 = onnx.Tile(%joined, %two) : f32[*]",
        "%0 = onnx.Pad(%joined, %four) : f32[*]",
        "%0 = onnx.Gemm(%joined, %joined) : f32[*]",
    ]
    .map(|user| {
        format!("%two = const i64[2] [1, 2]\n    %four = const i64[4] [0, 0, 1, 1]\n    {user}")
    });
    squeezes(
        signature,
        &of_two.each_ref().map(String::as_str),
        Some(true),
    );
    let of_any = [
        "%0 = onnx.ReduceMax(%joined) {axes = [-2]} : f32[*]",
        "%0 = onnx.Concat(%joined, %joined) {axis = 1} : f32[*]",
        "%0 = onnx.Gather(%joined, %front) {axis = 0} : f32[*]",
        "%0 = onnx.Add(%joined, %x) : f32[*]",
        "%0 = onnx.MatMul(%joined, %x) : f32[*]",
        "%0 = onnx.Reshape(%joined, %front) : f32[*]",
        "%0 = acme.Conv(%joined, %x) : f32[*]",
    ];
    squeezes(signature, &of_any, None);
}

#[test]
fn a_scalar_may_be_reduced_along_any_axis() {
    let signature = "%x: f32[n], %c: bool[]";
    let users = ["%0 = onnx.ReduceMax(%joined) {axes = [0]} : f32[*]"];
    squeezes(signature, &users, None);
}

#[test]
fn one_branch_that_runs_decides_about_another() {
    // The second If unsqueezes what is no matrix: its result is a matrix, so it doesn't.
    check(
        &joined(
            "%x: f32[n,8,t], %w: f32[8,4], %c: bool[], %d: bool[]",
            "\
    %0 = onnx.If(%d) : f32[*]
      region then_branch {
        %1 = onnx.Unsqueeze(%joined, %front) : f32[*]
        yield %1
      }
      region else_branch {
        %2 = onnx.Identity(%joined) : f32[*]
        yield %2
      }
    %3 = onnx.Gemm(%0, %w) : f32[?,4]
    return %3
",
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[n,8,t], %w: f32[8,4], %c: bool[], %d: bool[]) -> (%y: f32[*]) opset("" = 17) {
                %axis = const i64[1] [-1]
                %front = const i64[1] [0]
                %flat = onnx.Squeeze(%x, %axis) : f32[n,8]
                %0 = onnx.Gemm(%flat, %w) : f32[?,4]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn inside_of_regions_too() {
    check(
        r#"module {
  fn @main(%x: f32[n,8,t], %w: f32[4,8,1], %n: i64[], %go: bool[], %c: bool[]) -> (%y: f32[*]) opset("" = 17) {
    %axis = const i64[1] [-1]
    %0 = onnx.Loop(%n, %go) : f32[*]
      region body(%i: i64[], %cond: bool[]) {
        %joined = onnx.If(%c) : f32[*]
          region then_branch {
            %flat = onnx.Squeeze(%x, %axis) : f32[n,8]
            yield %flat
          }
          region else_branch {
            yield %x
          }
        %1 = onnx.Conv(%joined, %w) : f32[?,4,?]
        yield %cond, %1
      }
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,8,t], %w: f32[4,8,1], %n: i64[], %go: bool[], %c: bool[]) -> (%y: f32[*]) opset("" = 17) {
                %axis = const i64[1] [-1]
                %0 = onnx.Loop(%n, %go) : f32[*]
                  region body(%i: i64[], %cond: bool[]) {
                    %1 = onnx.Conv(%x, %w) : f32[?,4,?]
                    yield %cond, %1
                  }
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn what_a_loop_carries_may_have_another_rank_each_round() {
    check_stays(
        r#"module {
  fn @main(%x: f32[n,8,t], %w: f32[4,8,1], %n: i64[], %go: bool[], %c: bool[]) -> (%y: f32[*]) opset("" = 17) {
    %axis = const i64[1] [-1]
    %0 = onnx.Loop(%n, %go, %x) : f32[*]
      region body(%i: i64[], %cond: bool[], %v: f32[n,8,t]) {
        %joined = onnx.If(%c) : f32[*]
          region then_branch {
            %flat = onnx.Squeeze(%v, %axis) : f32[n,8]
            yield %flat
          }
          region else_branch {
            yield %v
          }
        %1 = onnx.Conv(%joined, %w) : f32[?,4,?]
        yield %cond, %1
      }
    return %0
  }
}"#,
        expect![[""]],
    );
}

#[test]
fn in_functions_that_are_called() {
    check(
        r#"module {
  fn @main(%x: f32[n,8,t], %w: f32[4,8,1], %c: bool[]) -> (%y: f32[*]) opset("" = 17, "acme" = 1) {
    %0 = acme.Head(%x, %w, %c) : f32[*]
    return %0
  }
  fn @acme.Head(%x: f32[n,8,t], %w: f32[4,8,1], %c: bool[]) -> (%y: f32[*]) opset("" = 17) {
    %axis = const i64[1] [-1]
    %joined = onnx.If(%c) : f32[*]
      region then_branch {
        %flat = onnx.Squeeze(%x, %axis) : f32[n,8]
        yield %flat
      }
      region else_branch {
        yield %x
      }
    %0 = onnx.Conv(%joined, %w) : f32[?,4,?]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,8,t], %w: f32[4,8,1], %c: bool[]) -> (%y: f32[*]) opset("" = 17, "acme" = 1) {
                %0 = acme.Head(%x, %w, %c) : f32[*]
                return %0
              }
              fn @acme.Head(%x: f32[n,8,t], %w: f32[4,8,1], %c: bool[]) -> (%y: f32[*]) opset("" = 17) {
                %axis = const i64[1] [-1]
                %0 = onnx.Conv(%x, %w) : f32[?,4,?]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn the_declared_types_of_branches_say_nothing() {
    // Squeezing whatever is 1: one run gave two dims.
    check_stays(
        r#"module {
  fn @main(%x: f32[n,8,t], %w: f32[4,8,1], %c: bool[]) -> (%y: f32[*]) opset("" = 17) {
    %joined = onnx.If(%c) : f32[*]
      region then_branch {
        %flat = onnx.Squeeze(%x) : f32[n,8]
        yield %flat
      }
      region else_branch {
        %same = onnx.Identity(%x) : f32[n,8,t]
        yield %same
      }
    %0 = onnx.Conv(%joined, %w) : f32[?,4,?]
    return %0
  }
}"#,
        expect![[""]],
    );
}

#[test]
fn what_takes_any_rank_says_nothing() {
    check_stays(
        &joined(
            SIGNATURE,
            "    %0 = onnx.Relu(%joined) : f32[*]\n    return %0\n",
        ),
        expect![[""]],
    );
}

#[test]
fn what_may_not_run_says_nothing() {
    check_stays(
        &joined(
            SIGNATURE,
            "\
    %0 = onnx.If(%d) : f32[*]
      region then_branch {
        %1 = onnx.Conv(%joined, %w) : f32[?,4,?]
        yield %1
      }
      region else_branch {
        %2 = onnx.Neg(%joined) : f32[*]
        yield %2
      }
    return %0
",
        ),
        expect![[""]],
    );
}

#[test]
fn what_leads_nowhere_says_nothing() {
    check_stays(
        &joined(
            SIGNATURE,
            "\
    %0 = onnx.Conv(%joined, %w) : f32[?,4,?]
    %1 = onnx.Relu(%joined) : f32[*]
    return %1
",
        ),
        expect![[""]],
    );
}

#[test]
fn what_the_function_gives_says_nothing() {
    // The declared rank of an output isn't checked by every runtime.
    check_stays(
        r#"module {
  fn @main(%x: f32[n,8,t], %c: bool[]) -> (%y: f32[n,8]) opset("" = 17) {
    %axis = const i64[1] [-1]
    %joined = onnx.If(%c) : f32[n,8]
      region then_branch {
        %flat = onnx.Squeeze(%x, %axis) : f32[n,8]
        yield %flat
      }
      region else_branch {
        yield %x
      }
    return %joined
  }
}"#,
        expect![[""]],
    );
}

#[test]
fn an_if_whose_branches_both_fail_stays() {
    check_stays(
        &joined(
            "%x: f32[n,8,t], %w: f32[4,8,1,1], %c: bool[]",
            "    %0 = onnx.Conv(%joined, %w) : f32[?,4,?,?]\n    return %0\n",
        ),
        expect![[""]],
    );
}
