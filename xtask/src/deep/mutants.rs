//! `cargo xtask deep mutants`: would the rules' tests notice a mistake in the pass infrastructure?
//!
//! `cargo-mutants` makes one mistake at a time in the files that decide what runs, and runs the
//! conformance suite and the host's own tests on it. A mistake that no test notices is a failure.

use anyhow::{Result, bail};

use crate::project::Project;
use crate::shell;

/// The files that decide what runs, in which order, and who is told.
const FILES: [&str; 6] = [
    "host/core/src/plan/mod.rs",
    "host/core/src/pass/sequential.rs",
    "host/core/src/run/mod.rs",
    "host/core/src/instrument/calls.rs",
    "host/core/src/context/mod.rs",
    "host/core/src/context/scope.rs",
];

/// The tests that have to notice: the conformance suite, and what stands beside it.
const TESTS: [&str; 3] = ["rules", "conformance", "instruments"];

/// Of these, what only prints can be wrong without anything else going wrong.
const LEFT_OUT: &str = "fmt";

/// Makes the mistakes; fails if one goes unnoticed.
pub(crate) fn mutants(project: &Project) -> Result<()> {
    let mut tool = project.cargo();
    if !shell::output(tool.args(["mutants", "--version"]))?
        .status
        .success()
    {
        println!("skipped: there is no cargo-mutants (`cargo install cargo-mutants`)");
        return Ok(());
    }
    let mut cargo = project.cargo();
    // The tests are another package's than the files, which the tool's own first run can't do.
    cargo.args(["mutants", "--baseline", "skip", "--test-workspace=true"]);
    cargo.args(["--jobs", "1", "--timeout", "120"]);
    cargo.args(["--exclude-re", LEFT_OUT]);
    cargo.arg("--output").arg(project.target.join("mutants"));
    for file in FILES {
        cargo.args(["--file", file]);
    }
    for test in TESTS {
        cargo.arg(format!("--cargo-arg=--test={test}"));
    }
    if shell::run(&mut cargo).is_err() {
        let missed = project.target.join("mutants/mutants.out/missed.txt");
        bail!("some mistakes go unnoticed; see {}", missed.display());
    }
    Ok(())
}
