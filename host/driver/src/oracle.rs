//! Oracles for modules, for `--test` and for searches for a broken pass.

use passdock_core::PassError;
use passdock_ir::Module;
use serde::{Deserialize, Serialize};

/// Verdict on a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The module is correct.
    Good,
    /// The module is broken.
    Bad,
    /// The module can't be checked.
    Unknown,
}

impl Verdict {
    /// Returns the verdict's name in logs.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Good => "good",
            Verdict::Bad => "bad",
            Verdict::Unknown => "inconclusive",
        }
    }
}

/// An oracle for the result of a pipeline. It gets the module before and the module after the pipeline. If both are the
/// same, the verdict should be good.
pub type Oracle<'c> = dyn FnMut(&Module, &Module) -> Result<Verdict, PassError> + 'c;
