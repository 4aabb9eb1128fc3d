//! Validation of `--json` output against its schema.

#[allow(dead_code, reason = "the schemas of files need all of it")]
#[path = "../../../../tests/tests/schemas/checker.rs"]
pub(crate) mod checker;

use checker::Schema;

use crate::support::{Bench, RELUS, plugin};

pub(crate) const SCHEMA: &str = include_str!("../../../../docs/schemas/output.schema.json");

const RULES: &str = "rule relu_relu { onnx.Relu(onnx.Relu(%x)) => onnx.Relu(%x) }\n";

/// A model that differs from [`RELUS`] in every property that a diff reports.
const OTHER: &str = r#"module {
  fn @main(%z: f32[3], %w: i64[n]) -> (%y: f32[3]) opset("" = 18) {
    %c = const f32[3] [1.0, 2.0, 3.0]
    %0 = onnx.LeakyRelu(%z) {alpha = 0.5} : f32[3]
    %1 = onnx.Add(%0, %c) : f32[3]
    return %1
  }
  fn @more(%x: f32[?]) -> (%y: f32[?]) opset("" = 18) {
    return %x
  }
}
"#;

/// Runs a command and validates its output against a definition.
#[track_caller]
fn check(bench: &Bench, variables: &[(&str, &str)], definition: &str, words: &str) {
    let words = format!("{words} --json");
    let ran = bench.run_with(variables, words.split_whitespace(), "");
    let misfit = Schema::new(SCHEMA).misfit(definition, &ran.json());
    assert_eq!(misfit, None, "{words}: {}", ran.stderr);
    assert_eq!(ran.json()["json_version"], 1);
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    bench.write("other.ir", OTHER);
    bench.write("fuse.rules", RULES);
    bench.write(
        "p.toml",
        "passes = ['FoldConstant', { rules = 'fuse.rules' }]\n",
    );
    bench
}

#[test]
fn run_and_pipeline_reports_match_the_schema() {
    let bench = bench();
    for (definition, words) in [
        ("run", "run m.ir -o out.ir --timing --instrument op-count"),
        ("run", "run p.toml m.ir -o out.ir"),
        ("run", "run gone.toml m.ir"),
        ("run", "run m.ir --passes bad.transform.Panic -o panics.ir"),
        ("run", "run m.ir -o out.ir --provenance out.json"),
        ("verify-provenance", "verify-provenance out.json"),
        ("verify-provenance", "verify-provenance gone.json"),
        ("lock", "lock p.toml"),
        ("lock", "lock gone.toml"),
        ("check", "check p.toml --locked"),
        ("check", "check gone.toml"),
        ("explain", "explain p.toml -O1"),
        ("explain", "explain"),
        ("failed", "explain gone.toml"),
        ("replay", "replay panics.ir.reproducer"),
        ("failed", "replay gone.reproducer"),
    ] {
        check(&bench, &[], definition, words);
    }
}

#[cfg(unix)]
#[test]
fn crash_reports_match_the_schema() {
    let Some(bench) = crate::crashes::bench() else {
        return;
    };
    let crash = "--plugin plugin.so --passes c.transform.Crash";
    for (definition, words) in [
        ("run", format!("run m.ir {crash} -o out.ir")),
        (
            "replay",
            "replay out.ir.reproducer --plugin plugin.so".to_owned(),
        ),
        ("bisect", format!("bisect m.ir {crash} --test false{{}}")),
        ("reduce", format!("reduce m.ir {crash} -o small.ir")),
    ] {
        check(&bench, &[("FAULT", "segv")], definition, &words);
    }
}

#[test]
fn model_reports_match_the_schema() {
    let bench = bench();
    for (definition, words) in [
        ("stats", "stats m.ir"),
        ("stats", "stats other.ir"),
        ("stats", "stats gone.ir"),
        ("diff", "diff m.ir m.ir"),
        ("diff", "diff m.ir other.ir --text"),
        ("diff", "diff other.ir m.ir"),
        ("diff", "diff m.ir gone.ir"),
        ("compare", "compare m.ir gone.ir"),
        (
            "bisect",
            "bisect m.ir --passes bad.transform.Panic --test true{}",
        ),
        ("bisect", "bisect p.toml m.ir --test true{}"),
        (
            "reduce",
            "reduce m.ir --passes bad.transform.Panic -o small.ir",
        ),
        ("reduce", "reduce p.toml m.ir"),
        ("blame", "blame p.toml m.ir %0"),
        ("blame", "blame m.ir gone"),
        ("extract", "extract m.ir --outputs y -o part.ir"),
        ("extract", "extract m.ir --outputs gone -o part.ir"),
        ("extract", "extract m.ir --outputs y -o -"),
    ] {
        check(&bench, &[], definition, words);
    }
}

#[test]
fn plugin_reports_match_the_schema() {
    let bench = bench();
    for what in [
        "passes",
        "plugins",
        "instruments",
        "config",
        "ops",
        "analyses",
        "pipelines",
    ] {
        check(
            &bench,
            &[],
            &format!("list-{what}"),
            &format!("list {what}"),
        );
    }
    let file = plugin("passdock-relax").display().to_string();
    check(&bench, &[], "inspect", &format!("inspect {file}"));
    check(
        &bench,
        &[],
        "inspect-several",
        &format!("inspect {file} fuse.rules gone.so"),
    );
    check(
        &bench,
        &[],
        "plugin-check",
        &format!("plugin check {file} --only manifest,memory"),
    );
    check(
        &bench,
        &[],
        "plugin-install",
        &format!("plugin install {file}"),
    );
    for (definition, words) in [
        ("list-passes", "list passes FoldConstant"),
        ("list-passes", "list passes fuse.rules"),
        ("list-plugins", "list plugins relax"),
        ("list-instruments", "list instruments timing"),
        ("failed", "list passes Nothing"),
        ("inspect", "inspect fuse.rules"),
        ("inspect", "inspect p.toml"),
        ("plugin-checks", "plugin check --list"),
        ("failed", "plugin check gone.so"),
    ] {
        check(&bench, &[], definition, words);
    }
}
