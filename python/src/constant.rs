//! `Constant`: the elements of a tensor, where the host has them.

use std::ffi::c_int;
use std::sync::Arc;

use passdock::ir::{self, ConstantData};
use passdock::sdk::{ConstId, DType};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error;
use crate::function::Function;
use crate::value::{dtype_name, shape_tuple, sizes};

/// The data of a constant: of a value, or of a tensor in an attribute.
///
/// ``numpy()`` views the elements where the host has them; they stay as long as anybody holds them, whatever
/// becomes of the module.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct Constant {
    function: Py<Function>,
    pub(crate) id: ConstId,
    data: Arc<ConstantData>,
    dtype: DType,
}

impl Constant {
    pub(crate) fn new(py: Python<'_>, function: &Py<Function>, id: ConstId) -> PyResult<Constant> {
        let found = function.get().read(|f| {
            let record = f.constant_record(id);
            let dtype = record.map_or(DType::F32, |record| f.ty(record.ty).dtype());
            ir::constant_data(f, id).map(|data| (data, dtype))
        })?;
        let (data, dtype) =
            found.map_err(|error| error::raised(py, "StaleError", &error.message))?;
        Ok(Constant {
            function: function.clone_ref(py),
            id,
            data,
            dtype,
        })
    }
}

#[pymethods]
impl Constant {
    /// The element type, ``"f32"``.
    #[getter]
    fn dtype(&self) -> Option<&'static str> {
        dtype_name(self.dtype)
    }

    /// The sizes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let read = self.function.get().read(|f| {
            let dims = f
                .constant_record(self.id)
                .and_then(|record| f.ty(record.ty).dims());
            dims.map_or(Vec::new(), |dims| sizes(f, dims.into_iter()))
        })?;
        shape_tuple(py, read)
    }

    /// The number of bytes of all elements.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.data.len()
    }

    /// Whether all elements are one, which is kept once.
    #[getter]
    fn is_splat(&self) -> bool {
        matches!(self.data.payload(), passdock::ir::Payload::Splat { .. })
    }

    /// The bytes of the elements, as ONNX lays them out: those of one element for a splat.
    #[getter]
    fn data(&self) -> Buffer {
        Buffer(self.data.clone())
    }

    /// The elements as a NumPy array that can't be written: a view of the host's bytes.
    ///
    /// A splat is one element with strides of 0. bfloat16, float8 and their like take the package ml_dtypes.
    /// Elements of 4 or 2 bits, and texts, come as a copy: NumPy has no other way to lay them out.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py()
            .import("passdock._arrays")?
            .call_method1("view", (slf,))
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py()
            .import("passdock._arrays")?
            .call_method1("array", (slf, dtype, copy))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shape = self.shape(py)?.repr()?.to_string();
        Ok(format!(
            "<passdock.Constant {}{shape}>",
            self.dtype().unwrap_or("?")
        ))
    }
}

/// Bytes of the host that Python views, and holds.
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
        // SAFETY: Python gives a view to fill; the bytes stay and don't change as long as `slf`, which the
        // view holds. It is read-only, and a request to write is refused.
        let filled = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, len, 1, flags) };
        match filled {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}
