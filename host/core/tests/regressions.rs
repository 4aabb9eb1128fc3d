//! Edits that the fuzz target `edits` found once, and what is like them: made as the target makes
//! them.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "the files are modules of another crate, too"
)]

#[path = "../../../fuzz/src/edits/mod.rs"]
mod edits;

use std::fs;
use std::path::Path;

#[test]
#[allow(clippy::print_stdout, reason = "shown if the test fails: which file")]
fn edits_that_were_made_wrong() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions/edits");
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        edits::check(&fs::read(&path).unwrap());
    }
}

/// Steps at random: many passes end well.
#[test]
fn steps_at_random() {
    let mut random = 0x9E37_79B9_u64;
    let mut byte = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as u8
    };
    let mut well = 0;
    for _ in 0..200 {
        let input: Vec<u8> = (0..edits::STEP * 17)
            .map(|at| match (at, byte()) {
                // Hardly any of them is wrong.
                (at, wrong) if at % edits::STEP == 1 => wrong % 212,
                (_, byte) => byte,
            })
            .collect();
        well += u32::from(edits::check(&input));
    }
    assert!(well > 50, "{well} of 200 ended well");
}
