//! Cases of `relax.transform.EliminateCommonSubexpr`, each beside one that has to stay.

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.EliminateCommonSubexpr";

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check(PASS, source, expected);
}

#[track_caller]
fn check_stays(source: &str) {
    support::check_stays(PASS, source);
}

/// `@main` of one parameter with this body, and what comes of it.
fn main_of(body: &str) -> String {
    format!(
        "module {{\n  fn @main(%x: f32[2,3], %c: bool[]) -> (%y) opset(\"\" = 17, \"acme\" = 1) {{\n{body}\n  }}\n}}"
    )
}

#[test]
fn equal_ops_are_computed_once() {
    check(
        &main_of(
            r#"    %0 = onnx.Relu(%x) : f32[2,3]   loc("first")
    %1 = onnx.Relu(%x) : f32[2,3]   loc("second")
    %2 = onnx.Neg(%0) : f32[2,3]
    %3 = onnx.Neg(%1) : f32[2,3]
    %4 = onnx.Sub(%2, %3) : f32[2,3]
    return %4"#,
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %c: bool[]) -> (%y) opset("" = 17, "acme" = 1) {
                %0 = onnx.Relu(%x) : f32[2,3] loc("first", "second")
                %1 = onnx.Neg(%0) : f32[2,3]
                %2 = onnx.Sub(%1, %1) : f32[2,3]
                return %2
              }
            }
        "#]],
    );
    // Another name, other operands, another order of them.
    check_stays(&main_of(
        r#"    %0 = onnx.Relu(%x) : f32[2,3]
    %1 = onnx.Neg(%x) : f32[2,3]
    %2 = onnx.Relu(%1) : f32[2,3]
    %3 = onnx.Sub(%0, %1) : f32[2,3]
    %4 = onnx.Sub(%1, %0) : f32[2,3]
    %5 = onnx.Concat(%2, %3, %4) {axis = 0} : f32[6,3]
    return %5"#,
    ));
}

#[test]
fn operands_of_commutative_ops_change_places() {
    check(
        &main_of(
            r#"    %0 = onnx.Neg(%x) : f32[2,3]
    %1 = onnx.Mul(%x, %0) : f32[2,3]
    %2 = onnx.Mul(%0, %x) : f32[2,3]
    %3 = onnx.Div(%1, %2) : f32[2,3]
    return %3"#,
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %c: bool[]) -> (%y) opset("" = 17, "acme" = 1) {
                %0 = onnx.Neg(%x) : f32[2,3]
                %1 = onnx.Mul(%x, %0) : f32[2,3]
                %2 = onnx.Div(%1, %1) : f32[2,3]
                return %2
              }
            }
        "#]],
    );
    check_stays(&main_of(
        r#"    %0 = onnx.Neg(%x) : f32[2,3]
    %1 = onnx.Mul(%x, %x) : f32[2,3]
    %2 = onnx.Mul(%0, %x) : f32[2,3]
    %3 = onnx.Mul(%0, %0) : f32[2,3]
    %4 = onnx.Sum(%1, %2, %3) : f32[2,3]
    return %4"#,
    ));
}

#[test]
fn attributes_are_compared_by_content() {
    check(
        &main_of(
            r#"    %0 = onnx.Gemm(%x, %x) {alpha = 0.5, transB = 1} : f32[2,2]
    %1 = onnx.Gemm(%x, %x) {transB = 1, alpha = 0.5} : f32[2,2]
    %2 = onnx.Transpose(%0) {perm = [1, 0]} : f32[2,2]
    %3 = onnx.Transpose(%1) {perm = [1, 0]} : f32[2,2]
    %4 = onnx.Sub(%2, %3) : f32[2,2]
    return %4"#,
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %c: bool[]) -> (%y) opset("" = 17, "acme" = 1) {
                %0 = onnx.Gemm(%x, %x) {alpha = 0.5, transB = 1} : f32[2,2]
                %1 = onnx.Transpose(%0) {perm = [1, 0]} : f32[2,2]
                %2 = onnx.Sub(%1, %1) : f32[2,2]
                return %2
              }
            }
        "#]],
    );
    check_stays(&main_of(
        r#"    %0 = onnx.Gemm(%x, %x) {alpha = 0.5, transB = 1} : f32[2,2]
    %1 = onnx.Gemm(%x, %x) {alpha = -0.5, transB = 1} : f32[2,2]
    %2 = onnx.Gemm(%x, %x) {transB = 1} : f32[2,2]
    %3 = onnx.Transpose(%0) {perm = [1, 0]} : f32[2,2]
    %4 = onnx.Transpose(%0) {perm = [0, 1]} : f32[2,2]
    %5 = onnx.Cast(%4) {to = 11} : f64[2,2]
    %6 = onnx.Cast(%4) {to = 10} : f16[2,2]
    %7 = onnx.Cast(%6) {to = 11} : f64[2,2]
    %8 = onnx.Sub(%5, %7) : f64[2,2]
    %9 = onnx.Cast(%8) {to = 1} : f32[2,2]
    %10 = onnx.Concat(%1, %2, %3, %9) {axis = 0} : f32[8,2]
    return %10"#,
    ));
}

#[test]
fn attributes_that_are_tensors_are_compared_by_content() {
    check(
        &main_of(
            r#"    %0 = onnx.Shape(%x) : i64[2]
    %1 = onnx.ConstantOfShape(%0) {value = tensor f32[1] [0.0]} : f32[2,3]
    %2 = onnx.ConstantOfShape(%0) {value = tensor f32[1] [0.0]} : f32[2,3]
    %3 = onnx.Div(%1, %2) : f32[2,3]
    return %3"#,
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %c: bool[]) -> (%y) opset("" = 17, "acme" = 1) {
                %0 = onnx.Shape(%x) : i64[2]
                %1 = onnx.ConstantOfShape(%0) {value = tensor f32[1] [0.0]} : f32[2,3]
                %2 = onnx.Div(%1, %1) : f32[2,3]
                return %2
              }
            }
        "#]],
    );
    check_stays(&main_of(
        r#"    %0 = onnx.Shape(%x) : i64[2]
    %1 = onnx.ConstantOfShape(%0) {value = tensor f32[1] [0.0]} : f32[2,3]
    %2 = onnx.ConstantOfShape(%0) {value = tensor f32[1] [-0.0]} : f32[2,3]
    %3 = onnx.Div(%1, %2) : f32[2,3]
    return %3"#,
    ));
}

#[test]
fn constants_are_compared_by_content() {
    check(
        &main_of(
            r#"    %a = const f32[3] [1.0, 0.0, 3.0]
    %b = const f32[3] [1.0, 0.0, 3.0]
    %s = const f32[2,3] splat(0.5)
    %t = const f32[2,3] [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    %0 = onnx.Add(%x, %a) : f32[2,3]
    %1 = onnx.Add(%x, %b) : f32[2,3]
    %2 = onnx.Mul(%0, %s) : f32[2,3]
    %3 = onnx.Mul(%1, %t) : f32[2,3]
    %4 = onnx.Sub(%2, %3) : f32[2,3]
    return %4"#,
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %c: bool[]) -> (%y) opset("" = 17, "acme" = 1) {
                %a = const f32[3] [1.0, 0.0, 3.0]
                %s = const f32[2,3] splat(0.5)
                %0 = onnx.Add(%x, %a) : f32[2,3]
                %1 = onnx.Mul(%0, %s) : f32[2,3]
                %2 = onnx.Sub(%1, %1) : f32[2,3]
                return %2
              }
            }
        "#]],
    );
    // Another element, -0.0, another NaN, another shape, another element type.
    check_stays(&main_of(
        r#"    %a = const f32[3] [1.0, 0.0, 3.0]
    %b = const f32[3] [1.0, 0.0, 4.0]
    %c0 = const f32[3] [1.0, -0.0, 3.0]
    %d = const f32[1,3] [1.0, 0.0, 3.0]
    %e = const f64[3] [1.0, 0.0, 3.0]
    %n = const f32[1] [nan]
    %m = const f32[1] [0x7fc00001]
    %0 = onnx.Cast(%e) {to = 1} : f32[3]
    %1 = onnx.Sum(%x, %a, %b, %c0, %d, %0, %n, %m) : f32[2,3]
    return %1"#,
    ));
}

#[test]
fn ops_that_may_have_an_effect_stay() {
    check_stays(&main_of(
        r#"    %0 = onnx.RandomUniformLike(%x) : f32[2,3]
    %1 = onnx.RandomUniformLike(%x) : f32[2,3]
    %2 = acme.Log(%x) : f32[2,3]
    %3 = acme.Log(%x) : f32[2,3]
    %4 = onnx.Sum(%0, %1, %2, %3) : f32[2,3]
    return %4"#,
    ));
    check_stays(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "local" = 1) {
    %0 = local.Log(%x) : f32[2]
    %1 = local.Log(%x) : f32[2]
    %2 = onnx.Add(%0, %1) : f32[2]
    return %2
  }
  fn @local.Log(%x: ?) -> (%y) opset("" = 17, "acme" = 1) {
    %0 = acme.Log(%x)
    return %0
  }
}"#,
    );
    // A local function stands for ONNX's operator of its name.
    check_stays(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[2]
    %1 = onnx.Relu(%x) : f32[2]
    %2 = onnx.Add(%0, %1) : f32[2]
    return %2
  }
  fn @onnx.Relu(%x: ?) -> (%y) opset("" = 17, "acme" = 1) {
    %0 = acme.Log(%x)
    return %0
  }
}"#,
    );
}

#[test]
fn ops_of_several_results_are_merged_whole() {
    check(
        &main_of(
            r#"    %0, %1 = onnx.Split(%x) {axis = 0} : f32[1,3], f32[1,3]
    %2, %3 = onnx.Split(%x) {axis = 0} : f32[1,3], f32[1,3]
    %4 = onnx.Sub(%0, %3) : f32[1,3]
    %5 = onnx.Sub(%2, %1) : f32[1,3]
    %6 = onnx.Add(%4, %5) : f32[1,3]
    return %6"#,
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %c: bool[]) -> (%y) opset("" = 17, "acme" = 1) {
                %0, %1 = onnx.Split(%x) {axis = 0} : f32[1,3], f32[1,3]
                %2 = onnx.Sub(%0, %1) : f32[1,3]
                %3 = onnx.Add(%2, %2) : f32[1,3]
                return %3
              }
            }
        "#]],
    );
    // How many results there are says what some ops compute.
    check_stays(&main_of(
        r#"    %0, %1, %2 = onnx.Split(%x) {axis = 1} : f32[2,1], f32[2,1], f32[2,1]
    %3 = onnx.Split(%x) {axis = 1} : f32[2,3]
    %4 = onnx.Sum(%0, %1, %2, %3) : f32[2,3]
    return %4"#,
    ));
}

#[test]
fn an_operand_left_out_is_none_that_is_there() {
    check(
        &main_of(
            r#"    %h = const f32[] 6.0
    %0 = onnx.Clip(%x, _, %h) : f32[2,3]
    %1 = onnx.Clip(%x, _, %h) : f32[2,3]
    %2 = onnx.Sub(%0, %1) : f32[2,3]
    return %2"#,
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %c: bool[]) -> (%y) opset("" = 17, "acme" = 1) {
                %h = const f32[] 6.0
                %0 = onnx.Clip(%x, _, %h) : f32[2,3]
                %1 = onnx.Sub(%0, %0) : f32[2,3]
                return %1
              }
            }
        "#]],
    );
    check_stays(&main_of(
        r#"    %h = const f32[] 6.0
    %0 = onnx.Clip(%x, _, %h) : f32[2,3]
    %1 = onnx.Clip(%x, %h) : f32[2,3]
    %2 = onnx.Clip(%x, %h, _) : f32[2,3]
    %3 = onnx.Sum(%0, %1, %2) : f32[2,3]
    return %3"#,
    ));
}

#[test]
fn what_is_known_of_either_type_is_kept() {
    check(
        r#"module {
  fn @main(%x: f32[*]) -> (%y: f32[*]) opset("" = 17, "acme" = 1) {
    %0 = acme.Pad(%x) : f32[*]
    %1 = onnx.Relu(%0) : f32[?,n]
    %2 = onnx.Relu(%0) : f32[3,m]
    %3 = onnx.Add(%1, %2) : f32[*]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[*]) -> (%y: f32[*]) opset("" = 17, "acme" = 1) {
                %0 = acme.Pad(%x) : f32[*]
                %1 = onnx.Relu(%0) : f32[3,n]
                %2 = onnx.Add(%1, %1) : f32[*]
                return %2
              }
            }
        "#]],
    );
    // The model contradicts itself.
    check_stays(
        r#"module {
  fn @main(%x: f32[*]) -> (%y: f32[*]) opset("" = 17, "acme" = 1) {
    %0 = acme.Pad(%x) : f32[*]
    %1 = onnx.Relu(%0) : f32[4]
    %2 = onnx.Relu(%0) : f32[3]
    %3 = onnx.Concat(%1, %2) {axis = 0} : f32[7]
    return %3
  }
}"#,
    );
}

#[test]
fn the_type_that_is_known_of_one_is_known_of_both() {
    support::check_all(
        &["relax.transform.InferType", PASS],
        r#"module {
  fn @main(%x: f32[n]) -> (%y) opset("" = 17) {
    %0 = onnx.Relu(%x)
    %1 = onnx.Relu(%x) : f32[n]
    %2 = onnx.Add(%0, %1)
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n]) -> (%y) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[n]
                %1 = onnx.Add(%0, %0) : f32[n]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn tuples_are_merged_too() {
    check(
        &main_of(
            r#"    %0 = tuple(%x, %c) : tuple<f32[2,3], bool[]>
    %1 = tuple(%x, %c) : tuple<f32[2,3], bool[]>
    %2 = tuple_get(%0) {index = 0} : f32[2,3]
    %3 = tuple_get(%1) {index = 0} : f32[2,3]
    %4 = onnx.Sub(%2, %3) : f32[2,3]
    return %4"#,
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %c: bool[]) -> (%y) opset("" = 17, "acme" = 1) {
                %0 = tuple(%x, %c) : tuple<f32[2,3], bool[]>
                %1 = tuple_get(%0) {index = 0} : f32[2,3]
                %2 = onnx.Sub(%1, %1) : f32[2,3]
                return %2
              }
            }
        "#]],
    );
    check_stays(&main_of(
        r#"    %0 = tuple(%x, %x) : tuple<f32[2,3], f32[2,3]>
    %1 = tuple_get(%0) {index = 0} : f32[2,3]
    %2 = tuple_get(%0) {index = 1} : f32[2,3]
    %3 = onnx.Sub(%1, %2) : f32[2,3]
    return %3"#,
    ));
}

#[test]
fn attributes_of_the_function_are_compared_by_name() {
    check(
        r#"module {
  fn @local.F(%x: ?) -> (%y) opset("" = 17) attributes {param axis, param other = 1} {
    %0 = onnx.Flatten(%x) {axis = ref(axis, int)}
    %1 = onnx.Flatten(%x) {axis = ref(axis, int)}
    %2 = onnx.Flatten(%x) {axis = ref(other, int)}
    %3 = onnx.Sum(%0, %1, %2)
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @local.F(%x: ?) -> (%y) opset("" = 17) attributes {param axis, param other = 1} {
                %0 = onnx.Flatten(%x) {axis = ref(axis, int)}
                %1 = onnx.Flatten(%x) {axis = ref(other, int)}
                %2 = onnx.Sum(%0, %0, %1)
                return %2
              }
            }
        "#]],
    );
}
