//! What is said about a run: with the place underlined, in module order, and nothing twice.

use std::fmt::Write;

use expect_test::{Expect, expect};

use crate::support::{Bench, RELUS, Ran};

/// Runs passes over a model; answers what came of it without the places of libraries.
fn run(bench: &Bench, words: &str) -> Ran {
    let mut ran = bench.passdock(&format!("run {words}"));
    let plugins = bench.plugins();
    for text in [&mut ran.stderr, &mut ran.stdout] {
        *text = text.replace(&plugins, "");
    }
    ran
}

#[track_caller]
fn check(model: &str, source: &str, pass: &str, status: i32, expected: Expect) {
    let bench = Bench::new();
    bench.write(model, source);
    let ran = run(&bench, &format!("{model} --passes {pass}"));
    assert_eq!(ran.status, status, "{}\n{}", ran.stdout, ran.stderr);
    expected.assert_eq(&ran.stderr);
}

/// Counts what may be said once.
#[track_caller]
fn check_once(ran: &Ran, sentence: &str) {
    let times = ran.stderr.matches(sentence).count() + ran.stdout.matches(sentence).count();
    assert_eq!(times, 1, "{}\n{}", ran.stdout, ran.stderr);
}

#[test]
fn nothing_is_said_twice() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    bench.write(
        "nested.toml",
        "[[passes]]\nname = \"a\"\npasses = [{ name = \"b\", passes = [\"bad.transform.Complain\"] }]\n",
    );
    for words in [
        "m.ir --passes bad.transform.Complain",
        "m.ir --passes bad.transform.RunComplain",
        "nested.toml m.ir",
    ] {
        let ran = run(&bench, words);
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        check_once(&ran, "This op is slow.");
        check_once(&ran, "This op is wrong.");
    }
    for words in [
        "m.ir --passes bad.transform.Fail",
        "m.ir --passes bad.transform.RunFail",
    ] {
        let ran = run(&bench, words);
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert_eq!(
            ran.stderr.matches("an axis that is out of range").count(),
            1
        );
        assert_eq!(ran.stderr.matches("error").count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn a_pass_that_another_ran() {
    check(
        "m.ir",
        RELUS,
        "bad.transform.RunFail",
        1,
        expect![[r#"
            error[pass-failed]: This op has an axis that is out of range.
             --> m.ir:3:5
              |
            3 |     %0 = onnx.Relu(%x) : f32[2]
              |     ^^^^^^^^^^^^^^^^^^
              |
              = in pass bad.transform.Fail of plugin `libpassdock_misbehaving.so`, run by bad.transform.RunFail, function @main, op0 (onnx.Relu)
            note[reproducer]: `--reproducer-dir DIR` writes what it takes to run into this again.
        "#]],
    );
    check(
        "m.ir",
        RELUS,
        "bad.transform.RunComplain",
        1,
        expect![[r#"
            warning[bad::slow]: This op is slow.
             --> m.ir:3:5
              |
            3 |     %0 = onnx.Relu(%x) : f32[2]
              |     ^^^^^^^^^^^^^^^^^^
              |
              = in pass bad.transform.Complain of plugin `libpassdock_misbehaving.so`, run by bad.transform.RunComplain, function @main, op0 (onnx.Relu)
            error[bad::wrong]: This op is wrong.
             --> m.ir:3:5
              |
            3 |     %0 = onnx.Relu(%x) : f32[2]
              |     ^^^^^^^^^^^^^^^^^^
              |
              = in pass bad.transform.Complain of plugin `libpassdock_misbehaving.so`, run by bad.transform.RunComplain, function @main, op0 (onnx.Relu)
              = help: Remove it.
            note[reproducer]: `--reproducer-dir DIR` writes what it takes to run into this again.
        "#]],
    );
}

#[test]
fn an_error_that_ends_the_pass() {
    check(
        "m.ir",
        RELUS,
        "bad.transform.GiveUp",
        1,
        expect![[r#"
            error[bad::lower]: This op can't be lowered.
             --> m.ir:3:10
              |
            3 |     %0 = onnx.Relu(%x) : f32[2]
              |          ^^^^^^^^^
              |
              = in pass bad.transform.GiveUp of plugin `libpassdock_misbehaving.so`, function @main, op0 (onnx.Relu)
            note[reproducer]: `--reproducer-dir DIR` writes what it takes to run into this again.
        "#]],
    );
}

#[test]
fn several_places_notes_and_help() {
    check(
        "m.ir",
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) {
    %0 = onnx.Softmax(%x) {axis = 0} : f32[2]
    %1 = onnx.Relu(%0) : f32[2]
    return %1
  }
  fn @other(%a: f32[2]) -> (%b: f32[2]) {
    %0 = onnx.Softmax(%a) {beta = [1, 2], axis = -1} : f32[2]
    return %0
  }
}
"#,
        "bad.transform.Point",
        0,
        expect![[r#"
            warning[bad::fit]: These ops don't fit together.
             --> m.ir:3:23
              |
            3 |     %0 = onnx.Softmax(%x) {axis = 0} : f32[2]
              |                       ^^   -------- an axis
              |                       |
              |                       takes this
              |
             ::: m.ir:4:20
              |
            4 |     %1 = onnx.Relu(%0) : f32[2]
              |     ------------------
              |     |              |
              |     |              takes this
              |     an axis
              |
             ::: m.ir:8:23
              |
            8 |     %0 = onnx.Softmax(%a) {beta = [1, 2], axis = -1} : f32[2]
              |                       -- takes this       --------- an axis
              |
              | return %0
              | ---------
              | |      |
              | |      takes this
              | an axis
              |
              = in pass bad.transform.Point of plugin `libpassdock_misbehaving.so`, function @main, op0 (onnx.Softmax)
              = note: They did once.
              = note: Nobody knows when.
              = help: Retrain the model.
        "#]],
    );
}

#[test]
fn an_op_that_a_node_is_named_for() {
    let bench = Bench::new();
    let source = RELUS.replacen("f32[2]\n", "f32[2] loc(\"first relu\")\n", 1);
    bench.write("m.ir", source);
    // The text is there to be shown, whatever the op's location is.
    let ran = run(&bench, "m.ir --passes bad.transform.Fail");
    expect![[r#"
        error[pass-failed]: This op has an axis that is out of range.
         --> m.ir:3:5
          |
        3 |     %0 = onnx.Relu(%x) : f32[2] loc("first relu")
          |     ^^^^^^^^^^^^^^^^^^
          |
          = in pass bad.transform.Fail of plugin `libpassdock_misbehaving.so`, function @main, op0 (onnx.Relu)
        note[reproducer]: `--reproducer-dir DIR` writes what it takes to run into this again.
    "#]].assert_eq(&ran.stderr);
    assert_eq!(bench.passdock("convert m.ir m.onnx").status, 0);
    let ran = run(&bench, "m.onnx --passes bad.transform.Complain");
    expect![[r#"
        warning[bad::slow]: This op is slow.
        --> first relu
         |
         | %Relu_4 = onnx.Relu(%x)
         | ^^^^^^^^^^^^^^^^^^^^^^^
         |
         = in pass bad.transform.Complain of plugin `libpassdock_misbehaving.so`, function @main, op0 (onnx.Relu)
        error[bad::wrong]: This op is wrong.
        --> first relu
         |
         | %Relu_4 = onnx.Relu(%x)
         | ^^^^^^^^^^^^^^^^^^^^^^^
         |
         = in pass bad.transform.Complain of plugin `libpassdock_misbehaving.so`, function @main, op0 (onnx.Relu)
         = help: Remove it.
        note[reproducer]: `--reproducer-dir DIR` writes what it takes to run into this again.
    "#]].assert_eq(&ran.stderr);
    let ran = run(&bench, "m.onnx --passes bad.transform.Point");
    expect![[r#"
        warning[bad::fit]: These ops don't fit together.
        --> first relu
         |
         | %Relu_4 = onnx.Relu(%x)
         | --------------------^^-
         | |                   |
         | |                   takes this
         | an axis
         |
         | %y = onnx.Relu(%Relu_4) : f32[2]
         | -----------------------
         | |              |
         | |              takes this
         | an axis
         |
         = in pass bad.transform.Point of plugin `libpassdock_misbehaving.so`, function @main, op0 (onnx.Relu)
         = note: They did once.
         = note: Nobody knows when.
         = help: Retrain the model.
    "#]].assert_eq(&ran.stderr);
}

#[test]
fn diagnostics_as_json() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let ran = run(&bench, "m.ir --passes bad.transform.Complain --json");
    let report = ran.json();
    assert_eq!(report["exit_status"], 1);
    assert_eq!(report["passes"][0]["status"], "failed");
    let said = &report["diagnostics"];
    let codes = said.as_array().into_iter().flatten();
    let codes: Vec<_> = codes.map(|one| one["code"].clone()).collect();
    assert_eq!(codes, ["bad::slow", "bad::wrong", "reproducer"], "{said}");
    let text = serde_json::to_string_pretty(&said[1]).expect("it was read");
    expect![[r#"
        {
          "code": "bad::wrong",
          "file": "libpassdock_misbehaving.so",
          "function": "main",
          "help": "Remove it.",
          "location": "m.ir:3:5",
          "message": "This op is wrong.",
          "op": "op0 (onnx.Relu)",
          "pass": "bad.transform.Complain",
          "plugin": "bad",
          "severity": "error",
          "snippet": {
            "column": 5,
            "end": 22,
            "file": "m.ir",
            "label": "",
            "line": 3,
            "start": 4,
            "text": "    %0 = onnx.Relu(%x) : f32[2]"
          }
        }"#]]
    .assert_eq(&text);
}

#[test]
fn functions_that_run_at_once_speak_in_module_order() {
    let bench = Bench::new();
    let mut source = "module {\n".to_owned();
    for at in 0..40 {
        // Enough ops that several threads take part.
        let mut body = String::new();
        for op in 0..150 {
            let operand = if op == 0 {
                "x".to_owned()
            } else {
                (op - 1).to_string()
            };
            let _ = writeln!(body, "    %{op} = onnx.Relu(%{operand}) : f32[2]");
        }
        let _ = write!(
            source,
            "  fn @f{at}(%x: f32[2]) -> (%y: f32[2]) {{\n{body}    return %149\n  }}\n"
        );
    }
    bench.write("m.ir", source + "}\n");
    let said = |jobs: u32| {
        let words = format!("m.ir --passes bad.transform.ComplainTogether --jobs {jobs}");
        run(&bench, &words).stderr
    };
    let one = said(1);
    assert_eq!(one, said(2));
    let places: Vec<&str> = one
        .lines()
        .filter(|line| line.contains("= in pass"))
        .collect();
    assert_eq!(places.len(), 80, "{one}");
    for (at, place) in places.iter().enumerate() {
        assert!(
            place.contains(&format!("function @f{},", at / 2)),
            "{place}"
        );
    }
}

#[test]
fn config_on_the_command_line_is_underlined() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let check = |setting: &str, expected: Expect| {
        let run = ["run", "m.ir", "--passes", "tir.transform.UnrollLoop"];
        let ran = bench.run(run.into_iter().chain(["--config", setting]), "");
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        expected.assert_eq(&ran.stderr);
    };
    check(
        "tir.UnrolLoop.auto_max_step=1",
        expect![[r#"
            error[config]: Invalid config option `tir.UnrolLoop.auto_max_step`; candidates are: `tir.UnrollLoop`, `relax.BindParams`, `relax.BindSymbolicVars`, `relax.DeadCodeElimination`, `relax.DecomposeOps`, `relax.FoldConstant`, `relax.SimplifyInference`, `relax.fallback_device_type`, `testing.immutable_module`.
            --> --config
             |
             | tir.UnrolLoop.auto_max_step=1
             | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
             |
             = help: Did you mean `tir.UnrollLoop`?
        "#]],
    );
    check(
        "tir.UnrollLoop.auto_max_stp=1",
        expect![[r#"
            error[config]: `tir.UnrollLoop` has no field `auto_max_stp`.
            --> --config
             |
             | tir.UnrollLoop.auto_max_stp=1
             |                ^^^^^^^^^^^^
             |
             = help: Did you mean `auto_max_step`?
        "#]],
    );
    check(
        "tir.UnrollLoop.auto_max_step=\"1\"",
        expect![[r#"
            error[config]: Expected the field `auto_max_step` of `tir.UnrollLoop` to be an int, but got the string "1".
            --> --config
             |
             | tir.UnrollLoop.auto_max_step="1"
             |                              ^^^
             |
             = help: Write 1 without quotes.
        "#]],
    );
    check(
        "tir.UnrollLoop={ auto_max_step = true }",
        expect![[r#"
            error[config]: Expected the field `auto_max_step` of `tir.UnrollLoop` to be an int, but got the bool true.
            --> --config
             |
             | tir.UnrollLoop={ auto_max_step = true }
             |                ^^^^^^^^^^^^^^^^^^^^^^^^
        "#]],
    );
    check(
        "tir.UnrollLoop.auto_max_step=",
        expect![[r#"
            error[config]: The value isn't TOML.
            --> --config
             |
             | tir.UnrollLoop.auto_max_step=
             |                              ^
             |
             = help: It is an int ≥ 0.
        "#]],
    );
    check(
        "tir.UnrollLoop.auto_max_step",
        expect![[r#"
            error[config]: `--config` needs a value.
            --> --config
             |
             | tir.UnrollLoop.auto_max_step
             | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
             |
             = help: Write `--config KEY=VALUE`.
        "#]],
    );
    check(
        "tir.UnrollLoop.auto_max_step=-1",
        expect![[r#"
            error[config]: Expected the field `auto_max_step` of `tir.UnrollLoop` to be ≥ 0, but got the int -1.
            --> --config
             |
             | tir.UnrollLoop.auto_max_step=-1
             |                              ^^
        "#]],
    );
}

#[test]
fn attributes_that_an_operator_hasnt_are_told() {
    check(
        "m.ir",
        "module {
  fn @main(%x: f32[n,4], %w: f32[8,4,3]) -> (%y) opset(\"\" = 17) {
    %0 = onnx.Cast(%x) {saturate = 1}
    %y = onnx.Conv(%0, %w) {kernel_shapes = [3], group = 1.0}
    return %y
  }
}",
        "relax.transform.InferType",
        0,
        expect![[r#"
            warning[relax::malformed-op]: onnx.Cast has no attribute `saturate`. onnx.Cast lacks its attribute `to`.
             --> m.ir:3:5
              |
            3 |     %0 = onnx.Cast(%x) {saturate = 1}
              |     ^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.InferType of plugin `libpassdock_relax.so`, function @main, op0 (onnx.Cast)
              = help: `passdock list ops onnx.Cast` shows its operands and attributes.
            warning[relax::malformed-op]: onnx.Conv has no attribute `kernel_shapes`. Did you mean `kernel_shape`? The attribute `group` of onnx.Conv is of the type float; it has to be int.
             --> m.ir:4:5
              |
            4 |     %y = onnx.Conv(%0, %w) {kernel_shapes = [3], group = 1.0}
              |     ^^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass relax.transform.InferType of plugin `libpassdock_relax.so`, function @main, op1 (onnx.Conv)
              = help: `passdock list ops onnx.Conv` shows its operands and attributes.
        "#]],
    );
}

#[test]
fn operators_that_nobody_defines_are_told_once() {
    check(
        "m.ir",
        "module {
  fn @main(%x: f32[n]) -> (%y) opset(\"\" = 17, \"com.acme\" = 1) {
    %0 = com.acme.Foo(%x)
    %1 = com.acme.Foo(%0)
    %2 = com.acme.Bar(%1)
    %3 = onnx.Gelu(%2)
    %4 = com.acme.Own(%3)
    return %4
  }
  fn @com.acme.Own(%x) -> (%y) opset(\"\" = 17) {
    %0 = onnx.Relu(%x)
    return %0
  }
}",
        "relax.transform.InferType,relax.transform.DeadCodeElimination",
        0,
        expect![[r#"
            warning[unknown-operators]: No plugin defines 3 operators of the model (4 ops).
             |
             = note: ONNX's own domain: 1 Gelu (defined from version 20 on)
             = note: com.acme: 2 Foo, 1 Bar
             = help: Passes leave such ops where they are and know nothing of their results. A plugin may define them; `passdock list ops` shows what is defined.
        "#]],
    );
    // All of it is defined.
    check(
        "m.ir",
        "module { fn @main(%x: f32[n]) -> (%y) opset(\"\" = 20) { %0 = onnx.Gelu(%x) return %0 } }",
        "relax.transform.InferType",
        0,
        expect![[r#""#]],
    );
}

#[test]
fn a_note_is_told_once_however_often_its_pass_runs() {
    check(
        "m.ir",
        "module {
  fn @main(%x: f32[n,1000]) -> (%y: f32[n,1000]) opset(\"\" = 17) {
    %one = const f32[1] [1.0]
    %size = const i64[2] [1000, 1000]
    %\"/t/table\" = onnx.Expand(%one, %size)
    %y = onnx.MatMul(%x, %\"/t/table\")
    return %y
  }
}",
        "relax.transform.FoldConstant,relax.transform.FoldConstant",
        0,
        expect![[r#"
            note[relax::not-folded]: 1 op on constants is not folded.
             |
             = in pass relax.transform.FoldConstant of plugin `libpassdock_relax.so`, function @main
             = note: 1 onnx.Expand (%"/t/table"): would make the model larger (4000 kB; --allow-growth folds it).
        "#]],
    );
}
