//! The layout matches the golden tables and the C header.

mod table;

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use table::{lost, program, table, types, RECORDS};

/// The current layout. Within major version 0, a change needs a line in the changelog. `UPDATE_EXPECT=1 cargo test -p
/// passdock-abi` updates it.
#[test]
fn layout_matches_golden_file() {
    check_file("tests/layouts/today.txt", &table());
}

/// Types and signatures: an `i32` instead of a `u32` has the same layout and another meaning.
#[test]
fn types_match_golden_file() {
    check_file("tests/layouts/today-types.txt", &types());
}

/// The files of each released minor version are `tests/layouts/abi-<major>.<minor>.txt` (and `-types.txt`). The current
/// ones may only have more.
#[test]
fn released_layouts_are_preserved() {
    let layouts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/layouts");
    for file in fs::read_dir(layouts).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("abi-") {
            continue;
        }
        let today = if name.ends_with("-types.txt") {
            types()
        } else {
            table()
        };
        let lost = lost(&fs::read_to_string(&path).unwrap(), &today);
        assert_eq!(
            lost,
            Vec::<String>::new(),
            "{name} has what isn't there any more"
        );
    }
}

#[test]
fn only_additions_are_compatible() {
    let earlier = "op size 8 align 4\n    0 4 name\n    4 4 flags\nSTALE = 1\n";
    let grown = "new size 4 align 4\n    0 4 x\nop size 12 align 4\n    0 4 name\n    4 4 flags\n    8 4 loc\nSTALE = \
        1\n";
    assert_eq!(lost(earlier, grown), Vec::<String>::new());
    let moved = "op size 12 align 4\n    0 4 name\n    4 4 loc\n    8 4 flags\nSTALE = 2\n";
    assert_eq!(
        lost(earlier, moved),
        ["op: 4 4 flags", "STALE = 1 is gone or another value"]
    );
}

#[track_caller]
fn check_file(file: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, actual).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap();
    assert_eq!(actual, known, "the boundary changed; is that meant?");
}

#[test]
fn c_header_matches_rust_layout() {
    check_header("gcc", "c", "-std=c11");
}

#[test]
fn cpp_header_matches_rust_layout() {
    check_header("g++", "c++", "-std=c++17");
}

#[track_caller]
fn check_header(compiler: &str, language: &str, standard: &str) {
    if Command::new(compiler).arg("--version").output().is_err() {
        // Shown with `--nocapture`. CI has the compilers, and `cargo xtask test` lists skipped tests.
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
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
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
        "{compiler} rejects the header:\n{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let printed = Command::new(&binary).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&printed.stdout), table());
}

/// The fields fill their record, so none is missing from the list.
#[test]
fn field_list_covers_each_record() {
    for record in RECORDS {
        let mut end = 0;
        for field in record.fields {
            assert_eq!(field.offset, end, "before {}.{}", record.rust, field.rust);
            end = field.offset + field.size;
        }
        assert_eq!(record.size, end, "at the end of {}", record.rust);
    }
}
