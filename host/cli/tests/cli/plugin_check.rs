//! `passdock plugin check`: what it says of good plugins and of bad ones.

use std::fs;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Command;

use serde_json::Value;

#[cfg(unix)]
use crate::support::passdock;
use crate::support::{Bench, RELUS, Ran, in_c, plugin, plugin_elsewhere};

/// `unsound.c` with a fault, and further lines of its pass in the manifest.
fn unsound(bench: &Bench, fault: &str, lines: &str) -> Option<PathBuf> {
    let (fault, lines) = (format!("-DFAULT={fault}"), format!("-DLINES=\"{lines}\""));
    in_c(bench, "tests/bad-plugins/unsound.c", &[&fault, &lines])
}

fn check(bench: &Bench, file: &Path, words: &[&str]) -> Ran {
    let file = file.display().to_string();
    let words = ["plugin", "check", &file]
        .into_iter()
        .chain(words.iter().copied());
    bench.run(words, "")
}

/// The verdict of each check, and what it said: reasons, then notes.
fn verdicts(ran: &Ran) -> Vec<(String, String, String)> {
    let json = ran.json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let said = |check: &Value| {
        let lists = ["reasons", "notes"].map(|key| check[key].as_array().cloned());
        let all: Vec<String> = lists
            .into_iter()
            .flatten()
            .flatten()
            .map(|s| text(&s))
            .collect();
        all.join("\n")
    };
    let checks = json["plugins"][0]["checks"].as_array().cloned();
    let checks = checks.into_iter().flatten();
    checks
        .map(|check| (text(&check["name"]), text(&check["verdict"]), said(&check)))
        .collect()
}

/// The names of the checks that failed or crashed, with the verdict.
fn bad(ran: &Ran) -> Vec<String> {
    let all = verdicts(ran).into_iter();
    let bad = all.filter(|(_, verdict, _)| ["fail", "crashed"].contains(&&**verdict));
    bad.map(|(name, verdict, _)| format!("{name} {verdict}"))
        .collect()
}

#[track_caller]
fn said(ran: &Ran, check: &str) -> String {
    let found = verdicts(ran).into_iter().find(|(name, ..)| name == check);
    found.expect("the check ran").2
}

#[test]
fn standard_plugins_pass() {
    let bench = Bench::new();
    for name in [
        "passdock-relax",
        "passdock-tir",
        "passdock-onnx-ops",
        "passdock-tap",
    ] {
        let ran = check(&bench, &plugin(name), &["--json"]);
        assert_eq!(bad(&ran), Vec::<String>::new(), "{name}: {}", ran.stdout);
        assert_eq!(ran.status, 0, "{name}: {}", ran.stderr);
        assert_eq!(ran.json()["ok"], true);
    }
    assert_eq!(bench.files(), Vec::<String>::new());
}

#[test]
fn plugins_in_c_pass() {
    let bench = Bench::new();
    for example in ["examples/c-pass/c_pass.c", "examples/c-op/c_op.c"] {
        let Some(library) = in_c(&bench, example, &[]) else {
            return;
        };
        let ran = check(&bench, &library, &["--json"]);
        assert_eq!(bad(&ran), Vec::<String>::new(), "{example}: {}", ran.stdout);
        assert_eq!(ran.status, 0, "{example}: {}", ran.stderr);
    }
}

#[test]
fn passes_that_misbehave_are_found() {
    let bench = Bench::new();
    let ran = check(&bench, &plugin("passdock-misbehaving"), &["--json"]);
    assert_eq!(ran.status, 1);
    assert_eq!(
        bad(&ran),
        [
            "requirements fail",
            "panics fail",
            "verifier fail",
            "interface fail",
            // `bad.transform.Scribble` breaks what the host then reads.
            "read-only crashed",
            "determinism crashed",
            "idempotence crashed",
            "ops fail",
            // So it does in an older host.
            "older-hosts crashed",
        ]
    );
    for (check, pass) in [
        (
            "requirements",
            "RequireMissing` requires `bad.transform.Mising`, which isn't there.",
        ),
        (
            "requirements",
            "RunWithoutOption` on small.ir: The pass `bad.transform.NeedOption` needs its option `size`, which has no default.",
        ),
        (
            "requirements",
            "CycleA` on small.ir: Passes require each other",
        ),
        (
            "requirements",
            "`bad.Hen` on any module: A Sequential contains itself",
        ),
        (
            "panics",
            "Panic` on elementwise.ir, @main: The pass panicked at",
        ),
        (
            "panics",
            "Each panic was caught, as the manifest says (`unwind`).",
        ),
        (
            "verifier",
            "RemoveCallee` on calls.ir, @main: op0 (call) calls @outer",
        ),
        ("verifier", "modules: `bad.transform.Fail` on"),
        (
            "verifier",
            "UseUnknownOp` on elementwise.ir: 2 ops in @main: No plugin defines the operator `bad.FastRelu`.",
        ),
        (
            "interface",
            "ChangeInterface` on small.ir, @same: The pass changed",
        ),
        (
            "interface",
            "ChangeMain` on elementwise.ir, @main: The pass changed",
        ),
        (
            "read-only",
            "`bad.transform.Scribble` ran on elementwise.ir.",
        ),
        ("ops", "`bad.Odd` since 1: The definition of op0 (bad.Odd)"),
    ] {
        let all = said(&ran, check);
        assert!(all.contains(pass), "{check} should say {pass}:\n{all}");
    }
}

#[test]
fn a_pass_that_writes_into_its_input_is_found() {
    let bench = Bench::new();
    let Some(library) = in_c(&bench, "tests/bad-plugins/scribbles.c", &[]) else {
        return;
    };
    let ran = check(&bench, &library, &["--json"]);
    // Nothing is wrong with what it makes.
    assert_eq!(bad(&ran), ["manifest fail", "read-only fail"]);
    assert!(said(&ran, "manifest").contains("`c.transform.Scribble` has no summary."));
    assert!(said(&ran, "read-only").contains("Immutable module has been modified"));
}

#[test]
fn each_fault_fails_its_check() {
    let bench = Bench::new();
    for (fault, lines, only, verdict, says) in [
        ("NONE", "", "manifest", "pass", ""),
        ("NONE", "", "determinism", "pass", ""),
        ("NONE", "", "threads", "pass", ""),
        (
            "NONE",
            r#"sumary = \"X.\"\n"#,
            "manifest",
            "fail",
            "the key `sumary`",
        ),
        (
            "OTHER_NAME",
            "",
            "manifest",
            "fail",
            "the table lacks the pass",
        ),
        ("OTHER_NAME", "", "load", "fail", "the table lacks the pass"),
        // What can't be loaded can't be found to be right.
        (
            "OTHER_NAME",
            "",
            "verifier",
            "fail",
            "the table lacks the pass",
        ),
        (
            "REFUSE_AGAIN",
            "",
            "load",
            "fail",
            "Loaded for the second time",
        ),
        (
            "COUNT",
            "",
            "determinism",
            "fail",
            "is another module each time: line 2 is `fn @",
        ),
        (
            "COUNT",
            "",
            "threads",
            "fail",
            "on 8 threads than on one: line ",
        ),
        (
            "COUNT",
            "",
            "idempotence",
            "pass",
            "a second run does more.",
        ),
        (
            "PROCESS",
            "",
            "determinism",
            "fail",
            "another module in another process: line 2 is `fn @",
        ),
        (
            "STATUS",
            "",
            "failures",
            "fail",
            "The pass answered status 77 and didn't say why.",
        ),
        (
            "SILENT",
            "",
            "failures",
            "fail",
            "The pass failed and didn't say why.",
        ),
        (
            "SILENT_CONFIG",
            "",
            "failures",
            "fail",
            "The pass answered status 9 and didn't say why.",
        ),
        ("REFUSE", "", "failures", "pass", ""),
        ("REFUSE_OPTION", "", "failures", "pass", ""),
        ("REFUSE_OPTION", "", "requirements", "pass", ""),
        (
            "REFUSE",
            "",
            "verifier",
            "pass",
            "It isn't for us. So it wasn't tried: give it a module",
        ),
        ("NONE", "", "older-hosts", "pass", ""),
        ("EXTENSION", "", "verifier", "pass", ""),
        (
            "EXTENSION",
            "",
            "older-hosts",
            "crashed",
            "`c.transform.Unsound` ran on small.ir.",
        ),
        (
            "REFUSE_AGAIN",
            "",
            "older-hosts",
            "pass",
            "It serves one host in a process",
        ),
        (
            "EXIT",
            "",
            "panics",
            "crashed",
            "`c.transform.Unsound` ran on small.ir.",
        ),
        (
            "SEGFAULT",
            "",
            "panics",
            "crashed",
            "Its last words: about to fall",
        ),
    ] {
        let Some(library) = unsound(&bench, fault, lines) else {
            return;
        };
        let ran = check(&bench, &library, &["--only", only, "--json"]);
        let all = verdicts(&ran);
        assert_eq!(all.len(), 1, "{}", ran.stderr);
        assert_eq!(all[0].1, verdict, "{fault}, {only}: {}", all[0].2);
        assert!(all[0].2.contains(says), "{fault}, {only}: {}", all[0].2);
        assert_eq!(
            ran.status,
            i32::from(!["pass", "skipped"].contains(&verdict))
        );
    }
}

#[test]
fn a_check_that_hangs_is_ended_and_the_next_one_runs() {
    let bench = Bench::new();
    let Some(library) = unsound(&bench, "HANG", "") else {
        return;
    };
    let words = [
        "--only",
        "panics,load,determinism",
        "--timeout",
        "2",
        "--json",
    ];
    let ran = check(&bench, &library, &words);
    assert_eq!(bad(&ran), ["panics crashed"]);
    assert!(said(&ran, "panics").contains("It took longer than 2 s and was ended"));
    assert_eq!(verdicts(&ran).len(), 3);
    // Once is enough.
    assert_eq!(
        said(&ran, "determinism"),
        "There is no pass to run.\n`c.transform.Unsound` wasn't run: it took too long in `panics`."
    );
}

#[test]
fn a_library_that_does_not_load_is_waited_for_once() {
    let bench = Bench::new();
    let Some(library) = in_c(&bench, "tests/bad-plugins/dies.c", &["-pthread"]) else {
        return;
    };
    let library = library.display().to_string();
    for (fault, said) in [
        ("hang", "It took longer than 1 s and was ended"),
        ("segv", "The process ended (exit status: 1)"),
        ("_exit", "The process ended (exit status: 0)"),
    ] {
        let variables = [("FAULT", fault), ("AT", "constructor")];
        let words = ["plugin", "check", &library, "--timeout", "1", "--json"];
        let ran = bench.run_with(&variables, words, "");
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        let all = verdicts(&ran);
        assert_eq!(all.len(), 15);
        let (name, verdict, why) = &all[0];
        assert_eq!((&**name, &**verdict), ("manifest", "crashed"));
        let said = format!("{said}: the library was loaded.");
        assert!(why.starts_with(&said), "{fault}: {why}");
        for (name, verdict, why) in &all[1..] {
            assert_eq!(verdict, "skipped", "{fault}, {name}: {why}");
            assert_eq!(why, "The library doesn't load: see `manifest`.");
        }
    }
}

/// Ctrl-C, and what else asks the command to end, ends the process of the check, too.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_the_check_that_runs() {
    let bench = Bench::new();
    let Some(library) = unsound(&bench, "HANG", "") else {
        return;
    };
    let library = library.display().to_string();
    let running = || {
        let all = fs::read_dir("/proc").expect("processes").flatten();
        let lines = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        let is_check = |line: &Vec<u8>| {
            let line = String::from_utf8_lossy(line);
            line.contains(&library) && line.contains("--answer")
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
        // A shell's background job ignores SIGINT, and so would what it starts.
        let mut command = Command::new("env");
        command.arg("--default-signal=INT,TERM").arg(passdock());
        command.args(["plugin", "check", "--only", "panics", "--timeout", "600"]);
        command.arg(&library);
        let mut child = command.spawn().expect("the command");
        wait_for(1);
        let pid = child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status();
        assert!(sent.expect("kill").success());
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), None, "{signal}: {status}");
        wait_for(0);
    }
}

#[test]
fn what_is_no_plugin_fails_its_manifest_alone() {
    let bench = Bench::new();
    bench.write("text.so", "no library");
    let ran = check(&bench, &bench.path("text.so"), &["--json"]);
    assert_eq!(bad(&ran), ["manifest fail", "load fail"]);
    let skipped = verdicts(&ran)
        .into_iter()
        .filter(|(_, v, _)| v == "skipped");
    assert_eq!(skipped.count(), 13);
    assert!(ran.json()["plugins"][0]["name"].is_null());
}

#[test]
fn what_cant_be_loaded_is_said_once() {
    let bench = Bench::new();
    let Some(library) = unsound(&bench, "OTHER_NAME", "") else {
        return;
    };
    let ran = check(&bench, &library, &["--json"]);
    assert_eq!(ran.status, 1);
    assert_eq!(bad(&ran), ["manifest fail", "load fail"]);
    assert_eq!(said(&ran, "load"), "As `manifest` says.");
    for check in ["panics", "verifier", "determinism", "ops"] {
        let why = "The plugin can't be used: see `manifest`.";
        assert_eq!(said(&ran, check), why);
    }
    let ran = check(&bench, &library, &["--only", "panics,verifier", "--json"]);
    assert_eq!(bad(&ran), ["panics fail"]);
    assert_eq!(
        said(&ran, "verifier"),
        "The plugin can't be used: see `panics`."
    );
}

/// The names that it chooses don't depend on what it did to other copies.
#[test]
fn a_pass_that_makes_functions_is_deterministic() {
    let bench = Bench::new();
    let words = ["--only", "determinism", "--json"];
    let ran = check(&bench, &plugin_elsewhere(), &words);
    assert_eq!(bad(&ran), Vec::<String>::new(), "{}", ran.stdout);
}

#[test]
fn the_users_models_are_tried() {
    let bench = Bench::new();
    bench.write("mine.ir", RELUS.replace("f32[2]", "f32[7]"));
    let words = ["--only", "verifier", "--json"];
    let total = |words: &[&str]| {
        let ran = check(&bench, &plugin("passdock-misbehaving"), words);
        let all = said(&ran, "verifier");
        let at = all.find(" of ").expect("a number of modules");
        let rest = all[at + 4..].split(' ').next().expect("a number");
        rest.parse::<u32>().expect("a number")
    };
    let own = total(&words);
    assert_eq!(
        total(&["--only", "verifier", "--model", "mine.ir", "--json"]),
        own + 1
    );
    let ran = check(&bench, &plugin("passdock-tir"), &["--model", "none.ir"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("none.ir"), "{}", ran.stderr);
}

#[test]
fn people_get_a_table() {
    let bench = Bench::new();
    let file = plugin("passdock-tir").display().to_string();
    let ran = check(&bench, Path::new(&file), &["--only", "load,instruments"]);
    assert_eq!(ran.status, 0);
    assert_eq!(
        ran.stdout,
        format!(
            "{file}: tir 0.1.0\n\
             check        result   reason\n\
             load         pass\n\
             instruments  skipped  The plugin has no instruments.\n\
             Nothing was found.\n"
        )
    );
    let both = bench.run(
        ["plugin", "check", &file, &file, "--only", "load", "--json"],
        "",
    );
    assert_eq!(both.json()["plugins"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_list_has_every_check_and_names_are_checked() {
    let bench = Bench::new();
    let list = bench.passdock("plugin check --list --json").json();
    let list = list["checks"].as_array().expect("a list");
    assert_eq!(list.len(), 15);
    for check in list {
        let said = check["description"].as_str().expect("a description");
        assert!(said.ends_with('.'), "{said}");
    }
    let shown = bench.passdock("plugin check --list").stdout;
    assert_eq!(shown.lines().count(), 16);
    let wrong = bench.passdock("plugin check x.so --only panic");
    assert_eq!(wrong.status, 2);
    assert!(
        wrong.stderr.contains("There is no check `panic`."),
        "{}",
        wrong.stderr
    );
    assert!(
        wrong.stderr.contains("Did you mean `panics`?"),
        "{}",
        wrong.stderr
    );
    let missing = bench.passdock("plugin check missing.so");
    assert_eq!(missing.status, 2);
    assert!(
        missing
            .stderr
            .contains("There is no plugin file `missing.so`.")
    );
    assert_eq!(bench.passdock("plugin check").status, 2);
}

#[test]
fn a_plugin_is_checked_where_it_was_built_beside_another_copy() {
    let bench = Bench::new();
    // The one beside the command has the same names.
    fs::copy(plugin("passdock-tir"), bench.path("libtir.so")).expect("a copy");
    let ran = check(&bench, &bench.path("libtir.so"), &["--json"]);
    assert_eq!(bad(&ran), Vec::<String>::new(), "{}", ran.stdout);
    let ran = check(
        &bench,
        &bench.path("libtir.so"),
        &["--only", "verifier", "--json"],
    );
    assert_eq!(verdicts(&ran)[0].1, "pass");
}
