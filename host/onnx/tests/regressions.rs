//! Regression tests for inputs from the fuzz targets and similar ones: reading, editing and writing them again as the
//! targets do.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "the files are modules of another crate, too"
)]

#[path = "../../../fuzz/src/memory.rs"]
mod memory;
#[path = "../../../fuzz/src/onnx.rs"]
mod onnx;

use std::path::Path;

/// Runs the files of both targets through both.
#[test]
#[allow(clippy::print_stdout, reason = "shown if the test fails: which file")]
fn fuzz_regressions_pass() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions");
    let mut whole = 0;
    for target in ["onnx_read", "onnx_write"] {
        for entry in std::fs::read_dir(root.join(target)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            println!("{}", path.display());
            let read = onnx::check_read(&bytes);
            assert_eq!(onnx::check_write(&bytes), read);
            whole += usize::from(read);
        }
    }
    assert!(whole > 5, "{whole} files were read to the end");
}
