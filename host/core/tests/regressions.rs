//! Edits that the fuzz target `edits` found, and similar ones, which are decoded as in the target. Also rules that the
//! target `rules` found.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "the files are modules of another crate, too"
)]

#[path = "../../../fuzz/src/edits/mod.rs"]
mod edits;
#[path = "../../../fuzz/src/memory.rs"]
mod memory;
#[path = "../../../fuzz/src/rules.rs"]
mod rules;

use std::fs;
use std::path::Path;
use std::{panic, process};

/// Reads the files in a folder of the repository. The last path is printed if the test fails.
#[allow(clippy::print_stdout, reason = "shown if the test fails: which file")]
fn files(folder: &str) -> impl Iterator<Item = Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(folder);
    fs::read_dir(root).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        fs::read(&path).unwrap()
    })
}

/// Aborts the test if the host panics. Otherwise the host would convert the panic to an error of the call.
#[allow(
    clippy::print_stderr,
    reason = "the last output of the test: the panic"
)]
fn abort_on_panic() {
    panic::set_hook(Box::new(|panic| {
        eprintln!("{panic}");
        process::abort();
    }));
}

#[test]
fn edit_regressions_pass() {
    abort_on_panic();
    for steps in files("fuzz/regressions/edits") {
        edits::check(&steps);
    }
}

#[test]
fn rule_regressions_pass() {
    for text in files("fuzz/regressions/rules") {
        rules::check(&String::from_utf8_lossy(&text));
    }
    for text in files("examples/rules") {
        assert!(rules::check(&String::from_utf8(text).unwrap()));
    }
}

/// Random steps, since many passes succeed.
#[test]
fn random_steps_do_not_panic() {
    abort_on_panic();
    let mut random = 0x9E37_79B9_u64;
    let mut byte = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as u8
    };
    let mut succeeded = 0;
    for _ in 0..200 {
        let input: Vec<u8> = (0..400).map(|_| byte()).collect();
        succeeded += u32::from(edits::check(&input));
    }
    assert!(succeeded > 50, "{succeeded} of 200 succeeded");
}
