//! A program's wish to stop, which is asked for before each pass of a Sequential and before a pipeline's output is written.

use std::sync::OnceLock;

use crate::error::PassError;

static ASK: OnceLock<fn() -> Option<PassError>> = OnceLock::new();

/// Sets what is asked, from now on and for good, before each pass of a Sequential and before a pipeline's output is
/// written: whether somebody wants the run to end, and with which error. Of several calls the first counts.
pub fn set_interrupt(ask: fn() -> Option<PassError>) {
    _ = ASK.set(ask);
}

/// The error to end with, if somebody wants that.
///
/// # Errors
/// That error.
pub fn check_interrupt() -> Result<(), PassError> {
    ASK.get().and_then(|ask| ask()).map_or(Ok(()), Err)
}
