//! A wrapper of ONNX Runtime's C API, for a library that is loaded on first use.
//!
//! `OrtGetApiBase` returns a table of functions that only grows at its end. This module uses functions of its first
//! version, so every ONNX Runtime 1.x works. All `unsafe` of this crate is in this module.

mod api;
mod find;
mod tensor;
mod values;

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::Library;
use passdock_abi::DType;

use self::api::{
    Api, Object, PathChar, Pointer, Result, Status, TENSOR, Text, c_text, dtype_of, kind_name, text,
};
pub(crate) use self::find::{allow, runtime};
pub(crate) use self::tensor::{ModelOutput, OutputValue, Tensor, describe};

/// The requested version of the table.
const VERSION: u32 = 1;
/// `ORT_LOGGING_LEVEL_FATAL`: errors are also returned as a status.
const SILENT: c_int = 4;
/// `ORT_DISABLE_ALL`.
const NO_OPTIMIZATION: c_int = 0;

/// A loaded ONNX Runtime. It is never unloaded, because the end of its threads can't be observed.
pub(crate) struct Runtime {
    api: Api,
    env: Pointer,
    allocator: Pointer,
    /// The library's file, or the name under which the loader found it.
    pub(crate) path: PathBuf,
    /// The library's version, such as `1.22.0`.
    pub(crate) version: String,
}

// SAFETY: the table is constant, and the environment and the default allocator are thread-safe.
unsafe impl Send for Runtime {}
// SAFETY: as above.
unsafe impl Sync for Runtime {}

impl Runtime {
    /// Loads a library by path, or by a name that the system's loader searches for.
    pub(crate) fn load(path: &Path) -> Result<Runtime> {
        #[repr(C)]
        struct Base {
            get_api: unsafe extern "system" fn(u32) -> *const *const c_void,
            version: unsafe extern "system" fn() -> Text,
        }
        // SAFETY: loading runs the library's initializers. The file was chosen by the user, or is in a location where
        // ONNX Runtime is installed.
        let library = unsafe { Library::new(path) }.map_err(|error| describe_loading(&error))?;
        // SAFETY: this is the symbol's type in `onnxruntime_c_api.h`.
        let entry = unsafe {
            library.get::<unsafe extern "system" fn() -> *const Base>(
                c"OrtGetApiBase".to_bytes_with_nul(),
            )
        };
        let entry = *entry.map_err(|_| "not ONNX Runtime: missing `OrtGetApiBase`")?;
        // SAFETY: the function has no conditions; the library stays loaded, since it is forgotten below.
        let base = unsafe { entry().as_ref() };
        std::mem::forget(library);
        let base = base.ok_or("`OrtGetApiBase` returned null")?;
        // SAFETY: neither function has conditions; the version is a constant string that ends with a zero byte.
        let (table, version) = unsafe { ((base.get_api)(VERSION), text((base.version)())) };
        if table.is_null() {
            return Err(format!(
                "ONNX Runtime {version} has no C API of version {VERSION}"
            ));
        }
        let api = Api(table);
        // SAFETY: the string is constant; the functions write to a local pointer.
        let env =
            api.borrowed(|out| unsafe { api.create_env(SILENT, c"passdock".as_ptr(), out) })?;
        // SAFETY: the environment was created above.
        api.check(unsafe { api.disable_telemetry_events(env) })?;
        // SAFETY: the function writes to a local pointer; the default allocator is never released.
        let allocator =
            api.borrowed(|out| unsafe { api.get_allocator_with_default_options(out) })?;
        Ok(Runtime {
            api,
            env,
            allocator,
            path: path.to_owned(),
            version,
        })
    }
}

/// Returns the loader's message, without the name of the function that failed.
fn describe_loading(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// A required input of a model, or an output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelPort {
    pub(crate) name: String,
    /// The port's type; for a port that isn't a tensor, a description.
    pub(crate) ty: Result<PortType, &'static str>,
}

/// The type of a tensor that is an input or output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PortType {
    pub(crate) dtype: DType,
    pub(crate) dims: Vec<PortDim>,
}

/// A dim of an input or output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PortDim {
    Known(i64),
    Symbol(String),
    Open,
}

/// A model's required inputs and its outputs.
#[derive(Clone, Debug)]
pub(crate) struct ModelPorts {
    pub(crate) inputs: Vec<ModelPort>,
    pub(crate) outputs: Vec<ModelPort>,
}

/// A loaded model.
pub(crate) struct OrtSession<'r> {
    runtime: &'r Runtime,
    session: Object,
    pub(crate) ports: ModelPorts,
}

/// The functions of the C API that describe either inputs or outputs.
struct Ports {
    count: unsafe fn(Api, Pointer, *mut usize) -> Status,
    name: unsafe fn(Api, Pointer, usize, Pointer, *mut *mut c_char) -> Status,
    ty: unsafe fn(Api, Pointer, usize, *mut Pointer) -> Status,
}

impl Runtime {
    /// Loads the model in a file without optimizations, to run on one thread.
    pub(crate) fn session(&self, path: &Path) -> Result<OrtSession<'_>> {
        let (api, env) = (self.api, self.env);
        // SAFETY: the function writes to the new object's pointer.
        let options = api.object(Api::release_session_options, |out| unsafe {
            api.create_session_options(out)
        })?;
        let options_ptr = options.pointer;
        // SAFETY: the options were created above.
        unsafe {
            api.check(api.set_session_log_severity_level(options_ptr, SILENT))?;
            api.check(api.set_session_graph_optimization_level(options_ptr, NO_OPTIMIZATION))?;
            api.check(api.set_intra_op_num_threads(options_ptr, 1))?;
            api.check(api.set_inter_op_num_threads(options_ptr, 1))?;
        }
        let path = system_path(path)?;
        // SAFETY: environment and options are valid; the path ends with a zero.
        let session = api.object(Api::release_session, |out| unsafe {
            api.create_session(env, path.as_ptr(), options_ptr, out)
        })?;
        let inputs = Ports {
            count: Api::session_get_input_count,
            name: Api::session_get_input_name,
            ty: Api::session_get_input_type_info,
        };
        let outputs = Ports {
            count: Api::session_get_output_count,
            name: Api::session_get_output_name,
            ty: Api::session_get_output_type_info,
        };
        Ok(OrtSession {
            ports: ModelPorts {
                inputs: self.ports(&session, &inputs)?,
                outputs: self.ports(&session, &outputs)?,
            },
            runtime: self,
            session,
        })
    }

    /// Returns the inputs or the outputs of a session.
    fn ports(&self, session: &Object, functions: &Ports) -> Result<Vec<ModelPort>> {
        let session = session.pointer;
        // SAFETY: the session is valid.
        let count = self
            .api
            .value(|out| unsafe { (functions.count)(self.api, session, out) })?;
        let ports = (0..count).map(|at| self.port(session, at, functions));
        ports.collect()
    }

    fn port(&self, session: Pointer, at: usize, functions: &Ports) -> Result<ModelPort> {
        let (api, allocator) = (self.api, self.allocator);
        let mut name = ptr::null_mut();
        // SAFETY: the session is valid and has an input, or output, of this index.
        api.check(unsafe { (functions.name)(api, session, at, allocator, &mut name) })?;
        // SAFETY: a name ends with a zero byte.
        let copy = unsafe { text(name) };
        // SAFETY: the name was allocated by the default allocator, and isn't used after this.
        api.check(unsafe { api.allocator_free(allocator, name.cast()) })?;
        let name = copy;
        // SAFETY: the session is valid and has an input, or output, of this index.
        let info = api.object(Api::release_type_info, |out| unsafe {
            (functions.ty)(api, session, at, out)
        })?;
        // SAFETY: the type was created above.
        let kind =
            api.value(|out| unsafe { api.get_onnx_type_from_type_info(info.pointer, out) })?;
        if kind != TENSOR {
            let ty = Err(kind_name(kind));
            return Ok(ModelPort { name, ty });
        }
        // SAFETY: the type is a tensor's; the result is a part of it.
        let tensor =
            api.borrowed(|out| unsafe { api.cast_type_info_to_tensor_info(info.pointer, out) })?;
        let (dtype, sizes) = self.tensor_type(tensor)?;
        let mut symbols = vec![ptr::null(); sizes.len()];
        // SAFETY: `symbols` has a slot for each dim; the type owns the names.
        api.check(unsafe {
            api.get_symbolic_dimensions(tensor, symbols.as_mut_ptr(), symbols.len())
        })?;
        let dims = sizes.iter().zip(symbols).map(|(&size, symbol)| {
            // SAFETY: the name ends with a zero byte, and the type that owns it is still valid.
            let symbol = unsafe { text(symbol) };
            match size {
                0.. => PortDim::Known(size),
                _ if symbol.is_empty() => PortDim::Open,
                _ => PortDim::Symbol(symbol),
            }
        });
        let dims = dims.collect();
        let ty = Ok(PortType { dtype, dims });
        Ok(ModelPort { name, ty })
    }

    /// Returns the element type and the shape of a description.
    fn tensor_type(&self, info: Pointer) -> Result<(DType, Vec<i64>)> {
        let api = self.api;
        // SAFETY: the caller passes a valid description.
        let dtype = api.value(|out| unsafe { api.get_tensor_element_type(info, out) })?;
        // SAFETY: as above.
        let rank = api.value(|out| unsafe { api.get_dimensions_count(info, out) })?;
        let mut shape = vec![0; rank];
        // SAFETY: `shape` has a slot for each dim.
        api.check(unsafe { api.get_dimensions(info, shape.as_mut_ptr(), rank) })?;
        Ok((dtype_of(dtype), shape))
    }
}

#[cfg(windows)]
fn system_path(path: &Path) -> Result<Vec<PathChar>> {
    use std::os::windows::ffi::OsStrExt;
    Ok(path.as_os_str().encode_wide().chain([0]).collect())
}

#[cfg(not(windows))]
fn system_path(path: &Path) -> Result<Vec<PathChar>> {
    let text = CString::new(path.as_os_str().as_encoded_bytes());
    let text = text.map_err(|_| format!("path {path:?} contains a null byte"))?;
    let bytes = text.as_bytes_with_nul();
    Ok(bytes.iter().map(|&byte| byte as PathChar).collect())
}

impl OrtSession<'_> {
    /// Runs the model and returns all outputs, in order.
    pub(crate) fn run(&self, inputs: &[(String, Tensor)]) -> Result<Vec<ModelOutput>> {
        let api = self.runtime.api;
        let names = |names: &mut dyn Iterator<Item = &String>| -> Result<Vec<CString>> {
            names.map(|name| c_text(name.as_str())).collect()
        };
        let input_names = names(&mut inputs.iter().map(|(name, _)| name))?;
        let output_names = names(&mut self.ports.outputs.iter().map(|output| &output.name))?;
        let pointers = |names: &[CString]| names.iter().map(|name| name.as_ptr()).collect();
        let (from, to): (Vec<Text>, Vec<Text>) = (pointers(&input_names), pointers(&output_names));
        let values = inputs.iter().map(|(_, tensor)| self.create(tensor));
        let objects = values.collect::<Result<Vec<Object>>>()?;
        let values: Vec<Pointer> = objects.iter().map(|value| value.pointer).collect();
        let mut outputs = vec![ptr::null_mut(); to.len()];
        // SAFETY: the counts are the lengths of the arrays, which outlive the call. Null outputs are allocated by the
        // call, and null run options are allowed.
        let status = unsafe {
            api.run(
                self.session.pointer,
                ptr::null_mut(),
                from.as_ptr(),
                values.as_ptr(),
                values.len(),
                to.as_ptr(),
                to.len(),
                outputs.as_mut_ptr(),
            )
        };
        // A failed run may have created some outputs. They are released, too.
        let outputs = outputs.into_iter().map(|pointer| Object {
            api,
            pointer,
            release: Api::release_value,
        });
        let outputs: Vec<Object> = outputs.collect();
        api.check(status)?;
        let output = |(port, object): (&ModelPort, Object)| {
            let name = port.name.clone();
            let value = self.read_value(object)?;
            Ok(ModelOutput { name, value })
        };
        self.ports.outputs.iter().zip(outputs).map(output).collect()
    }
}
