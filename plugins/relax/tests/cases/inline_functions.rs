//! Cases of `relax.transform.InlineFunctions`.

use expect_test::{Expect, expect};

use crate::support;

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check("relax.transform.InlineFunctions", source, expected);
}

#[test]
fn a_call_becomes_the_body() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %a = acme.Twice(%x) : f32[2] loc("one")
    %b = acme.Twice(%a) : f32[2] loc("two")
    %t = onnx.Neg(%b) : f32[2]
    return %t
  }
  fn @acme.Twice(%x) -> (%y) opset("" = 17) {
    %t = onnx.Add(%x, %x) loc("add")
    return %t
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
                %a = onnx.Add(%x, %x) : f32[2] loc("one/add")
                %b = onnx.Add(%a, %a) : f32[2] loc("two/add")
                %t = onnx.Neg(%b) : f32[2]
                return %t
              }
            }
        "#]],
    );
}

#[test]
fn chains_are_inlined_from_the_inside() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %a = acme.Outer(%x) : f32[2] loc("call")
    return %a
  }
  fn @acme.Outer(%x) -> (%y) opset("" = 17, "acme" = 1) {
    %a = acme.Inner(%x) loc("first")
    %b = acme.Inner(%a) loc("second")
    return %b
  }
  fn @acme.Inner(%x) -> (%y) opset("" = 17, "acme" = 1) {
    %a = acme.Leaf(%x) loc("leaf")
    return %a
  }
  fn @acme.Leaf(%x) -> (%y) opset("" = 17) {
    %a = onnx.Relu(%x) loc("relu")
    return %a
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
                %a_1 = onnx.Relu(%x) loc("call/first/leaf/relu")
                %a = onnx.Relu(%a_1) : f32[2] loc("call/second/leaf/relu")
                return %a
              }
            }
        "#]],
    );
}

#[test]
fn attribute_parameters_are_bound() {
    check(
        r#"module {
  fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %a = acme.Soft(%x, %c) {alpha = 0.5, perm = [1, 0]} : f32[2]
    %b = acme.Soft(%a, %c) {axis = 1} : f32[2]
    return %b
  }
  fn @acme.Soft(%x, %c) -> (%y) opset("" = 17, "acme" = 1) attributes {param alpha = 0.25, param axis, param perm} {
    %a = onnx.If(%c)
      region then_branch {
        %t = onnx.LeakyRelu(%x) {alpha = ref(alpha, float)}
        yield %t
      }
      region else_branch {
        %t = acme.Inner(%x) {a = ref(axis, int)}
        yield %t
      }
    %b = onnx.Transpose(%a) {perm = ref(perm, ints)}
    return %b
  }
  fn @acme.Inner(%x) -> (%y) opset("" = 17) attributes {param a} {
    %s = onnx.Softmax(%x) {axis = ref(a, int)}
    return %s
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
                %a_1 = onnx.If(%c)
                  region then_branch {
                    %t_1 = onnx.LeakyRelu(%x) {alpha = 0.5}
                    yield %t_1
                  }
                  region else_branch {
                    %t = onnx.Softmax(%x)
                    yield %t
                  }
                %a = onnx.Transpose(%a_1) {perm = [1, 0]} : f32[2]
                %a_2 = onnx.If(%c)
                  region then_branch {
                    %t_3 = onnx.LeakyRelu(%a) {alpha = 0.25}
                    yield %t_3
                  }
                  region else_branch {
                    %t_2 = onnx.Softmax(%a) {axis = 1}
                    yield %t_2
                  }
                %b = onnx.Transpose(%a_2) : f32[2]
                return %b
              }
            }
        "#]],
    );
}

#[test]
fn operands_and_results_may_be_left_out() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %a = acme.Two(%x) : f32[2]
    %b, %c = acme.Two(%a, _, %x) : f32[2], f32[2]
    return %c
  }
  fn @acme.Two(%x, %low, %high) -> (%y, %z) opset("" = 17) {
    %a = onnx.Clip(%x, %low, %high)
    return %a, %x
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
                %a = onnx.Clip(%x, _, _) : f32[2]
                %b = onnx.Clip(%a, _, %x) : f32[2]
                return %a
              }
            }
        "#]],
    );
}

#[test]
fn a_function_named_by_a_call_op() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = call @g(%x) : f32[2]
    return %a
  }
  fn @g(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %w = const f32[2] [1.0, 2.0]
    %a = onnx.Add(%x, %w) : f32[2]
    return %a
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %w = const f32[2] [1.0, 2.0]
                %a = onnx.Add(%x, %w) : f32[2]
                return %a
              }
            }
        "#]],
    );
}

#[test]
fn dims_are_named_in_the_callers_words() {
    check(
        r#"module {
  fn @main(%x: f32[batch,3], %n: f32[n]) -> (%y: f32[batch,3]) opset("" = 17, "acme" = 1) {
    %a = acme.F(%x) : f32[batch,3]
    return %a
  }
  fn @acme.F(%x: f32[n,c]) -> (%y: f32[n,c]) opset("" = 17) {
    %s = onnx.NonZero(%x) : i64[2,k]
    %r = onnx.Relu(%x) : f32[n,c]
    %f = onnx.Flatten(%r) : f32[1,n * c]
    %z = onnx.Abs(%r) : f32[n,c]
    return %z
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[batch,3], %n: f32[n]) -> (%y: f32[batch,3]) opset("" = 17, "acme" = 1) {
                %s = onnx.NonZero(%x) : i64[2,?]
                %r = onnx.Relu(%x) : f32[batch,3]
                %f = onnx.Flatten(%r) : f32[1,batch*3]
                %a = onnx.Abs(%r) : f32[batch,3]
                return %a
              }
            }
        "#]],
    );
}

#[test]
fn functions_that_call_themselves_stay() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %a = acme.A(%x) : f32[2]
    %b = call @self(%a) : f32[2]
    return %b
  }
  fn @acme.A(%x) -> (%y) opset("" = 17, "acme" = 1) {
    %a = acme.B(%x)
    return %a
  }
  fn @acme.B(%x) -> (%y) opset("" = 17, "acme" = 1) {
    %a = acme.C(%x)
    %b = acme.D(%a)
    return %b
  }
  fn @acme.C(%x) -> (%y) opset("" = 17, "acme" = 1) {
    %a = acme.B(%x)
    return %a
  }
  fn @acme.D(%x) -> (%y) opset("" = 17, "acme" = 1) {
    %a = onnx.Relu(%x)
    return %a
  }
  fn @self(%x) -> (%y) opset("" = 17, "acme" = 1) {
    %a = call @self(%x)
    return %a
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
                %a = acme.B(%x) : f32[2]
                %b = call @self(%a) : f32[2]
                return %b
              }
              fn @acme.B(%x: ?) -> (%y) opset("" = 17, "acme" = 1) {
                %a = acme.C(%x)
                %b = onnx.Relu(%a)
                return %b
              }
              fn @acme.C(%x: ?) -> (%y) opset("" = 17, "acme" = 1) {
                %a = acme.B(%x)
                return %a
              }
              fn @self(%x: ?) -> (%y) opset("" = 17, "acme" = 1) {
                %a = call @self(%x)
                return %a
              }
            }
        "#]],
    );
}

#[test]
fn to_name_a_function_that_calls_itself_is_an_error_that_names_the_circle() {
    support::check_options(
        "relax.transform.InlineFunctions",
        r#"functions = ["acme.B", "acme.C"]"#,
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %a = acme.B(%x) : f32[2]
    return %a
  }
  fn @acme.B(%x) -> (%y) opset("" = 17, "acme" = 1) {
    %a = acme.C(%x)
    return %a
  }
  fn @acme.C(%x) -> (%y) opset("" = 17, "acme" = 1) {
    %a = acme.B(%x)
    return %a
  }
}"#,
        expect![[r#"
            error[config]: Recursion can't be inlined: `acme.B` calls `acme.C` calls `acme.B`.
             |
             = in pass relax.transform.InlineFunctions of plugin relax"#]],
    );
}

#[test]
fn another_opset_version_stays_a_call() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %a = acme.F(%x) : f32[2]
    %b = acme.G(%a) : f32[2]
    return %b
  }
  fn @acme.F(%x) -> (%y) opset("" = 18) {
    %a = onnx.Relu(%x)
    return %a
  }
  fn @acme.G(%x) -> (%y) opset("" = 18, "other" = 2) {
    %a = other.Op(%x)
    return %a
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1, "other" = 2) {
                %a = acme.F(%x) : f32[2]
                %b = other.Op(%a) : f32[2]
                return %b
              }
              fn @acme.F(%x: ?) -> (%y) opset("" = 18) {
                %a = onnx.Relu(%x)
                return %a
              }
            }
        "#]],
    );
}

#[test]
fn what_another_compiler_is_for_stays_and_so_does_what_nobody_calls() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %a = acme.F(%x) : f32[2]
    return %a
  }
  fn @acme.F(%x) -> (%y) opset("" = 17) attributes {Compiler = "npu"} {
    %a = onnx.Relu(%x)
    return %a
  }
  fn @acme.Unused(%x) -> (%y) opset("" = 17) {
    %a = onnx.Relu(%x)
    return %a
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
                %a = acme.F(%x) : f32[2]
                return %a
              }
              fn @acme.F(%x: ?) -> (%y) opset("" = 17) attributes {Compiler = "npu"} {
                %a = onnx.Relu(%x)
                return %a
              }
              fn @acme.Unused(%x: ?) -> (%y) opset("" = 17) {
                %a = onnx.Relu(%x)
                return %a
              }
            }
        "#]],
    );
}

#[test]
fn calls_that_don_t_fit_stay() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %a = acme.F(%x, %x) : f32[2]
    %b, %c = acme.F(%a) : f32[2], f32[2]
    return %c
  }
  fn @acme.F(%x) -> (%y) opset("" = 17) {
    %a = onnx.Relu(%x)
    return %a
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
                %a = acme.F(%x, %x) : f32[2]
                %b, %c = acme.F(%a) : f32[2], f32[2]
                return %c
              }
              fn @acme.F(%x: ?) -> (%y) opset("" = 17) {
                %a = onnx.Relu(%x)
                return %a
              }
            }
        "#]],
    );
}

#[test]
fn a_module_without_calls_is_left_alone() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = onnx.Relu(%x) : f32[2]
    return %a
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %a = onnx.Relu(%x) : f32[2]
                return %a
              }
            }
        "#]],
    );
}

/// Each calls the next one twice: written out, that would be 2^40 ops.
#[test]
fn what_grows_without_end_stops_at_the_bound() {
    let mut source = String::from(
        "module { fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17, \"acme\" = 1) {\n\
         %y = acme.F0(%x) : f32[2] return %y }\n",
    );
    for at in 0..40 {
        let next = match at {
            39 => "onnx.Neg".to_owned(),
            at => format!("acme.F{}", at + 1),
        };
        source += &format!(
            "fn @acme.F{at}(%x) -> (%y) opset(\"\" = 17, \"acme\" = 1) {{\n\
             %a = {next}(%x) %y = {next}(%a) return %y }}\n"
        );
    }
    source += "}";
    let pass = "relax.transform.InlineFunctions";
    let result = support::run_options(pass, "max_ops = 1000", &source);
    let ops = result.lines().filter(|line| line.contains(" = ")).count();
    assert!((1000..3000).contains(&ops), "{ops} ops");
}

#[test]
fn a_domain_of_ours_goes_with_its_last_function_and_others_stay() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "passdock.layout" = 1, "passdock.fast" = 1, "acme" = 1) {
    %a = passdock.layout.pack(%x) : f32[2]
    %b = passdock.fast.unknown(%a) : f32[2]
    %c = acme.F(%b) : f32[2]
    return %c
  }
  fn @passdock.layout.pack(%x) -> (%y) opset("" = 17, "passdock.layout" = 1) {
    %y = passdock.layout.inner(%x)
    return %y
  }
  fn @passdock.layout.inner(%x) -> (%y) opset("" = 17) {
    %y = onnx.Neg(%x)
    return %y
  }
  fn @passdock.fast.other(%x) -> (%y) opset("" = 17, "passdock.layout" = 1) {
    %y = onnx.Abs(%x)
    return %y
  }
  fn @acme.F(%x) -> (%y) opset("" = 17) {
    %y = onnx.Exp(%x)
    return %y
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "passdock.fast" = 1, "acme" = 1) {
                %a = onnx.Neg(%x) : f32[2]
                %b = passdock.fast.unknown(%a) : f32[2]
                %c = onnx.Exp(%b) : f32[2]
                return %c
              }
              fn @passdock.fast.other(%x: ?) -> (%y) opset("" = 17) {
                %y = onnx.Abs(%x)
                return %y
              }
            }
        "#]],
    );
}
