//! Cases of `relax.transform.FuseOpsByPattern`.

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.FuseOpsByPattern";

#[track_caller]
fn check(options: &str, source: &str, expected: Expect) {
    support::check_options(PASS, options, source, expected);
}

#[track_caller]
fn check_stays(options: &str, source: &str) {
    let plain = passdock::testing::run_on_text(&support::registry(), &[], source, |cx| cx);
    assert_eq!(support::run_options(PASS, options, source), plain);
}

const CONV: &str = r#"module {
  fn @main(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%b: f32[1,8,6,6], %e: f32[1,8,6,6]) opset("" = 17) {
    %a = onnx.Conv(%x, %w) : f32[1,8,6,6] loc("c1")
    %b = onnx.Relu(%a) : f32[1,8,6,6] loc("r1")
    %c = onnx.Conv(%x, %w) : f32[1,8,6,6] loc("c2")
    %d = onnx.Relu(%c) : f32[1,8,6,6] loc("r2")
    %e = onnx.Neg(%d) : f32[1,8,6,6] loc("n2")
    return %b, %e
  }
}"#;

#[test]
fn patterns_that_come_first_have_the_first_choice() {
    check(
        r#"patterns = ["npu.conv_relu_neg: onnx.Neg(onnx.Relu(onnx.Conv(%x, %w)))", "npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))"]"#,
        CONV,
        expect![[r#"
            module {
              fn @main(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%b: f32[1,8,6,6], %e: f32[1,8,6,6]) opset("" = 17, "npu" = 1) {
                %b = npu.conv_relu(%x, %w) : f32[1,8,6,6] loc("c1", "r1")
                %e = npu.conv_relu_neg(%x, %w) : f32[1,8,6,6] loc("c2", "r2", "n2")
                return %b, %e
              }
              fn @npu.conv_relu_neg(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%e: f32[1,8,6,6]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.conv_relu_neg"} {
                %c = onnx.Conv(%x, %w) : f32[1,8,6,6] loc("c2")
                %d = onnx.Relu(%c) : f32[1,8,6,6] loc("r2")
                %e = onnx.Neg(%d) : f32[1,8,6,6] loc("n2")
                return %e
              }
              fn @npu.conv_relu(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%b: f32[1,8,6,6]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.conv_relu"} {
                %a = onnx.Conv(%x, %w) : f32[1,8,6,6] loc("c1")
                %b = onnx.Relu(%a) : f32[1,8,6,6] loc("r1")
                return %b
              }
            }
        "#]],
    );
    check(
        r#"patterns = ["npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))", "npu.conv_relu_neg: onnx.Neg(onnx.Relu(onnx.Conv(%x, %w)))"]"#,
        CONV,
        expect![[r#"
            module {
              fn @main(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%b: f32[1,8,6,6], %e: f32[1,8,6,6]) opset("" = 17, "npu" = 1) {
                %b = npu.conv_relu(%x, %w) : f32[1,8,6,6] loc("c1", "r1")
                %d = npu.conv_relu(%x, %w) {names = ["c2", "r2", "c"]} : f32[1,8,6,6] loc("c2", "r2")
                %e = onnx.Neg(%d) : f32[1,8,6,6] loc("n2")
                return %b, %e
              }
              fn @npu.conv_relu(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%b: f32[1,8,6,6]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.conv_relu", param names = strings[]} {
                %a = onnx.Conv(%x, %w) : f32[1,8,6,6] loc("c1")
                %b = onnx.Relu(%a) : f32[1,8,6,6] loc("r1")
                return %b
              }
            }
        "#]],
    );
}

#[test]
fn conditions_are_asked() {
    check_stays(
        r#"patterns = ["npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w)) where rank(%x) == 3"]"#,
        CONV,
    );
}

#[test]
fn what_others_use_in_between_is_not_taken() {
    check_stays(
        r#"patterns = ["npu.exp_neg: onnx.Neg(onnx.Exp(%x))"]"#,
        r#"module {
  fn @main(%x: f32[2]) -> (%a: f32[2], %b: f32[2]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    return %a, %b
  }
}"#,
    );
}

#[test]
fn an_op_is_of_one_function() {
    check(
        r#"patterns = ["npu.neg_neg: onnx.Neg(onnx.Neg(%x))"]"#,
        r#"module {
  fn @main(%x: f32[2]) -> (%c: f32[2]) opset("" = 17) {
    %a = onnx.Neg(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    %c = onnx.Neg(%b) : f32[2]
    return %c
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%c: f32[2]) opset("" = 17, "npu" = 1) {
                %b = npu.neg_neg(%x) : f32[2]
                %c = onnx.Neg(%b) : f32[2]
                return %c
              }
              fn @npu.neg_neg(%x: f32[2]) -> (%b: f32[2]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.neg_neg"} {
                %a = onnx.Neg(%x) : f32[2]
                %b = onnx.Neg(%a) : f32[2]
                return %b
              }
            }
        "#]],
    );
}

#[test]
fn what_is_no_pattern_is_said() {
    let said = |options| support::run_options(PASS, options, CONV);
    expect![[r#"
        error[config]: The option `patterns` has "onnx.Relu(%x)", which isn't a name with a domain, a colon and a pattern: `npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))`.
         |
         = in pass relax.transform.FuseOpsByPattern of plugin relax"#]].assert_eq(&said(r#"patterns = ["onnx.Relu(%x)"]"#));
    expect![[r#"
        error[config]: The pattern of `npu.relu` can't be read: Here has to be `,`, not the end.
         |
         = in pass relax.transform.FuseOpsByPattern of plugin relax"#]]
    .assert_eq(&said(r#"patterns = ["npu.relu: onnx.Relu(%x"]"#));
    expect![[r#"
        error[config]: The domain `onnx` is ONNX's own, and its functions would be taken for operators: name another one.
         |
         = in pass relax.transform.FuseOpsByPattern of plugin relax"#]].assert_eq(&said(r#"patterns = ["onnx.relu: onnx.Relu(%x)"]"#));
}

#[test]
fn rules_name_what_their_patterns_find() {
    check(
        r#"rules = ["""
; A kernel.
rule npu.conv_relu { onnx.Relu(onnx.Conv(%x, %w)) where rank(%x) == 4 }
rule opposite { onnx.Neg(%x) => acme.Opposite(%x) }
"""]"#,
        CONV,
        expect![[r#"
            module {
              fn @main(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%b: f32[1,8,6,6], %e: f32[1,8,6,6]) opset("" = 17, "npu" = 1, "passdock.composite" = 1) {
                %b = npu.conv_relu(%x, %w) : f32[1,8,6,6] loc("c1", "r1")
                %d = npu.conv_relu(%x, %w) {names = ["c2", "r2", "c"]} : f32[1,8,6,6] loc("c2", "r2")
                %e = passdock.composite.opposite(%d) : f32[1,8,6,6] loc("n2")
                return %b, %e
              }
              fn @npu.conv_relu(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%b: f32[1,8,6,6]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.conv_relu", param names = strings[]} {
                %a = onnx.Conv(%x, %w) : f32[1,8,6,6] loc("c1")
                %b = onnx.Relu(%a) : f32[1,8,6,6] loc("r1")
                return %b
              }
              fn @passdock.composite.opposite(%d: f32[1,8,6,6]) -> (%e: f32[1,8,6,6]) opset("" = 17, "npu" = 1, "passdock.composite" = 1) attributes {Composite = "passdock.composite.opposite"} {
                %e = onnx.Neg(%d) : f32[1,8,6,6] loc("n2")
                return %e
              }
            }
        "#]],
    );
}

#[test]
fn rules_of_a_text_have_the_first_choice_in_their_order() {
    check(
        r#"rules = ["rule a.relu_neg { onnx.Neg(onnx.Relu(%x)) } rule b.conv_relu { onnx.Relu(onnx.Conv(%x, %w)) }"]"#,
        CONV,
        expect![[r#"
            module {
              fn @main(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%b: f32[1,8,6,6], %e: f32[1,8,6,6]) opset("" = 17, "a" = 1, "b" = 1) {
                %b = b.conv_relu(%x, %w) : f32[1,8,6,6] loc("c1", "r1")
                %c = onnx.Conv(%x, %w) : f32[1,8,6,6] loc("c2")
                %e = a.relu_neg(%c) : f32[1,8,6,6] loc("r2", "n2")
                return %b, %e
              }
              fn @a.relu_neg(%c: f32[1,8,6,6]) -> (%e: f32[1,8,6,6]) opset("" = 17, "a" = 1) attributes {Composite = "a.relu_neg"} {
                %d = onnx.Relu(%c) : f32[1,8,6,6] loc("r2")
                %e = onnx.Neg(%d) : f32[1,8,6,6] loc("n2")
                return %e
              }
              fn @b.conv_relu(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%b: f32[1,8,6,6]) opset("" = 17, "a" = 1, "b" = 1) attributes {Composite = "b.conv_relu"} {
                %a = onnx.Conv(%x, %w) : f32[1,8,6,6] loc("c1")
                %b = onnx.Relu(%a) : f32[1,8,6,6] loc("r1")
                return %b
              }
            }
        "#]],
    );
}

#[test]
fn conditions_of_rules_are_asked() {
    check_stays(
        r#"rules = ["rule npu.conv_relu { onnx.Relu(onnx.Conv(%x, %w)) => %x where rank(%x) == 3 }"]"#,
        CONV,
    );
}

#[test]
fn texts_that_are_no_rules_are_refused() {
    let said = |options| support::run_options(PASS, options, CONV);
    expect![[r#"
        error[config]: The option `rules` takes texts of rules here, and no file's name: "npu.rules". Only a pipeline's file and `--config` name files.
         |
         = in pass relax.transform.FuseOpsByPattern of plugin relax"#]].assert_eq(&said(r#"rules = ["npu.rules"]"#));
    expect![[r#"
        error[config]: The option `rules` has a text that can't be read, line 3: in the rule `a.c`: Here has to be `,`, not `}`.
         |
         = in pass relax.transform.FuseOpsByPattern of plugin relax"#]].assert_eq(&said(
        r#"rules = ["rule a.b { onnx.Relu(%x) }\n\nrule a.c { onnx.Relu(%x }"]"#,
    ));
    expect![[r#"
        error[config]: The option `rules` has a text that can't be read, line 1: There are two rules called `a.b`.
         |
         = in pass relax.transform.FuseOpsByPattern of plugin relax"#]].assert_eq(&said(
        r#"rules = ["rule a.b { onnx.Relu(%x) } rule a.b { onnx.Neg(%x) }"]"#,
    ));
    // In the first column, and in a text that ends with a file's name.
    expect![[r#"
        error[config]: The option `rules` has a text that can't be read, line 2: Here has to be `rule NAME { … }`, not `rulee`.
         |
         = in pass relax.transform.FuseOpsByPattern of plugin relax"#]].assert_eq(&said(r#"rules = ["rule a.b { onnx.Relu(%x) }\nrulee"]"#));
    expect![[r#"
        error[config]: The option `rules` has a text that can't be read, line 1: in the rule `a.b`: Here has to be `,`, not `}`.
         |
         = in pass relax.transform.FuseOpsByPattern of plugin relax"#]].assert_eq(&said(
        r#"rules = ["rule a.b { onnx.Relu(%x } ; more in gpu.rules"]"#,
    ));
}

#[test]
fn patterns_may_have_one_name() {
    check(
        r#"rules = [
"rule npu.k { onnx.Neg(onnx.Relu(%x)) } rule npu.other { onnx.Relu(%x) }",
"rule npu.k { onnx.Conv(%x, %w) } rule npu.other { onnx.Neg(%x) }",
]"#,
        CONV,
        expect![[r#"
            module {
              fn @main(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%b: f32[1,8,6,6], %e: f32[1,8,6,6]) opset("" = 17, "npu" = 1) {
                %a = npu.k_1(%x, %w) : f32[1,8,6,6] loc("c1")
                %b = npu.other(%a) : f32[1,8,6,6] loc("r1")
                %c = npu.k_1(%x, %w) {names = ["c2"]} : f32[1,8,6,6] loc("c2")
                %e = npu.k(%c) : f32[1,8,6,6] loc("r2", "n2")
                return %b, %e
              }
              fn @npu.k(%c: f32[1,8,6,6]) -> (%e: f32[1,8,6,6]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.k"} {
                %d = onnx.Relu(%c) : f32[1,8,6,6] loc("r2")
                %e = onnx.Neg(%d) : f32[1,8,6,6] loc("n2")
                return %e
              }
              fn @npu.other(%a: f32[1,8,6,6]) -> (%b: f32[1,8,6,6]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.other"} {
                %b = onnx.Relu(%a) : f32[1,8,6,6] loc("r1")
                return %b
              }
              fn @npu.k_1(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%a: f32[1,8,6,6]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.k", param names = strings[]} {
                %a = onnx.Conv(%x, %w) : f32[1,8,6,6] loc("c1")
                return %a
              }
            }
        "#]],
    );
}

#[test]
fn what_leaves_the_ops_and_comes_back_is_not_taken() {
    check_stays(
        r#"patterns = ["npu.add_exp: onnx.Add(onnx.Neg(%x), onnx.Exp(%y))"]"#,
        r#"module {
  fn @main(%x: f32[2]) -> (%d: f32[2]) opset("" = 17) {
    %a = onnx.Neg(%x) : f32[2]
    %b = onnx.Sigmoid(%a) : f32[2]
    %c = onnx.Exp(%b) : f32[2]
    %d = onnx.Add(%a, %c) : f32[2]
    return %d
  }
}"#,
    );
}

#[test]
fn lists_optional_operands_and_several_results_are_found() {
    check(
        r#"rules = ["""
rule npu.split_add { %p, %q = onnx.Split(%x) onnx.Add(%p, %q) }
rule npu.clip { onnx.Clip(%x, %low?, %high?) }
rule npu.concat_relu { onnx.Relu(onnx.Concat(%xs...)) }
"""]"#,
        r#"module {
  fn @main(%x: f32[4], %z: f32[2]) -> (%e: f32[6]) opset("" = 17) {
    %low = const f32[] 0.0
    %p, %q = onnx.Split(%x) {axis = 0} : f32[2], f32[2]
    %a = onnx.Add(%p, %q) : f32[2]
    %b = onnx.Clip(%a, %low) : f32[2]
    %c = onnx.Clip(%z) : f32[2]
    %d = onnx.Concat(%a, %b, %c) {axis = 0} : f32[6]
    %e = onnx.Relu(%d) : f32[6]
    return %e
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4], %z: f32[2]) -> (%e: f32[6]) opset("" = 17, "npu" = 1) {
                %low = const f32[] 0.0
                %a = npu.split_add(%x) : f32[2]
                %b = npu.clip(%a) : f32[2]
                %c = npu.clip_1(%z) : f32[2]
                %e = npu.concat_relu(%a, %b, %c) : f32[6]
                return %e
              }
              fn @npu.split_add(%x: f32[4]) -> (%a: f32[2]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.split_add"} {
                %p, %q = onnx.Split(%x) {axis = 0} : f32[2], f32[2]
                %a = onnx.Add(%p, %q) : f32[2]
                return %a
              }
              fn @npu.clip(%a: f32[2]) -> (%b: f32[2]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.clip"} {
                %low = const f32[] 0.0
                %b = onnx.Clip(%a, %low) : f32[2]
                return %b
              }
              fn @npu.clip_1(%z: f32[2]) -> (%c: f32[2]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.clip"} {
                %c = onnx.Clip(%z) : f32[2]
                return %c
              }
              fn @npu.concat_relu(%a: f32[2], %b: f32[2], %c: f32[2]) -> (%e: f32[6]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.concat_relu"} {
                %d = onnx.Concat(%a, %b, %c) {axis = 0} : f32[6]
                %e = onnx.Relu(%d) : f32[6]
                return %e
              }
            }
        "#]],
    );
}

#[test]
fn results_that_the_pattern_does_not_name_are_not_left() {
    check_stays(
        r#"rules = ["rule npu.split_neg { %p, _ = onnx.Split(%x) onnx.Neg(%p) }"]"#,
        r#"module {
  fn @main(%x: f32[4]) -> (%a: f32[2], %q: f32[2]) opset("" = 17) {
    %p, %q = onnx.Split(%x) {axis = 0} : f32[2], f32[2]
    %a = onnx.Neg(%p) : f32[2]
    return %a, %q
  }
}"#,
    );
}

#[test]
fn equal_ops_of_one_size_share_a_function() {
    check(
        r#"patterns = ["npu.matmul_add: onnx.Add(onnx.MatMul(%x, %w), %b)"]"#,
        r#"module {
  fn @main(%x: f32[n,4], %w: f32[4,4], %b: f32[4], %v: f32[4,2], %c: f32[2]) -> (%y: f32[n,2]) opset("" = 17) {
    %0 = onnx.MatMul(%x, %w) : f32[n,4]
    %1 = onnx.Add(%0, %b) : f32[n,4]
    %2 = onnx.MatMul(%1, %w) : f32[n,4]
    %3 = onnx.Add(%2, %b) : f32[n,4]
    %4 = onnx.MatMul(%3, %v) : f32[n,2]
    %y = onnx.Add(%4, %c) : f32[n,2]
    return %y
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,4], %w: f32[4,4], %b: f32[4], %v: f32[4,2], %c: f32[2]) -> (%y: f32[n,2]) opset("" = 17, "npu" = 1) {
                %0 = npu.matmul_add(%x, %w, %b) : f32[n,4]
                %1 = npu.matmul_add(%0, %w, %b) {names = ["", "", ""]} : f32[n,4]
                %y = npu.matmul_add_1(%1, %v, %c) : f32[n,2]
                return %y
              }
              fn @npu.matmul_add(%x: f32[n,4], %w: f32[4,4], %b: f32[4]) -> (_: f32[n,4]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.matmul_add", param names = strings[]} {
                %0 = onnx.MatMul(%x, %w) : f32[n,4]
                %1 = onnx.Add(%0, %b) : f32[n,4]
                return %1
              }
              fn @npu.matmul_add_1(%0: f32[n,4], %v: f32[4,2], %c: f32[2]) -> (%y: f32[n,2]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.matmul_add"} {
                %1 = onnx.MatMul(%0, %v) : f32[n,2]
                %y = onnx.Add(%1, %c) : f32[n,2]
                return %y
              }
            }
        "#]],
    );
}

#[test]
fn patterns_are_found_in_regions_and_not_across_their_ends() {
    check(
        r#"patterns = ["npu.neg_exp: onnx.Exp(onnx.Neg(%x))"]"#,
        r#"module {
  fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Neg(%x) : f32[2]
    %y = onnx.If(%c) : f32[2]
      region then_branch() {
        %1 = onnx.Neg(%x) : f32[2]
        %2 = onnx.Exp(%1) : f32[2]
        yield %2
      }
      region else_branch() {
        %3 = onnx.Exp(%0) : f32[2]
        yield %3
      }
    return %y
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17, "npu" = 1) {
                %0 = onnx.Neg(%x) : f32[2]
                %y = onnx.If(%c) : f32[2]
                  region then_branch {
                    %1 = npu.neg_exp(%x) : f32[2]
                    yield %1
                  }
                  region else_branch {
                    %2 = onnx.Exp(%0) : f32[2]
                    yield %2
                  }
                return %y
              }
              fn @npu.neg_exp(%x: f32[2]) -> (_: f32[2]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.neg_exp"} {
                %0 = onnx.Neg(%x) : f32[2]
                %1 = onnx.Exp(%0) : f32[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_second_run_finds_nothing_more() {
    let options = r#"patterns = ["npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))"]"#;
    let once = support::run_options(PASS, options, CONV);
    assert_eq!(support::run_options(PASS, options, &once), once);
    assert!(once.contains("npu.conv_relu(%x, %w)"), "{once}");
}

#[test]
fn functions_that_are_groups_already_and_what_nobody_uses_stay() {
    check_stays(
        r#"patterns = ["npu.neg_neg: onnx.Neg(onnx.Neg(%x))"]"#,
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "npu" = 1) {
    %y = npu.twice(%x) : f32[2]
    %a = onnx.Neg(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    return %y
  }
  fn @npu.twice(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.twice"} {
    %a = onnx.Neg(%x) : f32[2]
    %y = onnx.Neg(%a) : f32[2]
    return %y
  }
  fn @skipped(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) attributes {SkipOptimization = 1} {
    %a = onnx.Neg(%x) : f32[2]
    %y = onnx.Neg(%a) : f32[2]
    return %y
  }
}"#,
    );
}
