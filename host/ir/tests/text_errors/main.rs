//! What the parser says of a text that isn't a module.

mod data;
mod statements;

use expect_test::{Expect, expect};
use passdock_ir::text::{self, ParseError};

pub(crate) fn fail(source: &str) -> ParseError {
    match text::parse(source) {
        Ok(module) => panic!("this can be read:\n{}", text::print(&module)),
        Err(error) => error,
    }
}

/// Parses a text and draws where it is wrong.
#[track_caller]
pub(crate) fn check(source: &str, expected: Expect) {
    let error = fail(source);
    let line = source.lines().nth(error.line as usize - 1).unwrap_or("");
    let shown = source.get(error.span.clone()).expect("the span is text");
    let width = shown.lines().next().unwrap_or("").chars().count().max(1);
    let under = " ".repeat(error.column as usize - 1) + &"^".repeat(width);
    expected.assert_eq(&format!("{line}\n{under}\n{error}"));
}

/// As `check`, of statements in a graph function.
#[track_caller]
pub(crate) fn body(lines: &str, expected: Expect) {
    check(
        &format!("module {{\nfn @f(%x: f32[2], %y: i64[]) {{\n{lines}\nreturn }} }}"),
        expected,
    );
}

#[test]
fn around_functions() {
    check(
        "",
        expect![[r#"

        ^
        1:1: Expected `module {`, found the end of the text."#]],
    );
    check(
        "modul {}",
        expect![[r#"
        modul {}
        ^^^^^
        1:1: Expected `module {`, found `modul`."#]],
    );
    check(
        "module {",
        expect![[r#"
        module {
                ^
        1:9: Expected a function (`fn @main(…) {`) or `}`, found the end of the text."#]],
    );
    check(
        "module { funktion @f() {} }",
        expect![[r#"
        module { funktion @f() {} }
                 ^^^^^^^^
        1:10: Expected a function (`fn @main(…) {`) or `}`, found `funktion`."#]],
    );
    check(
        "module { fnn @f() {} }",
        expect![[r#"
        module { fnn @f() {} }
                 ^^^
        1:10: Expected a function (`fn @main(…) {`) or `}`, found `fnn`. Did you mean `fn`?"#]],
    );
    check(
        "module {} x",
        expect![[r#"
        module {} x
                  ^
        1:11: Nothing may follow the module, found `x`."#]],
    );
    check(
        "module { fn f() {} }",
        expect![[r#"
        module { fn f() {} }
                    ^
        1:13: Expected `@` before a function's name, found `f`."#]],
    );
    check(
        "module { fn @f() { return } fn @f() { return } }",
        expect![[r#"
            module { fn @f() { return } fn @f() { return } }
                                        ^^^^^^^^^^^^^^^^^^
            1:29: The module has a function @f already."#]],
    );
    check(
        "module { fn @f() opsets(\"\" = 17) { return } }",
        expect![[r#"
            module { fn @f() opsets("" = 17) { return } }
                             ^^^^^^
            1:18: Expected `{` and the function's body, found `opsets`. Did you mean `opset`?"#]],
    );
    check(
        "module { fn @f() opset(\"\" = 17, \"\" = 18) { return } }",
        expect![[r#"
            module { fn @f() opset("" = 17, "" = 18) { return } }
                                            ^^
            1:33: This domain has a version already."#]],
    );
    check(
        "module { fn @f() -> (%0) { return } }",
        expect![[r#"
        module { fn @f() -> (%0) { return } }
                             ^^
        1:22: A result has a name or none (`_`), not a number."#]],
    );
    check(
        "module { fn @f(%x) -> (%a, %b) { return %x } }",
        expect![[r#"
            module { fn @f(%x) -> (%a, %b) { return %x } }
                                             ^^^^^^^^^^
            1:34: The header declares 2 results, and 1 value are given."#]],
    );
    check(
        "module { fn @f() { %a = onnx.A()",
        expect![[r#"
        module { fn @f() { %a = onnx.A()
                 ^
        1:10: The text ends before the `}` of what begins here."#]],
    );
    check(
        "module { fn @f() { } }",
        expect![[r#"
        module { fn @f() { } }
                           ^
        1:20: This region ends without a `return`."#]],
    );
    check(
        "module { metadata a = \"b\" }",
        expect![[r#"
        module { metadata a = "b" }
                          ^
        1:19: Expected text in quotes, found `a`."#]],
    );
    check(
        "module { fn @f.() { return } }",
        expect![[r#"
        module { fn @f.() { return } }
                       ^
        1:16: Expected another part of a function's name here."#]],
    );
    check(
        "module { fn @\"a\".\"b\".c() { return } }",
        expect![[r#"
            module { fn @"a"."b".c() { return } }
                         ^^^^^^^^^
            1:14: `"a"."b".c` isn't a function's name: `domain.Name` or `domain.Name#overload`."#]],
    );
    check(
        "module { fn @f() attributes {b = region} { return } }",
        expect![[r#"
            module { fn @f() attributes {b = region} { return } }
                                             ^^^^^^
            1:34: A function's attribute can't be a region."#]],
    );
}
