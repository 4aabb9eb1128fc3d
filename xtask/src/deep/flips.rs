//! `cargo xtask deep flips`: more plugins' files with flipped bits than CI has the time for.

use anyhow::{Result, bail};

use crate::project::Project;
use crate::shell;

/// The bits that are flipped if nobody says how many.
const COUNT: &str = "10000";

/// Runs the test of flipped bits with 10,000 of them, or with `--count N`.
pub(crate) fn flips(project: &Project, arguments: &[&str]) -> Result<()> {
    let count = match *arguments {
        [] => COUNT,
        ["--count", count] if count.parse::<u64>().is_ok() => count,
        _ => bail!("`deep flips` takes --count N"),
    };
    let mut cargo = project.cargo();
    cargo.args([
        "test",
        "--package",
        "passdock-cli",
        "--test",
        "cli",
        "--",
        "flips::",
    ]);
    shell::run(cargo.env("PASSDOCK_FLIPS", count))
}
