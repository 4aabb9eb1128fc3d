//! Failures with an op as their location.

use passdock::sdk::{EditError, OpId, PassError, SymbolId};
use pyo3::prelude::*;

use super::function::Function;
use super::op::Op;
use super::part::Part;
use crate::crossing::error;

/// Converts the exception of a pass to its failure. The same object is raised again after the host returns.
pub(crate) fn as_failure(py: Python<'_>, error: PyErr) -> PassError {
    let about = op_of(py, &error);
    let mut failure = PassError::new(error::keep(py, error));
    if let Some((op, function)) = about {
        failure.op = Some(op);
        failure.function = function;
    }
    failure
}

/// Returns the op in the attribute `op` of an exception of the package, and its function if that isn't the pass's own.
fn op_of(py: Python<'_>, error: &PyErr) -> Option<(OpId, Option<SymbolId>)> {
    let op = error.value(py).getattr("op").ok()?;
    let op = op.cast::<Op>().ok()?.get();
    // An erased op, or one of another pass, can't be a location.
    op.0.read(|_, _| ()).ok()?;
    Some((op.0.id, op.0.function.get().name_in_module()))
}

/// Sets an op of a function as the location of an exception, unless the exception has one.
pub(crate) fn about(function: &Bound<'_, Function>, error: PyErr, op: Option<OpId>) -> PyErr {
    let py = function.py();
    if let (Some(id), None) = (op, op_of(py, &error)) {
        // If the exception doesn't support attributes, it is raised without.
        let _ = error.value(py).setattr("op", Op(Part::new(function, id)));
    }
    error
}

/// Converts a rejected edit to an exception with the op.
pub(crate) fn edit_error_at(py: Python<'_>, failure: &EditError, op: Option<Op>) -> PyErr {
    let raised = error::edit_error(&failure.message);
    let text = op.as_ref().and_then(|op| op.__str__().ok());
    // If the exception doesn't support attributes, it is raised without.
    let _ = raised.value(py).setattr("op", op);
    let _ = raised.value(py).setattr("op_text", text);
    raised
}
