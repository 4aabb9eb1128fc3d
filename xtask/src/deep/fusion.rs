//! `cargo xtask deep fusion`: more random models, fused and partitioned, than CI has the time for.

use anyhow::{Result, bail};

use crate::project::Project;
use crate::test::python;

/// Makes 5,000 models, and lets each be fused, and each be partitioned; `--count N`, `--first SEED`.
pub(crate) fn fusion(project: &Project, arguments: &[&str]) -> Result<()> {
    for pair in arguments.chunks(2) {
        match *pair {
            ["--count" | "--first", number] if number.parse::<u64>().is_ok() => {}
            _ => bail!("`deep fusion` takes --count N and --first SEED"),
        }
    }
    let words = [&["--count", "5000"], arguments].concat();
    for passes in [python::FUSING, python::PARTITIONING] {
        python::random_models(project, &[&words[..], &["--passes", passes]].concat())?;
    }
    Ok(())
}
