//! `bisect` and `reduce` on models of 1,000 ops with planted bugs.

use std::fmt::Write;

use expect_test::{Expect, expect};

use crate::support::{Bench, Ran, passdock};

/// Ten functions of 100 ops each, called by `@main`. Each is a chain of elementwise ops with an `Identity`. Only `@f6`
/// has the ops that `bad.transform.SwapSub` and `bad.transform.PanicOnErf` handle incorrectly.
pub(crate) fn model() -> String {
    let mut text =
        "module {\n  fn @main(%x: f32[8]) -> (%y: f32[8]) opset(\"\" = 17) {\n".to_owned();
    let mut last = "%x".to_owned();
    for f in 0..10 {
        writeln!(
            text,
            "    %r{f} = call({last}) {{callee = \"f{f}\"}} : f32[8]"
        )
        .unwrap();
        last = format!("%r{f}");
    }
    writeln!(text, "    return {last}\n  }}").unwrap();
    for f in 0..10 {
        writeln!(
            text,
            "  fn @f{f}(%v0: f32[8]) -> (%y: f32[8]) opset(\"\" = 17) {{"
        )
        .unwrap();
        for op in 1..=100 {
            let before = op - 1;
            let other = before / 2;
            let op_text = match (f, op) {
                (6, 41) => "onnx.Abs(%v40)".to_owned(),
                (6, 42) => "onnx.Sub(%v40, %v41)".to_owned(),
                (6, 70) => format!("onnx.Add(%v{before}, %v{other})"),
                (6, 71) => "onnx.Erf(%v70)".to_owned(),
                (_, 50) => format!("onnx.Identity(%v{before})"),
                (_, op) if op % 7 == 0 => format!("onnx.Sub(%v{before}, %v{other})"),
                (_, op) if op % 5 == 0 => format!("onnx.Mul(%v{before}, %v{other})"),
                (_, op) if op % 11 == 0 => "onnx.Erf(%v0)".to_owned(),
                _ => format!("onnx.Tanh(%v{before})"),
            };
            writeln!(text, "    %v{op} = {op_text} : f32[8]").unwrap();
        }
        writeln!(text, "    return %v100\n  }}").unwrap();
    }
    text + "}\n"
}

/// A pipeline in which `SwapSub` is the sixth of nine passes that change the module. In a model without types,
/// `InferType` changes it, too.
const PIPELINE: &str = r#"
[[instruments]]
name = "print-after"
[[passes]]
name = "cleanup"
passes = ["bad.transform.Count", "bad.transform.Count", "relax.transform.InferType"]
[[passes]]
name = "bad.transform.Count"
[[passes]]
name = "bad.transform.Count"
[[passes]]
name = "bad.transform.Count"
[[passes]]
name = "nested"
passes = ["bad.transform.SwapSub", "bad.transform.Count"]
[[passes]]
name = "bad.transform.Count"
[[passes]]
name = "bad.transform.Count"
"#;

/// Returns the command that checks the operands of that `Sub`, in either format.
fn check_sub() -> String {
    let passdock = passdock();
    let passdock = passdock.display();
    format!("{passdock} convert {{}} - | grep -q 'onnx.Sub(%v40, %v41)'")
}

pub(crate) fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("m.ir", model()).write("p.toml", PIPELINE);
    bench
}

fn run(bench: &Bench, words: &[&str]) -> Ran {
    bench.run(words.iter().copied(), "")
}

#[test]
fn bisect_finds_the_pass_and_the_function() {
    let bench = bench();
    let check = check_sub();
    let ran = run(
        &bench,
        &["bisect", "p.toml", "m.ir", "--test", &check, "-o", "found"],
    );
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    expect![[r#"
        good          before any pass
        bad           after 9 of 9: bad.transform.Count
        good          after 4 of 9: bad.transform.Count
        bad           after 6 of 9: bad.transform.SwapSub
        good          after 5 of 9: bad.transform.Count
        good          with changes in @f0, @f1 and 3 others only
        bad           with changes in @f5, @f6 and 3 others only
        bad           with changes in @f5, @f6, @f7 only
        bad           with changes in @f5, @f6 only
        good          with changes in @f5 only
        bad           with changes in @f6 only
        bad.transform.SwapSub of plugin bad breaks the model, in function @f6
        10 passes ran, of which 9 changed the model; 11 checks
        before it     found/good.ir
        after it      found/bad.ir
        compare       passdock diff found/good.ir found/bad.ir
        run it again  passdock replay found/reproducer --trust
    "#]]
    .assert_eq(&ran.stdout);
    assert_eq!(bench.files(), ["found", "m.ir", "p.toml"]);
    let ran = bench.passdock("diff found/good.ir found/bad.ir");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    // The reproducer runs only the pass, on the good model.
    let words = "run found/reproducer/pipeline.toml found/reproducer/before.ir -o again.ir";
    assert_eq!(bench.passdock(words).status, 0);
    assert_eq!(bench.read("again.ir"), bench.read("found/bad.ir"));
    // The replay runs the check again and finds the same failure.
    let ran = bench.passdock("replay found/reproducer --trust");
    assert_eq!(ran.status, 1, "{}\n{}", ran.stdout, ran.stderr);
    let same_failure = "same failure: check in bad.transform.SwapSub: ";
    assert!(ran.stdout.contains(same_failure), "{}", ran.stdout);
    // The check accepts the result, or is inconclusive.
    let metadata = bench.read("found/reproducer/reproducer.toml");
    let (before, after) = metadata.split_once("[test]").expect("a table");
    let after = after.split_once("\n\n").map_or("", |(_, after)| after);
    let check_replay = |command: &str, status: i32, expected: &str| {
        let check = format!("{before}[test]\ncommand = '{command}'\n\n{after}");
        bench.write("found/reproducer/reproducer.toml", check);
        let ran = bench.passdock("replay found/reproducer --trust");
        assert_eq!(ran.status, status, "{}\n{}", ran.stdout, ran.stderr);
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert!(text.contains(expected), "{text}");
    };
    check_replay("test -e {}", 0, "no failure; expected: check in");
    check_replay(
        "test -e {} && exit 125",
        1,
        "the test command is inconclusive",
    );
}

#[test]
fn bisect_reports_json_for_an_onnx_model() {
    let bench = Bench::new();
    let model = model();
    // The function with the bug as a separate model.
    let start = model.find("  fn @f6(").unwrap();
    let end = model.find("  fn @f7(").unwrap();
    let single_function = format!(
        "module {{\n{}}}\n",
        model[start..end].replace("@f6", "@main")
    );
    bench
        .write("m.ir", single_function)
        .write("p.toml", PIPELINE);
    assert_eq!(bench.passdock("convert m.ir m.onnx").status, 0);
    let check = check_sub();
    let ran = run(
        &bench,
        &["bisect", "p.toml", "m.onnx", "--test", &check, "--json"],
    );
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let found = ran.json();
    assert_eq!(found["suspects"][0]["pass"], "bad.transform.SwapSub");
    assert_eq!(found["suspects"][0]["number"], 7);
    assert_eq!(found["functions"], serde_json::json!(["main"]));
    assert_eq!(found["checks"][0]["verdict"], "good");
    assert_eq!(found["exit_status"], 0);
}

/// The rest of a model of two functions, each with a bug.
const PAIR: &str = r#"module {
  fn @a(%x: f32[2]) -> (%y: f32[2]) {
    %p = onnx.Abs(%x) : f32[2]
    %q = onnx.Sub(%x, %p) : f32[2]
    return %q
  }
  fn @b(%x: f32[2]) -> (%y: f32[2]) {
    %r = onnx.Abs(%x) : f32[2]
    %s = onnx.Sub(%x, %r) : f32[2]
    return %s
  }
  fn @c(%x: f32[2]) -> (%y: f32[2]) {
    %t = onnx.Identity(%x) : f32[2]
    %u = onnx.Neg(%t) : f32[2]
    return %u
  }
}
"#;

#[test]
fn bisect_finds_functions_that_fail_only_together() {
    let bench = Bench::new();
    bench.write("m.ir", PAIR);
    let check = "grep -q 'Sub(%x, %p)' {} || grep -q 'Sub(%x, %r)' {}";
    let words = [
        "bisect",
        "m.ir",
        "--passes",
        "bad.transform.SwapSub",
        "--test",
        check,
    ];
    let ran = run(&bench, &words);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    expect![[r#"
        good          before any pass
        bad           after 1 of 1: bad.transform.SwapSub
        bad           with changes in @a, @b only
        good          with changes in @a only
        good          with changes in @b only
        bad.transform.SwapSub of plugin bad breaks the model, in functions @a, @b together
        1 pass ran, of which 1 changed the model; 5 checks
    "#]]
    .assert_eq(&ran.stdout);
}

#[test]
fn bisect_skips_inconclusive_checks() {
    let bench = bench();
    // The check is inconclusive after the fourth, fifth and sixth pass.
    let check = "case $(grep -c 'runs = [456]' {}) in 0) ;; *) exit 125;; esac
        grep -q 'onnx.Sub(%v40, %v41)' {}";
    let ran = run(
        &bench,
        &["bisect", "p.toml", "m.ir", "--test", check, "-o", "found"],
    );
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
    expect![[r#"
        good          before any pass
        bad           after 9 of 9: bad.transform.Count
        inconclusive  after 4 of 9: bad.transform.Count
        inconclusive  after 5 of 9: bad.transform.Count
        good          after 3 of 9: bad.transform.Count
        inconclusive  after 6 of 9: bad.transform.SwapSub
        inconclusive  after 7 of 9: bad.transform.Count
        bad           after 8 of 9: bad.transform.Count
        one of these passes breaks the model; the test is inconclusive about which:
            4  bad.transform.Count of plugin bad
            5  bad.transform.Count of plugin bad
            6  bad.transform.SwapSub of plugin bad
            7  bad.transform.Count of plugin bad
            8  bad.transform.Count of plugin bad
        10 passes ran, of which 9 changed the model; 8 checks
    "#]]
    .assert_eq(&ran.stdout);
    assert!(
        !bench.exists("found/good.ir"),
        "an inconclusive search writes no model"
    );
}

#[test]
fn bisect_reports_why_the_check_is_unusable() {
    let bench = Bench::new();
    bench
        .write("m.ir", PAIR)
        .write("p.toml", "[[passes]]\nname = 'bad.transform.SwapSub'\n");
    let check = |check: &str, status: i32, expected: Expect| {
        let ran = run(&bench, &["bisect", "p.toml", "m.ir", "--test", check]);
        assert_eq!(ran.status, status, "{}", ran.stderr);
        expected.assert_eq(&ran.stderr);
    };
    check(
        "echo it is gone; ! test -e {}",
        1,
        expect![[r#"
            error[check]: the test reports the input model as bad
             |
             = note: last output of the command: it is gone
             = help: use a test that reports the input model as good, such as a command that exits with 0
        "#]],
    );
    check(
        "test -e {}",
        1,
        expect![["
            error[check]: the test reports the result of the pipeline as good
             |
             = help: use a command whose exit status for the result is neither 0 nor 125, or `numerics` to compare \
               outputs
        "]],
    );
    check(
        "exit 125 # {}",
        1,
        expect![[r#"
            error[check]: the test is inconclusive for the input model
             |
             = help: use a command whose exit status is 0 for the input model, and neither 0 nor 125 for the result
        "#]],
    );
    let ran = run(
        &bench,
        &["bisect", "p.toml", "m.ir", "--test", "no-such-command {}"],
    );
    assert_eq!(ran.status, 1);
    // The shell prints its own message.
    assert!(ran.stderr.contains("(exit status 127)"), "{}", ran.stderr);
    check(
        "true",
        2,
        expect![["
            error[usage]: the command of `--test true` does not contain `{}`
             |
             = help: write `{}` for the path of the model: `--test 'test-model {}'`; or pass `--test numerics` to \
               compare outputs in ONNX Runtime
        "]],
    );
    // The time limit is shorter than the sleep.
    let words = "bisect p.toml m.ir --test-timeout 0.2 --test".split(' ');
    let ran = bench.run(words.chain(["sleep 60; cat {}"]), "");
    expect![[r#"
        error[check]: the test is inconclusive for the input model
         |
         = note: last output of the command: (terminated after the time limit)
         = help: use a command whose exit status is 0 for the input model, and neither 0 nor 125 for the result
    "#]]
    .assert_eq(&ran.stderr);
    assert_eq!(bench.files(), ["m.ir", "p.toml"]);
}

/// `PanicOnErf` in a nested Sequential, after a pass that it requires.
pub(crate) const PANIC: &str = r#"
[context]
opt_level = 1
[[passes]]
name = "bad.transform.Count"
[[passes]]
name = "nested"
passes = [
    "bad.transform.SwapSub",
    { name = "bad.transform.PanicOnErf", options = { size = 9 } },
    "relax.transform.InferType",
]
[[passes]]
name = "bad.transform.Count"
"#;

#[test]
fn bisect_reports_a_failing_pass_without_search() {
    let bench = bench();
    bench.write("p.toml", PANIC);
    let ran = run(
        &bench,
        &[
            "bisect",
            "p.toml",
            "m.ir",
            "--test",
            "test -e {}",
            "-o",
            "found",
        ],
    );
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    expect![["
        bad.transform.PanicOnErf of plugin bad fails, in function @f6; nothing to search: the pass panicked at \
          tests/plugins/src/misbehaving/planted.rs:49:9: no table for this Erf
        3 passes ran, of which 3 changed the model; 0 checks
        before it     found/good.ir
        run it again  passdock replay found/reproducer
    "]].assert_eq(&ran.stdout);
    let replayed = bench.passdock("replay found/reproducer");
    assert_eq!(replayed.status, 1);
    assert!(
        replayed.stdout.contains("same failure"),
        "{}",
        replayed.stdout
    );
}

#[test]
fn reduce_keeps_ops_that_make_a_pass_fail() {
    let bench = bench();
    bench.write("p.toml", PANIC);
    let ran = bench.passdock("reduce p.toml m.ir -o small.ir");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    expect![["
             500 ops  5 of 11 functions
             300 ops  3 of 11 functions
             200 ops  2 of 11 functions
             100 ops  1 of 11 functions
              75 ops  75 of 100 ops of the body of @f6
              71 ops  71 of 100 ops of the body of @f6
               8 ops  8 of 100 ops of the body of @f6
               2 ops  2 of 100 ops of the body of @f6
        still pass-panicked in bad.transform.PanicOnErf, function @f6: the pass panicked at \
          tests/plugins/src/misbehaving/planted.rs:49:9: no table for this Erf
        1010 → 2 ops after 25 runs of the pipeline, written to small.ir
    "]]
    .assert_eq(&ran.stdout);
    expect![[r#"
        module {
          fn @f6(%v69: f32[8], %v34: f32[8]) -> (%v71: f32[8]) opset("" = 17) {
            %v70 = onnx.Add(%v69, %v34) : f32[8]
            %v71 = onnx.Erf(%v70) : f32[8]
            return %v71
          }
        }
    "#]]
    .assert_eq(&bench.read("small.ir"));
    // The failure and the result are the same.
    let ran = bench.passdock("reduce p.toml m.ir -o - --max-runs 1000");
    assert_eq!(ran.stdout, bench.read("small.ir"));
    // Stopped early.
    let ran = bench.passdock("reduce p.toml m.ir -o part.ir --max-runs 5 --json");
    let report = ran.json();
    assert_eq!(
        (&report["runs"], &report["minimal"]),
        (&5.into(), &false.into())
    );
    assert_eq!(report["failure"]["pass"], "bad.transform.PanicOnErf");
}

#[test]
fn reduce_keeps_ops_that_make_a_check_fail() {
    let bench = bench();
    let check = check_sub();
    let ran = run(
        &bench,
        &[
            "reduce", "p.toml", "m.ir", "--test", &check, "-o", "small.ir",
        ],
    );
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    expect![[r#"
        module {
          fn @f6(%v40: f32[8]) -> (%v42: f32[8]) opset("" = 17) {
            %v41 = onnx.Abs(%v40) : f32[8]
            %v42 = onnx.Sub(%v40, %v41) : f32[8]
            return %v42
          }
        }
    "#]]
    .assert_eq(&bench.read("small.ir"));
    // The check uses both models.
    let check = "test $(grep -c 'Sub(%v40' {in}) = $(grep -c 'Sub(%v40' {})";
    let ran = run(
        &bench,
        &["reduce", "p.toml", "m.ir", "--test", check, "-o", "two.ir"],
    );
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert_eq!(bench.read("two.ir"), bench.read("small.ir"));
}

#[test]
fn reduce_reports_if_nothing_fails() {
    let bench = bench();
    let ran = bench.passdock("reduce p.toml m.ir");
    assert_eq!(ran.status, 1);
    expect![[r#"
        error[check]: the pipeline succeeds, so there is no failure to reduce
         |
         = help: check its result with `--test numerics` or a test command
    "#]]
    .assert_eq(&ran.stderr);
    let ran = run(
        &bench,
        &["reduce", "p.toml", "m.ir", "--test", "test -e {}"],
    );
    assert_eq!(ran.status, 1);
    expect![[r#"
        error[check]: the test reports the result of the pipeline as good
         |
         = help: use a command whose exit status for the result is neither 0 nor 125, or `numerics` to compare outputs
    "#]]
    .assert_eq(&ran.stderr);
}

/// A weight is removed with the op that used it. Candidates are small, including the last one before the time limit.
#[test]
fn reduce_removes_unused_weights() {
    let bench = Bench::new();
    let mut text = "module {\n  fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {\n    \
                    %spare = const f32[2] [9.0, 9.0]\n"
        .to_owned();
    for op in 0..16 {
        writeln!(text, "    %w{op} = const f32[2] [{op}.0, 1.0]").unwrap();
    }
    let mut last = "%x".to_owned();
    for op in 0..16 {
        let op_text = match op {
            15 => format!("onnx.Erf({last})"),
            _ => format!("onnx.Add({last}, %w{op})"),
        };
        writeln!(text, "    %v{op} = {op_text} : f32[2]").unwrap();
        last = format!("%v{op}");
    }
    writeln!(text, "    return {last}\n  }}\n}}").unwrap();
    bench.write("m.ir", text).write("p.toml", PANIC);
    for max_runs in 1..12 {
        let words = format!("reduce p.toml m.ir -o small.ir --max-runs {max_runs}");
        let ran = bench.passdock(&words);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        let reduced = bench.read("small.ir");
        for weight in reduced
            .split("\n    %")
            .filter(|line| line.contains(" = const "))
        {
            let name = format!("%{}", weight.split(' ').next().unwrap_or_default());
            let uses = reduced.matches(&format!("{name})")).count();
            assert_eq!(uses, 1, "{name} after {max_runs} checks:\n{reduced}");
        }
    }
}
