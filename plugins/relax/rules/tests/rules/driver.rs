//! What the driver promises, and when a rewrite isn't done.

use expect_test::expect;

use crate::{check, check_stays, module, rewritten, run, shown};

const X: &str = "(%x: f32[2]) -> (%y: f32[2])";

#[test]
fn rules_apply_until_none_does() {
    check(
        "rule neg_neg { onnx.Neg(onnx.Neg(%x)) => %x }
         rule abs_neg { onnx.Abs(onnx.Neg(%x)) => onnx.Abs(%x) }",
        X,
        "%0 = onnx.Neg(%x)\n%1 = onnx.Neg(%0)\n%2 = onnx.Neg(%1)\n%3 = onnx.Abs(%2)\nreturn %3",
        expect![[r#"
            %0 = onnx.Abs(%x) : f32[2]
            return %0
        "#]],
    );
}

#[test]
fn the_first_rule_of_a_text_wins() {
    check(
        "rule first { onnx.Neg(%x) => onnx.Abs(%x) } rule second { onnx.Neg(%x) => onnx.Sign(%x) }",
        X,
        "%0 = onnx.Neg(%x)\nreturn %0",
        expect![[r#"
            %0 = onnx.Abs(%x) : f32[2]
            return %0
        "#]],
    );
}

#[test]
fn what_others_use_stays_and_what_nobody_uses_goes() {
    check(
        "rule r { onnx.Abs(onnx.Neg(%x)) => onnx.Abs(%x) }",
        X,
        "%0 = onnx.Neg(%x)\n%1 = onnx.Abs(%0)\n%2 = onnx.Add(%0, %1)\nreturn %2",
        expect![[r#"
            %0 = onnx.Neg(%x) : f32[2]
            %1 = onnx.Abs(%x) : f32[2]
            %2 = onnx.Add(%0, %1) : f32[2]
            return %2
        "#]],
    );
    check(
        "rule r { onnx.Mul(onnx.Add(%x, %c), 0.5) => onnx.Abs(%x) where const(%c) }",
        X,
        "%c = const f32[2] [1.0, 2.0]\n%h = const f32[] 0.5
         %0 = onnx.Add(%x, %c)\n%1 = onnx.Mul(%0, %h)\nreturn %1",
        expect![[r#"
            %0 = onnx.Abs(%x) : f32[2]
            return %0
        "#]],
    );
}

#[test]
fn more_ops_than_before_need_grows() {
    let body = "%0 = onnx.HardSwish(%x)\nreturn %0";
    let rule = "{ onnx.HardSwish(%x) => onnx.Mul(%x, onnx.HardSigmoid(%x)) }";
    check_stays(&format!("rule r {rule}"), X, body);
    check(
        &format!("rule r grows {rule}"),
        X,
        body,
        expect![[r#"
        %0 = onnx.HardSigmoid(%x) : f32[2]
        %1 = onnx.Mul(%x, %0) : f32[2]
        return %1
    "#]],
    );
    // An op of the pattern that stays counts as one that isn't gone.
    let rule = "rule r { onnx.Abs(onnx.Neg(%x)) => onnx.Sign(onnx.Exp(%x)) }";
    check_stays(
        rule,
        X,
        "%0 = onnx.Neg(%x)\n%1 = onnx.Abs(%0)\n%2 = onnx.Add(%0, %1)\nreturn %2",
    );
}

#[test]
fn a_value_has_the_type_that_it_stands_for() {
    let rule = "{ onnx.Add(%x, 0) => %x }";
    let body = "%0 = onnx.Add(%x, %z)\n%1 = onnx.Neg(%0)\nreturn %1";
    let stretched = format!("%z = const f32[2,1] [0.0, 0.0]\n{body}");
    check_stays(
        &format!("rule r {rule}"),
        "(%x: f32[3]) -> (%y: f32[2,3])",
        &stretched,
    );
    let unknown = "(%x: f32[*], %c: f32[*]) -> (%y: f32[*])";
    let choose = "{ onnx.Sub(%x, %c) => %x }";
    let body = "%0 = onnx.Sub(%x, %c)\n%1 = onnx.Neg(%0)\nreturn %1";
    check_stays(&format!("rule r {choose}"), unknown, body);
    check(
        &format!("rule r keeps_type {choose}"),
        unknown,
        body,
        expect![[r#"
            %0 = onnx.Neg(%x) : f32[*]
            return %0
        "#]],
    );
    // What is made has its own type, by its definition.
    check_stays(
        "rule r { onnx.Sub(%x, %c) => onnx.Neg(%c) }",
        "(%x: f32[2,3], %c: f32[3]) -> (%y: f32[2,3])",
        "%0 = onnx.Sub(%x, %c)\nreturn %0",
    );
}

#[test]
fn an_operator_that_the_model_is_too_old_for() {
    let rules = "rule r { onnx.Abs(onnx.Neg(%x)) => onnx.Gelu(%x) }";
    let body = "%0 = onnx.Neg(%x)\n%1 = onnx.Abs(%0)\nreturn %1";
    expect![[r#"
        %0 = onnx.Gelu(%x) : f32[2]
        return %0
    "#]]
    .assert_eq(&rewritten(rules, X, body, 20));
    expect![[r#"
        %0 = onnx.Neg(%x) : f32[2]
        %1 = onnx.Abs(%0) : f32[2]
        return %1
    "#]]
    .assert_eq(&rewritten(rules, X, body, 19));
    // Too many operands, too, and an attribute that there isn't.
    let rules = "rule a { onnx.Neg(%x) => onnx.Abs(%x, %x) } rule b { onnx.Neg(%x) => onnx.Abs(%x) {axis = 1} }";
    check_stays(rules, X, "%0 = onnx.Neg(%x)\nreturn %0");
}

#[test]
fn a_name_that_a_function_of_the_model_has_is_left_alone() {
    let source = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 20, "acme" = 1) {
    %0 = acme.Neg(%x) : f32[2]
    %1 = acme.Neg(%0) : f32[2]
    return %1
  }
  fn @"acme.Neg"(%a) -> (%b) opset("" = 20) attributes {domain = "acme", name = "Neg"} {
    %0 = onnx.Neg(%a)
    return %0
  }
}
"#;
    let rules = "rule r { acme.Neg(acme.Neg(%x)) => %x }";
    let alone = run(None, source, |cx| cx);
    assert_eq!(alone, run(Some(rules), source, |cx| cx));
    // Without such a function it is an operator like any other.
    check(
        rules,
        X,
        "%0 = acme.Neg(%x) : f32[2]\n%1 = acme.Neg(%0) : f32[2]\n%2 = onnx.Abs(%1)\nreturn %2",
        expect![[r#"
            %0 = acme.Neg(%x) : f32[2]
            %1 = onnx.Abs(%x) : f32[2]
            return %1
        "#]],
    );
}

#[test]
fn what_is_made_is_where_all_that_it_replaces_was() {
    check(
        "rule r { onnx.Abs(onnx.Neg(%x)) => onnx.Abs(%x) }",
        X,
        "%0 = onnx.Neg(%x) loc(\"first\")\n%1 = onnx.Abs(%0) loc(\"second\")\nreturn %1",
        expect![[r#"
            %0 = onnx.Abs(%x) : f32[2] loc("second", "first")
            return %0
        "#]],
    );
    // Of several ops, the one in the root's place names all sources.
    check(
        "rule r { onnx.Abs(onnx.Neg(%x)) => onnx.Abs(onnx.Relu(%x)) }",
        X,
        "%0 = onnx.Neg(%x) loc(\"first\")\n%1 = onnx.Abs(%0) loc(\"second\")\nreturn %1",
        expect![[r#"
            %0 = onnx.Relu(%x) : f32[2] loc("second")
            %1 = onnx.Abs(%0) : f32[2] loc("second", "first")
            return %1
        "#]],
    );
}

#[test]
fn rules_without_an_end_are_named() {
    let rules =
        "rule there { onnx.Abs(%x) => onnx.Sign(%x) } rule back { onnx.Sign(%x) => onnx.Abs(%x) }";
    expect![[r#"
        error[pass-failed]: Rules rewrite what rules made, without an end: 1033 rewrites, the last ones by `there`, `back`. Remove one of the rules, or give it a condition that doesn't hold of what they make.
         |
         = in pass rules.test, function @main"#]].assert_eq(&rewritten(rules, X, "%0 = onnx.Abs(%x)\nreturn %0", 20));
}

#[test]
fn a_disabled_rule_is_not_applied() {
    let rules = "rule off { onnx.Neg(onnx.Neg(%x)) => %x } rule on { onnx.Abs(onnx.Abs(%x)) => onnx.Abs(%x) }";
    let source = module(
        X,
        "%0 = onnx.Neg(%x)\n%1 = onnx.Neg(%0)\n%2 = onnx.Abs(%1)\n%3 = onnx.Abs(%2)\nreturn %3",
        20,
    );
    let after = run(Some(rules), &source, |cx| cx.disabled_rule(["off"]));
    expect![[r#"
        %0 = onnx.Neg(%x) : f32[2]
        %1 = onnx.Neg(%0) : f32[2]
        %2 = onnx.Abs(%1) : f32[2]
        return %2
    "#]]
    .assert_eq(&shown(&after));
}

#[test]
fn what_is_made_step_by_step_has_the_places_of_all() {
    let after = run(
        Some("rule abs_neg { onnx.Abs(onnx.Neg(%x)) => onnx.Abs(%x) }"),
        &module(
            X,
            r#"%0 = onnx.Neg(%x) loc("a")
               %1 = onnx.Neg(%0) loc("b")
               %2 = onnx.Neg(%1) loc("c")
               %3 = onnx.Abs(%2) loc("d")
               %4 = onnx.Sign(%3) loc("e")
               return %4"#,
            20,
        ),
        |cx| cx,
    );
    expect![[r#"
        %0 = onnx.Abs(%x) : f32[2] loc("d", "c", "b", "a")
        %1 = onnx.Sign(%0) : f32[2] loc("e")
        return %1
    "#]]
    .assert_eq(&shown(&after));
}
