//! `Op`: an operation of a function.

use std::collections::BTreeMap;

use passdock::ir;
use passdock::sdk::{self, OpId, OpKind};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::crossing::error;
use crate::ir::attr;
use crate::ir::edit::counted;
use crate::ir::function::Function;
use crate::ir::part::Part;
use crate::ir::region::Region;
use crate::ir::value::Value;

/// An op of a function.
///
/// Two objects are equal if they refer to the same op of the same function. After the op is erased, all members but
/// ``is_live`` raise ``passdock.StaleError``.
#[pyclass(frozen, module = "passdock", eq, hash)]
#[derive(PartialEq, Hash)]
pub(crate) struct Op(pub(crate) Part<OpId>);

/// Whether an op is before another one in program order; they may be in different regions.
fn is_before(f: &sdk::Function, op: OpId, other: OpId) -> bool {
    let around = |op: OpId| {
        let up = |&op: &OpId| f.parent_op(f.parent_region(op));
        let mut chain: Vec<OpId> = std::iter::successors(Some(op), up).collect();
        chain.reverse();
        chain
    };
    let (own, others) = (around(op), around(other));
    let apart = own.iter().zip(&others).find(|(own, other)| own != other);
    match apart {
        // An op is before the ops nested in it.
        None => own.len() < others.len(),
        Some((&own, &other)) => {
            let (region, other_region) = (f.parent_region(own), f.parent_region(other));
            match region == other_region {
                true => f.is_before(own, other),
                false => region.0 < other_region.0,
            }
        }
    }
}

#[pymethods]
impl Op {
    /// The function that contains the op.
    #[getter(function)]
    fn owner(&self, py: Python<'_>) -> Py<Function> {
        self.0.function.clone_ref(py)
    }

    /// The op's name, including the domain: ``"onnx.Relu"``.
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let name = self.0.read(|f, op| f.name(op).to_owned())?;
        Ok(PyString::intern(py, &name))
    }

    /// The operands; None for an omitted one.
    #[getter]
    fn operands(&self, py: Python<'_>) -> PyResult<Vec<Option<Value>>> {
        self.0.values(py, |f, op| f.operands(op).collect())
    }

    /// The number of operands, including omitted ones.
    #[getter]
    fn operand_count(&self) -> PyResult<usize> {
        self.0.read(|f, op| f.operand_count(op))
    }

    /// Returns an operand; None if it is omitted or the index is too large.
    ///
    /// Raises IndexError for a negative index.
    fn operand(&self, py: Python<'_>, index: isize) -> PyResult<Option<Value>> {
        let index = counted(index)?;
        self.0.value(py, |f, op| f.operand(op, index))
    }

    /// The results.
    #[getter]
    fn results(&self, py: Python<'_>) -> PyResult<Vec<Option<Value>>> {
        self.0.values(py, |f, op| f.results(op).to_vec())
    }

    /// The only result.
    ///
    /// Raises ValueError unless there is exactly one.
    #[getter]
    fn result(&self, py: Python<'_>) -> PyResult<Option<Value>> {
        let mut results = self.results(py)?;
        match results.len() {
            1 => Ok(results.remove(0)),
            count => Err(PyValueError::new_err(format!(
                "expected one result, found {count}"
            ))),
        }
    }

    /// A copy of the attributes: ints, floats, strings, lists of those, tensors as ``Constant``.
    #[getter]
    fn attrs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let read = self.0.read(|f, op| attr::read_all(f, f.attrs(op)))?;
        attr::to_dict(self.0.function.bind(py), read)
    }

    /// A copy of the metadata, which no operator reads: the ``metadata_props`` of a node in an ONNX file.
    #[getter]
    fn metadata(&self) -> PyResult<BTreeMap<String, String>> {
        self.0.read(|f, op| f.op_metadata(op).into_iter().collect())
    }

    /// Returns an attribute, or ``default`` if the op doesn't have it. ``ctx.attr_default`` returns the default of the
    /// operator's definition.
    #[pyo3(signature = (name, default = None))]
    fn attr<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let read = |f: &sdk::Function, op| f.attr(op, name).map(|value| attr::Read::new(f, value));
        match self.0.read(read)? {
            Some(read) => read.to_python(self.0.function.bind(py)),
            None => Ok(default.unwrap_or_else(|| py.None().into_bound(py))),
        }
    }

    /// The op's regions.
    #[getter]
    fn regions(&self, py: Python<'_>) -> PyResult<Vec<Region>> {
        let function = self.0.function.bind(py);
        let ids = self.0.read(|f, op| f.regions(op).to_vec())?;
        Ok(ids
            .iter()
            .map(|&id| Region(Part::new(function, id)))
            .collect())
    }

    /// Returns the region with this name: ``op.region("then_branch")``.
    ///
    /// Raises KeyError if there is none.
    fn region(&self, py: Python<'_>, name: &str) -> PyResult<Region> {
        let id = self.0.read(|f, op| f.region(op, name))?;
        let missing = || PyKeyError::new_err(format!("the op has no region `{name}`"));
        let id = id.ok_or_else(missing)?;
        Ok(Region(Part::new(self.0.function.bind(py), id)))
    }

    /// The region that contains the op.
    #[getter]
    fn parent_region(&self, py: Python<'_>) -> PyResult<Region> {
        let id = self.0.read(|f, op| f.parent_region(op))?;
        Ok(Region(Part::new(self.0.function.bind(py), id)))
    }

    /// The name of the ONNX node from which the op comes; None if there is none, or several.
    #[getter]
    fn loc(&self) -> PyResult<Option<String>> {
        self.0.read(|f, op| f.loc_name(op).map(str::to_owned))
    }

    /// Whether the op is free of side effects according to its definition. Always False outside of passes.
    #[getter]
    fn is_pure(&self) -> PyResult<bool> {
        self.0.read(|f, op| f.traits(op).is_pure())
    }

    /// The kind of the op for visitors: ``"call"``, ``"if"``, ``"for"``, ``"while"``, ``"loop"``, ``"scan"``,
    /// ``"tuple"``, ``"tuple_get"``, ``"terminator"``, or ``"other"``.
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let kind = self.0.read(|f, op| f.op_kind(op))?;
        Ok(match kind {
            OpKind::Call => intern!(py, "call"),
            OpKind::If => intern!(py, "if"),
            OpKind::For => intern!(py, "for"),
            OpKind::While => intern!(py, "while"),
            OpKind::Loop => intern!(py, "loop"),
            OpKind::Scan => intern!(py, "scan"),
            OpKind::Tuple => intern!(py, "tuple"),
            OpKind::TupleGet => intern!(py, "tuple_get"),
            OpKind::Terminator => intern!(py, "terminator"),
            _ => intern!(py, "other"),
        }
        .clone())
    }

    /// The number of regions.
    #[getter]
    fn region_count(&self) -> PyResult<usize> {
        self.0.read(|f, op| f.regions(op).len())
    }

    /// The name of the called function of the module; None if the op isn't a call.
    #[getter]
    fn callee(&self) -> PyResult<Option<String>> {
        self.0
            .read(|f, op| f.callee(op).map(|name| f.text(name).to_owned()))
    }

    /// Returns whether the op is before another op of the function, in the order of ``Function.ops``.
    fn is_before(&self, other: &Op) -> PyResult<bool> {
        other.0.read(|_, _| ())?;
        if !other.0.function.is(&self.0.function) {
            return Err(PyValueError::new_err(
                "the ops belong to different functions",
            ));
        }
        self.0.read(|f, op| is_before(f, op, other.0.id))
    }

    /// Whether the op exists, that is, wasn't erased by an edit.
    #[getter]
    fn is_live(&self) -> PyResult<bool> {
        self.0.is_live()
    }

    /// Returns the op's line of IR text, without its regions.
    pub(crate) fn __str__(&self) -> PyResult<String> {
        self.0.read(|_, _| ())?;
        let function = self.0.function.get();
        function.with_ir(|f| ir::Pieces::new(f).op(self.0.id))
    }

    fn __repr__(&self) -> String {
        let read = self.0.read(|f, op| {
            let loc = f.loc_name(op).map(|loc| format!(" at {loc}"));
            let loc = loc.unwrap_or_default();
            format!("<passdock.Op {}{loc}>", f.name(op))
        });
        error::shown(read, "Op")
    }
}
