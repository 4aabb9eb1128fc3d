//! The pipelines inside the command: their text, what programs read of them, and what a failure leaves.

use expect_test::expect;

use crate::support::{Bench, passdock, plugin};

/// The file that is compiled in.
const DEFAULT: &str = include_str!("../../../driver/pipelines/default.toml");

/// A model of which each level takes something.
const MODEL: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %one = const f32[] 1.0
    %two = onnx.Add(%one, %one)
    %0 = onnx.Dropout(%x)
    %1 = onnx.Mul(%0, %two)
    return %1
  }
}
"#;

#[test]
fn a_copy_does_the_same() {
    let bench = Bench::new();
    let text = bench.passdock("list pipelines default").stdout;
    assert_eq!(text, DEFAULT);
    bench.write("m.ir", MODEL).write("mine.toml", text);
    for level in ["", " -O0", " -O1", " -O4"] {
        for (words, out) in [("m.ir", "a.ir"), ("mine.toml m.ir", "b.ir")] {
            let ran = bench.passdock(&format!("run {words} -o {out}{level}"));
            assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        }
        assert_eq!(bench.read("a.ir"), bench.read("b.ir"), "{level}");
    }
}

#[test]
fn programs_read_which_pipeline_ran() {
    let bench = Bench::new();
    bench.write("m.ir", MODEL).write("default", DEFAULT);
    let pipeline = |words: &str| bench.passdock(words).json()["pipeline"].to_string();
    for words in [
        "run m.ir --json",
        "run default m.ir --json",
        "explain --json",
    ] {
        expect![[r#"{"built_in":true,"name":"default","opt_level":2}"#]]
            .assert_eq(&pipeline(words));
    }
    expect![[r#"{"built_in":true,"name":"default","opt_level":1}"#]]
        .assert_eq(&pipeline("run m.ir -O1 --json"));
    expect![[r#"{"built_in":false,"name":"./default","opt_level":2}"#]]
        .assert_eq(&pipeline("run ./default m.ir --json"));
    expect![[r#"{"built_in":false,"name":null,"opt_level":2}"#]]
        .assert_eq(&pipeline("run m.ir --passes InferType --json"));
    // It was named, and nothing came of it.
    expect![[r#"{"built_in":true,"name":"default","opt_level":null}"#]]
        .assert_eq(&pipeline("run m.ir --disable Nothing --json"));
    let listed = bench.passdock("list pipelines --json").json();
    assert_eq!(listed["pipelines"][0]["text"], DEFAULT);
}

#[test]
fn a_reproducer_names_it_and_runs_again() {
    let bench = Bench::new();
    bench.write("m.ir", MODEL);
    // A pass behind it that fails.
    let ran = bench.passdock("run default m.ir --passes bad.transform.Fail -o out.ir --json");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let report = ran.json();
    assert_eq!(report["pipeline"]["name"], "default");
    assert_eq!(report["reproducer"], "out.ir.reproducer");
    let names = |dir: &str| {
        let about: String = bench.read(&format!("{dir}/reproducer.toml"));
        about.contains("\npipeline = \"default\"\nmodel = \"m.ir\"\n")
    };
    assert!(names("out.ir.reproducer"));
    let ran = bench.passdock("replay out.ir.reproducer");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("the same failure"), "{}", ran.stdout);

    // A pass of its own that a command calls wrong.
    let check = "grep -q onnx.Dropout {}";
    let ran = bench.run(["bisect", "m.ir", "--check", check, "-o", "found"], "");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let found = "relax.transform.SimplifyInference of plugin relax breaks the model";
    assert!(ran.stdout.contains(found), "{}", ran.stdout);
    assert!(names("found/reproducer"));
    let ran = bench.passdock("replay found/reproducer --trust");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("the same failure"), "{}", ran.stdout);
    let ran = bench.run(["reduce", "m.ir", "--check", check, "-o", "small.ir"], "");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(bench.read("small.ir").contains("onnx.Dropout"));
}

/// The command by itself, and with a part of what it needs.
#[test]
fn where_the_standard_plugins_are_missing_it_says_so() {
    let bench = Bench::new();
    bench.write("m.ir", MODEL);
    let alone = bench.path("alone");
    std::fs::create_dir(&alone).expect("a directory");
    let copy = |file: std::path::PathBuf| {
        let to = alone.join(file.file_name().expect("a file's name"));
        std::fs::hard_link(&file, &to)
            .or_else(|_| std::fs::copy(&file, &to).map(drop))
            .expect("a copy");
        to
    };
    let command = copy(passdock());
    let run = |words: &[&str]| {
        let mut run = std::process::Command::new(&command);
        run.args(words)
            .current_dir(bench.path(""))
            .env_remove("PASSDOCK_PLUGIN_PATH");
        let ran = run.output().expect("the command starts");
        let dir = bench.path("").canonicalize().expect("the directory");
        let said = String::from_utf8(ran.stderr).expect("text");
        let said = said.replace(&format!("{}/", dir.display()), "");
        (ran.status.code(), said)
    };
    let (status, said) = run(&["run", "m.ir", "-o", "out.ir"]);
    expect![[r#"
        error[plugin]: The built-in pipeline `default` needs the pass `relax.transform.SimplifyInference`, which no plugin in `lib/passdock/plugins`, `alone` has.
         |
         = help: It is made of the standard plugins: put them beside the executable or into `../lib/passdock/plugins`, or name their directory by `--plugin-dir DIR` or `PASSDOCK_PLUGIN_PATH`.
    "#]].assert_eq(&said);
    assert_eq!(status, Some(3));
    for words in [&["explain"][..], &["check", "default"]] {
        assert_eq!(run(words), (status, said.clone()), "{words:?}");
    }
    copy(plugin("passdock-relax"));
    let (status, said) = run(&["run", "m.ir", "-o", "out.ir"]);
    expect![[r#"
        error[plugin]: The built-in pipeline `default` needs definitions of operators, which no plugin in `lib/passdock/plugins`, `alone` has.
         |
         = help: It is made of the standard plugins: put them beside the executable or into `../lib/passdock/plugins`, or name their directory by `--plugin-dir DIR` or `PASSDOCK_PLUGIN_PATH`.
    "#]].assert_eq(&said);
    assert_eq!(status, Some(3));
    assert!(!bench.exists("out.ir"));
    // A pipeline of one's own may do without.
    let (status, said) = run(&["run", "m.ir", "--passes", "CanonicalizeBindings"]);
    assert_eq!(status, Some(0));
    assert!(said.starts_with("warning[unknown-operators]"), "{said}");
    copy(plugin("passdock-onnx-ops"));
    let (status, said) = run(&["run", "m.ir", "-o", "out.ir"]);
    assert_eq!((status, said.as_str()), (Some(0), ""));
}
