//! Interruption of `passdock plugin check`. The session `plugin_check` has the other tests.

use std::fs;
use std::process::Command;

use crate::support::{Bench, compile_c_plugin, passdock};

/// Ctrl-C and other termination signals also terminate the process of the check.
#[test]
fn signals_terminate_the_running_check() {
    let bench = Bench::new();
    let flags = ["-DFAULT=HANG", "-DLINES=\"\""];
    let Some(library) = compile_c_plugin(&bench, "tests/bad-plugins/unsound.c", &flags) else {
        return;
    };
    let library = library.display().to_string();
    let running = || {
        let all = fs::read_dir("/proc").expect("processes").flatten();
        let lines = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        let is_check = |line: &Vec<u8>| {
            let line = String::from_utf8_lossy(line);
            line.contains(&library) && line.contains("--result-dir")
        };
        lines.filter(is_check).count()
    };
    let wait_for = |count: usize| {
        let start = std::time::Instant::now();
        while running() != count {
            assert!(start.elapsed().as_secs() < 60, "{} processes", running());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    for signal in ["INT", "TERM"] {
        // A background job of a shell ignores SIGINT, and so would its children.
        let mut command = Command::new("env");
        command.arg("--default-signal=INT,TERM").arg(passdock());
        command.args(["plugin", "check", "--only", "passes", "--timeout", "600"]);
        command.arg(&library);
        let mut child = command.spawn().expect("the command");
        wait_for(1);
        let pid = child.id().to_string();
        let signaled = Command::new("kill").args(["-s", signal, &pid]).status();
        assert!(signaled.expect("kill").success());
        let status = child.wait().expect("its status");
        assert_eq!(status.code(), None, "{signal}: {status}");
        wait_for(0);
    }
}
