//! Cases of `relax.transform.InferType` where sizes depend on data.

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.InferType";

/// A second run has nothing to add.
#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check(PASS, source, expected);
    let registry = support::registry();
    let typed = passdock::testing::run_on_text(&registry, &[PASS], source, |cx| cx);
    support::check_stays(PASS, &typed);
}

#[test]
fn a_size_that_depends_on_data_is_the_same_in_all_that_is_made_of_it() {
    check(
        r#"module {
  fn @main(%x: f32[n,4]) -> (%y: f32[?,?]) opset("" = 17) {
    %0 = onnx.NonZero(%x)
    %1 = onnx.Cast(%0) {to = 1}
    %2 = onnx.Add(%1, %1)
    %3 = onnx.Concat(%2, %2) {axis = 1}
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,4]) -> (%y: f32[?,?]) opset("" = 17) {
                %0 = onnx.NonZero(%x) : i64[2,_1]
                %1 = onnx.Cast(%0) {to = 1} : f32[2,_1]
                %2 = onnx.Add(%1, %1) : f32[2,_1]
                %3 = onnx.Concat(%2, %2) {axis = 1} : f32[2,_1*2]
                return %3
              }
            }
        "#]],
    );
}

#[test]
fn what_is_known_otherwise_takes_the_place_of_a_symbol_that_was_made_up() {
    check(
        r#"module {
  fn @main(%x: f32[n,4], %y: f32[m]) -> (%a, %b) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[_1,_2]
    %1 = onnx.NonZero(%y) : i64[1,_7]
    %2 = onnx.NonZero(%x)
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,4], %y: f32[m]) -> (%a, %b) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[n,4]
                %1 = onnx.NonZero(%y) : i64[1,_7]
                %2 = onnx.NonZero(%x) : i64[2,_8]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn a_symbol_of_a_branch_is_not_one_outside() {
    check(
        r#"module {
  fn @main(%c: bool[], %x: f32[n], %y: f32[n]) -> (%a) opset("" = 17) {
    %0 = onnx.NonZero(%x)
    %1, %2 = onnx.If(%c) {then_branch = region, else_branch = region}
      region then_branch {
        %3 = onnx.NonZero(%y)
        yield %3, %0
      }
      region else_branch {
        %4 = onnx.NonZero(%y)
        %5 = onnx.Neg(%0)
        yield %4, %5
      }
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[n], %y: f32[n]) -> (%a) opset("" = 17) {
                %0 = onnx.NonZero(%x) : i64[1,_1]
                %1, %2 = onnx.If(%c) {then_branch = region, else_branch = region} : i64[1,_4], i64[1,_1]
                  region then_branch {
                    %3 = onnx.NonZero(%y) : i64[1,_2]
                    yield %3, %0
                  }
                  region else_branch {
                    %4 = onnx.NonZero(%y) : i64[1,_3]
                    %5 = onnx.Neg(%0) : i64[1,_1]
                    yield %4, %5
                  }
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn what_each_round_makes_is_stacked_in_other_words() {
    check(
        r#"module {
  fn @main(%count: i64[], %x: f32[n], %start: i64[1,n]) -> (%a, %b) opset("" = 17) {
    %go = const bool[] true
    %0, %1 = onnx.Loop(%count, %go, %start) {body = region}
      region body(%i: i64[], %goes: bool[], %carried) {
        %2 = onnx.NonZero(%carried)
        %3 = onnx.Neg(%2)
        yield %goes, %3, %3
      }
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%count: i64[], %x: f32[n], %start: i64[1,n]) -> (%a, %b) opset("" = 17) {
                %go = const bool[] true
                %0, %1 = onnx.Loop(%count, %go, %start) {body = region} : i64[_3,_4], i64[_5,2,_6]
                  region body(%i: i64[], %goes: bool[], %carried: i64[?,?]) {
                    %2 = onnx.NonZero(%carried) : i64[2,_2]
                    %3 = onnx.Neg(%2) : i64[2,_2]
                    yield %goes, %3, %3
                  }
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn each_call_has_a_symbol_of_its_own() {
    check(
        r#"module {
  fn @main(%x: f32[n], %y: f32[n]) -> (%a, %b) opset("" = 17, "acme" = 1) {
    %0 = acme.Find(%x)
    %1 = acme.Find(%y)
    %2 = onnx.Neg(%0)
    return %1, %2
  }
  fn @acme.Find(%v) -> (%w) opset("" = 17) {
    %0 = onnx.NonZero(%v)
    %1 = onnx.Neg(%0)
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n], %y: f32[n]) -> (%a, %b) opset("" = 17, "acme" = 1) {
                %0 = acme.Find(%x) : i64[1,_1]
                %1 = acme.Find(%y) : i64[1,_2]
                %2 = onnx.Neg(%0) : i64[1,_1]
                return %1, %2
              }
              fn @acme.Find(%v: f32[n]) -> (%w) opset("" = 17) {
                %0 = onnx.NonZero(%v) : i64[1,_3]
                %1 = onnx.Neg(%0) : i64[1,_3]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_size_that_may_be_0_is_not_what_a_reshape_copies() {
    check(
        r#"module {
  fn @main(%x: f32[n,4], %y: f32[?,m]) -> (%a, %b, %c) opset("" = 17) {
    %zero = const i64[1] [0]
    %one = const i64[1] [1]
    %0 = onnx.NonZero(%x)
    %1 = onnx.Shape(%0)
    %2 = onnx.Gather(%1, %one)
    %3 = onnx.Reshape(%0, %2)
    %4 = onnx.Concat(%2, %one) {axis = 0}
    %5 = onnx.Reshape(%y, %4) {allowzero = 1}
    %6 = onnx.Add(%2, %one)
    %7 = onnx.Reshape(%y, %6)
    return %3, %5, %7
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,4], %y: f32[?,m]) -> (%a, %b, %c) opset("" = 17) {
                %zero = const i64[1] [0]
                %one = const i64[1] [1]
                %0 = onnx.NonZero(%x) : i64[2,_1]
                %1 = onnx.Shape(%0) : i64[2]
                %2 = onnx.Gather(%1, %one) : i64[1]
                %3 = onnx.Reshape(%0, %2) : i64[_2]
                %4 = onnx.Concat(%2, %one) {axis = 0} : i64[2]
                %5 = onnx.Reshape(%y, %4) {allowzero = 1} : f32[_1,1]
                %6 = onnx.Add(%2, %one) : i64[1]
                %7 = onnx.Reshape(%y, %6) : f32[_1+1]
                return %3, %5, %7
              }
            }
        "#]],
    );
}

#[test]
fn a_region_declares_a_size_in_words_of_its_own() {
    check(
        r#"module {
  fn @main(%c: bool[], %x: f32[n]) -> (%a) opset("" = 17) {
    %0 = onnx.If(%c) {then_branch = region, else_branch = region}
      region then_branch -> (%t: f32[k]) {
        %t = onnx.Concat(%x, %x) {axis = 0} : ! f32[k]
        yield %t
      }
      region else_branch -> (%e: f32[j]) {
        %e = onnx.Concat(%x, %x) {axis = 0} : ! f32[j]
        yield %e
      }
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[n]) -> (%a) opset("" = 17) {
                %0 = onnx.If(%c) {then_branch = region, else_branch = region} : f32[n*2]
                  region then_branch -> (%t: f32[k]) {
                    %t = onnx.Concat(%x, %x) {axis = 0} : !f32[n*2]
                    yield %t
                  }
                  region else_branch -> (%e: f32[j]) {
                    %e = onnx.Concat(%x, %x) {axis = 0} : !f32[n*2]
                    yield %e
                  }
                return %0
              }
            }
        "#]],
    );
}

/// Beside a dim of 0 no runtime takes a -1, so factors cancel out wherever the op gives anything.
#[test]
fn what_is_left_open_beside_a_product() {
    check(
        r#"module {
  fn @main(%x: f32[b,4,64,16], %u: f32[b,c,6]) -> (%a: f32[*], %c: f32[*]) opset("" = 17) {
    %zero = const i64[1] [0]
    %four = const i64[1] [4]
    %length = const i64[1] [64]
    %open = const i64[1] [-1]
    %0 = onnx.Shape(%x)
    %1 = onnx.Gather(%0, %zero) {axis = 0}
    %2 = onnx.Mul(%1, %four)
    %3 = onnx.Concat(%2, %length, %open) {axis = 0}
    %4 = onnx.Reshape(%x, %3)
    %5 = onnx.Concat(%2, %open) {axis = 0}
    %6 = onnx.Reshape(%u, %5)
    return %4, %6
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[b,4,64,16], %u: f32[b,c,6]) -> (%a: f32[*], %c: f32[*]) opset("" = 17) {
                %zero = const i64[1] [0]
                %four = const i64[1] [4]
                %length = const i64[1] [64]
                %open = const i64[1] [-1]
                %0 = onnx.Shape(%x) : i64[4]
                %1 = onnx.Gather(%0, %zero) {axis = 0} : i64[1]
                %2 = onnx.Mul(%1, %four) : i64[1]
                %3 = onnx.Concat(%2, %length, %open) {axis = 0} : i64[3]
                %4 = onnx.Reshape(%x, %3) : f32[b*4,64,16]
                %5 = onnx.Concat(%2, %open) {axis = 0} : i64[2]
                %6 = onnx.Reshape(%u, %5) : f32[b*4,c*3/2]
                return %4, %6
              }
            }
        "#]],
    );
}
