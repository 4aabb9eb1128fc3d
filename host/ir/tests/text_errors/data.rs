//! Types and the data of constants.

use expect_test::expect;

use crate::{body, check};

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
