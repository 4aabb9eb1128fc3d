//! Conditions: each one where it holds, where it doesn't, and where nothing is known.

use std::fmt::Write;

use expect_test::{Expect, expect};

use crate::{rewritten, run, shown};

/// Whether `Neg(x) + y` is rewritten under a condition, for a signature each.
#[track_caller]
fn check(condition: &str, signatures: &[&str], expected: Expect) {
    let rules =
        format!("rule r {{ onnx.Add(onnx.Neg(%x), %y) => onnx.Sub(%y, %x) where {condition} }}");
    let mut text = String::new();
    for signature in signatures {
        let whole = format!("({signature}) -> (%z)");
        let after = rewritten(
            &rules,
            &whole,
            "%n = onnx.Neg(%x)\n%0 = onnx.Add(%n, %y)\nreturn %0",
            20,
        );
        let holds = after.contains("onnx.Sub");
        assert!(holds || after.contains("onnx.Add"), "{after}");
        writeln!(text, "{signature}: {holds}").expect("a string takes everything");
    }
    expected.assert_eq(&text);
}

#[test]
fn of_types() {
    let pairs = [
        "%x: f32[2,3], %y: f32[2,3]",
        "%x: f32[2,3], %y: f32[3]",
        "%x: f32[n], %y: f32[n]",
        "%x: f32[?], %y: f32[?]",
    ];
    check(
        "same_shape(%x, %y)",
        &pairs,
        expect![[r#"
        %x: f32[2,3], %y: f32[2,3]: true
        %x: f32[2,3], %y: f32[3]: false
        %x: f32[n], %y: f32[n]: true
        %x: f32[?], %y: f32[?]: false
    "#]],
    );
    check(
        "not same_shape(%x, %y)",
        &pairs,
        expect![[r#"
        %x: f32[2,3], %y: f32[2,3]: false
        %x: f32[2,3], %y: f32[3]: true
        %x: f32[n], %y: f32[n]: false
        %x: f32[?], %y: f32[?]: false
    "#]],
    );
    check(
        "same_type(%x, %y)",
        &pairs,
        expect![[r#"
        %x: f32[2,3], %y: f32[2,3]: true
        %x: f32[2,3], %y: f32[3]: false
        %x: f32[n], %y: f32[n]: true
        %x: f32[?], %y: f32[?]: false
    "#]],
    );
    check(
        "same_dtype(%x, %y)",
        &["%x: f32[2], %y: f32[*]", "%x, %y: f32[2]"],
        expect![[r#"
            %x: f32[2], %y: f32[*]: true
            %x, %y: f32[2]: false
        "#]],
    );
    check(
        "float(%x)",
        &["%x: f16[2], %y: f16[2]", "%x: i32[2], %y: i32[2]", "%x, %y"],
        expect![[r#"
            %x: f16[2], %y: f16[2]: true
            %x: i32[2], %y: i32[2]: false
            %x, %y: false
        "#]],
    );
    check(
        "!float(%x)",
        &["%x: f16[2], %y: f16[2]", "%x: i32[2], %y: i32[2]", "%x, %y"],
        expect![[r#"
            %x: f16[2], %y: f16[2]: false
            %x: i32[2], %y: i32[2]: true
            %x, %y: false
        "#]],
    );
    check(
        "stretches_to(%y, %x)",
        &[
            "%x: f32[2,3], %y: f32[1,3]",
            "%x: f32[2,3], %y: f32[]",
            "%x: f32[1,3], %y: f32[2,3]",
            "%x: f32[2,n], %y: f32[n]",
            "%x: f32[2,?], %y: f32[?]",
        ],
        expect![[r#"
            %x: f32[2,3], %y: f32[1,3]: true
            %x: f32[2,3], %y: f32[]: true
            %x: f32[1,3], %y: f32[2,3]: false
            %x: f32[2,n], %y: f32[n]: true
            %x: f32[2,?], %y: f32[?]: false
        "#]],
    );
}

#[test]
fn of_numbers() {
    let shapes = [
        "%x: f32[2,3], %y: f32[2,3]",
        "%x: f32[4], %y: f32[4]",
        "%x: f32[n,3], %y: f32[3]",
        "%x, %y",
    ];
    check(
        "rank(%x) == 2",
        &shapes,
        expect![[r#"
        %x: f32[2,3], %y: f32[2,3]: true
        %x: f32[4], %y: f32[4]: false
        %x: f32[n,3], %y: f32[3]: true
        %x, %y: false
    "#]],
    );
    check(
        "rank(%x) != 2",
        &shapes,
        expect![[r#"
        %x: f32[2,3], %y: f32[2,3]: false
        %x: f32[4], %y: f32[4]: true
        %x: f32[n,3], %y: f32[3]: false
        %x, %y: false
    "#]],
    );
    check(
        "size(%x) <= 4",
        &shapes,
        expect![[r#"
        %x: f32[2,3], %y: f32[2,3]: false
        %x: f32[4], %y: f32[4]: true
        %x: f32[n,3], %y: f32[3]: false
        %x, %y: false
    "#]],
    );
    check(
        "dim(%x, -1) > 3",
        &shapes,
        expect![[r#"
        %x: f32[2,3], %y: f32[2,3]: false
        %x: f32[4], %y: f32[4]: true
        %x: f32[n,3], %y: f32[3]: false
        %x, %y: false
    "#]],
    );
    check(
        "dim(%x, 0) < 3",
        &shapes,
        expect![[r#"
        %x: f32[2,3], %y: f32[2,3]: true
        %x: f32[4], %y: f32[4]: false
        %x: f32[n,3], %y: f32[3]: false
        %x, %y: false
    "#]],
    );
    check(
        "dim(%x, 7) >= 0",
        &shapes,
        expect![[r#"
        %x: f32[2,3], %y: f32[2,3]: false
        %x: f32[4], %y: f32[4]: false
        %x: f32[n,3], %y: f32[3]: false
        %x, %y: false
    "#]],
    );
    check(
        "dtype(%x) in [f32, f16]",
        &["%x: f32[2], %y: f32[2]", "%x: f64[2], %y: f64[2]", "%x, %y"],
        expect![[r#"
            %x: f32[2], %y: f32[2]: true
            %x: f64[2], %y: f64[2]: false
            %x, %y: false
        "#]],
    );
    check(
        "rank(%x) == rank(%y), dtype(%x) != i32",
        &shapes,
        expect![[r#"
            %x: f32[2,3], %y: f32[2,3]: true
            %x: f32[4], %y: f32[4]: true
            %x: f32[n,3], %y: f32[3]: false
            %x, %y: false
        "#]],
    );
}

#[test]
fn of_uses_and_constants() {
    let rules = "rule r { %n = onnx.Neg(%x) onnx.Add(%n, %y) => onnx.Sub(%y, %x) where uses(%n) == 1, const(%y) }";
    let body = |more: &str| {
        format!("%c = const f32[2] [1.0, 2.0]\n%n = onnx.Neg(%x)\n%0 = onnx.Add(%n, %c)\n{more}")
    };
    let signature = "(%x: f32[2]) -> (%y)";
    let once = rewritten(rules, signature, &body("return %0"), 20);
    expect![[r#"
        %c = const f32[2] [1.0, 2.0]
        %0 = onnx.Sub(%c, %x) : f32[2]
        return %0
    "#]]
    .assert_eq(&once);
    let twice = rewritten(
        rules,
        signature,
        &body("%1 = onnx.Mul(%0, %n)\nreturn %1"),
        20,
    );
    expect![[r#"
        %c = const f32[2] [1.0, 2.0]
        %n = onnx.Neg(%x) : f32[2]
        %0 = onnx.Add(%n, %c) : f32[2]
        %1 = onnx.Mul(%0, %n) : f32[2]
        return %1
    "#]]
    .assert_eq(&twice);
}

#[test]
fn of_attributes() {
    let rules = "rule r {
        onnx.LeakyRelu(%x) {alpha = $a} => onnx.Relu(%x) where $a < 0.05, not $a == 0
    }
    rule identity { onnx.Transpose(%x) {perm = $p} => %x where identity($p) }
    rule text { onnx.Gelu(%x) {approximate = $how} => onnx.Abs(%x) where $how in [\"tanh\", \"none\"] }";
    expect![[r#"
        %0 = onnx.Relu(%x) : f32[2,3]
        %1 = onnx.LeakyRelu(%0) {alpha = 0.05} : f32[2,3]
        %2 = onnx.LeakyRelu(%1) {alpha = 0.0} : f32[2,3]
        %3 = onnx.Transpose(%2) {perm = [1, 0]} : f32[3,2]
        %4 = onnx.Abs(%3) : f32[3,2]
        return %4
    "#]]
    .assert_eq(&rewritten(
        rules,
        "(%x: f32[2,3]) -> (%y)",
        "%0 = onnx.LeakyRelu(%x)
         %1 = onnx.LeakyRelu(%0) {alpha = 0.05}
         %2 = onnx.LeakyRelu(%1) {alpha = 0.0}
         %3 = onnx.Transpose(%2) {perm = [0, 1]}
         %4 = onnx.Transpose(%3) {perm = [1, 0]}
         %5 = onnx.Gelu(%4)
         return %5",
        20,
    ));
}

#[test]
fn of_the_opset() {
    let rules = "rule r { onnx.Neg(%x) => onnx.Abs(%x) where opset >= 13, opset < 21, opset(\"acme\") == 2 }";
    for (opset, acme, holds) in [
        (13, "2", true),
        (12, "2", false),
        (21, "2", false),
        (20, "1", false),
    ] {
        let source = format!(
            "module {{ fn @main(%x: f32[2]) -> (%y) opset(\"\" = {opset}, \"acme\" = {acme}) {{
               %0 = onnx.Neg(%x) return %0 }} }}"
        );
        let after = shown(&run(Some(rules), &source, |cx| cx));
        assert_eq!(after.contains("onnx.Abs"), holds, "{opset} {acme}: {after}");
    }
    // No version of a domain that isn't imported.
    let after = rewritten(
        rules,
        "(%x: f32[2]) -> (%y)",
        "%0 = onnx.Neg(%x)\nreturn %0",
        20,
    );
    assert!(after.contains("onnx.Neg"), "{after}");
}
