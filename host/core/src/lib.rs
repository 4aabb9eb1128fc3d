//! The core of the pass host: registry, context, run loop, instruments, plugins.
//!
//! The other crates of the host are written against this one; programs embed `passdock`, which
//! gives out what of it is meant for them.
//!
//! **Invariant:** a pass that fails changes nothing, and nothing depends on how many threads run.
//! `unsafe` is in [`boundary`] and in the loading of libraries only.

pub mod analyses;
pub mod boundary;
pub mod config;
pub mod context;
pub mod diagnostic;
pub mod error;
pub mod files;
pub mod instrument;
pub mod instruments;
pub mod interface;
pub mod leaf;
pub mod pass;
pub mod pass_info;
pub mod passes;
pub mod plugin;
pub mod record;
pub mod registry;
pub mod resolve;
pub mod run;
pub mod sequential;
pub mod site;
pub mod states;
pub mod suggest;
pub mod terminal;
pub mod unified;
pub mod util;
pub mod verify;

pub use config::{list_configs, register_config_option};
pub use context::{ContextBuilder, ContextSettings, DeviceType, Entered, PassContext, Verify};
pub use diagnostic::{
    Diagnostic, DiagnosticContext, Renderer, Severity, get_renderer, override_renderer,
};
pub use error::{Cause, ErrorKind, ErrorParts, PassError, Provider};
pub use instrument::{InstrumentRef, InstrumentReport, InstrumentResult, PassInstrument};
pub use interface::same_interface;
pub use pass::{
    FunctionWork, HostFn, ModuleRef, Pass, PassRef, Work, create_function_pass, create_host_pass,
    create_module_pass, create_prim_func_pass,
};
pub use pass_info::{PassDeclaration, PassInfo};
pub use passes::{apply_pass_to_function, filter};
pub use record::{PassRecord, PassRun, Status};
pub use registry::{InstrumentSetup, InstrumentSpec, LoadOptions, Registry};
pub use sequential::Sequential;
#[doc(hidden)]
pub use toml;
