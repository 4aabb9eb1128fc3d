//! `compare`, `--verify-outputs` and `--test numerics` without ONNX Runtime, and errors of the command line.
//! `tests/python/compare_command.py` tests them with ONNX Runtime.

use expect_test::{Expect, expect};

use crate::support::{Bench, RELUS};

const MISSING_RUNTIME: (&str, &str) = ("ORT_DYLIB_PATH", "/nowhere/libonnxruntime.so");

/// Runs the command, and removes the loader's message from its output.
#[track_caller]
fn check(words: &[&str], status: i32, expected: &Expect) {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    bench.write("out.ir", "as it was");
    let ran = bench.run_with(&[MISSING_RUNTIME], words.iter().copied(), "");
    assert_eq!(ran.status, status, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "");
    let lines = ran.stderr.lines();
    let text = lines.map(|line| match line.split_once(": /nowhere") {
        Some((before, _)) => format!("{before}: …\n"),
        None => format!("{line}\n"),
    });
    expected.assert_eq(&text.collect::<String>());
    assert_eq!(bench.read("out.ir"), "as it was");
}

#[test]
fn missing_onnx_runtime_reports_how_to_install_it() {
    let missing = expect![["
        error[not-checked]: could not run the models: could not load ONNX Runtime from `/nowhere/libonnxruntime.so` \
          (ORT_DYLIB_PATH): …
         |
         = help: run `pip install onnxruntime` for the `python3` in PATH, or set `ORT_DYLIB_PATH` to the library of \
           any version 1.x (`libonnxruntime.so`, `libonnxruntime.dylib` or `onnxruntime.dll`)
    "]];
    check(&["compare", "m.ir", "m.ir"], 2, &missing);
    for command in ["bisect", "reduce"] {
        let words = [
            command,
            "m.ir",
            "--passes",
            "FoldConstant",
            "--test",
            "numerics",
        ];
        check(&words, 1, &missing);
    }
    for mode in [&[][..], &["--in-process"]] {
        let words = [
            "run",
            "m.ir",
            "--passes",
            "FoldConstant",
            "-o",
            "out.ir",
            "--verify-outputs",
        ];
        check(&[&words, mode].concat(), 1, &missing);
    }
}

#[test]
fn json_reports_missing_onnx_runtime() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let ran = bench.run_with(
        &[MISSING_RUNTIME],
        ["compare", "m.ir", "m.ir", "--json"],
        "",
    );
    let report = ran.json();
    assert_eq!(
        (ran.status, &report["exit_status"], &report["ok"]),
        (2, &2.into(), &false.into())
    );
    assert_eq!(report["diagnostics"][0]["code"], "not-checked");
}

#[test]
fn invalid_options_are_rejected() {
    check(
        &["compare", "m.ir", "gone.ir"],
        2,
        &expect![[r#"
            error[read]: could not read `gone.ir`: No such file or directory (os error 2)
        "#]],
    );
    check(
        &["compare", "-", "-"],
        2,
        &expect![[r#"
            error[usage]: only one of the two models can be standard input
        "#]],
    );
    check(
        &["compare", "m.ir", "m.ir", "--inputs", "gone"],
        2,
        &expect![[r#"
            error[usage]: no such file: `gone`
        "#]],
    );
    check(
        &["compare", "m.ir", "m.ir", "--dim", "n"],
        2,
        &expect![[r#"
            error: invalid value 'n' for '--dim <NAME=SIZE>': expected NAME=SIZE

            For more information, try '--help'.
        "#]],
    );
    check(
        &["compare", "m.ir", "m.ir", "--atol", "-1"],
        2,
        &expect![[r#"
            error: invalid value '-1' for '--atol <X>': expected a non-negative number

            For more information, try '--help'.
        "#]],
    );
    check(
        &[
            "run",
            "m.ir",
            "--passes",
            "FoldConstant",
            "--instrument",
            "verify-outputs={runs=0}",
        ],
        2,
        &expect![[r#"
            error[config]: invalid value for `runs` of `verify-outputs`: expected an int from 1 to 64, found 0
            --> --instrument
             |
             | verify-outputs={runs=0}
             |                 ^^^^
        "#]],
    );
}
