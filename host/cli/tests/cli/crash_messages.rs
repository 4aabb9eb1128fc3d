//! Reports of crashes outside of passes: instruments, op definitions, and processes that a plugin started.

use std::time::{Duration, Instant};

use crate::crashes::bench;
use crate::support::{Bench, Ran};

/// A model with an op that a plugin defines, which a pass of another plugin evaluates.
const DEFINED: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y) opset("" = 17, "crash" = 1) {
    %0 = onnx.Relu(%x) : f32[2]
    %1 = crash.Op(%0)
    return %1
  }
}
"#;

fn run_with_fault(bench: &Bench, fault: &str, at: &str, words: &str) -> Ran {
    let variables = [("FAULT", fault), ("AT", at)];
    bench.run_with(&variables, words.split_whitespace(), "")
}

#[test]
fn instrument_crash_names_the_surrounding_pass() {
    let Some(bench) = bench() else { return };
    let words = "run m.ir -o out.ir --plugin plugin.so --passes relax.transform.InferType \
                 --instrument crash.watch";
    for (fault, expected) in [
        (
            "segv",
            "error[crashed]: instrument `crash.watch` crashed: SIGSEGV, ",
        ),
        (
            "_exit",
            "error[crashed]: instrument `crash.watch` ended the process with status 0",
        ),
    ] {
        let ran = run_with_fault(&bench, fault, "after", words);
        assert_eq!(ran.status, 1, "{fault}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{fault}: {}", ran.stderr);
        for expected in [
            "in pass relax.transform.InferType of plugin",
            "the plugin is `plugin.so`",
            "`passdock replay out.ir.reproducer --plugin plugin.so`",
        ] {
            assert!(ran.stderr.contains(expected), "{fault}: {}", ran.stderr);
        }
        let row = ran
            .stdout
            .lines()
            .find(|line| line.starts_with("InferType  "));
        assert!(
            row.is_some_and(|row| row.ends_with("  FAILED")),
            "{fault}: {}",
            ran.stdout
        );
        let words = "replay out.ir.reproducer --plugin plugin.so";
        let ran = run_with_fault(&bench, fault, "after", words);
        let same = "same failure: crashed in relax.transform.InferType";
        assert!(ran.stdout.contains(same), "{fault}: {}", ran.stdout);
    }
}

#[test]
fn instrument_crash_outside_passes_is_reported() {
    let Some(bench) = bench() else { return };
    for at in ["create", "enter"] {
        for fault in ["segv", "_exit"] {
            let words = "run m.ir -o out.ir --plugin plugin.so --passes c.transform.Crash \
                         --instrument crash.watch";
            let ran = run_with_fault(&bench, fault, at, words);
            assert_eq!(ran.status, 1, "{at}: {fault}: {}", ran.stderr);
            let expected = "error[crashed]: instrument `crash.watch` ";
            assert!(
                ran.stderr.contains(expected),
                "{at}: {fault}: {}",
                ran.stderr
            );
            assert_eq!(bench.files(), ["m.ir", "plugin.so"], "{at}: {fault}");
        }
    }
}

#[test]
fn instrument_crash_in_destroy_keeps_the_old_output() {
    let Some(bench) = bench() else { return };
    bench.write("out.ir", "as it was");
    let words = "run m.ir -o out.ir --plugin plugin.so --passes c.transform.Crash \
                 --instrument crash.watch";
    let ran = run_with_fault(&bench, "segv", "destroy", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let expected = "error[crashed]: instrument `crash.watch` crashed: SIGSEGV, ";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    assert_eq!(bench.read("out.ir"), "as it was");
}

#[test]
fn in_process_instrument_crash_names_the_pass() {
    let Some(bench) = bench() else { return };
    let words = "run m.ir --in-process --plugin plugin.so --passes relax.transform.InferType \
                 --instrument crash.watch";
    let ran = run_with_fault(&bench, "segv", "after", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let expected = "called around pass `relax.transform.InferType`";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
}

#[test]
fn op_definition_crash_names_its_plugin_in_replay() {
    let Some(bench) = bench() else { return };
    bench.write("d.ir", DEFINED);
    let words = "run d.ir -o out.ir --plugin plugin.so --passes relax.transform.InferType";
    let ran = run_with_fault(&bench, "segv", "infer", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    for expected in [
        "error[crashed]: definition of `crash.Op` crashed: SIGSEGV, ",
        "in pass relax.transform.InferType of plugin",
        "the plugin is `plugin.so`",
        // The second worker, which writes the reproducer, fails the pass without loading this plugin.
        "`passdock replay out.ir.reproducer --plugin plugin.so`",
    ] {
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    let about = bench.read("out.ir.reproducer/reproducer.toml");
    assert!(about.contains("file = \"plugin.so\""), "{about}");
    let words = "replay out.ir.reproducer --plugin plugin.so";
    let ran = run_with_fault(&bench, "segv", "infer", words);
    let same = "same failure: crashed in relax.transform.InferType";
    assert!(ran.stdout.contains(same), "{}", ran.stdout);
    // A different termination is a different failure.
    let ran = run_with_fault(&bench, "abort", "infer", words);
    let other = "different failure; expected: crashed in relax.transform.InferType";
    assert!(ran.stdout.contains(other), "{}", ran.stdout);
}

/// If an op definition writes out of bounds, the crash may occur later in a pass of another plugin.
#[cfg(target_os = "linux")]
#[test]
fn heap_corruption_names_the_plugin_called_before() {
    let Some(bench) = bench() else { return };
    bench.write("d.ir", DEFINED);
    let words = "run d.ir -o out.ir --plugin plugin.so --passes relax.transform.InferType";
    let ran = run_with_fault(&bench, "overrun", "infer", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("error[crashed]"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`plugin.so`"), "{}", ran.stderr);
}

#[test]
fn exit_in_pass_reports_its_status() {
    let Some(bench) = bench() else { return };
    let words = "run m.ir --plugin plugin.so --passes c.transform.Crash";
    let ran = run_with_fault(&bench, "exit 3", "pass", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let expected = "the pass ended the process with status 3";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
}

/// The reported crash is that of the worker. A forked process that continues isn't part of the run.
#[test]
fn worker_exit_after_fork_names_the_function() {
    let Some(bench) = bench() else { return };
    bench.write("out.ir", "as it was");
    let words = "run m.ir -o out.ir --plugin plugin.so --passes c.transform.Crash";
    let ran = run_with_fault(&bench, "child takes over", "pass", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    for expected in [
        "the pass ended the process with status 0",
        "in pass c.transform.Crash of plugin `plugin.so`, function @main",
    ] {
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    assert_eq!(bench.read("out.ir"), "as it was");
}

/// A process that the plugin started holds the run's standard error open. Waiting for it would take ten minutes.
#[test]
fn processes_started_by_plugin_end_with_the_run() {
    let Some(bench) = bench() else { return };
    let words = "run m.ir --plugin plugin.so --passes c.transform.Crash";
    for (fault, status) in [("fork", 0), ("fork and _exit", 1)] {
        let start = Instant::now();
        let ran = run_with_fault(&bench, fault, "pass", words);
        assert_eq!(ran.status, status, "{fault}: {}", ran.stderr);
        let time = start.elapsed();
        assert!(time < Duration::from_secs(60), "{fault}: {time:?}");
    }
}

/// Returns the number of processes in a directory, except for the command, whose directory is elsewhere.
#[cfg(target_os = "linux")]
fn processes_in(dir: &std::path::Path, command: u32) -> usize {
    let dir = dir.canonicalize().expect("the directory");
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    let command = std::ffi::OsString::from(command.to_string());
    let is_in = |entry: &std::fs::DirEntry| {
        if entry.file_name() == command {
            return false;
        }
        let here = std::fs::read_link(entry.path().join("cwd"));
        here.is_ok_and(|here| here == dir)
    };
    all.filter(is_in).count()
}

/// Waits until a directory has `count` processes.
#[cfg(target_os = "linux")]
fn wait_for(dir: &std::path::Path, command: u32, count: usize) {
    let start = Instant::now();
    while processes_in(dir, command) != count {
        let remaining = processes_in(dir, command);
        assert!(start.elapsed() < Duration::from_secs(60), "{remaining}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ctrl-C on a terminal reaches only the command. The worker and its descendants are in a separate process group.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_terminates_the_worker_and_its_children() {
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let Some(bench) = bench() else { return };
    let files = bench.files();
    let dir = bench.path("");
    for words in [
        "run m.ir -o out.ir --sandbox off --plugin plugin.so --passes c.transform.Crash",
        "reduce m.ir -o out.ir --sandbox off --plugin plugin.so --passes c.transform.Crash",
        "bisect m.ir --test true{} --sandbox off --plugin plugin.so --passes c.transform.Crash",
    ] {
        let host = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&host).expect("a terminal");
        unlockpt(&host).expect("a terminal");
        let name = ptsname(&host, Vec::new()).expect("its name");
        let name = name.into_string().expect("UTF-8");
        let open = || std::fs::File::options().read(true).write(true).open(&name);
        // A new session with that terminal. A background job of a shell ignores SIGINT, and so would its children.
        let mut child = Command::new("setsid")
            .args(["--ctty", "env", "--default-signal=INT"])
            .arg(crate::support::passdock())
            .args(words.split_whitespace())
            .current_dir(&dir)
            .env("FAULT", "fork and hang")
            .stdin(open().expect("the terminal"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("setsid");
        // The worker, and the process that the plugin started.
        wait_for(&dir, child.id(), 2);
        // Closing the terminal would send another signal.
        let mut host = std::fs::File::from(host);
        host.write_all(b"\x03").expect("a key");
        let status = child.wait().expect("its status");
        assert_eq!(status.signal(), Some(2), "{words}: {status}");
        wait_for(&dir, child.id(), 0);
        assert_eq!(bench.files(), files, "{words}");
    }
}
