//! `Type`: what a value is, as a program reads it and says it.

use passdock::ir;
use passdock::sdk::abi::ExprId;
use passdock::sdk::{self, DType, Dim, DimKind, EditError, SymbolId, TypeId, TypeKind, TypeSpec};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::crossing::error;
use crate::ir::function::Function;
use crate::ir::value::sizes;

/// The type of a value, as its function has it. ``str(type)`` is its text: ``f32[n,3,32]``. A type is
/// equal to another one of the same text, and to the text.
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

    /// The element type, ``"f32"``; None if it has none, or it isn't known.
    #[getter]
    fn dtype(&self) -> PyResult<Option<&'static str>> {
        self.read(|_, ty| ty.dtype().name())
    }

    /// The sizes, as of ``Value.shape``.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let read = self.read(|f, ty| ty.dims().map(|dims| sizes(f, dims)))?;
        read.map(|sizes| PyTuple::new(py, sizes)).transpose()
    }

    fn __str__(&self) -> PyResult<String> {
        let id = self.id;
        self.function.get().look(|f| ir::type_text(f, id))
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

    /// That of its text, which it is equal to.
    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, &self.__str__()?).hash()
    }
}

/// A type as a program says it, to be added to the function that takes it.
pub(crate) enum Wanted {
    Known(TypeId),
    Tensor(DType, Option<Vec<WantedDim>>),
    /// One of IR text, as that of the parameter of a function.
    Read(Box<ir::Function>),
    Unknown,
}

pub(crate) enum WantedDim {
    Size(i64),
    Symbol(String),
    /// One of IR text, as a dim of a function.
    Read(Box<ir::Function>, Dim),
    Unknown,
}

impl Wanted {
    /// The type that an argument says: a ``Type``, text as IR text has it (``"f32[n*2,3]"``), a pair of dtype and
    /// shape, or None.
    pub(crate) fn of(function: &Bound<'_, Function>, said: &Bound<'_, PyAny>) -> PyResult<Wanted> {
        if said.is_none() {
            return Ok(Wanted::Unknown);
        }
        if let Ok(ty) = said.cast::<Type>() {
            let ty = ty.get();
            return match ty.function.is(function) {
                true => Ok(Wanted::Known(ty.id)),
                false => Wanted::parse(&ty.__str__()?),
            };
        }
        if let Ok(text) = said.extract::<String>() {
            return Wanted::parse(&text);
        }
        if let Ok((dtype, shape)) =
            said.extract::<(String, Option<Vec<Option<Bound<'_, PyAny>>>>)>()
        {
            let dims = shape.map(|dims| dims.into_iter().map(dim).collect::<PyResult<Vec<_>>>());
            return Ok(Wanted::Tensor(dtype_of(&dtype)?, dims.transpose()?));
        }
        let what = "a type is a text like \"f32[n,3]\", a pair like (\"f32\", (\"n\", 3)), a passdock.Type or None";
        Err(error::wrong_type(what, said))
    }

    fn parse(text: &str) -> PyResult<Wanted> {
        if let Some(plain) = Wanted::plain(text) {
            return plain;
        }
        // The dtype may be by the name that NumPy has for it.
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        let own = dtype_of(word).ok().and_then(DType::name).unwrap_or(word);
        let read = ir::parse_type(&format!("{own}{rest}")).map_err(|error| {
            PyValueError::new_err(format!(
                "`{text}` isn't a type: {} Write \"f32[n,3,?]\": a dtype, and sizes in brackets.",
                error.message
            ))
        })?;
        Ok(Wanted::Read(Box::new(read)))
    }

    /// The type of a text that needs no parser, as most: a dtype, and numbers and bare names in brackets.
    fn plain(text: &str) -> Option<PyResult<Wanted>> {
        if text == "?" {
            return Some(Ok(Wanted::Unknown));
        }
        let (dtype, dims) = text.strip_suffix(']')?.split_once('[')?;
        let dims = match dims.trim() {
            "*" | "..." => None,
            dims => {
                let dims = dims.split(',').map(str::trim).filter(|dim| !dim.is_empty());
                let dims = dims.map(|dim| match dim {
                    "?" => Some(WantedDim::Unknown),
                    dim if dim.starts_with(|c: char| c.is_ascii_digit()) => {
                        dim.parse().map(WantedDim::Size).ok()
                    }
                    dim => is_word(dim).then(|| WantedDim::Symbol(dim.to_owned())),
                });
                Some(dims.collect::<Option<_>>()?)
            }
        };
        let dtype = dtype.trim();
        is_word(dtype).then(|| Ok(Wanted::Tensor(dtype_of(dtype)?, dims)))
    }

    /// Adds the type to a function.
    pub(crate) fn add(&self, f: &mut sdk::Function) -> Result<TypeId, EditError> {
        match self {
            Wanted::Known(id) => Ok(*id),
            Wanted::Unknown => Ok(TypeId::NONE),
            Wanted::Read(function) => {
                let adopted = ir::adopted(f, function);
                let adopted = adopted.map_err(|error| EditError::failed(error.message))?;
                f.type_from(&adopted, adopted.type_id(adopted.params()[0]))
            }
            Wanted::Tensor(dtype, None) => f.add_type(&TypeSpec::unranked(*dtype)),
            Wanted::Tensor(dtype, Some(dims)) => {
                let dims = dims.iter().map(|dim| {
                    Ok(match dim {
                        WantedDim::Size(size) => Dim::constant(*size),
                        WantedDim::Symbol(name) => Dim::symbol(f.intern(name)?),
                        WantedDim::Read(of, dim) => add_dim(f, of, *dim)?,
                        WantedDim::Unknown => Dim::UNKNOWN,
                    })
                });
                let dims = dims.collect::<Result<Vec<_>, EditError>>()?;
                f.add_type(&TypeSpec::tensor(*dtype, dims))
            }
        }
    }
}

/// Whether a text is one word, which is a name as it stands.
fn is_word(text: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    !text.is_empty() && text.chars().all(is_letter)
}

fn dim(said: Option<Bound<'_, PyAny>>) -> PyResult<WantedDim> {
    let Some(said) = said else {
        return Ok(WantedDim::Unknown);
    };
    if let Ok(size) = said.extract::<i64>() {
        return Ok(WantedDim::Size(size));
    }
    let name: String = said.extract().map_err(|_| {
        PyTypeError::new_err(
            "a size is an int, the name of a symbol, the text of an expression, or None",
        )
    })?;
    if is_word(&name) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(WantedDim::Symbol(name));
    }
    // What isn't IR text is a name.
    let read = ir::parse_type(&format!("f32[{name}]")).ok();
    let read = read.and_then(|f| {
        let param = f.args(f.body()).next()?;
        match f.shape(f.value(param).ty)? {
            &[dim] => Some((f, dim)),
            _ => None,
        }
    });
    Ok(match read {
        Some((function, dim)) => WantedDim::Read(Box::new(function), dim),
        None => WantedDim::Symbol(name),
    })
}

/// Adds a dim of another function.
fn add_dim(f: &mut sdk::Function, of: &ir::Function, dim: Dim) -> Result<Dim, EditError> {
    let made = match dim.kind {
        DimKind::SYMBOL => Dim::symbol(f.intern(of.text(SymbolId(dim.value as u32)))?),
        DimKind::EXPR => {
            let expr = *of.expr(ExprId(dim.value as u32));
            let (left, right) = (add_dim(f, of, expr.lhs)?, add_dim(f, of, expr.rhs)?);
            f.add_expr(expr.kind, left, right)?
        }
        _ => dim,
    };
    let denotation = match dim.denotation.is_none() {
        true => SymbolId::NONE,
        false => f.intern(of.text(dim.denotation))?,
    };
    Ok(Dim { denotation, ..made })
}

/// The dtype of a name: ``f32``, or NumPy's ``float32``.
pub(crate) fn dtype_of(name: &str) -> PyResult<DType> {
    let own = match name {
        "float16" => "f16",
        "float32" => "f32",
        "float64" => "f64",
        "bfloat16" => "bf16",
        "int8" => "i8",
        "int16" => "i16",
        "int32" => "i32",
        "int64" => "i64",
        "uint8" => "u8",
        "uint16" => "u16",
        "uint32" => "u32",
        "uint64" => "u64",
        "complex64" => "c64",
        "complex128" => "c128",
        "string" => "str",
        "int4" => "i4",
        "uint4" => "u4",
        "int2" => "i2",
        "uint2" => "u2",
        "float8_e4m3fn" => "f8e4m3fn",
        "float8_e4m3fnuz" => "f8e4m3fnuz",
        "float8_e5m2" => "f8e5m2",
        "float8_e5m2fnuz" => "f8e5m2fnuz",
        "float8_e8m0fnu" => "f8e8m0",
        "float4_e2m1fn" => "f4e2m1",
        own => own,
    };
    let found = DType::ALL.iter().find(|dtype| dtype.name() == Some(own));
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = DType::ALL.iter().filter_map(|dtype| dtype.name()).collect();
        PyValueError::new_err(format!(
            "`{name}` is no dtype; they are {}",
            names.join(", ")
        ))
    })
}
