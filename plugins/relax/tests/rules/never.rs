//! Rules that never apply: refused, with the place.

use std::fmt::Write;

use expect_test::{Expect, expect};
use passdock::{ErrorKind, RulesFile};
use passdock_plugins_relax::rules::{fold_explicit_padding, simplify_expr};

use crate::support;

/// What is said of rules, each by itself: `rule r { … }`.
#[track_caller]
fn check_refused(rules: &[&str], expected: Expect) {
    let ops = support::registry().op_defs();
    let mut said = String::new();
    for rule in rules {
        let text = format!("rule r {{ {rule} }}");
        let read = RulesFile::parse("r.rules", &text).and_then(|file| file.check(&ops));
        let error = read.expect_err(rule);
        assert_eq!(error.kind, ErrorKind::Rules);
        let diagnostic = error.to_diagnostic().render(false);
        let marked = diagnostic.lines().nth(4).unwrap_or_default();
        let from = marked.find('^').expect("the place is underlined") - "  | ".len();
        let to = marked.rfind('^').expect("it is") + 1 - "  | ".len();
        let place = text.get(from..to).unwrap_or("the end");
        writeln!(said, "{place}: {}", error.message).expect("a string");
        if let Some(help) = &error.help {
            writeln!(said, "  {help}").expect("a string");
        }
    }
    expected.assert_eq(&said);
}

/// Nothing is said of these.
#[track_caller]
fn check_fine(rules: &[&str]) {
    let ops = support::registry().op_defs();
    for rule in rules {
        let text = format!("rule r {{ {rule} }}");
        let read = RulesFile::parse("r.rules", &text).and_then(|file| file.check(&ops));
        if let Err(error) = read {
            panic!("{}", error.to_diagnostic().render(false));
        }
    }
}

#[test]
fn attributes_that_no_op_has() {
    check_refused(
        &[
            "onnx.Softmax(%x) {axes = -1} => %x",
            "onnx.Relu(%x) {axis = 1} => %x",
            "onnx.Neg(%x) => onnx.Softmax(%x) {dim = 1}",
            "onnx.Concat(%x...) {axis = 1.0} => onnx.Neg(%x)",
            "onnx.Concat(%x...) {axis = [1]} => onnx.Neg(%x)",
            "onnx.Transpose(%x) {perm = \"NCHW\"} => %x",
            "onnx.Gelu(%x) {approximate = tanh} => %x",
            "onnx.Neg(%x) => onnx.Elu(%x) {alpha = 1}",
            "onnx.Neg(%x) => onnx.Cast(%x)",
            "onnx.Softmax(onnx.Transpose(%x) {perm = $a}) {axis = $a} => %x",
            "onnx.ReduceSum(%x) {axes = [1]} => %x where opset >= 13",
            "onnx.ReduceSum|onnx.Neg(%x) {keepdims = 1} => %x",
        ],
        expect![[r#"
            axes: `onnx.Softmax` has no attribute `axes`.
              Did you mean `axis`?
            axis: `onnx.Relu` has no attribute `axis`.
              It has none.
            dim: `onnx.Softmax` has no attribute `dim`.
              It has axis.
            1.0: The attribute `axis` of `onnx.Concat` is an integer, and this is a float.
            [1]: The attribute `axis` of `onnx.Concat` is an integer, and this is a list of integers.
            "NCHW": The attribute `perm` of `onnx.Transpose` is a list of integers, and this is a text.
            tanh: No attribute is `tanh`.
              A text stands in quotes: `"tanh"`.
            1: The attribute `alpha` of `onnx.Elu` is a float, and this is an integer.
              A float has a point: `1.0`.
            onnx.Cast: An `onnx.Cast` needs the attribute `to`.
            $a: `$a` is an integer as `axis`, and `perm` is a list of integers.
            axes: `onnx.ReduceSum` has no attribute `axes`.
              It has keepdims, noop_with_empty_axes.
            keepdims: `onnx.Neg` has no attribute `keepdims`.
              It has none.
        "#]],
    );
    check_fine(&[
        "onnx.Elu(%x) {alpha = 1} => %x",
        "onnx.ReduceSum(%x) {axes = [1]} => %x",
        "onnx.Neg(%x) => onnx.Cast(%x) {to = 1}",
        "%y = onnx.Cast(%x) => onnx.Cast(%x) {..%y}",
        "acme.Softmax(%x) {axes = -1} => %x",
        "onnx.Resize(%x, none, %s) {extrapolation_value = 0} => %x",
    ]);
}

#[test]
fn operands_that_no_op_has() {
    check_refused(
        &[
            "onnx.Relu(%x, %y) => %x",
            "onnx.Add(%x) => %x",
            "onnx.Add(%x, none) => %x",
            "onnx.Conv(%x) => %x",
            "onnx.Conv(%x, %w, %b, %c) => %x",
            "onnx.Concat() {axis = 0} => onnx.Neg(%x)",
            "onnx.Neg(%x) => onnx.Relu(%x, %x)",
            "onnx.Neg(%x) => onnx.Mul(%x)",
            "onnx.Dropout(%x, %ratio) => %x where opset < 12",
        ],
        expect![[r#"
            %y: `onnx.Relu` takes 1 operand.
            onnx.Add: `onnx.Add` takes 2 operands, and here is 1 operand.
            none: `onnx.Add` has this operand always.
            onnx.Conv: `onnx.Conv` takes 2 to 3 operands, and here is 1 operand.
            %c: `onnx.Conv` takes 2 to 3 operands.
            %x: The pattern has no value `%x`.
            %x: `onnx.Relu` takes 1 operand.
            onnx.Mul: `onnx.Mul` takes 2 operands, and here is 1 operand.
            %ratio: `onnx.Dropout` takes 1 operand.
        "#]],
    );
    check_fine(&[
        "onnx.Relu(%x, none) => %x",
        "onnx.Add(%x...) => onnx.Sum(%x...)",
        "onnx.Clip(%x, %low?, %high?) => onnx.Clip(%x, %low?, %high?)",
        "onnx.Clip(%x) => %x",
        "onnx.Dropout(%x, %ratio) => %x",
        "onnx.Dropout(%x, %ratio?) => %x where opset < 12",
    ]);
}

#[test]
fn versions_that_no_operator_is_there_in() {
    check_refused(
        &[
            "onnx.Gelu(%x) => %x where opset < 20",
            "onnx.Neg(%x) => onnx.Gelu(%x) where opset == 13",
            "onnx.Neg(%x) => %x where opset >= 20, opset < 13",
            "onnx.Neg(%x) => %x where opset in [7, 8], not opset < 9",
            "onnx.Neg(%x) => %x where opset < 1",
            "onnx.Neg(%x) => %x where 13 > opset, opset == 13",
            "onnx.Neg(%x) => %x where rank(%x) == 2, rank(%x) == 3",
            "onnx.Neg(%x) => %x where rank(%x) < 0",
            "onnx.Neg(%x) => %x where dim(%x, 0) == 1.5",
            "onnx.Squeeze(onnx.Gelu(%x)) {axes = [0]} => %x",
            "onnx.Squeeze(%x, [0]) => onnx.Squeeze(%x) {axes = [0]}",
        ],
        expect![[r#"
            opset < 20: `onnx.Gelu` is there from version 20 on, and this asks for 19 at most.
            opset == 13: `onnx.Gelu` is there from version 20 on, and this asks for 13 at most.
            opset < 13: This never holds: `opset` has to be at least 20 already.
            not opset < 9: This never holds: `opset` has to be at most 8 already.
            opset < 1: This never holds: `opset` is a whole number from 1 on.
            opset == 13: This never holds: `opset` has to be at most 12 already.
            rank(%x) == 3: This never holds: `rank` has to be 2 already.
            rank(%x) < 0: This never holds: `rank` is a whole number from 0 on.
            dim(%x, 0) == 1.5: This never holds: `dim` is a whole number from 0 on.
            onnx.Gelu: No version has this `onnx.Gelu` and the `onnx.Squeeze` of this rule.
            onnx.Squeeze: No version has this `onnx.Squeeze` and the `onnx.Squeeze` of this rule.
        "#]],
    );
    check_fine(&[
        "onnx.Gelu(%x) => %x where opset >= 20",
        "onnx.Neg(%x) => %x where opset >= 13, opset < 20, opset(\"com.microsoft\") < 13",
        "onnx.Neg(%x) => %x where dim(%x, 0) == 1, dim(%x, 1) == 2",
        "onnx.Squeeze|onnx.Relu(%x) => %x where opset < 13, opset >= 12, opset != 13",
    ]);
}

#[test]
fn comparisons_of_what_is_never_the_same() {
    check_refused(
        &[
            "onnx.Neg(%x) => %x where opset > \"20\"",
            "onnx.Neg(%x) => %x where \"20\" < opset",
            "onnx.Neg(%x) => %x where dtype(%x) == float32",
            "onnx.Neg(%x) => %x where dtype(%x) == f23",
            "onnx.Neg(%x) => %x where dtype(%x) in [f32, half]",
            "onnx.Neg(%x) => %x where dtype(%x) == \"f32\"",
            "onnx.Neg(%x) => %x where dtype(%x) == 1",
            "onnx.Neg(%x) => %x where dtype(%x) < f32",
            "onnx.Neg(%x) => %x where rank(%x) == [1, 2]",
            "onnx.Neg(%x) => %x where rank(%x) == dtype(%x)",
            "onnx.Gelu(%x) {approximate = $a} => %x where $a == tanh",
            "onnx.Gelu(%x) {approximate = $a} => %x where $a < \"tanh\"",
            "onnx.Gelu(%x) {approximate = $a} => %x where $a == dtype(%x)",
        ],
        expect![[r#"
            "20": This is a text, and what it is compared with is a number.
              Without quotes: `20`.
            "20": This is a text, and what it is compared with is a number.
              Without quotes: `20`.
            float32: There is no dtype `float32`.
              It is called `f32` here.
            f23: There is no dtype `f23`.
              Did you mean `f32`?
            half: There is no dtype `half`.
              It is called `f16` here.
            "f32": This is a text, and what it is compared with is a dtype.
              Without quotes: `f32`.
            1: This is a number, and what it is compared with is a dtype.
            f32: Only a number is more or less than another, and this is a dtype.
            [1, 2]: This is a list, and what it is compared with is a number.
            rank(%x): This is a number, and what it is compared with is a dtype.
            tanh: No attribute is `tanh`.
              A text stands in quotes: `"tanh"`.
            "tanh": Only a number is more or less than another, and this is a text.
            $a: This is an attribute, and what it is compared with is a dtype.
        "#]],
    );
    check_fine(&[
        "onnx.Neg(%x) => %x where opset >= 20, dtype(%x) in [f32, f16], 1 < rank(%x)",
        "onnx.Gelu(%x) {approximate = $a} => %x where $a != \"tanh\"",
        "onnx.Softmax(%x) {axis = $a} => %x where $a >= 1, $a < rank(%x)",
    ]);
}

#[test]
fn operators_that_are_misspelt() {
    check_refused(
        &[
            "Relu(%x) => %x",
            "onx.Relu(%x) => %x",
            "ai.onnx.Relu(%x) => %x",
            "onnx.ReLU6(%x) => %x",
        ],
        expect![[r#"
            Relu: No plugin defines the operator `Relu`.
              Did you mean `onnx.Relu`?
            onx.Relu: No plugin defines the operator `onx.Relu`.
              Did you mean `onnx.Relu`?
            ai.onnx.Relu: No plugin defines the operator `ai.onnx.Relu`.
              Did you mean `onnx.Relu`?
            onnx.ReLU6: No plugin defines the operator `onnx.ReLU6`.
              Did you mean `onnx.Relu`?
        "#]],
    );
    // A model has ops that nobody here defines.
    check_fine(&["acme.Relu(%x) => %x", "com.microsoft.Gelu(%x) => %x"]);
}

#[test]
fn what_is_typed_by_habit() {
    check_refused(
        &[
            "onnx.Neg(%x) -> %x",
            "onnx.Neg(x) => x",
            "onnx.Add(%x, y) => %x",
            "onnx.Neg(%x) => x",
            "onnx.Neg(%x) => %x; onnx.Neg(%x)",
            "onnx.Neg(%x) # a remark\n => %x",
            "/* a remark */ onnx.Neg(%x) => %x",
        ],
        expect![[r#"
            ->: Here has to be an operator's name, not `->`.
              The arrow of a rule is `=>`, or `→`.
            x: `x` is no op: that has its operands in `(…)`.
              A value begins with `%`: `%x`.
            y: `y` is no op: that has its operands in `(…)`.
              A value begins with `%`: `%y`.
            x: `x` is no op: that has its operands in `(…)`.
              A value begins with `%`: `%x`.
            the end: Here has to be `}`, not the end.
              `;` begins a comment, up to the end of the line; nothing stands between statements.
            #: Here has to be an operator's name, not `#`.
              Comments begin with `;` or `//`, and end with the line.
            /: A rule has no use for '/'.
              Comments begin with `;` or `//`, and end with the line.
        "#]],
    );
    check_fine(&["// a remark\n onnx.Neg(%x); another\n => %x;\n"]);
}

#[test]
fn the_rules_of_the_standard_passes_apply_as_far_as_definitions_tell() {
    let ops = support::registry().op_defs();
    let all = simplify_expr::RULES.iter().copied();
    for rules in all.chain([&fold_explicit_padding::NOTHING]) {
        if let Err(error) = passdock::check_rules(rules, &ops) {
            panic!("{error}");
        }
    }
}
