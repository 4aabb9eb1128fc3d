//! Bodies of operators, asked for through the host: IR text in, IR text with the bodies out.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

mod support;

use expect_test::{Expect, expect};
use support::decompose;

/// The ops of `@main(SIGNATURE)` after each became what it is made of.
#[track_caller]
fn check(opset: i64, params: &str, body: &str, expected: Expect) {
    expected.assert_eq(&decompose(opset, params, body));
}

#[test]
fn hard_swish_is_a_product() {
    check(
        17,
        "%x: f16[n,3]",
        "\n%0 = onnx.HardSwish(%x)\n",
        expect![[r#"
            %0 = onnx.HardSigmoid(%x) {alpha = 0.16666667, beta = 0.5} : f16[n,3]
            %1 = onnx.Mul(%x, %0) : f16[n,3]
        "#]],
    );
}

#[test]
fn what_isnt_known_of_an_op_leaves_it_whole() {
    let whole = expect![[r#"
        %0 = onnx.HardSwish(%x) {slope = 2.0}
    "#]];
    check(
        17,
        "%x: f16[n,3]",
        "\n%0 = onnx.HardSwish(%x) {slope = 2.0}\n",
        whole,
    );
    check(
        99,
        "%x: f16[n,3]",
        "\n%0 = onnx.HardSwish(%x)\n",
        expect![[r#"
            %0 = onnx.HardSwish(%x)
        "#]],
    );
}
