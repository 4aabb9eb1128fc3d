//! `cargo xtask deep layouts`: more random graphs in other layouts than CI has the time for.

use anyhow::{Result, bail};

use crate::project::Project;
use crate::test::python;

/// Makes 5,000 graphs; `--seed N` begins with that one's number.
pub(crate) fn layouts(project: &Project, arguments: &[&str]) -> Result<()> {
    for pair in arguments.chunks(2) {
        match *pair {
            ["--count" | "--seed" | "--steps", number] if number.parse::<u64>().is_ok() => {}
            _ => bail!("`deep layouts` takes --count N, --seed N and --steps N"),
        }
    }
    let words = [&["--count", "5000", "--seed", "1000"], arguments].concat();
    python::random_layouts(project, &words)
}
