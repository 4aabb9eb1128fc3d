//! The pass host: registry, context, pipelines, instruments, plugins.

pub mod boundary;
pub mod config;
mod context;
pub mod diagnostic;
mod error;
mod instrument;
pub mod instruments;
mod leaf;
pub mod model_file;
mod pass;
mod pass_info;
pub mod pipeline;
pub mod plugin;
mod record;
mod registry;
mod resolve;
mod run;
mod sequential;
mod suggest;
pub mod testing;
mod util;
mod verify;

pub use config::{list_configs, register_config_option};
pub use context::{ContextBuilder, DiagnosticHandler, Entered, PassContext, Verify};
pub use diagnostic::{Diagnostic, Severity};
pub use error::{Cause, ErrorKind, ErrorParts, PassError, Provider};
pub use instrument::{InstrumentRef, InstrumentResult, PassInstrument};
pub use pass::{
    FunctionWork, HostFn, ModuleRef, Pass, PassRef, Work, create_function_pass, create_host_pass,
    create_module_pass, create_prim_func_pass,
};
pub use pass_info::PassInfo;
pub use record::{PassRecord, Status};
pub use registry::{LoadOptions, Registry};
pub use sequential::Sequential;
#[doc(hidden)]
pub use toml;
