//! Failures that are about an op.

use passdock::sdk::{EditError, OpId, PassError, SymbolId};
use pyo3::prelude::*;

use super::function::Function;
use super::op::Op;
use super::part::Part;
use crate::crossing::error;

/// The exception of a pass as its failure. It comes out of the host as itself.
pub(crate) fn as_failure(py: Python<'_>, error: PyErr) -> PassError {
    let about = op_of(py, &error);
    let mut failure = PassError::new(error::keep(py, error));
    if let Some((op, function)) = about {
        failure.op = Some(op);
        failure.function = function;
    }
    failure
}

/// The op that an exception is about, and its function, if that isn't the pass's own: the attribute `op` of the
/// package's own exceptions.
fn op_of(py: Python<'_>, error: &PyErr) -> Option<(OpId, Option<SymbolId>)> {
    let op = error.value(py).getattr("op").ok()?;
    let op = op.cast::<Op>().ok()?.get();
    // One that is gone, or of another pass, is none to point at.
    op.0.read(|_, _| ()).ok()?;
    Some((op.0.id, op.0.function.get().name_in_module()))
}

/// An exception that is about an op of a function, unless it names one itself.
pub(crate) fn about(function: &Bound<'_, Function>, error: PyErr, op: Option<OpId>) -> PyErr {
    let py = function.py();
    if let (Some(id), None) = (op, op_of(py, &error)) {
        // One that takes no attribute goes out without.
        let _ = error.value(py).setattr("op", Op(Part::new(function, id)));
    }
    error
}

/// A refused edit as an exception that names the op.
pub(crate) fn edit_error_at(py: Python<'_>, refused: &EditError, op: Option<Op>) -> PyErr {
    let raised = error::edit_error(&refused.message);
    let text = op.as_ref().and_then(|op| op.__str__().ok());
    // One that takes no attribute goes out without.
    let _ = raised.value(py).setattr("op", op);
    let _ = raised.value(py).setattr("op_text", text);
    raised
}
