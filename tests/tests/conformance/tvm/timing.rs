//! TVM's `PassTimingInstrument`: one record per thread, for all instruments.

use super::{Thrown, thrown};

/// The record of a thread.
#[derive(Default)]
pub(crate) struct Profile {
    /// Depth and name, in the order in which the passes began.
    passes: Vec<(usize, String)>,
    depth: usize,
}

impl Profile {
    /// `EnterPass`, in `run_before_pass`.
    pub(crate) fn enter(&mut self, pass: &str) {
        self.passes.push((self.depth, pass.to_owned()));
        self.depth += 1;
    }

    /// `ExitPass`, in `run_after_pass`. It isn't called for a pass that failed.
    pub(crate) fn exit(&mut self) {
        self.depth -= 1;
    }

    /// Clears the record, in `exit_pass_ctx` of any such instrument.
    pub(crate) fn clear(&mut self) {
        self.passes.clear();
    }

    /// `RenderPassProfiles`.
    pub(crate) fn render(&self) -> Result<String, Thrown> {
        if self.depth > 0 {
            let message = "cannot print pass profile while still in a pass!";
            return Err(thrown("InternalError", message));
        }
        let line = |(depth, pass): &(usize, String)| {
            format!("{}{pass}: #us [#us] (#%; #%)\n", "\t".repeat(*depth))
        };
        Ok(self.passes.iter().map(line).collect())
    }
}
