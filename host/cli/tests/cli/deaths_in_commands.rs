//! Commands that use plugins beside `run`: none of them dies with one.

use crate::deaths::bench;
use crate::support::{Bench, RELUS, Ran};

/// Ops of which a pass dies only if one is there.
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

/// The only op of it that matters.
const ONLY: &str = "onnx.Sigmoid";

fn with(bench: &Bench, fault: &str, at: &str, words: &str) -> Ran {
    let variables = [("FAULT", fault), ("AT", at)];
    bench.run_with(&variables, words.split_whitespace(), "")
}

/// The faults that end the process, the option that ends them if they don't, and what is said of each.
const DEADLY: [(&str, &str, &str); 6] = [
    ("segv", "", "It crashed: SIGSEGV, "),
    ("exit", "", "It ended the process"),
    ("_exit", "", "It ended the process with status 0"),
    (
        "exec",
        "",
        match cfg!(target_os = "linux") {
            true => "It put another program, `true`, in the place of the process",
            false => "It ended the process",
        },
    ),
    ("kill", "", "It crashed: SIGKILL, "),
    ("hang", "--timeout 1", "It was still running after 1 s."),
];

#[test]
fn reduce_keeps_the_ops_that_a_pass_dies_of() {
    let Some(bench) = bench() else { return };
    bench.write("mixed.ir", MIXED);
    for (fault, option, said) in DEADLY {
        let words = format!(
            "reduce mixed.ir --plugin plugin.so --passes c.transform.Dies -o small.ir {option}"
        );
        let variables = [("FAULT", fault), ("ONLY", ONLY)];
        let ran = bench.run_with(&variables, words.split_whitespace(), "");
        assert_eq!(ran.status, 0, "{fault}: {}", ran.stderr);
        let kept = "still crashed in c.transform.Dies";
        assert!(ran.stdout.contains(kept), "{fault}: {}", ran.stdout);
        assert!(ran.stdout.contains(said), "{fault}: {}", ran.stdout);
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
fn bisect_finds_the_rewrite_that_a_pass_dies_over() {
    let Some(bench) = bench() else { return };
    bench.write("mixed.ir", MIXED);
    let words =
        "bisect mixed.ir --check true{} --plugin plugin.so --passes c.transform.Dies -o proof";
    let ran = with(&bench, "segv in a rewrite", "pass", words);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for said in [
        "c.transform.Dies of plugin dies fails, in function @main; nothing to search: It crashed: SIGSEGV, ",
        "it fails over rewrite 3, by the rule `c_mark`",
        "without the rule: `--disable-rule c_mark`",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    let replay = "replay proof/reproducer --plugin plugin.so";
    let ran = with(&bench, "segv in a rewrite", "pass", replay);
    let same = "the same failure: crashed in c.transform.Dies";
    assert!(ran.stdout.contains(same), "{}", ran.stdout);
}

#[test]
fn reduce_does_not_take_one_death_for_another() {
    let Some(bench) = bench() else { return };
    bench.write("mixed.ir", MIXED);
    // On fewer ops it dies of something else.
    let words = "reduce mixed.ir --plugin plugin.so --passes c.transform.Dies -o small.ir";
    let variables = [("FAULT", "segv, fpe below 4 ops")];
    let ran = bench.run_with(&variables, words.split_whitespace(), "");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("crashed: SIGSEGV, "), "{}", ran.stdout);
    assert!(ran.stdout.contains("5 → 4 ops after "), "{}", ran.stdout);
}

#[test]
fn reduce_with_a_check_goes_past_the_candidates_that_a_pass_dies_of() {
    let Some(bench) = bench() else { return };
    bench.write("mixed.ir", MIXED);
    // The pipeline doubles nothing without the Relus; with few ops, a pass dies.
    let words = [
        "reduce",
        "mixed.ir",
        "--plugin",
        "plugin.so",
        "--passes",
        "relax.transform.SimplifyExpr,c.transform.Dies",
        "--check",
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
    let still = "still good before the pipeline and bad after it";
    assert!(ran.stdout.contains(still), "{}", ran.stdout);
    assert!(
        bench.read("small.ir").contains("onnx.Identity"),
        "{}",
        bench.read("small.ir")
    );
}

#[test]
fn bisect_names_the_pass_that_dies() {
    let Some(bench) = bench() else { return };
    for (fault, option, said) in DEADLY {
        let words = [
            "bisect",
            "m.ir",
            "--plugin",
            "plugin.so",
            "--passes",
            "relax.transform.DeadCodeElimination,c.transform.Dies",
            "--check",
            "true {}",
            "-o",
            "found",
        ];
        let words = words.into_iter().chain(option.split_whitespace());
        let ran = bench.run_with(&[("FAULT", fault)], words, "");
        assert_eq!(ran.status, 0, "{fault}: {}", ran.stderr);
        let found = "c.transform.Dies of plugin dies fails";
        assert!(ran.stdout.contains(found), "{fault}: {}", ran.stdout);
        assert!(ran.stdout.contains(said), "{fault}: {}", ran.stdout);
        let replay = "passdock replay found/reproducer --plugin plugin.so";
        assert!(ran.stdout.contains(replay), "{fault}: {}", ran.stdout);
        let words = format!("replay found/reproducer --plugin plugin.so {option}");
        let ran = with(&bench, fault, "pass", &words);
        let same = "the same failure: crashed in c.transform.Dies";
        assert!(ran.stdout.contains(same), "{fault}: {}", ran.stdout);
    }
}

#[test]
fn a_search_asks_each_question_once_also_after_a_death() {
    let Some(bench) = bench() else { return };
    // The pass breaks the model, and dies when it is looked for the rewrite that does. What the check sees is written
    // down.
    let words = [
        "bisect",
        "m.ir",
        "--plugin",
        "plugin.so",
        "--passes",
        "c.transform.Dies",
        "--check",
        "cat {} >> seen; test $(grep -c Relu {}) = 2",
    ];
    let ran = bench.run_with(&[("FAULT", "segv the second time")], words, "");
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let found = "c.transform.Dies of plugin dies breaks the model, in function @main";
    assert!(ran.stdout.contains(found), "{}", ran.stdout);
    let lines = ran.stdout.lines();
    let judged = lines.filter(|line| line.starts_with("good ") || line.starts_with("bad "));
    assert_eq!(judged.count(), 2, "{}", ran.stdout);
    assert_eq!(bench.read("seen").matches("module").count(), 2);
}

#[test]
fn bisect_and_reduce_tell_of_a_library_that_dies_while_it_is_loaded() {
    let Some(bench) = bench() else { return };
    for fault in ["segv", "exit", "_exit", "exec"] {
        for words in [
            "bisect m.ir --check true{} --plugin plugin.so --passes c.transform.Dies",
            "reduce m.ir --plugin plugin.so --passes c.transform.Dies",
            "run m.ir --plugin plugin.so --passes c.transform.Dies",
        ] {
            let ran = with(&bench, fault, "constructor", words);
            assert_eq!(ran.status, 1, "{fault}: {words}: {}", ran.stderr);
            let said = "error[crashed]: The library `dies` ";
            assert!(ran.stderr.contains(said), "{fault}: {}", ran.stderr);
            let file = "it is in `plugin.so`";
            assert!(ran.stderr.contains(file), "{fault}: {}", ran.stderr);
        }
    }
}

#[test]
fn commands_that_only_load_plugins_tell_of_one_that_dies() {
    let Some(bench) = bench() else { return };
    bench.write("p.toml", "passes = ['c.transform.Dies']\n");
    for fault in ["segv", "abort", "exit", "_exit", "exec", "hang"] {
        let option = if fault == "hang" { "--timeout 1" } else { "" };
        for words in ["check p.toml", "list ops"] {
            let words = format!("{words} --plugin plugin.so {option}");
            let ran = with(&bench, fault, "constructor", &words);
            assert_eq!(ran.status, 1, "{fault}: {words}: {}", ran.stderr);
            assert_eq!(ran.stdout, "", "{fault}: {words}");
            let said = "error[crashed]: The library `dies` ";
            assert!(ran.stderr.contains(said), "{fault}: {}", ran.stderr);
            let file = "it is in `plugin.so`";
            assert!(ran.stderr.contains(file), "{fault}: {}", ran.stderr);
            let json = with(&bench, fault, "constructor", &format!("{words} --json")).json();
            assert_eq!(json["ok"], false, "{fault}: {words}");
            assert_eq!(json["diagnostics"][0]["code"], "crashed", "{fault}");
        }
    }
    // These load nothing.
    for words in [
        "explain p.toml --plugin plugin.so",
        "list passes --plugin plugin.so",
        "inspect plugin.so",
    ] {
        let ran = with(&bench, "_exit", "constructor", words);
        assert_eq!(ran.status, 0, "{words}: {}", ran.stderr);
    }
}

#[test]
fn in_process_the_command_that_dies_says_so() {
    let Some(bench) = bench() else { return };
    bench.write("p.toml", "passes = ['c.transform.Dies']\n");
    for (at, words) in [
        ("constructor", "check p.toml --plugin plugin.so"),
        ("constructor", "list ops --plugin plugin.so"),
        (
            "pass",
            "reduce m.ir --plugin plugin.so --passes c.transform.Dies",
        ),
        (
            "pass",
            "bisect m.ir --check true{} --plugin plugin.so --passes c.transform.Dies",
        ),
        (
            "pass",
            "run m.ir --plugin plugin.so --passes c.transform.Dies",
        ),
    ] {
        for fault in ["segv", "exit 3"] {
            let words = format!("{words} --in-process --json");
            let ran = with(&bench, fault, at, &words);
            assert_eq!(ran.status, 1, "{fault}: {words}: {}", ran.stderr);
            assert!(
                ran.stderr.contains("error[crashed]: The "),
                "{}",
                ran.stderr
            );
            let json = ran.json();
            assert_eq!(json["ok"], false, "{words}");
            assert_eq!(json["exit_status"], 1, "{words}");
            assert_eq!(json["diagnostics"][0]["code"], "crashed", "{words}");
            let message = json["diagnostics"][0]["message"].as_str();
            let message = message.unwrap_or_default();
            let said = match fault {
                "segv" => "crashed: SIGSEGV",
                _ => "ended the process",
            };
            assert!(message.contains(said), "{words}: {message}");
        }
    }
}

#[test]
fn a_time_of_nothing_is_refused() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    for words in [
        "run m.ir --timeout 0",
        "run m.ir --timeout 0.0",
        "reduce m.ir --timeout 0",
        "bisect m.ir --timeout 0",
        "bisect m.ir --check true{} --check-timeout 0",
        "check default --timeout 0",
        "plugin check lib.so --timeout 0",
    ] {
        let ran = bench.passdock(words);
        assert_eq!(ran.status, 2, "{words}");
        let said = "nothing can be done in no time";
        assert!(ran.stderr.contains(said), "{words}: {}", ran.stderr);
    }
}
