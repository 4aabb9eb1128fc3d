//! `passdock diff`: the output for each kind of difference.

use expect_test::{Expect, expect};

use crate::support::{Bench, Ran};

/// A graph with three ops and a weight.
pub(crate) const BASE: &str = r#"module {
  metadata "onnx.ir_version" = "8"
  fn @main(%x: f32[n,4], %s: f32[1]) -> (%y: f32[n,4]) opset("" = 17) {
    %w = const f32[4] [1.0, 2.0, 3.0, 4.0]
    %a = onnx.Mul(%x, %w) : f32[n,4] loc("scale")
    %b = onnx.Relu(%a) : f32[n,4]
    %c = onnx.Softmax(%b) {axis = 1} : f32[n,4]
    return %c
  }
}
"#;

/// Runs `passdock diff` on two models.
pub(crate) fn run(old: &str, new: &str, options: &str) -> Ran {
    let bench = Bench::new();
    bench.write("a.ir", old).write("b.ir", new);
    bench.passdock(&format!("diff a.ir b.ir {options}"))
}

/// Compares the report on two different models with the expected one.
#[track_caller]
pub(crate) fn check(old: &str, new: &str, expected: Expect) {
    let ran = run(old, new, "");
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""), "{}", ran.stdout);
    expected.assert_eq(&ran.stdout);
}

/// Compares the report on an edited [`BASE`]. Each edit replaces the first string with the second.
#[track_caller]
fn check_edited(edits: &[(&str, &str)], expected: Expect) {
    let mut new = BASE.to_owned();
    for (from, to) in edits {
        assert!(new.contains(from), "`{from}` not found");
        new = new.replace(from, to);
    }
    check(BASE, &new, expected);
}

#[test]
fn equal_models_print_nothing() {
    let ran = run(BASE, BASE, "");
    assert_eq!(
        (ran.status, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "", "")
    );
    let ran = run(BASE, BASE, "--text");
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
}

#[test]
fn op_inserted_on_an_edge() {
    let new = "%b = onnx.Relu(%a) : f32[n,4]\n    %d = onnx.Neg(%b) : f32[n,4]";
    let edits = [
        ("%b = onnx.Relu(%a) : f32[n,4]", new),
        ("Softmax(%b)", "Softmax(%d)"),
    ];
    check_edited(
        &edits,
        expect![[r#"
        fn @main: 3 → 4 ops
          ops: 1 added
            + %d = onnx.Neg(%b) : f32[n,4]
                %c = onnx.Softmax, operand 0: %b → %d
        ops: 1 added
    "#]],
    );
}

#[test]
fn removed_op() {
    check_edited(
        &[
            ("    %b = onnx.Relu(%a) : f32[n,4]\n", ""),
            ("Softmax(%b)", "Softmax(%a)"),
        ],
        expect![[r#"
            fn @main: 3 → 2 ops
              ops: 1 removed
                - %b = onnx.Relu(%a) : f32[n,4]
                    %c = onnx.Softmax, operand 0: %b → %a
            ops: 1 removed
        "#]],
    );
}

#[test]
fn folded_op() {
    check_edited(
        &[
            ("    %a = onnx.Mul(%x, %w) : f32[n,4] loc(\"scale\")\n", ""),
            (
                "    %w = const f32[4] [1.0, 2.0, 3.0, 4.0]\n",
                "    %k = const f32[1,4] [5.0, 6.0, 7.0, 8.0]\n",
            ),
            ("Relu(%a)", "Relu(%k)"),
        ],
        expect![[r#"
            fn @main: 3 → 2 ops
              ops: 1 removed
                - %a = onnx.Mul(%x, %w) : f32[n,4]
                    folded to the constant %k = f32[1,4] [5.0, 6.0, 7.0, 8.0]
              constants: 1 added, 1 removed (1 replacing ops above, 1 removed with their users)
            ops: 1 removed; constants: 1 added, 1 removed
        "#]],
    );
}

#[test]
fn replaced_operator() {
    check_edited(
        &[("onnx.Relu", "com.microsoft.Gelu")],
        expect![[r#"
        fn @main
          ops: 1 changed
            ~ %b = com.microsoft.Gelu(%a) : f32[n,4]
                onnx.Relu → com.microsoft.Gelu
        ops: 1 changed
    "#]],
    );
}

#[test]
fn changed_attributes() {
    check_edited(
        &[("{axis = 1}", "{axis = -1, note = \"new\"}")],
        expect![[r#"
            fn @main
              ops: 1 changed
                ~ %c = onnx.Softmax(%b) {axis = -1, note = "new"} : f32[n,4]
                    axis: 1 → -1
                    note: "new" added
            ops: 1 changed
        "#]],
    );
}

#[test]
fn changed_operands() {
    check_edited(
        &[("Mul(%x, %w)", "Mul(%x, %s)")],
        expect![[r#"
        fn @main
          ops: 1 changed
            ~ %a = onnx.Mul(%x, %s) : f32[n,4]
                operand 1: %w → %s
        ops: 1 changed
    "#]],
    );
    check_edited(
        &[("Softmax(%b)", "Softmax(%b, _, %s)")],
        expect![[r#"
        fn @main
          ops: 1 changed
            ~ %c = onnx.Softmax(%b, _, %s) {axis = 1} : f32[n,4]
                operand 2: none → %s
        ops: 1 changed
    "#]],
    );
}

#[test]
fn inserted_and_removed_operands() {
    let text = |operands: &str| {
        format!(
            "module {{ fn @main(%x: f32[n]) -> (%y: f32[n]) {{\n\
             %a = onnx.Relu(%x) : f32[n]\n%b = onnx.Neg(%x) : f32[n]\n%c = onnx.Abs(%x) : f32[n]\n\
             %y = onnx.Concat({operands}) {{axis = 0}} : f32[n]\nreturn %y }} }}"
        )
    };
    let old = text("%a, %b, %c, %x");
    check(
        &old,
        &text("%b, %c, %x"),
        expect![[r#"
        fn @main
          ops: 1 changed
            ~ %y = onnx.Concat(%b, %c, %x) {axis = 0} : f32[n]
                operand 0: %a → none
        ops: 1 changed
    "#]],
    );
    check(
        &old,
        &text("%a, %b, %b, %c, %x"),
        expect![[r#"
        fn @main
          ops: 1 changed
            ~ %y = onnx.Concat(%a, %b, %b, %c, %x) {axis = 0} : f32[n]
                operand 2: none → %b
        ops: 1 changed
    "#]],
    );
}

#[test]
fn changed_weights_with_changed_names() {
    let text = |name: &str, add: u32| {
        let mut text = String::from("module { fn @main(%x: f32[n]) -> (%y: f32[n]) {\n");
        for layer in 0..4 {
            let weight = layer + add;
            text.push_str(&format!(
                "%{name}w{layer} = const f32[2] [{weight}.0, 1.0]\n"
            ));
        }
        let mut last = "x".to_owned();
        for layer in 0..4 {
            text.push_str(&format!(
                "%{name}m{layer} = onnx.Mul(%{last}, %{name}w{layer}) : f32[n]\n\
                 %{name}r{layer} = onnx.Relu(%{name}m{layer}) : f32[n]\n"
            ));
            last = format!("{name}r{layer}");
        }
        text + &format!("return %{last} }} }}")
    };
    check(
        &text("a", 0),
        &text("b", 10),
        expect![[r#"
        fn @main
          constants: 4 changed
            ~ %bw0 = f32[2] [0.0, 1.0] → f32[2] [10.0, 1.0]
                1 of 2 elements differ, by 10 at most
            ~ %bw1 = f32[2] [1.0, 1.0] → f32[2] [11.0, 1.0]
                1 of 2 elements differ, by 10 at most
            ~ %bw2 = f32[2] [2.0, 1.0] → f32[2] [12.0, 1.0]
                1 of 2 elements differ, by 10 at most
            ~ %bw3 = f32[2] [3.0, 1.0] → f32[2] [13.0, 1.0]
                1 of 2 elements differ, by 10 at most
          renamed: 12 values
            ~ `aw0` → `bw0`
            ~ `aw1` → `bw1`
            ~ `aw2` → `bw2`
            ~ `aw3` → `bw3`
            ~ `am0` → `bm0`
            ~ `ar0` → `br0`
            ~ `am1` → `bm1`
            ~ `ar1` → `br1`
            ~ `am2` → `bm2`
            ~ `ar2` → `br2`
            ~ `am3` → `bm3`
            ~ `ar3` → `br3`
        constants: 4 changed; values: 12 renamed
    "#]],
    );
}

#[test]
fn changed_constant_data() {
    check_edited(
        &[("[1.0, 2.0, 3.0, 4.0]", "[1.0, 2.5, 3.0, 3.0]")],
        expect![[r#"
            fn @main
              constants: 1 changed
                ~ %w = f32[4] [1.0, 2.0, 3.0, 4.0] → f32[4] [1.0, 2.5, 3.0, 3.0]
                    2 of 4 elements differ, by 1 at most
            constants: 1 changed
        "#]],
    );
    check_edited(
        &[("f32[4] [1.0, 2.0, 3.0, 4.0]", "f64[4] splat(1.0)")],
        expect![[r#"
            fn @main
              constants: 1 changed
                ~ %w = f32[4] [1.0, 2.0, 3.0, 4.0] → f64[4] splat(1.0)
            constants: 1 changed
        "#]],
    );
}

#[test]
fn renames_only() {
    check_edited(
        &[("%a", "%first"), ("\"scale\"", "\"mul_1\"")],
        expect![[r#"
            fn @main
              renamed: 1 value
                ~ `a` → `first`
              ONNX nodes renamed: 1 op
                ~ %first = onnx.Mul: `scale` → `mul_1`
            values: 1 renamed; nodes: 1 renamed
        "#]],
    );
}

#[test]
fn many_renames() {
    let text = |prefix: &str| {
        let ops = (1..200).map(|at| {
            let before = at - 1;
            format!("%{prefix}{at} = onnx.Relu(%{prefix}{before}) : f32[n]\n")
        });
        let ops: String = ops.collect();
        format!(
            "module {{ fn @main(%x: f32[n]) -> (%y: f32[n]) {{\n\
             %{prefix}0 = onnx.Neg(%x) : f32[n]\n{ops} return %{prefix}199 }} }}"
        )
    };
    check(
        &text("a"),
        &text("b"),
        expect![[r#"
        fn @main
          renamed: 200 values (--all lists them)
        values: 200 renamed
    "#]],
    );
    let ran = run(&text("a"), &text("b"), "--all");
    assert!(
        ran.stdout.contains("    ~ `a199` → `b199`\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn renumbered_values() {
    // An exporter that numbers its values: after one additional op, all other values are renamed.
    let text = |has_extra_op: bool| {
        let mut next = 10;
        let mut text = String::from("module { fn @main(%x: f32[n]) -> (%y: f32[n]) {\n");
        let mut last = "%x".to_owned();
        for layer in 0..6 {
            for kind in ["onnx.Add", "onnx.Relu", "onnx.Neg"] {
                if kind == "onnx.Neg" && !(has_extra_op && layer == 1) {
                    continue;
                }
                let attrs = if kind == "onnx.Add" {
                    format!("{{layer = {layer}}}")
                } else {
                    String::new()
                };
                text.push_str(&format!("%v{next} = {kind}({last}) {attrs} : f32[n]\n"));
                last = format!("%v{next}");
                next += 1;
            }
        }
        text + &format!("return {last} }} }}")
    };
    check(
        &text(false),
        &text(true),
        expect![[r#"
            fn @main: 12 → 13 ops
              ops: 1 added
                + %v14 = onnx.Neg(%v13) : f32[n]
                    %v15 = onnx.Add, operand 0: %v13 → %v14
              renamed: 8 values
                ~ `v14` → `v15`
                ~ `v15` → `v16`
                ~ `v16` → `v17`
                ~ `v17` → `v18`
                ~ `v18` → `v19`
                ~ `v19` → `v20`
                ~ `v20` → `v21`
                ~ `v21` → `v22`
            ops: 1 added; values: 8 renamed
        "#]],
    );
}

#[test]
fn changed_types() {
    check_edited(
        &[(
            "%b = onnx.Relu(%a) : f32[n,4]",
            "%b = onnx.Relu(%a) : f32[m,4]",
        )],
        expect![[r#"
            fn @main
              types of values: 1 changed
                ~ %b: f32[n,4] → f32[m,4]
            values: 1 retyped
        "#]],
    );
}

#[test]
fn changed_inputs_and_outputs() {
    check_edited(
        &[
            ("%x: f32[n,4]", "%x: f32[8,4]"),
            ("%s: f32[1]", "%s: f32[1] = const f32[1] [2.0]"),
        ],
        expect![[r#"
            fn @main
              ~ input %x: type f32[n,4] → f32[8,4]
              ~ input %s: default none → f32[1] [2.0]
            inputs and outputs: 2 changed
        "#]],
    );
    check_edited(
        &[(
            "(%x: f32[n,4], %s: f32[1])",
            "(%s: f32[1], %x: f32[n,4], %m: i64[])",
        )],
        expect![[r#"
            fn @main
              ~ input %s: index 1 → 0
              + input %m: i64[]
            inputs and outputs: 2 changed
        "#]],
    );
    check_edited(
        &[("%s", "%scale"), ("%y:", "%probabilities:")],
        expect![[r#"
            fn @main
              ~ input %scale: renamed from `s`
              ~ output %probabilities: renamed from `y`
            inputs and outputs: 2 changed
        "#]],
    );
    check_edited(
        &[
            ("(%y: f32[n,4])", "(%y: f32[n,4], %z: f32[n,4])"),
            ("return %c", "return %c, %b"),
        ],
        expect![[r#"
            fn @main
              + output %z: f32[n,4]
            inputs and outputs: 1 changed
        "#]],
    );
    check_edited(
        &[("return %c", "return %b")],
        expect![[r#"
            fn @main
              ~ output %y: value %c → %b
            inputs and outputs: 1 changed
        "#]],
    );
}

#[test]
fn header_and_opsets() {
    check_edited(
        &[
            (
                "metadata \"onnx.ir_version\" = \"8\"",
                "metadata \"onnx.ir_version\" = \"9\"\n  metadata \"onnx.producer_name\" = \"acme\"",
            ),
            (
                "opset(\"\" = 17)",
                "opset(\"\" = 18, \"com.acme\" = 1) attributes {SkipOptimization = 1}",
            ),
        ],
        expect![[r#"
            model
              ~ onnx.ir_version: 8 → 9
              + onnx.producer_name: acme
            fn @main
              ~ opset "": 17 → 18
              + opset "com.acme": 1
              + attribute SkipOptimization: 1
            settings: 5 changed
        "#]],
    );
}

#[test]
fn added_and_removed_functions() {
    let function = |name: &str| {
        format!(
            "  fn @{name}(%x: f32[n]) -> (%y: f32[n]) {{\n    %0 = onnx.Relu(%x) : f32[n]\n    return %0\n  }}\n}}\n"
        )
    };
    let with_function = |name: &str| {
        format!(
            "{}{}",
            BASE.trim_end().trim_end_matches('}'),
            function(name)
        )
    };
    check(
        &with_function("f"),
        &with_function("g"),
        expect![[r#"
        + fn @g: 1 op
        - fn @f: 1 op
        functions: 1 added, 1 removed
    "#]],
    );
}

/// A name may move from one value to another, and may need quotes in textual IR.
#[test]
fn name_reused_by_another_value() {
    let text = |ops: &str| {
        format!(
            "module {{ fn @main(%x: f32[n]) -> (%\"/z\": f32[n]) {{\n{ops} return %\"/z\" }} }}"
        )
    };
    check(
        &text("%\"/z\" = onnx.Relu(%x)"),
        &text("%\"/y\" = onnx.Relu(%x)\n%\"/z\" = onnx.Abs(%\"/y\")"),
        expect![[r#"
            fn @main: 1 → 2 ops
              ops: 1 added
                + %"/z" = onnx.Abs(%"/y")
                    output %"/z": %"/z" → new %"/z"
              renamed: 1 value
                ~ `/z` → `/y`
            ops: 1 added; values: 1 renamed
        "#]],
    );
}
