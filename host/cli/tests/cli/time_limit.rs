//! `--timeout` for reading and writing by the command itself, on pipes without another end.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Bench, RELUS, passdock};

/// A directory with a model, a pipeline, and a pipe `pipe.toml`.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("m.ir", RELUS).write("out.ir", "before").write(
        "p.toml",
        "passes = ['relax.transform.DeadCodeElimination']\n",
    );
    let created = Command::new("mkfifo").arg(bench.path("pipe.toml")).status();
    assert!(created.unwrap().success());
    bench
}

/// Runs a command that waits for a pipe or for its standard input. Returns its standard output.
#[track_caller]
fn check(bench: &Bench, words: &str, expected: &str) -> String {
    let before = bench.read("out.ir");
    let start = Instant::now();
    let mut child = Command::new(passdock())
        .args(words.split(' ').chain(["--timeout", "0.5"]))
        .current_dir(bench.path(""))
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let expected = format!("error[crashed]: {expected}");
    assert!(stderr.contains(&expected), "{stderr}");
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert_eq!(stderr.matches("error").count(), 1, "{stderr}");
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(bench.read("out.ir"), before);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn timeout_ends_reading() {
    let bench = bench();
    let pipeline = "the command was still reading the pipeline `pipe.toml` after 0.5 s";
    check(&bench, "run pipe.toml m.ir -o out.ir", pipeline);
    let bisect = "bisect pipe.toml m.ir --test true{}";
    let expected = "the run was still running after 0.5 s, before the first pass";
    check(&bench, bisect, expected);
    let expected = "the command was still reading the model after 0.5 s";
    check(&bench, "run p.toml - -o out.ir", expected);
    let json = check(&bench, "run p.toml - -o out.ir --json", expected);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["ok"], &json["exit_status"]),
        (&false.into(), &1.into())
    );
}

#[test]
fn timeout_ends_writing() {
    let bench = bench();
    let page = "run p.toml m.ir -o out.ir --html-report pipe.toml";
    check(
        &bench,
        page,
        "the command was still writing the HTML report after 0.5 s",
    );
}

/// The instrument is waiting, not the pass before it.
#[test]
fn timeout_in_an_instrument_names_it() {
    let bench = bench();
    for trace in [
        "--trace pipe.toml",
        "--instrument timing={trace='pipe.toml'}",
    ] {
        let words = format!("run p.toml m.ir -o out.ir {trace} --timeout 1");
        let ran = bench.passdock(&words);
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        let expected = "instrument `timing` was still running after 1 s";
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        assert_eq!(bench.read("out.ir"), "before");
    }
}

/// The limit applies to the pipeline, not to the check.
#[test]
fn timeout_does_not_limit_the_check() {
    let bench = bench();
    let unused = RELUS.replacen("    return", "    %unused = onnx.Neg(%x)\n    return", 1);
    bench.write("m.ir", unused);
    let words = ["bisect", "p.toml", "m.ir", "--timeout", "1", "--test"];
    let words = words.into_iter().chain(["sleep 2; true {}"]);
    let ran = bench.run_with(&[], words, "");
    let expected = "error[check]: the test reports the result of the pipeline as good";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
}

/// A user may read the report in a pager.
#[test]
fn timeout_does_not_limit_printing() {
    let bench = bench();
    let run = format!(
        "'{}' run p.toml m.ir --json --timeout 1 | (sleep 2; cat)",
        passdock().display()
    );
    // Enough op kinds for a report that exceeds the buffer of a pipe.
    let ops: String = (0..2000)
        .map(|at| format!("    %v{at} = acme.Op{at}(%x) : f32[2]\n"))
        .collect();
    let head = "module {\n  fn @main(%x: f32[2]) -> (%y: f32[2]) {\n";
    bench.write("m.ir", format!("{head}{ops}    return %v0\n  }}\n}}\n"));
    let output = Command::new("bash")
        .args(["-o", "pipefail", "-c", &run])
        .current_dir(bench.path(""))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(output.stdout.len() > 1 << 16);
}
