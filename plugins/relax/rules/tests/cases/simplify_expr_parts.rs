//! Cases of `relax.transform.SimplifyExpr`: what is padded, cut, and put together.

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.SimplifyExpr";

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check(PASS, source, expected);
}

#[track_caller]
fn check_stays(source: &str) {
    support::check_stays(PASS, source);
}

#[test]
fn pads_one_after_another() {
    check(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[2,12]) opset("" = 17) {
    %p = const i64[4] [0, 1, 0, 0]
    %p2 = const i64[4] [0, 1, 0, 2]
    %0 = onnx.Pad(%x, %p) : f32[2,9]
    %1 = onnx.Pad(%0, %p2) : f32[2,12]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,8]) -> (%y: f32[2,12]) opset("" = 17) {
                %0 = const i64[4] [0, 2, 0, 2]
                %1 = onnx.Pad(%x, %0) : f32[2,12]
                return %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[2,12]) opset("" = 10) {
    %0 = onnx.Pad(%x) {pads = [0, 1, 0, 0]} : f32[2,9]
    %1 = onnx.Pad(%0) {pads = [0, 1, 0, 2]} : f32[2,12]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,8]) -> (%y: f32[2,12]) opset("" = 10) {
                %0 = onnx.Pad(%x) {pads = [0, 2, 0, 2]} : f32[2,12]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[2,12]) opset("" = 17) {
    %p = const i64[4] [0, 1, 0, 0]
    %p2 = const i64[4] [0, 1, 0, 2]
    %0 = onnx.Pad(%x, %p) {mode = "edge"} : f32[2,9]
    %1 = onnx.Pad(%0, %p2) {mode = "edge"} : f32[2,12]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,8]) -> (%y: f32[2,12]) opset("" = 17) {
                %0 = const i64[4] [0, 2, 0, 2]
                %1 = onnx.Pad(%x, %0) {mode = "edge"} : f32[2,12]
                return %1
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[2,12]) opset("" = 17) {
    %p = const i64[4] [0, 1, 0, 0]
    %q = const i64[4] [0, 1, 0, 2]
    %one = const f32[] 1.0
    %0 = onnx.Pad(%x, %p) : f32[2,9]
    %1 = onnx.Pad(%0, %q, %one) : f32[2,12]
    return %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[2,12]) opset("" = 17) {
    %p = const i64[4] [0, 1, 0, 0]
    %q = const i64[4] [0, 1, 0, 2]
    %0 = onnx.Pad(%x, %p) {mode = "reflect"} : f32[2,9]
    %1 = onnx.Pad(%0, %q) {mode = "reflect"} : f32[2,12]
    return %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[2,8]) opset("" = 17) {
    %p = const i64[4] [0, -1, 0, 0]
    %q = const i64[4] [0, 1, 0, 0]
    %0 = onnx.Pad(%x, %p) : f32[2,7]
    %1 = onnx.Pad(%0, %q) : f32[2,8]
    return %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[2,7]) opset("" = 17) {
    %p = const i64[4] [0, 1, 0, 0]
    %q = const i64[4] [0, -2, 0, 0]
    %0 = onnx.Pad(%x, %p) : f32[2,9]
    %1 = onnx.Pad(%0, %q) : f32[2,7]
    return %1
  }
}"#,
    );
}

#[test]
fn slices_of_pads() {
    check(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[2,8]) opset("" = 17) {
    %a = const i64[1] [1]
    %b = const i64[1] [9]
    %p = const i64[4] [0, 1, 0, 1]
    %1 = onnx.Pad(%x, %p) : f32[2,10]
    %2 = onnx.Slice(%1, %a, %b, %a) : f32[2,8]
    %3 = onnx.Neg(%2) : f32[2,8]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,8]) -> (%y: f32[2,8]) opset("" = 17) {
                %0 = onnx.Neg(%x) : f32[2,8]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[2,10]) opset("" = 17) {
    %a = const i64[1] [1]
    %b = const i64[1] [11]
    %p = const i64[4] [0, 2, 0, 2]
    %0 = onnx.Pad(%x, %p) {mode = "reflect"} : f32[2,12]
    %1 = onnx.Slice(%0, %a, %b, %a) : f32[2,10]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,8]) -> (%y: f32[2,10]) opset("" = 17) {
                %0 = const i64[4] [0, 1, 0, 1]
                %1 = onnx.Pad(%x, %0) {mode = "reflect"} : f32[2,10]
                return %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[2,4]) opset("" = 17) {
    %a = const i64[1] [4]
    %b = const i64[1] [8]
    %o = const i64[1] [1]
    %p = const i64[4] [0, 2, 0, 2]
    %0 = onnx.Pad(%x, %p) : f32[2,12]
    %1 = onnx.Slice(%0, %a, %b, %o) : f32[2,4]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,8]) -> (%y: f32[2,4]) opset("" = 17) {
                %0 = const i64[1] [2]
                %1 = const i64[1] [6]
                %2 = const i64[1] [1]
                %3 = onnx.Slice(%x, %0, %1, %2) : f32[2,4]
                return %3
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[2,5]) opset("" = 17) {
    %a = const i64[1] [1]
    %b = const i64[1] [6]
    %p = const i64[4] [0, 2, 0, 2]
    %0 = onnx.Pad(%x, %p) : f32[2,12]
    %1 = onnx.Slice(%0, %a, %b, %a) : f32[2,5]
    return %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,n]) -> (%y: f32[2,n]) opset("" = 17) {
    %a = const i64[1] [1]
    %b = const i64[1] [-1]
    %p = const i64[4] [0, 1, 0, 1]
    %0 = onnx.Pad(%x, %p) : f32[2,n+2]
    %1 = onnx.Slice(%0, %a, %b, %a) : f32[2,n]
    return %1
  }
}"#,
    );
}

/// A convolution could pad itself, but takes nothing away.
#[test]
fn a_pad_takes_away_what_a_slice_does() {
    check(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[3,6]) opset("" = 17) {
    %a = const i64[1] [1]
    %b = const i64[1] [7]
    %0 = onnx.Slice(%x, %a, %b, %a) : f32[2,6]
    %p = const i64[4] [0, 0, 1, 0]
    %1 = onnx.Pad(%0, %p) : f32[3,6]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,8]) -> (%y: f32[3,6]) opset("" = 17) {
                %0 = const i64[4] [0, -1, 1, -1]
                %1 = onnx.Pad(%x, %0) : f32[3,6]
                return %1
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,8]) -> (%y: f32[2,8]) opset("" = 17) {
    %a = const i64[1] [1]
    %b = const i64[1] [8]
    %p = const i64[4] [0, 1, 0, 0]
    %0 = onnx.Slice(%x, %a, %b, %a) : f32[2,7]
    %1 = onnx.Pad(%0, %p) : f32[2,8]
    return %1
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[1,1,8]) -> (%y: f32[1,1,6]) opset("" = 17) {
    %a = const i64[1] [1]
    %b = const i64[1] [8]
    %t = const i64[1] [2]
    %p = const i64[6] [0, 0, 0, 0, 0, 1]
    %w = const f32[1,1,3] [1.0, 2.0, 3.0]
    %0 = onnx.Slice(%x, %a, %b, %t) : f32[1,1,7]
    %1 = onnx.Pad(%0, %p) : f32[1,1,8]
    %2 = onnx.Conv(%1, %w) : f32[1,1,6]
    return %2
  }
}"#,
    );
}

#[test]
fn slices_with_steps() {
    check(
        r#"module {
  fn @main(%x: f32[4,8]) -> (%y: f32[4,2]) opset("" = 17) {
    %o = const i64[1] [1]
    %s = const i64[1] [7]
    %e = const i64[1] [-100]
    %m = const i64[1] [-2]
    %t = const i64[1] [3]
    %0 = onnx.Slice(%x, %s, %e, %o, %m) : f32[4,4]
    %1 = onnx.Slice(%0, %o, %t, %o) : f32[4,2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,8]) -> (%y: f32[4,2]) opset("" = 17) {
                %0 = const i64[1] [5]
                %1 = const i64[1] [2]
                %2 = const i64[1] [1]
                %3 = const i64[1] [-2]
                %4 = onnx.Slice(%x, %0, %1, %2, %3) : f32[4,2]
                return %4
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[4,9]) -> (%y: f32[4,3]) opset("" = 17) {
    %o = const i64[1] [1]
    %z = const i64[1] [0]
    %e = const i64[1] [9223372036854775807]
    %m = const i64[1] [2]
    %0 = onnx.Slice(%x, %z, %e, %o, %m) : f32[4,5]
    %1 = onnx.Slice(%0, %z, %e, %o, %m) : f32[4,3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,9]) -> (%y: f32[4,3]) opset("" = 17) {
                %0 = const i64[1] [0]
                %1 = const i64[1] [9]
                %2 = const i64[1] [1]
                %3 = const i64[1] [4]
                %4 = onnx.Slice(%x, %0, %1, %2, %3) : f32[4,3]
                return %4
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[4,9]) -> (%y: f32[4,9]) opset("" = 17) {
    %o = const i64[1] [1]
    %z = const i64[1] [-1]
    %e = const i64[1] [-9223372036854775808]
    %m = const i64[1] [-1]
    %0 = onnx.Slice(%x, %z, %e, %o, %m) : f32[4,9]
    %1 = onnx.Slice(%0, %z, %e, %o, %m) : f32[4,9]
    %2 = onnx.Neg(%1) : f32[4,9]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,9]) -> (%y: f32[4,9]) opset("" = 17) {
                %0 = onnx.Neg(%x) : f32[4,9]
                return %0
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[n]) -> (%y: f32[_]) opset("" = 17) {
    %z = const i64[1] [0]
    %e = const i64[1] [9223372036854775807]
    %t = const i64[1] [2]
    %0 = onnx.Slice(%x, %z, %e, %z, %t) : f32[_]
    %1 = onnx.Slice(%0, %z, %e, %z, %t) : f32[_]
    return %1
  }
}"#,
    );
}

#[test]
fn slices_that_are_sliced_again_are_no_split() {
    check(
        r#"module {
  fn @main(%x: f32[4,8]) -> (%y: f32[2,2], %z: f32[2,6]) opset("" = 17) {
    %o = const i64[1] [1]
    %z0 = const i64[1] [0]
    %b = const i64[1] [2]
    %t = const i64[1] [8]
    %0 = onnx.Slice(%x, %z0, %b, %o) : f32[4,2]
    %1 = onnx.Slice(%x, %b, %t, %o) : f32[4,6]
    %2 = onnx.Slice(%0, %z0, %b, %z0) : f32[2,2]
    %3 = onnx.Slice(%1, %z0, %b, %z0) : f32[2,6]
    return %2, %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4,8]) -> (%y: f32[2,2], %z: f32[2,6]) opset("" = 17) {
                %0 = const i64[2] [0, 0]
                %1 = const i64[2] [2, 2]
                %2 = const i64[2] [0, 1]
                %3 = const i64[2] [0, 2]
                %4 = const i64[2] [2, 8]
                %5 = const i64[2] [0, 1]
                %6 = onnx.Slice(%x, %0, %1, %2) : f32[2,2]
                %7 = onnx.Slice(%x, %3, %4, %5) : f32[2,6]
                return %6, %7
              }
            }
        "#]],
    );
}

#[test]
fn parts_of_a_concat() {
    check(
        r#"module {
  fn @main(%x: f32[2,2], %w: f32[4,2]) -> (%y: f32[4,2]) opset("" = 17) {
    %a = const i64[1] [0]
    %b = const i64[1] [2]
    %c = const i64[1] [6]
    %0 = onnx.Concat(%x, %w) {axis = 0} : f32[6,2]
    %1 = onnx.Slice(%0, %b, %c, %a) : f32[4,2]
    %2 = onnx.Neg(%1) : f32[4,2]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,2], %w: f32[4,2]) -> (%y: f32[4,2]) opset("" = 17) {
                %0 = onnx.Neg(%w) : f32[4,2]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,2], %w: f32[4,2]) -> (%y: f32[2,2], %z: f32[4,2]) opset("" = 17) {
    %s = const i64[2] [2, 4]
    %0 = onnx.Concat(%x, %w) {axis = 0} : f32[6,2]
    %1, %2 = onnx.Split(%0, %s) {axis = 0} : f32[2,2], f32[4,2]
    %3 = onnx.Neg(%1) : f32[2,2]
    %4 = onnx.Neg(%2) : f32[4,2]
    return %3, %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,2], %w: f32[4,2]) -> (%y: f32[2,2], %z: f32[4,2]) opset("" = 17) {
                %0 = onnx.Neg(%x) : f32[2,2]
                %1 = onnx.Neg(%w) : f32[4,2]
                return %0, %1
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[n,1,4], %w: f32[n,m,4]) -> (%y: f32[n,m,4], %z: f32[n,4]) opset("" = 17) {
    %o = const i64[1] [1]
    %e = const i64[1] [9223372036854775807]
    %first = const i64[] 0
    %0 = onnx.Concat(%x, %w) {axis = 1} : f32[n,m+1,4]
    %1 = onnx.Slice(%0, %o, %e, %o) : f32[n,m,4]
    %2 = onnx.Neg(%1) : f32[n,m,4]
    %3 = onnx.Gather(%0, %first) {axis = 1} : f32[n,4]
    return %2, %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,1,4], %w: f32[n,m,4]) -> (%y: f32[n,m,4], %z: f32[n,4]) opset("" = 17) {
                %0 = const i64[] 0
                %1 = onnx.Neg(%w) : f32[n,m,4]
                %2 = onnx.Gather(%x, %0) {axis = 1} : f32[n,4]
                return %1, %2
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[n,1,4], %w: f32[n,m,4]) -> (%y: f32[n,_,4], %z: f32[n,4]) opset("" = 17) {
    %z0 = const i64[1] [0]
    %o = const i64[1] [1]
    %e = const i64[1] [2]
    %last = const i64[] -1
    %0 = onnx.Concat(%x, %w) {axis = 1} : f32[n,m+1,4]
    %1 = onnx.Slice(%0, %z0, %e, %o) : f32[n,_,4]
    %3 = onnx.Gather(%0, %last) {axis = 1} : f32[n,4]
    return %1, %3
  }
}"#,
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,2], %w: f32[4,2]) -> (%y: f32[3,2], %z: f32[3,2]) opset("" = 17) {
    %s = const i64[2] [3, 3]
    %0 = onnx.Concat(%x, %w) {axis = 0} : f32[6,2]
    %1, %2 = onnx.Split(%0, %s) {axis = 0} : f32[3,2], f32[3,2]
    return %1, %2
  }
}"#,
    );
}

/// Two of them are one of them, whatever it is.
#[test]
fn a_concat_needs_nothing_empty() {
    check(
        r#"module {
  fn @main(%x: f32[2,2], %w: f32[4,2]) -> (%y: f32[6,2]) opset("" = 17) {
    %e = const f32[0,2] []
    %0 = onnx.Concat(%x, %e, %w) {axis = 0} : f32[6,2]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,2], %w: f32[4,2]) -> (%y: f32[6,2]) opset("" = 17) {
                %0 = onnx.Concat(%x, %w) {axis = 0} : f32[6,2]
                return %0
              }
            }
        "#]],
    );
    check(
        r#"module {
  fn @main(%x: f32[2,2]) -> (%y: f32[2,2]) opset("" = 17) {
    %e = const f32[0,2] []
    %0 = onnx.Concat(%x, %e) {axis = 0} : f32[2,2]
    %1 = onnx.Neg(%0) : f32[2,2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,2]) -> (%y: f32[2,2]) opset("" = 17) {
                %0 = onnx.Neg(%x) : f32[2,2]
                return %0
              }
            }
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[2,0], %w: f32[4,0]) -> (%y: f32[6,0]) opset("" = 17) {
    %0 = onnx.Concat(%x, %w) {axis = 0} : f32[6,0]
    return %0
  }
}"#,
    );
}

#[test]
fn reshapes_that_leave_all_sizes() {
    // The one that is worked out has another name; one is copied.
    check(
        r#"module {
  fn @main(%x: f32[n,1,3]) -> (%y: f32[m,1,3]) opset("" = 17) {
    %s = const i64[3] [-1, 1, 3]
    %t = const i64[3] [0, 1, 3]
    %0 = onnx.Elu(%x) : f32[n,1,3]
    %1 = onnx.Reshape(%0, %s) : f32[m,1,3]
    %2 = onnx.Elu(%1) : f32[m,1,3]
    %3 = onnx.Reshape(%2, %t) : f32[k,1,3]
    %4 = onnx.Elu(%3) : f32[k,1,3]
    return %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,1,3]) -> (%y: f32[m,1,3]) opset("" = 17) {
                %0 = onnx.Elu(%x) : f32[n,1,3]
                %1 = onnx.Elu(%0) : f32[m,1,3]
                %2 = onnx.Elu(%1) : f32[k,1,3]
                return %2
              }
            }
        "#]],
    );
    // With no element nothing says what is worked out; another rank; a size that is 0.
    for (x, shape, extra) in [
        ("f32[n,0,3]", "i64[3] [-1, 0, 3]", "{allowzero = 1}"),
        ("f32[n,3]", "i64[3] [-1, 1, 3]", ""),
        ("f32[n,1,3]", "i64[3] [0, 1, 3]", "{allowzero = 1}"),
    ] {
        check_stays(&format!(
            r#"module {{
  fn @main(%x: {x}) -> (%y: f32[*]) opset("" = 17) {{
    %s = const {shape}
    %0 = onnx.Elu(%x) : {x}
    %1 = onnx.Reshape(%0, %s) {extra} : f32[*]
    return %1
  }}
}}"#
        ));
    }
}
