//! What the command says where people stumble.

use expect_test::{Expect, expect};

use crate::support::{Bench, RELUS, plugin};

/// What words are answered with: the status and what is said.
#[track_caller]
fn check(bench: &Bench, words: &[&str], expected: Expect) {
    let ran = bench.run(words.iter().copied(), "");
    let said = ran.stderr.replace(&bench.plugins(), "");
    expected.assert_eq(&format!("status {}\n{said}", ran.status));
}

#[test]
fn a_model_in_the_place_of_a_pipeline() {
    let bench = Bench::new();
    bench
        .write("m.onnx", [0x08, 0x07, 0xff])
        .write("p.toml", [0xff]);
    bench.write("m.ir", RELUS);
    check(
        &bench,
        &["explain", "m.onnx"],
        expect![[r#"
            status 2
            error[usage]: `m.onnx` is a model, and no pipeline.
             |
             = help: A pipeline is a .toml file; `passdock stats` shows what is in a model.
        "#]],
    );
    check(
        &bench,
        &["check", "p.toml"],
        expect![[r#"
            status 2
            error[usage]: The pipeline `p.toml` can't be read: it isn't text in UTF-8.
        "#]],
    );
    check(
        &bench,
        &["check", "m.ir"],
        expect![[r#"
            status 2
            error[usage]: `m.ir` is a model, and no pipeline.
             |
             = help: A pipeline is a .toml file; `passdock stats` shows what is in a model.
        "#]],
    );
    check(
        &bench,
        &["check", "gone.toml"],
        expect![[r#"
        status 2
        error[usage]: The pipeline `gone.toml` can't be read: No such file or directory (os error 2).
    "#]],
    );
    check(
        &bench,
        &["run", "m.ir"],
        expect![[r#"
        status 2
        error[usage]: There is nothing to run: give a pipeline (.toml) or --passes A,B,C.
    "#]],
    );
}

#[test]
fn a_pipeline_without_passes() {
    let bench = Bench::new();
    bench.write("empty.toml", "");
    bench.write("context.toml", "[context]\nopt_level = 3\n");
    check(
        &bench,
        &["check", "empty.toml"],
        expect![[r#"
        status 2
        error[pipeline]: The pipeline `empty.toml` lists no passes: it does nothing.
         |
         = help: List them as `passes = ["relax.transform.FoldConstant"]`, or as `[[passes]]` tables.
    "#]],
    );
    check(
        &bench,
        &["check", "context.toml"],
        expect![[r#"
        status 2
        error[pipeline]: The pipeline `context.toml` lists no passes: it does nothing.
         |
         = help: List them as `passes = ["relax.transform.FoldConstant"]`, or as `[[passes]]` tables.
    "#]],
    );
    let ran = bench.passdock("check context.toml --passes FoldConstant");
    assert_eq!((ran.status, &*ran.stdout), (0, "context.toml: OK\n"));
}

#[test]
fn values_of_config_without_quotes() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let config = ["run", "m.ir", "--passes", "FoldConstant", "--config"];
    let check = |setting: &str, expected: Expect| {
        let words: Vec<&str> = config.into_iter().chain([setting]).collect();
        check(&bench, &words, expected);
    };
    check(
        "relax.DecomposeOps.ops=onnx.Gelu",
        expect![[r#"
        status 2
        error[config]: The value isn't TOML.
        --> --config
         |
         | relax.DecomposeOps.ops=onnx.Gelu
         |                        ^^^^^^^^^
         |
         = help: It is a list of strings: `--config 'relax.DecomposeOps.ops=["onnx.Gelu"]'`.
    "#]],
    );
    check(
        "relax.FoldConstant.max_growth=much",
        expect![[r#"
        status 2
        error[config]: The value isn't TOML.
        --> --config
         |
         | relax.FoldConstant.max_growth=much
         |                               ^^^^
         |
         = help: It is an int.
    "#]],
    );
    check(
        "relax.FoldConstant.max_grow=much",
        expect![[r#"
            status 2
            error[config]: The value isn't TOML.
            --> --config
             |
             | relax.FoldConstant.max_grow=much
             |                             ^^^^
             |
             = help: It is a table of {max_growth, allow_growth}.
        "#]],
    );
    check(
        "relax.BindSymbolicVars.batch=one",
        expect![[r#"
            status 2
            error[config]: The value isn't TOML.
            --> --config
             |
             | relax.BindSymbolicVars.batch=one
             |                              ^^^
             |
             = help: It is an int ≥ 1.
        "#]],
    );
    check(
        "relax.FoldConstant=",
        expect![[r#"
            status 2
            error[config]: The value isn't TOML.
            --> --config
             |
             | relax.FoldConstant=
             |                    ^
             |
             = help: It is a table of {max_growth, allow_growth}.
        "#]],
    );
}

#[test]
fn a_list_of_passes_may_have_blanks() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let words = [
        "run",
        "m.ir",
        "--passes",
        " FoldConstant, DeadCodeElimination ",
        "--disable",
        "relax.transform.FoldConstant , CanonicalizeBindings",
        "--require",
        " DeadCodeElimination",
        "--print-after",
        " relax.transform.DeadCodeElimination , all",
    ];
    let ran = bench.run(words, "");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
}

#[test]
fn bisect_without_a_command() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    check(
        &bench,
        &["bisect", "m.ir", "--passes", "FoldConstant"],
        expect![[r#"
            status 2
            error[usage]: There is no `--check`.
             |
             = help: Give the command that judges a model, with `{}` in place of its path: `--check 'test-model {}'`.
        "#]],
    );
    check(
        &bench,
        &[
            "bisect",
            "m.ir",
            "--passes",
            "FoldConstant",
            "--check",
            "true",
        ],
        expect![[r#"
            status 2
            error[usage]: The command of `--check true` doesn't say where the model goes.
             |
             = help: Write `{}` in place of its path: `--check 'test-model {}'`.
        "#]],
    );
}

#[test]
fn a_failure_without_output_says_how_to_get_a_reproducer() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let run = ["run", "m.ir", "--passes", "bad.transform.Fail"];
    check(
        &bench,
        &run,
        expect![[r#"
        status 1
        error[pass-failed]: This op has an axis that is out of range.
         --> m.ir:3:5
          |
        3 |     %0 = onnx.Relu(%x) : f32[2]
          |     ^^^^^^^^^^^^^^^^^^
          |
          = in pass bad.transform.Fail of plugin `libpassdock_misbehaving.so`, function @main, op0 (onnx.Relu)
        note[reproducer]: `--reproducer-dir DIR` writes what it takes to run into this again.
    "#]],
    );
    let ran = bench.run(run.into_iter().chain(["--reproducer-dir", "d"]), "");
    assert!(!ran.stderr.contains("--reproducer-dir"), "{}", ran.stderr);
    assert!(bench.exists("d/m.ir.reproducer"), "{}", ran.stderr);
}

#[test]
fn one_operator_is_one() {
    let bench = Bench::new();
    let count = |name: &str| {
        let file = plugin(name).display().to_string();
        let said = bench.run(["inspect", &file], "").stdout;
        let line = said.lines().find(|line| line.starts_with("defines"));
        line.unwrap_or_default().to_owned()
    };
    assert_eq!(count("passdock_misbehaving"), "defines 1 operator");
    assert!(count("passdock_onnx_ops").ends_with(" operators"));
}

#[test]
fn help_is_in_plain_words() {
    let bench = Bench::new();
    let help = bench.passdock("help run").stdout;
    let last = help.trim_end().lines().last();
    expect!["Without -o no model is written; the report is printed all the same."]
        .assert_eq(last.unwrap_or_default());
    let config = bench.passdock("list config").stdout;
    let line = |key: &str| {
        let line = config.lines().find(|line| line.starts_with(key));
        let words: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
        words.join(" ")
    };
    expect!["relax.fallback_device_type an int from 1 to 2147483647 1 built in The device of ops that no device is named for, by its number in DLPack; 1 is the CPU."].assert_eq(&line("relax.fallback_device_type"));
    expect!["relax.FoldConstant.max_growth an int 256 relax The bytes by which one folded op may make the function larger, or 1/1600 of the bytes of its constants if that is more; all folded ops together by 16 times as much."].assert_eq(&line("relax.FoldConstant.max_growth"));
}
