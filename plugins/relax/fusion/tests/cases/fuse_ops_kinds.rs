//! Cases of `relax.transform.FuseOps`: what the kinds of ops and their sizes allow.

use expect_test::{Expect, expect};

use crate::support;

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check("relax.transform.FuseOps", source, expected);
}

#[track_caller]
fn check_stays(source: &str) {
    support::check_stays("relax.transform.FuseOps", source);
}

#[test]
fn gathered_elements_are_moved() {
    check(
        r#"module {
  fn @main(%x: f32[4,8], %i: i64[2]) -> (%b: f32[2,8]) opset("" = 17) {
    %a = onnx.Gather(%x, %i) {axis = 0} : f32[2,8]
    %b = onnx.Add(%a, %a) : f32[2,8]
    return %b
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,8], %i: i64[2]) -> (%b: f32[2,8]) opset("" = 17, "passdock.fused" = 1) {
                %b = passdock.fused.fused_gather_add(%x, %i) : f32[2,8]
                return %b
              }
              fn @passdock.fused.fused_gather_add(%x: f32[4,8], %i: i64[2]) -> (%b: f32[2,8]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %a = onnx.Gather(%x, %i) {axis = 0} : f32[2,8]
                %b = onnx.Add(%a, %a) : f32[2,8]
                return %b
              }
            }
        "#]],
    );
}

#[test]
fn a_reduction_takes_what_is_elementwise_before_it() {
    check(
        r#"module {
  fn @main(%x: f32[10,20]) -> (%r: f32[]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[10,20]
    %r = onnx.ReduceSum(%a) {keepdims = 0} : f32[]
    return %r
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[10,20]) -> (%r: f32[]) opset("" = 17, "passdock.fused" = 1) {
                %r = passdock.fused.fused_exp_reduce_sum(%x) : f32[]
                return %r
              }
              fn @passdock.fused.fused_exp_reduce_sum(%x: f32[10,20]) -> (%r: f32[]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %a = onnx.Exp(%x) : f32[10,20]
                %r = onnx.ReduceSum(%a) {keepdims = 0} : f32[]
                return %r
              }
            }
        "#]],
    );
}

#[test]
fn a_reduction_takes_nothing_behind_it() {
    check_stays(
        r#"module {
  fn @main(%x: f32[10,20]) -> (%a: f32[10,1]) opset("" = 17) {
    %r = onnx.ReduceMean(%x) {axes = [1]} : f32[10,1]
    %a = onnx.Exp(%r) : f32[10,1]
    return %a
  }
}"#,
    );
}

#[test]
fn a_reduction_takes_no_op_that_moves_elements() {
    check_stays(
        r#"module {
  fn @main(%x: f32[10,20]) -> (%r: f32[20,1]) opset("" = 17) {
    %a = onnx.Transpose(%x) {perm = [1, 0]} : f32[20,10]
    %r = onnx.ReduceMax(%a) {axes = [1]} : f32[20,1]
    return %r
  }
}"#,
    );
}

#[test]
fn two_reductions_stay_apart() {
    check(
        r#"module {
  fn @main(%x: f32[4,8]) -> (%s: f32[1,1]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[4,8]
    %r = onnx.ReduceSum(%a) : f32[1,1]
    %n = onnx.Neg(%r) : f32[1,1]
    %s = onnx.ReduceMax(%n) : f32[1,1]
    return %s
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,8]) -> (%s: f32[1,1]) opset("" = 17, "passdock.fused" = 1) {
                %r = passdock.fused.fused_exp_reduce_sum(%x) : f32[1,1]
                %s = passdock.fused.fused_neg_reduce_max(%r) : f32[1,1]
                return %s
              }
              fn @passdock.fused.fused_exp_reduce_sum(%x: f32[4,8]) -> (%r: f32[1,1]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %a = onnx.Exp(%x) : f32[4,8]
                %r = onnx.ReduceSum(%a) : f32[1,1]
                return %r
              }
              fn @passdock.fused.fused_neg_reduce_max(%r: f32[1,1]) -> (%s: f32[1,1]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %n = onnx.Neg(%r) : f32[1,1]
                %s = onnx.ReduceMax(%n) : f32[1,1]
                return %s
              }
            }
        "#]],
    );
}

#[test]
fn a_diamond_is_one() {
    check(
        r#"module {
  fn @main(%x: f32[10,20]) -> (%d: f32[10,20]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[10,20]
    %b = onnx.Neg(%a) : f32[10,20]
    %c = onnx.Abs(%a) : f32[10,20]
    %d = onnx.Mul(%b, %c) : f32[10,20]
    return %d
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[10,20]) -> (%d: f32[10,20]) opset("" = 17, "passdock.fused" = 1) {
                %d = passdock.fused.fused_exp_neg_abs_mul(%x) : f32[10,20]
                return %d
              }
              fn @passdock.fused.fused_exp_neg_abs_mul(%x: f32[10,20]) -> (%d: f32[10,20]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %a = onnx.Exp(%x) : f32[10,20]
                %b = onnx.Neg(%a) : f32[10,20]
                %c = onnx.Abs(%a) : f32[10,20]
                %d = onnx.Mul(%b, %c) : f32[10,20]
                return %d
              }
            }
        "#]],
    );
}

#[test]
fn a_diamond_around_something_opaque_stays_open() {
    check(
        r#"module {
  fn @main(%x: f32[10,20]) -> (%d: f32[10,20]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[10,20]
    %b = onnx.Hardmax(%a) : f32[10,20]
    %c = onnx.Abs(%a) : f32[10,20]
    %d = onnx.Mul(%b, %c) : f32[10,20]
    return %d
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[10,20]) -> (%d: f32[10,20]) opset("" = 17, "passdock.fused" = 1) {
                %a = onnx.Exp(%x) : f32[10,20]
                %b = onnx.Hardmax(%a) : f32[10,20]
                %d = passdock.fused.fused_abs_mul(%a, %b) : f32[10,20]
                return %d
              }
              fn @passdock.fused.fused_abs_mul(%a: f32[10,20], %b: f32[10,20]) -> (%d: f32[10,20]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %c = onnx.Abs(%a) : f32[10,20]
                %d = onnx.Mul(%b, %c) : f32[10,20]
                return %d
              }
            }
        "#]],
    );
}

#[test]
fn what_has_no_definition_or_is_random_is_left_alone() {
    check_stays(
        r#"module {
  fn @main(%x: f32[10,20]) -> (%e: f32[10,20]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[10,20]
    %b = acme.Unknown(%a) : f32[10,20]
    %c = onnx.Neg(%b) : f32[10,20]
    %d = onnx.RandomNormalLike(%c) : f32[10,20]
    %e = onnx.Abs(%d) : f32[10,20]
    return %e
  }
}"#,
    );
}

#[test]
fn symbols_of_dims_are_compared() {
    check(
        r#"module {
  fn @main(%x: f32[n,m], %w: f32[m,k], %b: f32[k], %c: f32[n,k]) -> (%g: f32[n,k]) opset("" = 17) {
    %d = onnx.MatMul(%x, %w) : f32[n,k]
    %e = onnx.Add(%d, %b) : f32[n,k]
    %f = onnx.Add(%e, %c) : f32[n,k]
    %g = onnx.Relu(%f) : f32[n,k]
    return %g
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,m], %w: f32[m,k], %b: f32[k], %c: f32[n,k]) -> (%g: f32[n,k]) opset("" = 17, "passdock.fused" = 1) {
                %g = passdock.fused.fused_mat_mul_add_add_relu(%x, %w, %b, %c) : f32[n,k]
                return %g
              }
              fn @passdock.fused.fused_mat_mul_add_add_relu(%x: f32[n,m], %w: f32[m,k], %b: f32[k], %c: f32[n,k]) -> (%g: f32[n,k]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %d = onnx.MatMul(%x, %w) : f32[n,k]
                %e = onnx.Add(%d, %b) : f32[n,k]
                %f = onnx.Add(%e, %c) : f32[n,k]
                %g = onnx.Relu(%f) : f32[n,k]
                return %g
              }
            }
        "#]],
    );
}

#[test]
fn what_may_be_of_another_size_is_not_taken() {
    check_stays(
        r#"module {
  fn @main(%x: f32[n,m], %w: f32[m,k], %c: f32[p,k]) -> (%e: f32[?,k]) opset("" = 17) {
    %d = onnx.MatMul(%x, %w) : f32[n,k]
    %e = onnx.Add(%d, %c) : f32[?,k]
    return %e
  }
}"#,
    );
}

#[test]
fn unknown_types_broadcast() {
    check(
        r#"module {
  fn @main(%x: ?) -> (%b) opset("" = 17) {
    %a = onnx.Exp(%x)
    %b = onnx.Add(%a, %x)
    return %b
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: ?) -> (%b) opset("" = 17, "passdock.fused" = 1) {
                %b = passdock.fused.fused_exp_add(%x)
                return %b
              }
              fn @passdock.fused.fused_exp_add(%x: ?) -> (%b) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %a = onnx.Exp(%x)
                %b = onnx.Add(%a, %x)
                return %b
              }
            }
        "#]],
    );
}

#[test]
fn what_is_computed_beside_an_opaque_op_is_one() {
    check(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[2,8]) opset("" = 17) {
    %0 = onnx.Hardmax(%x) : f32[2,8]
    %1 = onnx.Sigmoid(%0) : f32[2,8]
    %2 = onnx.Mul(%0, %1) : f32[2,8]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,8]) -> (%y: f32[2,8]) opset("" = 17, "passdock.fused" = 1) {
                %0 = onnx.Hardmax(%x) : f32[2,8]
                %1 = passdock.fused.fused_sigmoid_mul(%0) : f32[2,8]
                return %1
              }
              fn @passdock.fused.fused_sigmoid_mul(%0: f32[2,8]) -> (_: f32[2,8]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %1 = onnx.Sigmoid(%0) : f32[2,8]
                %2 = onnx.Mul(%0, %1) : f32[2,8]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn opaque_ops_take_nothing_and_are_not_taken() {
    check_stays(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[2,8]) opset("" = 17) {
    %0 = onnx.Exp(%x) : f32[2,8]
    %1 = onnx.Hardmax(%0) {axis = -1} : f32[2,8]
    %2 = onnx.Neg(%1) : f32[2,8]
    return %2
  }
}"#,
    );
}

#[test]
fn what_may_be_stretched_is_not_taken_by_a_convolution() {
    check_stays(
        r#"module {
  fn @main(%x: f32[1,1,8,8], %w: f32[1,1,3,3], %b: ?) -> (%y: ?) opset("" = 17) {
    %0 = onnx.Conv(%x, %w) : f32[1,1,6,6]
    %1 = onnx.Add(%0, %b) : ?
    return %1
  }
}"#,
    );
}

#[test]
fn ops_around_and_in_a_region_stay_apart() {
    check_stays(
        r#"module {
  fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Exp(%x) : f32[2]
    %3 = onnx.If(%c) : f32[2]
      region then_branch() {
        %1 = onnx.Neg(%0) : f32[2]
        yield %1
      }
      region else_branch() {
        %2 = onnx.Abs(%0) : f32[2]
        yield %2
      }
    %4 = onnx.Relu(%3) : f32[2]
    return %4
  }
}"#,
    );
}

#[test]
fn what_is_repeated_for_a_convolution_is_part_of_its_kernel() {
    check(
        r#"module {
  fn @main(%x: f32[1,2,8,8], %w: f32[2,2,3,3], %b: f32[2]) -> (%y: f32[1,2,6,6]) opset("" = 17) {
    %axes = const i64[2] [1, 2]
    %0 = onnx.Conv(%x, %w) : f32[1,2,6,6]
    %1 = onnx.Unsqueeze(%b, %axes) : f32[2,1,1]
    %2 = onnx.Add(%0, %1) : f32[1,2,6,6]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,2,8,8], %w: f32[2,2,3,3], %b: f32[2]) -> (%y: f32[1,2,6,6]) opset("" = 17, "passdock.fused" = 1) {
                %axes = const i64[2] [1, 2]
                %0 = passdock.fused.fused_conv_unsqueeze_add(%x, %w, %b) : f32[1,2,6,6]
                return %0
              }
              fn @passdock.fused.fused_conv_unsqueeze_add(%x: f32[1,2,8,8], %w: f32[2,2,3,3], %b: f32[2]) -> (_: f32[1,2,6,6]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %axes = const i64[2] [1, 2]
                %0 = onnx.Conv(%x, %w) : f32[1,2,6,6]
                %1 = onnx.Unsqueeze(%b, %axes) : f32[2,1,1]
                %2 = onnx.Add(%0, %1) : f32[1,2,6,6]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn what_is_repeated_is_reduced_at_once() {
    check(
        r#"module {
  fn @main(%x: f32[2,1]) -> (%y: f32[2,1]) opset("" = 17) {
    %shape = const i64[2] [2, 4]
    %0 = onnx.Expand(%x, %shape) : f32[2,4]
    %1 = onnx.ReduceMax(%0) {axes = [1]} : f32[2,1]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,1]) -> (%y: f32[2,1]) opset("" = 17, "passdock.fused" = 1) {
                %shape = const i64[2] [2, 4]
                %0 = passdock.fused.fused_expand_reduce_max(%x) : f32[2,1]
                return %0
              }
              fn @passdock.fused.fused_expand_reduce_max(%x: f32[2,1]) -> (_: f32[2,1]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %shape = const i64[2] [2, 4]
                %0 = onnx.Expand(%x, %shape) : f32[2,4]
                %1 = onnx.ReduceMax(%0) {axes = [1]} : f32[2,1]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_convolution_takes_nothing_that_repeats_its_result() {
    check_stays(
        r#"module {
  fn @main(%x: f32[1,2,8,8], %w: f32[2,2,3,3]) -> (%y: f32[1,2,6,6,1]) opset("" = 17) {
    %axes = const i64[1] [4]
    %0 = onnx.Conv(%x, %w) : f32[1,2,6,6]
    %1 = onnx.Unsqueeze(%0, %axes) : f32[1,2,6,6,1]
    return %1
  }
}"#,
    );
}
