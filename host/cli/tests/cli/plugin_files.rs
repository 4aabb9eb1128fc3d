//! Plugins that are named by their files: `--plugin`, and `files` in `[plugins]`.

use std::fs;

use expect_test::{Expect, expect};

use crate::support::{Bench, RELUS, Ran, plugin};
#[cfg(target_os = "linux")]
use crate::support::{in_c, passdock};

/// A pass that a plugin beside the command doesn't have: [`odd`] does.
const PASS: &str = "odd.transform.Fail";

/// A directory with a model, and a plugin whose names nobody else has: `odd.so`.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("m.ir", RELUS).write("odd.so", odd(&[]));
    fs::create_dir(bench.path("plugins")).expect("a directory");
    bench
}

/// The plugin `bad` as one called `odd`, with other texts of the same lengths in it.
fn odd(edits: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = fs::read(plugin("passdock-misbehaving")).expect("a plugin");
    let own = [
        ("name = \"bad\"", "name = \"odd\""),
        ("bad.transform.", "odd.transform."),
        ("bad.Odd", "odd.Odd"),
        ("\"bad.", "\"odd."),
    ];
    for (from, to) in own.iter().chain(edits) {
        assert_eq!(from.len(), to.len());
        for at in 0..bytes.len() - from.len() {
            if bytes[at..].starts_with(from.as_bytes()) {
                bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
            }
        }
    }
    bytes
}

#[track_caller]
fn check(bench: &Bench, ran: &Ran, status: i32, expected: Expect) {
    let said = ran.stderr.replace(&bench.plugins(), "");
    expected.assert_eq(&said.replace(std::env::consts::DLL_SUFFIX, ".so"));
    assert_eq!(ran.status, status, "{}", ran.stdout);
}

#[test]
fn a_plugin_is_named_by_its_file() {
    let bench = bench();
    // By a name without a directory, too, which the system would look for elsewhere.
    for file in ["odd.so", "./odd.so"] {
        let explained = bench.passdock(&format!("explain --passes {PASS} --plugin {file} --json"));
        assert_eq!(explained.json()["passes"][0]["file"], file);
        for words in ["run m.ir", "reduce m.ir"] {
            let ran = bench.passdock(&format!("{words} --passes {PASS} --plugin {file}"));
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(
                said.contains("axis that is out of range"),
                "{words}: {said}"
            );
        }
    }
    bench.write("p.toml", format!("[[passes]]\nname = '{PASS}'\n"));
    assert_eq!(bench.passdock("check p.toml --plugin odd.so").status, 0);
    assert_eq!(bench.passdock("check p.toml").status, 2);
    let words = [
        "bisect", "p.toml", "m.ir", "--plugin", "odd.so", "--check", "true {}", "-o", "found",
    ];
    let ran = bench.run(words, "");
    assert!(
        ran.stdout
            .contains("odd.transform.Fail of plugin odd fails"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(ran.stdout.contains("--plugin odd.so"), "{}", ran.stdout);
}

#[test]
fn a_reproducer_names_the_file_again() {
    let bench = bench();
    let ran = bench.passdock(&format!(
        "run m.ir --passes {PASS} --plugin ./odd.so -o out.ir"
    ));
    let again = "passdock replay out.ir.reproducer --plugin ./odd.so";
    assert!(ran.stderr.contains(&format!("`{again}`")), "{}", ran.stderr);
    let ran = bench.passdock("replay out.ir.reproducer --plugin ./odd.so --locked");
    assert!(
        ran.stdout.contains("the same failure"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    bench.write(
        "other.so",
        odd(&[("version = \"0.1.0\"", "version = \"0.1.9\"")]),
    );
    let ran = bench.passdock("replay out.ir.reproducer --plugin other.so --locked");
    check(
        &bench,
        &ran,
        3,
        expect![[r#"
        error[plugin]: The plugin `other.so` is odd 0.1.9; the reproducer was made with 0.1.0.
         |
         = help: What the reproducer shows may be gone, or look different.
    "#]],
    );
    let ran = bench.passdock("replay out.ir.reproducer --locked");
    check(
        &bench,
        &ran,
        3,
        expect![[r#"
        error[plugin]: The plugin odd 0.1.0, which was loaded from a file `odd.so`, isn't here.
         |
         = help: Name its file, `--plugin FILE`, or its directory, `--plugin-dir DIR`.
    "#]],
    );
}

#[test]
fn a_pipeline_names_files_from_where_it_lies() {
    let bench = bench();
    let pipeline =
        |file: &str| format!("[plugins]\nfiles = ['{file}']\n[[passes]]\nname = '{PASS}'\n");
    bench.write("plugins/p.toml", pipeline("../odd.so"));
    let ran = bench
        .passdock("explain plugins/p.toml --json --trust")
        .json();
    assert_eq!(ran["passes"][0]["file"], "plugins/../odd.so");
    let ran = bench.passdock("explain plugins/p.toml");
    check(
        &bench,
        &ran,
        2,
        expect![[r#"
        error[usage]: The pipeline names `../odd.so`, which is outside of its directory, `plugins`.
         --> plugins/p.toml:2:10
          |
        2 | files = ['../odd.so']
          |          ^^^^^^^^^^^
          |
          = help: `--trust` lets a pipeline name files anywhere.
    "#]],
    );
    bench.write("p.toml", pipeline("ood.so"));
    let ran = bench.passdock("run p.toml m.ir");
    check(
        &bench,
        &ran,
        2,
        expect![[r#"
        error[usage]: There is no plugin file `ood.so`.
         --> p.toml:2:10
          |
        2 | files = ['ood.so']
          |          ^^^^^^^^
          |
          = help: Files are relative to the pipeline's file.
    "#]],
    );
    bench.write("p.toml", pipeline("m.ir"));
    check(
        &bench,
        &bench.passdock("run p.toml m.ir"),
        3,
        expect![[r#"
            error[plugin]: Plugin `m.ir` can't be used: it isn't a shared library (its first bytes are of no kind of library); a plugin here is a `.so`.
             --> p.toml:2:10
              |
            2 | files = ['m.ir']
              |          ^^^^^^
        "#]],
    );
}

#[test]
fn files_that_are_no_plugins_are_told() {
    let bench = bench();
    let list = |file: &str| bench.passdock(&format!("list plugins --plugin {file}"));
    check(
        &bench,
        &list("ood.so"),
        2,
        expect![[r#"
        error[usage]: There is no plugin file `ood.so`.
         |
         = help: Correct its name, or build it.
    "#]],
    );
    check(
        &bench,
        &list("plugins"),
        2,
        expect![[r#"
        error[usage]: `plugins` is a directory, and no plugin file: `--plugin-dir`, or `dirs` in `[plugins]`, names directories.
    "#]],
    );
    check(
        &bench,
        &list("m.ir"),
        3,
        expect![[r#"
        error[plugin]: Plugin `m.ir` can't be used: it isn't a shared library (its first bytes are of no kind of library); a plugin here is a `.so`.
    "#]],
    );
}

#[test]
fn two_files_of_one_plugin_are_both_named() {
    let bench = bench();
    let file = format!("plugins/odd{}", std::env::consts::DLL_SUFFIX);
    let words = format!("explain --passes {PASS} --plugin odd.so --plugin-dir plugins");
    // One file that is named in two ways is one plugin.
    fs::hard_link(bench.path("odd.so"), bench.path(&file)).expect("a second name");
    check(&bench, &bench.passdock(&words), 0, expect![[""]]);
    fs::remove_file(bench.path(&file)).expect("it is there");
    bench.write(&file, odd(&[]));
    check(
        &bench,
        &bench.passdock(&words),
        2,
        expect![[r#"
            error[duplicate-pass]: The plugin `odd` is there twice: `odd.so` and `plugins/odd.so` are copies of one file.
             |
             = help: Remove one of the two files, or leave out what names it: its `--plugin`, or its directory among `--plugin-dir`, `[plugins]` of the pipeline and `PASSDOCK_PLUGIN_PATH`.
        "#]],
    );
    bench.write(&file, odd(&[("axis that is", "axle that is")]));
    check(
        &bench,
        &bench.passdock(&words),
        2,
        expect![[r#"
            error[duplicate-pass]: The plugin `odd` is there twice: `odd.so` and `plugins/odd.so` are two builds of its version 0.1.0.
             |
             = help: Remove one of the two files, or leave out what names it: its `--plugin`, or its directory among `--plugin-dir`, `[plugins]` of the pipeline and `PASSDOCK_PLUGIN_PATH`.
        "#]],
    );
    bench.write(
        &file,
        odd(&[("version = \"0.1.0\"", "version = \"0.1.9\"")]),
    );
    check(
        &bench,
        &bench.passdock(&words),
        2,
        expect![[r#"
            error[duplicate-pass]: The plugin `odd` is there twice: `odd.so` and `plugins/odd.so` are of its versions 0.1.0 and 0.1.9.
             |
             = help: Remove one of the two files, or leave out what names it: its `--plugin`, or its directory among `--plugin-dir`, `[plugins]` of the pipeline and `PASSDOCK_PLUGIN_PATH`.
        "#]],
    );
    // A list shows what it can.
    let ran = bench.passdock("list plugins --plugin odd.so --plugin-dir plugins --json");
    assert_eq!(ran.status, 2);
    assert_eq!(ran.json()["conflicts"][0]["code"], "duplicate-pass");
}

/// A plugin that can't be loaded is told with what needs it: a pass, or the definition of an op.
#[test]
fn what_needs_a_plugin_that_cannot_be_loaded_is_told() {
    let bench = bench();
    // Its manifest names another pass than its table.
    let edits = [("\"odd.transform.Panic\"", "\"odd.transform.Manic\"")];
    bench.write("odd.so", odd(&edits));
    let ran = bench.passdock(&format!("run m.ir --passes {PASS} --plugin odd.so"));
    check(
        &bench,
        &ran,
        3,
        expect![[r#"
        error[plugin]: Plugin `odd.so` can't be used: its table and its manifest disagree: the table lacks the pass `odd.transform.Manic`; both come from `plugin!`, in C keep them equal.
         |
         = note: the pass `odd.transform.Fail` needs it
    "#]],
    );
    let text = RELUS.replace("onnx.Relu(%x)", "odd.Odd(%x)");
    bench.write("o.ir", text.replace("= 17", "= 17, \"odd\" = 1"));
    let ran = bench.passdock("run o.ir --passes InferType --plugin odd.so");
    check(
        &bench,
        &ran,
        3,
        expect![[r#"
        error[plugin]: Plugin `odd.so` can't be used: its table and its manifest disagree: the table lacks the pass `odd.transform.Manic`; both come from `plugin!`, in C keep them equal.
         |
         = in pass relax.transform.InferType of plugin `libpassdock_relax.so`
         = note: the definition of `odd.Odd` is in it
    "#]],
    );
    let ran = bench.passdock("list ops odd.Odd --plugin odd.so");
    check(
        &bench,
        &ran,
        3,
        expect![[r#"
        error[plugin]: Plugin `odd.so` can't be used: its table and its manifest disagree: the table lacks the pass `odd.transform.Manic`; both come from `plugin!`, in C keep them equal.
         |
         = note: the definition of `odd.Odd` is in it
    "#]],
    );
}

/// Debuggers, profilers and backtraces find a plugin by the name that the loader has for it.
#[cfg(target_os = "linux")]
#[test]
fn the_loader_knows_the_files_path() {
    let bench = Bench::new();
    if in_c(&bench, "tests/bad-plugins/dies.c", &["-pthread"]).is_none() {
        return;
    }
    bench.write("m.ir", RELUS);
    let run = "run m.ir --passes c.transform.Dies --plugin plugin.so";
    let file = bench.path("plugin.so").display().to_string();
    for how in ["", " --in-process"] {
        let words = format!("{run}{how}");
        let ran = bench.run_with(&[("FAULT", "dladdr")], words.split(' '), "");
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(
            ran.stderr.contains(&format!("loaded from {file}\n")),
            "{}",
            ran.stderr
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn a_debugger_stops_in_a_pass() {
    let bench = Bench::new();
    if in_c(&bench, "tests/bad-plugins/dies.c", &["-pthread", "-g"]).is_none() {
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

#[test]
fn a_plugin_of_which_nothing_runs_is_told() {
    let bench = bench();
    let ran = bench.passdock("run m.ir --plugin odd.so");
    check(
        &bench,
        &ran,
        0,
        expect![[r#"
        warning[unscheduled]: No pass of the plugin `odd.so` runs: `odd.transform.Panic`, `odd.transform.Fail`, `odd.transform.Complain` and 31 more.
         |
         = help: Run them with `--passes odd.transform.Panic`, list them in a pipeline, or give them a phase in the plugin's source: `phase: "late"`.
    "#]],
    );
    // So is one in a directory that the user names, but none of the standard plugins, wherever they are.
    std::fs::create_dir(bench.path("pd")).expect("a directory");
    std::fs::rename(bench.path("odd.so"), bench.path("pd/odd.so")).expect("moved");
    let built_in = "passes = [{ use = 'default' }]\n[plugins]\ndirs = ['pd']\n";
    bench.write("p.toml", built_in);
    let standard = crate::support::plugin("passdock_tir");
    let standard = standard
        .parent()
        .and_then(|dir| dir.to_str())
        .expect("UTF-8");
    let said = "No pass of the plugin `pd/odd.so` runs: ";
    for (words, path) in [
        ("run m.ir --plugin-dir pd", standard),
        ("explain --plugin-dir pd", ""),
        ("batch m.ir -o out --plugin-dir pd", ""),
        ("batch m.ir -o out --again --json --plugin-dir pd", ""),
        ("run m.ir", "pd"),
        ("run p.toml m.ir", ""),
    ] {
        let ran = bench.run_with(&[("PASSDOCK_PLUGIN_PATH", path)], words.split(' '), "");
        assert_eq!(ran.status, 0, "{words}: {}", ran.stderr);
        let all = ran.stdout + &ran.stderr;
        assert_eq!(all.matches("unscheduled").count(), 1, "{words}: {all}");
        assert!(all.contains(said), "{words}: {all}");
    }
    std::fs::rename(bench.path("pd/odd.so"), bench.path("odd.so")).expect("moved");
    // A user who lists passes knows what runs.
    for pass in [PASS, "relax.transform.FoldConstant"] {
        let ran = bench.passdock(&format!("run m.ir --plugin odd.so --passes {pass}"));
        assert!(!ran.stderr.contains("unscheduled"), "{}", ran.stderr);
    }
}
