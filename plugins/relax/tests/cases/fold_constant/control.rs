//! Regions: what is decided, and what is in them.

use expect_test::expect;

use super::{check, check_stays};

#[test]
fn a_constant_if_is_its_branch() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %c = const bool[] true
    %0 = onnx.If(%c) : f32[2]
      region then_branch {
        %1 = onnx.Relu(%x) : f32[2]
        yield %1
      }
      region else_branch {
        %2 = onnx.Neg(%x) : f32[2]
        yield %2
      }
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
fn an_if_decided_on_the_way_is_its_branch_and_goes_on_folding() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %c = const bool[] true
    %a = const f32[2] [1.0, 2.0]
    %0 = onnx.Not(%c) : bool[]
    %1 = onnx.If(%0) : f32[2]
      region then_branch {
        yield %x
      }
      region else_branch {
        %2 = onnx.Neg(%a) : f32[2]
        %3 = onnx.If(%c) : f32[2]
          region then_branch {
            %4 = onnx.Neg(%2) : f32[2]
            yield %4
          }
          region else_branch {
            yield %x
          }
        yield %3
      }
    %5 = onnx.Sqrt(%1) : f32[2]
    %6 = onnx.Add(%x, %5) : f32[2]
    return %6
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %0 = const f32[2] [1.0, 1.4142135]
                %1 = onnx.Add(%x, %0) : f32[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn constants_in_the_bodies_of_what_stays_fold() {
    check(
        r#"module {
  fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.If(%c) : f32[2]
      region then_branch {
        %a = const f32[2] [1.0, 4.0]
        %1 = onnx.Sqrt(%a) : f32[2]
        %2 = onnx.Add(%x, %1) : f32[2]
        yield %2
      }
      region else_branch {
        yield %x
      }
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17) {
                %0 = const f32[2] [1.0, 2.0]
                %1 = onnx.If(%c) : f32[2]
                  region then_branch {
                    %2 = onnx.Add(%x, %0) : f32[2]
                    yield %2
                  }
                  region else_branch {
                    yield %x
                  }
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn constants_in_a_loop_body_fold_and_what_it_carries_does_not() {
    check(
        r#"module {
  fn @main() -> (%y: f32[2]) opset("" = 17) {
    %n = const i64[] 3
    %t = const bool[] true
    %a = const f32[2] [1.0, 4.0]
    %0 = onnx.Loop(%n, %t, %a) : f32[2]
      region body(%i: i64[], %on: bool[], %v: f32[2]) {
        %b = const f32[2] [9.0, 16.0]
        %1 = onnx.Sqrt(%b) : f32[2]
        %2 = onnx.Neg(%1) : f32[2]
        %3 = onnx.Add(%v, %2) : f32[2]
        yield %on, %3
      }
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: f32[2]) opset("" = 17) {
                %n = const i64[] 3
                %t = const bool[] true
                %a = const f32[2] [1.0, 4.0]
                %0 = const f32[2] [-3.0, -4.0]
                %1 = onnx.Loop(%n, %t, %a) : f32[2]
                  region body(%i: i64[], %on: bool[], %v: f32[2]) {
                    %2 = onnx.Add(%v, %0) : f32[2]
                    yield %on, %2
                  }
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_loop_that_runs_no_times_is_its_initial_values() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %n = const i64[] 0
    %f = const bool[] false
    %a = const f32[2] [1.0, 4.0]
    %0 = onnx.Loop(%n, _, %x) : f32[2]
      region body(%i: i64[], %on: bool[], %v: f32[2]) {
        %1 = onnx.Neg(%v) : f32[2]
        yield %on, %1
      }
    %2 = onnx.Loop(_, %f, %a) : f32[2]
      region body(%i: i64[], %on: bool[], %v: f32[2]) {
        %3 = onnx.Neg(%v) : f32[2]
        yield %on, %3
      }
    %4 = onnx.Neg(%2) : f32[2]
    %5 = onnx.Add(%0, %4) : f32[2]
    return %5
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %0 = const f32[2] [-1.0, -4.0]
                %1 = onnx.Add(%x, %0) : f32[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_loop_that_gathers_or_may_run_stays() {
    check_stays(
        r#"module {
  fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2], %z: f32[?,2], %w: f32[2]) opset("" = 17) {
    %n = const i64[] 0
    %one = const i64[] 1
    %0, %1 = onnx.Loop(%n, _, %x) : f32[2], f32[?,2]
      region body(%i: i64[], %on: bool[], %v: f32[2]) {
        %2 = onnx.Neg(%v) : f32[2]
        yield %on, %2, %2
      }
    %3 = onnx.Loop(%one, %c, %x) : f32[2]
      region body(%i: i64[], %on: bool[], %v: f32[2]) {
        %4 = onnx.Neg(%v) : f32[2]
        yield %on, %4
      }
    return %0, %1, %3
  }
}"#,
        expect![[""]],
    );
}
