//! The table in docs/security.md: what plugins can't do in the sandbox. This test generates it from actual runs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;

use serde_json::Value;

use crate::support::{Bench, RELUS, REPOSITORY, Ran, compile_c_plugin};

/// Attempts of a kind: the kind in the report, or `""` for files, and the names in `sandbox.c`. Those after `|` aren't
/// tried without a sandbox, because they would end the process or change the machine.
const ATTEMPTS: [(&str, &str); 14] = [
    (
        "network",
        "tcp socket,udp socket,unix socket,netlink socket,socket pair|",
    ),
    ("exec", "|exec,execveat"),
    ("fork", "fork,vfork,posix_spawn,system|clone namespace"),
    ("ptrace", "ptrace,process descriptor|read memory"),
    ("signal", "kill,tgkill,tkill|kill group,kill all"),
    ("limits", "raise limit,limit of another process|"),
    ("mount", "|mount,unmount,chroot,file system"),
    ("namespace", "|unshare,join namespace"),
    (
        "attributes",
        "change mode,change owner,change times,truncate|",
    ),
    ("terminal", "|terminal input"),
    ("ipc", "shared memory|"),
    ("kernel", "|io_uring,bpf,keys"),
    (
        "files",
        "read a file,list a directory,write a file,create a file,create a directory,create a link,create a hard link,\
         create a pipe,create a temporary link,read the memory of its parent,read the environment of its parent,\
         rename a file,remove a file|",
    ),
    (
        "allowed",
        "thread,signal itself,read limit,create a temporary file|",
    ),
];

/// The files that a plugin may not touch.
const FILES: [&str; 3] = ["mine", "m.ir", "plugin.so"];

fn bench() -> Option<Bench> {
    let bench = Bench::new();
    bench.write("m.ir", RELUS).write("mine", "mine");
    compile_c_plugin(&bench, "tests/bad-plugins/sandbox.c", &["-pthread"])?;
    Some(bench)
}

fn run(bench: &Bench, attempts: &str, at: &str, mode: &str) -> Ran {
    // Without a sandbox, its limits are changed.
    let mut other = Command::new("sleep").arg("60").spawn().expect("sleep");
    let id = other.id().to_string();
    let variables = [("ATTEMPTS", attempts), ("AT", at), ("PROCESS", &id)];
    let words = "run m.ir --plugin plugin.so --passes sandbox.transform.Attempt --json --sandbox";
    let ran = bench.run_with(&variables, words.split(' ').chain([mode]), "");
    other.kill().and_then(|()| other.wait()).expect("it runs");
    ran
}

/// Returns the outcomes of attempts by name.
fn outcomes(ran: &Ran) -> BTreeMap<String, String> {
    let lines = ran.stderr.lines();
    let attempts = lines.filter_map(|line| line.strip_prefix("attempt: ")?.split_once(": "));
    attempts
        .map(|(name, outcome)| (name.to_owned(), outcome.to_owned()))
        .collect()
}

/// Returns `true` if all parts of the sandbox were active.
#[allow(clippy::print_stderr, reason = "a skipped test prints a message")]
fn is_complete(report: &Value) -> bool {
    let missing = &report["sandbox"]["missing"];
    if missing.is_array() {
        eprintln!("skipped: this system has no complete sandbox: {missing}");
    }
    !missing.is_array()
}

#[test]
fn documented_sandbox_table_matches_actual_runs() {
    let Some(probe) = bench() else { return };
    if !is_complete(&run(&probe, "", "pass", "auto").json()) {
        return;
    }
    let mut text = String::from(
        "| kind | a plugin tries to … | in the sandbox | without it |\n|---|---|---|---|\n",
    );
    for (kind, attempts) in ATTEMPTS {
        let (both, only_inside) = attempts.split_once('|').expect("a separator");
        let all = format!("{both},{only_inside}");
        let bench = bench().expect("a C compiler");
        let inside = run(&bench, &all, "pass", "auto");
        let report = inside.json();
        let found = outcomes(&inside);
        let files = bench.files();
        assert!(
            FILES.iter().all(|name| bench.exists(name)),
            "{kind}: {files:?}"
        );
        assert_eq!(files.len(), FILES.len(), "{kind}: {files:?}");
        assert_eq!(bench.read("mine"), "mine", "{kind}");
        let count = found.values().filter(|outcome| *outcome == "EPERM").count();
        let denied = &report["sandbox"]["denied"];
        if count > 0 {
            let denied = denied.as_array().expect("denied calls");
            assert_eq!(
                denied.len(),
                denied.iter().filter(|it| it["plugin"] == "sandbox").count(),
                "{denied:?}"
            );
            let of_kind = denied.iter().filter(|it| it["call"] == kind);
            let counted: u64 = of_kind.filter_map(|it| it["count"].as_u64()).sum();
            assert_eq!(counted, count as u64, "{kind}: {denied:?} {found:?}");
        } else {
            assert!(denied.is_null(), "{kind}: {denied}");
        }
        let outside = outcomes(&run(&bench, both, "pass", "off"));
        for name in all.split(',').filter(|name| !name.is_empty()) {
            let inside = &found[name];
            assert_eq!(inside == "allowed", kind == "allowed", "{name}: {inside}");
            let outside = outside.get(name).map_or("not tried", String::as_str);
            _ = writeln!(text, "| {kind} | {name} | {inside} | {outside} |");
        }
    }
    let path = format!("{REPOSITORY}/docs/security.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (begin, end) = (
        "<!-- written by host/cli/tests/cli/sandbox.rs -->\n\n",
        "\n<!-- end -->",
    );
    let at = page.find(begin).expect("the start of the table") + begin.len();
    let to = at + page[at..].find(end).expect("its end");
    if page[at..to] != text && std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, format!("{}{text}{}", &page[..at], &page[to..])).expect("the page");
        return;
    }
    assert_eq!(
        &page[at..to],
        text,
        "docs/security.md is outdated; UPDATE_EXPECT=1 updates it"
    );
}

#[test]
fn constructors_threads_and_exit_handlers_are_in_the_sandbox() {
    let Some(bench) = bench() else { return };
    for at in ["constructor", "thread", "atexit"] {
        let ran = run(&bench, "tcp socket,write a file", at, "auto");
        let report = ran.json();
        if !is_complete(&report) {
            return;
        }
        let found = outcomes(&ran);
        assert_eq!(
            (&*found["tcp socket"], &*found["write a file"]),
            ("EPERM", "EACCES"),
            "{at}"
        );
        let denied = &report["sandbox"]["denied"][0];
        assert_eq!(denied["call"], "network", "{at}: {denied}");
        assert_eq!(denied["file"], "plugin.so", "{at}: {denied}");
        assert_eq!(
            i64::from(ran.status),
            i64::from(at == "atexit"),
            "{at}: {}",
            ran.stderr
        );
    }
}

/// Returns a bench with a plugin that needs these permissions.
fn bench_with(permissions: &str) -> Option<Bench> {
    let bench = Bench::new();
    bench.write("m.ir", RELUS).write("mine", "mine");
    let define = format!("-DPERMISSIONS=\"{permissions}\"");
    let flags = ["-pthread", &*define];
    compile_c_plugin(&bench, "tests/bad-plugins/sandbox.c", &flags)?;
    Some(bench)
}

fn run_pipeline(bench: &Bench, attempts: &str, settings: &str, words: &str) -> Ran {
    let pipeline = format!(
        "passes = ['sandbox.transform.Attempt']\n[plugins]\nfiles = ['plugin.so']\n[plugins.sandbox]\n{settings}\n"
    );
    bench.write("p.toml", pipeline);
    let words = format!("run p.toml m.ir {words}");
    bench.run_with(&[("ATTEMPTS", attempts)], words.split_whitespace(), "")
}

#[test]
fn permissions_are_granted_by_the_user() {
    let Some(bench) = bench_with("['network']") else {
        return;
    };
    let ran = run_pipeline(&bench, "tcp socket", "", "");
    let expected = "the plugin needs permission `network`, which is not granted; if you trust it, add \
                    `allow = [\"network\"]` to `[plugins.sandbox]` in the pipeline, or pass \
                    `--allow sandbox=network`";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    assert_eq!(ran.status, 3);
    let inspected = bench.passdock("inspect plugin.so");
    assert!(
        inspected.stdout.contains("needs permission network"),
        "{}",
        inspected.stdout
    );

    let by_flag = run_pipeline(&bench, "tcp socket,fork", "", "--allow sandbox=network");
    let by_file = run_pipeline(&bench, "tcp socket,fork", "allow = ['network']", "");
    for ran in [by_flag, by_file] {
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let found = outcomes(&ran);
        assert_eq!(
            (&*found["tcp socket"], &*found["fork"]),
            ("allowed", "EPERM")
        );
    }
    let unknown = run_pipeline(&bench, "", "allow = ['internet']", "");
    assert_eq!(unknown.status, 2);
    assert!(
        unknown.stderr.contains("unknown permission `internet`"),
        "{}",
        unknown.stderr
    );
    assert!(unknown.stderr.contains("p.toml:5"), "{}", unknown.stderr);
    let other = run_pipeline(&bench, "", "allow = ['network']", "--allow sandbx=exec");
    assert_eq!(other.status, 2);
    assert!(
        other.stderr.contains("did you mean `sandbox`"),
        "{}",
        other.stderr
    );
}

#[test]
fn granted_files_and_programs_can_be_used() {
    let Some(bench) = bench() else { return };
    let path = bench.path("mine").display().to_string();
    let attempts = "read a file,write a file,system";
    for (permission, allowed) in [
        (format!("read:{path}"), [true, false, false]),
        (format!("write:{path}"), [true, true, false]),
        ("exec".to_owned(), [false, false, true]),
    ] {
        let ran = run_pipeline(&bench, attempts, &format!("allow = ['{permission}']"), "");
        let found = outcomes(&ran);
        for (name, allowed) in attempts.split(',').zip(allowed) {
            assert_eq!(found[name] == "allowed", allowed, "{permission}: {found:?}");
        }
    }
}

#[test]
fn limits_name_the_pass_that_exceeds_them() {
    let Some(bench) = bench() else { return };
    for (attempts, limit, expected) in [
        (
            "wait",
            "timeout_s = 0.2",
            "the pass was still running after 0.2 s",
        ),
        (
            "use memory",
            "memory_mb = 100",
            "the pass used more than 100 MiB of memory",
        ),
    ] {
        let ran = run_pipeline(&bench, attempts, limit, "-o out.ir");
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert!(
            ran.stderr.contains(&format!("error[crashed]: {expected}")),
            "{}",
            ran.stderr
        );
        assert!(
            ran.stderr
                .contains("in pass sandbox.transform.Attempt of plugin `plugin.so`"),
            "{}",
            ran.stderr
        );
        assert!(!bench.exists("out.ir"));
        assert!(bench.exists("out.ir.reproducer/reproducer.toml"));
        std::fs::remove_dir_all(bench.path("out.ir.reproducer")).expect("a directory");
    }
    let within = run_pipeline(&bench, "use memory", "timeout_s = 60\nmemory_mb = 2000", "");
    assert_eq!(within.status, 0, "{}", within.stderr);
}

#[test]
fn libraries_of_the_run_path_are_found() {
    let bench = Bench::new();
    bench
        .write("m.ir", RELUS)
        .write("helper.c", "int help(void) { return 1; }");
    std::fs::create_dir(bench.path("needed")).expect("a directory");
    let library = bench.path("needed/libhelper.so");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(bench.path("helper.c"));
    let Ok(status) = cc.status() else { return };
    assert!(status.success());
    let flags = [
        "-pthread",
        "-Wl,--no-as-needed",
        "-Wl,-rpath,$ORIGIN/needed",
    ];
    let directory = format!("-L{}", bench.path("needed").display());
    let flags = [&flags[..], &[&directory, "-lhelper"]].concat();
    compile_c_plugin(&bench, "tests/bad-plugins/sandbox.c", &flags).expect("a C compiler");
    let ran = run(&bench, "read limit", "pass", "auto");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let other = bench.path("elsewhere");
    std::fs::create_dir(&other).expect("a directory");
    std::fs::rename(
        bench.path("needed/libhelper.so"),
        other.join("libhelper.so"),
    )
    .expect("a file");
    assert_eq!(run(&bench, "read limit", "pass", "auto").status, 3);
}
