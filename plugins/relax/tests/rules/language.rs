//! Parsing of rules.

use std::fmt::Write;

use expect_test::expect;
use passdock::{RulesFile, sdk};
use passdock_plugins_relax::rules::{fold_explicit_padding, simplify_expr};

use crate::support;

#[test]
fn rules_file_is_parsed_with_doc_comments() {
    let text = "\
; The first one,
; in two lines.
rule one { onnx.Neg(onnx.Neg(%x)) => %x } ; not this

; A remark by itself.

// Slashes, too.
rule two grows keeps_type {
    %s = onnx.Split|com.microsoft.Split(%x, _, 1e-3, -2, ~0.5, [1, -1], none) {axis = $a, n = 2}
    onnx.Sum(%s, %x, %more...) → onnx.Sum(onnx.Neg(%s), %more...) {..%s, axis = $a}
    where rank(%x) >= 1, not float(%x), opset >= 13, opset(\"com.microsoft\") == 1,
}
rule three{onnx.Abs(%0)=>onnx.Relu(%0)}
";
    let file = RulesFile::parse("dir/some.rules", text).unwrap();
    assert_eq!(file.pass_name(), "rules.some");
    let mut shown = String::new();
    for rule in file.rules() {
        assert_eq!(text[rule.at.clone()], rule.name);
        writeln!(shown, "{}: {:?}", rule.name, rule.doc).expect("a string");
        for (node, is_replacement) in rule.ops() {
            let what = if is_replacement { "makes" } else { "looks for" };
            for operator in &node.operators {
                assert_eq!(text[operator.at.clone()], operator.value);
                writeln!(shown, "  {what} {}", operator.value).expect("a string");
            }
        }
    }
    expect![[r#"
        one: "The first one,\nin two lines."
          looks for onnx.Neg
          looks for onnx.Neg
        two: "Slashes, too."
          looks for onnx.Split
          looks for com.microsoft.Split
          looks for onnx.Sum
          makes onnx.Sum
          makes onnx.Neg
        three: ""
          looks for onnx.Abs
          makes onnx.Relu
    "#]]
    .assert_eq(&shown);
}

#[test]
fn deep_nesting_is_rejected() {
    let deep = |open: &str| {
        let text = format!("rule r {{ {}", open.repeat(100_000));
        RulesFile::parse("r.rules", &text)
            .unwrap_err()
            .message
            .clone()
    };
    for open in [
        "onnx.Neg(",
        "onnx.Add(%x, [",
        "onnx.Neg(%x) {a = [[",
        "onnx.Neg?(",
        "(",
        "onnx.Neg((%x | ",
        "onnx.Neg(%x) => onnx.Neg(",
    ] {
        let message = deep(open);
        assert!(!message.is_empty());
    }
    assert_eq!(deep("onnx.Neg("), "nesting exceeds 100 levels");
    let terms = format!(
        "rule r {{ onnx.Neg(%x) => %x where {}",
        "compose(".repeat(100_000)
    );
    let error = RulesFile::parse("r.rules", &terms).unwrap_err();
    assert_eq!(error.message, "nesting exceeds 100 levels");
}

/// Any corrupted text is an error with a valid span.
#[test]
fn corrupted_rules_never_panic() {
    let whole = "rule r grows {
        %c = (%x | onnx.Neg?(%z))
        %a, _ = onnx.Split|x.Y(%x?, _, ~-1.5e3, [1, -2], none, $e, [$l...], %c, %r...)
        {axis = $p, u = [$q], t = \"é\\n\"}
        => %b = onnx.Neg(onnx.Add(%x, 1)) {..%a, p = compose($p, [0])} %a = %b ; remark
        where not float(%x), dim(%x, -1) in [1, 2], $p == 1, axis($q, %x) < 0, opset(\"x\") >= 2
    }";
    RulesFile::parse("r.rules", whole).unwrap();
    let mut rejected = 0;
    let mut check = |text: &str| match sdk::Rules::parse(text) {
        Ok(rules) => assert_eq!(rules.describe().unwrap().len(), 1, "{text}"),
        Err(error) => {
            assert!(
                text.get(error.at.clone()).is_some(),
                "{:?}: {text}",
                error.at
            );
            assert!(!error.message.ends_with('.'), "{}", error.message);
            rejected += 1;
        }
    };
    for (at, c) in whole.char_indices() {
        let (before, after) = (&whole[..at], &whole[at + c.len_utf8()..]);
        if !before.trim().is_empty() {
            check(before);
        }
        for other in [
            "", "%", "$", "(", "}", "[", "\"", ".", "=>", "é", "9", "where ", ",", "|", "?", "...",
        ] {
            check(&format!("{before}{other}{after}"));
        }
    }
    assert!(rejected > 2000, "{rejected}");
}

#[test]
fn rules_of_standard_passes_match_definitions() {
    let ops = support::registry().op_defs();
    let all = simplify_expr::RULES.iter().copied();
    for rules in all.chain([&fold_explicit_padding::NOTHING]) {
        if let Err(error) = passdock::check_rules(rules, &ops) {
            panic!("{error}");
        }
    }
}
