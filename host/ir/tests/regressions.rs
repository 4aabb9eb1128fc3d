//! Regression tests for texts found by the fuzz target `text`, and similar ones.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "the files are modules of another crate, too"
)]

#[path = "../../../fuzz/src/memory.rs"]
mod memory;
mod support;
#[path = "../../../fuzz/src/text.rs"]
mod text;

use std::path::Path;

#[test]
#[allow(clippy::print_stdout, reason = "shown if the test fails: which file")]
fn text_regressions_pass() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions/text");
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        text::check(&std::fs::read_to_string(&path).unwrap());
    }
    for text in support::corpus() {
        assert!(text::check(&text));
    }
}
