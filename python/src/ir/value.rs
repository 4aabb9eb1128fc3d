//! `Value`: a parameter, a result of an op, or a constant.

use passdock::ir;
use passdock::sdk::{self, DType, Dim, DimKind, TypeKind, ValueId};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::crossing::error;
use crate::crossing::gil;
use crate::ir::constant::Constant;
use crate::ir::function::{self, Function};
use crate::ir::op::Op;
use crate::ir::types::Type;

/// A value of a function: a parameter, a result of an op, or a constant.
///
/// Two of them are equal if they are the same value of the same function.
#[pyclass(frozen, module = "passdock", eq, hash)]
pub(crate) struct Value {
    pub(crate) function: Py<Function>,
    pub(crate) id: ValueId,
}

impl Value {
    /// Looks at the value, which has to be there still.
    pub(crate) fn read<R: Send>(
        &self,
        body: impl FnOnce(&sdk::Function, ValueId) -> R,
    ) -> PyResult<R> {
        let id = self.id;
        let seen = self
            .function
            .get()
            .read(|f| f.is_live_value(id).then(|| body(f, id)))?;
        seen.ok_or_else(|| {
            gil::attach(|py| error::raised(py, "StaleError", "The value was erased."))
        })
    }
}

/// A size as Python has it.
pub(crate) enum Size {
    Known(i64),
    Named(String),
    Unknown,
}

/// The sizes of dims.
pub(crate) fn sizes(f: &sdk::Function, dims: impl Iterator<Item = Dim>) -> Vec<Size> {
    dims.map(|dim| match dim.kind {
        DimKind::CONST => Size::Known(dim.value),
        DimKind::UNKNOWN => Size::Unknown,
        _ => ir::look_at(f, |f| ir::dim_text(f, dim)).map_or(Size::Unknown, Size::Named),
    })
    .collect()
}

/// A shape: a tuple of ints, texts and None.
pub(crate) fn shape_tuple<'py>(py: Python<'py>, sizes: Vec<Size>) -> PyResult<Bound<'py, PyTuple>> {
    let items: PyResult<Vec<Bound<'py, PyAny>>> = sizes
        .into_iter()
        .map(|size| {
            Ok(match size {
                Size::Known(size) => size.into_pyobject(py)?.into_any(),
                Size::Named(text) => text.into_pyobject(py)?.into_any(),
                Size::Unknown => py.None().into_bound(py),
            })
        })
        .collect();
    PyTuple::new(py, items?)
}

/// The name of a dtype: `f32`.
pub(crate) fn dtype_name(dtype: DType) -> Option<&'static str> {
    dtype.name()
}

#[pymethods]
impl Value {
    /// The function that the value is in.
    #[getter(function)]
    fn owner(&self, py: Python<'_>) -> Py<Function> {
        self.function.clone_ref(py)
    }

    /// The value's name; None if it has none.
    #[getter]
    fn name(&self) -> PyResult<Option<String>> {
        self.read(|f, id| f.value_name(id).map(str::to_owned))
    }

    /// The value's type.
    #[getter(r#type)]
    fn ty(&self, py: Python<'_>) -> PyResult<Type> {
        let id = self.read(|f, id| f.type_id(id))?;
        Ok(Type {
            function: self.function.clone_ref(py),
            id,
        })
    }

    /// The element type, ``"f32"``; None if it isn't known, or the value has none.
    #[getter]
    fn dtype(&self) -> PyResult<Option<&'static str>> {
        self.read(|f, id| dtype_name(f.dtype(id)))
    }

    /// The sizes: an int, the text of a symbol or an expression (``"n"``, ``"n*2"``), or None for what nobody
    /// knows. A symbol whose name is no word stands in quotes, as in IR text. None in place of the tuple if the rank
    /// isn't known. ``("f32", value.shape)`` is a type again.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let read = self.read(|f, id| {
            let is_tensor = f.type_of(id).kind() == TypeKind::TENSOR;
            let dims = f.dims(id).filter(|_| is_tensor);
            dims.map(|dims| sizes(f, dims.into_iter()))
        })?;
        read.map(|sizes| shape_tuple(py, sizes)).transpose()
    }

    /// The number of axes; None if it isn't known.
    #[getter]
    fn rank(&self) -> PyResult<Option<usize>> {
        self.read(|f, id| f.rank(id))
    }

    /// The op that the value is a result of; None for parameters and constants.
    #[getter]
    fn defining_op(&self, py: Python<'_>) -> PyResult<Option<Op>> {
        let op = self.read(|f, id| f.defining_op(id))?;
        Ok(op.map(|id| Op {
            function: self.function.clone_ref(py),
            id,
        }))
    }

    /// Its place among the results of its op, or the arguments of its region.
    #[getter]
    fn index(&self) -> PyResult<usize> {
        self.read(|f, id| f.index(id))
    }

    /// The constant that the value is; None if it is computed, or given.
    #[getter]
    fn constant(&self, py: Python<'_>) -> PyResult<Option<Constant>> {
        let found = self.read(|f, id| f.constant(id))?;
        found
            .map(|id| Constant::new(py, &self.function, id))
            .transpose()
    }

    /// The number of operands that are this value.
    #[getter]
    fn use_count(&self) -> PyResult<usize> {
        self.read(|f, id| f.use_count(id))
    }

    /// The ops that use the value, each once, the ends of regions included.
    #[getter]
    fn users(&self, py: Python<'_>) -> PyResult<Vec<Op>> {
        let ids = self.read(|f, id| f.users(id).collect::<Vec<_>>())?;
        Ok(function::ops(self.function.bind(py), ids))
    }

    /// The uses: each op, and which of its operands the value is.
    #[getter]
    fn uses(&self, py: Python<'_>) -> PyResult<Vec<(Op, usize)>> {
        let uses = self.read(|f, id| {
            f.uses(id)
                .map(|used| (used.op, used.index))
                .collect::<Vec<_>>()
        })?;
        let with_op = |(id, index)| {
            let function = self.function.clone_ref(py);
            (Op { function, id }, index)
        };
        Ok(uses.into_iter().map(with_op).collect())
    }

    /// Whether it is there still: whether no edit erased it.
    #[getter]
    fn is_live(&self) -> PyResult<bool> {
        let id = self.id;
        self.function.get().is_still(|f| f.is_live_value(id))
    }

    fn __repr__(&self) -> String {
        let read = self.read(|f, id| {
            let name = f
                .value_name(id)
                .map_or_else(|| id.to_string(), |name| format!("%{name}"));
            let ty = f.type_id(id);
            let ty = ir::look_at(f, |f| ir::type_text(f, ty)).unwrap_or_default();
            format!("<passdock.Value {name}: {ty}>")
        });
        error::shown(read, "Value")
    }
}
