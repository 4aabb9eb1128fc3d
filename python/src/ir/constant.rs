//! `Constant`: the elements of a tensor, in the host's memory.

use std::ffi::c_int;
use std::sync::Arc;

use passdock::ir::{self, ConstantData, FunctionSnapshot, NewPort, Payload};
use passdock::sdk::{ConstId, DType, Position, ValueId};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::crossing::convert;
use crate::crossing::error;
use crate::ir::function::{self, Function};
use crate::ir::types::dtype_of;

/// The data of a constant value or of a tensor attribute.
///
/// ``numpy()`` returns a view of the host's memory. The memory stays valid as long as a view exists, even after the
/// module is gone.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct Constant {
    pub(crate) function: Py<Function>,
    pub(crate) id: ConstId,
    data: Arc<ConstantData>,
    dtype: DType,
    shape: Vec<i64>,
}

impl Constant {
    pub(crate) fn new(py: Python<'_>, function: &Py<Function>, id: ConstId) -> PyResult<Constant> {
        let found = function.get().read(|f| {
            let ty = f.constant_record(id).map(|record| f.ty(record.ty));
            let dims = ty.and_then(|ty| ty.dims()).into_iter().flatten();
            Ok::<_, ir::EditFailure>(Constant {
                function: function.clone_ref(py),
                id,
                data: ir::constant_data(f, id)?,
                dtype: ty.and_then(|ty| ty.dtype()).unwrap_or(DType::NONE),
                shape: dims.map(|dim| dim.value).collect(),
            })
        })?;
        found.map_err(|error| error::raised(py, "StaleError", &error.message))
    }

    /// Adds the constant to another function, sharing its data. Returns `None` if another dtype is requested, or its
    /// own has no name.
    pub(crate) fn add_to(
        &self,
        function: &Bound<'_, Function>,
        dtype: Option<&Bound<'_, PyAny>>,
        name: Option<&str>,
    ) -> PyResult<Option<ValueId>> {
        let is_own = dtype.is_none_or(|dtype| {
            let name = dtype.extract::<String>();
            name.is_ok_and(|name| dtype_of(dtype.py(), &name).ok() == Some(self.dtype))
        });
        let Some(own) = self.dtype.name().filter(|_| is_own) else {
            return Ok(None);
        };
        let invalid = |message: String| PyValueError::new_err(message);
        let sizes: Vec<String> = self.shape.iter().map(i64::to_string).collect();
        let symbols = function.get().with_ir(|f| f.symbols().clone())?;
        let source = ir::parse_type(&format!("{own}[{}]", sizes.join(",")), symbols);
        // A function that only returns the constant.
        let mut source = source.map_err(|error| invalid(error.message))?;
        let body = source.body();
        let params: Vec<ValueId> = source.args(body).collect();
        let ty = source.value(params[0]).ty;
        let done = source.remove_args(&params).and_then(|()| {
            let value = source.add_constant(ty, self.data.clone(), body, "")?;
            source.set_results(body, &[value], &[NewPort { name: "", ty }])
        });
        done.map_err(|error| invalid(error.message))?;
        let id = function::edit(function, |f| {
            let source = FunctionSnapshot::new(Arc::new(source));
            let end = Position::end_of(f.body());
            let value = f.clone_region_from(&source, source.body(), end, &[], &[])?[0];
            if let Some(name) = name {
                f.set_value_name(value, name)?;
            }
            Ok(value)
        })?;
        Ok(Some(id))
    }
}

#[pymethods]
impl Constant {
    /// The element type, ``"f32"``.
    #[getter]
    fn dtype(&self) -> Option<&'static str> {
        self.dtype.name()
    }

    /// The sizes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// The number of bytes of all elements.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.data.len()
    }

    /// Whether all elements are equal and stored once.
    #[getter]
    fn is_splat(&self) -> bool {
        matches!(self.data.payload(), Payload::Splat { .. })
    }

    /// The strings of a ``"str"`` constant in order, a single one for a splat. Strings that aren't UTF-8 are bytes.
    ///
    /// Raises TypeError for a constant of another dtype.
    #[getter]
    fn strings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        if self.dtype != DType::STRING {
            let dtype = self.dtype().unwrap_or("?");
            return Err(PyTypeError::new_err(format!(
                "expected a constant of strings, found one of {dtype}; use `numpy()`"
            )));
        }
        let count = match self.is_splat() {
            true => 1,
            false => self.shape.iter().product::<i64>(),
        };
        let data = self.data();
        let texts = ir::string_elements(data.bytes()?, count.unsigned_abs());
        let value_error = || PyValueError::new_err("invalid string data in the constant");
        let texts: Vec<&[u8]> = texts.ok_or_else(value_error)?.collect();
        let texts = texts.into_iter();
        PyList::new(py, texts.map(|text| convert::string(py, text)))
    }

    /// The bytes of the elements in ONNX's layout; those of one element for a splat.
    #[getter]
    fn data(&self) -> Buffer {
        Buffer(self.data.clone())
    }

    /// Returns the elements as a read-only NumPy array that views the host's memory.
    ///
    /// A splat is a view of one element with strides of 0. bfloat16, float8 and similar types need the package
    /// ml_dtypes. Strings, and elements of less than a byte, are copied, because NumPy lays them out differently.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let arrays = slf.py().import("passdock._arrays")?;
        arrays.call_method1("view", (slf,))
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arrays = slf.py().import("passdock._arrays")?;
        arrays.call_method1("array", (slf, dtype, copy))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shape = self.shape(py)?.repr()?.to_string();
        let dtype = self.dtype().unwrap_or("?");
        Ok(format!("<passdock.Constant {dtype}{shape}>"))
    }
}

/// Bytes of the host that a Python view keeps alive.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct Buffer(Arc<ConstantData>);

impl Buffer {
    fn bytes(&self) -> PyResult<&[u8]> {
        if let ir::Payload::Splat { element, .. } = self.0.payload() {
            return Ok(element);
        }
        self.0.bytes().map_err(PyBufferError::new_err)
    }
}

#[pymethods]
impl Buffer {
    fn __len__(&self) -> PyResult<usize> {
        Ok(self.bytes()?.len())
    }

    #[expect(unsafe_code, reason = "Python's protocol of buffers")]
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let bytes = slf.get().bytes()?;
        let start = bytes.as_ptr().cast_mut().cast();
        let len = ffi::Py_ssize_t::try_from(bytes.len())?;
        // SAFETY: Python passes a view to fill. The bytes stay valid and unchanged as long as `slf`, which the view
        // references. The view is read-only, and a request for a writable one is rejected.
        let filled = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, len, 1, flags) };
        match filled {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}
