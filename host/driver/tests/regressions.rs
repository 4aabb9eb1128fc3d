//! Lock files, provenance statements and messages of workers like those that the fuzz targets generate. The tests run
//! the targets' checks.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "the files are modules of another crate, too"
)]

#[path = "../../../fuzz/src/memory.rs"]
mod memory;
#[path = "../../../fuzz/src/trust.rs"]
mod trust;

#[cfg(unix)]
#[path = "../../../fuzz/src/worker.rs"]
mod worker;

use std::fs;
use std::path::Path;

/// Runs a check on the regressions of a target. Some of them are valid, and some are not.
#[allow(clippy::print_stdout, reason = "shown if the test fails: which file")]
fn check_all(target: &str, check: fn(&str) -> bool) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions");
    let (mut valid, mut all) = (0, 0);
    for entry in fs::read_dir(root.join(target)).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        valid += usize::from(check(&fs::read_to_string(path).unwrap()));
        all += 1;
    }
    assert!(0 < valid && valid < all, "{valid} of {all} are valid");
}

#[test]
fn fuzz_regressions_in_lock_files() {
    check_all("lock_file", trust::check_lock_file);
}

#[test]
fn fuzz_regressions_in_statements() {
    check_all("provenance", trust::check_statement);
}

#[cfg(unix)]
#[test]
fn fuzz_regressions_in_messages_of_workers() {
    check_all("worker_messages", |input| {
        worker::check_messages(input.as_bytes(), false)
    });
}
