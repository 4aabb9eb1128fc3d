//! The pass host: what a program embeds to run compiler passes that ship as files.
//!
//! A pass maps a module to a module. Passes come from plugins, which a [`Registry`] knows by their
//! manifests and loads when they are needed, or from closures of the program itself. A
//! [`Sequential`] runs passes in order, what they require first, under a [`PassContext`], which
//! says up to which level, which passes not, with which options, and which [`PassInstrument`]s
//! watch.
//!
//! ```
//! use passdock::{PassContext, PassInfo, Registry, Sequential, create_function_pass};
//!
//! # fn main() -> Result<(), passdock::PassError> {
//! // A pass of the program's own; a plugin's is written the same way.
//! let fuse = create_function_pass(
//!     PassInfo::new("demo.transform.FuseDoubleRelu").opt_level(1),
//!     |f, _cx| {
//!         for op in f.ops_named("onnx.Relu") {
//!             let inner = f.operand(op, 0).and_then(|value| f.defining_op(value));
//!             if let Some(inner) = inner.filter(|&inner| f.name(inner) == "onnx.Relu") {
//!                 f.replace_op_with(op, &[f.result(inner, 0)])?;
//!             }
//!         }
//!         Ok(())
//!     },
//! );
//! let registry = Registry::new();
//! registry.register(fuse)?;
//! // registry.load_dir("plugins".as_ref(), &Default::default())?;
//!
//! let module = passdock::model_file::parse_text(
//!     "demo.ir",
//!     "module {
//!        fn @main(%x: f32[2]) -> (%y: f32[2]) {
//!          %0 = onnx.Relu(%x) : f32[2]
//!          %1 = onnx.Relu(%0) : f32[2]
//!          return %1
//!        }
//!      }",
//! )?;
//! let cleanup = Sequential::new([registry.get_pass("demo.transform.FuseDoubleRelu")?]).name("cleanup");
//! let cx = PassContext::builder().registry(&registry).opt_level(3).build()?;
//! let after = cx.scope(|_| cleanup.call(module.clone()))?;
//!
//! assert_eq!(after.op_count(), 1);
//! assert_eq!(module.op_count(), 2, "the caller's module is as it was");
//!
//! // The same as a pipeline's text.
//! let text = "
//!     [context]
//!     opt_level = 3
//!     [[passes]]
//!     name = 'demo.transform.FuseDoubleRelu'
//! ";
//! let pipeline = passdock::pipeline::Pipeline::from_toml(text)?.resolve(&registry)?;
//! assert_eq!(pipeline.run(module)?.op_count(), 1);
//! # Ok(())
//! # }
//! ```
//!
//!
//! Reading order: [`PassInfo`] and [`Pass`]; [`Registry`] and [`plugin`]; [`PassContext`] and
//! [`config`]; [`Sequential`]; [`PassInstrument`] and [`instruments`]; [`diagnostic`] and
//! [`PassError`]; [`pipeline`], which is what the command runs; [`analyses`]; [`model_file`]. When
//! something fails: [`reproducer`] and [`replay`].
//!
//! **Invariant:** a pass that fails changes nothing, and nothing depends on how many threads run.

pub use passdock_core::{
    Cause, ContextBuilder, DeviceType, Diagnostic, DiagnosticContext, Entered, ErrorKind,
    ErrorParts, FailureSite, InstrumentRef, InstrumentReport, InstrumentResult, InstrumentSetup,
    InstrumentSpec, LoadOptions, ModuleRef, Pass, PassCall, PassContext, PassDeclaration,
    PassError, PassInfo, PassInstrument, PassRecord, PassRef, PassRun, PassStatus, Provider,
    Registry, Renderer, Sequential, Severity, Verify, Work, apply_pass_to_function, config_struct,
    create_function_pass, create_host_pass, create_module_pass, create_prim_func_pass, filter,
    get_renderer, list_configs, override_renderer, register_config_option, same_interface,
};
pub use passdock_core::{analyses, config, files, run};
pub use passdock_driver::{judge, model_file, pipeline, replay, reproducer, testing};

pub use passdock_core::Frame;
#[doc(hidden)]
pub use passdock_core::toml;

/// Diagnostics: what a pass, a plugin or the host has to say, as data and as text.
pub mod diagnostic {
    pub use passdock_core::{DiagnosticContext, Renderer, get_renderer, override_renderer};
    pub use passdock_diagnostic::*;
}

/// Plugins: found, read without running them, and loaded.
pub mod plugin {
    pub use passdock_core::boundary::host;
    pub use passdock_loader::*;
}

/// The instruments that come with the host, and what instruments are written with.
pub mod instruments {
    pub use passdock_core::instrument::built_in::*;
    pub use passdock_core::instrument::{PassFilter, Sink, stderr, stdout};
    pub use passdock_core::print_ir;
    pub use passdock_driver::reproducer::WriteReproducer;
}

/// Named states of a module: what passes need, establish and break.
pub mod states {
    pub use passdock_core::plan::ModelNeed;
    pub use passdock_loader::manifest::states::*;
}

pub use passdock_diagnostic::terminal;
