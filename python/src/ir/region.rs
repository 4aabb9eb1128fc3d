//! `Region`: ops in order, with arguments.

use passdock::sdk::RegionId;
use pyo3::prelude::*;

use crate::crossing::error;
use crate::ir::function;
use crate::ir::op::Op;
use crate::ir::part::Part;
use crate::ir::value::Value;

/// A region: arguments, and ops in order, the last of which is the terminator.
///
/// It exists as long as its op. Afterwards all members but ``is_live`` raise ``passdock.StaleError``.
#[pyclass(frozen, module = "passdock", eq, hash)]
#[derive(PartialEq, Hash)]
pub(crate) struct Region(pub(crate) Part<RegionId>);

#[pymethods]
impl Region {
    /// The region's name, which is that of its attribute: ``"then_branch"``.
    #[getter]
    fn name(&self) -> PyResult<String> {
        self.0.read(|f, id| f.region_name(id).to_owned())
    }

    /// The arguments.
    #[getter]
    fn args(&self, py: Python<'_>) -> PyResult<Vec<Option<Value>>> {
        self.0.values(py, |f, id| f.args(id).to_vec())
    }

    /// The ops directly in the region, in order, without the terminator.
    #[getter]
    fn ops(&self, py: Python<'_>) -> PyResult<Vec<Op>> {
        self.0.ops(py, |f, id| {
            let ops = f.ops_in(id);
            ops.filter(|&op| !function::is_end(f, op)).collect()
        })
    }

    /// The ops directly in the region, in order, including the terminator.
    #[getter]
    fn all_ops(&self, py: Python<'_>) -> PyResult<Vec<Op>> {
        self.0.ops(py, |f, id| f.ops_in(id).collect())
    }

    /// The terminator of the region.
    #[getter]
    fn terminator(&self, py: Python<'_>) -> PyResult<Option<Op>> {
        self.0.op(py, |f, id| f.terminator(id))
    }

    /// The op that contains the region; None for the body of a function.
    #[getter]
    fn parent_op(&self, py: Python<'_>) -> PyResult<Option<Op>> {
        self.0.op(py, |f, id| f.parent_op(id))
    }

    /// Whether the region exists, that is, its op wasn't erased by an edit.
    #[getter]
    fn is_live(&self) -> PyResult<bool> {
        self.0.is_live()
    }

    fn __repr__(&self) -> String {
        let read = self
            .0
            .read(|f, id| format!("<passdock.Region {}>", f.region_name(id)));
        error::shown(read, "Region")
    }
}
