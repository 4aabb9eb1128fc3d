//! ONNX Runtime's table of functions, and the objects that they create.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

use passdock_abi::DType;

pub(super) type Pointer = *mut c_void;
pub(super) type Text = *const c_char;
/// Null for success, or an object with an error message.
pub(super) type Status = Pointer;
/// A path in the encoding of the system's functions.
#[cfg(windows)]
pub(super) type PathChar = u16;
#[cfg(not(windows))]
pub(super) type PathChar = c_char;

/// Declares functions by their index in `OrtApi`.
macro_rules! functions {
    ($($slot:literal $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)?;)*) => {
        #[expect(clippy::too_many_arguments, reason = "the signatures are ONNX Runtime's")]
        impl Api {$(
            pub(super) unsafe fn $name(self, $($arg: $ty),*) $(-> $ret)? {
                type Function = unsafe extern "system" fn($($ty),*) $(-> $ret)?;
                // SAFETY: the slot is in the first version of the table, so it exists. Its function has this
                // signature in `onnxruntime_c_api.h`, and signatures never change.
                let function: Function = unsafe { std::mem::transmute(*self.0.add($slot)) };
                // SAFETY: the caller guarantees the function's conditions.
                unsafe { function($($arg),*) }
            }
        )*}
    };
}

/// The table of functions.
#[derive(Clone, Copy)]
pub(super) struct Api(pub(super) *const *const c_void);

functions! {
    2 get_error_message(status: Status) -> Text;
    3 create_env(level: c_int, id: Text, out: *mut Pointer) -> Status;
    6 disable_telemetry_events(env: Pointer) -> Status;
    7 create_session(env: Pointer, path: *const PathChar, options: Pointer, out: *mut Pointer) -> Status;
    9 run(
        session: Pointer, options: Pointer, inputs: *const Text, values: *const Pointer, input_count: usize,
        outputs: *const Text, output_count: usize, out: *mut Pointer
    ) -> Status;
    10 create_session_options(out: *mut Pointer) -> Status;
    22 set_session_log_severity_level(options: Pointer, level: c_int) -> Status;
    23 set_session_graph_optimization_level(options: Pointer, level: c_int) -> Status;
    24 set_intra_op_num_threads(options: Pointer, threads: c_int) -> Status;
    25 set_inter_op_num_threads(options: Pointer, threads: c_int) -> Status;
    30 session_get_input_count(session: Pointer, out: *mut usize) -> Status;
    31 session_get_output_count(session: Pointer, out: *mut usize) -> Status;
    33 session_get_input_type_info(session: Pointer, index: usize, out: *mut Pointer) -> Status;
    34 session_get_output_type_info(session: Pointer, index: usize, out: *mut Pointer) -> Status;
    36 session_get_input_name(session: Pointer, index: usize, allocator: Pointer, out: *mut *mut c_char) -> Status;
    37 session_get_output_name(session: Pointer, index: usize, allocator: Pointer, out: *mut *mut c_char) -> Status;
    48 create_tensor_as_ort_value(
        allocator: Pointer, shape: *const i64, rank: usize, dtype: c_int, out: *mut Pointer
    ) -> Status;
    51 get_tensor_mutable_data(value: Pointer, out: *mut Pointer) -> Status;
    52 fill_string_tensor(value: Pointer, texts: *const Text, count: usize) -> Status;
    53 get_string_tensor_data_length(value: Pointer, out: *mut usize) -> Status;
    54 get_string_tensor_content(value: Pointer, to: *mut u8, len: usize, offsets: *mut usize, count: usize) -> Status;
    55 cast_type_info_to_tensor_info(info: Pointer, out: *mut Pointer) -> Status;
    56 get_onnx_type_from_type_info(info: Pointer, out: *mut c_int) -> Status;
    60 get_tensor_element_type(info: Pointer, out: *mut c_int) -> Status;
    61 get_dimensions_count(info: Pointer, out: *mut usize) -> Status;
    62 get_dimensions(info: Pointer, out: *mut i64, rank: usize) -> Status;
    63 get_symbolic_dimensions(info: Pointer, out: *mut Text, rank: usize) -> Status;
    65 get_tensor_type_and_shape(value: Pointer, out: *mut Pointer) -> Status;
    67 get_value_type(value: Pointer, out: *mut c_int) -> Status;
    76 allocator_free(allocator: Pointer, memory: Pointer) -> Status;
    78 get_allocator_with_default_options(out: *mut Pointer) -> Status;
    80 get_value(value: Pointer, index: c_int, allocator: Pointer, out: *mut Pointer) -> Status;
    81 get_value_count(value: Pointer, out: *mut usize) -> Status;
    93 release_status(status: Status);
    95 release_session(session: Pointer);
    96 release_value(value: Pointer);
    98 release_type_info(info: Pointer);
    99 release_tensor_type_and_shape_info(info: Pointer);
    100 release_session_options(options: Pointer);
}

/// `ONNXType`.
pub(super) const TENSOR: c_int = 1;
pub(super) const SEQUENCE: c_int = 2;
pub(super) const MAP: c_int = 3;

pub(super) fn kind_name(kind: c_int) -> &'static str {
    match kind {
        TENSOR => "a tensor",
        SEQUENCE => "a sequence",
        MAP => "a map",
        5 => "a sparse tensor",
        6 => "an optional value",
        _ => "an opaque value",
    }
}

/// Types whose code in `ONNXTensorElementDataType` differs from ONNX's.
const RENUMBERED: [(DType, c_int); 3] = [(DType::U2, 24), (DType::I2, 25), (DType::F8E8M0, 26)];

pub(super) fn dtype_code(dtype: DType) -> c_int {
    let renumbered = RENUMBERED.iter().find(|pair| pair.0 == dtype);
    renumbered.map_or(dtype.0 as c_int, |pair| pair.1)
}

pub(super) fn dtype_of(code: c_int) -> DType {
    let renumbered = RENUMBERED.iter().find(|pair| pair.1 == code);
    renumbered.map_or(DType(code as u32), |pair| pair.0)
}

/// A result whose error is ONNX Runtime's message.
pub(super) type Result<T = (), E = String> = std::result::Result<T, E>;

impl Api {
    pub(super) fn check(self, status: Status) -> Result {
        if status.is_null() {
            return Ok(());
        }
        // SAFETY: a status that isn't null is valid until it is released, and so is its message.
        let message = unsafe { text(self.get_error_message(status)) };
        // SAFETY: the status isn't used after this.
        unsafe { self.release_status(status) };
        Err(message)
    }

    /// Calls a function that creates an object.
    pub(super) fn object(
        self,
        release: unsafe fn(Api, Pointer),
        make: impl FnOnce(*mut Pointer) -> Status,
    ) -> Result<Object> {
        let mut object = Object {
            api: self,
            pointer: ptr::null_mut(),
            release,
        };
        self.check(make(&mut object.pointer))?;
        Ok(object)
    }

    /// Calls a function that writes a plain value.
    pub(super) fn value<T: Default>(self, make: impl FnOnce(*mut T) -> Status) -> Result<T> {
        let mut value = T::default();
        self.check(make(&mut value))?;
        Ok(value)
    }

    /// Calls a function that writes a pointer to an object that the caller doesn't own.
    pub(super) fn borrowed(self, make: impl FnOnce(*mut Pointer) -> Status) -> Result<Pointer> {
        let mut pointer = ptr::null_mut();
        self.check(make(&mut pointer))?;
        Ok(pointer)
    }
}

/// # Safety
/// The pointer has to be null, or point to a string that ends with a zero byte.
pub(super) unsafe fn text(text: Text) -> String {
    match text.is_null() {
        true => String::new(),
        // SAFETY: the caller guarantees that the string ends with a zero byte.
        false => unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned(),
    }
}

/// An object of ONNX Runtime, which is released on drop.
pub(super) struct Object {
    pub(super) api: Api,
    pub(super) pointer: Pointer,
    pub(super) release: unsafe fn(Api, Pointer),
}

impl Drop for Object {
    fn drop(&mut self) {
        if !self.pointer.is_null() {
            // SAFETY: the object was created by the function that `release` belongs to, and has no other owner.
            unsafe { (self.release)(self.api, self.pointer) }
        }
    }
}

/// Converts a string to a C string.
pub(super) fn c_text(text: impl Into<Vec<u8>>) -> Result<CString> {
    CString::new(text)
        .map_err(|_| "string contains a null byte, which the C API does not support".to_owned())
}
