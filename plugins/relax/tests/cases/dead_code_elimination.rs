//! Cases of `relax.transform.DeadCodeElimination`.

use expect_test::{Expect, expect};

use crate::support;

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check("relax.transform.DeadCodeElimination", source, expected);
}

#[test]
fn ops_and_constants_that_nobody_uses_go() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %w = const f32[2] [1.0, 2.0]
    %0 = onnx.Relu(%x) : f32[2]
    %1 = onnx.Add(%x, %w) : f32[2]
    %2 = onnx.Neg(%1) : f32[2]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[2]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn an_op_that_nobody_defines_stays_with_what_it_needs() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %0 = onnx.Relu(%x) : f32[2]
    %1 = acme.Log(%0) : f32[2]
    return %x
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
                %0 = onnx.Relu(%x) : f32[2]
                %1 = acme.Log(%0) : f32[2]
                return %x
              }
            }
        "#]],
    );
}

#[test]
fn a_dead_if_goes_unless_something_in_it_has_to_stay() {
    check(
        r#"module {
  fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %0 = onnx.If(%c) : f32[2]
      region then_branch {
        %1 = onnx.Relu(%x) : f32[2]
        yield %1
      }
      region else_branch {
        yield %x
      }
    %2 = onnx.If(%c) : f32[2]
      region then_branch {
        %3 = acme.Log(%x) : f32[2]
        %4 = onnx.Neg(%x) : f32[2]
        yield %x
      }
      region else_branch {
        yield %x
      }
    return %x
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
                %0 = onnx.If(%c) : f32[2]
                  region then_branch {
                    %1 = acme.Log(%x) : f32[2]
                    yield %x
                  }
                  region else_branch {
                    yield %x
                  }
                return %x
              }
            }
        "#]],
    );
}

#[test]
fn functions_that_nobody_reaches_go() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "local" = 1) {
    %0 = local.Used(%x) : f32[2]
    return %0
  }
  fn @local.Used(%x) -> (%y) opset("" = 17) {
    %0 = onnx.Relu(%x)
    return %0
  }
  fn @local.Unused(%x) -> (%y) opset("" = 17) {
    %0 = onnx.Neg(%x)
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "local" = 1) {
                %0 = local.Used(%x) : f32[2]
                return %0
              }
              fn @local.Used(%x: ?) -> (%y) opset("" = 17) {
                %0 = onnx.Relu(%x)
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_call_of_a_pure_function_goes_too() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "local" = 1) {
    %0 = local.Pure(%x) : f32[2]
    %1 = onnx.Relu(%x) : f32[2]
    return %1
  }
  fn @local.Pure(%x) -> (%y) opset("" = 17) {
    %0 = onnx.Relu(%x)
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "local" = 1) {
                %0 = onnx.Relu(%x) : f32[2]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_function_is_as_pure_as_what_it_calls() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "local" = 1) {
    %0 = local.Outer(%x) : f32[2]
    %1 = local.Logs(%x) : f32[2]
    %2 = local.Again(%x) : f32[2]
    return %x
  }
  fn @local.Outer(%x) -> (%y) opset("" = 17, "local" = 1) {
    %0 = local.Inner(%x)
    %1 = local.Inner(%0)
    return %1
  }
  fn @local.Inner(%x) -> (%y) opset("" = 17) {
    %0 = onnx.Relu(%x)
    return %0
  }
  fn @local.Logs(%x) -> (%y) opset("" = 17, "local" = 1, "acme" = 1) {
    %0 = local.Inner(%x)
    %1 = local.Log(%0)
    return %0
  }
  fn @local.Log(%x) -> (%y) opset("" = 17, "acme" = 1) {
    %0 = acme.Log(%x)
    return %x
  }
  fn @local.Again(%x) -> (%y) opset("" = 17, "local" = 1) {
    %0 = local.Again(%x)
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "local" = 1) {
                %0 = local.Logs(%x) : f32[2]
                %1 = local.Again(%x) : f32[2]
                return %x
              }
              fn @local.Inner(%x: ?) -> (%y) opset("" = 17) {
                %0 = onnx.Relu(%x)
                return %0
              }
              fn @local.Logs(%x: ?) -> (%y) opset("" = 17, "local" = 1, "acme" = 1) {
                %0 = local.Inner(%x)
                %1 = local.Log(%0)
                return %0
              }
              fn @local.Log(%x: ?) -> (%y) opset("" = 17, "acme" = 1) {
                %0 = acme.Log(%x)
                return %x
              }
              fn @local.Again(%x: ?) -> (%y) opset("" = 17, "local" = 1) {
                %0 = local.Again(%x)
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_module_without_entry_keeps_its_functions() {
    check(
        r#"module {
  fn @a(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[2]
    return %0
  }
  fn @b(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Neg(%x) : f32[2]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @a(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[2]
                return %0
              }
              fn @b(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %0 = onnx.Neg(%x) : f32[2]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn constants_go_also_behind_some_that_went_before() {
    support::check_all(
        &[
            "relax.transform.FoldConstant",
            "relax.transform.DeadCodeElimination",
        ],
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %c = const bool[] true
    %0 = onnx.If(%c) : f32[2]
      region then_branch {
        %a = const f32[2] [1.0, 2.0]
        %1 = onnx.Add(%x, %a) : f32[2]
        yield %1
      }
      region else_branch {
        %b = const f32[2] [3.0, 4.0]
        %2 = onnx.Add(%x, %b) : f32[2]
        yield %2
      }
    %d = const f32[2] [5.0, 6.0]
    %e = const f32[2] [7.0, 8.0]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %a = const f32[2] [1.0, 2.0]
                %0 = onnx.Add(%x, %a) : f32[2]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_domain_of_ours_goes_with_its_last_function() {
    let source = |call: &str| {
        format!(
            r#"module {{
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "passdock.layout" = 1, "acme" = 1) {{
    %0 = {call}(%x) : f32[2]
    return %0
  }}
  fn @passdock.layout.dead(%x) -> (%y) opset("" = 17) {{
    %0 = onnx.Neg(%x)
    return %0
  }}
  fn @acme.dead(%x) -> (%y) opset("" = 17) {{
    %0 = onnx.Neg(%x)
    return %0
  }}
}}"#
        )
    };
    check(
        &source("onnx.Relu"),
        expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
            %0 = onnx.Relu(%x) : f32[2]
            return %0
          }
        }
    "#]],
    );
    // An op of it that is no call.
    check(
        &source("passdock.layout.unknown"),
        expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "passdock.layout" = 1, "acme" = 1) {
            %0 = passdock.layout.unknown(%x) : f32[2]
            return %0
          }
        }
    "#]],
    );
}
