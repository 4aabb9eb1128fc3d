//! Names, ops and attributes.

use expect_test::expect;

use crate::{body, check};

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
        "%a = a.F() region { %c = const i64[] 1 yield %c }\n%c = const i64[] 2",
        expect![[r#"
            %c = const i64[] 2
            ^^
            4:1: This name is defined already inside a region above, on line 3. A constant is visible in all of its region, also in regions before it."#]],
    );
    // A result isn't visible before it.
    body(
        "%a = a.F() region { %c = const i64[] 1 yield %c }\n%c = a.F(%d)",
        expect![[r#"
            %c = a.F(%d)
                     ^^
            4:10: There is no value `%d`. Did you mean `%a`?"#]],
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
    body(
        "onnx.Relu(%x) doc(\"a\") loc(\"b\") doc(\"c\")",
        expect![[r#"
        onnx.Relu(%x) doc("a") loc("b") doc("c")
                                        ^^^^^^^
        3:33: It has a `doc` already."#]],
    );
    body(
        "onnx.Relu(%x) meta {key = 1}",
        expect![[r#"
        onnx.Relu(%x) meta {key = 1}
                                  ^
        3:27: Expected text in quotes, found `1`."#]],
    );
    body(
        "onnx.Relu(%x) meta {a = \"b\" c = \"d\"}",
        expect![[r#"
        onnx.Relu(%x) meta {a = "b" c = "d"}
                                    ^
        3:29: Expected `,` between pairs of metadata, found `c`."#]],
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
