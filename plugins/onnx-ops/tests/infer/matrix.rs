//! Products, Einsum.

use expect_test::expect;

use crate::{check, wrong};

#[test]
fn einsum_reads_letters_and_dots() {
    check(
        12,
        "%x: f32[b,i,3], %y: f32[3,j], %v: f32[3], %u: f32[*]",
        "
    %0 = onnx.Einsum(%x, %y) {equation = \"bij, jk -> bik\"}
    %1 = onnx.Einsum(%x, %y) {equation = \"...j,jk\"}
    %2 = onnx.Einsum(%x, %y) {equation = \"...j,jk->k...\"}
    %3 = onnx.Einsum(%x) {equation = \"zab\"}
    %4 = onnx.Einsum(%v, %v) {equation = \"i,i\"}
    %5 = onnx.Einsum(%u, %y) {equation = \"aj,jk->ak\"}
    %6 = onnx.Einsum(%u, %y) {equation = \"...j,jk->...k\"}
    %7 = onnx.Einsum(%x, %x) {equation = \"...j,...j->...\"}
",
        expect![[r#"
            %0 = onnx.Einsum(%x, %y) {equation = "bij, jk -> bik"} : f32[b,i,j]
            %1 = onnx.Einsum(%x, %y) {equation = "...j,jk"} : f32[b,i,j]
            %2 = onnx.Einsum(%x, %y) {equation = "...j,jk->k..."} : f32[j,b,i]
            %3 = onnx.Einsum(%x) {equation = "zab"} : f32[i,3,b]
            %4 = onnx.Einsum(%v, %v) {equation = "i,i"} : f32[]
            %5 = onnx.Einsum(%u, %y) {equation = "aj,jk->ak"} : f32[?,j]
            %6 = onnx.Einsum(%u, %y) {equation = "...j,jk->...k"} : f32[*]
            %7 = onnx.Einsum(%x, %x) {equation = "...j,...j->..."} : f32[b,i]
        "#]],
    );
    wrong(
        12,
        "%x: f32[2,3]",
        "%0 = onnx.Einsum(%x) {equation = \"abc\"}",
        expect!["onnx.Einsum: 2 dims for `abc`"],
    );
    wrong(
        12,
        "%x: f32[2,3]",
        "%0 = onnx.Einsum(%x) {equation = \"ab->c\"}",
        expect!["onnx.Einsum: `c` isn't in any term"],
    );
    wrong(
        12,
        "%x: f32[2,3]",
        "%0 = onnx.Einsum(%x) {equation = \"aa\"}",
        expect!["onnx.Einsum: 2 and 3 should be the same size"],
    );
    wrong(
        12,
        "%x: f32[2,3]",
        "%0 = onnx.Einsum(%x) {equation = \"ab,b\"}",
        expect!["onnx.Einsum: 2 terms for 1 operands"],
    );
}

#[test]
fn products_have_rows_and_columns() {
    check(
        13,
        "%a: f32[n,4], %b: f32[m,4], %c: f32[5,n,4], %v: f32[4]",
        "
    %0 = onnx.Gemm(%a, %b) {transB = 1}
    %1 = onnx.MatMul(%c, %v)
    %2 = onnx.Det(%c)
",
        expect![[r#"
            %0 = onnx.Gemm(%a, %b) {transB = 1} : f32[n,m]
            %1 = onnx.MatMul(%c, %v) : f32[5,n]
            %2 = onnx.Det(%c) : f32[5]
        "#]],
    );
}
