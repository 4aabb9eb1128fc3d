//! The verifier as an instrument: the whole module before and after each pass.

use passdock_ir::Module;

use crate::instrument::{InstrumentResult, PassInstrument};
use crate::pass_info::PassInfo;
use crate::verify;

/// Verifies the whole module around each pass, and says which pass broke what.
pub struct WellFormed {
    before: bool,
}

impl WellFormed {
    /// Verifies before and after each pass.
    pub fn new() -> WellFormed {
        WellFormed { before: true }
    }

    /// Verifies only after each pass.
    pub fn after_only() -> WellFormed {
        WellFormed { before: false }
    }
}

impl Default for WellFormed {
    fn default() -> WellFormed {
        WellFormed::new()
    }
}

impl PassInstrument for WellFormed {
    fn name(&self) -> &str {
        "verify"
    }

    fn run_before_pass(&self, module: &Module, info: &PassInfo) -> InstrumentResult {
        if !self.before {
            return Ok(());
        }
        let verified = verify::all(module);
        Ok(verified.map_err(|error| error.note(format!("before `{}`", info.name)))?)
    }

    fn run_after_pass(&self, module: &Module, info: &PassInfo) -> InstrumentResult {
        let verified = verify::all(module);
        Ok(verified.map_err(|error| error.note(format!("after `{}`", info.name)))?)
    }
}
