//! `cargo xtask deep rules`: more random models of the rules' patterns than CI has the time for.

use anyhow::{Result, bail};

use crate::project::Project;
use crate::test::python;

/// Makes 10,000 models and lets each rule be applied 20 times; `--seed N` begins with that one's number, `--only N`
/// makes one again.
pub(crate) fn rules(project: &Project, arguments: &[&str]) -> Result<()> {
    for pair in arguments.chunks(2) {
        match *pair {
            ["--count" | "--seed" | "--only" | "--least", number]
                if number.parse::<u64>().is_ok() => {}
            _ => bail!("`deep rules` takes --count N, --seed N, --least N and --only N"),
        }
    }
    let words = [&["--count", "10000", "--least", "20"], arguments].concat();
    python::random_rules(project, &words)
}
