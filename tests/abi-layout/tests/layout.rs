//! The layout is what it was, and what the header says.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use passdock_abi_layout::{program, table};

/// Only grows from one minor version to the next; within major 0 a change is a changelog line.
/// `UPDATE_EXPECT=1 cargo test -p passdock-abi-layout` rewrites it.
#[test]
fn the_layout_is_the_one_that_is_written_down() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("layouts/abi-0.1.txt");
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, table()).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap();
    assert_eq!(
        table(),
        known,
        "the boundary's layout changed; is that meant?"
    );
}

/// The Rust list above misses no record: it is as long as the crate's sources say.
#[test]
fn no_record_is_missing_from_the_list() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin-api/abi/src");
    let mut missing = Vec::new();
    for file in fs::read_dir(sources).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for after in text.split("\n#[repr(C)]\n").skip(1) {
            let body = after.split("pub struct ").nth(1).unwrap();
            let name = body.split([' ', '{', '(']).next().unwrap();
            let opaque = body.split('}').next().unwrap().contains("_opaque");
            let listed = passdock_abi_layout::RECORDS
                .iter()
                .any(|record| record.rust == name);
            if !opaque && !listed {
                missing.push(name.to_owned());
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn the_header_has_the_same_layout_in_c() {
    check_header("gcc", "c", "-std=c11");
}

#[test]
fn the_header_has_the_same_layout_in_cpp() {
    check_header("g++", "c++", "-std=c++17");
}

#[track_caller]
fn check_header(compiler: &str, language: &str, standard: &str) {
    if Command::new(compiler).arg("--version").output().is_err() {
        // Shown with `--nocapture`; CI has the compilers, and `cargo xtask test` says what it
        // skipped.
        #[expect(clippy::print_stderr, reason = "a skip must be visible")]
        {
            eprintln!("skipped: there is no {compiler} here");
        }
        return;
    }
    let room = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, binary) = (
        room.join(format!("layout.{language}")),
        room.join(format!("layout-{language}.exe")),
    );
    fs::write(&source, program()).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin-api/abi/include");
    let built = Command::new(compiler)
        .args([
            standard,
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-x",
            language,
        ])
        .arg("-I")
        .arg(include)
        .arg(&source)
        .arg("-o")
        .arg(&binary)
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{compiler} refuses the header:\n{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let printed = Command::new(&binary).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&printed.stdout), table());
}
