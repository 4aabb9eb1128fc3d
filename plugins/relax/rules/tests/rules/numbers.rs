//! Numbers of rules and constants of every dtype.

use std::fmt::Write;

use expect_test::expect;

use crate::{check, rewritten};

/// Which constants a pattern's number is, each in a model of its own.
fn fits(number: &str, constants: &[&str]) -> String {
    let rules = format!("rule r {{ onnx.Mul(%x, {number}) => onnx.Abs(%x) }}");
    let mut text = String::new();
    for constant in constants {
        let dtype = constant.split('[').next().unwrap_or_default();
        let signature = format!("(%x: {dtype}[2]) -> (%y: {dtype}[2])");
        let body = format!("%c = const {constant}\n%0 = onnx.Mul(%x, %c)\nreturn %0");
        let after = rewritten(&rules, &signature, &body, 20);
        let is_found = after.contains("onnx.Abs");
        assert!(is_found != after.contains("onnx.Mul"), "{after}");
        writeln!(text, "{constant}: {is_found}").expect("a string takes everything");
    }
    text
}

#[test]
fn one_is_the_nearest_element_of_the_dtype() {
    expect![[r#"
        f32[] 0.1: true
        f32[] 0.10001: false
        f64[] 0.1: true
        f64[] 0.1000001: false
        f16[] 0.1: true
        f16[] 0.1002: false
        bf16[] 0.1: true
        bf16[] 0.102: false
        f32[2] [0.1, 0.1]: true
        f32[2] [0.1, 0.2]: false
        f32[0] []: false
        i64[] 0: false
    "#]]
    .assert_eq(&fits(
        "0.1",
        &[
            "f32[] 0.1",
            "f32[] 0.10001",
            "f64[] 0.1",
            "f64[] 0.1000001",
            "f16[] 0.1",
            "f16[] 0.1002",
            "bf16[] 0.1",
            "bf16[] 0.102",
            "f32[2] [0.1, 0.1]",
            "f32[2] [0.1, 0.2]",
            "f32[0] []",
            "i64[] 0",
        ],
    ));
}

#[test]
fn about_one_is_as_near_as_exporters_come() {
    expect![[r#"
        f32[] 1.4142135: true
        f32[] 1.414213562: true
        f32[] 1.41421: true
        f32[] 1.4142: true
        f32[] 1.414: false
        f32[] 1.42: false
        f64[] 1.41421356: true
        f64[] 1.4142135: true
        f64[] 1.4143: false
        f16[] 1.414: true
        f16[] 1.43: false
        bf16[] 1.4140625: true
        bf16[] 1.5: false
        i32[] 1: false
    "#]]
    .assert_eq(&fits(
        "~1.41421356",
        &[
            "f32[] 1.4142135",
            "f32[] 1.414213562",
            "f32[] 1.41421",
            "f32[] 1.4142",
            "f32[] 1.414",
            "f32[] 1.42",
            "f64[] 1.41421356",
            "f64[] 1.4142135",
            "f64[] 1.4143",
            "f16[] 1.414",
            "f16[] 1.43",
            "bf16[] 1.4140625",
            "bf16[] 1.5",
            "i32[] 1",
        ],
    ));
}

#[test]
fn integers_are_exact() {
    expect![[r#"
        i64[] 2: true
        i64[] 3: false
        i32[] 2: true
        i32[1] [2]: true
        f32[] 2.0: true
        f16[] 2.0: true
        u8[] 2: true
        i8[] -2: false
    "#]]
    .assert_eq(&fits(
        "~2",
        &[
            "i64[] 2",
            "i64[] 3",
            "i32[] 2",
            "i32[1] [2]",
            "f32[] 2.0",
            "f16[] 2.0",
            "u8[] 2",
            "i8[] -2",
        ],
    ));
    expect![[r#"
        i8[] -2: true
        i64[] -2: true
        f32[] -2.0: true
        u8[] 254: false
    "#]]
    .assert_eq(&fits(
        "-2",
        &["i8[] -2", "i64[] -2", "f32[] -2.0", "u8[] 254"],
    ));
}

#[test]
fn one_that_is_made_has_the_dtype_beside_it() {
    for dtype in ["f32", "f16", "bf16", "f64", "i32", "i64"] {
        let signature = format!("(%x: {dtype}[2]) -> (%y: {dtype}[2])");
        let rules = "rule r { onnx.Add(%x, %x) => onnx.Mul(%x, 2) }";
        let after = rewritten(rules, &signature, "%0 = onnx.Add(%x, %x)\nreturn %0", 20);
        assert!(after.contains(&format!("const {dtype}[] 2")), "{after}");
    }
    // There is no such element.
    let rules = "rule r { onnx.Add(%x, %x) => onnx.Mul(%x, 0.5) }";
    let signature = "(%x: i64[2]) -> (%y: i64[2])";
    let after = rewritten(rules, signature, "%0 = onnx.Add(%x, %x)\nreturn %0", 20);
    assert!(after.contains("onnx.Add"), "{after}");
}

#[test]
fn lists_of_integers() {
    let rules = "rule r { onnx.Reshape(%x, [0, -1]) => onnx.Reshape(%x, [2, 6]) }";
    check(
        rules,
        "(%x: f32[2,3,2]) -> (%y: f32[2,6])",
        "%s = const i64[2] [0, -1]\n%0 = onnx.Reshape(%x, %s)\nreturn %0",
        expect![[r#"
            %0 = const i64[2] [2, 6]
            %1 = onnx.Reshape(%x, %0) : f32[2,6]
            return %1
        "#]],
    );
}

#[test]
fn what_is_made_of_constants_is_one() {
    check(
        "rule r { onnx.Mul(onnx.Mul(%x, %a), %b) => onnx.Mul(%x, onnx.Mul(%a, %b)) where const(%a), const(%b) }",
        "(%x: f32[2]) -> (%y: f32[2])",
        "%a = const f32[] 3.0
         %b = const f32[2] [0.5, 2.0]
         %0 = onnx.Mul(%x, %a)
         %1 = onnx.Mul(%b, %0)
         return %1",
        expect![[r#"
            %0 = const f32[2] [1.5, 6.0]
            %1 = onnx.Mul(%x, %0) : f32[2]
            return %1
        "#]],
    );
}
