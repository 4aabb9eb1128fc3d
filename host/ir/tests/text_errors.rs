//! What the parser says of a text that isn't a module.

use expect_test::{Expect, expect};
use passdock_ir::text::{self, ParseError};

fn fail(source: &str) -> ParseError {
    match text::parse(source) {
        Ok(module) => panic!("this can be read:\n{}", text::print(&module)),
        Err(error) => error,
    }
}

/// Parses a text and draws where it is wrong.
#[track_caller]
fn check(source: &str, expected: Expect) {
    let error = fail(source);
    let line = source.lines().nth(error.line as usize - 1).unwrap_or("");
    let shown = source.get(error.span.clone()).expect("the span is text");
    let width = shown.lines().next().unwrap_or("").chars().count().max(1);
    let under = " ".repeat(error.column as usize - 1) + &"^".repeat(width);
    expected.assert_eq(&format!("{line}\n{under}\n{error}"));
}

/// As `check`, of statements in a graph function.
#[track_caller]
fn body(lines: &str, expected: Expect) {
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

#[test]
fn names() {
    body(
        "%a = onnx.Relu(%xx)",
        expect![[r#"
        %a = onnx.Relu(%xx)
                       ^^^
        3:16: There is no value `%xx`. Did you mean `%x`?"#]],
    );
    body(
        "%a = onnx.Relu(%input)",
        expect![[r#"
        %a = onnx.Relu(%input)
                       ^^^^^^
        3:16: There is no value `%input`."#]],
    );
    body(
        "%a = onnx.Relu(%b)\n%b = onnx.Relu(%x)",
        expect![[r#"
        %a = onnx.Relu(%b)
                       ^^
        3:16: `%b` is used before its definition, on line 4. A value is visible after its definition, in its region and those nested in it."#]],
    );
    body(
        "%a = onnx.Relu(%a)",
        expect![[r#"
            %a = onnx.Relu(%a)
                           ^^
            3:16: `%a` is used by the op that defines it."#]],
    );
    body(
        "%a = onnx.Relu(%7)",
        expect![[r#"
        %a = onnx.Relu(%7)
                       ^^
        3:16: There is no value `%7`."#]],
    );
    body(
        "%x = onnx.Relu(%x)",
        expect![[r#"
        %x = onnx.Relu(%x)
        ^^
        3:1: `%x` is defined already, on line 2. A value's name may not be that of a value that is visible where it is defined."#]],
    );
    body(
        "%0 = onnx.Relu(%x)\n%0 = onnx.Relu(%x)",
        expect![[r#"
        %0 = onnx.Relu(%x)
        ^^
        4:1: `%0` is defined already, on line 3. A value's name may not be that of a value that is visible where it is defined."#]],
    );
    body(
        "%1x = onnx.Relu(%x)",
        expect![[r#"
        %1x = onnx.Relu(%x)
        ^^^
        3:1: `%1x` is no value's number; a name that starts with a digit is quoted: `%"1x"`."#]],
    );
    body(
        "% = onnx.Relu(%x)",
        expect![[r#"
        % = onnx.Relu(%x)
        ^
        3:1: Expected a name or a number after `%`."#]],
    );
    body(
        "onnx.If(%x) region { %t = onnx.Relu(%x) yield }\nonnx.Relu(%t)",
        expect![[r#"
            onnx.Relu(%t)
                      ^^
            4:11: `%t` isn't visible here: the region that defines it, on line 3, has ended."#]],
    );
    body(
        "onnx.If(%x) region { %x = onnx.Relu(%x) yield }",
        expect![[r#"
            onnx.If(%x) region { %x = onnx.Relu(%x) yield }
                                 ^^
            3:22: `%x` is defined already, on line 2. A value's name may not be that of a value that is visible where it is defined."#]],
    );
    body(
        "onnx.If(%x) region (%y: ?) { yield }",
        expect![[r#"
        onnx.If(%x) region (%y: ?) { yield }
                            ^^
        3:21: `%y` is defined already, on line 2. A value's name may not be that of a value that is visible where it is defined."#]],
    );
    body(
        "%\"a b\" = onnx.Relu(%x)\nonnx.Relu(%\"a c\")",
        expect![[r#"
            onnx.Relu(%"a c")
                      ^^^^^^
            4:11: There is no value `%"a c"`. Did you mean `%"a b"`?"#]],
    );
}

#[test]
fn ops() {
    body(
        "%a onnx.Relu(%x)",
        expect![[r#"
        %a onnx.Relu(%x)
           ^^^^
        3:4: Expected `=` after an op's results, found `onnx`."#]],
    );
    body(
        "%a, = onnx.Relu(%x)",
        expect![[r#"
        %a, = onnx.Relu(%x)
            ^
        3:5: Expected another result (`%x` or `_`)."#]],
    );
    body(
        "%a = onnx.Relu %x",
        expect![[r#"
        %a = onnx.Relu %x
                       ^^
        3:16: Expected `(` before an op's operands, found `%x`."#]],
    );
    body(
        "%a = onnx.Relu(%x",
        expect![[r#"
            %a = onnx.Relu(%x
                             ^
            3:18: Expected `,` between operands, found the end of the line."#]],
    );
    body(
        "%a = onnx.Relu(x)",
        expect![[r#"
        %a = onnx.Relu(x)
                       ^
        3:16: Expected an operand (`%x` or `_`), found `x`."#]],
    );
    body(
        "%a = onnx.Add(%x, 2.0)",
        expect![[r#"
        %a = onnx.Add(%x, 2.0)
                          ^
        3:19: Expected an operand (`%x` or `_`), found `2`. In a graph function a number is a constant: `%c = const f32[] 2.0`."#]],
    );
    body(
        "%a = onnx.Relu(%x) : f32[2], f32[2]",
        expect![[r#"
            %a = onnx.Relu(%x) : f32[2], f32[2]
                                 ^^^^^^^^^^^^^^
            3:22: The op has 1 result, and 2 types are given."#]],
    );
    body(
        "%a = onnx..Relu(%x)",
        expect![[r#"
        %a = onnx..Relu(%x)
                 ^
        3:10: Expected `(` before an op's operands, found `.`."#]],
    );
    body(
        "return %x",
        expect![[r#"
        return } }
        ^^^^^^
        4:1: `return` ends its region, so nothing may follow it."#]],
    );
    body(
        "return\nonnx.Relu(%x)",
        expect![[r#"
        onnx.Relu(%x)
        ^^^^
        4:1: `return` ends its region, so nothing may follow it."#]],
    );
    body(
        "yield",
        expect![[r#"
        yield
        ^^^^^
        3:1: This region ends with `return`, not with `yield`."#]],
    );
    body(
        "%a = return %x",
        expect![[r#"
        %a = return %x
        ^^^^^^^^^^^
        3:1: A `return` has no results."#]],
    );
    body(
        "return(%x)",
        expect![[r#"
        return(%x)
        ^^^^^^
        3:1: A terminator has no parentheses: `return %x`."#]],
    );
    body(
        "onnx.If(%x) region { return }",
        expect![[r#"
        onnx.If(%x) region { return }
                             ^^^^^^
        3:22: This region ends with `yield`, not with `return`."#]],
    );
    body(
        "onnx.If(%x) region { onnx.Relu(%x) }",
        expect![[r#"
        onnx.If(%x) region { onnx.Relu(%x) }
                                           ^
        3:36: This region ends without a `yield`."#]],
    );
    body(
        "onnx.If(%x) {then_branch = region}",
        expect![[r#"
        onnx.If(%x) {then_branch = region}
                                   ^^^^^^
        3:28: The op has no such region. An op's regions follow it: `region then_branch { … }` is the region of `then_branch = region`."#]],
    );
    body(
        "onnx.If(%x) {branches = [region 0, region 1]} region { yield }",
        expect![[r#"
            onnx.If(%x) {branches = [region 0, region 1]} region { yield }
                                               ^^^^^^^^
            3:36: The op has no such region. An op's regions follow it: `region then_branch { … }` is the region of `then_branch = region`."#]],
    );
    body(
        "onnx.If(%x) {branches = [region]} region { yield }",
        expect![[r#"
            onnx.If(%x) {branches = [region]} region { yield }
                                     ^^^^^^
            3:26: A list of regions says their places: `[region 0, region 1]`."#]],
    );
    body(
        "for %i in 0..8 { }",
        expect![[r#"
        for %i in 0..8 { }
                  ^
        3:11: Expected an operand (`%x` or `_`), found `0`. In a graph function a number is a constant: `%c = const f32[] 2.0`."#]],
    );
    body(
        "onnx.Relu(%x) loc(conv)",
        expect![[r#"
        onnx.Relu(%x) loc(conv)
                          ^^^^
        3:19: Expected text in quotes, found `conv`."#]],
    );
    body(
        "onnx.Relu(%x) extra(\"abc\")",
        expect![[r#"
        onnx.Relu(%x) extra("abc")
                            ^^^^^
        3:21: This isn't an even number of hex digits."#]],
    );
    check(
        "module { prim @f() { for %i in 0..8 unrol { } } }",
        expect![[r#"
            module { prim @f() { for %i in 0..8 unrol { } } }
                                                ^^^^^
            1:37: There is no kind of loop `unrol`. Did you mean `unroll`?"#]],
    );
    check(
        "module { prim @f() { for %i 0..8 { } } }",
        expect![[r#"
        module { prim @f() { for %i 0..8 { } } }
                                    ^
        1:29: Expected `in` and the bounds of the loop: `in 0..128`."#]],
    );
    check(
        "module { prim @f() { for %i in 0, 8 { } } }",
        expect![[r#"
            module { prim @f() { for %i in 0, 8 { } } }
                                            ^
            1:33: Expected `..` between the bounds of a loop, found `,`."#]],
    );
    check(
        "module { prim @f() { tir.x(3i33) } }",
        expect![[r#"
        module { prim @f() { tir.x(3i33) } }
                                   ^^^^
        1:28: This isn't a number with its type: `2.0`, `3`, `3i32`, `0.5f64`, `true`."#]],
    );
    check(
        "module { prim @f() { tir.x(300u8) } }",
        expect![[r#"
        module { prim @f() { tir.x(300u8) } }
                                   ^^^^^
        1:28: `300` isn't an integer in the range of u8."#]],
    );
    check(
        "module { prim @f() { tir.x(1.5i32) } }",
        expect![[r#"
        module { prim @f() { tir.x(1.5i32) } }
                                   ^^^^^^
        1:28: `1.5` isn't an integer in the range of i32."#]],
    );
}

#[test]
fn attributes() {
    body(
        "onnx.A() {a = 1 b = 2}",
        expect![[r#"
        onnx.A() {a = 1 b = 2}
                        ^
        3:17: Expected `,` between attributes, found `b`."#]],
    );
    body(
        "onnx.A() {a = 1, a = 2}",
        expect![[r#"
        onnx.A() {a = 1, a = 2}
                         ^
        3:18: There are two attributes `a`."#]],
    );
    body(
        "onnx.A() {a = }",
        expect![[r#"
        onnx.A() {a = }
                      ^
        3:15: Expected an attribute's value, found `}`."#]],
    );
    body(
        "onnx.A() {a = tensr f32[] 1}",
        expect![[r#"
        onnx.A() {a = tensr f32[] 1}
                      ^^^^^
        3:15: Expected an attribute's value, found `tensr`. Did you mean `tensor`?"#]],
    );
    body(
        "onnx.A() {a = []}",
        expect![[r#"
        onnx.A() {a = []}
                      ^^
        3:15: An empty list has to say of what it is. Write `ints[]`, `floats[]`, `strings[]`, `tensors[]`, `types[]` or `regions[]`."#]],
    );
    body(
        "onnx.A() {a = [1, \"b\"]}",
        expect![[r#"
        onnx.A() {a = [1, "b"]}
                          ^^^
        3:19: The items of a list have to be of one kind."#]],
    );
    body(
        "onnx.A() {a = ints[1]}",
        expect![[r#"
        onnx.A() {a = ints[1]}
                           ^
        3:20: Expected `]` in an empty list; one that isn't needs no word before it, found `1`."#]],
    );
    body(
        "onnx.A() {a = 99999999999999999999}",
        expect![[r#"
        onnx.A() {a = 99999999999999999999}
                      ^^^^^^^^^^^^^^^^^^^^
        3:15: `99999999999999999999` isn't an attribute's number: those are i64 or f32."#]],
    );
    body(
        "onnx.A() {a = \"b}",
        expect![[r#"
        onnx.A() {a = "b}
                      ^
        3:15: This quote isn't closed on its line; a line break is written `\n`."#]],
    );
    body(
        "onnx.A() {a = \"\\q\"}",
        expect![[r#"
        onnx.A() {a = "\q"}
                       ^^
        3:16: This escape isn't one of `\"`, `\\`, `\n`, `\r`, `\t`, `\xNN`, `\u{N}`."#]],
    );
    body(
        "onnx.A() {\"\\xff\" = 1}",
        expect![[r#"
        onnx.A() {"\xff" = 1}
                  ^^^^^^
        3:11: This text has to be UTF-8."#]],
    );
    body(
        "onnx.A() {a = ref(b, flot)}",
        expect![[r#"
        onnx.A() {a = ref(b, flot)}
                             ^^^^
        3:22: There is no kind of attribute `flot`. Did you mean `float`?"#]],
    );
    body(
        "onnx.A() {a = opaque(\"0g\")}",
        expect![[r#"
        onnx.A() {a = opaque("0g")}
                             ^^^^
        3:22: This isn't an even number of hex digits."#]],
    );
}

#[test]
fn types() {
    body(
        "%a = onnx.A() : f23[2]",
        expect![[r#"
        %a = onnx.A() : f23[2]
                        ^^^
        3:17: There is no type `f23`. Did you mean `f32`?"#]],
    );
    body(
        "%a = onnx.A() : ",
        expect![[r#"
        return } }
        ^^^^^^
        4:1: There is no type `return`."#]],
    );
    body(
        "%a = onnx.A() : f32[2",
        expect![[r#"
            %a = onnx.A() : f32[2
                                 ^
            3:22: Expected `,` between dims, found the end of the line."#]],
    );
    body(
        "%a = onnx.A() : f32[2,]",
        expect![[r#"
        %a = onnx.A() : f32[2,]
                              ^
        3:23: Expected a dim, found `]`."#]],
    );
    body(
        "%a = onnx.A() : f32[n/0]",
        expect![[r#"
            %a = onnx.A() : f32[n/0]
                                ^^^
            3:21: This dim divides by zero, overflows, or has too many terms."#]],
    );
    body(
        "%a = onnx.A() : seqs<f32[2]>",
        expect![[r#"
        %a = onnx.A() : seqs<f32[2]>
                        ^^^^
        3:17: There is no type `seqs`. Did you mean `seq`?"#]],
    );
    body(
        "%a = onnx.A() : seq<f32[2]",
        expect![[r#"
            %a = onnx.A() : seq<f32[2]
                                      ^
            3:27: Expected `>` at the end of `seq<…>`, found the end of the line."#]],
    );
    body(
        "%a = onnx.A() : buffer<f32[*]>",
        expect![[r#"
            %a = onnx.A() : buffer<f32[*]>
                            ^^^^^^^^^^^^^
            3:17: A buffer's rank has to be known."#]],
    );
    body(
        "%a = onnx.A() : buffer<f32[2,2], strides [1], offset 0>",
        expect![[r#"
            %a = onnx.A() : buffer<f32[2,2], strides [1], offset 0>
                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
            3:17: A buffer needs a stride for each of its 2 dims, and this has 1."#]],
    );
    body(
        "%a = onnx.A() : buffer<f32[2], scop shared>",
        expect![[r#"
            %a = onnx.A() : buffer<f32[2], scop shared>
                                           ^^^^
            3:32: Expected `strides`, `scope` or `may_alias`. Did you mean `scope`?"#]],
    );
    body(
        "%a = onnx.A() : f32[99999999999999999999]",
        expect![[r#"
            %a = onnx.A() : f32[99999999999999999999]
                                ^^^^^^^^^^^^^^^^^^^^
            3:21: `99999999999999999999` isn't a dim."#]],
    );
}

#[test]
fn constants() {
    body(
        "%a = const f32[n] [1]",
        expect![[r#"
        %a = const f32[n] [1]
                   ^^^^^^^
        3:12: A constant's type has to be a scalar, or a tensor whose dims are all known."#]],
    );
    body(
        "%a = const f32[3] [1, 2]",
        expect![[r#"
        %a = const f32[3] [1, 2]
                          ^^^^^^
        3:19: The shape needs 3 numbers, and there are 2."#]],
    );
    body(
        "%a = const f32[2] [1, x]",
        expect![[r#"
        %a = const f32[2] [1, x]
                              ^
        3:23: Expected an element, found `x`."#]],
    );
    body(
        "%a = const u8[2] [1, 256]",
        expect![[r#"
        %a = const u8[2] [1, 256]
                             ^^^
        3:22: `256` isn't an integer in the range of u8."#]],
    );
    body(
        "%a = const i4[2] [7, 8]",
        expect![[r#"
        %a = const i4[2] [7, 8]
                             ^
        3:22: `8` isn't an element in the range of i4."#]],
    );
    body(
        "%a = const bool[1] [1]",
        expect![[r#"
        %a = const bool[1] [1]
                            ^
        3:21: `1` isn't `true` or `false`, as elements of bool."#]],
    );
    body(
        "%a = const f8e4m3fn[1] [1.0]",
        expect![[r#"
        %a = const f8e4m3fn[1] [1.0]
                                ^^^
        3:25: `1.0` isn't the bits (`0x3c`) of an element of f8e4m3fn."#]],
    );
    body(
        "%a = const f32[-1] []",
        expect![[r#"
        %a = const f32[-1] []
                   ^^^^^^^^
        3:12: The shape [-1] of a constant is negative or too large."#]],
    );
    body(
        "%a = const f32[9223372036854775807,4] splat(0)",
        expect![[r#"
            %a = const f32[9223372036854775807,4] splat(0)
                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^
            3:12: The shape [9223372036854775807, 4] of a constant is negative or too large."#]],
    );
    body(
        "%a = const f32[2] 1",
        expect![[r#"
        %a = const f32[2] 1
                          ^
        3:19: Expected a constant's data, found `1`. `[1, 2]`, `splat(0)`, `blob(0)` or `external("file", 0, 8)`."#]],
    );
    body(
        "%a = const f32[2] splat(1",
        expect![[r#"
            %a = const f32[2] splat(1
                                     ^
            3:26: Expected `)` after a constant's data, found the end of the line."#]],
    );
    body(
        "%a = const f32[2] splt(1)",
        expect![[r#"
        %a = const f32[2] splt(1)
                          ^^^^^
        3:19: There is no form of data `splt`. Did you mean `splat`?"#]],
    );
    body(
        "%a = const f32[2] blob(0)",
        expect![[r#"
        %a = const f32[2] blob(0)
                          ^^^^^^
        3:19: There is no blob 0. Blobs stand at the end of the module: `blob 0 = "…"`."#]],
    );
    body(
        "%a = const f32[2] raw(\"00\")",
        expect![[r#"
        %a = const f32[2] raw("00")
                          ^^^^^^^^^
        3:19: A constant of 2 elements of f32 takes 8 bytes, and 1 were given."#]],
    );
    body(
        "%a = const str[1] raw(\"00\")",
        expect![[r#"
            %a = const str[1] raw("00")
                              ^^^^^^^^^
            3:19: A constant of str is an offset for each string and one more, then the bytes they bound, and this isn't 1 strings."#]],
    );
    body(
        "%a = const f32[2] external(\"w.bin\", 0, 8)",
        expect![[r#"
            %a = const f32[2] external("w.bin", 0, 8)
                              ^^^^^^^^^^^^^^^^^^^^^^
            3:19: The data is in the file "w.bin", and files can't be opened from here."#]],
    );
    body(
        "%a = const f32[100] elided(400)",
        expect![[r#"
        %a = const f32[100] elided(400)
                            ^^^^^^^
        3:21: This constant was left out when the text was printed. Print the module without eliding constants."#]],
    );
    body(
        "%a, %b = const f32[] 1",
        expect![[r#"
        %a, %b = const f32[] 1
        ^^^^^^^^^
        3:1: A constant is one value, and several are named here."#]],
    );
    body(
        "_ = const f32[] 1",
        expect![[r#"
        _ = const f32[] 1
        ^^^^
        3:1: A constant needs a name or a number."#]],
    );
    check(
        "module { blob 0 = \"AAAA\" blob 0 = \"AAAA\" }",
        expect![[r#"
            module { blob 0 = "AAAA" blob 0 = "AAAA" }
                                     ^^^^^^^^^^^^^^^
            1:26: There are two blobs 0."#]],
    );
    check(
        "module { blob 0 = \"A\" }",
        expect![[r#"
        module { blob 0 = "A" }
                          ^^^
        1:19: These bytes aren't base64: Invalid input length: 1."#]],
    );
    check(
        "module {\nfn @f() { %a = const f32[2] blob(0) return }\nblob 0 = \"AAAA\" }",
        expect![[r#"
            fn @f() { %a = const f32[2] blob(0) return }
                                        ^^^^^^
            2:29: A constant of 2 elements of f32 takes 8 bytes, and 3 were given."#]],
    );
}
