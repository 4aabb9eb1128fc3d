//! Cases of `relax.transform.FuseOps`: which ops become one.

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
fn a_chain_of_elementwise_ops_and_what_moves_elements_is_one() {
    check(
        r#"module {
  fn @main(%x: f32[10,20]) -> (%c: f32[20,10]) opset("" = 17) {
    %one = const f32[] 1.0
    %a = onnx.Add(%x, %one) : f32[10,20]
    %b = onnx.Exp(%a) : f32[10,20]
    %c = onnx.Transpose(%b) {perm = [1, 0]} : f32[20,10]
    return %c
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[10,20]) -> (%c: f32[20,10]) opset("" = 17, "passdock.fused" = 1) {
                %one = const f32[] 1.0
                %c = passdock.fused.fused_add_exp_transpose(%x) : f32[20,10]
                return %c
              }
              fn @passdock.fused.fused_add_exp_transpose(%x: f32[10,20]) -> (%c: f32[20,10]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %one = const f32[] 1.0
                %a = onnx.Add(%x, %one) : f32[10,20]
                %b = onnx.Exp(%a) : f32[10,20]
                %c = onnx.Transpose(%b) {perm = [1, 0]} : f32[20,10]
                return %c
              }
            }
        "#]],
    );
}

#[test]
fn one_op_stays() {
    check_stays(
        r#"module {
  fn @main(%x: f32[10,20]) -> (%a: f32[10,20]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[10,20]
    return %a
  }
}"#,
    );
}

#[test]
fn what_is_given_out_in_between_ends_a_group() {
    check_stays(
        r#"module {
  fn @main(%x: f32[10,20]) -> (%a: f32[10,20], %b: f32[10,20]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[10,20]
    %b = onnx.Neg(%a) : f32[10,20]
    return %a, %b
  }
}"#,
    );
}

#[test]
fn convolutions_take_what_is_elementwise_behind_them() {
    check(
        r#"module {
  fn @main(%x: f32[1,16,64,64], %w: f32[16,16,3,3], %v: f32[16,16,1,1]) -> (%z: f32[1,16,64,64]) opset("" = 17) {
    %one = const f32[] 1.0
    %x1 = onnx.Add(%x, %one) : f32[1,16,64,64]
    %y = onnx.Conv(%x1, %w) {pads = [1, 1, 1, 1]} : f32[1,16,64,64]
    %y1 = onnx.Add(%one, %y) : f32[1,16,64,64]
    %y2 = onnx.Add(%y, %y1) : f32[1,16,64,64]
    %z2 = onnx.Conv(%y2, %v) : f32[1,16,64,64]
    %z3 = onnx.Conv(%y2, %w) {pads = [1, 1, 1, 1]} : f32[1,16,64,64]
    %z = onnx.Add(%z2, %z3) : f32[1,16,64,64]
    return %z
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,16,64,64], %w: f32[16,16,3,3], %v: f32[16,16,1,1]) -> (%z: f32[1,16,64,64]) opset("" = 17, "passdock.fused" = 1) {
                %one = const f32[] 1.0
                %x1 = onnx.Add(%x, %one) : f32[1,16,64,64]
                %y2 = passdock.fused.fused_conv_add_add(%x1, %w) : f32[1,16,64,64]
                %z3 = onnx.Conv(%y2, %w) {pads = [1, 1, 1, 1]} : f32[1,16,64,64]
                %z = passdock.fused.fused_conv_add(%y2, %v, %z3) {places = [4, 6]} : f32[1,16,64,64]
                return %z
              }
              fn @passdock.fused.fused_conv_add_add(%x1: f32[1,16,64,64], %w: f32[16,16,3,3]) -> (%y2: f32[1,16,64,64]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %one = const f32[] 1.0
                %y = onnx.Conv(%x1, %w) {pads = [1, 1, 1, 1]} : f32[1,16,64,64]
                %y1 = onnx.Add(%one, %y) : f32[1,16,64,64]
                %y2 = onnx.Add(%y, %y1) : f32[1,16,64,64]
                return %y2
              }
              fn @passdock.fused.fused_conv_add(%y2: f32[1,16,64,64], %v: f32[16,16,1,1], %z3: f32[1,16,64,64]) -> (%z: f32[1,16,64,64]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1, param places = ints[]} {
                %z2 = onnx.Conv(%y2, %v) : f32[1,16,64,64]
                %z = onnx.Add(%z2, %z3) : f32[1,16,64,64]
                return %z
              }
            }
        "#]],
    );
}

#[test]
fn a_convolution_takes_no_op_that_moves_elements() {
    check_stays(
        r#"module {
  fn @main(%x: f32[1,16,64,64], %w: f32[16,16,3,3], %v: f32[16,16,1,1]) -> (%z: f32[1,64,64,16]) opset("" = 17) {
    %y = onnx.Conv(%x, %v) : f32[1,16,64,64]
    %z = onnx.Transpose(%y) {perm = [0, 2, 3, 1]} : f32[1,64,64,16]
    return %z
  }
}"#,
    );
}

#[test]
fn a_convolution_takes_no_op_of_a_larger_shape() {
    check_stays(
        r#"module {
  fn @main(%x: f32[1,16,1,1], %v: f32[16,16,1,1], %b: f32[1,16,8,8]) -> (%z: f32[1,16,8,8]) opset("" = 17) {
    %y = onnx.Conv(%x, %v) : f32[1,16,1,1]
    %z = onnx.Add(%y, %b) : f32[1,16,8,8]
    return %z
  }
}"#,
    );
}

#[test]
fn a_bias_along_the_channels_is_taken() {
    check(
        r#"module {
  fn @main(%x: f32[1,16,64,64], %w: f32[16,16,3,3], %v: f32[16,16,1,1], %b: f32[16,1,1]) -> (%z: f32[1,16,64,64]) opset("" = 17) {
    %y = onnx.Conv(%x, %v) : f32[1,16,64,64]
    %z = onnx.Add(%y, %b) : f32[1,16,64,64]
    return %z
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,16,64,64], %w: f32[16,16,3,3], %v: f32[16,16,1,1], %b: f32[16,1,1]) -> (%z: f32[1,16,64,64]) opset("" = 17, "passdock.fused" = 1) {
                %z = passdock.fused.fused_conv_add(%x, %v, %b) : f32[1,16,64,64]
                return %z
              }
              fn @passdock.fused.fused_conv_add(%x: f32[1,16,64,64], %v: f32[16,16,1,1], %b: f32[16,1,1]) -> (%z: f32[1,16,64,64]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %y = onnx.Conv(%x, %v) : f32[1,16,64,64]
                %z = onnx.Add(%y, %b) : f32[1,16,64,64]
                return %z
              }
            }
        "#]],
    );
}

#[test]
fn a_pool_before_a_concatenation_stays_what_moves_elements_is_taken() {
    check(
        r#"module {
  fn @main(%x: f32[1,16,64,64]) -> (%o: f32[1,32,64,64]) opset("" = 17) {
    %one = const f32[] 1.0
    %p = onnx.MaxPool(%x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : f32[1,16,64,64]
    %u = onnx.Transpose(%x) {perm = [0, 1, 3, 2]} : f32[1,16,64,64]
    %c = onnx.Concat(%p, %u) {axis = 1} : f32[1,32,64,64]
    %o = onnx.Add(%c, %one) : f32[1,32,64,64]
    return %o
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,16,64,64]) -> (%o: f32[1,32,64,64]) opset("" = 17, "passdock.fused" = 1) {
                %one = const f32[] 1.0
                %p = onnx.MaxPool(%x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : f32[1,16,64,64]
                %o = passdock.fused.fused_transpose_concat_add(%x, %p) : f32[1,32,64,64]
                return %o
              }
              fn @passdock.fused.fused_transpose_concat_add(%x: f32[1,16,64,64], %p: f32[1,16,64,64]) -> (%o: f32[1,32,64,64]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %one = const f32[] 1.0
                %u = onnx.Transpose(%x) {perm = [0, 1, 3, 2]} : f32[1,16,64,64]
                %c = onnx.Concat(%p, %u) {axis = 1} : f32[1,32,64,64]
                %o = onnx.Add(%c, %one) : f32[1,32,64,64]
                return %o
              }
            }
        "#]],
    );
}

#[test]
fn several_results_of_the_last_op_are_results() {
    check(
        r#"module {
  fn @main(%x: f32[1,16,64,64]) -> (%s: f32[1,8,64,64], %t: f32[1,8,64,64]) opset("" = 17) {
    %u = onnx.Neg(%x) : f32[1,16,64,64]
    %s, %t = onnx.Split(%u) {axis = 1} : f32[1,8,64,64], f32[1,8,64,64]
    return %s, %t
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,16,64,64]) -> (%s: f32[1,8,64,64], %t: f32[1,8,64,64]) opset("" = 17, "passdock.fused" = 1) {
                %s, %t = passdock.fused.fused_neg_split(%x) : f32[1,8,64,64], f32[1,8,64,64]
                return %s, %t
              }
              fn @passdock.fused.fused_neg_split(%x: f32[1,16,64,64]) -> (%s: f32[1,8,64,64], %t: f32[1,8,64,64]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %u = onnx.Neg(%x) : f32[1,16,64,64]
                %s, %t = onnx.Split(%u) {axis = 1} : f32[1,8,64,64], f32[1,8,64,64]
                return %s, %t
              }
            }
        "#]],
    );
}

#[test]
fn parts_meet_again() {
    check(
        r#"module {
  fn @main(%x: f32[4,8], %w: f32[8,16]) -> (%c: f32[4,8]) opset("" = 17) {
    %d = onnx.MatMul(%x, %w) : f32[4,16]
    %s, %t = onnx.Split(%d) {axis = 1} : f32[4,8], f32[4,8]
    %a = onnx.Sigmoid(%s) : f32[4,8]
    %b = onnx.Tanh(%t) : f32[4,8]
    %c = onnx.Mul(%a, %b) : f32[4,8]
    return %c
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,8], %w: f32[8,16]) -> (%c: f32[4,8]) opset("" = 17, "passdock.fused" = 1) {
                %d = onnx.MatMul(%x, %w) : f32[4,16]
                %c = passdock.fused.fused_split_sigmoid_tanh_mul(%d) : f32[4,8]
                return %c
              }
              fn @passdock.fused.fused_split_sigmoid_tanh_mul(%d: f32[4,16]) -> (%c: f32[4,8]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %s, %t = onnx.Split(%d) {axis = 1} : f32[4,8], f32[4,8]
                %a = onnx.Sigmoid(%s) : f32[4,8]
                %b = onnx.Tanh(%t) : f32[4,8]
                %c = onnx.Mul(%a, %b) : f32[4,8]
                return %c
              }
            }
        "#]],
    );
}

#[test]
fn as_in_inception() {
    check(
        r#"module {
  fn @main(%x: f32[1,16,64,64], %w: f32[16,16,3,3], %v: f32[16,32,3,3]) -> (%j: f32[1,32,64,64]) opset("" = 17) {
    %a = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]} : f32[1,16,64,64]
    %b = onnx.Relu(%a) : f32[1,16,64,64]
    %c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]} : f32[1,16,64,64]
    %d = onnx.Relu(%c) : f32[1,16,64,64]
    %e = onnx.Concat(%b, %d) {axis = 1} : f32[1,32,64,64]
    %f = onnx.Conv(%e, %v) {pads = [1, 1, 1, 1]} : f32[1,16,64,64]
    %g = onnx.Relu(%f) : f32[1,16,64,64]
    %h = onnx.Conv(%e, %v) {pads = [1, 1, 1, 1]} : f32[1,16,64,64]
    %i = onnx.Relu(%h) : f32[1,16,64,64]
    %j = onnx.Concat(%g, %i) {axis = 1} : f32[1,32,64,64]
    return %j
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,16,64,64], %w: f32[16,16,3,3], %v: f32[16,32,3,3]) -> (%j: f32[1,32,64,64]) opset("" = 17, "passdock.fused" = 1) {
                %b = passdock.fused.fused_conv_relu(%x, %w) : f32[1,16,64,64]
                %d = passdock.fused.fused_conv_relu(%x, %w) {names = ["", "", "c"]} : f32[1,16,64,64]
                %e = onnx.Concat(%b, %d) {axis = 1} : f32[1,32,64,64]
                %g = passdock.fused.fused_conv_relu_1(%e, %v) : f32[1,16,64,64]
                %i = passdock.fused.fused_conv_relu_1(%e, %v) {names = ["", "", "h"]} : f32[1,16,64,64]
                %j = onnx.Concat(%g, %i) {axis = 1} : f32[1,32,64,64]
                return %j
              }
              fn @passdock.fused.fused_conv_relu(%x: f32[1,16,64,64], %w: f32[16,16,3,3]) -> (%b: f32[1,16,64,64]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1, param names = strings[]} {
                %a = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]} : f32[1,16,64,64]
                %b = onnx.Relu(%a) : f32[1,16,64,64]
                return %b
              }
              fn @passdock.fused.fused_conv_relu_1(%e: f32[1,32,64,64], %v: f32[16,32,3,3]) -> (%g: f32[1,16,64,64]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1, param names = strings[]} {
                %f = onnx.Conv(%e, %v) {pads = [1, 1, 1, 1]} : f32[1,16,64,64]
                %g = onnx.Relu(%f) : f32[1,16,64,64]
                return %g
              }
            }
        "#]],
    );
}

#[test]
fn branches_that_move_elements_meet() {
    check(
        r#"module {
  fn @main(%x: f32[10,20]) -> (%z: f32[20,10]) opset("" = 17) {
    %y = onnx.Add(%x, %x) : f32[10,20]
    %a = onnx.Squeeze(%y) : f32[10,20]
    %b = onnx.Transpose(%a) {perm = [1, 0]} : f32[20,10]
    %c = onnx.Transpose(%a) {perm = [1, 0]} : f32[20,10]
    %z = onnx.Add(%b, %c) : f32[20,10]
    return %z
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[10,20]) -> (%z: f32[20,10]) opset("" = 17, "passdock.fused" = 1) {
                %z = passdock.fused.fused_add_squeeze_transpose_transpose_add(%x) : f32[20,10]
                return %z
              }
              fn @passdock.fused.fused_add_squeeze_transpose_transpose_add(%x: f32[10,20]) -> (%z: f32[20,10]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %y = onnx.Add(%x, %x) : f32[10,20]
                %a = onnx.Squeeze(%y) : f32[10,20]
                %b = onnx.Transpose(%a) {perm = [1, 0]} : f32[20,10]
                %c = onnx.Transpose(%a) {perm = [1, 0]} : f32[20,10]
                %z = onnx.Add(%b, %c) : f32[20,10]
                return %z
              }
            }
        "#]],
    );
}

#[test]
fn concatenations_one_behind_the_other() {
    check(
        r#"module {
  fn @main(%x: f32[4,4]) -> (%f: f32[8,16]) opset("" = 17) {
    %c = onnx.Concat(%x, %x) {axis = 1} : f32[4,8]
    %d = onnx.Concat(%c, %c) {axis = 1} : f32[4,16]
    %p = onnx.Exp(%d) : f32[4,16]
    %e = onnx.Concat(%p, %p) {axis = 0} : f32[8,16]
    %f = onnx.Relu(%e) : f32[8,16]
    return %f
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,4]) -> (%f: f32[8,16]) opset("" = 17, "passdock.fused" = 1) {
                %f = passdock.fused.fused_concat_concat_exp_concat_relu(%x) : f32[8,16]
                return %f
              }
              fn @passdock.fused.fused_concat_concat_exp_concat_relu(%x: f32[4,4]) -> (%f: f32[8,16]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %c = onnx.Concat(%x, %x) {axis = 1} : f32[4,8]
                %d = onnx.Concat(%c, %c) {axis = 1} : f32[4,16]
                %p = onnx.Exp(%d) : f32[4,16]
                %e = onnx.Concat(%p, %p) {axis = 0} : f32[8,16]
                %f = onnx.Relu(%e) : f32[8,16]
                return %f
              }
            }
        "#]],
    );
}

#[test]
fn parts_that_are_given_out_do_not_meet() {
    check_stays(
        r#"module {
  fn @main(%x: f32[2,4]) -> (%y: f32[2,8], %a: f32[2,4], %b: f32[2,4]) opset("" = 17) {
    %0 = onnx.Exp(%x) : f32[2,4]
    %1 = onnx.Neg(%x) : f32[2,4]
    %2 = onnx.Concat(%0, %1) {axis = 1} : f32[2,8]
    return %2, %0, %1
  }
}"#,
    );
}

#[test]
fn a_pool_between_concatenations_keeps_them_apart() {
    check_stays(
        r#"module {
  fn @main(%x: f32[1,2,8,8], %z: f32[1,2,8,8], %v: f32[1,2,4,4]) -> (%y: f32[1,6,4,4]) opset("" = 17) {
    %0 = onnx.Concat(%x, %z) {axis = 1} : f32[1,4,8,8]
    %1 = onnx.MaxPool(%0) {kernel_shape = [2, 2], strides = [2, 2]} : f32[1,4,4,4]
    %2 = onnx.Concat(%1, %v) {axis = 1} : f32[1,6,4,4]
    return %2
  }
}"#,
    );
}

#[test]
fn parts_of_a_split_that_are_used_elsewhere_stay() {
    check_stays(
        r#"module {
  fn @main(%x: f32[4]) -> (%a: f32[2], %b: f32[2], %p: f32[2]) opset("" = 17) {
    %p, %q = onnx.Split(%x) {axis = 0} : f32[2], f32[2]
    %0 = onnx.Neg(%p) : f32[2]
    %1 = onnx.Abs(%q) : f32[2]
    return %0, %1, %p
  }
}"#,
    );
}
