//! Bad input: a clear error, the right exit status, nothing written.

use expect_test::{Expect, expect};

use crate::support::{Bench, RELUS};

/// Runs words that have to fail: with this status and message, without an `out.*`.
#[track_caller]
fn check(bench: &Bench, words: &str, status: i32, expected: Expect) {
    let ran = bench.passdock(words);
    assert_eq!(ran.status, status, "{}\n{}", ran.stdout, ran.stderr);
    let dir = bench.path("").display().to_string();
    expected.assert_eq(&ran.stderr.replace(&dir, ""));
    let left: Vec<String> = bench
        .files()
        .into_iter()
        .filter(|f| f.contains("out"))
        .collect();
    assert!(left.is_empty(), "{left:?} was left behind");
}

#[test]
fn a_misspelt_pass() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    check(
        &bench,
        "run m.ir --passes relax.transform.FoldConstants -o out.ir",
        2,
        expect![[r#"
        error[unknown-pass]: There is no pass `relax.transform.FoldConstants`.
         |
         = help: Did you mean `relax.transform.FoldConstant`?
    "#]],
    );
    bench.write(
        "p.toml",
        "[[passes]]\nname = \"relax.transform.FoldConstants\"\n",
    );
    check(
        &bench,
        "run p.toml m.ir -o out.ir",
        2,
        expect![[r#"
        error[unknown-pass]: There is no pass `relax.transform.FoldConstants`.
         --> p.toml:2:8
          |
        2 | name = "relax.transform.FoldConstants"
          |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          |
          = help: Did you mean `relax.transform.FoldConstant`?
    "#]],
    );
    check(
        &bench,
        "check p.toml",
        2,
        expect![[r#"
        error[unknown-pass]: There is no pass `relax.transform.FoldConstants`.
         --> p.toml:2:8
          |
        2 | name = "relax.transform.FoldConstants"
          |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          |
          = help: Did you mean `relax.transform.FoldConstant`?
    "#]],
    );
}

#[test]
fn a_pipeline_that_is_wrong() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let check = |text: &str, expected| {
        bench.write("p.toml", text);
        check(&bench, "run p.toml m.ir -o out.ir", 2, expected);
    };
    check(
        "[[passes]\n",
        expect![[r#"
        error[pipeline]: This isn't TOML: unclosed array table, expected `]`.
         --> p.toml:1:10
          |
        1 | [[passes]
          |          ^
    "#]],
    );
    check(
        "[[pases]]\nname = \"x\"\n",
        expect![[r#"
        error[pipeline]: There is no key `pases` in the pipeline.
         --> p.toml:1:3
          |
        1 | [[pases]]
          |   ^^^^^ unknown key
          |
          = help: Did you mean `passes`?
    "#]],
    );
    check(
        "[[passes]]\nname = \"tir.transform.UnrollLoop\"\noptions = { auto_max_stp = 1 }\n",
        expect![[r#"
            error[config]: `tir.transform.UnrollLoop` has no field `auto_max_stp`.
             --> p.toml:3:13
              |
            3 | options = { auto_max_stp = 1 }
              |             ^^^^^^^^^^^^
              |
              = help: Did you mean `auto_max_step`?
        "#]],
    );
    check(
        "[[passes]]\nname = \"tir.transform.UnrollLoop\"\noptions = { auto_max_step = \"1\" }\n",
        expect![[r#"
            error[config]: Expected the field `auto_max_step` of `tir.transform.UnrollLoop` to be an int, but got the string "1".
             --> p.toml:3:29
              |
            3 | options = { auto_max_step = "1" }
              |                             ^^^
              |
              = help: Write 1 without quotes.
        "#]],
    );
    check(
        "[context.config]\n\"tir.UnrolLoop\" = {}\n",
        expect![[r#"
            error[config]: Invalid config option `tir.UnrolLoop`; candidates are: `tir.UnrollLoop`, `relax.BindParams`, `relax.BindSymbolicVars`, `relax.DeadCodeElimination`, `relax.DecomposeOps`, `relax.FoldConstant`, `relax.SimplifyInference`, `relax.fallback_device_type`, `testing.immutable_module`.
             --> p.toml:2:1
              |
            2 | "tir.UnrolLoop" = {}
              | ^^^^^^^^^^^^^^^
              |
              = help: Did you mean `tir.UnrollLoop`?
        "#]],
    );
    check(
        "[context]\ndisabled_pass = [\"relax.transform.FoldConst\"]\n",
        expect![[r#"
        error[unknown-pass]: There is no pass `relax.transform.FoldConst` to require or to disable.
         --> p.toml:2:18
          |
        2 | disabled_pass = ["relax.transform.FoldConst"]
          |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^
          |
          = help: Did you mean `relax.transform.FoldConstant`?
    "#]],
    );
    check(
        "[plugins]\ndirs = [\"nowhere\"]\n",
        expect![[r#"
        error[pipeline]: There is no plugin directory `nowhere`.
         --> p.toml:2:9
          |
        2 | dirs = ["nowhere"]
          |         ^^^^^^^^^ no such directory
          |
          = help: Directories are relative to the pipeline's file.
    "#]],
    );
    check(
        "[[instruments]]\nname = \"timings\"\n",
        expect![[r#"
        error[unknown-instrument]: There is no instrument `timings`.
         --> p.toml:2:8
          |
        2 | name = "timings"
          |        ^^^^^^^^^
          |
          = help: Did you mean `timing`?
    "#]],
    );
}

#[test]
fn a_command_line_that_is_wrong() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS).write("p.toml", "");
    check(
        &bench,
        "run m.ir -o out.ir",
        2,
        expect![[r#"
            error[usage]: There is nothing to run: give a pipeline (.toml) or --passes A,B,C.
        "#]],
    );
    check(
        &bench,
        "run p.toml",
        2,
        expect![[r#"
            error[usage]: There is a pipeline and no model: `passdock run PIPELINE.toml MODEL`.
        "#]],
    );
    check(
        &bench,
        "run p.toml m.txt -o out.ir",
        2,
        expect![[r#"
            error[usage]: The file `m.txt` is neither `.onnx` nor `.ir`.
             |
             = help: The extension says what a model file holds; `-` is IR text.
        "#]],
    );
    check(
        &bench,
        "run p.toml m.ir -o out.txt",
        2,
        expect![[r#"
            error[usage]: The file `out.txt` is neither `.onnx` nor `.ir`.
             |
             = help: The extension says what a model file holds; `-` is IR text.
        "#]],
    );
    check(
        &bench,
        "run p.toml m.ir --plugin-dir nowhere -o out.ir",
        2,
        expect![[r#"
            error[usage]: The plugin directory `nowhere` can't be read (No such file or directory (os error 2)); correct its name or create it.
        "#]],
    );
    check(
        &bench,
        "run p.toml m.ir --config tir.UnrolLoop.auto_max_step=1",
        2,
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
        &bench,
        "run p.toml m.ir --config tir.UnrollLoop.auto_max_step",
        2,
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
        &bench,
        "run p.toml m.ir --disable relax.transform.FoldConst",
        2,
        expect![[r#"
        error[unknown-pass]: There is no pass `relax.transform.FoldConst` to require or to disable.
         |
         = help: Did you mean `relax.transform.FoldConstant`?
    "#]],
    );
    check(
        &bench,
        "run p.toml m.ir --print-after relax.transform.FoldConst",
        2,
        expect![[r#"
            error[unknown-pass]: There is no pass `relax.transform.FoldConst` to print the module around.
             |
             = help: Did you mean `relax.transform.FoldConstant`?
        "#]],
    );
    check(
        &bench,
        "run p.toml m.ir --jobs 99999",
        2,
        expect![[r#"
        error[config]: 99999 jobs are asked for; the limit is 1024.
         |
         = help: Ask for fewer jobs.
    "#]],
    );
    assert_eq!(bench.passdock("rum p.toml m.ir").status, 2);
}

#[test]
fn a_model_that_is_not_there_or_not_one() {
    let bench = Bench::new();
    let run =
        |model: &str| format!("run {model} --passes relax.transform.FoldConstant -o out.onnx");
    check(
        &bench,
        &run("m.onnx"),
        1,
        expect![[r#"
        error[read]: The model m.onnx: it can't be read: No such file or directory (os error 2).
    "#]],
    );
    bench.write("m.onnx", "this is no protobuf at all, is it?");
    check(
        &bench,
        &run("m.onnx"),
        1,
        expect![[r#"
        error[read]: The model m.onnx: it isn't an ONNX model, or only a part of one: a group ends that never began (at byte 0).
    "#]],
    );
    bench.write("m.onnx", "");
    check(
        &bench,
        &run("m.onnx"),
        1,
        expect![[r#"
        error[read]: The model m.onnx: it isn't an ONNX model: it has no graph.
    "#]],
    );
    bench.write(
        "m.ir",
        "module {\n  fn @main(%x: f32[2]) -> (%y: f32[2]) {\n    return %z\n  }\n}\n",
    );
    check(
        &bench,
        &run("m.ir"),
        1,
        expect![[r#"
        error[read]: There is no value `%z`.
         --> m.ir:3:12
          |
        3 |     return %z
          |            ^^
          |
          = help: Did you mean `%x`?
    "#]],
    );
}

#[test]
fn a_truncated_model() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    assert_eq!(bench.passdock("convert m.ir whole.onnx").status, 0);
    let whole = std::fs::read(bench.path("whole.onnx")).expect("a model");
    for len in 0..whole.len() {
        bench.write("m.onnx", &whole[..len]);
        let ran = bench.passdock("convert m.onnx cut.ir");
        // Cut between two fields it may still be a model.
        match ran.status {
            0 => assert!(bench.exists("cut.ir")),
            1 => assert!(ran.stderr.starts_with("error"), "{}", ran.stderr),
            other => panic!("cut at {len}, it ended with {other}: {}", ran.stderr),
        }
    }
}

#[test]
fn an_output_that_cannot_be_written() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    std::fs::create_dir(bench.path("dir.ir")).expect("a directory");
    let run = "run m.ir --passes relax.transform.FoldConstant -o";
    check(
        &bench,
        &format!("{run} nowhere/out.ir"),
        1,
        expect![[r#"
            error[write]: The result can't be written to `nowhere/out.ir`: there is no directory `nowhere`.
        "#]],
    );
    check(
        &bench,
        &format!("{run} dir.ir"),
        1,
        expect![[r#"
        error[write]: The result can't be written to `dir.ir`: it is a directory.
    "#]],
    );
    assert_eq!(bench.files(), ["dir.ir", "m.ir"]);
}

#[test]
fn plugin_files_that_are_none() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    std::fs::create_dir(bench.path("plugins")).expect("a directory");
    let library = |name: &str| format!("plugins/{name}{}", std::env::consts::DLL_SUFFIX);
    let whole = std::fs::read(crate::support::plugin("passdock_tir")).expect("a plugin");
    bench
        .write(&library("random"), [0xA5; 5000])
        .write(&library("cut"), &whole[..whole.len() / 2]);
    let passes = "run m.ir --plugin-dir plugins --passes";
    // Nobody needs them.
    let ran = bench.passdock(&format!("{passes} relax.transform.FoldConstant"));
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(
        ran.stderr.matches("warning[plugin]").count(),
        2,
        "{}",
        ran.stderr
    );
    // Now somebody might.
    let ran = bench.passdock(&format!("{passes} acme.transform.Fuse -o out.ir"));
    assert_eq!(ran.status, 2);
    let named = [library("random"), library("cut")];
    assert!(
        named.iter().all(|name| ran.stderr.contains(name.as_str())),
        "{}",
        ran.stderr
    );
    assert!(!bench.exists("out.ir"));
}

#[test]
fn the_report_is_json_in_every_case() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    for (words, status) in [
        ("run m.ir --passes relax.transform.FoldConstants --json", 2),
        (
            "run gone.ir --passes relax.transform.FoldConstant --json",
            1,
        ),
        ("run m.ir --json", 2),
        ("run m.ir --passes bad.transform.Panic --json", 1),
    ] {
        let ran = bench.passdock(words);
        let report = ran.json();
        assert_eq!(ran.status, status, "{words}");
        assert_eq!(report["ok"], false, "{words}");
        assert_eq!(report["exit_status"], status, "{words}");
        assert!(report["diagnostics"][0]["message"].is_string(), "{words}");
    }
}
