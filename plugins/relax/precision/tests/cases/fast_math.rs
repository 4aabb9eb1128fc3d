//! Cases of `relax.transform.FastMath`.

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.FastMath";

/// A module of a body, inferred, without its functions' bodies.
fn module(signature: &str, opset: u32, body: &str) -> String {
    let (params, results) = signature
        .split_once(" -> ")
        .expect("parameters and results");
    let text = format!(
        "module {{\n  fn @main({params}) -> {results} opset(\"\" = {opset}) {{\n{body}\n  }}\n}}"
    );
    support::run("relax.transform.InferType", &text)
}

#[track_caller]
fn check(signature: &str, opset: u32, body: &str, expected: Expect) {
    support::check(PASS, &module(signature, opset, body), expected);
}

#[track_caller]
fn check_stays(signature: &str, opset: u32, body: &str) {
    support::check_stays(PASS, &module(signature, opset, body));
}

#[test]
fn what_is_called_twice_is_made_once() {
    check(
        "%x: f32[n,2], %y: f32[] -> (%a: f32[n,2], %b: f32[])",
        17,
        "    %0 = onnx.Exp(%x)
    %1 = onnx.Exp(%y)
    return %0, %1",
        expect![[r#"
            module {
              fn @main(%x: f32[n,2], %y: f32[]) -> (%a: f32[n,2], %b: f32[]) opset("" = 17, "passdock.fast" = 1) {
                %0 = passdock.fast.fast_exp(%x) : f32[n,2]
                %1 = passdock.fast.fast_exp(%y) : f32[]
                return %0, %1
              }
              fn @passdock.fast.fast_exp(%x: ?) -> (%y) opset("" = 17) {
                %0 = const f32[] 89.0
                %1 = const f32[] -104.0
                %2 = const f32[] 1.442695
                %3 = const f32[] 0.5
                %4 = const f32[] 0.6933594
                %5 = const f32[] -0.00021219444
                %6 = const f32[] 0.00019875691
                %7 = const f32[] 0.0013981999
                %8 = const f32[] 0.008333452
                %9 = const f32[] 0.041665796
                %10 = const f32[] 0.16666666
                %11 = const f32[] 1.0
                %12 = const f32[] 2.0
                %13 = onnx.Min(%x, %0)
                %14 = onnx.Max(%13, %1)
                %15 = onnx.Mul(%14, %2)
                %16 = onnx.Add(%15, %3)
                %17 = onnx.Floor(%16)
                %18 = onnx.Mul(%17, %4)
                %19 = onnx.Sub(%14, %18)
                %20 = onnx.Mul(%17, %5)
                %21 = onnx.Sub(%19, %20)
                %22 = onnx.Mul(%6, %21)
                %23 = onnx.Add(%22, %7)
                %24 = onnx.Mul(%23, %21)
                %25 = onnx.Add(%24, %8)
                %26 = onnx.Mul(%25, %21)
                %27 = onnx.Add(%26, %9)
                %28 = onnx.Mul(%27, %21)
                %29 = onnx.Add(%28, %10)
                %30 = onnx.Mul(%29, %21)
                %31 = onnx.Add(%30, %3)
                %32 = onnx.Mul(%21, %21)
                %33 = onnx.Mul(%31, %32)
                %34 = onnx.Add(%33, %21)
                %35 = onnx.Add(%34, %11)
                %36 = onnx.Mul(%17, %3)
                %37 = onnx.Floor(%36)
                %38 = onnx.Sub(%17, %37)
                %39 = onnx.Pow(%12, %37)
                %40 = onnx.Mul(%35, %39)
                %41 = onnx.Pow(%12, %38)
                %42 = onnx.Mul(%40, %41)
                return %42
              }
            }
        "#]],
    );
    check_stays(
        "%x: f16[n,2], %y: f64[] -> (%a: f16[n,2], %b: f64[])",
        17,
        "    %0 = onnx.Exp(%x)
    %1 = onnx.Exp(%y)
    return %0, %1",
    );
}

#[test]
fn tanh() {
    check(
        "%x: f32[n] -> (%a: f32[n])",
        13,
        "    %0 = onnx.Tanh(%x)
    return %0",
        expect![[r#"
            module {
              fn @main(%x: f32[n]) -> (%a: f32[n]) opset("" = 13, "passdock.fast" = 1) {
                %0 = passdock.fast.fast_tanh(%x) : f32[n]
                return %0
              }
              fn @passdock.fast.fast_tanh(%x: ?) -> (%y) opset("" = 13) {
                %0 = const f32[] 9.0
                %1 = const f32[] -9.0
                %2 = const f32[] -2.7607684e-16
                %3 = const f32[] 2.000188e-13
                %4 = const f32[] -8.604672e-11
                %5 = const f32[] 5.1222973e-8
                %6 = const f32[] 1.48572235e-5
                %7 = const f32[] 0.00063726195
                %8 = const f32[] 0.0048935246
                %9 = const f32[] 1.1982584e-6
                %10 = const f32[] 0.00011853471
                %11 = const f32[] 0.0022684347
                %12 = const f32[] 0.004893525
                %13 = onnx.Min(%x, %0)
                %14 = onnx.Max(%13, %1)
                %15 = onnx.Mul(%14, %14)
                %16 = onnx.Mul(%2, %15)
                %17 = onnx.Add(%16, %3)
                %18 = onnx.Mul(%17, %15)
                %19 = onnx.Add(%18, %4)
                %20 = onnx.Mul(%19, %15)
                %21 = onnx.Add(%20, %5)
                %22 = onnx.Mul(%21, %15)
                %23 = onnx.Add(%22, %6)
                %24 = onnx.Mul(%23, %15)
                %25 = onnx.Add(%24, %7)
                %26 = onnx.Mul(%25, %15)
                %27 = onnx.Add(%26, %8)
                %28 = onnx.Mul(%14, %27)
                %29 = onnx.Mul(%9, %15)
                %30 = onnx.Add(%29, %10)
                %31 = onnx.Mul(%30, %15)
                %32 = onnx.Add(%31, %11)
                %33 = onnx.Mul(%32, %15)
                %34 = onnx.Add(%33, %12)
                %35 = onnx.Div(%28, %34)
                return %35
              }
            }
        "#]],
    );
    // What Min and Max are was another thing.
    check_stays(
        "%x: f32[n] -> (%a: f32[n])",
        7,
        "    %0 = onnx.Tanh(%x)
    return %0",
    );
}

#[test]
fn erf() {
    check(
        "%x: f32[n] -> (%a: f32[n])",
        13,
        "    %0 = onnx.Erf(%x)
    return %0",
        expect![[r#"
            module {
              fn @main(%x: f32[n]) -> (%a: f32[n]) opset("" = 13, "passdock.fast" = 1) {
                %0 = passdock.fast.fast_erf(%x) : f32[n]
                return %0
              }
              fn @passdock.fast.fast_erf(%x: ?) -> (%y) opset("" = 13) {
                %0 = const f32[] 4.0
                %1 = const f32[] -4.0
                %2 = const f32[] -2.7261424e-10
                %3 = const f32[] 2.7706815e-8
                %4 = const f32[] -2.101024e-6
                %5 = const f32[] -5.6925062e-5
                %6 = const f32[] -0.00073499064
                %7 = const f32[] -0.0029546
                %8 = const f32[] -0.016096033
                %9 = const f32[] -1.45660715e-5
                %10 = const f32[] -0.00021337405
                %11 = const f32[] -0.001682827
                %12 = const f32[] -0.0073733293
                %13 = const f32[] -0.014264739
                %14 = onnx.Min(%x, %0)
                %15 = onnx.Max(%14, %1)
                %16 = onnx.Mul(%15, %15)
                %17 = onnx.Mul(%2, %16)
                %18 = onnx.Add(%17, %3)
                %19 = onnx.Mul(%18, %16)
                %20 = onnx.Add(%19, %4)
                %21 = onnx.Mul(%20, %16)
                %22 = onnx.Add(%21, %5)
                %23 = onnx.Mul(%22, %16)
                %24 = onnx.Add(%23, %6)
                %25 = onnx.Mul(%24, %16)
                %26 = onnx.Add(%25, %7)
                %27 = onnx.Mul(%26, %16)
                %28 = onnx.Add(%27, %8)
                %29 = onnx.Mul(%15, %28)
                %30 = onnx.Mul(%9, %16)
                %31 = onnx.Add(%30, %10)
                %32 = onnx.Mul(%31, %16)
                %33 = onnx.Add(%32, %11)
                %34 = onnx.Mul(%33, %16)
                %35 = onnx.Add(%34, %12)
                %36 = onnx.Mul(%35, %16)
                %37 = onnx.Add(%36, %13)
                %38 = onnx.Div(%29, %37)
                return %38
              }
            }
        "#]],
    );
    check_stays(
        "%x: f32[n] -> (%a: f32[n])",
        20,
        "    %0 = onnx.Gelu(%x)
    return %0",
    );
}

/// The functions' signatures, and all of `main`.
fn outline(text: &str) -> String {
    let mut is_main = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.contains("fn @") {
            is_main = line.contains("@main");
            lines.push(line.trim());
        } else if is_main {
            lines.push(line.trim());
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_softmax_along_each_axis() {
    let source = module(
        "%x: f32[n,2,3], %y: f32[*] -> (%a: f32[n,2,3], %b: f32[n,2,3], %c: f32[n,2,3], %d: f32[*])",
        18,
        "    %0 = onnx.Softmax(%x)
    %1 = onnx.Softmax(%x) {axis = 2}
    %2 = onnx.Softmax(%x) {axis = 1}
    %3 = onnx.Softmax(%y) {axis = -2}
    return %0, %1, %2, %3",
    );
    let made = support::run(PASS, &source);
    expect![[r#"
        fn @main(%x: f32[n,2,3], %y: f32[*]) -> (%a: f32[n,2,3], %b: f32[n,2,3], %c: f32[n,2,3], %d: f32[*]) opset("" = 18, "passdock.fast" = 1) {
        %0 = passdock.fast.fast_softmax(%x) : f32[n,2,3]
        %1 = passdock.fast.fast_softmax(%x) : f32[n,2,3]
        %2 = passdock.fast.fast_softmax_axis1(%x) : f32[n,2,3]
        %3 = passdock.fast.fast_softmax_axis_minus2(%y) : f32[*]
        return %0, %1, %2, %3
        }
        fn @passdock.fast.fast_exp(%x: ?) -> (%y) opset("" = 18) {
        fn @passdock.fast.fast_softmax(%x: ?) -> (%y) opset("" = 18, "passdock.fast" = 1) {
        fn @passdock.fast.fast_softmax_axis1(%x: ?) -> (%y) opset("" = 18, "passdock.fast" = 1) {
        fn @passdock.fast.fast_softmax_axis_minus2(%x: ?) -> (%y) opset("" = 18, "passdock.fast" = 1) {
    "#]]
    .assert_eq(&outline(&made));
    // Where axes are attributes, too.
    let source = module(
        "%x: f32[n,2,3] -> (%a: f32[n,2,3])",
        17,
        "    %0 = onnx.Softmax(%x)\n    return %0",
    );
    let made = support::run(PASS, &source);
    let softmax = made.split("fn @passdock.fast.fast_softmax").nth(1);
    expect![[r#"
        (%x: ?) -> (%y) opset("" = 17, "passdock.fast" = 1) {
            %0 = const i64[1] [-1]
            %1 = onnx.ReduceMax(%x) {axes = [-1]}
            %2 = onnx.Sub(%x, %1)
            %3 = passdock.fast.fast_exp(%2)
            %4 = onnx.ReduceSum(%3, %0)
            %5 = onnx.Div(%3, %4)
            return %5
          }
        }
    "#]]
    .assert_eq(softmax.unwrap_or_default());
    // Before opset 13 it was of all axes from there on.
    check_stays(
        "%x: f32[n,2,3] -> (%a: f32[n,2,3])",
        12,
        "    %0 = onnx.Softmax(%x)\n    return %0",
    );
}

#[test]
fn in_regions_and_functions_of_other_opsets() {
    let source = r#"module {
  fn @main(%c: bool[], %x: f32[2]) -> (%a: f32[2]) opset("" = 17, "acme" = 1) {
    %0 = onnx.If(%c) {then_branch = region, else_branch = region} : f32[2]
      region then_branch {
        %1 = onnx.Tanh(%x) : f32[2]
        yield %1
      }
      region else_branch {
        %2 = acme.Act(%x) : f32[2]
        yield %2
      }
    return %0
  }
  fn @acme.Act(%x: f32[2]) -> (%y: f32[2]) opset("" = 18) {
    %0 = onnx.Tanh(%x) : f32[2]
    return %0
  }
  fn @acme.Kept(%x: f32[2]) -> (%y: f32[2]) opset("" = 18) attributes {SkipOptimization = 1} {
    %0 = onnx.Tanh(%x) : f32[2]
    return %0
  }
}"#;
    let made = support::run(PASS, source);
    let lines = made.lines();
    let shown: Vec<&str> = lines
        .map(str::trim)
        .filter(|line| line.contains("Tanh") || line.contains("fast"))
        .collect();
    expect![[r#"
        fn @main(%c: bool[], %x: f32[2]) -> (%a: f32[2]) opset("" = 17, "acme" = 1, "passdock.fast" = 1) {
        %1 = passdock.fast.fast_tanh(%x) : f32[2]
        fn @acme.Act(%x: f32[2]) -> (%y: f32[2]) opset("" = 18, "passdock.fast" = 1) {
        %0 = passdock.fast.fast_tanh_1(%x) : f32[2]
        %0 = onnx.Tanh(%x) : f32[2]
        fn @passdock.fast.fast_tanh(%x: ?) -> (%y) opset("" = 17) {
        fn @passdock.fast.fast_tanh_1(%x: ?) -> (%y) opset("" = 18) {
    "#]]
    .assert_eq(&(shown.join("\n") + "\n"));
    // What it made is there when it runs again.
    let (first, second) = (made.clone(), support::run(PASS, &made));
    assert_eq!(first, second);
    let with_more = made.replacen("acme.Act(%x)", "onnx.Tanh(%x)", 1);
    assert_eq!(
        support::run(PASS, &with_more).matches("fn @").count(),
        made.matches("fn @").count()
    );
}

#[test]
fn a_function_that_was_inferred_is_called_with_other_sizes() {
    let source = |operator: &str| {
        format!(
            "module {{
  fn @main(%x: f32[4], %z: f32[2,3]) -> (%y: f32[4], %q: f32[2,3]) opset(\"\" = 17, \"acme\" = 1) {{
    %0 = onnx.Tanh(%x) : f32[4]
    %1 = {operator}(%z) : f32[2,3]
    return %0, %1
  }}
}}"
        )
    };
    let infer = "relax.transform.InferType";
    let first = support::run(infer, &support::run(PASS, &source("acme.Later")));
    assert!(first.contains("fast_tanh(%x: f32[4])"));
    let second = support::run(PASS, &first.replace("acme.Later", "onnx.Tanh"));
    assert_eq!(second, support::run(PASS, &source("onnx.Tanh")));
}

#[test]
fn only_what_is_asked_for() {
    let source = module(
        "%x: f32[n] -> (%a: f32[n], %b: f32[n])",
        17,
        "    %0 = onnx.Tanh(%x)
    %1 = onnx.Sigmoid(%x)
    return %0, %1",
    );
    let made = support::run_options(PASS, "ops = [\"onnx.Sigmoid\"]", &source);
    expect![[r#"
        fn @main(%x: f32[n]) -> (%a: f32[n], %b: f32[n]) opset("" = 17, "passdock.fast" = 1) {
        %0 = onnx.Tanh(%x) : f32[n]
        %1 = passdock.fast.fast_sigmoid(%x) : f32[n]
        return %0, %1
        }
        fn @passdock.fast.fast_exp(%x: ?) -> (%y) opset("" = 17) {
        fn @passdock.fast.fast_sigmoid(%x: ?) -> (%y) opset("" = 17, "passdock.fast" = 1) {
    "#]]
    .assert_eq(&outline(&made));
    expect![[r#"
        error[config]: There is no approximation of `onnx.Gelu`. There are some of onnx.Exp, onnx.Tanh, onnx.Erf, onnx.Sigmoid and onnx.Softmax.
         |
         = in pass relax.transform.FastMath of plugin relax"#]]
    .assert_eq(&support::run_options(
        PASS,
        "ops = [\"onnx.Gelu\"]",
        &source,
    ));
}
