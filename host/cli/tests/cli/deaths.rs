//! Plugins that end the process: what stays possible after that. What is told of each death is in `fault_table`.

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

#[test]
fn a_death_is_in_the_table_of_the_passes() {
    let Some(bench) = bench() else { return };
    let ran = run(&bench, "segv", "");
    let row = "FAILED\nfrom plugin.so\n";
    assert!(ran.stdout.contains(row), "{}", ran.stdout);
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
