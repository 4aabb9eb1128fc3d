//! What is said of texts of rules that are refused.

use std::fmt::Write;

use expect_test::expect;
use passdock::{ErrorKind, RulesFile};

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
