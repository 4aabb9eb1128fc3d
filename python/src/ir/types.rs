//! `Type`: the type of a value, and types as arguments.

use std::sync::Arc;

use passdock::ir::{self, FunctionSnapshot};
use passdock::sdk::{self, DType, EditError, TypeId, TypeKind};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::crossing::error;
use crate::ir::function::Function;
use crate::ir::value::sizes;

/// The type of a value in a function. ``str(type)`` is its IR text, ``f32[n,3,32]``. Two types are equal if their
/// texts are equal. A type is also equal to its text.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct Type {
    pub(crate) function: Py<Function>,
    pub(crate) id: TypeId,
}

impl Type {
    fn read<R: Send>(&self, body: impl FnOnce(&sdk::Function, sdk::Type<'_>) -> R) -> PyResult<R> {
        self.function.get().read(|f| body(f, f.ty(self.id)))
    }
}

#[pymethods]
impl Type {
    /// ``"tensor"``, ``"buffer"``, ``"scalar"``, ``"tuple"``, ``"sequence"``, ``"optional"``, ``"map"``, or
    /// ``"other"``.
    #[getter]
    fn kind(&self) -> PyResult<&'static str> {
        self.read(|_, ty| match ty.kind() {
            TypeKind::TENSOR => "tensor",
            TypeKind::BUFFER => "buffer",
            TypeKind::SCALAR => "scalar",
            TypeKind::TUPLE => "tuple",
            TypeKind::SEQUENCE => "sequence",
            TypeKind::OPTIONAL => "optional",
            TypeKind::MAP => "map",
            _ => "other",
        })
    }

    /// The element type, ``"f32"``; None if it is unknown, or the type has none.
    #[getter]
    fn dtype(&self) -> PyResult<Option<&'static str>> {
        self.read(|_, ty| ty.dtype().and_then(DType::name))
    }

    /// The sizes, as for ``Value.shape``.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let read = self.read(|f, ty| ty.dims().map(|dims| sizes(f, dims)))?;
        read.map(|sizes| PyTuple::new(py, sizes)).transpose()
    }

    fn __str__(&self) -> PyResult<String> {
        let id = self.id;
        self.function.get().with_ir(|f| ir::type_text(f, id))
    }

    fn __repr__(&self) -> String {
        let read = self.__str__().map(|ty| format!("<passdock.Type {ty}>"));
        error::shown(read, "Type")
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let text = match other.cast::<Type>() {
            Ok(other) => other.get().__str__()?,
            Err(_) => match other.extract::<String>() {
                Ok(text) => text,
                Err(_) => return Ok(false),
            },
        };
        Ok(self.__str__()? == text)
    }

    /// Returns the hash of the text, to which the type is equal.
    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, &self.__str__()?).hash()
    }
}

/// A type argument, to be added to the function that uses it.
pub(crate) enum TypeArgument {
    Known(TypeId),
    /// The type of the only parameter of a function with the module's symbols.
    Parsed(Arc<ir::Function>),
    Unknown,
}

impl TypeArgument {
    /// Converts an argument: a ``Type``, IR text (``"f32[n*2,3]"``), a pair of dtype and shape, or None.
    pub(crate) fn extract(
        function: &Bound<'_, Function>,
        argument: &Bound<'_, PyAny>,
    ) -> PyResult<TypeArgument> {
        if argument.is_none() {
            return Ok(TypeArgument::Unknown);
        }
        if let Ok(ty) = argument.cast::<Type>() {
            let ty = ty.get();
            return match ty.function.is(function) {
                true => Ok(TypeArgument::Known(ty.id)),
                false => TypeArgument::parse(function, &ty.__str__()?),
            };
        }
        if let Ok(text) = argument.extract::<String>() {
            return TypeArgument::parse(function, &text);
        }
        if let Ok((dtype, shape)) =
            argument.extract::<(String, Option<Vec<Option<Bound<'_, PyAny>>>>)>()
        {
            let dims = match shape {
                Some(dims) => {
                    let dims = dims.into_iter().map(|dim| dim_text(function, dim));
                    dims.collect::<PyResult<Vec<_>>>()?.join(",")
                }
                None => "*".to_owned(),
            };
            return TypeArgument::parse(function, &format!("{dtype}[{dims}]"));
        }
        let what = "a type must be a string like \"f32[n,3]\", a pair like (\"f32\", (\"n\", 3)), a Type or None";
        Err(error::type_error(what, argument))
    }

    fn parse(function: &Bound<'_, Function>, text: &str) -> PyResult<TypeArgument> {
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
        let (dtype_name, rest) = text.split_at(end.unwrap_or(text.len()));
        // The dtype may have NumPy's name.
        let dtype = match rest.starts_with('[') {
            true => dtype_of(function.py(), dtype_name)?.name(),
            false => None,
        };
        let parsed = parse(function, &format!("{}{rest}", dtype.unwrap_or(dtype_name)))?;
        let parsed = parsed.map_err(|message| {
            PyValueError::new_err(format!(
                "invalid type `{text}`: {message}; expected a form such as \"f32[n,3,?]\""
            ))
        })?;
        Ok(TypeArgument::Parsed(Arc::new(parsed)))
    }

    /// Adds the type to a function.
    pub(crate) fn add(&self, f: &mut sdk::Function) -> Result<TypeId, EditError> {
        match self {
            TypeArgument::Known(id) => Ok(*id),
            TypeArgument::Unknown => Ok(TypeId::NONE),
            TypeArgument::Parsed(parsed) => {
                let parsed = FunctionSnapshot::new(parsed.clone());
                f.type_from(&parsed, parsed.type_id(parsed.params()[0]))
            }
        }
    }
}

/// Parses a type to the only parameter of a function with the symbols of another one.
fn parse(function: &Bound<'_, Function>, text: &str) -> PyResult<Result<ir::Function, String>> {
    let symbols = function.get().with_ir(|f| f.symbols().clone())?;
    Ok(ir::parse_type(text, symbols).map_err(|error| error.message))
}

/// Converts a size to IR text.
fn dim_text(function: &Bound<'_, Function>, dim: Option<Bound<'_, PyAny>>) -> PyResult<String> {
    let Some(dim) = dim else {
        return Ok("?".to_owned());
    };
    if let Ok(size) = dim.extract::<i64>() {
        return Ok(size.to_string());
    }
    let text: String = dim.extract().map_err(|_| {
        PyTypeError::new_err("a size must be an int, a string (a symbol or an expression), or None")
    })?;
    // A string that isn't a single dim is a symbol that needs quotes.
    let is_dim = parse(function, &format!("f32[{text}]"))?.is_ok_and(|f| {
        let mut params = f.args(f.body());
        let shape = params.next().and_then(|param| f.shape(f.value(param).ty));
        shape.is_some_and(|dims| dims.len() == 1)
    });
    Ok(if is_dim { text } else { format!("{text:?}") })
}

/// Returns the dtype of a name: ``f32``, or NumPy's ``float32``.
pub(crate) fn dtype_of(py: Python<'_>, name: &str) -> PyResult<DType> {
    let find = |name: &str| DType::ALL.iter().find(|dtype| dtype.name() == Some(name));
    if let Some(&dtype) = find(name) {
        return Ok(dtype);
    }
    let own_names = py.import("passdock._arrays")?.getattr("OWN_NAMES")?;
    let own: Option<String> = own_names.call_method1("get", (name,))?.extract()?;
    own.and_then(|own| find(&own)).copied().ok_or_else(|| {
        let names: Vec<&str> = DType::ALL.iter().filter_map(|dtype| dtype.name()).collect();
        PyValueError::new_err(format!(
            "unknown dtype `{name}`; expected one of {}",
            names.join(", ")
        ))
    })
}
