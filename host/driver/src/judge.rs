//! Judging a module from outside: what `--check` and searches for a broken pass ask.

use passdock_core::PassError;
use passdock_ir::Module;
use serde::{Deserialize, Serialize};

/// The judgement of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The module is as it should be.
    Good,
    /// The module is broken.
    Bad,
    /// The module can't be checked.
    Unknown,
}

impl Verdict {
    /// The verdict as logs spell it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Good => "good",
            Verdict::Bad => "bad",
            Verdict::Unknown => "can't say",
        }
    }
}

/// A check of what a pipeline made: it is given the module before and the module after. It is asked
/// with the same module twice, too: that has to be good.
pub type Judge<'c> = dyn FnMut(&Module, &Module) -> Result<Verdict, PassError> + 'c;
