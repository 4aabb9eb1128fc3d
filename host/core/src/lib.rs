//! The core of the pass host: registry, context, run loop, instruments, plugins.
//!
//! The other crates of the host use this one. Programs embed `passdock`, which re-exports the public part of it.
//!
//! **Invariant:** a failed pass changes nothing, and results don't depend on the number of threads. `unsafe` is only in
//! [`boundary`] and in the loading of libraries.

pub mod analyses;
pub mod boundary;
pub mod config;
mod context;
mod error;
pub mod instrument;
mod pass;
pub mod plan;
mod registry;
mod rules;
pub mod run;
pub mod util;
pub mod verify;

pub use boundary::handles::{
    FunctionSnapshot, add_callee, adopted, constant_data, module_now, replace_module, with_function,
};
pub use boundary::{Endings, Rewrites};
pub use config::{ConfigError, ConfigInfo, ConfigValue, IntoConfig, InvalidPart, OptionSource};
pub use context::{
    CancellationToken, ContextBuilder, ContextSettings, DeviceType, DiagnosticContext, Entered,
    OnPass, PassContext, PassRecord, PassRun, PassStatus, Recorder, Renderer, get_renderer,
    override_renderer,
};
pub use error::{Cause, ErrorKind, ErrorParts, PassError, PassFault, Provider};
pub use instrument::{
    Frame, InstrumentRef, InstrumentReport, InstrumentResult, InstrumentSetup, InstrumentSpec,
    PassCall, PassFilter, PassInstrument, Sink,
};
pub use pass::{
    FunctionPass, HostWork, INFER_TYPE, ModulePass, Pass, PassDeclaration, PassInfo, PassRef,
    RulesFile, Sequential, Work, create_function_pass, create_module_pass, create_prim_func_pass,
    disable_children,
};
pub use passdock_diagnostic::{
    BlamedDefinition, Diagnostic, InvalidShape, Label, Severity, Snippet, json, suggest, table,
    terminal, text_diff,
};
pub use passdock_loader::discover;
pub use passdock_loader::manifest::InstrumentDeclaration;
pub use passdock_loader::{
    AttrInfo, Field, FieldType, ManifestPass, MissingDefinition, OpDefs, OpInfo, Origin,
    PanicStrategy, PassKind, Phase, Plugin, PluginError, PluginErrorKind, Schema, SearchDir,
    Unsatisfied, VersionRange, count_range,
};
pub use passdock_plugin_api as sdk;
pub use registry::{LoadOptions, Registry};
pub use rules::{check as check_rules, is_of_unknown_plugin};
pub use run::site::FailureSite;
pub use run::{
    apply_pass_to_function, build_module, check_interrupt, create_host_pass, edit_module, filter,
    forked, print_ir, printing, set_interrupt,
};
#[doc(hidden)]
pub use toml;
pub use verify::Verify;

/// Registers a config option in the process-wide registry.
///
/// # Errors
/// If the key is registered already.
pub fn register_config_option<T: sdk::Options>(key: &str) -> Result<(), ConfigError> {
    Registry::global().register_config_option::<T>(key)
}

/// Returns the config options of the process-wide registry, sorted by key.
pub fn list_configs() -> Vec<ConfigInfo> {
    Registry::global().list_configs()
}
