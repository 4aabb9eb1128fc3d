//! `Region`: ops in order, with arguments.

use passdock::ir;
use passdock::sdk::{self, RegionId};
use pyo3::prelude::*;

use crate::crossing::error;
use crate::crossing::gil;
use crate::ir::function::{self, Function};
use crate::ir::op::Op;
use crate::ir::value::Value;

/// A region: arguments, and ops in order, the last of which ends it.
///
/// It is there as long as its op: afterwards everything but ``is_live`` raises ``passdock.StaleError``.
#[pyclass(frozen, module = "passdock", eq, hash)]
pub(crate) struct Region {
    pub(crate) function: Py<Function>,
    pub(crate) id: RegionId,
}

impl Region {
    /// Looks at the region, whose op has to be there still.
    pub(crate) fn read<R: Send>(
        &self,
        body: impl FnOnce(&sdk::Function, RegionId) -> R,
    ) -> PyResult<R> {
        let id = self.id;
        let seen = self
            .function
            .get()
            .read(|f| is_live(f, id).then(|| body(f, id)))?;
        seen.ok_or_else(|| {
            gil::attach(|py| error::raised(py, "StaleError", "The region was erased."))
        })
    }
}

fn is_live(f: &sdk::Function, region: RegionId) -> bool {
    ir::look_at(f, |f| f.live_region(region).is_ok()).unwrap_or(false)
}

#[pymethods]
impl Region {
    /// The region's name: that of the attribute that it is, ``"then_branch"``.
    #[getter]
    fn name(&self) -> PyResult<String> {
        self.read(|f, id| f.region_name(id).to_owned())
    }

    /// The arguments.
    #[getter]
    fn args(&self, py: Python<'_>) -> PyResult<Vec<Option<Value>>> {
        let ids = self.read(|f, id| f.args(id).to_vec())?;
        Ok(function::values(self.function.bind(py), &ids))
    }

    /// The ops that stand directly in the region, in order, without its end.
    #[getter]
    fn ops(&self, py: Python<'_>) -> PyResult<Vec<Op>> {
        let ids = self.read(|f, id| {
            f.ops_in(id)
                .filter(|&op| !function::is_end(f, op))
                .collect::<Vec<_>>()
        })?;
        Ok(function::ops(self.function.bind(py), ids))
    }

    /// The ops that stand directly in the region, in order, its end included.
    #[getter]
    fn all_ops(&self, py: Python<'_>) -> PyResult<Vec<Op>> {
        let ids = self.read(|f, id| f.ops_in(id).collect::<Vec<_>>())?;
        Ok(function::ops(self.function.bind(py), ids))
    }

    /// The op that ends the region.
    #[getter]
    fn terminator(&self, py: Python<'_>) -> PyResult<Option<Op>> {
        let id = self.read(|f, id| f.terminator(id))?;
        Ok(id.map(|id| Op {
            function: self.function.clone_ref(py),
            id,
        }))
    }

    /// The op that the region belongs to; None for the body of a function.
    #[getter]
    fn parent_op(&self, py: Python<'_>) -> PyResult<Option<Op>> {
        let id = self.read(|f, id| f.parent_op(id))?;
        Ok(id.map(|id| Op {
            function: self.function.clone_ref(py),
            id,
        }))
    }

    /// Whether it is there still: whether no edit erased its op.
    #[getter]
    fn is_live(&self) -> PyResult<bool> {
        let id = self.id;
        self.function.get().is_still(|f| is_live(f, id))
    }

    fn __repr__(&self) -> String {
        let read = self.read(|f, id| format!("<passdock.Region {}>", f.region_name(id)));
        error::shown(read, "Region")
    }
}
