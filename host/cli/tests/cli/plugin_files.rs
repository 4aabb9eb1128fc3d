//! A plugin in a debugger. The session `plugin_files` has the other tests of plugin files.

use crate::support::{Bench, RELUS, compile_c_plugin, passdock};

#[test]
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn a_debugger_stops_in_a_pass() {
    let bench = Bench::new();
    if compile_c_plugin(&bench, "tests/bad-plugins/dies.c", &["-pthread", "-g"]).is_none() {
        return;
    }
    bench.write("m.ir", RELUS);
    let run = "run m.ir --passes c.transform.Dies --plugin plugin.so --in-process";
    let mut gdb = std::process::Command::new("timeout");
    gdb.args(["60", "gdb", "-q", "-nx", "-batch"]);
    for command in [
        "set breakpoint pending on",
        "break dies.c:work",
        "run",
        "backtrace 1",
    ] {
        gdb.args(["-ex", command]);
    }
    gdb.arg("--args").arg(passdock()).args(run.split(' '));
    gdb.current_dir(bench.path(""));
    let has_gdb = std::process::Command::new("gdb").arg("--version").output();
    if let Err(error) = has_gdb {
        eprintln!("skipped: gdb can't be run: {error}");
        return;
    }
    let output = gdb
        .env("DEBUGINFOD_URLS", "")
        .output()
        .expect("timeout starts");
    let said = String::from_utf8_lossy(&output.stdout);
    if said.contains("Could not trace the inferior process") {
        eprintln!("skipped: this machine lets no program be traced");
        return;
    }
    assert!(said.contains("Breakpoint 1, work (state="), "{said}");
    assert!(said.contains("dies.c:"), "{said}");
}
