//! ONNX Runtime, through the C API of a library that is loaded when it is needed.
//!
//! `OrtGetApiBase` gives a table of functions that only ever grows at its end. What is used here is in
//! its first version, so every ONNX Runtime 1.x will do. All `unsafe` of this crate is in this module.

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
pub(crate) use self::find::runtime;
pub(crate) use self::tensor::{ModelOutput, OutputValue, Tensor, describe};

/// The table's version that is asked for.
const VERSION: u32 = 1;
/// `ORT_LOGGING_LEVEL_FATAL`: what goes wrong comes back as a status, too.
const SILENT: c_int = 4;
/// `ORT_DISABLE_ALL`.
const NO_OPTIMIZATION: c_int = 0;

/// A loaded ONNX Runtime. It is never unloaded: nothing says when the last of its threads is gone.
pub(crate) struct Runtime {
    api: Api,
    env: Pointer,
    allocator: Pointer,
    /// The library's file, or the name that the loader found it by.
    pub(crate) path: PathBuf,
    /// The library's version, such as `1.22.0`.
    pub(crate) version: String,
}

// SAFETY: the table is constant, and environment and default allocator may be used by several threads.
unsafe impl Send for Runtime {}
// SAFETY: as above.
unsafe impl Sync for Runtime {}

impl Runtime {
    /// Loads a library: a path, or a name that the system's loader looks for.
    pub(crate) fn load(path: &Path) -> Result<Runtime> {
        #[repr(C)]
        struct Base {
            get_api: unsafe extern "system" fn(u32) -> *const *const c_void,
            version: unsafe extern "system" fn() -> Text,
        }
        // SAFETY: loading runs the library's initialisers. It is the file that the user named, or one
        // of the places where ONNX Runtime is installed.
        let library = unsafe { Library::new(path) }.map_err(|error| describe_loading(&error))?;
        // SAFETY: this is the symbol's type in `onnxruntime_c_api.h`.
        let entry = unsafe {
            library.get::<unsafe extern "system" fn() -> *const Base>(
                c"OrtGetApiBase".to_bytes_with_nul(),
            )
        };
        let entry = *entry.map_err(|_| "it isn't ONNX Runtime: it has no `OrtGetApiBase`")?;
        // SAFETY: the function has no conditions; the library stays loaded from here on.
        let base = unsafe { entry().as_ref() };
        std::mem::forget(library);
        let base = base.ok_or("its `OrtGetApiBase` returns null")?;
        // SAFETY: neither has conditions; the version is a constant text.
        let (table, version) = unsafe { ((base.get_api)(VERSION), text((base.version)())) };
        if table.is_null() {
            return Err(format!(
                "ONNX Runtime {version} has no C API of version {VERSION}"
            ));
        }
        let api = Api(table);
        // SAFETY: the text is constant; the functions write to a pointer of this function.
        let env =
            api.borrowed(|out| unsafe { api.create_env(SILENT, c"passdock".as_ptr(), out) })?;
        // SAFETY: the environment is there.
        api.check(unsafe { api.disable_telemetry_events(env) })?;
        // SAFETY: as for the environment; the allocator isn't to be released.
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

/// The loader's message, without how it was called.
fn describe_loading(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// An input that has to be given, or an output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelPort {
    pub(crate) name: String,
    /// Its type; otherwise what it is instead of a tensor.
    pub(crate) ty: Result<PortType, &'static str>,
}

/// The type of a tensor that goes in or comes out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PortType {
    pub(crate) dtype: DType,
    pub(crate) dims: Vec<PortDim>,
}

/// A dim of such a tensor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PortDim {
    Known(i64),
    Symbol(String),
    Open,
}

/// The inputs that have to be given to a model, and its outputs.
#[derive(Clone, Debug)]
pub(crate) struct ModelPorts {
    pub(crate) inputs: Vec<ModelPort>,
    pub(crate) outputs: Vec<ModelPort>,
}

/// A model, ready to run.
pub(crate) struct OrtSession<'r> {
    runtime: &'r Runtime,
    session: Object,
    pub(crate) ports: ModelPorts,
}

/// The functions that describe the inputs, or the outputs, of a session.
struct Ports {
    count: unsafe fn(Api, Pointer, *mut usize) -> Status,
    name: unsafe fn(Api, Pointer, usize, Pointer, *mut *mut c_char) -> Status,
    ty: unsafe fn(Api, Pointer, usize, *mut Pointer) -> Status,
}

impl Runtime {
    /// Prepares the model in a file to be run as it is: nothing optimised, on one thread.
    pub(crate) fn session(&self, path: &Path) -> Result<OrtSession<'_>> {
        let (api, env) = (self.api, self.env);
        // SAFETY: the function writes to the object's pointer.
        let options = api.object(Api::release_session_options, |out| unsafe {
            api.create_session_options(out)
        })?;
        let set = options.pointer;
        // SAFETY: the options are there.
        unsafe {
            api.check(api.set_session_log_severity_level(set, SILENT))?;
            api.check(api.set_session_graph_optimization_level(set, NO_OPTIMIZATION))?;
            api.check(api.set_intra_op_num_threads(set, 1))?;
            api.check(api.set_inter_op_num_threads(set, 1))?;
        }
        let path = system_path(path)?;
        // SAFETY: environment and options are there; the path ends with a zero.
        let session = api.object(Api::release_session, |out| unsafe {
            api.create_session(env, path.as_ptr(), set, out)
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

    /// Returns the inputs, or the outputs, of a session.
    fn ports(&self, session: &Object, functions: &Ports) -> Result<Vec<ModelPort>> {
        let session = session.pointer;
        // SAFETY: the session is there.
        let count = self
            .api
            .value(|out| unsafe { (functions.count)(self.api, session, out) })?;
        let ports = (0..count).map(|at| self.port(session, at, functions));
        ports.collect()
    }

    fn port(&self, session: Pointer, at: usize, functions: &Ports) -> Result<ModelPort> {
        let (api, allocator) = (self.api, self.allocator);
        let mut name = ptr::null_mut();
        // SAFETY: the session has an input, or output, of this index.
        api.check(unsafe { (functions.name)(api, session, at, allocator, &mut name) })?;
        // SAFETY: a name ends with a zero.
        let copy = unsafe { text(name) };
        // SAFETY: the name is the default allocator's, and isn't used after this.
        api.check(unsafe { api.allocator_free(allocator, name.cast()) })?;
        let name = copy;
        // SAFETY: the session has an input, or output, of this index.
        let info = api.object(Api::release_type_info, |out| unsafe {
            (functions.ty)(api, session, at, out)
        })?;
        // SAFETY: the type is there.
        let kind =
            api.value(|out| unsafe { api.get_onnx_type_from_type_info(info.pointer, out) })?;
        if kind != TENSOR {
            let ty = Err(kind_name(kind));
            return Ok(ModelPort { name, ty });
        }
        // SAFETY: it is a tensor's; what comes back is a part of it.
        let tensor =
            api.borrowed(|out| unsafe { api.cast_type_info_to_tensor_info(info.pointer, out) })?;
        let (dtype, sizes) = self.tensor_type(tensor)?;
        let mut symbols = vec![ptr::null(); sizes.len()];
        // SAFETY: there is room for as many names as there are dims; they are the type's.
        api.check(unsafe {
            api.get_symbolic_dimensions(tensor, symbols.as_mut_ptr(), symbols.len())
        })?;
        let dims = sizes.iter().zip(symbols).map(|(&size, symbol)| {
            // SAFETY: it ends with a zero, and the type that it belongs to is still there.
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
        // SAFETY: the description is there.
        let dtype = api.value(|out| unsafe { api.get_tensor_element_type(info, out) })?;
        // SAFETY: as above.
        let rank = api.value(|out| unsafe { api.get_dimensions_count(info, out) })?;
        let mut shape = vec![0; rank];
        // SAFETY: there is room for as many dims as it has.
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
    let text = text.map_err(|_| format!("the path {path:?} has a zero byte"))?;
    let bytes = text.as_bytes_with_nul();
    Ok(bytes.iter().map(|&byte| byte as PathChar).collect())
}

impl OrtSession<'_> {
    /// Runs the model; returns all outputs, in order.
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
        // SAFETY: there are as many names and values as the counts say, and they live longer than the call, which
        // creates the outputs that are null. No run options is allowed.
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
        // A run that failed may have created some, too, which are released.
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
