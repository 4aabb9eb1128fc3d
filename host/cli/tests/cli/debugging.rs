//! What authors of plugins use to find a bug: a debugger, and backtraces of panics. `cargo xtask deep debug-a-plugin`
//! tests other tools.

use crate::support::{Bench, RELUS, compile_c_plugin, passdock};

#[test]
#[allow(clippy::print_stderr, reason = "a skipped test prints a message")]
fn gdb_stops_at_a_breakpoint_in_a_pass() {
    let bench = Bench::new();
    if compile_c_plugin(&bench, "tests/bad-plugins/crash.c", &["-pthread", "-g"]).is_none() {
        return;
    }
    bench.write("m.ir", RELUS);
    let run = "run m.ir --passes c.transform.Crash --plugin plugin.so --in-process";
    let mut gdb = std::process::Command::new("timeout");
    gdb.args(["60", "gdb", "-q", "-nx", "-batch"]);
    for command in [
        "set breakpoint pending on",
        "break crash.c:work",
        "run",
        "backtrace 1",
    ] {
        gdb.args(["-ex", command]);
    }
    gdb.arg("--args").arg(passdock()).args(run.split(' '));
    gdb.current_dir(bench.path(""));
    let has_gdb = std::process::Command::new("gdb").arg("--version").output();
    if let Err(error) = has_gdb {
        eprintln!("skipped: could not run gdb: {error}");
        return;
    }
    let output = gdb
        .env("DEBUGINFOD_URLS", "")
        .output()
        .expect("timeout starts");
    let stdout = String::from_utf8_lossy(&output.stdout);
    if stdout.contains("Could not trace the inferior process") {
        eprintln!("skipped: this machine does not allow tracing");
        return;
    }
    assert!(stdout.contains("Breakpoint 1, work (host="), "{stdout}");
    assert!(stdout.contains("crash.c:"), "{stdout}");
}

/// A backtrace names the function that panicked. The error is the same as without one.
#[test]
fn backtraces_of_panics_are_printed_on_request() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let panics = [
        (
            "bad.transform.Panic",
            "the pass panicked at tests/plugins/src/misbehaving/mod.rs:13:18: the weights have to be there",
            "misbehaving::panics",
        ),
        (
            "bad.transform.Scribble,relax.transform.InferType",
            "wrote to read-only memory",
            "passdock_ir::function::",
        ),
    ];
    for (passes, message, function) in panics {
        for process in ["", "--in-process"] {
            let run = format!("run m.ir --passes {passes} {process}");
            for (value, is_printed) in [("1", true), ("0", false)] {
                let variables = [("RUST_BACKTRACE", value)];
                let ran = bench.run_with(&variables, run.split_whitespace(), "");
                assert_eq!(ran.status, 1, "{}", ran.stderr);
                assert!(ran.stderr.contains(message), "{}", ran.stderr);
                assert_eq!(ran.stderr.contains(function), is_printed, "{}", ran.stderr);
            }
        }
    }
}
