//! The text of rules: what is read, and what is said of text that is refused.

use std::fmt::Write;

use expect_test::expect;
use passdock::{ErrorKind, RulesFile, sdk};

/// What is said of texts, one after the other.
fn refused(texts: &[&str]) -> String {
    let mut said = String::new();
    for text in texts {
        match RulesFile::parse("r.rules", text) {
            Ok(file) => panic!("this should be refused: {file:?}"),
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::Rules);
                writeln!(said, "{}\n", error.to_diagnostic().render(false)).expect("a string");
            }
        }
    }
    said
}

#[test]
fn a_file_is_rules_with_comments_above_them() {
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
        for mention in &rule.operators {
            assert_eq!(text[mention.at.clone()], mention.operator);
            let what = if mention.is_made {
                "makes"
            } else {
                "looks for"
            };
            writeln!(shown, "  {what} {}", mention.operator).expect("a string");
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
fn words_that_are_none() {
    expect![[r#"
        error[rules]: There is no rule in this file.
         --> r.rules:1:1
          |
        1 |
          | ^
          |
          = help: A rule is `rule NAME { what is looked for => what stands in its place }`.

        error[rules]: There is no rule in this file.
         --> r.rules:1:1
          |
        1 | ; only a remark
          | ^
          |
          = help: A rule is `rule NAME { what is looked for => what stands in its place }`.

        error[rules]: A rule has no use for '&'.
         --> r.rules:1:29
          |
        1 | rule r { onnx.Neg(%x) => %x & }
          |                             ^

        error[rules]: The text has no closing `"`.
         --> r.rules:1:19
          |
        1 | rule r { onnx.Neg("open
          |                   ^^^^^

        error[rules]: Here has to be `rule NAME { … }`, not `rules`.
         --> r.rules:1:1
          |
        1 | rules r { }
          | ^^^^^

        error[rules]: Here has to be the rule's name, not `{`.
         --> r.rules:1:6
          |
        1 | rule { onnx.Neg(%x) => %x }
          |      ^

        error[rules]: Here has to be `}`, not the end.
         --> r.rules:1:28
          |
        1 | rule r { onnx.Neg(%x) => %x
          |                            ^
          |
          = note: in the rule `r`

        error[rules]: Here has to be `{`, not `onnx`.
         --> r.rules:1:8
          |
        1 | rule r onnx.Neg(%x) => %x
          |        ^^^^
          |
          = note: in the rule `r`

    "#]]
    .assert_eq(&refused(&[
        "",
        "; only a remark\n",
        "rule r { onnx.Neg(%x) => %x & }",
        "rule r { onnx.Neg(\"open",
        "rules r { }",
        "rule { onnx.Neg(%x) => %x }",
        "rule r { onnx.Neg(%x) => %x",
        "rule r onnx.Neg(%x) => %x",
    ]));
}

#[test]
fn rules_as_a_whole() {
    expect![[r#"
        error[rules]: There are two rules called `r`.
         --> r.rules:2:6
          |
        2 | rule r { onnx.Abs(%x) => %x }
          |      ^

        error[rules]: A rule looks for at least one op.
         --> r.rules:1:10
          |
        1 | rule r { => %x }
          |          ^^
          |
          = note: in the rule `r`

        error[rules]: Here has to be `=>` and what stands in the place of these ops, not `}`.
         --> r.rules:1:23
          |
        1 | rule r { onnx.Neg(%x) }
          |                       ^
          |
          = note: in the rule `r`

        error[rules]: The last op of the pattern, onnx.Abs, doesn't use onnx.Neg, neither itself nor through others.
         --> r.rules:1:10
          |
        1 | rule r { onnx.Neg(%x) onnx.Abs(%x) => %x }
          |          ^^^^
          |
          = note: in the rule `r`

        error[rules]: There is a `%a` before this.
         --> r.rules:1:28
          |
        1 | rule r { %a = onnx.Neg(%x) %a = onnx.Neg(%a) => %x }
          |                            ^
          |
          = note: in the rule `r`

        error[rules]: Nothing says what stands in the place of the pattern's last op.
         --> r.rules:1:26
          |
        1 | rule r { onnx.Neg(%x) => }
          |                          ^
          |
          = note: in the rule `r`

        error[rules]: Nothing says what stands in the place of `%b`.
         --> r.rules:1:36
          |
        1 | rule r { %a, %b = onnx.TopK(%x) => %a = %x }
          |                                    ^
          |
          = note: in the rule `r`

        error[rules]: This replaces one result; say `%name = …` of each result of the pattern's last op.
         --> r.rules:1:36
          |
        1 | rule r { %a, %b = onnx.TopK(%x) => %x }
          |                                    ^
          |
          = note: in the rule `r`

        error[rules]: This replaces one result; say `%name = …` of each result of the pattern's last op.
         --> r.rules:1:29
          |
        1 | rule r { onnx.Neg(%x) => %x %x }
          |                             ^
          |
          = note: in the rule `r`

    "#]].assert_eq(&refused(&[
        "rule r { onnx.Neg(%x) => %x }\nrule r { onnx.Abs(%x) => %x }",
        "rule r { => %x }",
        "rule r { onnx.Neg(%x) }",
        "rule r { onnx.Neg(%x) onnx.Abs(%x) => %x }",
        "rule r { %a = onnx.Neg(%x) %a = onnx.Neg(%a) => %x }",
        "rule r { onnx.Neg(%x) => }",
        "rule r { %a, %b = onnx.TopK(%x) => %a = %x }",
        "rule r { %a, %b = onnx.TopK(%x) => %x }",
        "rule r { onnx.Neg(%x) => %x %x }",
    ]));
}

#[test]
fn operands_and_attributes() {
    expect![[r#"
        error[rules]: Here has to be the rest of the operator's name, not `(`.
         --> r.rules:1:15
          |
        1 | rule r { onnx.(%x) => %x }
          |               ^
          |
          = note: in the rule `r`

        error[rules]: Here has to be `(`, not `%`.
         --> r.rules:1:19
          |
        1 | rule r { onnx.Neg %x => %x }
          |                   ^
          |
          = note: in the rule `r`

        error[rules]: Here has to be a value's name, not `)`.
         --> r.rules:1:20
          |
        1 | rule r { onnx.Neg(%) => %x }
          |                    ^
          |
          = note: in the rule `r`

        error[rules]: Only the last operand can stand for all that follow (`...`).
         --> r.rules:1:30
          |
        1 | rule r { onnx.Sum(%x..., %y) => %y }
          |                              ^^
          |
          = note: in the rule `r`

        error[rules]: A list of operands is matched once.
         --> r.rules:1:40
          |
        1 | rule r { onnx.Sum(%y, onnx.Max(%x...), %x...) => %y }
          |                                        ^^
          |
          = note: in the rule `r`

        error[rules]: `%x` is one value.
         --> r.rules:1:23
          |
        1 | rule r { onnx.Sum(%x, %x...) => %x }
          |                       ^^
          |
          = note: in the rule `r`

        error[rules]: Here has to be a list of integers.
         --> r.rules:1:23
          |
        1 | rule r { onnx.Add(%x, [0.5]) => %x }
          |                       ^^^^^
          |
          = note: in the rule `r`

        error[rules]: Here has to be an operand.
         --> r.rules:1:23
          |
        1 | rule r { onnx.Add(%x, "text") => %x }
          |                       ^^^^^^
          |
          = note: in the rule `r`

        error[rules]: Here has to be `=`, not `}`.
         --> r.rules:1:28
          |
        1 | rule r { onnx.Neg(%x) {axis} => %x }
          |                            ^
          |
          = note: in the rule `r`

        error[rules]: Here has to be a number, a text or a list of numbers, not `}`.
         --> r.rules:1:31
          |
        1 | rule r { onnx.Neg(%x) {axis = } => %x }
          |                               ^
          |
          = note: in the rule `r`

        error[rules]: Here has to be a list of numbers.
         --> r.rules:1:31
          |
        1 | rule r { onnx.Neg(%x) {axes = [1, "a"]} => %x }
          |                               ^^^^^^^^
          |
          = note: in the rule `r`

    "#]]
    .assert_eq(&refused(&[
        "rule r { onnx.(%x) => %x }",
        "rule r { onnx.Neg %x => %x }",
        "rule r { onnx.Neg(%) => %x }",
        "rule r { onnx.Sum(%x..., %y) => %y }",
        "rule r { onnx.Sum(%y, onnx.Max(%x...), %x...) => %y }",
        "rule r { onnx.Sum(%x, %x...) => %x }",
        "rule r { onnx.Add(%x, [0.5]) => %x }",
        "rule r { onnx.Add(%x, \"text\") => %x }",
        "rule r { onnx.Neg(%x) {axis} => %x }",
        "rule r { onnx.Neg(%x) {axis = } => %x }",
        "rule r { onnx.Neg(%x) {axes = [1, \"a\"]} => %x }",
    ]));
}

#[test]
fn replacements() {
    expect![[r#"
        error[rules]: The pattern has no value `%inputs`.
         --> r.rules:1:30
          |
        1 | rule r { onnx.Neg(%input) => %inputs }
          |                              ^^^^^^^
          |
          = note: in the rule `r`
          = help: Did you mean `%input`?

        error[rules]: The pattern binds no attribute `$axis`.
         --> r.rules:1:47
          |
        1 | rule r { onnx.Neg(%x) => onnx.Abs(%x) {axis = $axis} }
          |                                               ^^^^^
          |
          = note: in the rule `r`

        error[rules]: The pattern binds no attribute `$axes`.
         --> r.rules:1:62
          |
        1 | rule r { onnx.Neg(%x) {axis = $axis} => onnx.Abs(%x) {axis = $axes} }
          |                                                              ^^^^^
          |
          = note: in the rule `r`
          = help: Did you mean `$axis`?

        error[rules]: `%x` is no op of the pattern.
         --> r.rules:1:42
          |
        1 | rule r { onnx.Neg(%x) => onnx.Abs(%x) {..%x} }
          |                                          ^^
          |
          = note: in the rule `r`

        error[rules]: A number has the dtype of the operands beside it, and here are none.
         --> r.rules:1:26
          |
        1 | rule r { onnx.Neg(%x) => 0.5 }
          |                          ^^^
          |
          = note: in the rule `r`

        error[rules]: `none` can't stand for a result.
         --> r.rules:1:26
          |
        1 | rule r { onnx.Neg(%x) => none }
          |                          ^^^^
          |
          = note: in the rule `r`

        error[rules]: A list of values can't stand for one result.
         --> r.rules:1:29
          |
        1 | rule r { onnx.Sum(%x...) => %x }
          |                             ^^
          |
          = note: in the rule `r`

        error[rules]: Only an op gives several values their names.
         --> r.rules:1:36
          |
        1 | rule r { %a, %b = onnx.TopK(%x) => %a, %b = %x }
          |                                    ^
          |
          = note: in the rule `r`

        error[rules]: Here has to be a list of integers.
         --> r.rules:1:39
          |
        1 | rule r { onnx.Neg(%x) => onnx.Add(%x, [0.5]) }
          |                                       ^^^^^
          |
          = note: in the rule `r`

    "#]]
    .assert_eq(&refused(&[
        "rule r { onnx.Neg(%input) => %inputs }",
        "rule r { onnx.Neg(%x) => onnx.Abs(%x) {axis = $axis} }",
        "rule r { onnx.Neg(%x) {axis = $axis} => onnx.Abs(%x) {axis = $axes} }",
        "rule r { onnx.Neg(%x) => onnx.Abs(%x) {..%x} }",
        "rule r { onnx.Neg(%x) => 0.5 }",
        "rule r { onnx.Neg(%x) => none }",
        "rule r { onnx.Sum(%x...) => %x }",
        "rule r { %a, %b = onnx.TopK(%x) => %a, %b = %x }",
        "rule r { onnx.Neg(%x) => onnx.Add(%x, [0.5]) }",
    ]));
}

#[test]
fn conditions() {
    expect![[r#"
        error[rules]: There is no condition `same_shap`.
         --> r.rules:1:35
          |
        1 | rule r { onnx.Neg(%x) => %x where same_shap(%x, %x) }
          |                                   ^^^^^^^^^
          |
          = note: in the rule `r`
          = help: Did you mean `same_shape`?

        error[rules]: There is no condition `quantized`.
         --> r.rules:1:35
          |
        1 | rule r { onnx.Neg(%x) => %x where quantized(%x) }
          |                                   ^^^^^^^^^
          |
          = note: in the rule `r`
          = help: There are const, float, same_type, same_shape, same_dtype, stretches_to, identity, and to compare rank, size, uses, dtype, dim, opset.

        error[rules]: The pattern has no value `%y`.
         --> r.rules:1:41
          |
        1 | rule r { onnx.Neg(%x) => %x where float(%y) }
          |                                         ^^
          |
          = note: in the rule `r`
          = help: The pattern has `%x`.

        error[rules]: `float` takes 1 value.
         --> r.rules:1:35
          |
        1 | rule r { onnx.Neg(%x) => %x where float(%x, %x) }
          |                                   ^^^^^
          |
          = note: in the rule `r`

        error[rules]: `%x` is a list of values.
         --> r.rules:1:48
          |
        1 | rule r { onnx.Sum(%y, %x...) => %y where float(%x) }
          |                                                ^^
          |
          = note: in the rule `r`

        error[rules]: Here has to be `==`, `!=`, `<`, `<=`, `>`, `>=` or `in`, not `}`.
         --> r.rules:1:44
          |
        1 | rule r { onnx.Neg(%x) => %x where rank(%x) }
          |                                            ^
          |
          = note: in the rule `r`

        error[rules]: Here has to be a number, a text or a list of numbers, not `}`.
         --> r.rules:1:47
          |
        1 | rule r { onnx.Neg(%x) => %x where rank(%x) == }
          |                                               ^
          |
          = note: in the rule `r`

        error[rules]: Here has to be `,`, not `)`.
         --> r.rules:1:41
          |
        1 | rule r { onnx.Neg(%x) => %x where dim(%x) == 1 }
          |                                         ^
          |
          = note: in the rule `r`

        error[rules]: `dim` takes a value and an axis.
         --> r.rules:1:35
          |
        1 | rule r { onnx.Neg(%x) => %x where dim(%x, 0.5) == 1 }
          |                                   ^^^
          |
          = note: in the rule `r`

        error[rules]: `opset("…")` takes a domain in quotes.
         --> r.rules:1:35
          |
        1 | rule r { onnx.Neg(%x) => %x where opset(13) == 1 }
          |                                   ^^^^^
          |
          = note: in the rule `r`

        error[rules]: The pattern binds no attribute `$p`.
         --> r.rules:1:44
          |
        1 | rule r { onnx.Neg(%x) => %x where identity($p) }
          |                                            ^^
          |
          = note: in the rule `r`

        error[rules]: There is nothing called `ranks` to compare.
         --> r.rules:1:40
          |
        1 | rule r { onnx.Neg(%x) => %x where 1 == ranks(%x) }
          |                                        ^^^^^
          |
          = note: in the rule `r`
          = help: Did you mean `rank`?

    "#]].assert_eq(&refused(&[
        "rule r { onnx.Neg(%x) => %x where same_shap(%x, %x) }",
        "rule r { onnx.Neg(%x) => %x where quantized(%x) }",
        "rule r { onnx.Neg(%x) => %x where float(%y) }",
        "rule r { onnx.Neg(%x) => %x where float(%x, %x) }",
        "rule r { onnx.Sum(%y, %x...) => %y where float(%x) }",
        "rule r { onnx.Neg(%x) => %x where rank(%x) }",
        "rule r { onnx.Neg(%x) => %x where rank(%x) == }",
        "rule r { onnx.Neg(%x) => %x where dim(%x) == 1 }",
        "rule r { onnx.Neg(%x) => %x where dim(%x, 0.5) == 1 }",
        "rule r { onnx.Neg(%x) => %x where opset(13) == 1 }",
        "rule r { onnx.Neg(%x) => %x where identity($p) }",
        "rule r { onnx.Neg(%x) => %x where 1 == ranks(%x) }",
    ]));
}

#[test]
fn text_that_nests_without_an_end() {
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
        "onnx.Neg(%x) => onnx.Neg(",
    ] {
        let said = deep(open);
        assert!(!said.is_empty());
    }
    assert_eq!(deep("onnx.Neg("), "This nests deeper than 100 levels.");
    let terms = format!(
        "rule r {{ onnx.Neg(%x) => %x where {}",
        "compose(".repeat(100_000)
    );
    let error = RulesFile::parse("r.rules", &terms).unwrap_err();
    assert_eq!(error.message, "This nests deeper than 100 levels.");
}

/// No text, however broken, is more than an error about a place in it.
#[test]
fn texts_with_a_mistake_anywhere() {
    let whole = "rule r grows {
        %a, _ = onnx.Split|x.Y(%x?, _, ~-1.5e3, [1, -2], none, %r...) {axis = $p, t = \"é\\n\"}
        => %b = onnx.Neg(onnx.Add(%x, 1)) {..%a, p = compose($p, [0])} %a = %b ; remark
        where not float(%x), dim(%x, -1) in [1, 2], $p == 1, opset(\"x\") >= 2
    }";
    RulesFile::parse("r.rules", whole).unwrap();
    let mut refused = 0;
    let mut check = |text: &str| match sdk::Rules::parse(text) {
        Ok(rules) => assert_eq!(rules.describe().unwrap().len(), 1, "{text}"),
        Err(error) => {
            assert!(
                text.get(error.at.clone()).is_some(),
                "{:?}: {text}",
                error.at
            );
            assert!(error.message.ends_with('.'), "{}", error.message);
            refused += 1;
        }
    };
    for (at, c) in whole.char_indices() {
        let (before, after) = (&whole[..at], &whole[at + c.len_utf8()..]);
        if !before.trim().is_empty() {
            check(before);
        }
        for other in [
            "", "%", "$", "(", "}", "[", "\"", ".", "=>", "é", "9", "where ", ",",
        ] {
            check(&format!("{before}{other}{after}"));
        }
    }
    assert!(refused > 2000, "{refused}");
}
