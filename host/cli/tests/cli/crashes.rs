//! Operations that still work after a plugin terminated the process. `fault_table` tests the reports.

use crate::support::{Bench, RELUS, Ran, compile_c_plugin};

/// A directory with a model and the plugin that runs `FAULT`.
pub(crate) fn bench() -> Option<Bench> {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    compile_c_plugin(&bench, "tests/bad-plugins/crash.c", &["-pthread"])?;
    Some(bench)
}

fn run(bench: &Bench, fault: &str, options: &str) -> Ran {
    let words =
        format!("run m.ir --plugin plugin.so --passes c.transform.Crash -o out.ir {options}");
    bench.run_with(&[("FAULT", fault)], words.split_whitespace(), "")
}

#[test]
fn crash_is_in_the_pass_table() {
    let Some(bench) = bench() else { return };
    let ran = run(&bench, "segv", "");
    let row = "FAILED\nfrom plugin.so\n";
    assert!(ran.stdout.contains(row), "{}", ran.stdout);
}

#[test]
fn json_report_contains_the_crash() {
    let Some(bench) = bench() else { return };
    let ran = run(&bench, "segv", "--json");
    let report = ran.json();
    assert_eq!(report["ok"], false);
    assert_eq!(report["exit_status"], 1);
    assert_eq!(report["passes"][0]["status"], "failed");
    assert_eq!(report["diagnostics"][0]["code"], "crashed");
    assert_eq!(report["diagnostics"][0]["pass"], "c.transform.Crash");
    assert_eq!(report["diagnostics"][0]["function"], "main");
}

#[test]
fn model_from_stdin_reaches_the_second_worker() {
    let Some(bench) = bench() else { return };
    let words = "run - --plugin plugin.so --passes c.transform.Crash -o out.ir";
    let ran = bench.run_with(&[("FAULT", "segv")], words.split_whitespace(), RELUS);
    assert_eq!(ran.status, 1);
    let expected = "error[crashed]: the pass crashed: SIGSEGV, ";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    let ran = bench.run_with(&[("FAULT", "")], words.split_whitespace(), RELUS);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(bench.read("out.ir"), RELUS);
}

#[test]
fn crash_is_reported_if_second_worker_fails_earlier() {
    let Some(bench) = bench() else { return };
    let ran = run(&bench, "segv, and no model", "");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    for expected in [
        "error[crashed]: the pass crashed: SIGSEGV, ",
        "in pass c.transform.Crash",
    ] {
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    assert!(!ran.stderr.contains("could not read"), "{}", ran.stderr);
    assert!(!bench.exists("out.ir"));
}

#[test]
fn reproducer_replays_the_same_crash() {
    let Some(bench) = bench() else { return };
    for (fault, options) in [("segv", ""), ("hang", "--timeout 0.5")] {
        let ran = run(&bench, fault, options);
        let words = format!("replay out.ir.reproducer --plugin plugin.so {options}");
        let words = words.trim_end();
        let advice = format!("replay it with `passdock {words}`");
        assert!(ran.stderr.contains(&advice), "{fault}: {}", ran.stderr);
        let ran = bench.run_with(&[("FAULT", fault)], words.split_whitespace(), "");
        assert_eq!(ran.status, 1, "{fault}: {}", ran.stderr);
        let expected = "same failure: crashed in c.transform.Crash";
        assert!(ran.stdout.contains(expected), "{fault}: {}", ran.stdout);
    }
}

#[test]
fn plugin_output_goes_to_stderr() {
    let Some(bench) = bench() else { return };
    let words = "run m.ir --plugin plugin.so --passes c.transform.Crash -o -";
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
fn crash_after_output_is_written_succeeds() {
    let Some(bench) = bench() else { return };
    bench.write("out.ir", "");
    let ran = run(&bench, "thread, late", "");
    // The thread may crash too late to be reported.
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(bench.read("out.ir"), RELUS);
    if !ran.stderr.is_empty() {
        let expected = "help: The output was written before that, and it is whole.";
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn timeout_outside_passes_ends_the_run() {
    use std::process::Command;
    let bench = Bench::new();
    // Reading it blocks forever.
    let created = Command::new("mkfifo").arg(bench.path("m.ir")).status();
    assert!(created.expect("mkfifo").success());
    let ran = bench.passdock("run m.ir --passes DeadCodeElimination -o out.ir --timeout 1");
    assert_eq!(ran.status, 1);
    let expected = "error[crashed]: the run was still running after 1 s, before the first pass";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn hanging_worker_terminates_with_the_command() {
    use std::fs;
    use std::process::{Command, Stdio};
    use std::thread::sleep;
    use std::time::Duration;
    let Some(bench) = bench() else { return };
    let words = "run m.ir --plugin plugin.so --passes c.transform.Crash -o out.ir --sandbox off";
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
        fs::remove_file(bench.path("worker.pid")).expect("the file");
        let mut kill = Command::new("kill");
        kill.arg(format!("-{signal}")).arg(command.id().to_string());
        assert!(kill.status().expect("kill").success());
        command.wait().expect("its status");
        let state = || fs::read_to_string(format!("/proc/{worker}/stat")).unwrap_or_default();
        // A zombie process counts as terminated.
        let is_running = || {
            state()
                .rsplit(") ")
                .next()
                .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
        };
        for _ in 0..2000 {
            if !is_running() {
                break;
            }
            sleep(Duration::from_millis(5));
        }
        assert!(!is_running(), "{signal}: {}", state());
    }
}
