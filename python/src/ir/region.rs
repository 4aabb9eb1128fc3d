//! `Region`: ops in order, with arguments.

use passdock::sdk::RegionId;
use pyo3::prelude::*;

use crate::crossing::error;
use crate::ir::function::{self, Function};
use crate::ir::op::Op;
use crate::ir::value::Value;

/// A region: arguments, and ops in order, the last of which ends it.
#[pyclass(frozen, module = "passdock", eq, hash)]
pub(crate) struct Region {
    pub(crate) function: Py<Function>,
    pub(crate) id: RegionId,
}

#[pymethods]
impl Region {
    /// The region's name: that of the attribute that it is, ``"then_branch"``.
    #[getter]
    fn name(&self) -> PyResult<String> {
        self.function
            .get()
            .read(|f| f.region_name(self.id).to_owned())
    }

    /// The arguments.
    #[getter]
    fn args(&self, py: Python<'_>) -> PyResult<Vec<Option<Value>>> {
        let ids = self.function.get().read(|f| f.args(self.id).to_vec())?;
        Ok(function::values(self.function.bind(py), &ids))
    }

    /// The ops that stand directly in the region, in order, without its end.
    #[getter]
    fn ops(&self, py: Python<'_>) -> PyResult<Vec<Op>> {
        let ids = self.function.get().read(|f| {
            f.ops_in(self.id)
                .filter(|&op| !function::is_end(f, op))
                .collect::<Vec<_>>()
        })?;
        Ok(function::ops(self.function.bind(py), ids))
    }

    /// The ops that stand directly in the region, in order, its end included.
    #[getter]
    fn all_ops(&self, py: Python<'_>) -> PyResult<Vec<Op>> {
        let ids = self
            .function
            .get()
            .read(|f| f.ops_in(self.id).collect::<Vec<_>>())?;
        Ok(function::ops(self.function.bind(py), ids))
    }

    /// The op that ends the region.
    #[getter]
    fn terminator(&self, py: Python<'_>) -> PyResult<Option<Op>> {
        let id = self.function.get().read(|f| f.terminator(self.id))?;
        Ok(id.map(|id| Op {
            function: self.function.clone_ref(py),
            id,
        }))
    }

    /// The op that the region belongs to; None for the body of a function.
    #[getter]
    fn parent_op(&self, py: Python<'_>) -> PyResult<Option<Op>> {
        let id = self.function.get().read(|f| f.parent_op(self.id))?;
        Ok(id.map(|id| Op {
            function: self.function.clone_ref(py),
            id,
        }))
    }

    fn __repr__(&self) -> String {
        let read = self.function.get();
        let read = read.read(|f| format!("<passdock.Region {}>", f.region_name(self.id)));
        error::shown(read, "Region")
    }
}
