//! Cases of `relax.transform.LambdaLift`.

use expect_test::{Expect, expect};

use crate::support;

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check("relax.transform.LambdaLift", source, expected);
}

/// Lifts and inlines again.
#[track_caller]
fn check_round_trip(source: &str, expected: Expect) {
    let passes = [
        "relax.transform.LambdaLift",
        "relax.transform.InlineFunctions",
    ];
    support::check_all(&passes, source, expected);
}

const BRANCHES: &str = r#"module {
  fn @main(%c: bool[], %x: f32[n,4]) -> (%y: f32[n,4], %s: f32[n,4]) opset("" = 17) {
    %w = const f32[4] [1.0, 2.0, 3.0, 4.0]
    %h = onnx.Relu(%x) : f32[n,4]
    %r, %q = onnx.If(%c) : f32[n,4], f32[n,4] loc("if")
      region then_branch -> (%o: f32[n,4], %p: f32[n,4]) {
        %k = const f32[4] [5.0, 6.0, 7.0, 8.0]
        %a = onnx.Mul(%h, %w) : f32[n,4] loc("mul")
        %b = onnx.Add(%a, %k) : f32[n,4]
        yield %b, %h
      }
      region else_branch {
        %a = onnx.Sub(%x, %h) : f32[n,4]
        yield %a, %a
      }
    return %r, %q
  }
}"#;

#[test]
fn branches_become_functions() {
    check(
        BRANCHES,
        expect![[r#"
        module {
          fn @main(%c: bool[], %x: f32[n,4]) -> (%y: f32[n,4], %s: f32[n,4]) opset("" = 17, "lifted" = 1) {
            %w = const f32[4] [1.0, 2.0, 3.0, 4.0]
            %h = onnx.Relu(%x) : f32[n,4]
            %r, %q = onnx.If(%c) : f32[n,4], f32[n,4] loc("if")
              region then_branch -> (%o: f32[n,4], %p: f32[n,4]) {
                %b = lifted.main_then_branch(%h, %w) : f32[n,4]
                yield %b, %h
              }
              region else_branch {
                %a_1 = lifted.main_else_branch(%x, %h) : f32[n,4]
                yield %a_1, %a_1
              }
            return %r, %q
          }
          fn @lifted.main_else_branch(%x: f32[n,4], %h: f32[n,4]) -> (%a: f32[n,4]) opset("" = 17, "lifted" = 1) {
            %a = onnx.Sub(%x, %h) : f32[n,4]
            return %a
          }
          fn @lifted.main_then_branch(%h: f32[n,4], %w: f32[4]) -> (%b: f32[n,4]) opset("" = 17, "lifted" = 1) {
            %k = const f32[4] [5.0, 6.0, 7.0, 8.0]
            %a = onnx.Mul(%h, %w) : f32[n,4] loc("mul")
            %b = onnx.Add(%a, %k) : f32[n,4]
            return %b
          }
        }
    "#]],
    );
    check_round_trip(
        BRANCHES,
        expect![[r#"
        module {
          fn @main(%c: bool[], %x: f32[n,4]) -> (%y: f32[n,4], %s: f32[n,4]) opset("" = 17, "lifted" = 1) {
            %w = const f32[4] [1.0, 2.0, 3.0, 4.0]
            %k = const f32[4] [5.0, 6.0, 7.0, 8.0]
            %h = onnx.Relu(%x) : f32[n,4]
            %r, %q = onnx.If(%c) : f32[n,4], f32[n,4] loc("if")
              region then_branch -> (%o: f32[n,4], %p: f32[n,4]) {
                %a = onnx.Mul(%h, %w) : f32[n,4] loc("mul")
                %b = onnx.Add(%a, %k) : f32[n,4]
                yield %b, %h
              }
              region else_branch {
                %a_1 = onnx.Sub(%x, %h) : f32[n,4]
                yield %a_1, %a_1
              }
            return %r, %q
          }
        }
    "#]],
    );
}

const LOOP: &str = r#"module {
  fn @main(%m: i64[], %c: bool[], %x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %y, %scan = onnx.Loop(%m, %c, %x) : f32[2], f32[k,2]
      region body(%i: i64[], %go: bool[], %v: f32[2]) {
        %t = onnx.If(%go) : f32[2]
          region then_branch {
            %u = onnx.Add(%v, %x) : f32[2]
            yield %u
          }
          region else_branch {
            %u = onnx.Neg(%v) : f32[2]
            %w = onnx.Abs(%u) : f32[2]
            yield %w
          }
        %n = onnx.RandomUniformLike(%t) : f32[2]
        %z = onnx.Add(%t, %n) : f32[2]
        yield %go, %z, %v
      }
    return %y
  }
}"#;

#[test]
fn inner_regions_are_lifted_first() {
    check(
        LOOP,
        expect![[r#"
        module {
          fn @main(%m: i64[], %c: bool[], %x: f32[2]) -> (%y: f32[2]) opset("" = 17, "lifted" = 1) {
            %y, %scan = onnx.Loop(%m, %c, %x) : f32[2], f32[k,2]
              region body(%i: i64[], %go: bool[], %v: f32[2]) {
                %z = lifted.main_body(%i, %go, %v, %x) : f32[2]
                yield %go, %z, %v
              }
            return %y
          }
          fn @lifted.main_else_branch(%v: f32[2]) -> (%w: f32[2]) opset("" = 17, "lifted" = 1) {
            %u = onnx.Neg(%v) : f32[2]
            %w = onnx.Abs(%u) : f32[2]
            return %w
          }
          fn @lifted.main_then_branch(%v: f32[2], %x: f32[2]) -> (%u: f32[2]) opset("" = 17, "lifted" = 1) {
            %u = onnx.Add(%v, %x) : f32[2]
            return %u
          }
          fn @lifted.main_body(%i: i64[], %go: bool[], %v: f32[2], %x: f32[2]) -> (%z: f32[2]) opset("" = 17, "lifted" = 1) {
            %t = onnx.If(%go) : f32[2]
              region then_branch {
                %u = lifted.main_then_branch(%v, %x) : f32[2]
                yield %u
              }
              region else_branch {
                %w = lifted.main_else_branch(%v) : f32[2]
                yield %w
              }
            %n = onnx.RandomUniformLike(%t) : f32[2]
            %z = onnx.Add(%t, %n) : f32[2]
            return %z
          }
        }
    "#]],
    );
    check_round_trip(
        LOOP,
        expect![[r#"
        module {
          fn @main(%m: i64[], %c: bool[], %x: f32[2]) -> (%y: f32[2]) opset("" = 17, "lifted" = 1) {
            %y, %scan = onnx.Loop(%m, %c, %x) : f32[2], f32[k,2]
              region body(%i: i64[], %go: bool[], %v: f32[2]) {
                %t = onnx.If(%go) : f32[2]
                  region then_branch {
                    %u = onnx.Add(%v, %x) : f32[2]
                    yield %u
                  }
                  region else_branch {
                    %u_2 = onnx.Neg(%v) : f32[2]
                    %w = onnx.Abs(%u_2) : f32[2]
                    yield %w
                  }
                %n = onnx.RandomUniformLike(%t) : f32[2]
                %z = onnx.Add(%t, %n) : f32[2]
                yield %go, %z, %v
              }
            return %y
          }
        }
    "#]],
    );
}

#[test]
fn functions_have_free_names_and_those_of_functions_are_lifted_too() {
    check(
        r#"module {
  fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) opset("" = 17, "lifted" = 1, "acme" = 1) {
    %a = lifted.main_then_branch(%x) : f32[2]
    %b = acme.F(%c, %a) : f32[2]
    %r = onnx.If(%c) : f32[2]
      region then_branch {
        %t = onnx.Neg(%b) : f32[2]
        yield %t
      }
      region else_branch {
        %t = onnx.Abs(%b) : f32[2]
        yield %t
      }
    return %r
  }
  fn @lifted.main_then_branch(%x) -> (%y) opset("" = 17) {
    %a = onnx.Relu(%x)
    return %a
  }
  fn @acme.F(%c, %x) -> (%y) opset("" = 17) attributes {param alpha = 0.5} {
    %a = onnx.If(%c)
      region then_branch {
        %t = onnx.LeakyRelu(%x) {alpha = ref(alpha, float)}
        yield %t
      }
      region else_branch {
        %t = onnx.Neg(%x)
        yield %t
      }
    return %a
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) opset("" = 17, "lifted" = 1, "acme" = 1) {
                %a = lifted.main_then_branch(%x) : f32[2]
                %b = acme.F(%c, %a) : f32[2]
                %r = onnx.If(%c) : f32[2]
                  region then_branch {
                    %t = lifted.main_then_branch_1(%b) : f32[2]
                    yield %t
                  }
                  region else_branch {
                    %t_1 = lifted.main_else_branch(%b) : f32[2]
                    yield %t_1
                  }
                return %r
              }
              fn @lifted.main_then_branch(%x: ?) -> (%y) opset("" = 17) {
                %a = onnx.Relu(%x)
                return %a
              }
              fn @acme.F(%c: ?, %x: ?) -> (%y) opset("" = 17, "lifted" = 1) attributes {param alpha = 0.5} {
                %a = onnx.If(%c)
                  region then_branch {
                    %t = onnx.LeakyRelu(%x) {alpha = ref(alpha, float)}
                    yield %t
                  }
                  region else_branch {
                    %t_1 = lifted.acme_F_else_branch(%x)
                    yield %t_1
                  }
                return %a
              }
              fn @lifted.main_else_branch(%b: f32[2]) -> (%t: f32[2]) opset("" = 17, "lifted" = 1, "acme" = 1) {
                %t = onnx.Abs(%b) : f32[2]
                return %t
              }
              fn @lifted.main_then_branch_1(%b: f32[2]) -> (%t: f32[2]) opset("" = 17, "lifted" = 1, "acme" = 1) {
                %t = onnx.Neg(%b) : f32[2]
                return %t
              }
              fn @lifted.acme_F_else_branch(%x: ?) -> (%t: ?) opset("" = 17, "lifted" = 1) {
                %t = onnx.Neg(%x)
                return %t
              }
            }
        "#]],
    );
}

#[test]
fn what_is_a_call_or_empty_stays() {
    check(
        r#"module {
  fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %r = onnx.If(%c) : f32[2]
      region then_branch {
        %t = acme.F(%x) : f32[2]
        yield %t
      }
      region else_branch {
        yield %x
      }
    return %r
  }
  fn @acme.F(%x) -> (%y) opset("" = 17) {
    %a = onnx.Relu(%x)
    return %a
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
                %r = onnx.If(%c) : f32[2]
                  region then_branch {
                    %t = acme.F(%x) : f32[2]
                    yield %t
                  }
                  region else_branch {
                    yield %x
                  }
                return %r
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
fn constants_that_a_region_gives_out_stay_in_it() {
    check(
        r#"module {
  fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2], %z: f32[2]) opset("" = 17) {
    %r, %s = onnx.If(%c) : f32[2], f32[2]
      region then_branch {
        %k = const f32[2] [1.0, 2.0]
        %t = onnx.Add(%x, %k) : f32[2]
        yield %t, %k
      }
      region else_branch {
        yield %x, %x
      }
    return %r, %s
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2], %z: f32[2]) opset("" = 17, "lifted" = 1) {
                %r, %s = onnx.If(%c) : f32[2], f32[2]
                  region then_branch {
                    %k = const f32[2] [1.0, 2.0]
                    %t = lifted.main_then_branch(%x) : f32[2]
                    yield %t, %k
                  }
                  region else_branch {
                    yield %x, %x
                  }
                return %r, %s
              }
              fn @lifted.main_then_branch(%x: f32[2]) -> (%t: f32[2]) opset("" = 17, "lifted" = 1) {
                %k = const f32[2] [1.0, 2.0]
                %t = onnx.Add(%x, %k) : f32[2]
                return %t
              }
            }
        "#]],
    );
}

/// In ONNX, a call without operands and results is no node.
#[test]
fn a_region_whose_ops_nobody_needs_stays() {
    support::check_stays(
        "relax.transform.LambdaLift",
        r#"module {
  fn @main(%c: bool[]) -> (%y: f32[1]) opset("" = 17) {
    %0 = onnx.If(%c) : f32[1]
      region then_branch {
        %k = const f32[1] [5.0]
        %1 = onnx.Neg(%k) : f32[1]
        yield %k
      }
      region else_branch {
        %l = const f32[1] [6.0]
        yield %l
      }
    return %0
  }
}"#,
    );
}
