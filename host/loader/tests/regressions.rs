//! Manifests and libraries that the fuzz targets found, and similar ones. The tests run the targets' checks.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "the files are modules of another crate, too"
)]

#[path = "../../../fuzz/src/library.rs"]
mod library;
#[path = "../../../fuzz/src/manifest.rs"]
mod manifest;
#[path = "../../../fuzz/src/memory.rs"]
mod memory;

use std::fs;
use std::path::{Path, PathBuf};

fn files(target: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions");
    let entries = fs::read_dir(root.join(target)).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
#[allow(clippy::print_stdout, reason = "shown if the test fails: which file")]
fn fuzz_regressions_in_manifests() {
    let mut valid = 0;
    for path in files("manifest") {
        println!("{}", path.display());
        valid += usize::from(manifest::check(&fs::read(&path).unwrap()));
    }
    assert!(valid > 0, "no valid manifest");
}

/// Files with complete libraries are recognized by their names. There is at least one per system.
#[test]
#[allow(clippy::print_stdout, reason = "shown if the test fails: which file")]
fn fuzz_regressions_in_libraries() {
    let mut valid = 0;
    for path in files("library") {
        println!("{}", path.display());
        let is_library = path.extension().is_some_and(|extension| extension != "bin");
        assert_eq!(library::check(&fs::read(&path).unwrap()), is_library);
        valid += usize::from(is_library);
    }
    assert!(valid > 3, "{valid} libraries");
}
