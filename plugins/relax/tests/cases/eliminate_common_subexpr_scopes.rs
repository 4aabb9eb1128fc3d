//! Cases of `relax.transform.EliminateCommonSubexpr` with regions and with what they give out.

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
fn regions_use_what_stands_before_them() {
    check(
        &main_of(
            r#"    %k = const f32[] 2.0
    %0 = onnx.Mul(%x, %k) : f32[2,3]
    %1 = onnx.If(%c) : f32[2,3]
      region then_branch {
        %l = const f32[] 2.0
        %2 = onnx.Mul(%x, %l) : f32[2,3]
        %3 = onnx.Relu(%2) : f32[2,3]
        yield %3
      }
      region else_branch {
        %4 = onnx.If(%c) : f32[2,3]
          region then_branch {
            %5 = onnx.Mul(%k, %x) : f32[2,3]
            %6 = onnx.Neg(%5) : f32[2,3]
            yield %6
          }
          region else_branch {
            yield %x
          }
        yield %4
      }
    %7 = onnx.Add(%0, %1) : f32[2,3]
    return %7"#,
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %c: bool[]) -> (%y) opset("" = 17, "acme" = 1) {
                %k = const f32[] 2.0
                %0 = onnx.Mul(%x, %k) : f32[2,3]
                %1 = onnx.If(%c) : f32[2,3]
                  region then_branch {
                    %2 = onnx.Relu(%0) : f32[2,3]
                    yield %2
                  }
                  region else_branch {
                    %3 = onnx.If(%c) : f32[2,3]
                      region then_branch {
                        %4 = onnx.Neg(%0) : f32[2,3]
                        yield %4
                      }
                      region else_branch {
                        yield %x
                      }
                    yield %3
                  }
                %5 = onnx.Add(%0, %1) : f32[2,3]
                return %5
              }
            }
        "#]],
    );
}

#[test]
fn branches_use_nothing_of_one_another_nor_what_follows_anything_of_them() {
    check_stays(&main_of(
        r#"    %0 = onnx.If(%c) : f32[2,3]
      region then_branch {
        %k = const f32[] 2.0
        %1 = onnx.Mul(%x, %k) : f32[2,3]
        %2 = onnx.Neg(%x) : f32[2,3]
        %3 = onnx.Relu(%1) : f32[2,3]
        %4 = onnx.Add(%2, %3) : f32[2,3]
        yield %4
      }
      region else_branch {
        %l = const f32[] 2.0
        %5 = onnx.Mul(%x, %l) : f32[2,3]
        %6 = onnx.Neg(%x) : f32[2,3]
        %7 = onnx.Sub(%5, %6) : f32[2,3]
        yield %7
      }
    %8 = onnx.Neg(%x) : f32[2,3]
    %9 = onnx.Add(%0, %8) : f32[2,3]
    return %9"#,
    ));
    // What is after the branches is not before them.
    check(
        &main_of(
            r#"    %0 = onnx.If(%c) : f32[2,3]
      region then_branch {
        %1 = onnx.Neg(%x) : f32[2,3]
        yield %1
      }
      region else_branch {
        yield %x
      }
    %2 = onnx.Neg(%x) : f32[2,3]
    %3 = onnx.Neg(%x) : f32[2,3]
    %4 = onnx.Sum(%0, %2, %3) : f32[2,3]
    return %4"#,
        ),
        expect![[r#"
            module {
              fn @main(%x: f32[2,3], %c: bool[]) -> (%y) opset("" = 17, "acme" = 1) {
                %0 = onnx.If(%c) : f32[2,3]
                  region then_branch {
                    %1 = onnx.Neg(%x) : f32[2,3]
                    yield %1
                  }
                  region else_branch {
                    yield %x
                  }
                %2 = onnx.Neg(%x) : f32[2,3]
                %3 = onnx.Sum(%0, %2, %2) : f32[2,3]
                return %3
              }
            }
        "#]],
    );
}

#[test]
fn a_loop_uses_what_stands_before_it() {
    check(
        r#"module {
  fn @main(%x: f32[2], %n: i64[], %go: bool[]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Exp(%x) : f32[2]
    %1 = onnx.Loop(%n, %go, %0) : f32[2]
      region body(%i: i64[], %cond: bool[], %carried: f32[2]) {
        %2 = onnx.Identity(%cond) : bool[]
        %3 = onnx.Exp(%x) : f32[2]
        %4 = onnx.Add(%carried, %3) : f32[2]
        yield %2, %4
      }
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2], %n: i64[], %go: bool[]) -> (%y: f32[2]) opset("" = 17) {
                %0 = onnx.Exp(%x) : f32[2]
                %1 = onnx.Loop(%n, %go, %0) : f32[2]
                  region body(%i: i64[], %cond: bool[], %carried: f32[2]) {
                    %2 = onnx.Identity(%cond) : bool[]
                    %3 = onnx.Add(%carried, %0) : f32[2]
                    yield %2, %3
                  }
                return %1
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2], %n: i64[], %go: bool[]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Exp(%x) : f32[2]
    %1 = onnx.Loop(%n, %go, %0) : f32[2]
      region body(%i: i64[], %cond: bool[], %carried: f32[2]) {
        %2 = onnx.Identity(%cond) : bool[]
        %3 = onnx.Exp(%carried) : f32[2]
        yield %2, %3
      }
    return %1
  }
}"#,
    );
}

#[test]
fn two_outputs_may_become_one_value() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2], %z: f32[2]) opset("" = 17) {
    %0 = onnx.Exp(%x) : f32[2]
    %1 = onnx.Exp(%x) : f32[2]
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2], %z: f32[2]) opset("" = 17) {
                %0 = onnx.Exp(%x) : f32[2]
                return %0, %0
              }
            }
        "#]],
    );
    // The copies that would come back are as many.
    check_stays(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2], %z: f32[2]) opset("" = 17) {
    %0 = onnx.Identity(%x) : f32[2]
    %1 = onnx.Identity(%x) : f32[2]
    return %0, %1
  }
}"#,
    );
    // There would be more.
    check_stays(
        r#"module {
  fn @main(%x: f32[2]) -> (%a: f32[1], %b: f32[1], %c: f32[1], %d: f32[1]) opset("" = 17) {
    %0, %1 = onnx.Split(%x) : f32[1], f32[1]
    %2, %3 = onnx.Split(%x) : f32[1], f32[1]
    return %0, %1, %2, %3
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2], %z: f32[2]) opset("" = 17) {
    %a = const f32[2] [1.0, 2.0]
    %b = const f32[2] [1.0, 2.0]
    return %a, %b
  }
}"#,
    );
}
