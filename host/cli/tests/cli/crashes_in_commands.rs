//! Crash isolation of the commands other than `run` that use plugins.

use crate::crashes::bench;
use crate::support::{Bench, RELUS, Ran};

/// A model with several ops, one of which makes a pass crash.
const MIXED: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[2]
    %1 = onnx.Abs(%0) : f32[2]
    %2 = onnx.Sigmoid(%1) : f32[2]
    %3 = onnx.Neg(%2) : f32[2]
    %4 = onnx.Relu(%3) : f32[2]
    return %4
  }
}
"#;

/// The op that makes the pass crash.
const ONLY: &str = "onnx.Sigmoid";

fn run_with_fault(bench: &Bench, fault: &str, at: &str, words: &str) -> Ran {
    let variables = [("FAULT", fault), ("AT", at)];
    bench.run_with(&variables, words.split_whitespace(), "")
}

/// Faults that terminate the process, the option that limits them if they don't, and the expected report.
const FAULTS: [(&str, &str, &str); 5] = [
    ("segv", "", "the pass crashed: SIGSEGV, "),
    ("exit", "", "the pass ended the process"),
    ("_exit", "", "the pass ended the process with status 0"),
    ("kill", "", "the pass crashed: SIGKILL, "),
    (
        "hang",
        "--timeout 1",
        "the pass was still running after 1 s",
    ),
];

#[test]
fn reduce_keeps_the_crashing_op() {
    let Some(bench) = bench() else { return };
    bench.write("mixed.ir", MIXED);
    for (fault, option, expected) in FAULTS {
        let words = format!(
            "reduce mixed.ir --plugin plugin.so --passes c.transform.Crash -o small.ir {option}"
        );
        let variables = [("FAULT", fault), ("ONLY", ONLY)];
        let ran = bench.run_with(&variables, words.split_whitespace(), "");
        assert_eq!(ran.status, 0, "{fault}: {}", ran.stderr);
        let kept = "still crashed in c.transform.Crash";
        assert!(ran.stdout.contains(kept), "{fault}: {}", ran.stdout);
        assert!(ran.stdout.contains(expected), "{fault}: {}", ran.stdout);
        assert!(
            ran.stdout.contains("5 → 1 ops after "),
            "{fault}: {}",
            ran.stdout
        );
        assert!(bench.read("small.ir").contains(ONLY), "{fault}");
    }
    assert_eq!(bench.files(), ["m.ir", "mixed.ir", "plugin.so", "small.ir"]);
}

#[test]
fn bisect_finds_the_crashing_rewrite() {
    let Some(bench) = bench() else { return };
    bench.write("mixed.ir", MIXED);
    let words =
        "bisect mixed.ir --test true{} --plugin plugin.so --passes c.transform.Crash -o proof";
    let ran = run_with_fault(&bench, "segv in a rewrite", "pass", words);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for expected in [
        "c.transform.Crash of plugin crash fails, in function @main; nothing to search: the pass crashed: SIGSEGV, ",
        "it fails at rewrite 3: rule `c_mark`",
        "disable it with `--disabled-rule c_mark`",
    ] {
        assert!(ran.stdout.contains(expected), "{expected}: {}", ran.stdout);
    }
    let replay = "replay proof/reproducer --plugin plugin.so";
    let ran = run_with_fault(&bench, "segv in a rewrite", "pass", replay);
    let same = "same failure: crashed in c.transform.Crash";
    assert!(ran.stdout.contains(same), "{}", ran.stdout);
}

#[test]
fn reduce_distinguishes_different_crashes() {
    let Some(bench) = bench() else { return };
    bench.write("mixed.ir", MIXED);
    // With fewer ops it crashes for a different reason.
    let words = "reduce mixed.ir --plugin plugin.so --passes c.transform.Crash -o small.ir";
    let variables = [("FAULT", "segv, fpe below 4 ops")];
    let ran = bench.run_with(&variables, words.split_whitespace(), "");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("crashed: SIGSEGV, "), "{}", ran.stdout);
    assert!(ran.stdout.contains("5 → 4 ops after "), "{}", ran.stdout);
}

#[test]
fn reduce_with_test_skips_crashing_candidates() {
    let Some(bench) = bench() else { return };
    bench.write("mixed.ir", MIXED);
    // Without the Relus the pipeline duplicates nothing. With few ops, a pass crashes.
    let words = [
        "reduce",
        "mixed.ir",
        "--plugin",
        "plugin.so",
        "--passes",
        "relax.transform.SimplifyExpr,c.transform.Crash",
        "--test",
        "test $(grep -c onnx {}) = $(grep -c onnx {in})",
        "-o",
        "small.ir",
    ];
    bench.write(
        "mixed.ir",
        MIXED.replace("onnx.Neg(%2)", "onnx.Identity(%2)"),
    );
    let ran = bench.run_with(&[("FAULT", "segv below 3 ops")], words, "");
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let still = "the test still passes before the pipeline and fails after it";
    assert!(ran.stdout.contains(still), "{}", ran.stdout);
    assert!(
        bench.read("small.ir").contains("onnx.Identity"),
        "{}",
        bench.read("small.ir")
    );
}

#[test]
fn bisect_names_the_crashing_pass() {
    let Some(bench) = bench() else { return };
    for (fault, option, expected) in FAULTS {
        let words = [
            "bisect",
            "m.ir",
            "--plugin",
            "plugin.so",
            "--passes",
            "relax.transform.DeadCodeElimination,c.transform.Crash",
            "--test",
            "true {}",
            "-o",
            "found",
        ];
        let words = words.into_iter().chain(option.split_whitespace());
        let ran = bench.run_with(&[("FAULT", fault)], words, "");
        assert_eq!(ran.status, 0, "{fault}: {}", ran.stderr);
        let found = "c.transform.Crash of plugin crash fails";
        assert!(ran.stdout.contains(found), "{fault}: {}", ran.stdout);
        assert!(ran.stdout.contains(expected), "{fault}: {}", ran.stdout);
        let replay = "passdock replay found/reproducer --plugin plugin.so";
        assert!(ran.stdout.contains(replay), "{fault}: {}", ran.stdout);
        let words = format!("replay found/reproducer --plugin plugin.so {option}");
        let ran = run_with_fault(&bench, fault, "pass", &words);
        let same = "same failure: crashed in c.transform.Crash";
        assert!(ran.stdout.contains(same), "{fault}: {}", ran.stdout);
    }
}

#[test]
fn bisect_continues_after_a_crash() {
    let Some(bench) = bench() else { return };
    // The pass breaks the model, and crashes during the search for the bad rewrite.
    let words = [
        "bisect",
        "m.ir",
        "--plugin",
        "plugin.so",
        "--passes",
        "c.transform.Crash",
        "--test",
        "test $(grep -c Relu {}) = 2",
    ];
    let ran = bench.run_with(&[("FAULT", "segv the second time")], words, "");
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let found = "c.transform.Crash of plugin crash breaks the model, in function @main";
    assert!(ran.stdout.contains(found), "{}", ran.stdout);
}

#[test]
fn bisect_and_reduce_report_library_load_crashes() {
    let Some(bench) = bench() else { return };
    for fault in ["segv", "exit", "_exit"] {
        for words in [
            "bisect m.ir --test true{} --plugin plugin.so --passes c.transform.Crash",
            "reduce m.ir --plugin plugin.so --passes c.transform.Crash",
            "run m.ir --plugin plugin.so --passes c.transform.Crash",
        ] {
            let ran = run_with_fault(&bench, fault, "constructor", words);
            assert_eq!(ran.status, 1, "{fault}: {words}: {}", ran.stderr);
            let expected = "error[crashed]: library `crash` ";
            assert!(ran.stderr.contains(expected), "{fault}: {}", ran.stderr);
            let file = "the plugin is `plugin.so`";
            assert!(ran.stderr.contains(file), "{fault}: {}", ran.stderr);
        }
    }
}

#[test]
fn check_and_list_report_library_load_crashes() {
    let Some(bench) = bench() else { return };
    bench.write("p.toml", "passes = ['c.transform.Crash']\n");
    for fault in ["segv", "abort", "exit", "_exit", "hang"] {
        let option = if fault == "hang" { "--timeout 1" } else { "" };
        for words in ["check p.toml", "list ops"] {
            let words = format!("{words} --plugin plugin.so {option}");
            let ran = run_with_fault(&bench, fault, "constructor", &words);
            assert_eq!(ran.status, 1, "{fault}: {words}: {}", ran.stderr);
            assert_eq!(ran.stdout, "", "{fault}: {words}");
            let expected = "error[crashed]: library `crash` ";
            assert!(ran.stderr.contains(expected), "{fault}: {}", ran.stderr);
            let file = "the plugin is `plugin.so`";
            assert!(ran.stderr.contains(file), "{fault}: {}", ran.stderr);
            let json =
                run_with_fault(&bench, fault, "constructor", &format!("{words} --json")).json();
            assert_eq!(json["ok"], false, "{fault}: {words}");
            assert_eq!(json["diagnostics"][0]["code"], "crashed", "{fault}");
        }
    }
}

#[test]
fn other_commands_load_no_plugins() {
    let Some(bench) = bench() else { return };
    bench.write("p.toml", "passes = ['c.transform.Crash']\n");
    let dir = bench.path("");
    let dir = dir.to_str().expect("a UTF-8 path");
    for words in [
        "explain p.toml --plugin plugin.so",
        "list passes --plugin plugin.so",
        "list passes c.transform.Crash --plugin plugin.so",
        "list plugins crash --plugin plugin.so",
        "list instruments crash.watch --plugin plugin.so",
        "inspect plugin.so",
        "convert m.ir out.ir --plugin plugin.so",
        "stats m.ir",
        "diff m.ir m.ir",
    ] {
        // Commands that take no plugin would find it in the search path.
        let variables = [
            ("FAULT", "_exit"),
            ("AT", "constructor"),
            ("PASSDOCK_PLUGIN_PATH", dir),
        ];
        let ran = bench.run_with(&variables, words.split_whitespace(), "");
        assert_eq!(ran.status, 0, "{words}: {}", ran.stderr);
        assert_eq!(ran.stderr, "", "{words}");
        let is_silent = words.starts_with("convert") || words.starts_with("diff");
        assert_eq!(ran.stdout.is_empty(), is_silent, "{words}");
    }
}

/// A model with an op that a plugin defines.
const DEFINED: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "crash" = 1) {
    %0 = onnx.Relu(%x) : f32[2]
    %1 = crash.Op(%0)
    return %1
  }
}
"#;

/// Faults, and the expected reports.
const CRASHES: [(&str, &str); 5] = [
    ("segv", "crashed: SIGSEGV, "),
    ("exit", "ended the process"),
    ("_exit", "ended the process with status 0"),
    ("kill", "crashed: SIGKILL, "),
    ("hang", "was still running after 1 s"),
];

#[test]
fn convert_and_extract_report_op_definition_crashes() {
    let Some(bench) = bench() else { return };
    bench.write("d.ir", DEFINED).write("out.ir", "as it was");
    let files = bench.files();
    for (fault, expected) in CRASHES {
        let option = if fault == "hang" { "--timeout 1" } else { "" };
        for model in ["d.ir", "-"] {
            let words = format!("convert {model} out.ir --value-info --plugin plugin.so {option}");
            let variables = [("FAULT", fault), ("AT", "infer")];
            let ran = bench.run_with(&variables, words.split_whitespace(), DEFINED);
            assert_eq!(ran.status, 1, "{fault}: {}", ran.stderr);
            let expected = format!("error[crashed]: definition of `crash.Op` {expected}");
            for expected in [&expected, "the plugin is `plugin.so`"] {
                assert!(ran.stderr.contains(expected), "{fault}: {}", ran.stderr);
            }
            assert_eq!(bench.read("out.ir"), "as it was", "{fault}");
            assert_eq!(bench.files(), files, "{fault}");
        }
        // If type inference crashes, the part is extracted without types.
        let words = format!("extract d.ir --outputs y -o part.ir --plugin plugin.so {option}");
        let ran = run_with_fault(&bench, fault, "infer", &words);
        assert_eq!(ran.status, 0, "{fault}: {}", ran.stderr);
        let expected = format!("warning[crashed]: definition of `crash.Op` {expected}");
        assert!(ran.stderr.contains(&expected), "{fault}: {}", ran.stderr);
        assert!(bench.read("part.ir").contains("crash.Op"), "{fault}");
        std::fs::remove_file(bench.path("part.ir")).expect("the part");
    }
    // In process, crashes that can be detected are reported, too.
    for (fault, expected) in &CRASHES[..2] {
        let words = "convert d.ir out.ir --value-info --plugin plugin.so --in-process";
        let ran = run_with_fault(&bench, fault, "infer", words);
        assert_eq!(ran.status, 1, "{fault}: {}", ran.stderr);
        let expected = format!("error[crashed]: definition of `crash.Op` {expected}");
        assert!(ran.stderr.contains(&expected), "{fault}: {}", ran.stderr);
        assert_eq!(bench.read("out.ir"), "as it was", "{fault}");
    }
}

#[test]
fn convert_and_extract_report_library_load_crashes() {
    let Some(bench) = bench() else { return };
    bench.write("d.ir", DEFINED).write("out.ir", "as it was");
    for fault in ["segv", "exit", "_exit"] {
        let words = "convert d.ir out.ir --value-info --plugin plugin.so";
        let ran = run_with_fault(&bench, fault, "constructor", words);
        assert_eq!(ran.status, 1, "{fault}: {}", ran.stderr);
        let expected = "error[crashed]: library `crash` ";
        assert!(ran.stderr.contains(expected), "{fault}: {}", ran.stderr);
        assert_eq!(bench.read("out.ir"), "as it was", "{fault}");
        let words = "extract d.ir --outputs y -o part.ir --plugin plugin.so";
        let ran = run_with_fault(&bench, fault, "constructor", words);
        assert_eq!(ran.status, 0, "{fault}: {}", ran.stderr);
        let expected = "warning[crashed]: library `crash` ";
        assert!(ran.stderr.contains(expected), "{fault}: {}", ran.stderr);
        assert!(bench.read("part.ir").contains("crash.Op"), "{fault}");
    }
}

#[test]
fn blame_reports_pass_and_op_definition_crashes() {
    let Some(bench) = bench() else { return };
    bench.write("d.ir", DEFINED);
    let files = bench.files();
    for (fault, expected) in CRASHES {
        let option = if fault == "hang" { "--timeout 1" } else { "" };
        for (at, passes, subject, model) in [
            ("pass", "c.transform.Crash", "the pass", "d.ir"),
            ("pass", "c.transform.Crash", "the pass", "-"),
            (
                "infer",
                "relax.transform.InferType",
                "definition of `crash.Op`",
                "d.ir",
            ),
            (
                "constructor",
                "c.transform.Crash",
                "library `crash`",
                "d.ir",
            ),
        ] {
            let words = format!("blame {model} y --plugin plugin.so --passes {passes} {option}");
            let variables = [("FAULT", fault), ("AT", at)];
            let ran = bench.run_with(&variables, words.split_whitespace(), DEFINED);
            assert_eq!(ran.status, 1, "{fault}, {at}: {}", ran.stderr);
            let named = match at {
                "pass" => "in pass c.transform.Crash of plugin `plugin.so`, function @main",
                _ => "the plugin is `plugin.so`",
            };
            for expected in [&format!("error[crashed]: {subject} {expected}"), named] {
                assert!(
                    ran.stderr.contains(expected),
                    "{fault}, {at}: {}",
                    ran.stderr
                );
            }
            assert_eq!(ran.stdout, "", "{fault}, {at}");
        }
        let words =
            format!("blame d.ir y --plugin plugin.so --passes c.transform.Crash --json {option}");
        let json = run_with_fault(&bench, fault, "pass", &words).json();
        assert_eq!(json["diagnostics"][0]["code"], "crashed", "{fault}");
        assert_eq!(bench.files(), files, "{fault}");
    }
}

#[test]
fn bisect_of_stdin_continues_after_a_crash() {
    let Some(bench) = bench() else { return };
    let words = "bisect - --test true{} --plugin plugin.so --passes c.transform.Crash";
    let variables = [("FAULT", "_exit")];
    let ran = bench.run_with(&variables, words.split_whitespace(), RELUS);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let found = "c.transform.Crash of plugin crash fails";
    assert!(ran.stdout.contains(found), "{}", ran.stdout);
}

#[test]
fn in_process_crashes_are_reported() {
    let Some(bench) = bench() else { return };
    bench.write("p.toml", "passes = ['c.transform.Crash']\n");
    for (at, words) in [
        ("constructor", "check p.toml --plugin plugin.so"),
        ("constructor", "list ops --plugin plugin.so"),
        (
            "pass",
            "reduce m.ir --plugin plugin.so --passes c.transform.Crash",
        ),
        (
            "pass",
            "bisect m.ir --test true{} --plugin plugin.so --passes c.transform.Crash",
        ),
        (
            "pass",
            "run m.ir --plugin plugin.so --passes c.transform.Crash",
        ),
    ] {
        for fault in ["segv", "exit 3"] {
            let words = format!("{words} --in-process --json");
            let ran = run_with_fault(&bench, fault, at, &words);
            assert_eq!(ran.status, 1, "{fault}: {words}: {}", ran.stderr);
            let expected = match fault {
                "segv" => "crashed: SIGSEGV",
                _ => "ended the process",
            };
            for expected in ["error[crashed]: ", expected] {
                assert!(ran.stderr.contains(expected), "{words}: {}", ran.stderr);
            }
            assert_eq!(ran.stdout, "", "{words}");
        }
    }
}

#[test]
fn zero_timeout_is_rejected() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    for words in [
        "run m.ir --timeout 0",
        "run m.ir --timeout 0.0",
        "reduce m.ir --timeout 0",
        "bisect m.ir --timeout 0",
        "bisect m.ir --test true{} --test-timeout 0",
        "check default --timeout 0",
        "plugin check lib.so --timeout 0",
    ] {
        let ran = bench.passdock(words);
        assert_eq!(ran.status, 2, "{words}");
        let expected = "must be greater than 0";
        assert!(ran.stderr.contains(expected), "{words}: {}", ran.stderr);
    }
}
