//! Cases of `relax.transform.InferType`.

use expect_test::{Expect, expect};

use crate::support;

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check("relax.transform.InferType", source, expected);
}

#[test]
fn elementwise_ops_broadcast() {
    check(
        r#"module {
  fn @main(%x: f32[n,1,4], %y: f32[3,1]) -> (%z: f32[n,3,4]) opset("" = 17) {
    %0 = onnx.Relu(%x)
    %1 = onnx.Add(%0, %y)
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,1,4], %y: f32[3,1]) -> (%z: f32[n,3,4]) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[n,1,4]
                %1 = onnx.Add(%0, %y) : f32[n,3,4]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn shapes_are_followed_through_shape_computations() {
    check(
        r#"module {
  fn @main(%x: f32[n,3,4]) -> (%z: f32[n,12]) opset("" = 17) {
    %i = const i64[] 0
    %rest = const i64[1] [12]
    %axes = const i64[1] [0]
    %0 = onnx.Shape(%x)
    %1 = onnx.Gather(%0, %i) {axis = 0}
    %2 = onnx.Unsqueeze(%1, %axes)
    %3 = onnx.Concat(%2, %rest) {axis = 0}
    %4 = onnx.Reshape(%x, %3)
    return %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,3,4]) -> (%z: f32[n,12]) opset("" = 17) {
                %i = const i64[] 0
                %rest = const i64[1] [12]
                %axes = const i64[1] [0]
                %0 = onnx.Shape(%x) : i64[3]
                %1 = onnx.Gather(%0, %i) {axis = 0} : i64[]
                %2 = onnx.Unsqueeze(%1, %axes) : i64[1]
                %3 = onnx.Concat(%2, %rest) {axis = 0} : i64[2]
                %4 = onnx.Reshape(%x, %3) : f32[n,12]
                return %4
              }
            }
        "#]],
    );
}

#[test]
fn a_call_has_the_types_that_the_body_gives_for_its_operands() {
    check(
        r#"module {
  fn @main(%x: f32[n,3,4], %y: f32[5]) -> (%a, %b, %c) opset("" = 17) {
    %0 = acme.Twice(%x)
    %1 = acme.Twice(%y)
    %2 = call @acme.Twice(%0)
    return %0, %1, %2
  }
  fn @acme.Twice(%v: ?) -> (%w) opset("" = 17) {
    %0 = onnx.Relu(%v)
    %1 = onnx.Concat(%0, %v) {axis = 0}
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,3,4], %y: f32[5]) -> (%a, %b, %c) opset("" = 17) {
                %0 = acme.Twice(%x) : f32[n*2,3,4]
                %1 = acme.Twice(%y) : f32[10]
                %2 = call @acme.Twice(%0) : f32[n*4,3,4]
                return %0, %1, %2
              }
              fn @acme.Twice(%v: f32[*]) -> (%w) opset("" = 17) {
                %0 = onnx.Relu(%v) : f32[*]
                %1 = onnx.Concat(%0, %v) {axis = 0} : f32[*]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn functions_are_followed_through_functions() {
    check(
        r#"module {
  fn @acme.Inner(%v: ?, %s: ?) -> (%w) opset("" = 17) {
    %0 = onnx.Reshape(%v, %s)
    return %0
  }
  fn @acme.Outer(%v: ?, %s: ?) -> (%w) opset("" = 17) {
    %0 = acme.Inner(%v, %s)
    %1 = onnx.Relu(%0)
    return %1
  }
  fn @main(%x: f32[2,6]) -> (%y, %z) opset("" = 17) {
    %s = const i64[2] [3, 4]
    %0 = acme.Outer(%x, %s)
    %t = const i64[1] [-1]
    %1 = acme.Outer(%x, %t)
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @acme.Inner(%v: f32[2,6], %s: i64[?]) -> (%w) opset("" = 17) {
                %0 = onnx.Reshape(%v, %s) : f32[*]
                return %0
              }
              fn @acme.Outer(%v: f32[2,6], %s: i64[?]) -> (%w) opset("" = 17) {
                %0 = acme.Inner(%v, %s) : f32[*]
                %1 = onnx.Relu(%0) : f32[*]
                return %1
              }
              fn @main(%x: f32[2,6]) -> (%y, %z) opset("" = 17) {
                %s = const i64[2] [3, 4]
                %t = const i64[1] [-1]
                %0 = acme.Outer(%x, %s) : f32[3,4]
                %1 = acme.Outer(%x, %t) : f32[12]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn symbols_of_the_caller_are_not_those_of_the_function() {
    check(
        r#"module {
  fn @main(%x: f32[m,n]) -> (%y) opset("" = 17) {
    %0 = acme.Flip(%x)
    return %0
  }
  fn @acme.Flip(%v: f32[n,m]) -> (%w) opset("" = 17) {
    %0 = onnx.Relu(%v) : f32[n,m]
    %1 = onnx.Transpose(%0)
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[m,n]) -> (%y) opset("" = 17) {
                %0 = acme.Flip(%x) : f32[n,m]
                return %0
              }
              fn @acme.Flip(%v: f32[n,m]) -> (%w) opset("" = 17) {
                %0 = onnx.Relu(%v) : f32[n,m]
                %1 = onnx.Transpose(%0) : f32[m,n]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn attributes_of_a_call_reach_the_body() {
    check(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y, %z) opset("" = 17) {
    %0 = acme.Join(%x) {axis = 0}
    %1 = acme.Join(%x)
    return %0, %1
  }
  fn @acme.Join(%v: ?) -> (%w) opset("" = 17) attributes {param axis = 1} {
    %0 = onnx.Concat(%v, %v) {axis = ref(axis, int)}
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y, %z) opset("" = 17) {
                %0 = acme.Join(%x) {axis = 0} : f32[4,3]
                %1 = acme.Join(%x) : f32[2,6]
                return %0, %1
              }
              fn @acme.Join(%v: f32[2,3]) -> (%w) opset("" = 17) attributes {param axis = 1} {
                %0 = onnx.Concat(%v, %v) {axis = ref(axis, int)}
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_function_that_calls_itself_is_left_alone() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y) opset("" = 17) {
    %0 = acme.Forever(%x)
    return %0
  }
  fn @acme.Forever(%v: ?) -> (%w) opset("" = 17) {
    %0 = onnx.Relu(%v)
    %1 = acme.Forever(%0)
    %2 = onnx.Relu(%1)
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y) opset("" = 17) {
                %0 = acme.Forever(%x)
                return %0
              }
              fn @acme.Forever(%v: f32[2]) -> (%w) opset("" = 17) {
                %0 = onnx.Relu(%v) : f32[2]
                %1 = acme.Forever(%0)
                %2 = onnx.Relu(%1)
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn what_both_branches_agree_on_is_known() {
    check(
        r#"module {
  fn @main(%c: bool[], %x: f32[n,4], %y: f32[m,4]) -> (%a, %b) opset("" = 17) {
    %0, %1 = onnx.If(%c) {then_branch = region, else_branch = region}
      region then_branch {
        %2 = onnx.Relu(%x)
        %3 = onnx.Shape(%x)
        yield %2, %3
      }
      region else_branch {
        %4 = onnx.Relu(%y)
        %5 = onnx.Shape(%y)
        yield %4, %5
      }
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[n,4], %y: f32[m,4]) -> (%a, %b) opset("" = 17) {
                %0, %1 = onnx.If(%c) {then_branch = region, else_branch = region} : f32[_1,4], i64[2]
                  region then_branch {
                    %2 = onnx.Relu(%x) : f32[n,4]
                    %3 = onnx.Shape(%x) : i64[2]
                    yield %2, %3
                  }
                  region else_branch {
                    %4 = onnx.Relu(%y) : f32[m,4]
                    %5 = onnx.Shape(%y) : i64[2]
                    yield %4, %5
                  }
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn what_a_loop_carries_has_one_type_for_all_rounds() {
    check(
        r#"module {
  fn @main(%x: f32[n,4]) -> (%a, %b, %c, %d) opset("" = 17) {
    %count = const i64[] 3
    %go = const bool[] true
    %0, %1, %2, %3 = onnx.Loop(%count, %go, %x, %x, %x) {body = region}
      region body (%i: ?, %goes: ?, %kept: ?, %grown: ?, %raised: ?) {
        %4 = onnx.Relu(%kept)
        %5 = onnx.Concat(%grown, %x) {axis = 0}
        %axes = const i64[1] [0]
        %6 = onnx.Unsqueeze(%raised, %axes)
        %7 = onnx.Mul(%kept, %kept)
        yield %goes, %4, %5, %6, %7
      }
    return %0, %1, %2, %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,4]) -> (%a, %b, %c, %d) opset("" = 17) {
                %count = const i64[] 3
                %go = const bool[] true
                %0, %1, %2, %3 = onnx.Loop(%count, %go, %x, %x, %x) {body = region} : f32[n,4], f32[_2,4], f32[*], f32[3,n,4]
                  region body(%i: i64[], %goes: bool[], %kept: f32[n,4], %grown: f32[?,4], %raised: f32[*]) {
                    %axes = const i64[1] [0]
                    %4 = onnx.Relu(%kept) : f32[n,4]
                    %5 = onnx.Concat(%grown, %x) {axis = 0} : f32[_1,4]
                    %6 = onnx.Unsqueeze(%raised, %axes) : f32[*]
                    %7 = onnx.Mul(%kept, %kept) : f32[n,4]
                    yield %goes, %4, %5, %6, %7
                  }
                return %0, %1, %2, %3
              }
            }
        "#]],
    );
}

#[test]
fn loops_in_loops_are_tried_together() {
    check(
        r#"module {
  fn @main(%count: i64[], %x: f32[2,4]) -> (%a) opset("" = 17) {
    %go = const bool[] true
    %0 = onnx.Loop(%count, %go, %x) {body = region}
      region body (%i: i64[], %goes: bool[], %outer: ?) {
        %1 = onnx.Loop(%count, %go, %outer) {body = region}
          region body (%j: i64[], %goes2: bool[], %inner: ?) {
            %2 = onnx.Concat(%inner, %inner) {axis = 0}
            yield %goes2, %2
          }
        yield %goes, %1
      }
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%count: i64[], %x: f32[2,4]) -> (%a) opset("" = 17) {
                %go = const bool[] true
                %0 = onnx.Loop(%count, %go, %x) {body = region} : f32[_5,4]
                  region body(%i: i64[], %goes: bool[], %outer: f32[?,4]) {
                    %1 = onnx.Loop(%count, %go, %outer) {body = region} : f32[_4,4]
                      region body(%j: i64[], %goes2: bool[], %inner: f32[?,4]) {
                        %2 = onnx.Concat(%inner, %inner) {axis = 0} : f32[_3,4]
                        yield %goes2, %2
                      }
                    yield %goes, %1
                  }
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_scan_goes_over_slices() {
    check(
        r#"module {
  fn @main(%s: f32[4], %x: f32[2,len,4]) -> (%a, %b) opset("" = 17) {
    %0, %1 = onnx.Scan(%s, %x) {body = region, num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [-1]}
      region body (%state: ?, %slice: ?) {
        %2 = onnx.Relu(%state)
        %3 = onnx.Exp(%slice)
        yield %2, %3
      }
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%s: f32[4], %x: f32[2,len,4]) -> (%a, %b) opset("" = 17) {
                %0, %1 = onnx.Scan(%s, %x) {body = region, num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [-1]} : f32[4], f32[2,4,len]
                  region body(%state: f32[4], %slice: f32[2,4]) {
                    %2 = onnx.Relu(%state) : f32[4]
                    %3 = onnx.Exp(%slice) : f32[2,4]
                    yield %2, %3
                  }
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn what_is_known_is_left_unchanged() {
    check(
        r#"module {
  fn @main(%x: f32[n,4]) -> (%y: f32[n,4]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[n,4]
    %1 = acme.Unknown(%0) : f32[m]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,4]) -> (%y: f32[n,4]) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[n,4]
                %1 = acme.Unknown(%0) : f32[m]
                return %0
              }
            }
        "#]],
    );
}
