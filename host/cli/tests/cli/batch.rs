//! `passdock batch`: many models, crash isolation between them, and skipping of models that are up to date.

use expect_test::expect;
use serde_json::Value;

use crate::json::{SCHEMA, checker::Schema};
use crate::support::{Bench, RELUS, Ran, compile_c_plugin, plugin_elsewhere, without_time};

/// A batch of three models, one of which is invalid.
fn batch() -> Bench {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("m/deep")).expect("a directory");
    bench
        .write("in.ir", RELUS)
        .write("m/broken.onnx", "this is no model");
    for name in ["a", "deep/b"] {
        let converted = bench.passdock(&format!("convert in.ir m/{name}.onnx"));
        assert_eq!(converted.status, 0, "{}", converted.stderr);
    }
    bench
}

/// Returns the sorted output, standard error and the exit status.
fn sorted_output(ran: &Ran) -> String {
    let mut lines: Vec<String> = ran.stdout.lines().map(without_time).collect();
    lines.sort();
    format!("{}\n{}status {}", lines.join("\n"), ran.stderr, ran.status)
}

#[test]
fn failed_model_does_not_stop_the_batch() {
    let bench = batch();
    expect![[r#"
        2 models done, 1 failed, 4 → 2 ops, 176 B → 128 B, results in out/results.jsonl
        FAILED m/broken.onnx, TIME
        ok m/a.onnx: 2 → 1 ops, TIME
        ok m/deep/b.onnx: 2 → 1 ops, TIME
        error[read]: invalid model `m/broken.onnx`: expected a binary ONNX model, found a text file
        status 1"#]]
    .assert_eq(&sorted_output(&bench.passdock("batch m -o out")));
    for done in ["out/a.onnx", "out/deep/b.onnx"] {
        assert!(bench.exists(done), "{done}");
    }
    assert!(!bench.exists("out/broken.onnx"));
    // Models that are up to date are skipped. Failed and changed models run again.
    expect![[r#"
        2 models done (2 before), 1 failed, 4 → 2 ops, 176 B → 128 B, results in out/results.jsonl
        FAILED m/broken.onnx, TIME
        error[read]: invalid model `m/broken.onnx`: expected a binary ONNX model, found a text file
        status 1"#]]
    .assert_eq(&sorted_output(&bench.passdock("batch m -o out")));
    std::fs::copy(bench.path("m/a.onnx"), bench.path("m/broken.onnx")).expect("copied");
    expect![[r#"
        3 models done (2 before), 6 → 3 ops, 264 B → 192 B, results in out/results.jsonl
        ok m/broken.onnx: 2 → 1 ops, TIME
        status 0"#]]
    .assert_eq(&sorted_output(&bench.passdock("batch m -o out")));
    expect![[r#"
        3 models done (3 before), 6 → 3 ops, 264 B → 192 B, results in out/results.jsonl
        status 0"#]]
    .assert_eq(&sorted_output(&bench.passdock("batch m -o out")));
    expect![[r#"
        3 models done, 6 → 3 ops, 264 B → 192 B, results in out/results.jsonl
        status 0"#]]
    .assert_eq(&sorted_output(
        &bench.passdock("batch m -o out -O0 -q -j 1"),
    ));
    // A link at the path of a result is replaced.
    #[cfg(unix)]
    {
        bench.write("mine", "mine");
        std::fs::remove_file(bench.path("out/a.onnx")).expect("removed");
        std::os::unix::fs::symlink("../mine", bench.path("out/a.onnx")).expect("linked");
    }
    expect![[r#"
        3 models done, 6 → 3 ops, 264 B → 192 B, results in out/results.jsonl
        ok m/a.onnx: 2 → 1 ops, TIME
        ok m/broken.onnx: 2 → 1 ops, TIME
        ok m/deep/b.onnx: 2 → 1 ops, TIME
        status 0"#]]
    .assert_eq(&sorted_output(
        &bench.passdock("batch m -o out -O0 --no-resume"),
    ));
    #[cfg(unix)]
    assert_eq!(bench.read("mine"), "mine");
    let result = bench
        .path("out/a.onnx")
        .symlink_metadata()
        .expect("the result");
    assert!(result.is_file());
}

#[test]
fn json_prints_one_object_per_model() {
    let bench = batch();
    let ran = bench.passdock("batch m -o out --json --results r.jsonl");
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
    let parse = |line: &str| {
        let value = serde_json::from_str::<Value>(line).expect("JSON");
        assert_eq!(Schema::new(SCHEMA).misfit("batch", &value), None, "{line}");
        value
    };
    let mut lines: Vec<Value> = ran.stdout.lines().map(parse).collect();
    lines.sort_by_key(|line| line["model"].to_string());
    let models = lines.iter().map(|line| {
        let codes = line["diagnostics"].as_array().expect("a list").iter();
        let codes: Vec<&Value> = codes.map(|diagnostic| &diagnostic["code"]).collect();
        format!("{} {} {codes:?}", line["model"], line["ok"])
    });
    expect![[r#"
        "m/a.onnx" true []
        "m/broken.onnx" false [String("read")]
        "m/deep/b.onnx" true []"#]]
    .assert_eq(&models.collect::<Vec<_>>().join("\n"));
    let results = bench.read("r.jsonl");
    assert_eq!(results.lines().count(), 3);
    assert!(!bench.exists("out/results.jsonl"));
    // An incomplete line, and a file with other contents.
    bench.write("r.jsonl", &results[..results.len() - 5]);
    let rerun = bench.passdock("batch m -o out --json --results r.jsonl");
    assert_eq!(rerun.stdout.lines().count(), 3);
    let rejected = bench.passdock("batch m -o out --results in.ir --json");
    let misfit = Schema::new(SCHEMA).misfit("failed", &rejected.json());
    assert_eq!((rejected.stdout.lines().count(), misfit), (1, None));
    let rejected = bench.passdock("batch m -o out --results in.ir");
    expect![[r#"

        error[usage]: line 1 of `in.ir` is not the result of a model: expected value at line 1 column 1
         |
         = help: pass another file: `--results FILE`
        status 2"#]].assert_eq(&sorted_output(&rejected));
}

#[test]
fn batch_wide_errors_are_reported_once() {
    let bench = batch();
    for words in [
        "--disabled-pass None",
        "-p none.toml",
        "--config a=1",
        "-j 0",
    ] {
        let ran = bench.passdock(&format!("batch m -o out {words}"));
        assert_eq!(ran.status, 2, "{words}: {}", ran.stderr);
        let errors = ran.stderr.lines().filter(|line| line.starts_with("error"));
        assert_eq!(errors.count(), 1, "{}", ran.stderr);
    }
    assert!(!bench.exists("out"));
    bench.write("b.onnx", "");
    let ran = bench.passdock("batch m/deep b.onnx -o out");
    expect![[r#"

        error[usage]: the results of `m/deep/b.onnx` and `b.onnx` would both be `out/b.onnx`
         |
         = help: pass the directory that contains both, or run two batches
        status 2"#]]
    .assert_eq(&sorted_output(&ran));
}

#[test]
fn missing_model_fails_and_duplicate_path_runs_once() {
    let bench = batch();
    let ran = bench.passdock("batch m/deep gone.onnx m/deep/../deep/b.onnx -o out");
    expect![[r#"
        1 model done, 1 failed, 2 → 1 ops, 88 B → 64 B, results in out/results.jsonl
        FAILED gone.onnx, TIME
        ok m/deep/b.onnx: 2 → 1 ops, TIME
        error[read]: could not read `gone.onnx`: No such file or directory (os error 2)
        status 1"#]]
    .assert_eq(&sorted_output(&ran));
    let ran = bench.passdock("batch m/dep -o out");
    expect![[r#"

        error[usage]: could not read `m/dep`: No such file or directory (os error 2)
        status 2"#]]
    .assert_eq(&sorted_output(&ran));
}

#[cfg(unix)]
#[test]
fn crashing_plugin_fails_only_its_model() {
    let Some(bench) = crate::crashes::bench() else {
        return;
    };
    let sigmoid = RELUS.replace("onnx.Relu(%0)", "onnx.Sigmoid(%0)");
    bench.write("relu.ir", RELUS).write("sigmoid.ir", sigmoid);
    let words = "batch relu.ir sigmoid.ir -o out --plugin plugin.so --passes c.transform.Crash";
    for (fault, option, message) in [
        ("segv", "", "the pass crashed: SIGSEGV"),
        (
            "hang",
            " --timeout 1",
            "the pass was still running after 1 s",
        ),
        ("segv", " --in-process", "crashed: SIGSEGV"),
    ] {
        let variables = [("FAULT", fault), ("ONLY", "onnx.Sigmoid")];
        let words = format!("{words}{option} --no-resume");
        let ran = bench.run_with(&variables, words.split_whitespace(), "");
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert!(ran.stdout.contains("ok      relu.ir"), "{}", ran.stdout);
        assert!(ran.stdout.contains("FAILED  sigmoid.ir"), "{}", ran.stdout);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
        assert!(!bench.exists("out/sigmoid.ir"));
    }
}

#[test]
fn rebuilt_plugin_reruns_batch_only_if_used() {
    let bench = batch();
    std::fs::remove_file(bench.path("m/broken.onnx")).expect("removed");
    let up_to_date = |words: &str| {
        let ran = bench.passdock(&format!("batch m -o out --json {words}"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let lines = ran.stdout.lines();
        let done =
            |line| serde_json::from_str::<Value>(line).expect("an object")["up_to_date"] == true;
        lines.map(done).collect::<Vec<bool>>()
    };
    std::fs::create_dir(bench.path("plugins")).expect("a directory");
    let file = bench.path("plugins/o.so");
    std::fs::copy(plugin_elsewhere("passdock-outliner"), &file).expect("copied");
    let touch_plugin = || {
        let file = std::fs::File::options().append(true).open(&file);
        let file = file.expect("the plugin");
        let metadata = file.metadata().expect("its metadata");
        let built = metadata.modified().expect("a time");
        let later = built + std::time::Duration::from_secs(10);
        file.set_modified(later).expect("a modification time");
    };
    let unrelated = "--passes InferType --plugin plugins/o.so";
    assert_eq!(up_to_date("--passes InferType"), [false, false]);
    assert_eq!(up_to_date(unrelated), [true, true]);
    touch_plugin();
    assert_eq!(up_to_date(unrelated), [true, true]);
    let used = "--passes InferType,outliner.transform.OutlineBlocks --plugin plugins/o.so";
    assert_eq!(up_to_date(used), [false, false]);
    assert_eq!(up_to_date(used), [true, true]);
    touch_plugin();
    assert_eq!(up_to_date(used), [false, false]);
    // If the pass is disabled, the plugin isn't used.
    let disabled = format!("{used} --disabled-pass outliner.transform.OutlineBlocks");
    assert_eq!(up_to_date(&disabled), [false, false]);
    touch_plugin();
    assert_eq!(up_to_date(&disabled), [true, true]);
    // A module pass may run any pass by name.
    let Some(_) = compile_c_plugin(&bench, "examples/c-pass/c_pass.c", &[]) else {
        return;
    };
    let with_c_pass = format!("{used} --plugin plugin.so");
    assert_eq!(up_to_date(&with_c_pass), [false, false]);
    assert_eq!(up_to_date(&with_c_pass), [true, true]);
    assert_eq!(
        up_to_date(&format!("{unrelated} --plugin plugin.so")),
        [false, false]
    );
    assert_eq!(up_to_date(unrelated), [true, true]);
}
