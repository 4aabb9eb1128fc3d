//! Plugins that terminate the process: which operations still work afterwards. `fault_table` tests the reports.

use crate::support::{Bench, RELUS, Ran, in_c};

/// A directory with a model and the plugin that runs `FAULT`.
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
    let said = "error[crashed]: the pass crashed: SIGSEGV, ";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let ran = bench.run_with(&[("FAULT", "")], words.split_whitespace(), RELUS);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(bench.read("out.ir"), RELUS);
}

#[test]
fn a_death_is_told_though_the_second_process_gets_less_far() {
    let Some(bench) = bench() else { return };
    let ran = run(&bench, "segv, and no model", "");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    for said in [
        "error[crashed]: the pass crashed: SIGSEGV, ",
        "in pass c.transform.Dies",
    ] {
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    assert!(!ran.stderr.contains("could not read"), "{}", ran.stderr);
    assert!(!bench.exists("out.ir"));
}

#[test]
fn a_reproducer_dies_the_same_death() {
    let Some(bench) = bench() else { return };
    for (fault, more) in [("segv", ""), ("hang", "--timeout 0.5")] {
        let ran = run(&bench, fault, more);
        let words = format!("replay out.ir.reproducer --plugin plugin.so {more}");
        let words = words.trim_end();
        let advice = format!("replay it with `passdock {words}`");
        assert!(ran.stderr.contains(&advice), "{fault}: {}", ran.stderr);
        let ran = bench.run_with(&[("FAULT", fault)], words.split_whitespace(), "");
        assert_eq!(ran.status, 1, "{fault}: {}", ran.stderr);
        let said = "same failure: crashed in c.transform.Dies";
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
fn who_dies_when_the_output_is_there_has_done_its_work() {
    let Some(bench) = bench() else { return };
    bench.write("out.ir", "");
    let ran = run(&bench, "thread, late", "");
    // The thread may crash too late to be reported.
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(bench.read("out.ir"), RELUS);
    if !ran.stderr.is_empty() {
        let said = "help: The output was written before that, and it is whole.";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn time_that_is_over_while_no_pass_runs_ends_the_run() {
    use std::process::Command;
    let bench = Bench::new();
    // Reading it blocks forever.
    let made = Command::new("mkfifo").arg(bench.path("m.ir")).status();
    assert!(made.expect("mkfifo").success());
    let ran = bench.passdock("run m.ir --passes DeadCodeElimination -o out.ir --timeout 1");
    assert_eq!(ran.status, 1);
    let said = "error[crashed]: the run was still running after 1 s, before the first pass";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_plugin_that_goes_on_ends_with_the_command() {
    use std::fs;
    use std::process::{Command, Stdio};
    use std::thread::sleep;
    use std::time::Duration;
    let Some(bench) = bench() else { return };
    let words = "run m.ir --plugin plugin.so --passes c.transform.Dies -o out.ir";
    for signal in ["TERM", "KILL"] {
        let mut command = Command::new(crate::support::passdock())
            .args(words.split_whitespace())
            .current_dir(bench.path(""))
            .env("FAULT", "hang all the same")
            .stderr(Stdio::null())
            .spawn()
            .expect("the command");
        while !bench.exists("worker.pid") {
            sleep(Duration::from_millis(5));
        }
        let worker = bench.read("worker.pid");
        fs::remove_file(bench.path("worker.pid")).expect("it is there");
        let mut kill = Command::new("kill");
        kill.arg(format!("-{signal}")).arg(command.id().to_string());
        assert!(kill.status().expect("kill").success());
        command.wait().expect("its end");
        let state = || fs::read_to_string(format!("/proc/{worker}/stat")).unwrap_or_default();
        // A zombie process counts as terminated.
        let goes_on = || {
            state()
                .rsplit(") ")
                .next()
                .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
        };
        for _ in 0..2000 {
            if !goes_on() {
                break;
            }
            sleep(Duration::from_millis(5));
        }
        assert!(!goes_on(), "{signal}: {}", state());
    }
}
