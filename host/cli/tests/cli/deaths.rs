//! Plugins that end the process: what is told of it, and that nothing is lost.

use crate::support::{Bench, RELUS, Ran, in_c};

/// A model, and the plugin that does what `FAULT` says.
pub(crate) fn bench() -> Option<Bench> {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    in_c(&bench, "tests/bad-plugins/dies.c", &["-pthread"])?;
    Some(bench)
}

fn run(bench: &Bench, fault: &str, more: &str) -> Ran {
    let words = format!("run m.ir --plugin plugin.so --passes c.transform.Dies -o out.ir {more}");
    bench.run_with(&[("FAULT", fault)], words.split_whitespace(), "")
}

/// What is said of `exit(0)`: the C library says the status.
const EXITED: &str = match cfg!(all(target_os = "linux", target_env = "gnu")) {
    true => "ended the process with status 0",
    false => "ended the process",
};

/// What is said of another program in the place of the process, if the system says so.
const EXECUTED: &str = match cfg!(target_os = "linux") {
    true => "put another program, `true`, in the place of the process",
    false => "ended the process with status 0",
};

/// The faults that end a process, what is said of each, and whether the function is known.
const DEADLY: [(&str, &str, bool); 11] = [
    ("segv", "crashed: SIGSEGV, ", true),
    ("abort", "crashed: SIGABRT, ", true),
    ("fpe", "crashed: SIGFPE, ", true),
    ("ill", "crashed: SIGILL, ", true),
    ("stack", "used up its stack (SIGSEGV)", true),
    ("exit", EXITED, true),
    ("quick_exit", "ended the process", false),
    ("_exit", "ended the process with status 0", false),
    ("exec", EXECUTED, false),
    ("kill", "crashed: SIGKILL, ", false),
    ("thread", "crashed: SIGSEGV, ", false),
];

#[test]
fn a_death_is_told_with_pass_and_plugin_and_leaves_a_reproducer() {
    let Some(bench) = bench() else { return };
    for (fault, said, knows_function) in DEADLY {
        bench.write("out.ir", "as it was");
        let ran = run(&bench, fault, "");
        assert_eq!(ran.status, 1, "{fault}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("error[crashed]: "),
            "{fault}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains(said), "{fault}: {}", ran.stderr);
        let place = "in pass c.transform.Dies of plugin `plugin.so`";
        assert!(ran.stderr.contains(place), "{fault}: {}", ran.stderr);
        let has_function = ran.stderr.contains("function @main");
        assert_eq!(has_function, knows_function, "{fault}: {}", ran.stderr);
        assert!(
            ran.stdout.contains("FAILED\nfrom plugin.so\n"),
            "{fault}: {}",
            ran.stdout
        );
        assert_eq!(bench.read("out.ir"), "as it was", "{fault}");
        let files = ["m.ir", "out.ir", "out.ir.reproducer", "plugin.so"];
        assert_eq!(bench.files(), files, "{fault}");
    }
}

#[test]
fn a_death_in_json_is_a_report_as_any() {
    let Some(bench) = bench() else { return };
    let ran = run(&bench, "segv", "--json");
    let report = ran.json();
    assert_eq!(report["ok"], false);
    assert_eq!(report["exit_status"], 1);
    assert_eq!(report["passes"][0]["status"], "failed");
    assert_eq!(report["diagnostics"][0]["code"], "crashed");
    assert_eq!(report["diagnostics"][0]["pass"], "c.transform.Dies");
    assert_eq!(report["diagnostics"][0]["function"], "main");
}

#[test]
fn a_run_that_takes_too_long_is_ended() {
    let Some(bench) = bench() else { return };
    for fault in ["hang", "spin"] {
        let ran = run(&bench, fault, "--timeout 0.5");
        assert_eq!(ran.status, 1, "{fault}: {}", ran.stderr);
        let said = "It was still running after 0.5 s.";
        assert!(ran.stderr.contains(said), "{fault}: {}", ran.stderr);
        let place = "in pass c.transform.Dies of plugin `plugin.so`, function @main";
        assert!(ran.stderr.contains(place), "{fault}: {}", ran.stderr);
    }
}

#[test]
fn a_library_that_dies_while_it_is_loaded_is_named() {
    let Some(bench) = bench() else { return };
    let ran = run(&bench, "load", "");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let said = "error[crashed]: The library `dies` crashed: SIGSEGV, ";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("it is in `plugin.so`"),
        "{}",
        ran.stderr
    );
    assert_eq!(bench.files(), ["m.ir", "plugin.so"]);
}

#[test]
fn what_a_library_does_at_the_end_changes_nothing() {
    let Some(bench) = bench() else { return };
    for fault in ["atexit status", "atexit crash", "chdir", "print"] {
        let ran = run(&bench, fault, "");
        assert_eq!(ran.status, 0, "{fault}: {}", ran.stderr);
        assert!(
            ran.stdout.contains("written to out.ir"),
            "{fault}: {}",
            ran.stdout
        );
        assert!(!ran.stdout.contains("printed"), "{fault}: {}", ran.stdout);
        assert_eq!(
            ran.stderr.contains("printed by the plugin"),
            fault == "print"
        );
        assert_eq!(bench.read("out.ir"), RELUS, "{fault}");
    }
}

#[test]
fn a_model_from_standard_input_is_there_for_the_second_process() {
    let Some(bench) = bench() else { return };
    let words = "run - --plugin plugin.so --passes c.transform.Dies -o out.ir";
    let ran = bench.run_with(&[("FAULT", "segv")], words.split_whitespace(), RELUS);
    assert_eq!(ran.status, 1);
    let said = "error[crashed]: It crashed: SIGSEGV, ";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let ran = bench.run_with(&[("FAULT", "")], words.split_whitespace(), RELUS);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(bench.read("out.ir"), RELUS);
}

#[test]
fn a_reproducer_dies_the_same_death() {
    let Some(bench) = bench() else { return };
    for (fault, more) in [("segv", ""), ("hang", "--timeout 0.5")] {
        run(&bench, fault, more);
        let words = format!("replay out.ir.reproducer --plugin plugin.so {more}");
        let ran = bench.run_with(&[("FAULT", fault)], words.split_whitespace(), "");
        assert_eq!(ran.status, 1, "{fault}: {}", ran.stderr);
        let said = "the same failure: crashed in c.transform.Dies";
        assert!(ran.stdout.contains(said), "{fault}: {}", ran.stdout);
    }
}

#[test]
fn a_plugin_prints_beside_the_model_and_the_report() {
    let Some(bench) = bench() else { return };
    let words = "run m.ir --plugin plugin.so --passes c.transform.Dies -o -";
    let ran = bench.run_with(&[("FAULT", "print")], words.split_whitespace(), "");
    assert_eq!(ran.stdout, RELUS, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("printed by the plugin"),
        "{}",
        ran.stderr
    );
    let ran = run(&bench, "print", "--json");
    assert_eq!(ran.json()["ok"], true);
}

#[test]
fn in_process_a_death_is_told_by_the_process_that_dies() {
    let Some(bench) = bench() else { return };
    for (fault, said) in [
        ("segv", "The pass `c.transform.Dies` crashed: SIGSEGV, "),
        ("abort", "The pass `c.transform.Dies` crashed: SIGABRT, "),
        (
            "stack",
            "The pass `c.transform.Dies` used up its stack (SIGSEGV).",
        ),
        ("exit", EXITED),
        ("thread", "no call into a plugin was on this thread"),
    ] {
        let ran = run(&bench, fault, "--in-process");
        assert_eq!(ran.status, 1, "{fault}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{fault}: {}", ran.stderr);
        assert!(!bench.exists("out.ir"), "{fault}");
    }
    let ran = run(&bench, "atexit crash", "--in-process");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
}
