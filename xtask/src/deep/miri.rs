//! `cargo xtask deep miri`: is any memory used that isn't there, or that another may write?
//!
//! Miri runs what it can: the SDK's own tests, the IR's, and the boundary's, in which passes written
//! with the SDK edit through the host's tables. It can't load libraries, and is some hundred times
//! slower than the machine.

use std::process::Command;

use anyhow::Result;

use crate::project::Project;
use crate::shell;

/// The packages with what they run: whose tests touch memory by hand, or stand beside what does.
const RUNS: [&[&str]; 3] = [
    &["--package", "passdock-plugin-api", "--tests"],
    &["--package", "passdock-ir", "--lib"],
    &["--package", "passdock-core", "--test", "boundary"],
];

/// What takes hours in Miri: large functions, deep ones, many random edits.
const LEFT_OUT: [&str; 0] = [];

/// Runs the tests; says why, if there is no Miri.
pub(crate) fn miri(project: &Project) -> Result<()> {
    let version = Command::new("cargo")
        .args(["+nightly", "miri", "--version"])
        .current_dir(&project.root)
        .output();
    if !version.is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no Miri (`rustup +nightly component add miri rust-src`)");
        return Ok(());
    }
    for run in RUNS {
        let mut cargo = Command::new("cargo");
        cargo.args(["+nightly", "miri", "test"]).args(run);
        cargo.arg("--").args(["--test-threads", "1"]);
        for test in LEFT_OUT {
            cargo.args(["--skip", test]);
        }
        cargo
            .current_dir(&project.root)
            .env("CARGO_TARGET_DIR", project.target.join("miri"))
            // Tests read files of the checkout, and the SDK keeps what plugins never give back.
            .env("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-ignore-leaks");
        shell::run(&mut cargo)?;
    }
    Ok(())
}
