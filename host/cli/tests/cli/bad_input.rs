//! Bad input: a clear error, the right exit status, nothing written.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use expect_test::expect;

use crate::support::{Bench, RELUS, plugin};

#[test]
fn a_truncated_model() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    assert_eq!(bench.passdock("convert m.ir whole.onnx").status, 0);
    let whole = std::fs::read(bench.path("whole.onnx")).expect("a model");
    for len in 0..whole.len() {
        bench.write("m.onnx", &whole[..len]);
        let ran = bench.passdock("convert m.onnx cut.ir");
        // Cut between two fields it may still be a model.
        match ran.status {
            0 => assert!(bench.exists("cut.ir")),
            1 => assert!(ran.stderr.starts_with("error"), "{}", ran.stderr),
            other => panic!("cut at {len}, it ended with {other}: {}", ran.stderr),
        }
    }
}

#[test]
fn plugin_files_that_are_none() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    std::fs::create_dir(bench.path("plugins")).expect("a directory");
    let library = |name: &str| format!("plugins/{name}{}", std::env::consts::DLL_SUFFIX);
    let whole = std::fs::read(plugin("passdock_tir")).expect("a plugin");
    bench
        .write(&library("random"), [0xA5; 5000])
        .write(&library("cut"), &whole[..whole.len() / 2]);
    let passes = "run m.ir --plugin-dir plugins --passes";
    // Nobody needs them.
    let ran = bench.passdock(&format!("{passes} relax.transform.FoldConstant"));
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(
        ran.stderr.matches("warning[plugin]").count(),
        2,
        "{}",
        ran.stderr
    );
    // Now somebody might.
    let ran = bench.passdock(&format!("{passes} acme.transform.Fuse -o out.ir"));
    assert_eq!(ran.status, 2);
    let named = [library("random"), library("cut")];
    assert!(
        named.iter().all(|name| ran.stderr.contains(name.as_str())),
        "{}",
        ran.stderr
    );
    assert!(!bench.exists("out.ir"));
}

/// A library that its system refuses: the pass that needs it is named, and so is an instrument.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_plugin_that_cannot_be_loaded() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("plugins")).expect("a directory");
    bench.write("m.ir", RELUS);
    for (name, from, to) in [
        ("passdock_tap", "\"tap.", "\"top."),
        ("passdock_tir", "\"tir.", "\"tor."),
    ] {
        let mut bytes = std::fs::read(plugin(name)).expect("a plugin");
        let library = b"libc.so.6\0";
        for at in 0..bytes.len() - library.len() {
            if bytes[at..].starts_with(library) {
                bytes[at..at + 9].copy_from_slice(b"libq.so.6");
            }
            if bytes[at..].starts_with(from.as_bytes()) {
                bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
            }
        }
        bench.write(&format!("plugins/{name}.so"), bytes);
    }
    for (words, expected) in [
        (
            "--passes tor.transform.UnrollLoop",
            expect![[r#"
            error[plugin]: Plugin `plugins/passdock_tir.so` can't be used: the system refuses to load it: libq.so.6: cannot open shared object file: No such file or directory.
             |
             = note: the pass `tor.transform.UnrollLoop` needs it
        "#]],
        ),
        (
            "--passes FoldConstant --instrument top.tap",
            expect![[r#"
            error[plugin]: Plugin `plugins/passdock_tap.so` can't be used: the system refuses to load it: libq.so.6: cannot open shared object file: No such file or directory.
             |
             = note: the instrument `top.tap` needs it
        "#]],
        ),
    ] {
        let ran = bench.passdock(&format!("run m.ir --plugin-dir plugins {words}"));
        assert_eq!(ran.status, 3, "{}", ran.stderr);
        expected.assert_eq(&ran.stderr);
    }
}

#[test]
fn the_report_is_json_in_every_case() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    for (words, status) in [
        ("run m.ir --passes relax.transform.FoldConstants --json", 2),
        (
            "run gone.ir --passes relax.transform.FoldConstant --json",
            1,
        ),
        ("run --json", 2),
        ("run defualt m.ir --json", 2),
        ("run m.ir --passes bad.transform.Panic --json", 1),
    ] {
        let ran = bench.passdock(words);
        let report = ran.json();
        assert_eq!(ran.status, status, "{words}");
        assert_eq!(report["ok"], false, "{words}");
        assert_eq!(report["exit_status"], status, "{words}");
        assert!(report["diagnostics"][0]["message"].is_string(), "{words}");
    }
}

/// ONNX forbids it; the IR doesn't, and a file that nobody changed is copied.
#[test]
fn functions_that_call_each_other_in_a_circle() {
    const CALLS: &str = r#"module {
      fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) { %y = acme.Aaaa(%x) return %y }
      fn @acme.Aaaa(%x) -> (%y) opset("acme" = 1) { %y = acme.Bbbb(%x) return %y }
      fn @acme.Bbbb(%x) -> (%y) opset("acme" = 1) { %y = acme.Cccc(%x) return %y }
      fn @acme.Cccc(%x) -> (%y) opset("" = 17) { %y = onnx.Relu(%x) return %y }
    }"#;
    let bench = Bench::new();
    bench.write("calls.ir", CALLS);
    let ran = bench.passdock("convert calls.ir calls.onnx");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let run = "-o out.onnx --passes relax.transform.CanonicalizeBindings";
    let ran = bench.passdock(&format!("run calls.onnx {run}"));
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    // The op's type is field 4 of a node.
    let mut bytes = std::fs::read(bench.path("calls.onnx")).expect("a model");
    let (from, to) = (b"\x22\x04Cccc", b"\x22\x04Aaaa");
    let places: Vec<usize> = (0..bytes.len() - from.len())
        .filter(|at| bytes[*at..].starts_with(from))
        .collect();
    let [at] = places[..] else {
        panic!("{places:?}");
    };
    bytes[at..at + to.len()].copy_from_slice(to);
    bench.write("calls.onnx", &bytes);
    let ran = bench.passdock(&format!("run calls.onnx {run}"));
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let said = "warning[recursive-functions]: The model's functions are recursive: \
                @acme.Aaaa calls @acme.Bbbb calls @acme.Aaaa.";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    // To the IR it is a module like any other.
    bench.write("calls.ir", CALLS.replace("= acme.Cccc", "= acme.Aaaa"));
    let ran =
        bench.passdock("run calls.ir -o out.ir --passes relax.transform.CanonicalizeBindings");
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    let ran = bench.passdock(&format!("run calls.ir {run}"));
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

/// A device may have no end. Where it is read all the same, the limit ends the command before memory does.
#[cfg(target_os = "linux")]
#[test]
fn devices_are_not_read() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    assert_eq!(bench.passdock("convert m.ir m.onnx").status, 0);
    std::fs::create_dir(bench.path("replay")).unwrap();
    for name in [
        "z.onnx",
        "z.ir",
        "z.rules",
        "z.toml",
        "replay/reproducer.toml",
        "replay/pipeline.toml",
    ] {
        symlink("/dev/zero", bench.path(name)).unwrap();
    }
    symlink("/dev/full", bench.path("full.jsonl")).unwrap();
    let device = "it is a device; name a regular file or a pipe";
    for (words, said) in [
        ("run z.onnx", device),
        ("run z.ir", device),
        ("run z.toml m.ir", device),
        ("run z.rules m.ir", device),
        ("run m.ir --passes z.rules", device),
        ("diff m.ir z.ir", device),
        ("replay replay --trust", "isn't a reproducer"),
        (
            "batch m.ir -o out --results full.jsonl",
            "`full.jsonl` isn't a regular file.",
        ),
    ] {
        let output = std::process::Command::new("bash")
            .args(["-c", &format!("ulimit -v 2000000; exec \"$0\" {words}")])
            .arg(crate::support::passdock())
            .current_dir(bench.path(""))
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(said), "{words}: {stderr}");
        assert_eq!(stderr.matches("error").count(), 1, "{words}: {stderr}");
    }
}
