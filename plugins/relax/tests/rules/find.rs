//! `PassContext::find`: match-only rules.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use passdock::sdk::{self, Function, Rules};
use passdock::{ContextBuilder, PassInfo, create_function_pass};

use crate::{module, support};

static RULES: Rules = sdk::rules! {
    rule neg_neg { onnx.Neg(onnx.Neg(%x)) => %x }
    rule relu_neg { onnx.Neg(onnx.Relu(%x)) where rank(%x) == 1 } => |_, _| panic!("nothing is rewritten");
};

const BODY: &str = "\
    %a = onnx.Neg(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    %c = onnx.Neg(%b) : f32[2]
    %d = onnx.Relu(%c) : f32[2]
    %e = onnx.Neg(%d) : f32[2]
    return %e";

const SIGNATURE: &str = "(%x: f32[2]) -> (%e: f32[2])";

/// Returns a line for each match that a pass finds. The function stays unchanged.
fn found(
    patterns: Vec<Rules>,
    body: &str,
    configure: impl FnOnce(ContextBuilder) -> ContextBuilder,
) -> String {
    let lines = Arc::new(Mutex::new(String::new()));
    let sink = lines.clone();
    let finds = move |f: &mut Function, cx: &sdk::PassContext| {
        let mut sets: Vec<&Rules> = patterns.iter().collect();
        if sets.is_empty() {
            sets.push(&RULES);
        }
        cx.find(f, &sets, |f, place| {
            let mut lines = sink.lock().unwrap();
            lines.push_str(&format!("{} {}", place.rule_index(), place.rule()));
            for &op in place.ops() {
                let name = f.value_name(f.result(op, 0)).unwrap_or("?");
                lines.push_str(&format!(" %{name}"));
            }
            lines.push('\n');
            Ok(())
        })
    };
    let registry = support::registry();
    let pass = create_function_pass(PassInfo::new("find"), finds);
    registry.register(pass).expect("one name");
    let passes = ["relax.transform.InferType", "find"];
    let source = module(SIGNATURE, body, 20);
    let plain = passdock::testing::run_on_text(&registry, &passes[..1], &source, |cx| cx);
    let after = passdock::testing::run_on_text(&registry, &passes, &source, configure);
    assert_eq!(plain, after);
    lines.lock().unwrap().clone()
}

#[test]
fn matches_are_found_in_program_order() {
    expect![[r#"
        0 neg_neg %a %b
        0 neg_neg %b %c
        1 relu_neg %d %e
    "#]]
    .assert_eq(&found(Vec::new(), BODY, |cx| cx));
}

#[test]
fn absent_pattern_is_not_found() {
    let body = "\
    %a = onnx.Neg(%x) : f32[2]
    %b = onnx.Relu(%a) : f32[2]
    %e = onnx.Abs(%b) : f32[2]
    return %e";
    assert_eq!(found(Vec::new(), body, |cx| cx), "");
}

#[test]
fn disabled_rules_find_nothing() {
    let found = found(Vec::new(), BODY, |cx| cx.disabled_rule(["neg_neg"]));
    expect![[r#"
        1 relu_neg %d %e
    "#]]
    .assert_eq(&found);
}

#[test]
fn exhausted_rewrite_limit_finds_nothing() {
    assert_eq!(found(Vec::new(), BODY, |cx| cx.rewrite_limit(0)), "");
}

#[test]
fn joined_sets_may_repeat_names() {
    let own = Rules::pattern("neg_neg", "onnx.Neg(onnx.Neg(onnx.Neg(%x)))").unwrap();
    let joined = Rules::joined([&own, &RULES]).unwrap();
    assert_eq!(joined.names().unwrap(), ["neg_neg", "neg_neg", "relu_neg"]);
    let apart = found(vec![own, Rules::joined([&RULES]).unwrap()], BODY, |cx| cx);
    expect![[r#"
        1 neg_neg %a %b
        0 neg_neg %a %b %c
        1 neg_neg %b %c
        2 relu_neg %d %e
    "#]]
    .assert_eq(&apart);
    assert_eq!(found(vec![joined], BODY, |cx| cx), apart);
}

#[test]
fn patterns_without_replacement_are_parsed() {
    let text = "\
        ; One.
        rule npu.relu { onnx.Relu(%x) }
        rule npu.neg { onnx.Neg(%x) => onnx.Abs(%x) where uses(%x) == 1 }
        rule three { onnx.Neg(onnx.Neg(onnx.Neg(%x))) where rank(%x) == 2 }";
    let patterns = Rules::parse_patterns(text).unwrap();
    assert_eq!(patterns.len(), 3);
    expect![[r#"
        1 npu.neg %a
        1 npu.neg %b
        1 npu.neg %c
        0 npu.relu %d
        1 npu.neg %e
    "#]]
    .assert_eq(&found(patterns, BODY, |cx| cx));
    let whole = Rules::parse(text).map(|_| ()).unwrap_err();
    expect!["in rule `npu.relu`: expected `=>` and a replacement, found `}`"]
        .assert_eq(&whole.to_string());
}

#[test]
fn replacement_of_a_pattern_is_checked() {
    let error_of = |text: &str| match Rules::parse_patterns(text) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    expect!["in rule `a`: the pattern has no value `%y`; the pattern has `%x`"]
        .assert_eq(&error_of("rule a { onnx.Neg(%x) => onnx.Abs(%y) }"));
    expect!["in rule `a`: missing replacement of the pattern's last op"]
        .assert_eq(&error_of("rule a { onnx.Neg(%x) => }"));
    expect!["expected an identifier after `.`, found `{`"]
        .assert_eq(&error_of("rule a. { onnx.Neg(%x) }"));
    let pattern = Rules::pattern("a", "onnx.Neg(%x) => %x").map(|_| ());
    expect!["in rule `a`: expected end of rule, found `=>`"]
        .assert_eq(&pattern.unwrap_err().to_string());
}

/// With an optional last op, a match of the pattern without it is found only if it isn't a part of another match.
#[test]
fn matches_with_optional_last_op_are_found_once() {
    let text = "rule neg_relu { onnx.Neg?(onnx.Relu|onnx.Abs(%x)) where rank(%x) == 1 }";
    let body = "\
    %a = onnx.Abs(%x) : f32[2]
    %b = onnx.Relu(%a) : f32[2]
    %c = onnx.Neg(%b) : f32[2]
    %d = onnx.Abs(%c) : f32[2]
    %e = onnx.Neg(%d) : f32[2]
    %f = onnx.Add(%d, %e) : f32[2]
    return %f";
    expect![[r#"
        0 neg_relu %a
        0 neg_relu %b %c
        0 neg_relu %d
        0 neg_relu %d %e
    "#]]
    .assert_eq(&found(Rules::parse_patterns(text).unwrap(), body, |cx| cx));
}
