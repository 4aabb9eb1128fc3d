//! Cases of `relax.transform.SimplifyExpr`: Transposes, views and reductions, and dims of 1.

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
fn transposes_meet_through_ops_that_work_along_axes() {
    check(
        r#"module {
  fn @main(%x: f32[n,4,5]) -> (%y: f32[n,2,1]) opset("" = 13) {
    %bias = const f32[4] [1.0, 2.0, 3.0, 4.0]
    %from = const i64[1] [1]
    %to = const i64[1] [3]
    %axis = const i64[1] [-1]
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[n,5,4]
    %1 = onnx.Add(%0, %bias) : f32[n,5,4]
    %2 = onnx.Softmax(%1) {axis = 1} : f32[n,5,4]
    %3 = onnx.Slice(%2, %from, %to, %axis) : f32[n,5,2]
    %4 = onnx.ReduceMax(%3) {axes = [1]} : f32[n,1,2]
    %5 = onnx.Transpose(%4) {perm = [0, 2, 1]} : f32[n,2,1]
    return %5
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,4,5]) -> (%y: f32[n,2,1]) opset("" = 13) {
                %0 = const f32[1,4,1] [1.0, 2.0, 3.0, 4.0]
                %1 = const i64[1] [1]
                %2 = const i64[1] [3]
                %3 = const i64[1] [1]
                %4 = onnx.Add(%x, %0) : f32[n,4,5]
                %5 = onnx.Softmax(%4) {axis = 2} : f32[n,4,5]
                %6 = onnx.Slice(%5, %1, %2, %3) : f32[n,2,5]
                %7 = onnx.ReduceMax(%6) {axes = [2]} : f32[n,2,1]
                return %7
              }
            }
        "#]],
    );
}

#[test]
fn transposes_do_not_meet_through_others() {
    check_stays(
        r#"module {
  fn @main(%x: f32[n,4,5], %b: f32[4]) -> (%y: f32[n,4,5], %z: f32[n,4,5], %u: f32[n,5,4], %v: f32[n,4,5]) opset("" = 12) {
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[n,5,4]
    %1 = onnx.Softmax(%0) {axis = 1} : f32[n,5,4]
    %2 = onnx.Transpose(%1) {perm = [0, 2, 1]} : f32[n,4,5]
    %3 = onnx.Add(%0, %b) : f32[n,5,4]
    %4 = onnx.Transpose(%3) {perm = [0, 2, 1]} : f32[n,4,5]
    %5 = onnx.Neg(%0) : f32[n,5,4]
    %6 = onnx.Transpose(%5) {perm = [0, 2, 1]} : f32[n,4,5]
    return %2, %4, %5, %6
  }
}"#,
    );
}

#[test]
fn a_view_that_moves_dims_of_1_is_part_of_the_transpose() {
    check(
        r#"module {
  fn @main(%x: f32[n,36,1,172], %z: f32[n,36,1,172]) -> (%y: f32[n,172,36,2]) opset("" = 17) {
    %shape = const i64[4] [0, 172, 36, 1]
    %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[n,1,172,36]
    %1 = onnx.Reshape(%0, %shape) : f32[n,172,36,1]
    %2 = onnx.Transpose(%z) {perm = [0, 2, 3, 1]} : f32[n,1,172,36]
    %3 = onnx.Reshape(%2, %shape) : f32[n,172,36,1]
    %4 = onnx.Concat(%1, %3) {axis = -1} : f32[n,172,36,2]
    return %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,36,1,172], %z: f32[n,36,1,172]) -> (%y: f32[n,172,36,2]) opset("" = 17) {
                %0 = onnx.Concat(%x, %z) {axis = 2} : f32[n,36,2,172]
                %1 = onnx.Transpose(%0) {perm = [0, 3, 1, 2]} : f32[n,172,36,2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_view_that_mixes_dims_stays() {
    check_stays(
        r#"module {
  fn @main(%x: f32[n,4,1,4], %z: f32[?,4,1]) -> (%y: f32[n,1,2,8], %u: f32[4,?,1]) opset("" = 17) {
    %shape = const i64[4] [0, 1, 2, 8]
    %other = const i64[3] [4, -1, 1]
    %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[n,1,4,4]
    %1 = onnx.Reshape(%0, %shape) : f32[n,1,2,8]
    %2 = onnx.Transpose(%z) {perm = [1, 2, 0]} : f32[4,1,?]
    %3 = onnx.Reshape(%2, %other) : f32[4,?,1]
    return %1, %3
  }
}"#,
    );
}

#[test]
fn an_unsqueeze_comes_before_a_transpose_of_a_view() {
    check(
        r#"module {
  fn @main(%x: f32[2401,3]) -> (%y: f32[1,3,49,49]) opset("" = 12) {
    %shape = const i64[3] [49, 49, -1]
    %0 = onnx.Reshape(%x, %shape) : f32[49,49,3]
    %1 = onnx.Transpose(%0) {perm = [2, 0, 1]} : f32[3,49,49]
    %2 = onnx.Unsqueeze(%1) {axes = [0]} : f32[1,3,49,49]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2401,3]) -> (%y: f32[1,3,49,49]) opset("" = 12) {
                %0 = const i64[4] [1, 49, 49, 3]
                %1 = onnx.Reshape(%x, %0) : f32[1,49,49,3]
                %2 = onnx.Transpose(%1) {perm = [0, 3, 1, 2]} : f32[1,3,49,49]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn a_pad_between_views() {
    check(
        r#"module {
  fn @main(%x: f32[n,1,1,6]) -> (%y: f32[n,1,1,10], %z: f32[n,1,1,7]) opset("" = 12) {
    %three = const i64[3] [0, 1, 6]
    %ten = const i64[4] [-1, 1, 1, 10]
    %pads = const i64[6] [0, 0, 2, 0, 0, 2]
    %one = const i64[6] [0, 0, 0, 0, 0, 1]
    %zero = const f32[] 0.0
    %0 = onnx.Reshape(%x, %three) : f32[n,1,6]
    %1 = onnx.Pad(%0, %pads) {mode = "reflect"} : f32[n,1,10]
    %2 = onnx.Reshape(%1, %ten) : f32[n,1,1,10]
    %3 = onnx.Pad(%0, %one, %zero) : f32[n,1,7]
    %4 = onnx.Unsqueeze(%3) {axes = [1]} : f32[n,1,1,7]
    return %2, %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,1,1,6]) -> (%y: f32[n,1,1,10], %z: f32[n,1,1,7]) opset("" = 12) {
                %zero = const f32[] 0.0
                %0 = const i64[8] [0, 0, 0, 2, 0, 0, 0, 2]
                %1 = const i64[8] [0, 0, 0, 0, 0, 0, 0, 1]
                %2 = onnx.Pad(%x, %0) {mode = "reflect"} : f32[n,1,1,10]
                %3 = onnx.Pad(%x, %1, %zero) : f32[n,1,1,7]
                return %2, %3
              }
            }
        "#]],
    );
}

#[test]
fn a_pad_of_dims_of_1_or_between_other_views_stays() {
    check_stays(
        r#"module {
  fn @main(%x: f32[n,1,6,2]) -> (%y: f32[n,3,6,2], %z: f32[n,1,14,1]) opset("" = 12) {
    %three = const i64[3] [0, 6, 2]
    %flat = const i64[3] [0, 1, 12]
    %four = const i64[4] [0, 3, 6, 2]
    %more = const i64[4] [0, 1, 14, 1]
    %pads = const i64[8] [0, 0, 1, 0, 0, 0, 1, 0]
    %one = const i64[6] [0, 0, 0, 0, 0, 2]
    %wide = const i64[4] [0, 6, 1, 2]
    %0 = onnx.Reshape(%x, %wide) : f32[n,6,1,2]
    %1 = onnx.Pad(%0, %pads) {mode = "edge"} : f32[n,6,3,2]
    %2 = onnx.Reshape(%1, %four) : f32[n,3,6,2]
    %3 = onnx.Reshape(%x, %flat) : f32[n,1,12]
    %4 = onnx.Pad(%3, %one) : f32[n,1,14]
    %5 = onnx.Reshape(%4, %more) : f32[n,1,14,1]
    return %2, %5
  }
}"#,
    );
}

#[test]
fn reductions_keep_or_drop_their_dims_themselves() {
    check(
        r#"module {
  fn @main(%x: f32[n,3,m], %u: f32[*]) -> (%a: f32[n,1,1], %b: f32[n,m], %c: f32[*], %d: i64[n,1,m]) opset("" = 15) {
    %shape = const i64[3] [0, 1, 1]
    %one = const i64[1] [1]
    %0 = onnx.ReduceMin(%x) {axes = [1, 2], keepdims = 0} : f32[n]
    %1 = onnx.Reshape(%0, %shape) : f32[n,1,1]
    %2 = onnx.ReduceSum(%x, %one) : f32[n,1,m]
    %3 = onnx.Squeeze(%2, %one) : f32[n,m]
    %4 = onnx.ReduceMean(%u) {axes = [1], keepdims = 0} : f32[*]
    %5 = onnx.Unsqueeze(%4, %one) : f32[*]
    %6 = onnx.ArgMax(%x) {axis = -2, keepdims = 0} : i64[n,m]
    %7 = onnx.Unsqueeze(%6, %one) : i64[n,1,m]
    return %1, %3, %5, %7
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,3,m], %u: f32[*]) -> (%a: f32[n,1,1], %b: f32[n,m], %c: f32[*], %d: i64[n,1,m]) opset("" = 15) {
                %one = const i64[1] [1]
                %0 = onnx.ReduceMin(%x) {axes = [1, 2], keepdims = 1} : f32[n,1,1]
                %1 = onnx.ReduceSum(%x, %one) {keepdims = 0} : f32[n,m]
                %2 = onnx.ReduceMean(%u) {axes = [1], keepdims = 1} : f32[*]
                %3 = onnx.ArgMax(%x) {axis = -2, keepdims = 1} : i64[n,1,m]
                return %0, %1, %2, %3
              }
            }
        "#]],
    );
}

#[test]
fn reductions_whose_dims_others_need_stay() {
    check_stays(
        r#"module {
  fn @main(%x: f32[n,3,m], %u: f32[*]) -> (%a: f32[n,m], %b: f32[n,1,m], %c: f32[1,n,m], %d: f32[*]) opset("" = 15) {
    %zero = const i64[1] [0]
    %one = const i64[1] [1]
    %minus = const i64[1] [-1]
    %0 = onnx.ReduceMin(%x) {axes = [1], keepdims = 0} : f32[n,m]
    %1 = onnx.Unsqueeze(%0, %one) : f32[n,1,m]
    %2 = onnx.ReduceMax(%x) {axes = [1], keepdims = 0} : f32[n,m]
    %3 = onnx.Unsqueeze(%2, %zero) : f32[1,n,m]
    %4 = onnx.ReduceMean(%u) {axes = [-1], keepdims = 0} : f32[*]
    %5 = onnx.Unsqueeze(%4, %minus) : f32[*]
    return %0, %1, %3, %5
  }
}"#,
    );
}

#[test]
fn a_reduction_takes_a_transpose_in() {
    check(
        r#"module {
  fn @main(%x: f32[n,3,2,5]) -> (%y: f32[n,3,5], %z: f32[n,5,3]) opset("" = 13) {
    %last = const i64[1] [-1]
    %0 = onnx.Transpose(%x) {perm = [0, 1, 3, 2]} : f32[n,3,5,2]
    %5 = onnx.Exp(%0) : f32[n,3,5,2]
    %1 = onnx.Mul(%5, %5) : f32[n,3,5,2]
    %2 = onnx.ReduceSum(%1, %last) {keepdims = 0} : f32[n,3,5]
    %3 = onnx.Transpose(%x) {perm = [0, 3, 1, 2]} : f32[n,5,3,2]
    %4 = onnx.ReduceMax(%3) {axes = [3], keepdims = 0} : f32[n,5,3]
    return %2, %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,3,2,5]) -> (%y: f32[n,3,5], %z: f32[n,5,3]) opset("" = 13) {
                %0 = const i64[1] [2]
                %1 = onnx.Exp(%x) : f32[n,3,2,5]
                %2 = onnx.Mul(%1, %1) : f32[n,3,2,5]
                %3 = onnx.ReduceSum(%2, %0) {keepdims = 0} : f32[n,3,5]
                %4 = onnx.Transpose(%x) {perm = [0, 3, 1, 2]} : f32[n,5,3,2]
                %5 = onnx.ReduceMax(%4) {axes = [3], keepdims = 0} : f32[n,5,3]
                return %3, %5
              }
            }
        "#]],
    );
}

/// What meets the transposed value would be transposed in its place, and then that moved in turn, without an end.
#[test]
fn a_reduction_of_several_takes_in_all_of_their_transposes_or_none() {
    check_stays(
        r#"module {
  fn @main(%x: f32[n,3,2], %u: f32[n,2,3], %v: f32[2,n,3]) -> (%y: f32[n,2], %z: f32[n,2]) opset("" = 13) {
    %last = const i64[1] [-1]
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[n,2,3]
    %1 = onnx.Add(%0, %u) : f32[n,2,3]
    %2 = onnx.ReduceSum(%1, %last) {keepdims = 0} : f32[n,2]
    %3 = onnx.Transpose(%v) {perm = [1, 0, 2]} : f32[n,2,3]
    %4 = onnx.Mul(%3, %0) : f32[n,2,3]
    %5 = onnx.ReduceMax(%4) {axes = [2], keepdims = 0} : f32[n,2]
    return %2, %5
  }
}"#,
    );
    check(
        r#"module {
  fn @main(%x: f32[n,3,2], %u: f32[n,3,2]) -> (%y: f32[n,2]) opset("" = 13) {
    %last = const i64[1] [-1]
    %bias = const f32[2,1] [1.0, 2.0]
    %0 = onnx.Transpose(%x) {perm = [0, 2, 1]} : f32[n,2,3]
    %1 = onnx.Transpose(%u) {perm = [0, 2, 1]} : f32[n,2,3]
    %2 = onnx.Add(%0, %1) : f32[n,2,3]
    %3 = onnx.Mul(%bias, %2) : f32[n,2,3]
    %4 = onnx.ReduceSum(%3, %last) {keepdims = 0} : f32[n,2]
    return %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,3,2], %u: f32[n,3,2]) -> (%y: f32[n,2]) opset("" = 13) {
                %0 = const f32[1,1,2] [1.0, 2.0]
                %1 = const i64[1] [1]
                %2 = onnx.Add(%x, %u) : f32[n,3,2]
                %3 = onnx.Mul(%0, %2) : f32[n,3,2]
                %4 = onnx.ReduceSum(%3, %1) {keepdims = 0} : f32[n,2]
                return %4
              }
            }
        "#]],
    );
}

#[test]
fn gathers_of_one_index() {
    check(
        r#"module {
  fn @main(%x: f32[n,3,m], %u: i64[2]) -> (%a: f32[n,m], %b: f32[n,1,m], %c: f32[n,m], %d: i64[1]) opset("" = 12) {
    %zero = const i32[] 0
    %two = const i64[1] [2]
    %s = const i64[1] [-1]
    %e = const i64[1] [9]
    %axis = const i64[1] [1]
    %one = const i64[] 1
    %0 = onnx.Gather(%x, %two) {axis = 1} : f32[n,1,m]
    %1 = onnx.Squeeze(%0) {axes = [1]} : f32[n,m]
    %2 = onnx.Gather(%x, %one) {axis = -2} : f32[n,m]
    %3 = onnx.Unsqueeze(%2) {axes = [1]} : f32[n,1,m]
    %4 = onnx.Slice(%x, %s, %e, %axis) : f32[n,1,m]
    %5 = onnx.Squeeze(%4) {axes = [-2]} : f32[n,m]
    %6 = onnx.Gather(%u, %zero) : i64[]
    %7 = onnx.Unsqueeze(%6) {axes = [0]} : i64[1]
    return %1, %3, %5, %7
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,3,m], %u: i64[2]) -> (%a: f32[n,m], %b: f32[n,1,m], %c: f32[n,m], %d: i64[1]) opset("" = 12) {
                %0 = const i64[] 2
                %1 = const i64[1] [1]
                %2 = const i64[] 2
                %3 = const i64[1] [0]
                %4 = onnx.Gather(%x, %0) {axis = 1} : f32[n,m]
                %5 = onnx.Gather(%x, %1) {axis = -2} : f32[n,1,m]
                %6 = onnx.Gather(%x, %2) {axis = 1} : f32[n,m]
                %7 = onnx.Gather(%u, %3) {axis = 0} : i64[1]
                return %4, %5, %6, %7
              }
            }
        "#]],
    );
}

#[test]
fn gathers_that_others_use_or_of_other_axes_stay() {
    check_stays(
        r#"module {
  fn @main(%x: f32[1,3,m], %i: i64[]) -> (%a: f32[3,m], %b: f32[1,m], %c: f32[1,m,1], %d: f32[1,1,m], %e: f32[1,k,m]) opset("" = 13) {
    %two = const i64[1] [2]
    %one = const i64[] 1
    %zero = const i64[1] [0]
    %axis = const i64[1] [1]
    %0 = onnx.Gather(%x, %axis) {axis = 1} : f32[1,1,m]
    %1 = onnx.Squeeze(%0, %zero) : f32[1,m]
    %2 = onnx.Gather(%x, %one) {axis = 1} : f32[1,m]
    %3 = onnx.Unsqueeze(%2, %two) : f32[1,m,1]
    %4 = onnx.Gather(%x, %i) {axis = 1} : f32[1,m]
    %5 = onnx.Unsqueeze(%4, %axis) : f32[1,1,m]
    %6 = onnx.Slice(%x, %zero, %two, %axis) : f32[1,2,m]
    %7 = onnx.Squeeze(%6, %zero) : f32[2,m]
    return %7, %1, %3, %5, %6
  }
}"#,
    );
}

#[test]
fn inside_functions_and_regions() {
    check(
        r#"module {
  fn @main(%x: f64[2,3], %c: bool[]) -> (%y: f64[3,2]) opset("" = 17) {
    %y = onnx.If(%c) : f64[3,2]
      region then_branch {
        %0 = onnx.Transpose(%x) : f64[3,2]
        %1 = onnx.Transpose(%0) : f64[2,3]
        %2 = onnx.Exp(%1) : f64[2,3]
        %3 = onnx.Transpose(%2) : f64[3,2]
        yield %3
      }
      region else_branch {
        %4 = onnx.Transpose(%x) : f64[3,2]
        %5 = onnx.Neg(%4) : f64[3,2]
        %6 = onnx.Transpose(%5) : f64[2,3]
        %7 = onnx.Transpose(%6) : f64[3,2]
        yield %7
      }
    return %y
  }
  fn @own.f(%x: bf16[0,1]) -> (%y: bf16[1,0]) opset("" = 17) {
    %0 = onnx.Transpose(%x) {perm = [1, 0]} : bf16[1,0]
    %1 = onnx.Neg(%0) : bf16[1,0]
    %2 = onnx.Neg(%1) : bf16[1,0]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f64[2,3], %c: bool[]) -> (%y: f64[3,2]) opset("" = 17) {
                %y = onnx.If(%c) : f64[3,2]
                  region then_branch {
                    %0 = onnx.Exp(%x) : f64[2,3]
                    %1 = onnx.Transpose(%0) : f64[3,2]
                    yield %1
                  }
                  region else_branch {
                    %2 = onnx.Neg(%x) : f64[2,3]
                    %3 = onnx.Transpose(%2) : f64[3,2]
                    yield %3
                  }
                return %y
              }
              fn @own.f(%x: bf16[0,1]) -> (%y: bf16[1,0]) opset("" = 17) {
                %0 = onnx.Transpose(%x) {perm = [1, 0]} : bf16[1,0]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_reduction_transposes_nothing_that_stands_beside() {
    // It would be as many ops, and the Transpose could go back and forth.
    check_stays(
        r#"module {
  fn @main(%x: f32[4,2], %z: f32[2,4]) -> (%y: f32[]) opset("" = 16) {
    %0 = onnx.Transpose(%x) {perm = [1, 0]} : f32[2,4]
    %1 = onnx.Add(%z, %0) : f32[2,4]
    %2 = onnx.ReduceProd(%1) {axes = [0, 1], keepdims = 0} : f32[]
    return %2
  }
}"#,
    );
}

#[test]
fn what_is_declared_of_outputs_is_not_relied_on() {
    // A runtime gives out what came: only n, n and 1 say that the Slice takes all, and that the Squeeze drops one.
    check_stays(
        r#"module {
  fn @main(%x: f32[n,4], %z: f32[n,m,4]) -> (%y: f32[n,4], %u: f32[n,4]) opset("" = 13) {
    %from = const i64[1] [0]
    %to = const i64[1] [1]
    %axis = const i64[1] [0]
    %0 = onnx.Relu(%x) : f32[n,4]
    %1 = onnx.Slice(%0, %from, %to, %axis) : f32[n,4]
    %2 = onnx.ReduceMax(%z) {axes = [1], keepdims = 1} : f32[n,1,4]
    %3 = onnx.Squeeze(%2) : f32[n,4]
    return %1, %3
  }
}"#,
    );
    // Known from the operands, it is.
    check(
        r#"module {
  fn @main(%x: f32[n,4]) -> (%y: f32[n,4]) opset("" = 13) {
    %from = const i64[1] [0]
    %to = const i64[1] [9]
    %axis = const i64[1] [1]
    %0 = onnx.Relu(%x) : f32[n,4]
    %1 = onnx.Slice(%0, %from, %to, %axis) : f32[n,4]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,4]) -> (%y: f32[n,4]) opset("" = 13) {
                %0 = onnx.Relu(%x) : f32[n,4]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_scalar_is_not_padded() {
    check_stays(
        r#"module {
  fn @main(%x: f32[]) -> (%y: f32[], %z: f32[1], %u: f32[1]) opset("" = 22) {
    %one = const i64[1] [1]
    %none = const i64[0] []
    %nothing = const i64[2] [0, 0]
    %0 = onnx.Reshape(%x, %one) : f32[1]
    %1 = onnx.Pad(%0, %nothing) {mode = "reflect"} : f32[1]
    %2 = onnx.Reshape(%1, %none) : f32[]
    return %2, %1, %0
  }
}"#,
    );
}

/// Nor of what uses them: types are inferred from what the outputs' own ops say.
#[test]
fn what_is_declared_of_outputs_is_not_handed_on() {
    let source = r#"module {
  fn @main(%x: f32[2,2]) -> (%v: f32[2,2], %w: f32[2,2]) opset("" = 23) {
    %s = onnx.SequenceConstruct(%x)
    %c = onnx.ConcatFromSequence(%s) {axis = 1, new_axis = 1}
    %v = onnx.Identity(%c) : f32[2,2]
    %t = onnx.Transpose(%v) {perm = [0, 2, 1]}
    %w = onnx.Squeeze(%t) : f32[2,2]
    return %v, %w
  }
}"#;
    let passes = ["relax.transform.InferType", PASS];
    let text = passdock::testing::run_on_text(&support::registry(), &passes, source, |cx| {
        cx.on_diagnostic(|_| ())
    });
    expect![[r#"
        module {
          fn @main(%x: f32[2,2]) -> (%v: f32[2,?,2], %w: f32[2,2]) opset("" = 23) {
            %0 = const i64[1] [1]
            %1 = const i64[2] [2, 2]
            %c = onnx.Unsqueeze(%x, %0) : f32[2,1,2]
            %v = onnx.Identity(%c) : f32[2,_1,2]
            %w = onnx.Reshape(%v, %1) : f32[2,2]
            return %v, %w
          }
        }
    "#]]
    .assert_eq(&text);
}

#[test]
fn transposes_meet_through_what_is_split_and_meets_again() {
    let source = |given: &str| {
        format!(
            r#"module {{
  fn @main(%x: f32[1,4,8,8]) -> (%y: f32[1,2,8,8], %z: f32[1,8,8,2]) opset("" = 17) {{
    %0 = onnx.Transpose(%x) {{perm = [0, 2, 3, 1]}} : f32[1,8,8,4]
    %1, %2 = onnx.Split(%0) {{axis = 3}} : f32[1,8,8,2], f32[1,8,8,2]
    %3 = onnx.Mul(%1, %2) : f32[1,8,8,2]
    %4 = onnx.Transpose(%3) {{perm = [0, 3, 1, 2]}} : f32[1,2,8,8]
    return {given}
  }}
}}"#
        )
    };
    let alone = source("%4").replace(", %z: f32[1,8,8,2]", "");
    check(
        &alone,
        expect![[r#"
        module {
          fn @main(%x: f32[1,4,8,8]) -> (%y: f32[1,2,8,8]) opset("" = 17) {
            %0, %1 = onnx.Split(%x) {axis = 1} : f32[1,2,8,8], f32[1,2,8,8]
            %2 = onnx.Mul(%0, %1) : f32[1,2,8,8]
            return %2
          }
        }
    "#]],
    );
    // A part that somebody else needs as it is.
    check_stays(&source("%4, %2"));
}
