//! What works.

use expect_test::expect;

use crate::support::{Bench, RELUS, passdock};

const FOLD: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] [1.0, 2.0]
    %0 = onnx.Add(%a, %a) : f32[2]
    %1 = onnx.Mul(%x, %0) : f32[2]
    return %1
  }
}
"#;

#[test]
fn a_pipeline_runs_and_reports() {
    let bench = Bench::new();
    bench.write("m.ir", FOLD).write(
        "p.toml",
        r#"
[context]
opt_level = 3
[[passes]]
name = "relax.transform.FoldConstant"
[[passes]]
name = "cleanup"
opt_level = 1
passes = ["relax.transform.CanonicalizeBindings", "relax.transform.DeadCodeElimination"]
"#,
    );
    let ran = bench.passdock("run p.toml m.ir -o out.ir --json");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let report = ran.json();
    let passes: Vec<String> = report["passes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|pass| {
            let text = |key: &str| pass[key].as_str().unwrap_or("-").to_owned();
            let ops = format!("{}→{}", pass["ops_before"], pass["ops_after"]);
            [
                text("name"),
                text("status"),
                text("requested_by"),
                text("parent"),
                text("plugin"),
                ops,
            ]
            .join(" ")
        })
        .collect();
    expect![[r#"
        relax.transform.FoldConstant changed - - relax 2→1
        cleanup unchanged - - - 1→1
        relax.transform.CanonicalizeBindings unchanged - cleanup relax 1→1
        relax.transform.InferType unchanged relax.transform.DeadCodeElimination cleanup relax 1→1
        relax.transform.DeadCodeElimination unchanged - cleanup relax 1→1"#]]
    .assert_eq(&passes.join("\n"));
    assert_eq!(report["ok"], true);
    assert_eq!(report["exit_status"], 0);
    assert_eq!(report["model"]["in"], "m.ir");
    assert_eq!(report["model"]["out"], "out.ir");
    expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %0 = const f32[2] [2.0, 4.0]
            %1 = onnx.Mul(%x, %0) : f32[2]
            return %1
          }
        }
    "#]]
    .assert_eq(&bench.read("out.ir"));
}

#[test]
fn without_output_nothing_is_written() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let ran = bench.passdock("run m.ir --passes relax.transform.DeadCodeElimination");
    assert_eq!(ran.status, 0);
    assert!(ran.stdout.contains("not written"), "{}", ran.stdout);
    assert_eq!(bench.files(), ["m.ir"]);
}

#[test]
fn the_output_may_be_the_input() {
    let bench = Bench::new();
    bench.write("m.ir", FOLD);
    let ran = bench.passdock("run m.ir --passes relax.transform.FoldConstant -o m.ir");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(bench.read("m.ir").contains("[2.0, 4.0]"));
    assert_eq!(bench.files(), ["m.ir"]);
}

#[test]
fn an_onnx_model_may_be_written_over_itself() {
    let bench = Bench::new();
    bench.write("m.ir", FOLD);
    assert_eq!(bench.passdock("convert m.ir m.onnx").status, 0);
    let ran = bench.passdock("run m.onnx --passes relax.transform.FoldConstant -o m.onnx");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let ran = bench.passdock("convert m.onnx -");
    assert!(ran.stdout.contains("[2.0, 4.0]"), "{}", ran.stdout);
}

#[test]
fn text_goes_through_pipes() {
    let bench = Bench::new();
    let words = [
        "run",
        "-",
        "--passes",
        "relax.transform.FoldConstant",
        "-o",
        "-",
    ];
    let ran = bench.run(words, FOLD);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("module {"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("written to standard output"),
        "{}",
        ran.stderr
    );
}

#[test]
fn conversion_loses_nothing() {
    let bench = Bench::new();
    bench.write("m.ir", FOLD);
    for words in [
        "convert m.ir m.onnx",
        "convert m.onnx n.ir",
        "convert n.ir n.onnx",
    ] {
        let ran = bench.passdock(words);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{words}");
    }
    let bytes = |name| std::fs::read(bench.path(name)).expect("a model");
    assert_eq!(bytes("m.onnx"), bytes("n.onnx"));
}

#[test]
fn config_reaches_the_pass() {
    let bench = Bench::new();
    bench.write(
        "f.ir",
        r#"module {
  prim @copy(%a: buffer<f32[2]>, %b: buffer<f32[2]>) {
    for %i in 0..2 serial {
      %v = tir.load(%a, %i) : f32
      tir.store(%v, %b, %i)
    }
  }
}
"#,
    );
    let run = "run f.ir --passes tir.transform.UnrollLoop -o -";
    assert!(bench.passdock(run).stdout.contains("for %i"));
    let ran = bench.passdock(&format!("{run} --config tir.UnrollLoop.auto_max_step=2"));
    assert!(!ran.stdout.contains("for %i"), "{}", ran.stdout);
}

#[test]
fn growth_is_allowed_where_it_is_asked_for() {
    let bench = Bench::new();
    bench.write(
        "m.ir",
        r#"module {
  fn @main() -> (%y: f32[300]) opset("" = 17) {
    %a = const f32[] 1.0
    %shape = const i64[1] [300]
    %0 = onnx.Expand(%a, %shape) : f32[300]
    return %0
  }
}
"#,
    );
    let run = "run m.ir --passes relax.transform.FoldConstant -o -";
    assert!(bench.passdock(run).stdout.contains("onnx.Expand"));
    let ran = bench.passdock(&format!("{run} --allow-growth"));
    assert!(!ran.stdout.contains("onnx.Expand"), "{}", ran.stdout);
}

#[test]
fn changes_are_shown_as_a_diff() {
    let bench = Bench::new();
    bench.write("m.ir", FOLD);
    let ran = bench.passdock("run m.ir --passes relax.transform.FoldConstant --print-changed");
    assert_eq!(ran.status, 0);
    assert!(
        ran.stdout.contains("-  %1 = onnx.Add(%0, %0) : f32[2]"),
        "{}",
        ran.stdout
    );
}

#[test]
fn explain_says_what_runs_and_why() {
    let bench = Bench::new();
    let ran = bench.passdock(
        "explain --passes relax.transform.FoldConstant,relax.transform.DeadCodeElimination -O1 --json",
    );
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let passes: Vec<String> = ran.json()["passes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|pass| format!("{} {} {}", pass["name"], pass["runs"], pass["reason"]))
        .collect();
    expect![[r#"
        "relax.transform.FoldConstant" false "its level 2 is above the context's opt_level 1"
        "relax.transform.InferType" true "`relax.transform.DeadCodeElimination` requires it, unless nothing changed since it last ran"
        "relax.transform.DeadCodeElimination" true "level 1 ≤ opt_level 1""#]].assert_eq(&passes.join("\n"));
}

#[test]
fn explain_draws_what_runs() {
    let bench = Bench::new();
    bench.write(
        "dot.toml",
        r#"
        [context.config."relax.FuseOperators"]
        ops = ["onnx.Gelu"]
        [[passes]]
        name = "FoldConstant"
        [[passes]]
        name = "DeadCodeElimination"
        [[passes]]
        name = "tir.transform.UnrollLoop"
        options = { auto_max_step = 8 }
        [[passes]]
        name = "FuseOperators"
        "#,
    );
    let ran = bench.passdock("explain dot.toml --disable FoldConstant --dot");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    expect![[r#"
        digraph pipeline {
          compound=true;
          node [shape=box];
          p0 [label="relax.transform.FoldConstant", color=grey, fontcolor=grey];
          p1 [label="relax.transform.InferType\n(for relax.transform.DeadCodeElimination)"];
          p2 [label="relax.transform.DeadCodeElimination"];
          p3 [label="tir.transform.UnrollLoop\nauto_max_step = 8"];
          p4 [label="relax.transform.InferType\n(for relax.transform.FuseOperators)"];
          p5 [label="relax.transform.FuseOperators\nops = [\"onnx.Gelu\"] (config)"];
          p1 -> p2;
          p2 -> p3;
          p3 -> p4;
          p4 -> p5;
          p1 -> p2 [style=dashed, constraint=false];
          p4 -> p5 [style=dashed, constraint=false];
        }
    "#]]
    .assert_eq(&ran.stdout);
    let ran = bench.passdock("explain --passes FoldConstant --dot --json");
    assert_eq!(ran.status, 2, "one or the other");
}

/// A shell may leave little room for stacks.
#[cfg(unix)]
#[test]
fn a_small_stack_is_enough() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    for words in [
        "list pipelines",
        "run m.ir",
        "run m.ir --in-process",
        "--help",
    ] {
        let line = format!("ulimit -s 64; exec '{}' {words}", passdock().display());
        let output = std::process::Command::new("sh")
            .args(["-c", &line])
            .current_dir(bench.path(""))
            .output()
            .expect("a shell");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}: {stderr}");
    }
}
