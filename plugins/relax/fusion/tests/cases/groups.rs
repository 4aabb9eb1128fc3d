//! Cases of groups: what goes inside of a function, and which share one.

use expect_test::{Expect, expect};

use crate::support;

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check("relax.transform.FuseOps", source, expected);
}

#[test]
fn equal_groups_share_a_function() {
    check(
        r#"module {
  fn @main(%x: f32[2], %y: f32[2], %z: f32[3]) -> (%c: f32[2], %f: f32[2], %i: f32[3]) opset("" = 17) {
    %half = const f32[] 0.5
    %also = const f32[] 0.5
    %a = onnx.Mul(%x, %half) : f32[2] loc("m1")
    %b = onnx.LeakyRelu(%a) {alpha = 0.1} : f32[2] loc("l1")
    %c = onnx.Neg(%b) : f32[2] loc("n1")
    %d = onnx.Mul(%y, %also) : f32[2] loc("m2")
    %e = onnx.LeakyRelu(%d) {alpha = 0.1} : f32[2]
    %f = onnx.Neg(%e) : f32[2] loc("n2")
    %g = onnx.Mul(%z, %also) : f32[3] loc("m3")
    %h = onnx.LeakyRelu(%g) {alpha = 0.1} : f32[3]
    %i = onnx.Neg(%h) : f32[3] loc("n3")
    return %c, %f, %i
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2], %y: f32[2], %z: f32[3]) -> (%c: f32[2], %f: f32[2], %i: f32[3]) opset("" = 17, "passdock.fused" = 1) {
                %half = const f32[] 0.5
                %also = const f32[] 0.5
                %c = passdock.fused.fused_mul_leaky_relu_neg(%x) : f32[2] loc("m1", "l1", "n1")
                %f = passdock.fused.fused_mul_leaky_relu_neg(%y) {names = ["m2", "", "n2", "d", "e", "also"]} : f32[2] loc("m2", "n2")
                %i = passdock.fused.fused_mul_leaky_relu_neg_1(%z) : f32[3] loc("m3", "n3")
                return %c, %f, %i
              }
              fn @passdock.fused.fused_mul_leaky_relu_neg(%x: f32[2]) -> (%c: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1, param names = strings[]} {
                %half = const f32[] 0.5
                %a = onnx.Mul(%x, %half) : f32[2] loc("m1")
                %b = onnx.LeakyRelu(%a) {alpha = 0.1} : f32[2] loc("l1")
                %c = onnx.Neg(%b) : f32[2] loc("n1")
                return %c
              }
              fn @passdock.fused.fused_mul_leaky_relu_neg_1(%z: f32[3]) -> (%i: f32[3]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %also = const f32[] 0.5
                %g = onnx.Mul(%z, %also) : f32[3] loc("m3")
                %h = onnx.LeakyRelu(%g) {alpha = 0.1} : f32[3]
                %i = onnx.Neg(%h) : f32[3] loc("n3")
                return %i
              }
            }
        "#]],
    );
}

#[test]
fn other_numbers_are_another_body() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%b: f32[2], %d: f32[2], %f: f32[2]) opset("" = 17) {
    %half = const f32[] 0.5
    %zero = const f32[] -0.0
    %a = onnx.Mul(%x, %half) : f32[2]
    %b = onnx.LeakyRelu(%a) {alpha = 0.1} : f32[2]
    %c = onnx.Mul(%x, %zero) : f32[2]
    %d = onnx.LeakyRelu(%c) {alpha = 0.1} : f32[2]
    %e = onnx.Mul(%x, %half) : f32[2]
    %f = onnx.LeakyRelu(%e) {alpha = 0.2} : f32[2]
    return %b, %d, %f
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%b: f32[2], %d: f32[2], %f: f32[2]) opset("" = 17, "passdock.fused" = 1) {
                %half = const f32[] 0.5
                %zero = const f32[] -0.0
                %b = passdock.fused.fused_mul_leaky_relu(%x) : f32[2]
                %d = passdock.fused.fused_mul_leaky_relu_1(%x) : f32[2]
                %f = passdock.fused.fused_mul_leaky_relu_2(%x) : f32[2]
                return %b, %d, %f
              }
              fn @passdock.fused.fused_mul_leaky_relu(%x: f32[2]) -> (%b: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %half = const f32[] 0.5
                %a = onnx.Mul(%x, %half) : f32[2]
                %b = onnx.LeakyRelu(%a) {alpha = 0.1} : f32[2]
                return %b
              }
              fn @passdock.fused.fused_mul_leaky_relu_1(%x: f32[2]) -> (%d: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %zero = const f32[] -0.0
                %c = onnx.Mul(%x, %zero) : f32[2]
                %d = onnx.LeakyRelu(%c) {alpha = 0.1} : f32[2]
                return %d
              }
              fn @passdock.fused.fused_mul_leaky_relu_2(%x: f32[2]) -> (%f: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %half = const f32[] 0.5
                %e = onnx.Mul(%x, %half) : f32[2]
                %f = onnx.LeakyRelu(%e) {alpha = 0.2} : f32[2]
                return %f
              }
            }
        "#]],
    );
}

#[test]
fn what_is_annotated_is_shared_with_nobody() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%b: f32[2], %d: f32[2]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[2] doc("the first")
    %b = onnx.Neg(%a) : f32[2] meta {from = "here"}
    %c = onnx.Exp(%x) : f32[2]
    %d = onnx.Neg(%c) : f32[2] loc("one", "two")
    return %b, %d
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%b: f32[2], %d: f32[2]) opset("" = 17, "passdock.fused" = 1) {
                %b = passdock.fused.fused_exp_neg(%x) : f32[2]
                    meta {from = "here"}
                %d = passdock.fused.fused_exp_neg_1(%x) : f32[2] loc("one", "two")
                return %b, %d
              }
              fn @passdock.fused.fused_exp_neg(%x: f32[2]) -> (%b: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %a = onnx.Exp(%x) : f32[2]
                    doc("the first")
                %b = onnx.Neg(%a) : f32[2]
                    meta {from = "here"}
                return %b
              }
              fn @passdock.fused.fused_exp_neg_1(%x: f32[2]) -> (%d: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %c = onnx.Exp(%x) : f32[2]
                %d = onnx.Neg(%c) : f32[2] loc("one", "two")
                return %d
              }
            }
        "#]],
    );
}

#[test]
fn small_constants_go_inside() {
    let zeros = |count: usize| vec!["0.0"; count].join(", ");
    let source = |count: usize| {
        format!(
            r#"module {{
  fn @main(%x: f32[{count}]) -> (%b: f32[{count}]) opset("" = 17) {{
    %w = const f32[{count}] [{}]
    %a = onnx.Add(%x, %w) : f32[{count}]
    %b = onnx.Neg(%a) : f32[{count}]
    return %b
  }}
}}"#,
            zeros(count)
        )
    };
    let passes = [
        "relax.transform.FuseOps",
        "relax.transform.DeadCodeElimination",
    ];
    let run = |count| {
        let made =
            passdock::testing::run_on_text(&support::registry(), &passes, &source(count), |cx| cx);
        let short = made.replace(&zeros(count), "0.0 …");
        let lines = short.lines().filter(|line| !line.contains("blob"));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    expect![[r#"
        module {
          fn @main(%x: f32[64]) -> (%b: f32[64]) opset("" = 17, "passdock.fused" = 1) {
            %b = passdock.fused.fused_add_neg(%x) : f32[64]
            return %b
          }
          fn @passdock.fused.fused_add_neg(%x: f32[64]) -> (%b: f32[64]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
            %w = const f32[64] [0.0 …]
            %a = onnx.Add(%x, %w) : f32[64]
            %b = onnx.Neg(%a) : f32[64]
            return %b
          }
        }
    "#]].assert_eq(&run(64));
    expect![[r#"
        module {
          fn @main(%x: f32[65]) -> (%b: f32[65]) opset("" = 17, "passdock.fused" = 1) {
            %b = passdock.fused.fused_add_neg(%x, %w) : f32[65]
            return %b
          }
          fn @passdock.fused.fused_add_neg(%x: f32[65], %w: f32[65]) -> (%b: f32[65]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
            %a = onnx.Add(%x, %w) : f32[65]
            %b = onnx.Neg(%a) : f32[65]
            return %b
          }
        }
    "#]].assert_eq(&run(65));
}

#[test]
fn regions_are_gone_through_on_their_own() {
    check(
        r#"module {
  fn @main(%c: bool[], %x: f32[2], %y: f32[2]) -> (%r: f32[2]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    %r = onnx.If(%c) : f32[2]
      region then_branch {
        %k = const f32[2] [1.0, 2.0]
        %d = onnx.Mul(%b, %k) : f32[2]
        %e = onnx.Add(%d, %y) : f32[2]
        yield %e
      }
      region else_branch {
        %f = onnx.Neg(%a) : f32[2]
        yield %f
      }
    return %r
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[2], %y: f32[2]) -> (%r: f32[2]) opset("" = 17, "passdock.fused" = 1) {
                %a = onnx.Exp(%x) : f32[2]
                %b = onnx.Neg(%a) : f32[2]
                %r = onnx.If(%c) : f32[2]
                  region then_branch {
                    %k = const f32[2] [1.0, 2.0]
                    %e = passdock.fused.fused_mul_add(%b, %y) : f32[2]
                    yield %e
                  }
                  region else_branch {
                    %f = onnx.Neg(%a) : f32[2]
                    yield %f
                  }
                return %r
              }
              fn @passdock.fused.fused_mul_add(%b: f32[2], %y: f32[2]) -> (%e: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %k = const f32[2] [1.0, 2.0]
                %d = onnx.Mul(%b, %k) : f32[2]
                %e = onnx.Add(%d, %y) : f32[2]
                return %e
              }
            }
        "#]],
    );
}

#[test]
fn attribute_parameters_are_passed_on() {
    let source = r#"module {
  fn @main(%x: f32[2]) -> (%b: f32[2]) opset("" = 17, "acme" = 1) {
    %b = acme.Block(%x) {alpha = 0.5} : f32[2]
    return %b
  }
  fn @acme.Block(%x: f32[2]) -> (%b: f32[2]) opset("" = 17) attributes {param alpha = 0.1, param beta} {
    %a = onnx.LeakyRelu(%x) {alpha = ref(alpha, float)} : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    return %b
  }
}"#;
    check(
        source,
        expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%b: f32[2]) opset("" = 17, "acme" = 1) {
            %b = acme.Block(%x) {alpha = 0.5} : f32[2]
            return %b
          }
          fn @acme.Block(%x: f32[2]) -> (%b: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {param alpha = 0.1, param beta} {
            %b = passdock.fused.fused_leaky_relu_neg(%x) {alpha = ref(alpha, float)} : f32[2]
            return %b
          }
          fn @passdock.fused.fused_leaky_relu_neg(%x: f32[2]) -> (%b: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {param alpha, Primitive = 1} {
            %a = onnx.LeakyRelu(%x) {alpha = ref(alpha, float)} : f32[2]
            %b = onnx.Neg(%a) : f32[2]
            return %b
          }
        }
    "#]],
    );
    support::check_all(
        &["relax.transform.FuseOps", "relax.transform.DefuseOps"],
        source,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%b: f32[2]) opset("" = 17, "acme" = 1) {
                %b = acme.Block(%x) {alpha = 0.5} : f32[2]
                return %b
              }
              fn @acme.Block(%x: f32[2]) -> (%b: f32[2]) opset("" = 17) attributes {param alpha = 0.1, param beta} {
                %a = onnx.LeakyRelu(%x) {alpha = ref(alpha, float)} : f32[2]
                %b = onnx.Neg(%a) : f32[2]
                return %b
              }
            }
        "#]],
    );
}

#[test]
fn names_that_are_taken_get_numbers() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%b: f32[2], %d: f32[2]) opset("" = 17, "passdock.fused" = 1) {
    %a = onnx.Exp(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    %c = passdock.fused.fused_exp_neg_1(%x) : f32[2]
    %d = passdock.fused.fused_exp_neg(%c) : f32[2]
    return %b, %d
  }
  fn @passdock.fused.fused_exp_neg(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) attributes {Primitive = 1} {
    %y = onnx.Exp(%x) : f32[2]
    return %y
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%b: f32[2], %d: f32[2]) opset("" = 17, "passdock.fused" = 1) {
                %b = passdock.fused.fused_exp_neg_2(%x) : f32[2]
                %c = passdock.fused.fused_exp_neg_1(%x) : f32[2]
                %d = passdock.fused.fused_exp_neg(%c) : f32[2]
                return %b, %d
              }
              fn @passdock.fused.fused_exp_neg(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) attributes {Primitive = 1} {
                %y = onnx.Exp(%x) : f32[2]
                return %y
              }
              fn @passdock.fused.fused_exp_neg_2(%x: f32[2]) -> (%b: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1} {
                %a = onnx.Exp(%x) : f32[2]
                %b = onnx.Neg(%a) : f32[2]
                return %b
              }
            }
        "#]],
    );
}

/// Another function that calls a group of the first one's says its domain, too.
#[test]
fn every_function_that_calls_a_group_imports_its_domain() {
    let body = |name: &str| {
        format!(
            r#"fn @{name}(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {{
    %a = onnx.Exp(%x) : f32[2]
    %y = onnx.Neg(%a) : f32[2]
    return %y
  }}"#
        )
    };
    let source = format!("module {{ {} {} }}", body("main"), body("loc.G"));
    let text = support::run("relax.transform.FuseOps", &source);
    let headers = text.lines().filter(|line| line.starts_with("  fn @"));
    let headers: Vec<&str> = headers.map(str::trim).collect();
    expect![[r#"
        fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "passdock.fused" = 1) {
        fn @loc.G(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "passdock.fused" = 1) {
        fn @passdock.fused.fused_exp_neg(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "passdock.fused" = 1) attributes {Primitive = 1, param names = strings[]} {"#]].assert_eq(&headers.join("\n"));
}
