//! Cases of `relax.transform.FuseOperators`: activations, softmaxes, reductions.

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.FuseOperators";

#[track_caller]
fn check(source: &str, expected: Expect) {
    support::check(PASS, source, expected);
}

#[track_caller]
fn check_stays(source: &str) {
    support::check_stays(PASS, source);
}

/// `x/2 (1 + erf(x/√2))`, in a model of some opset, with some numbers.
fn gelu(dtype: &str, opset: u32, root: &str, half: &str) -> String {
    format!(
        r#"module {{
  fn @main(%x: {dtype}[n,8]) -> (%y: {dtype}[n,8]) opset("" = {opset}) {{
    %root = const {dtype}[] {root}
    %one = const {dtype}[1] [1.0]
    %half = const {dtype}[] {half}
    %0 = onnx.Mul(%x, %root) : {dtype}[n,8]
    %1 = onnx.Erf(%0) : {dtype}[n,8]
    %2 = onnx.Add(%one, %1) : {dtype}[n,8]
    %3 = onnx.Mul(%half, %2) : {dtype}[n,8]
    %4 = onnx.Mul(%x, %3) : {dtype}[n,8]
    return %4
  }}
}}"#
    )
}

#[test]
fn gelu_of_every_type() {
    for dtype in ["f32", "f16", "bf16", "f64"] {
        let text = support::run(PASS, &gelu(dtype, 20, "0.7071067811865476", "0.5"));
        let expected = format!(
            r#"module {{
  fn @main(%x: {dtype}[n,8]) -> (%y: {dtype}[n,8]) opset("" = 20) {{
    %0 = onnx.Gelu(%x) : {dtype}[n,8]
    return %0
  }}
}}
"#
        );
        assert_eq!(text, expected);
    }
}

#[test]
fn gelu_isnt_there_yet() {
    check_stays(&gelu("f32", 19, "0.70710677", "0.5"));
}

#[test]
fn numbers_of_six_digits() {
    for root in ["1.414213562", "1.41421", "1.4142", "1.41422"] {
        let text = support::run(
            PASS,
            &gelu("f32", 20, root, "0.5").replace("onnx.Mul(%x, %root)", "onnx.Div(%x, %root)"),
        );
        assert!(text.contains("onnx.Gelu"), "{root}: {text}");
    }
    for root in ["1.414", "1.4143", "1.42"] {
        check_stays(
            &gelu("f32", 20, root, "0.5").replace("onnx.Mul(%x, %root)", "onnx.Div(%x, %root)"),
        );
    }
}

#[test]
fn numbers_that_gelu_has_not() {
    check_stays(&gelu("f32", 20, "0.7", "0.5"));
    check_stays(&gelu("f32", 20, "0.70710677", "1.0"));
    check_stays(&gelu("f16", 20, "0.75", "0.5"));
}

#[test]
fn numbers_that_stretch_it() {
    check_stays(
        r#"module {
  fn @main(%x: f32[8]) -> (%y: f32[2,8]) opset("" = 20) {
    %root = const f32[] 1.4142135
    %one = const f32[] 1.0
    %half = const f32[2,1] [0.5, 0.5]
    %0 = onnx.Div(%x, %root) : f32[8]
    %1 = onnx.Erf(%0) : f32[8]
    %2 = onnx.Add(%1, %one) : f32[8]
    %3 = onnx.Mul(%x, %2) : f32[8]
    %4 = onnx.Mul(%3, %half) : f32[2,8]
    return %4
  }
}"#,
    );
}

#[test]
fn what_others_use_stays() {
    check_stays(
        r#"module {
  fn @main(%x: f32[8]) -> (%y: f32[8], %z: f32[8]) opset("" = 20) {
    %root = const f32[] 1.4142135
    %one = const f32[] 1.0
    %half = const f32[] 0.5
    %0 = onnx.Div(%x, %root) : f32[8]
    %1 = onnx.Erf(%0) : f32[8]
    %2 = onnx.Add(%1, %one) : f32[8]
    %3 = onnx.Mul(%x, %2) : f32[8]
    %4 = onnx.Mul(%3, %half) : f32[8]
    return %4, %1
  }
}"#,
    );
}

#[test]
fn what_is_cheap_may_be_used_elsewhere() {
    check(
        r#"module {
  fn @main(%x: f32[8]) -> (%y: f32[8], %z: f32[8]) opset("" = 20) {
    %root = const f32[] 1.4142135
    %one = const f32[] 1.0
    %half = const f32[] 0.5
    %0 = onnx.Div(%x, %root) : f32[8]
    %1 = onnx.Erf(%0) : f32[8]
    %2 = onnx.Add(%1, %one) : f32[8]
    %3 = onnx.Mul(%x, %half) : f32[8]
    %4 = onnx.Mul(%3, %2) : f32[8]
    return %4, %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[8]) -> (%y: f32[8], %z: f32[8]) opset("" = 20) {
                %half = const f32[] 0.5
                %0 = onnx.Mul(%x, %half) : f32[8]
                %1 = onnx.Gelu(%x) : f32[8]
                return %1, %0
              }
            }
        "#]],
    );
}

#[test]
fn gelu_with_a_cube() {
    check(
        r#"module {
  fn @main(%x: f16[n,8]) -> (%y: f16[n,8]) opset("" = 20) {
    %three = const f16[] 3.0
    %cube = const f16[] 0.044715
    %factor = const f16[] 0.7978845608
    %one = const f16[] 1.0
    %half = const f16[] 0.5
    %0 = onnx.Mul(%half, %x) : f16[n,8]
    %1 = onnx.Pow(%x, %three) : f16[n,8]
    %2 = onnx.Mul(%cube, %1) : f16[n,8]
    %3 = onnx.Add(%x, %2) : f16[n,8]
    %4 = onnx.Mul(%factor, %3) : f16[n,8]
    %5 = onnx.Tanh(%4) : f16[n,8]
    %6 = onnx.Add(%one, %5) : f16[n,8]
    %7 = onnx.Mul(%0, %6) : f16[n,8]
    return %7
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f16[n,8]) -> (%y: f16[n,8]) opset("" = 20) {
                %0 = onnx.Gelu(%x) {approximate = "tanh"} : f16[n,8]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_square_is_no_cube() {
    check_stays(
        r#"module {
  fn @main(%x: f32[n,8]) -> (%y: f32[n,8]) opset("" = 20) {
    %two = const f32[] 2.0
    %cube = const f32[] 0.044715
    %factor = const f32[] 0.7978845608
    %one = const f32[] 1.0
    %half = const f32[] 0.5
    %0 = onnx.Mul(%half, %x) : f32[n,8]
    %1 = onnx.Pow(%x, %two) : f32[n,8]
    %2 = onnx.Mul(%cube, %1) : f32[n,8]
    %3 = onnx.Add(%x, %2) : f32[n,8]
    %4 = onnx.Mul(%factor, %3) : f32[n,8]
    %5 = onnx.Tanh(%4) : f32[n,8]
    %6 = onnx.Add(%one, %5) : f32[n,8]
    %7 = onnx.Mul(%0, %6) : f32[n,8]
    return %7
  }
}"#,
    );
}

#[test]
fn in_regions_and_functions() {
    check(
        r#"module {
  fn @main(%c: bool[], %x: f32[8]) -> (%y: f32[8]) opset("" = 18) {
    %0 = onnx.If(%c) : f32[8]
      region then_branch {
        %1 = onnx.Softplus(%x) : f32[8]
        %2 = onnx.Tanh(%1) : f32[8]
        %3 = onnx.Mul(%2, %x) : f32[8]
        yield %3
      }
      region else_branch {
        %4 = acme.Bend(%x) : f32[8]
        yield %4
      }
    return %0
  }
  fn @acme.Bend(%a: f32[8]) -> (%b: f32[8]) opset("" = 14) {
    %three = const f32[] 3.0
    %zero = const f32[] 0.0
    %six = const f32[] 6.0
    %0 = onnx.Add(%a, %three) : f32[8]
    %1 = onnx.Clip(%0, %zero, %six) : f32[8]
    %2 = onnx.Mul(%a, %1) : f32[8]
    %3 = onnx.Div(%2, %six) : f32[8]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[8]) -> (%y: f32[8]) opset("" = 18) {
                %0 = onnx.If(%c) : f32[8]
                  region then_branch {
                    %1 = onnx.Mish(%x) : f32[8]
                    yield %1
                  }
                  region else_branch {
                    %2 = acme.Bend(%x) : f32[8]
                    yield %2
                  }
                return %0
              }
              fn @acme.Bend(%a: f32[8]) -> (%b: f32[8]) opset("" = 14) {
                %0 = onnx.HardSwish(%a) : f32[8]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_function_has_the_name() {
    check_stays(
        r#"module {
  fn @main(%x: f32[8]) -> (%y: f32[8]) opset("" = 14) {
    %0 = onnx.HardSigmoid(%x) {alpha = 0.16666667} : f32[8]
    %1 = onnx.Mul(%x, %0) : f32[8]
    return %1
  }
  fn @onnx.HardSwish(%a: f32[8]) -> (%b: f32[8]) opset("" = 14) {
    %0 = onnx.Neg(%a) : f32[8]
    return %0
  }
}"#,
    );
}

#[test]
fn hard_sigmoids() {
    check(
        r#"module {
  fn @main(%x: f32[8]) -> (%y: f32[8], %z: f32[8]) opset("" = 13) {
    %slope = const f32[] 0.25
    %half = const f32[] 0.5
    %three = const f32[] 3.0
    %zero = const f32[] 0.0
    %one = const f32[] 1.0
    %six = const f32[] 6.0
    %0 = onnx.Add(%x, %three) : f32[8]
    %1 = onnx.Clip(%0, %zero, %six) : f32[8]
    %2 = onnx.Div(%1, %six) : f32[8]
    %3 = onnx.Mul(%x, %slope) : f32[8]
    %4 = onnx.Add(%3, %half) : f32[8]
    %5 = onnx.Clip(%4, %zero, %one) : f32[8]
    return %2, %5
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[8]) -> (%y: f32[8], %z: f32[8]) opset("" = 13) {
                %0 = onnx.HardSigmoid(%x) {alpha = 0.16666667, beta = 0.5} : f32[8]
                %1 = onnx.HardSigmoid(%x) {alpha = 0.25, beta = 0.5} : f32[8]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn bounds_that_no_hard_sigmoid_has() {
    check_stays(
        r#"module {
  fn @main(%x: f32[8], %w: f64[8]) -> (%y: f32[8], %z: f32[8], %v: f64[8]) opset("" = 13) {
    %three = const f32[] 3.0
    %zero = const f32[] 0.0
    %five = const f32[] 5.0
    %six = const f32[] 6.0
    %zeros = const f64[] 0.0
    %ones = const f64[] 1.0
    %0 = onnx.Add(%x, %three) : f32[8]
    %1 = onnx.Clip(%0, %zero, %six) : f32[8]
    %2 = onnx.Div(%1, %five) : f32[8]
    %3 = onnx.Add(%x, %three) : f32[8]
    %4 = onnx.Clip(%3, %three, %six) : f32[8]
    %5 = onnx.Div(%4, %six) : f32[8]
    %6 = onnx.Add(%w, %ones) : f64[8]
    %7 = onnx.Clip(%6, %zeros, %ones) : f64[8]
    return %2, %5, %7
  }
}"#,
    );
}

#[test]
fn softmax_with_what_keeps_it_small() {
    check(
        r#"module {
  fn @main(%x: f32[n,8]) -> (%y: f32[n,8]) opset("" = 18) {
    %last = const i64[1] [1]
    %0 = onnx.ReduceMax(%x, %last) : f32[n,1]
    %1 = onnx.Sub(%x, %0) : f32[n,8]
    %2 = onnx.Exp(%1) : f32[n,8]
    %3 = onnx.ReduceSum(%2, %last) : f32[n,1]
    %4 = onnx.Div(%2, %3) : f32[n,8]
    return %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,8]) -> (%y: f32[n,8]) opset("" = 18) {
                %0 = onnx.Softmax(%x) {axis = -1} : f32[n,8]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn softmax_along_other_axes() {
    let source = r#"module {
  fn @main(%x: f32[n,8]) -> (%y: f32[n,8]) opset("" = 18) {
    %first = const i64[1] [0]
    %0 = onnx.Exp(%x) : f32[n,8]
    %1 = onnx.ReduceSum(%0, %first) : f32[1,8]
    %2 = onnx.Div(%0, %1) : f32[n,8]
    return %2
  }
}"#;
    check_stays(source);
    support::check_options(
        PASS,
        r#"ops = ["onnx.Softmax"]"#,
        source,
        expect![[r#"
            module {
              fn @main(%x: f32[n,8]) -> (%y: f32[n,8]) opset("" = 18) {
                %0 = onnx.Softmax(%x) {axis = -2} : f32[n,8]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn sums_of_more_or_less() {
    check_stays(
        r#"module {
  fn @main(%x: f32[8,8]) -> (%y: f32[8,8], %z: f32[8,8], %w: f32[8,8]) opset("" = 18) {
    %last = const i64[1] [1]
    %both = const i64[2] [0, 1]
    %0 = onnx.Exp(%x) : f32[8,8]
    %1 = onnx.ReduceSum(%0, %both) : f32[1,1]
    %2 = onnx.Div(%0, %1) : f32[8,8]
    %3 = onnx.Exp(%2) : f32[8,8]
    %4 = onnx.ReduceSum(%3, %last) {keepdims = 0} : f32[8]
    %5 = onnx.Div(%3, %4) : f32[8,8]
    %6 = onnx.Exp(%5) : f32[8,8]
    %7 = onnx.ReduceSum(%5, %last) : f32[8,1]
    %8 = onnx.Div(%6, %7) : f32[8,8]
    return %2, %5, %8
  }
}"#,
    );
}

#[test]
fn reductions_if_they_are_named() {
    let source = |opset: u32| {
        format!(
            r#"module {{
  fn @main(%x: f32[n,8]) -> (%y: f32[n], %z: f32[n,1]) opset("" = {opset}) {{
    %last = const i64[1] [1]
    %0 = onnx.Mul(%x, %x) : f32[n,8]
    %1 = onnx.ReduceSum(%0, %last) {{keepdims = 0}} : f32[n]
    %2 = onnx.Sqrt(%1) : f32[n]
    %3 = onnx.Abs(%x) : f32[n,8]
    %4 = onnx.ReduceSum(%3, %last) : f32[n,1]
    return %2, %4
  }}
}}"#
        )
    };
    check_stays(&source(18));
    let options = r#"ops = ["onnx.ReduceL2", "onnx.ReduceL1"], except = ["onnx.ReduceL1"]"#;
    support::check_options(
        PASS,
        options,
        &source(18),
        expect![[r#"
        module {
          fn @main(%x: f32[n,8]) -> (%y: f32[n], %z: f32[n,1]) opset("" = 18) {
            %last = const i64[1] [1]
            %0 = const i64[1] [1]
            %1 = onnx.ReduceL2(%x, %0) {keepdims = 0} : f32[n]
            %2 = onnx.Abs(%x) : f32[n,8]
            %3 = onnx.ReduceSum(%2, %last) : f32[n,1]
            return %1, %3
          }
        }
    "#]],
    );
    support::check_options(
        PASS,
        options,
        &source(13),
        expect![[r#"
        module {
          fn @main(%x: f32[n,8]) -> (%y: f32[n], %z: f32[n,1]) opset("" = 13) {
            %last = const i64[1] [1]
            %0 = onnx.ReduceL2(%x) {keepdims = 0, axes = [1]} : f32[n]
            %1 = onnx.Abs(%x) : f32[n,8]
            %2 = onnx.ReduceSum(%1, %last) : f32[n,1]
            return %0, %2
          }
        }
    "#]],
    );
}

#[test]
fn operators_that_are_slower_if_they_are_named() {
    let source = r#"module {
  fn @main(%x: f32[8]) -> (%y: f32[8]) opset("" = 24) {
    %factor = const f32[] 1.702
    %0 = onnx.Mul(%x, %factor) : f32[8]
    %1 = onnx.Sigmoid(%0) : f32[8]
    %2 = onnx.Mul(%x, %1) : f32[8]
    return %2
  }
}"#;
    check_stays(source);
    support::check_options(
        PASS,
        r#"ops = ["onnx.Swish"]"#,
        source,
        expect![[r#"
        module {
          fn @main(%x: f32[8]) -> (%y: f32[8]) opset("" = 24) {
            %0 = onnx.Swish(%x) {alpha = 1.702} : f32[8]
            return %0
          }
        }
    "#]],
    );
}

#[test]
fn attention_of_heads_and_of_one() {
    check(
        r#"module {
  fn @main(%q: f32[b,4,s,32], %k: f32[b,t,4,32], %v: f32[b,4,t,16], %w: f32[4,s,32]) -> (%y: f32[b,4,s,16], %z: f32[4,s,32]) opset("" = 23) {
    %scale = const f32[] 0.17677669
    %0 = onnx.Transpose(%k) {perm = [0, 2, 3, 1]} : f32[b,4,32,t]
    %1 = onnx.MatMul(%q, %0) : f32[b,4,s,t]
    %2 = onnx.Mul(%1, %scale) : f32[b,4,s,t]
    %3 = onnx.Softmax(%2) {axis = -1} : f32[b,4,s,t]
    %4 = onnx.MatMul(%3, %v) : f32[b,4,s,16]
    %5 = onnx.Transpose(%w) {perm = [0, 2, 1]} : f32[4,32,s]
    %6 = onnx.MatMul(%w, %5) : f32[4,s,s]
    %7 = onnx.Softmax(%6) {axis = 2} : f32[4,s,s]
    %8 = onnx.MatMul(%7, %w) : f32[4,s,32]
    return %4, %8
  }
}"#,
        expect![[r#"
            module {
              fn @main(%q: f32[b,4,s,32], %k: f32[b,t,4,32], %v: f32[b,4,t,16], %w: f32[4,s,32]) -> (%y: f32[b,4,s,16], %z: f32[4,s,32]) opset("" = 23) {
                %0 = onnx.Transpose(%k) {perm = [0, 2, 1, 3]} : f32[b,4,t,32]
                %1 = onnx.Attention(%q, %0, %v) {scale = 0.17677669} : f32[b,4,s,16]
                %2 = onnx.Attention(%w, %w, %w) {scale = 1.0, q_num_heads = 1, kv_num_heads = 1} : f32[4,s,32]
                return %1, %2
              }
            }
        "#]],
    );
}

#[test]
fn attention_over_other_axes_and_batches() {
    check_stays(
        r#"module {
  fn @main(%q: f32[b,4,8,32], %k: f32[1,4,8,32], %v: f32[b,4,8,16]) -> (%y: f32[b,4,8,16], %z: f32[b,4,8,16]) opset("" = 23) {
    %0 = onnx.Transpose(%k) {perm = [0, 1, 3, 2]} : f32[1,4,32,8]
    %1 = onnx.MatMul(%q, %0) : f32[b,4,8,8]
    %2 = onnx.Softmax(%1) {axis = -1} : f32[b,4,8,8]
    %3 = onnx.MatMul(%2, %v) : f32[b,4,8,16]
    %4 = onnx.Transpose(%q) {perm = [0, 1, 3, 2]} : f32[b,4,32,8]
    %5 = onnx.MatMul(%q, %4) : f32[b,4,8,8]
    %6 = onnx.Softmax(%5) {axis = 2} : f32[b,4,8,8]
    %7 = onnx.MatMul(%6, %v) : f32[b,4,8,16]
    return %3, %7
  }
}"#,
    );
}

#[test]
fn masks_if_attention_is_named() {
    let source = |mask: &str| {
        format!(
            r#"module {{
  fn @main(%q: f32[b,4,s,32], %k: f32[b,4,t,32], %v: f32[b,4,t,16], %m: f32[{mask}]) -> (%y: f32[b,4,s,16]) opset("" = 23) {{
    %scale = const f32[] 5.656854
    %0 = onnx.Transpose(%k) {{perm = [0, 1, 3, 2]}} : f32[b,4,32,t]
    %1 = onnx.Div(%q, %scale) : f32[b,4,s,32]
    %2 = onnx.MatMul(%1, %0) : f32[b,4,s,t]
    %3 = onnx.Add(%2, %m) : f32[b,4,s,t]
    %4 = onnx.Softmax(%3) {{axis = -1}} : f32[b,4,s,t]
    %5 = onnx.MatMul(%4, %v) : f32[b,4,s,16]
    return %5
  }}
}}"#
        )
    };
    check_stays(&source("1,1,s,t"));
    let named = r#"ops = ["onnx.Attention"]"#;
    support::check_options(
        PASS,
        named,
        &source("1,1,s,t"),
        expect![[r#"
        module {
          fn @main(%q: f32[b,4,s,32], %k: f32[b,4,t,32], %v: f32[b,4,t,16], %m: f32[1,1,s,t]) -> (%y: f32[b,4,s,16]) opset("" = 23) {
            %0 = onnx.Attention(%q, %k, %v, %m) {scale = 0.17677669} : f32[b,4,s,16]
            return %0
          }
        }
    "#]],
    );
    // ONNX Runtime wants a number for each place of a query.
    let stays = source("b,1,1,t");
    assert_eq!(
        support::run_options(PASS, named, &stays),
        support::run("relax.transform.InferType", &stays)
    );
}
