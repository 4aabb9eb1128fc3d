//! Attributes in patterns and replacements.

use expect_test::expect;

use crate::{check, check_stays};

const X: &str = "(%x: f32[2,3]) -> (%y: f32[2,3])";

#[test]
fn one_that_is_written_down_is_given_or_the_default() {
    let rules = "rule r { onnx.Softmax(%x) {axis = -1} => onnx.Relu(%x) }";
    check(
        rules,
        X,
        "%0 = onnx.Softmax(%x) {axis = -1}\n%1 = onnx.Softmax(%0)\nreturn %1",
        expect![[r#"
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            return %1
        "#]],
    );
    check_stays(rules, X, "%0 = onnx.Softmax(%x) {axis = 0}\nreturn %0");
}

#[test]
fn of_every_kind() {
    let rules = r#"
        rule text { onnx.Gelu(%x) {approximate = "tanh"} => onnx.Relu(%x) }
        rule float { onnx.LeakyRelu(%x) {alpha = 0.1} => onnx.Neg(%x) }
        rule ints { onnx.Transpose(%x) {perm = [0, 1]} => onnx.Abs(%x) }
        rule floats { acme.Scale(%x) {by = [0.5, 2]} => onnx.Sign(%x) }
    "#;
    check(
        rules,
        X,
        r#"%0 = onnx.Gelu(%x) {approximate = "tanh"}
           %1 = onnx.Gelu(%0)
           %2 = onnx.LeakyRelu(%1) {alpha = 0.1}
           %3 = onnx.LeakyRelu(%2)
           %4 = onnx.Transpose(%3) {perm = [0, 1]}
           %5 = acme.Scale(%4) {by = [0.5, 2.0]} : f32[2,3]
           return %5"#,
        expect![[r#"
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Gelu(%0) : f32[2,3]
            %2 = onnx.Neg(%1) : f32[2,3]
            %3 = onnx.LeakyRelu(%2) : f32[2,3]
            %4 = onnx.Abs(%3) : f32[2,3]
            %5 = onnx.Sign(%4) : f32[2,3]
            return %5
        "#]],
    );
}

#[test]
fn bound_ones_are_carried_over_composed_and_compared() {
    check(
        "rule r {
             onnx.Transpose(onnx.Transpose(%x) {perm = $p}) {perm = $q}
             => onnx.Transpose(%x) {perm = compose($p, $q)}
         }",
        "(%x: f32[2,3,4]) -> (%y: f32[4,2,3])",
        "%0 = onnx.Transpose(%x) {perm = [1, 2, 0]}
         %1 = onnx.Transpose(%0) {perm = [1, 2, 0]}
         return %1",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [2, 0, 1]} : f32[4,2,3]
            return %0
        "#]],
    );
    let same = "rule r {
        onnx.Softmax(onnx.LogSoftmax(%x) {axis = $a}) {axis = $a} => onnx.Softmax(%x) {axis = $a}
    }";
    check(
        same,
        X,
        "%0 = onnx.LogSoftmax(%x)\n%1 = onnx.Softmax(%0) {axis = -1}\nreturn %1",
        expect![[r#"
            %0 = onnx.Softmax(%x) {axis = -1} : f32[2,3]
            return %0
        "#]],
    );
    check_stays(
        same,
        X,
        "%0 = onnx.LogSoftmax(%x) {axis = 0}\n%1 = onnx.Softmax(%0) {axis = 1}\nreturn %1",
    );
}

#[test]
fn what_is_left_out_stays_left_out() {
    check(
        "rule r { onnx.Relu(onnx.Transpose(%x) {perm = $p}) => onnx.Abs(onnx.Transpose(%x) {perm = $p}) }",
        "(%x: f32[2,3]) -> (%y: f32[3,2])",
        "%0 = onnx.Transpose(%x)\n%1 = onnx.Relu(%0)\nreturn %1",
        expect![[r#"
            %0 = onnx.Transpose(%x) : f32[3,2]
            %1 = onnx.Abs(%0) : f32[3,2]
            return %1
        "#]],
    );
}

#[test]
fn those_of_an_op_are_taken_over_and_single_ones_replaced() {
    check(
        "rule r {
             %old = onnx.MaxPool(onnx.Relu(%x))
             => onnx.Relu(onnx.MaxPool(%x) {..%old, ceil_mode = 1})
         }",
        "(%x: f32[1,1,4,4]) -> (%y: f32[1,1,2,2])",
        "%0 = onnx.Relu(%x)
         %1 = onnx.MaxPool(%0) {kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 0}
         return %1",
        expect![[r#"
            %0 = onnx.MaxPool(%x) {kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1} : f32[1,1,2,2]
            %1 = onnx.Relu(%0) : f32[1,1,2,2]
            return %1
        "#]],
    );
}
