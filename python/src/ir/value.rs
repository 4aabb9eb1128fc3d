//! `Value`: a parameter, a result of an op, or a constant.

use std::collections::BTreeMap;

use passdock::ir;
use passdock::sdk::{self, DType, Dim, DimKind, TypeKind, ValueId};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::crossing::error;
use crate::ir::constant::Constant;
use crate::ir::function::Function;
use crate::ir::op::Op;
use crate::ir::part::Part;
use crate::ir::types::Type;

/// A value of a function: a parameter, a result of an op, or a constant.
///
/// Two objects are equal if they refer to the same value of the same function.
#[pyclass(frozen, module = "passdock", eq, hash)]
#[derive(PartialEq, Hash)]
pub(crate) struct Value(pub(crate) Part<ValueId>);

/// A size in Python: an int or a string.
#[derive(IntoPyObject)]
pub(crate) enum Size {
    Known(i64),
    Named(String),
}

/// Converts dims to sizes; `None` for unknown dims.
pub(crate) fn sizes(f: &sdk::Function, dims: impl IntoIterator<Item = Dim>) -> Vec<Option<Size>> {
    let size = |dim: Dim| match dim.kind {
        DimKind::CONST => Some(Size::Known(dim.value)),
        DimKind::UNKNOWN => None,
        _ => {
            let text = ir::with_function(f, |f| ir::dim_text(f, dim));
            text.map(Size::Named).ok()
        }
    };
    dims.into_iter().map(size).collect()
}

#[pymethods]
impl Value {
    /// The function that contains the value.
    #[getter(function)]
    fn owner(&self, py: Python<'_>) -> Py<Function> {
        self.0.function.clone_ref(py)
    }

    /// The value's name; None if it has none.
    #[getter]
    fn name(&self) -> PyResult<Option<String>> {
        self.0.read(|f, id| f.value_name(id).map(str::to_owned))
    }

    /// A copy of the metadata, which no operator reads: the ``metadata_props`` of a ``ValueInfo`` or of an initializer
    /// in an ONNX file.
    #[getter]
    fn metadata(&self) -> PyResult<BTreeMap<String, String>> {
        self.0
            .read(|f, id| f.value_metadata(id).into_iter().collect())
    }

    /// The value's type.
    #[getter(r#type)]
    fn ty(&self, py: Python<'_>) -> PyResult<Type> {
        let (function, id) = (self.owner(py), self.0.read(|f, id| f.type_id(id))?);
        Ok(Type { function, id })
    }

    /// The element type, ``"f32"``; None if it is unknown, or the type has none.
    #[getter]
    fn dtype(&self) -> PyResult<Option<&'static str>> {
        self.0.read(|f, id| f.dtype(id).and_then(DType::name))
    }

    /// The sizes: an int, a symbol or an expression as a string (``"n"``, ``"n*2"``), or None if unknown. Symbols that
    /// aren't identifiers are quoted, as in IR text. None instead of a tuple if the rank is unknown. ``("f32",
    /// value.shape)`` is valid as a type argument.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let read = self.0.read(|f, id| {
            let is_tensor = f.type_of(id).kind() == TypeKind::TENSOR;
            let dims = f.dims(id).filter(|_| is_tensor);
            dims.map(|dims| sizes(f, dims))
        })?;
        read.map(|sizes| PyTuple::new(py, sizes)).transpose()
    }

    /// The number of dimensions; None if it is unknown.
    #[getter]
    fn rank(&self) -> PyResult<Option<usize>> {
        self.0.read(|f, id| f.rank(id))
    }

    /// The op that defines the value; None for parameters and constants.
    #[getter]
    fn defining_op(&self, py: Python<'_>) -> PyResult<Option<Op>> {
        self.0.op(py, |f, id| f.defining_op(id))
    }

    /// The index among the results of its op or the arguments of its region.
    #[getter]
    fn index(&self) -> PyResult<usize> {
        self.0.read(|f, id| f.index(id))
    }

    /// The constant, if the value is one; None for parameters and results.
    #[getter]
    fn constant(&self, py: Python<'_>) -> PyResult<Option<Constant>> {
        let found = self.0.read(|f, id| f.constant(id))?;
        let constant = |id| Constant::new(py, &self.0.function, id);
        found.map(constant).transpose()
    }

    /// The number of uses.
    #[getter]
    fn use_count(&self) -> PyResult<usize> {
        self.0.read(|f, id| f.use_count(id))
    }

    /// The ops that use the value, without duplicates, including terminators.
    #[getter]
    fn users(&self, py: Python<'_>) -> PyResult<Vec<Op>> {
        self.0.ops(py, |f, id| f.users(id).collect())
    }

    /// The uses: each user with the index of the operand.
    #[getter]
    fn uses(&self, py: Python<'_>) -> PyResult<Vec<(Op, usize)>> {
        let uses = self.0.read(|f, id| f.uses(id).collect::<Vec<_>>())?;
        let op = |id| Op(Part::new(self.0.function.bind(py), id));
        Ok(uses.iter().map(|used| (op(used.op), used.index)).collect())
    }

    /// Whether the value exists, that is, wasn't erased by an edit.
    #[getter]
    fn is_live(&self) -> PyResult<bool> {
        self.0.is_live()
    }

    fn __repr__(&self) -> String {
        let read = self.0.read(|f, id| {
            let name = f
                .value_name(id)
                .map_or_else(|| id.to_string(), |name| format!("%{name}"));
            let ty = f.type_id(id);
            let ty = ir::with_function(f, |f| ir::type_text(f, ty)).unwrap_or_default();
            format!("<passdock.Value {name}: {ty}>")
        });
        error::shown(read, "Value")
    }
}
