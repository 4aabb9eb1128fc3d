//! Reports of crashes outside of passes: instruments, op definitions, and processes that a plugin started.

use std::time::{Duration, Instant};

use crate::crashes::bench;
use crate::support::{Bench, Ran};

/// A model with an op that a plugin defines, which a pass of another plugin evaluates.
const DEFINED: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y) opset("" = 17, "dies" = 1) {
    %0 = onnx.Relu(%x) : f32[2]
    %1 = dies.Op(%0)
    return %1
  }
}
"#;

fn with(bench: &Bench, fault: &str, at: &str, words: &str) -> Ran {
    let variables = [("FAULT", fault), ("AT", at)];
    bench.run_with(&variables, words.split_whitespace(), "")
}

#[test]
fn an_instrument_that_dies_is_told_with_the_pass_that_it_was_called_around() {
    let Some(bench) = bench() else { return };
    let words = "run m.ir -o out.ir --plugin plugin.so --passes relax.transform.InferType \
                 --instrument dies.watch";
    for (fault, said) in [
        (
            "segv",
            "error[crashed]: instrument `dies.watch` crashed: SIGSEGV, ",
        ),
        (
            "_exit",
            "error[crashed]: instrument `dies.watch` ended the process with status 0",
        ),
    ] {
        let ran = with(&bench, fault, "after", words);
        assert_eq!(ran.status, 1, "{fault}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{fault}: {}", ran.stderr);
        for said in [
            "in pass relax.transform.InferType of plugin",
            "the plugin is `plugin.so`",
            "`passdock replay out.ir.reproducer --plugin plugin.so`",
        ] {
            assert!(ran.stderr.contains(said), "{fault}: {}", ran.stderr);
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
        let ran = with(&bench, fault, "after", words);
        let same = "same failure: crashed in relax.transform.InferType";
        assert!(ran.stdout.contains(same), "{fault}: {}", ran.stdout);
    }
}

#[test]
fn an_instrument_that_dies_around_no_pass_is_told() {
    let Some(bench) = bench() else { return };
    for at in ["create", "enter"] {
        for fault in ["segv", "_exit"] {
            let words = "run m.ir -o out.ir --plugin plugin.so --passes c.transform.Dies \
                         --instrument dies.watch";
            let ran = with(&bench, fault, at, words);
            assert_eq!(ran.status, 1, "{at}: {fault}: {}", ran.stderr);
            let said = "error[crashed]: instrument `dies.watch` ";
            assert!(ran.stderr.contains(said), "{at}: {fault}: {}", ran.stderr);
            assert_eq!(bench.files(), ["m.ir", "plugin.so"], "{at}: {fault}");
        }
    }
}

#[test]
fn an_instrument_that_dies_at_its_end_leaves_the_output_as_it_was() {
    let Some(bench) = bench() else { return };
    bench.write("out.ir", "as it was");
    let words = "run m.ir -o out.ir --plugin plugin.so --passes c.transform.Dies \
                 --instrument dies.watch";
    let ran = with(&bench, "segv", "destroy", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let said = "error[crashed]: instrument `dies.watch` crashed: SIGSEGV, ";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert_eq!(bench.read("out.ir"), "as it was");
}

#[test]
fn in_process_an_instrument_is_told_with_the_pass() {
    let Some(bench) = bench() else { return };
    let words = "run m.ir --in-process --plugin plugin.so --passes relax.transform.InferType \
                 --instrument dies.watch";
    let ran = with(&bench, "segv", "after", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let said = "called around pass `relax.transform.InferType`";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

#[test]
fn a_definition_that_dies_is_told_with_its_plugin_which_the_replay_names() {
    let Some(bench) = bench() else { return };
    bench.write("d.ir", DEFINED);
    let words = "run d.ir -o out.ir --plugin plugin.so --passes relax.transform.InferType";
    let ran = with(&bench, "segv", "infer", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    for said in [
        "error[crashed]: definition of `dies.Op` crashed: SIGSEGV, ",
        "in pass relax.transform.InferType of plugin",
        "the plugin is `plugin.so`",
        // The second worker, which writes the reproducer, fails the pass without loading this plugin.
        "`passdock replay out.ir.reproducer --plugin plugin.so`",
    ] {
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    let about = bench.read("out.ir.reproducer/reproducer.toml");
    assert!(about.contains("file = \"plugin.so\""), "{about}");
    let words = "replay out.ir.reproducer --plugin plugin.so";
    let ran = with(&bench, "segv", "infer", words);
    let same = "same failure: crashed in relax.transform.InferType";
    assert!(ran.stdout.contains(same), "{}", ran.stdout);
    // A different termination is a different failure.
    let ran = with(&bench, "abort", "infer", words);
    let other = "different failure; expected: crashed in relax.transform.InferType";
    assert!(ran.stdout.contains(other), "{}", ran.stdout);
}

/// If an op definition writes out of bounds, the crash may occur later in a pass of another plugin.
#[cfg(target_os = "linux")]
#[test]
fn a_crash_of_the_heap_names_who_was_called_before() {
    let Some(bench) = bench() else { return };
    bench.write("d.ir", DEFINED);
    let words = "run d.ir -o out.ir --plugin plugin.so --passes relax.transform.InferType";
    let ran = with(&bench, "overrun", "infer", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("error[crashed]"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`plugin.so`"), "{}", ran.stderr);
}

#[test]
fn exit_tells_its_status() {
    let Some(bench) = bench() else { return };
    let words = "run m.ir --plugin plugin.so --passes c.transform.Dies";
    let ran = with(&bench, "exit 3", "pass", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let said = "the pass ended the process with status 3";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

/// The reported crash is that of the worker. A forked process that continues isn't part of the run.
#[test]
fn a_pass_that_goes_on_in_a_process_of_its_own_is_told_with_the_function() {
    let Some(bench) = bench() else { return };
    bench.write("out.ir", "as it was");
    let words = "run m.ir -o out.ir --plugin plugin.so --passes c.transform.Dies";
    let ran = with(&bench, "child takes over", "pass", words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    for said in [
        "the pass ended the process with status 0",
        "in pass c.transform.Dies of plugin `plugin.so`, function @main",
    ] {
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    assert_eq!(bench.read("out.ir"), "as it was");
}

/// A process that the plugin started holds the run's standard error open. Waiting for it would take ten minutes.
#[test]
fn what_a_plugin_starts_ends_with_the_run() {
    let Some(bench) = bench() else { return };
    let words = "run m.ir --plugin plugin.so --passes c.transform.Dies";
    for (fault, status) in [("fork", 0), ("fork and _exit", 1)] {
        let start = Instant::now();
        let ran = with(&bench, fault, "pass", words);
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
        let left = processes_in(dir, command);
        assert!(start.elapsed() < Duration::from_secs(60), "{left}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ctrl-C on a terminal reaches only the command. The worker and its descendants are in a separate process group.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_everything_once() {
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let Some(bench) = bench() else { return };
    let files = bench.files();
    let dir = bench.path("");
    for words in [
        "run m.ir -o out.ir --plugin plugin.so --passes c.transform.Dies",
        "reduce m.ir -o out.ir --plugin plugin.so --passes c.transform.Dies",
        "bisect m.ir --test true{} --plugin plugin.so --passes c.transform.Dies",
    ] {
        let host = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&host).expect("a terminal");
        unlockpt(&host).expect("a terminal");
        let name = ptsname(&host, Vec::new()).expect("its name");
        let name = name.into_string().expect("text");
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
        let status = child.wait().expect("it ends");
        assert_eq!(status.signal(), Some(2), "{words}: {status}");
        wait_for(&dir, child.id(), 0);
        assert_eq!(bench.files(), files, "{words}");
    }
}
