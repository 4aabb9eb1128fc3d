//! Operands and results of patterns.

use std::collections::BTreeSet;

use expect_test::expect;

use crate::{check, check_stays, rewritten};

const XY: &str = "(%x: f32[2], %y: f32[2]) -> (%z: f32[2])";

#[test]
fn commutative_ones_change_places() {
    let rules = "rule r { onnx.Add(onnx.Neg(%x), %y) => onnx.Sub(%y, %x) }";
    check(
        rules,
        XY,
        "%0 = onnx.Neg(%x)\n%1 = onnx.Add(%0, %y)\nreturn %1",
        expect![[r#"
            %0 = onnx.Sub(%y, %x) : f32[2]
            return %0
        "#]],
    );
    check(
        rules,
        XY,
        "%0 = onnx.Neg(%x)\n%1 = onnx.Add(%y, %0)\nreturn %1",
        expect![[r#"
            %0 = onnx.Sub(%y, %x) : f32[2]
            return %0
        "#]],
    );
    // Others don't.
    let rules = "rule r { onnx.Sub(onnx.Neg(%x), %y) => onnx.Abs(%y) }";
    check_stays(
        rules,
        XY,
        "%0 = onnx.Neg(%x)\n%1 = onnx.Sub(%y, %0)\nreturn %1",
    );
}

#[test]
fn a_choice_that_fails_later_is_taken_back() {
    // Both operands of the outer op are sums; which is the one with %x in it, only the end tells.
    let rules = "rule r {
        onnx.Mul(onnx.Add(%a, %b), onnx.Add(onnx.Neg(%a), onnx.Abs(%b))) => onnx.Sub(%a, %b)
    }";
    let body = |one: &str, other: &str, order: &str| {
        format!(
            "%n = onnx.Neg(%x)\n%p = onnx.Abs(%y)\n%s = onnx.Add({one})\n%t = onnx.Add({other})\n\
             %0 = onnx.Mul({order})\nreturn %0"
        )
    };
    let mut found = BTreeSet::new();
    for one in ["%x, %y", "%y, %x"] {
        for other in ["%n, %p", "%p, %n"] {
            for order in ["%s, %t", "%t, %s"] {
                found.insert(rewritten(rules, XY, &body(one, other, order), 20));
            }
        }
    }
    let found: Vec<String> = found.into_iter().collect();
    expect![[r#"
        %0 = onnx.Sub(%x, %y) : f32[2]
        return %0
    "#]]
    .assert_eq(&found.join("or\n"));
    check_stays(rules, XY, &body("%x, %x", "%n, %p", "%s, %t"));
}

#[test]
fn a_name_is_one_value() {
    let rules = "rule r { onnx.Max(%x, %x) => %x }";
    check(
        rules,
        XY,
        "%0 = onnx.Max(%x, %x)\nreturn %0",
        expect![[r#"
        %0 = onnx.Max(%x, %x) : f32[2]
        return %0
    "#]],
    );
    check_stays(rules, XY, "%0 = onnx.Max(%x, %y)\nreturn %0");
}

#[test]
fn optional_and_absent_ones() {
    let rules = "
        rule upper { onnx.Clip(%x, none, %max?) => onnx.Min(%x, %max) }
        rule both { onnx.Clip(%x, %min, %max?) => onnx.Clip(onnx.Neg(%x), %min, %max) where dtype(%x) == f16 }
    ";
    let signature = "(%x: f32[2], %m: f32[]) -> (%y: f32[2])";
    check(
        rules,
        signature,
        "%0 = onnx.Clip(%x, _, %m)\nreturn %0",
        expect![[r#"
            %0 = onnx.Min(%x, %m) : f32[2]
            return %0
        "#]],
    );
    check_stays(rules, signature, "%0 = onnx.Clip(%x, %m)\nreturn %0");
    let gemm = "rule r { onnx.Relu(onnx.Gemm(%a, %b, %c?)) => onnx.Abs(onnx.Gemm(%a, %b, %c)) }";
    let signature = "(%a: f32[2,3], %b: f32[3,4], %c: f32[4]) -> (%y: f32[2,4])";
    check(
        gemm,
        signature,
        "%0 = onnx.Gemm(%a, %b)\n%1 = onnx.Relu(%0)\nreturn %1",
        expect![[r#"
            %0 = onnx.Gemm(%a, %b) : f32[2,4]
            %1 = onnx.Abs(%0) : f32[2,4]
            return %1
        "#]],
    );
    check(
        gemm,
        signature,
        "%0 = onnx.Gemm(%a, %b, %c)\n%1 = onnx.Relu(%0)\nreturn %1",
        expect![[r#"
            %0 = onnx.Gemm(%a, %b, %c) : f32[2,4]
            %1 = onnx.Abs(%0) : f32[2,4]
            return %1
        "#]],
    );
}

#[test]
fn a_list_is_all_that_follow() {
    let rules = "
        rule flat { onnx.Max(onnx.Relu(%x), %rest...) => onnx.Max(%x, %rest...) }
        rule sum { onnx.Sum(%a, %b, %c) => onnx.Add(onnx.Add(%a, %b), %c) }
    ";
    let signature = "(%x: f32[2], %y: f32[2], %z: f32[2]) -> (%r: f32[2])";
    check(
        rules,
        signature,
        "%0 = onnx.Relu(%x)\n%1 = onnx.Max(%0, %y, %z)\nreturn %1",
        expect![[r#"
            %0 = onnx.Max(%x, %y, %z) : f32[2]
            return %0
        "#]],
    );
    check(
        rules,
        signature,
        "%0 = onnx.Relu(%x)\n%1 = onnx.Max(%0)\nreturn %1",
        expect![[r#"
            %0 = onnx.Max(%x) : f32[2]
            return %0
        "#]],
    );
    // That makes two ops of one.
    check_stays(rules, signature, "%0 = onnx.Sum(%x, %y, %z)\nreturn %0");
}

#[test]
fn operators_to_choose_from() {
    check(
        "rule r { %y = onnx.Ceil|onnx.Floor(_) onnx.Ceil|onnx.Floor|onnx.Round(%y) => %y }",
        "(%x: f32[2]) -> (%y: f32[2])",
        "%0 = onnx.Floor(%x)\n%1 = onnx.Round(%0)\n%2 = onnx.Abs(%1)\n%3 = onnx.Ceil(%2)\nreturn %3",
        expect![[r#"
            %0 = onnx.Floor(%x) : f32[2]
            %1 = onnx.Abs(%0) : f32[2]
            %2 = onnx.Ceil(%1) : f32[2]
            return %2
        "#]],
    );
}

#[test]
fn several_results() {
    let rules = "rule r {
        %v, %i = onnx.TopK(onnx.Relu(%x), %k)
        =>
        %w, %i = onnx.TopK(%x, %k)
        %v = onnx.Relu(%w)
    }";
    check(
        rules,
        "(%x: f32[4], %k: i64[1]) -> (%v: f32[?], %i: i64[?])",
        "%0 = onnx.Relu(%x)\n%1, %2 = onnx.TopK(%0, %k)\nreturn %1, %2",
        expect![[r#"
            %0, %1 = onnx.TopK(%x, %k) : f32[?], i64[?]
            %2 = onnx.Relu(%0) : f32[?]
            return %2, %1
        "#]],
    );
    // Those without a name have no users.
    let rules = "rule r { _, %i = onnx.TopK(onnx.Relu(%x), %k) => _, %i = onnx.TopK(%x, %k) }";
    let signature = "(%x: f32[4], %k: i64[1]) -> (%i)";
    check(
        rules,
        signature,
        "%0 = onnx.Relu(%x)\n%1, %2 = onnx.TopK(%0, %k)\nreturn %2",
        expect![[r#"
            %0, %1 = onnx.TopK(%x, %k) : f32[?], i64[?]
            return %1
        "#]],
    );
    let both = "(%x: f32[4], %k: i64[1]) -> (%v, %i)";
    check_stays(
        rules,
        both,
        "%0 = onnx.Relu(%x)\n%1, %2 = onnx.TopK(%0, %k)\nreturn %1, %2",
    );
    let rules = "rule r { %y, _ = onnx.Dropout(%x) => %y = %x }";
    check(
        rules,
        "(%x: f32[2]) -> (%y)",
        "%0, %m = onnx.Dropout(%x)\n%1 = onnx.Neg(%0)\nreturn %1",
        expect![[r#"
            %0 = onnx.Neg(%x) : f32[2]
            return %0
        "#]],
    );
    let rules = "rule r { onnx.Dropout(%x, %more...) => %x }";
    let signature = "(%x: f32[2]) -> (%y: f32[2])";
    check(
        rules,
        signature,
        "%0, %m = onnx.Dropout(%x)\n%1 = onnx.Neg(%0)\nreturn %1",
        expect![[r#"
            %0 = onnx.Neg(%x) : f32[2]
            return %0
        "#]],
    );
    check_stays(
        rules,
        "(%x: f32[2]) -> (%y: f32[2], %n: bool[2])",
        "%0, %m = onnx.Dropout(%x)\nreturn %0, %m",
    );
}

#[test]
fn a_result_that_two_ops_of_the_pattern_use() {
    let rules = "rule silu_twice {
        %s = onnx.Sigmoid(%x)
        onnx.Add(onnx.Mul(%x, %s), %s) => onnx.Mul(onnx.Add(%x, 1), %s)
    }";
    check(
        rules,
        "(%x: f32[2]) -> (%y: f32[2])",
        "%s = onnx.Sigmoid(%x)\n%m = onnx.Mul(%s, %x)\n%0 = onnx.Add(%s, %m)\nreturn %0",
        expect![[r#"
            %0 = const f32[] 1.0
            %s = onnx.Sigmoid(%x) : f32[2]
            %1 = onnx.Add(%x, %0) : f32[2]
            %2 = onnx.Mul(%1, %s) : f32[2]
            return %2
        "#]],
    );
    // Two ops aren't one, though they compute the same.
    check_stays(
        rules,
        "(%x: f32[2]) -> (%y: f32[2])",
        "%s = onnx.Sigmoid(%x)\n%t = onnx.Sigmoid(%x)\n%m = onnx.Mul(%s, %x)\n%0 = onnx.Add(%t, %m)\nreturn %0",
    );
}
