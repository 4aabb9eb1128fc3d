//! `cargo xtask deep wheel`: the wheel that is given away, on each Python that is here.

use anyhow::Result;

use crate::project::Project;
use crate::test;
use crate::wheel;

/// Makes it with zig, and runs the package's tests with it.
pub(crate) fn wheel(project: &Project) -> Result<()> {
    let wheel = wheel::wheel(project, &["--zig"])?;
    test::wheel::test_on_all(project, &wheel)
}
