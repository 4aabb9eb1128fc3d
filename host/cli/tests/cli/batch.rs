//! `passdock batch`: many models, crash isolation between them, and skipping of models that are up to date.

use expect_test::expect;
use serde_json::Value;

use crate::json::{SCHEMA, checker::Schema};
use crate::support::{Bench, RELUS, Ran, in_c, plugin_elsewhere, without_time};

/// A batch of three models, one of which is invalid.
fn batch() -> Bench {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("m/deep")).expect("made");
    bench
        .write("in.ir", RELUS)
        .write("m/broken.onnx", "this is no model");
    for name in ["a", "deep/b"] {
        let converted = bench.passdock(&format!("convert in.ir m/{name}.onnx"));
        assert_eq!(converted.status, 0, "{}", converted.stderr);
    }
    bench
}

/// The sorted lines about each model, followed by the summary.
fn said(ran: &Ran) -> String {
    let mut lines: Vec<String> = ran.stdout.lines().map(without_time).collect();
    lines.sort();
    format!("{}\n{}status {}", lines.join("\n"), ran.stderr, ran.status)
}

#[test]
fn a_model_that_fails_stops_no_other_one() {
    let bench = batch();
    expect![[r#"
        2 models done, 1 failed, 4 → 2 ops, 176 B → 128 B, results in out/results.jsonl
        FAILED m/broken.onnx, TIME
        ok m/a.onnx: 2 → 1 ops, TIME
        ok m/deep/b.onnx: 2 → 1 ops, TIME
        error[read]: invalid model `m/broken.onnx`: expected a binary ONNX model, found a text file
        status 1"#]]
    .assert_eq(&said(&bench.passdock("batch m -o out")));
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
    .assert_eq(&said(&bench.passdock("batch m -o out")));
    std::fs::copy(bench.path("m/a.onnx"), bench.path("m/broken.onnx")).expect("copied");
    expect![[r#"
        3 models done (2 before), 6 → 3 ops, 264 B → 192 B, results in out/results.jsonl
        ok m/broken.onnx: 2 → 1 ops, TIME
        status 0"#]]
    .assert_eq(&said(&bench.passdock("batch m -o out")));
    expect![[r#"
        3 models done (3 before), 6 → 3 ops, 264 B → 192 B, results in out/results.jsonl
        status 0"#]]
    .assert_eq(&said(&bench.passdock("batch m -o out")));
    expect![[r#"
        3 models done, 6 → 3 ops, 264 B → 192 B, results in out/results.jsonl
        status 0"#]]
    .assert_eq(&said(&bench.passdock("batch m -o out -O0 -q -j 1")));
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
    .assert_eq(&said(&bench.passdock("batch m -o out -O0 --no-resume")));
    #[cfg(unix)]
    assert_eq!(bench.read("mine"), "mine");
    let result = bench
        .path("out/a.onnx")
        .symlink_metadata()
        .expect("it is there");
    assert!(result.is_file());
}

#[test]
fn each_line_is_an_object() {
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
    let told = lines.iter().map(|line| {
        let codes = line["diagnostics"].as_array().expect("a list").iter();
        let codes: Vec<&Value> = codes.map(|said| &said["code"]).collect();
        format!("{} {} {codes:?}", line["model"], line["ok"])
    });
    expect![[r#"
        "m/a.onnx" true []
        "m/broken.onnx" false [String("read")]
        "m/deep/b.onnx" true []"#]]
    .assert_eq(&told.collect::<Vec<_>>().join("\n"));
    let kept = bench.read("r.jsonl");
    assert_eq!(kept.lines().count(), 3);
    assert!(!bench.exists("out/results.jsonl"));
    // An incomplete line, and a file with other contents.
    bench.write("r.jsonl", &kept[..kept.len() - 5]);
    let again = bench.passdock("batch m -o out --json --results r.jsonl");
    assert_eq!(again.stdout.lines().count(), 3);
    let refused = bench.passdock("batch m -o out --results in.ir --json");
    let misfit = Schema::new(SCHEMA).misfit("failed", &refused.json());
    assert_eq!((refused.stdout.lines().count(), misfit), (1, None));
    let refused = bench.passdock("batch m -o out --results in.ir");
    expect![[r#"

        error[usage]: line 1 of `in.ir` is not the result of a model: expected value at line 1 column 1
         |
         = help: pass another file: `--results FILE`
        status 2"#]].assert_eq(&said(&refused));
}

#[test]
fn what_is_wrong_with_all_is_told_once() {
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
    .assert_eq(&said(&ran));
}

#[test]
fn a_model_that_is_gone_fails_and_one_that_is_named_twice_is_done_once() {
    let bench = batch();
    let ran = bench.passdock("batch m/deep gone.onnx m/deep/../deep/b.onnx -o out");
    expect![[r#"
        1 model done, 1 failed, 2 → 1 ops, 88 B → 64 B, results in out/results.jsonl
        FAILED gone.onnx, TIME
        ok m/deep/b.onnx: 2 → 1 ops, TIME
        error[read]: could not read `gone.onnx`: No such file or directory (os error 2)
        status 1"#]]
    .assert_eq(&said(&ran));
    let ran = bench.passdock("batch m/dep -o out");
    expect![[r#"

        error[usage]: could not read `m/dep`: No such file or directory (os error 2)
        status 2"#]]
    .assert_eq(&said(&ran));
}

#[cfg(unix)]
#[test]
fn a_plugin_that_dies_takes_one_model_along() {
    let Some(bench) = crate::crashes::bench() else {
        return;
    };
    let sigmoid = RELUS.replace("onnx.Relu(%0)", "onnx.Sigmoid(%0)");
    bench.write("relu.ir", RELUS).write("sigmoid.ir", sigmoid);
    let words = "batch relu.ir sigmoid.ir -o out --plugin plugin.so --passes c.transform.Dies";
    for (fault, option, said) in [
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
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert!(!bench.exists("out/sigmoid.ir"));
    }
}

#[test]
fn only_plugins_that_it_uses_begin_a_batch_again() {
    let bench = batch();
    std::fs::remove_file(bench.path("m/broken.onnx")).expect("removed");
    let before = |words: &str| {
        let ran = bench.passdock(&format!("batch m -o out --json {words}"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let lines = ran.stdout.lines();
        let done =
            |line| serde_json::from_str::<Value>(line).expect("an object")["up_to_date"] == true;
        lines.map(done).collect::<Vec<bool>>()
    };
    std::fs::create_dir(bench.path("plugins")).expect("made");
    let file = bench.path("plugins/o.so");
    std::fs::copy(plugin_elsewhere(), &file).expect("copied");
    let built_again = || {
        let file = std::fs::File::options().append(true).open(&file);
        let file = file.expect("it is there");
        let about = file.metadata().expect("it is there");
        let built = about.modified().expect("a time");
        let later = built + std::time::Duration::from_secs(10);
        file.set_modified(later).expect("told");
    };
    let unrelated = "--passes InferType --plugin plugins/o.so";
    assert_eq!(before("--passes InferType"), [false, false]);
    assert_eq!(before(unrelated), [true, true]);
    built_again();
    assert_eq!(before(unrelated), [true, true]);
    let used = "--passes InferType,outliner.transform.OutlineBlocks --plugin plugins/o.so";
    assert_eq!(before(used), [false, false]);
    assert_eq!(before(used), [true, true]);
    built_again();
    assert_eq!(before(used), [false, false]);
    // If the pass is disabled, the plugin isn't used.
    let disabled = format!("{used} --disabled-pass outliner.transform.OutlineBlocks");
    assert_eq!(before(&disabled), [false, false]);
    built_again();
    assert_eq!(before(&disabled), [true, true]);
    // A module pass may run any pass by name.
    let Some(_) = in_c(&bench, "examples/c-pass/c_pass.c", &[]) else {
        return;
    };
    let beside = format!("{used} --plugin plugin.so");
    assert_eq!(before(&beside), [false, false]);
    assert_eq!(before(&beside), [true, true]);
    assert_eq!(
        before(&format!("{unrelated} --plugin plugin.so")),
        [false, false]
    );
    assert_eq!(before(unrelated), [true, true]);
}
