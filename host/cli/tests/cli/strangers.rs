//! Files from strangers: reproducers, pipelines and IR text run nothing and reach nothing outside of their directory
//! unless the command line says so.

use std::fs;
use std::os::unix::fs::symlink;

use expect_test::{Expect, expect};

use crate::support::{Bench, RELUS, plugin_elsewhere};

const PASS: &str = "relax.transform.DeadCodeElimination";

/// A directory with a reproducer `sent`, a file `secret` beside it, and a model.
fn bench() -> Bench {
    let bench = Bench::new();
    fs::create_dir(bench.path("sent")).unwrap();
    bench
        .write("m.ir", RELUS)
        .write("secret", [0; 8])
        .write("secret.npy", "")
        .write(
            "fuse.rules",
            "rule a.neg { onnx.Neg(onnx.Neg(%x)) => %x }\n",
        )
        .write("sent/before.ir", RELUS)
        .write("sent/pipeline.toml", format!("passes = ['{PASS}']\n"));
    about(&bench, "");
    bench
}

/// Writes what the reproducer says of itself.
fn about(bench: &Bench, more: &str) {
    let head = "version = 1\npassdock = '0.1.0'\nverify = 'changed'\n";
    let failure = "[failure]\ncode = 'check'\nmessage = 'It is wrong.'\n";
    bench.write("sent/reproducer.toml", format!("{head}{failure}{more}"));
}

/// Runs a command that is refused, with exit status 2 and these words; `--trust` lets it run.
#[track_caller]
fn check(bench: &Bench, words: &str, expected: Expect) {
    let before = bench.contents();
    let ran = bench.passdock(words);
    expected.assert_eq(
        &ran.stderr
            .replace(&*bench.path("").to_string_lossy(), "DIR/"),
    );
    assert_eq!(ran.status, 2, "{}", ran.stdout);
    assert!(bench.contents() == before, "something was written");
    let ran = bench.passdock(&format!("{words} --trust"));
    assert!(!ran.stderr.contains("trust"), "{}", ran.stderr);
}

#[test]
fn a_reproducer_runs_no_command() {
    let bench = bench();
    about(&bench, "[check]\ncommand = 'touch ran {}'\n");
    check(
        &bench,
        "replay sent",
        expect![[r#"
            error[usage]: The reproducer `sent` isn't trusted: it runs the command `touch ran {}`.
             |
             = help: `--trust` allows that: use it if you trust the reproducer's sender.
        "#]],
    );
    assert!(bench.exists("ran"));
}

#[test]
fn a_reproducer_loads_no_plugin_that_it_names() {
    let bench = bench();
    fs::copy(plugin_elsewhere(), bench.path("sent/p.so")).unwrap();
    for key in ["dirs = ['.']", "files = ['p.so']"] {
        let pipeline = format!("passes = ['{PASS}']\n[plugins]\n{key}\n");
        bench.write("sent/pipeline.toml", pipeline);
        let ran = bench.passdock("replay sent");
        let said = "The reproducer `sent` isn't trusted: it loads plugins from `";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert_eq!(ran.status, 2);
        let ran = bench.passdock("replay sent --trust");
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    }
    // A user may name it.
    bench.write("sent/pipeline.toml", format!("passes = ['{PASS}']\n"));
    let ran = bench.passdock("replay sent --plugin sent/p.so");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
}

#[test]
fn a_reproducer_reads_no_data_elsewhere() {
    let bench = bench();
    let secret = bench.path("secret").display().to_string();
    let data = format!("[[data]]\nfile = '{secret}'\noffset = 0\nlength = 8\nblake3 = ''\n");
    about(&bench, &data);
    check(
        &bench,
        "replay sent",
        expect![[r#"
            error[usage]: The reproducer `sent` isn't trusted: it reads `DIR/secret`.
             |
             = help: `--trust` allows that: use it if you trust the reproducer's sender.
        "#]],
    );
    // Data that it doesn't list.
    about(&bench, "");
    let head = "module {\n  fn @main(%x: f32[2]) -> (%y: f32[2]) {\n";
    let text = |file: &str| {
        format!("{head}    %w = const f32[2] external(\"{file}\", 0, 8)\n    return %w\n  }}\n}}\n")
    };
    symlink(&secret, bench.path("sent/link")).unwrap();
    for file in [&*secret, "../secret", "link"] {
        bench.write("sent/before.ir", text(file));
        let ran = bench.passdock("replay sent");
        assert!(
            ran.stderr.contains("`--trust` reads data from outside"),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.status, 1);
        let ran = bench.passdock("replay sent --trust");
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{file}");
        // As a model.
        let ran = bench.passdock("convert sent/before.ir out.onnx");
        let flag = "`--allow-outside-data` reads data from outside";
        assert!(ran.stderr.contains(flag), "{}", ran.stderr);
        assert_eq!((ran.status, bench.exists("out.onnx")), (1, false));
    }
    // What is inside may be named in full.
    let inside = bench.path("sent/inside");
    fs::write(&inside, [0; 8]).unwrap();
    bench.write("sent/before.ir", text(&inside.display().to_string()));
    let ran = bench.passdock("replay sent");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
}

#[test]
fn a_reproducer_has_no_links_out_of_it() {
    for name in ["before.ir", "pipeline.toml", "reproducer.toml"] {
        let bench = bench();
        fs::rename(bench.path(&format!("sent/{name}")), bench.path(name)).unwrap();
        symlink(format!("../{name}"), bench.path(&format!("sent/{name}"))).unwrap();
        let ran = bench.passdock("replay sent");
        let said = format!("`{name}` of the reproducer `sent` is a link out of it.");
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
        assert_eq!(bench.passdock("replay sent --trust").status, 0);
    }
}

#[test]
fn an_instrument_of_a_reproducer_names_no_file() {
    for (name, option) in [
        ("dump", "dir"),
        ("timing", "trace"),
        ("numerics", "library"),
    ] {
        let bench = bench();
        let instrument = format!("[[instruments]]\nname = '{name}'\n{option} = 'there'\n");
        bench.write(
            "sent/pipeline.toml",
            format!("passes = ['{PASS}']\n{instrument}"),
        );
        let before = bench.contents();
        let ran = bench.passdock("replay sent");
        let said = "The reproducer isn't trusted: it names `there`.";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert!(ran.stderr.contains("--trust"), "{}", ran.stderr);
        assert_eq!(ran.status, 2);
        assert!(bench.contents() == before);
    }
}

#[test]
fn a_pipeline_names_files_in_its_directory() {
    let bench = bench();
    fs::create_dir_all(bench.path("p/plugins")).unwrap();
    let secret = bench.path("fuse.rules").display().to_string();
    symlink("../fuse.rules", bench.path("p/link.rules")).unwrap();
    symlink("..", bench.path("p/up")).unwrap();
    let out = bench.path("new/dump").display().to_string();
    let passes = format!("passes = ['{PASS}']\n");
    let bind = "[[passes]]\nname = 'relax.transform.BindParams'\n";
    let config = "'relax.FuseOpsByPattern' = { rules = ['../fuse.rules'] }";
    for (pipeline, named) in [
        (
            "[[passes]]\nrules = '../fuse.rules'\n".to_owned(),
            "../fuse.rules",
        ),
        (
            "[[passes]]\nrules = 'link.rules'\n".to_owned(),
            "link.rules",
        ),
        (
            "[[passes]]\nrules = 'up/fuse.rules'\n".to_owned(),
            "up/fuse.rules",
        ),
        (format!("[[passes]]\nrules = '{secret}'\n"), &secret),
        (format!("{passes}[plugins]\ndirs = ['..']\n"), ".."),
        (format!("{passes}[plugins]\ndirs = ['up']\n"), "up"),
        (
            format!("{passes}[plugins]\nfiles = ['../p.so']\n"),
            "../p.so",
        ),
        (
            format!("{passes}[[instruments]]\nname = 'dump'\ndir = '{out}'\n"),
            &out,
        ),
        (
            format!("{passes}[[instruments]]\nname = 'dump'\ndir = 'up/new'\n"),
            "up/new",
        ),
        (
            format!("{passes}[[instruments]]\nname = 'dump'\ndir = 'no/../../new'\n"),
            "no/../../new",
        ),
        (
            format!("{passes}[[instruments]]\nname = 'timing'\ntrace = '../t.json'\n"),
            "../t.json",
        ),
        (
            format!("{passes}[[instruments]]\nname = 'reproducer'\ndir = '..'\n"),
            "..",
        ),
        (
            format!("{passes}[[instruments]]\nname = 'numerics'\nlibrary = '../o.so'\n"),
            "../o.so",
        ),
        (
            format!("{bind}options = {{ x = '../secret.npy' }}\n"),
            "../secret.npy",
        ),
        (
            format!("{bind}options = {{ params = {{ x = '../secret.npy' }} }}\n"),
            "../secret.npy",
        ),
        (
            format!("{passes}[context.config]\n{config}\n"),
            "../fuse.rules",
        ),
    ] {
        bench.write("p/p.toml", &pipeline);
        let before = bench.contents();
        let ran = bench.passdock("run p/p.toml m.ir -o out.ir");
        let said = format!("The pipeline names `{named}`, which is outside of its directory, `p`.");
        assert!(ran.stderr.contains(&said), "{pipeline}{}", ran.stderr);
        assert!(
            ran.stderr.contains("`--trust` lets a pipeline"),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.status, 2);
        assert!(
            bench.contents() == before,
            "{pipeline}: something was written"
        );
        let ran = bench.passdock("run p/p.toml m.ir --trust");
        assert!(
            !ran.stderr.contains("outside of its directory"),
            "{}",
            ran.stderr
        );
    }
    // What is in it, or is going to be.
    bench.write("p/own.rules", bench.read("fuse.rules")).write(
        "p/p.toml",
        "[plugins]\ndirs = ['plugins']\n[[passes]]\nrules = 'own.rules'\n\
             [[instruments]]\nname = 'dump'\ndir = 'new/dump'\n",
    );
    let ran = bench.passdock("run p/p.toml m.ir");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(bench.exists("p/new/dump"));
    bench.write("p/own.npy", "").write(
        "p/p.toml",
        format!("{bind}options = {{ params = {{ x = 'own.npy' }} }}\n"),
    );
    let ran = bench.passdock("run p/p.toml m.ir");
    assert!(ran.stderr.contains("p/own.npy"), "{}", ran.stderr);
}
