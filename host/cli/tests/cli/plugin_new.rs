//! `passdock plugin new`: what is written, and what is refused. That it builds is tried by `cargo xtask
//! test`.

use std::fs;
use std::path::PathBuf;

use crate::support::{Bench, passdock};

/// The files of a directory but those of `vendor`, with `/` between the parts, sorted.
fn own(bench: &Bench, dir: &str) -> Vec<String> {
    let dir = bench.path(dir);
    let all = bench.contents().into_iter().map(|(path, _)| path);
    let files = all.filter(|path| path.is_file());
    let files = files.filter_map(|path| Some(path.strip_prefix(&dir).ok()?.to_path_buf()));
    let files = files.map(|path: PathBuf| path.display().to_string().replace('\\', "/"));
    files.filter(|path| !path.starts_with("vendor/")).collect()
}

#[test]
fn a_plugin_in_rust() {
    let bench = Bench::new();
    let ran = bench.passdock("plugin new acme-passes");
    assert_eq!(
        ran.stdout,
        "The plugin `acme-passes` is in acme-passes. Try it: `cd acme-passes && cargo test`.\n"
    );
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    assert_eq!(
        own(&bench, "acme-passes"),
        [
            ".github/workflows/ci.yml",
            ".gitignore",
            "Cargo.toml",
            "README.md",
            "model.ir",
            "pipeline.toml",
            "src/lib.rs",
            "tests/fuse_double_relu.rs",
        ]
    );
    let manifest = bench.read("acme-passes/Cargo.toml");
    assert!(manifest.contains("name = \"acme-passes\""));
    assert!(manifest.contains("passdock-plugin-api = { path = \"vendor/passdock-plugin-api\" }"));
    assert!(manifest.contains("#     passdock-plugin-api = \"0.1.0\""));
    assert!(
        bench
            .read("acme-passes/src/lib.rs")
            .contains("acme_passes.transform.FuseDoubleRelu")
    );
    let vendored = "acme-passes/vendor/passdock-plugin-api";
    for file in [
        "Cargo.toml",
        "src/lib.rs",
        "abi/src/lib.rs",
        "share/src/lib.rs",
        "LICENSE-MIT",
    ] {
        assert!(bench.exists(&format!("{vendored}/{file}")), "{file}");
    }
    assert!(!bench.exists(&format!("{vendored}/tests")));
    // Nothing else: no temporary directory.
    assert_eq!(bench.files(), ["acme-passes"]);
}

#[test]
#[cfg(unix)]
fn a_directory_is_quoted_for_the_shell() {
    let bench = Bench::new();
    let ran = bench.run(["plugin", "new", "it's new", "--name", "acme"], "");
    let said = r"in it's new. Try it: `cd 'it'\''s new' && cargo test`.";
    assert!(ran.stdout.contains(said), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_plugin_in_c_and_one_in_cpp() {
    let bench = Bench::new();
    for (flag, source, compiler) in [
        ("--c", "src/acme.c", "CC ?= cc"),
        ("--cpp", "src/acme.cpp", "CXX ?= c++"),
    ] {
        let header = if flag == "--c" {
            "passdock.h"
        } else {
            "passdock.hpp"
        };
        let dir = flag.trim_start_matches('-');
        let ran = bench.passdock(&format!("plugin new {flag} {dir} --name acme"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let files = own(&bench, dir);
        assert!(files.iter().any(|file| file == source), "{files:?}");
        assert!(bench.read(&format!("{dir}/Makefile")).contains(compiler));
        assert!(
            bench
                .read(&format!("{dir}/{source}"))
                .contains(&format!("\"{header}\""))
        );
        assert!(bench.read(&format!("{dir}/README.md")).contains(header));
        assert!(bench.exists(&format!("{dir}/vendor/passdock/include/{header}")));
        assert!(!bench.exists(&format!("{dir}/Cargo.toml")));
    }
    assert_eq!(bench.passdock("plugin new --c --cpp x").status, 2);
}

#[test]
fn no_word_of_a_template_is_left() {
    let bench = Bench::new();
    for flag in ["", "--c", "--cpp"] {
        let dir = format!("a{}", flag.trim_start_matches('-'));
        assert_eq!(
            bench.passdock(&format!("plugin new {flag} {dir}")).status,
            0
        );
        for file in own(&bench, &dir) {
            let text = bench.read(&format!("{dir}/{file}"));
            for line in text.lines() {
                // `@v4` of an action, `@main` of a model.
                let words = line.split('@').skip(1).step_by(2);
                let left =
                    words.filter(|word| ["crate", "plugin", "pass", "library"].contains(word));
                assert_eq!(left.count(), 0, "{dir}/{file}: {line}");
            }
        }
    }
}

#[test]
fn the_directory_may_be_there_if_it_is_empty() {
    let bench = Bench::new();
    fs::create_dir(bench.path("here")).expect("a directory");
    assert_eq!(bench.passdock("plugin new here").status, 0);
    assert!(bench.exists("here/Cargo.toml"));
    // The directory one is in.
    fs::create_dir(bench.path("inside")).expect("a directory");
    let mut command = std::process::Command::new(passdock());
    command
        .args(["plugin", "new", "."])
        .current_dir(bench.path("inside"));
    assert!(command.output().expect("it runs").status.success());
    assert!(
        bench
            .read("inside/Cargo.toml")
            .contains("name = \"inside\"")
    );
}

#[test]
fn nothing_is_written_over() {
    let bench = Bench::new();
    bench.write("file", "mine");
    fs::create_dir(bench.path("full")).expect("a directory");
    bench.write("full/mine", "mine");
    let before = bench.contents();
    for (words, says) in [
        (
            "full",
            "The directory `full` is there already, and not empty.",
        ),
        ("file", "`file` is there already, and no directory."),
        ("9lives", "`9lives` can't be the name of a plugin"),
        (
            "new --name relax",
            "Rust, passdock or a standard plugin has it",
        ),
    ] {
        let ran = bench.passdock(&format!("plugin new {words}"));
        assert_eq!(ran.status, 2, "{words}");
        assert!(ran.stderr.contains(says), "{words}: {}", ran.stderr);
    }
    let ran = bench.passdock("plugin new file/below");
    assert_ne!(ran.status, 0);
    assert_eq!(bench.contents(), before);
}
