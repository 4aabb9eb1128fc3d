//! `cargo xtask deep miri`: is any memory used that isn't there, or that another may write?
//!
//! Miri runs what it can: the SDK's own tests, those of the boundary in which safe code tries what it
//! may with handles, and the IR's of pools that move under a reader. It can't load libraries, and is
//! some hundred times slower than the machine.

use std::process::Command;

use anyhow::Result;

use crate::project::Project;
use crate::shell;

/// What runs: arguments of `cargo test`, and of the tests. Others of these crates take hours.
const RUNS: [(&[&str], &[&str]); 3] = [
    (&["--package", "passdock-plugin-api", "--tests"], &[]),
    (
        &["--package", "passdock-core", "--test", "boundary"],
        &["safety::"],
    ),
    (
        &["--package", "passdock-ir", "--lib"],
        &[
            "function::room",
            "one_version_is_kept",
            "threads_that_share",
        ],
    ),
];

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
    for (run, chosen) in RUNS {
        let mut cargo = Command::new("cargo");
        cargo.args(["+nightly", "miri", "test"]).args(run);
        cargo.args(["--", "--test-threads", "1"]).args(chosen);
        cargo
            .current_dir(&project.root)
            .env("CARGO_TARGET_DIR", project.target.join("miri"))
            // Tests read files of the checkout, and the SDK keeps what plugins never give back.
            .env("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-ignore-leaks");
        shell::run(&mut cargo)?;
    }
    Ok(())
}
