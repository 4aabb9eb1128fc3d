//! The instrument `numerics` without ONNX Runtime: it reports that. `tests/python/numerics.py` tests it with ONNX
//! Runtime.

use expect_test::{Expect, expect};

use crate::support::{Bench, RELUS};

const MISSING_RUNTIME: (&str, &str) = ("ORT_DYLIB_PATH", "/nowhere/libonnxruntime.so");

/// Runs a pass with changes under the instrument with these options.
#[track_caller]
fn check(variables: &[(&str, &str)], options: &str, status: i32, expected: Expect) {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let pass = "[[passes]]\nname = 'bad.transform.ChangeResults'\n";
    let instrument = "[[instruments]]\nname = 'numerics'\n";
    bench.write("p.toml", format!("{instrument}{options}{pass}"));
    let ran = bench.run_with(variables, ["run", "p.toml", "m.ir", "-o", "out.ir"], "");
    assert_eq!(ran.status, status, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(bench.exists("out.ir"), status == 0);
    // The loader's message depends on the system.
    let text = ran
        .stderr
        .lines()
        .map(|line| match line.split_once(": /nowhere") {
            Some((before, _)) => format!("{before}: …\n"),
            None => format!("{line}\n"),
        });
    expected.assert_eq(&text.collect::<String>());
}

#[test]
fn missing_onnx_runtime_is_a_warning() {
    check(
        &[MISSING_RUNTIME],
        "",
        0,
        expect![["
            warning[not-checked]: the model's results are not checked: could not load ONNX Runtime from \
              `/nowhere/libonnxruntime.so` (ORT_DYLIB_PATH): …
             |
             = help: set `ORT_DYLIB_PATH` or the option `library` to ONNX Runtime's library
        "]],
    );
}

#[test]
fn missing_onnx_runtime_is_an_error_in_ci() {
    check(
        &[MISSING_RUNTIME, ("CI", "true")],
        "",
        1,
        expect![["
            error[not-checked]: the model's results are not checked: could not load ONNX Runtime from \
              `/nowhere/libonnxruntime.so` (ORT_DYLIB_PATH): …
             |
             = in pass pipeline
             = note: unchecked results are errors because the environment variable `CI` is set
             = help: set `ORT_DYLIB_PATH` or the option `library` to ONNX Runtime's library
        "]],
    );
    check(
        &[MISSING_RUNTIME, ("CI", "false")],
        "required = true\n",
        1,
        expect![["
            error[not-checked]: the model's results are not checked: could not load ONNX Runtime from \
              `/nowhere/libonnxruntime.so` (ORT_DYLIB_PATH): …
             |
             = in pass pipeline
             = note: unchecked results are errors because `required` is set
             = help: set `ORT_DYLIB_PATH` or the option `library` to ONNX Runtime's library
        "]],
    );
}

#[test]
fn library_option_overrides_the_variable() {
    let library = "library = 'nowhere/else.so'\n";
    check(
        &[MISSING_RUNTIME],
        library,
        2,
        expect![[r#"
            error[config]: no such file or directory: `nowhere/else.so`
             --> p.toml:3:11
              |
            3 | library = 'nowhere/else.so'
              |           ^^^^^^^^^^^^^^^^^
              |
              = help: use a path relative to the pipeline file, or with `--instrument` to the current directory
        "#]],
    );
}

#[test]
fn json_report_contains_unchecked_results() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    bench.write(
        "p.toml",
        "[[instruments]]\nname = 'numerics'\n[[passes]]\nname = 'relax.transform.FoldConstant'\n\
         [[passes]]\nname = 'bad.transform.ChangeResults'\n",
    );
    let ran = bench.run_with(&[MISSING_RUNTIME], ["run", "p.toml", "m.ir", "--json"], "");
    let report = ran.json();
    let numerics = &report["instruments"][0];
    let reason = numerics["data"]["not_checked"].as_str().expect("a reason");
    assert!(
        reason.starts_with("could not load ONNX Runtime from `/nowhere"),
        "{reason}"
    );
    let text = numerics["text"].as_str().expect("a string");
    assert!(
        text.starts_with(&format!("not checked: {reason}\n")),
        "{text}"
    );
    expect![[r#"
        pass                          results
        relax.transform.FoldConstant  unchanged
        bad.transform.ChangeResults   not checked
    "#]]
    .assert_eq(text.split_once('\n').expect("lines").1);
    let passes = numerics["data"]["passes"].as_array().expect("passes");
    let results: Vec<_> = passes.iter().map(|pass| pass["result"].clone()).collect();
    assert_eq!(results, ["unchanged", "not checked"]);
    assert_eq!(report["diagnostics"][0]["code"], "not-checked");
}

#[test]
fn invalid_options_are_rejected() {
    check(
        &[],
        "dims = { batch = -1 }\n",
        2,
        expect![[r#"
            error[config]: invalid size of `batch`: expected at least 0, found -1
             --> p.toml:3:8
              |
            3 | dims = { batch = -1 }
              |        ^^^^^^^^^^^^^^
        "#]],
    );
    check(
        &[],
        "dims = ['batch']\n",
        2,
        expect![[r#"
            error[config]: invalid value for `dims` of `numerics`: expected a table of ints, found a list
             --> p.toml:3:8
              |
            3 | dims = ['batch']
              |        ^^^^^^^^^
        "#]],
    );
    check(
        &[],
        "on_difference = 'warning'\n",
        2,
        expect![["
            error[config]: invalid value for `on_difference` of `numerics`: expected one of `error`, `warn`, found \
              \"warning\"
             --> p.toml:3:17
              |
            3 | on_difference = 'warning'
              |                 ^^^^^^^^^
        "]],
    );
}

#[test]
fn missing_input_files_are_rejected() {
    check(
        &[MISSING_RUNTIME],
        "inputs = 'nodir'\n",
        2,
        expect![[r#"
            error[config]: no such file or directory: `nodir`
             --> p.toml:3:10
              |
            3 | inputs = 'nodir'
              |          ^^^^^^^
              |
              = help: use a path relative to the pipeline file, or with `--instrument` to the current directory
        "#]],
    );
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    for (option, expected) in [
        (
            "numerics={inputs=\"nodir\"}",
            expect![[r#"
                error[config]: no such file or directory: `nodir`
                --> --instrument
                 |
                 | numerics={inputs="nodir"}
                 |                   ^^^^^
                 |
                 = help: use a path relative to the pipeline file, or with `--instrument` to the current directory
            "#]],
        ),
        (
            "numerics={runs=0}",
            expect![[r#"
                error[config]: invalid value for `runs` of `numerics`: expected an int from 1 to 64, found 0
                --> --instrument
                 |
                 | numerics={runs=0}
                 |           ^^^^
            "#]],
        ),
    ] {
        let words = [
            "run",
            "m.ir",
            "--passes",
            "FoldConstant",
            "--instrument",
            option,
        ];
        let ran = bench.run_with(&[MISSING_RUNTIME], words, "");
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        expected.assert_eq(&ran.stderr);
    }
}
