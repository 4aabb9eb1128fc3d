//! `passdock lock`, `--locked`, and versions in pipelines.

use expect_test::expect;

use super::{bench, outcome, shown};
use crate::support::Bench;

#[test]
fn lock_file_lists_the_plugins_of_a_run() {
    let bench = bench();
    let ran = bench.passdock("lock p.toml");
    expect![[r#"
        plugin    version     abi  origin            change
        bad       VERSION  1.0  standard plugins  added
        onnx-ops  VERSION  1.0  standard plugins  added
        relax     VERSION  1.0  standard plugins  added
        tap       VERSION  1.0  plugins/tap.so    added
        tir       VERSION  1.0  standard plugins  added
        passdock.lock: 5 plugins locked for PLATFORM
    "#]]
    .assert_eq(&shown(&bench, &ran.stdout));
    expect![[r##"
        # Written by `passdock lock`. Don't edit it; commit it with the pipeline.
        version = 1

        [[plugins]]
        name = "bad"
        version = "VERSION"
        abi = "1.0"
        origin = "standard plugins"
        pipelines = ["p.toml"]

        [plugins.blake3]
        PLATFORM = "HASH"

        [[plugins]]
        name = "onnx-ops"
        version = "VERSION"
        abi = "1.0"
        origin = "standard plugins"
        pipelines = ["p.toml"]

        [plugins.blake3]
        PLATFORM = "HASH"

        [[plugins]]
        name = "relax"
        version = "VERSION"
        abi = "1.0"
        origin = "standard plugins"
        pipelines = ["p.toml"]

        [plugins.blake3]
        PLATFORM = "HASH"

        [[plugins]]
        name = "tap"
        version = "VERSION"
        abi = "1.0"
        origin = "plugins/tap.so"
        pipelines = ["p.toml"]

        [plugins.blake3]
        PLATFORM = "HASH"

        [[plugins]]
        name = "tir"
        version = "VERSION"
        abi = "1.0"
        origin = "standard plugins"
        pipelines = ["p.toml"]

        [plugins.blake3]
        PLATFORM = "HASH"
    "##]]
    .assert_eq(&shown(&bench, &bench.read("passdock.lock")));
    let locked = bench.read("passdock.lock");
    assert_eq!(bench.passdock("lock p.toml").status, 0);
    assert_eq!(bench.read("passdock.lock"), locked);
    let ran = bench.passdock("run p.toml m.ir --locked -o out.ir");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
}

/// Commands that run a pipeline in different processes reject a changed plugin.
#[test]
fn changed_plugin_is_rejected() {
    let bench = bench();
    assert_eq!(bench.passdock("lock p.toml").status, 0);
    let before = bench.read("passdock.lock");
    append(&bench, "plugins/tap.so");
    let outcomes = [
        "run p.toml m.ir --locked -o out.ir",
        "run p.toml m.ir --locked --in-process",
        "batch m.ir -p p.toml --locked -o out",
        "bisect p.toml m.ir --locked --test test{}",
        "lock p.toml --locked",
    ]
    .map(|command| outcome(&bench, &bench.passdock(command)));
    assert!(
        outcomes.iter().all(|one| *one == outcomes[0]),
        "{outcomes:#?}"
    );
    expect![[r#"
        error[lock]: the plugins differ from `passdock.lock`
         |
         = note: plugin `tap` in `plugins/tap.so` has BLAKE3 HASH, locked HASH
         = help: use the locked plugins; if the change is intended, run `passdock lock p.toml`
        exit status 3
    "#]]
    .assert_eq(&outcomes[0]);
    assert!(!bench.exists("out.ir"));
    assert_eq!(bench.read("passdock.lock"), before);
    assert_eq!(bench.passdock("check p.toml").status, 0);
    let ran = bench.passdock("lock p.toml");
    expect![[r#"
        plugin    version     abi  origin            change
        bad       VERSION  1.0  standard plugins
        onnx-ops  VERSION  1.0  standard plugins
        relax     VERSION  1.0  standard plugins
        tap       VERSION  1.0  plugins/tap.so    updated
        tir       VERSION  1.0  standard plugins
        passdock.lock: 5 plugins locked for PLATFORM
    "#]]
    .assert_eq(&shown(&bench, &ran.stdout));
    assert_eq!(bench.passdock("check p.toml --locked").status, 0);
}

#[test]
fn all_differences_are_listed() {
    let bench = bench();
    assert_eq!(bench.passdock("lock p.toml").status, 0);
    let lock = bench.read("passdock.lock");
    let version = format!("version = \"{}\"", env!("CARGO_PKG_VERSION"));
    let lock = lock.replacen(&version, "version = \"0.9.0\"", 1);
    let lock = lock.replace("name = \"tap\"", "name = \"other\"");
    bench.write(
        "passdock.lock",
        lock.replace("abi = \"1.0\"", "abi = \"0.1\""),
    );
    let ran = bench.passdock("check p.toml --locked");
    expect![[r#"
        error[lock]: the plugins differ from `passdock.lock`
         |
         = note: plugin `other` VERSION is missing; it was locked in plugins/tap.so
         = note: plugin `tap` in `plugins/tap.so` is not locked
         = note: plugin `bad` in `libpassdock_misbehaving.so` has version VERSION, locked 0.9.0; ABI 1.0,
                locked 0.1
         = note: plugin `onnx-ops` in `libpassdock_onnx_ops.so` has ABI 1.0, locked 0.1
         = note: plugin `relax` in `libpassdock_relax.so` has ABI 1.0, locked 0.1
         = note: plugin `tir` in `libpassdock_tir.so` has ABI 1.0, locked 0.1
         = help: use the locked plugins; if the change is intended, run `passdock lock p.toml`
        exit status 3
    "#]].assert_eq(&outcome(&bench, &ran));
}

/// The hashes of other platforms stay valid until the version changes. Each pipeline has its own plugins.
#[test]
fn locking_again_keeps_other_platforms_and_pipelines() {
    let bench = bench();
    bench.write("q.toml", "passes = ['FoldConstant']");
    assert_eq!(bench.passdock("lock p.toml").status, 0);
    let platform = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
    let elsewhere = bench.read("passdock.lock").replace(&platform, "plan9-mips");
    bench.write("passdock.lock", elsewhere);
    let ran = bench.passdock("check p.toml --locked");
    assert!(
        ran.stderr.contains(&format!("not locked for {platform}")),
        "{}",
        ran.stderr
    );
    assert_eq!(bench.passdock("lock p.toml").status, 0);
    assert_eq!(bench.passdock("lock q.toml").status, 0);
    expect![[r##"
        # Written by `passdock lock`. Don't edit it; commit it with the pipeline.
        version = 1

        [[plugins]]
        name = "bad"
        version = "VERSION"
        abi = "1.0"
        origin = "standard plugins"
        pipelines = ["p.toml", "q.toml"]

        [plugins.blake3]
        PLATFORM = "HASH"
        plan9-mips = "HASH"

        [[plugins]]
        name = "onnx-ops"
        version = "VERSION"
        abi = "1.0"
        origin = "standard plugins"
        pipelines = ["p.toml", "q.toml"]

        [plugins.blake3]
        PLATFORM = "HASH"
        plan9-mips = "HASH"

        [[plugins]]
        name = "relax"
        version = "VERSION"
        abi = "1.0"
        origin = "standard plugins"
        pipelines = ["p.toml", "q.toml"]

        [plugins.blake3]
        PLATFORM = "HASH"
        plan9-mips = "HASH"

        [[plugins]]
        name = "tap"
        version = "VERSION"
        abi = "1.0"
        origin = "plugins/tap.so"
        pipelines = ["p.toml"]

        [plugins.blake3]
        PLATFORM = "HASH"
        plan9-mips = "HASH"

        [[plugins]]
        name = "tir"
        version = "VERSION"
        abi = "1.0"
        origin = "standard plugins"
        pipelines = ["p.toml", "q.toml"]

        [plugins.blake3]
        PLATFORM = "HASH"
        plan9-mips = "HASH"
    "##]]
    .assert_eq(&shown(&bench, &bench.read("passdock.lock")));
    bench.write("p.toml", "passes = ['FoldConstant']");
    let ran = bench.passdock("lock p.toml");
    expect![[r#"
        plugin    version     abi  origin            change
        bad       VERSION  1.0  standard plugins
        onnx-ops  VERSION  1.0  standard plugins
        relax     VERSION  1.0  standard plugins
        tap       VERSION  1.0  plugins/tap.so    removed
        tir       VERSION  1.0  standard plugins
        passdock.lock: 4 plugins locked for PLATFORM
    "#]]
    .assert_eq(&shown(&bench, &ran.stdout));
    let ran = bench.passdock("run q.toml m.ir --locked --plugin plugins/tap.so");
    expect![[r#"
        error[lock]: the plugins differ from `passdock.lock`
         |
         = note: plugin `tap` in `plugins/tap.so` is not locked
         = help: use the locked plugins; if the change is intended, run `passdock lock q.toml --plugin
                plugins/tap.so`
        exit status 3
    "#]].assert_eq(&outcome(&bench, &ran));
    let version = format!("version = \"{}\"", env!("CARGO_PKG_VERSION"));
    let older = bench
        .read("passdock.lock")
        .replace(&version, "version = \"0.9.0\"");
    bench.write("passdock.lock", older);
    assert_eq!(bench.passdock("lock q.toml").status, 0);
    assert!(!bench.read("passdock.lock").contains("plan9"));
}

/// Plugins that aren't locked are left out, and their passes don't exist.
#[test]
fn plugin_that_is_not_locked_is_not_loaded() {
    let bench = bench();
    assert_eq!(bench.passdock("lock p.toml").status, 0);
    let locked = bench.read("passdock.lock");
    bench.write("passdock.lock", without_plugin(&locked, "bad"));
    let ran = bench.passdock("run p.toml m.ir --locked -o out.ir");
    assert_eq!(outcome(&bench, &ran), "exit status 0\n");
    bench.write(
        "p.toml",
        "passes = ['tap.transform.Runs']\n[plugins]\ndirs = ['plugins']\n",
    );
    bench.write("passdock.lock", without_plugin(&locked, "relax"));
    let ran = bench.passdock("run p.toml m.ir --locked");
    expect![[r#"
        error[unknown-pass]: no pass is named `relax.transform.InferType`
         |
         = in pass tap.transform.Runs of plugin `plugins/tap.so`
         = note: cannot load plugin `libpassdock_tap.so`: hidden by plugin `plugins/tap.so`, which has the
                same name and takes precedence
         = note: cannot load plugin `libpassdock_relax.so`: it is not locked
         = note: required by `tap.transform.Needs`, through tap.transform.Runs -> tap.transform.Needs
         = note: `tap.transform.Runs` runs `tap.transform.Needs`
         = help: run `passdock list passes` to list the passes
        note[reproducer]: pass `--reproducer-dir DIR` to write a reproducer
        exit status 1
    "#]].assert_eq(&outcome(&bench, &ran));
}

/// Removes a plugin from the text of a lock file.
fn without_plugin(lock: &str, name: &str) -> String {
    let plugins = lock.split("[[plugins]]\n");
    let kept = plugins.filter(|plugin| !plugin.starts_with(&format!("name = \"{name}\"")));
    kept.collect::<Vec<_>>().join("[[plugins]]\n")
}

#[test]
fn missing_and_invalid_locks_are_errors() {
    let bench = bench();
    let check = |text: Option<&str>, words: &str| {
        let path = bench.path("passdock.lock");
        text.map_or_else(
            || _ = std::fs::remove_file(&path),
            |text| std::fs::write(&path, text).unwrap(),
        );
        outcome(&bench, &bench.passdock(words))
    };
    let check_invalid = |text: &str| check(Some(text), "check p.toml --locked");
    expect![[r#"
        error[lock]: `passdock.lock` does not exist
         |
         = help: lock the plugins of the pipeline: `passdock lock p.toml`
        exit status 3
    "#]]
    .assert_eq(&check(None, "check p.toml --locked"));
    expect![[r#"
        error[lock]: only the plugins of a pipeline can be locked
         |
         = help: list the passes or the .rules file in a pipeline, and lock that
        exit status 3
    "#]]
    .assert_eq(&check(None, "run m.ir --passes FoldConstant --locked"));
    expect![[r#"
        error[lock]: invalid lock file: unclosed array table, expected `]`
         --> passdock.lock:2:11
          |
        2 | [[plugins]
          |           ^
          |
          = help: restore the file, or delete it and run `passdock lock`
        exit status 3
    "#]]
    .assert_eq(&check_invalid("version = 1\n[[plugins]\n"));
    expect![[r#"
        error[lock]: unsupported version 2 of `passdock.lock`, expected 1
         |
         = help: use the passdock that wrote it, or delete it and run `passdock lock`
        exit status 3
    "#]]
    .assert_eq(&check_invalid("version = 2\nnew = 3\n"));
    expect![[r#"
        error[lock]: invalid lock file: invalid type: integer `3`, expected a string
         --> passdock.lock:3:8
          |
        3 | name = 3
          |        ^
          |
          = help: restore the file, or delete it and run `passdock lock`
        exit status 3
    "#]]
    .assert_eq(&check_invalid("version = 1\n[[plugins]]\nname = 3\n"));
    expect![[r#"
        error[lock]: invalid lock file: unknown field `plugin`, expected `version` or `plugins`
         --> passdock.lock:2:1
          |
        2 | plugin = []
          | ^^^^^^
          |
          = help: restore the file, or delete it and run `passdock lock`
        exit status 3
    "#]]
    .assert_eq(&check_invalid("version = 1\nplugin = []\n"));
    expect![[r#"
        error[lock]: invalid lock file: key with no value, expected `=`
         --> passdock.lock:1:7
          |
        1 | \u{1b}[31m
          |       ^
          |
          = help: restore the file, or delete it and run `passdock lock`
        exit status 3
    "#]]
    .assert_eq(&check(Some("\u{1b}[31m"), "lock p.toml"));
    let hidden = "name = \"a\\nb\"\nversion = \"\"\nabi = \"\"\norigin = \"\"\npipelines = []\nblake3 = {}\n";
    expect![[r#"
        error[lock]: hidden characters in `a\nb` in `passdock.lock`
         |
         = help: delete the file and run `passdock lock`
        exit status 3
    "#]]
    .assert_eq(&check_invalid(&format!(
        "version = 1\n[[plugins]]\n{hidden}"
    )));
    let large = format!("# {}\n", "x".repeat(4 << 20));
    expect![[r#"
        error[lock]: could not read `passdock.lock`: it is too large for a lock file
        exit status 3
    "#]]
    .assert_eq(&check_invalid(&large));
    std::fs::remove_file(bench.path("passdock.lock")).expect("a file");
    std::fs::create_dir(bench.path("passdock.lock")).expect("a directory");
    let ran = bench.passdock("check p.toml --locked");
    assert_eq!(ran.status, 3, "{}", ran.stderr);
}

#[test]
fn version_outside_the_range_of_the_pipeline_is_an_error() {
    let bench = bench();
    let check = |range: &str| {
        let pipeline = "passes = ['tap.transform.Nothing']\n[plugins]\ndirs = ['plugins']\n";
        bench.write(
            "p.toml",
            format!("{pipeline}[plugins.tap]\nversion = {range}\n"),
        );
        outcome(&bench, &bench.passdock("check p.toml"))
    };
    expect![[r#"
        exit status 0
    "#]]
    .assert_eq(&check("'>=0.9, <2'"));
    expect![[r#"
        error[plugin]: plugin `tap` in `plugins/tap.so` has version `VERSION`
         --> p.toml:5:11
          |
        5 | version = '>=1.2, <2'
          |           ^^^^^^^^^^^ expected version >=1.2, <2
          |
          = help: use another version of the plugin, or change the range
        exit status 3
    "#]]
    .assert_eq(&check("'>=1.2, <2'"));
    expect![[r#"
        error[pipeline]: `latest` is not a range of versions
         --> p.toml:5:11
          |
        5 | version = 'latest'
          |           ^^^^^^^^ not a range of versions
          |
          = help: write it as in Cargo.toml: `">=1.2, <2"`
        exit status 2
    "#]]
    .assert_eq(&check("'latest'"));
    expect![[r#"
        error[pipeline]: invalid value for `version`: expected a string, found integer `1`
         --> p.toml:5:11
          |
        5 | version = 1
          |           ^ expected a string
        exit status 2
    "#]]
    .assert_eq(&check("1"));
}

fn append(bench: &Bench, name: &str) {
    let mut bytes = std::fs::read(bench.path(name)).expect("a file");
    bytes.push(0);
    bench.write(name, bytes);
}
