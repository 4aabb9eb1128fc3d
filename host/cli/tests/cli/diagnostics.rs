//! What is said about a run: with the place underlined, in module order, and nothing twice.

use std::fmt::Write;

use expect_test::expect;

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

/// What an op's definition does wrong is told with the pass that asked, and the definition's plugin.
#[test]
fn json_names_the_definition_that_failed() {
    let bench = Bench::new();
    for (how, pass, code) in [
        ("panics", "FoldConstant", "pass-failed"),
        ("contradicts", "FoldConstant", "pass-failed"),
        ("panics", "DecomposeOps", "pass-failed"),
        ("body takes two", "DecomposeOps", "pass-failed"),
        ("infer panics", "InferType", "relax::infer-type"),
        ("infer refuses", "InferType", "relax::infer-type"),
        ("infer contradicts", "InferType", "relax::infer-type"),
    ] {
        let text = RELUS.replace("\"\" = 17", "\"\" = 17, \"bad\" = 1");
        let op = format!("bad.Odd(%c) {{how = \"{how}\"}}");
        let text = text.replace("onnx.Relu(%x)", &op);
        let text = text.replace("    %0", "    %c = const f32[2] [1.0, 2.0]\n    %0");
        bench.write("m.ir", text);
        let report = run(&bench, &format!("m.ir --passes {pass} --json")).json();
        let said = &report["diagnostics"][0];
        assert_eq!(said["code"], code, "{how}: {report}");
        assert_eq!(said["plugin"], "relax", "{how}");
        assert_eq!(said["pass"], format!("relax.transform.{pass}"), "{how}");
        let definition = &said["definition"];
        assert_eq!(definition["op"], "bad.Odd", "{how}: {said}");
        assert_eq!(definition["plugin"], "bad", "{how}");
        assert_eq!(definition["file"], "libpassdock_misbehaving.so", "{how}");
    }
    // What a pass says itself of an op isn't its definition's.
    bench.write("m.ir", RELUS);
    let report = run(
        &bench,
        "m.ir --passes InferType,bad.transform.Complain --json",
    )
    .json();
    assert!(report["diagnostics"][0]["definition"].is_null(), "{report}");
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

/// Each function calls the next one twice: written out, that would be 2^40 ops.
#[test]
fn calls_that_stay_at_the_bound_are_told() {
    let bench = Bench::new();
    let mut model = String::from(
        "module { fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17, \"acme\" = 1) {\n\
         %y = acme.F0(%x) : f32[2] return %y }\n",
    );
    for at in 0..40 {
        let next = match at {
            39 => "onnx.Neg".to_owned(),
            at => format!("acme.F{}", at + 1),
        };
        model += &format!(
            "fn @acme.F{at}(%x) -> (%y) opset(\"\" = 17, \"acme\" = 1) {{\n\
             %a = {next}(%x) %y = {next}(%a) return %y }}\n"
        );
    }
    bench.write("m.ir", model + "}");
    let pipeline = "[[passes]]\nname = 'InlineFunctions'\noptions = { max_ops = 1000 }\n";
    bench.write("p.toml", pipeline);
    let ran = bench.passdock("run p.toml m.ir");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    expect![[r#"
        note[relax::not-inlined]: The call of `acme.F31` isn't inlined: its caller would have 1027 ops (`max_ops` is 1000). All 2: `--notes`.
        note[relax::not-inlined]: The call of `acme.F29` isn't inlined: functions that stay have 1021 ops more already (`max_ops` is 1000). All 59: `--notes`.
    "#]]
    .assert_eq(&ran.stderr);
}

#[test]
fn ops_that_no_definition_fits_are_told_with_the_pass() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let ran = bench.passdock("run m.ir -o out.ir --passes bad.transform.UseUnknownOp");
    expect![[r#"
        warning[made-ops]: Passes made ops that no op definition fits.
         |
         = note: 2 ops in @main: No plugin defines the operator `bad.FastRelu`.
         = note: passes that changed what they are in: `bad.transform.UseUnknownOp`
         = help: `passdock blame` says which pass made an op. A plugin defines its own operators, or the pass adds an opset of a domain that only a back end knows.
    "#]].assert_eq(&ran.stderr);
    assert_eq!(ran.status, 0);
    let ran = bench.passdock("run out.ir --passes bad.transform.Count");
    let warns = ran.stderr.starts_with("warning[unknown-operators]");
    assert!(warns, "{}", ran.stderr);
}
