//! An embeddable host for compiler passes that ship as plugin files.
//!
//! A pass maps a module to a module. Passes come from plugins or from the program itself. A [`Registry`] finds plugins
//! by their manifests and loads them when they are needed. A program defines passes as closures, or as structs that
//! implement [`FunctionPass`] or [`ModulePass`]. A [`Sequential`] runs passes in order, after the passes that they
//! require. It runs under a [`PassContext`], which sets the optimization level, disabled passes, options, and the
//! [`PassInstrument`]s that observe the run.
//!
//! ```
//! use passdock::{PassContext, PassInfo, Registry, Sequential, create_function_pass, ir};
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
//! let module = ir::parse_text(
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
//! assert_eq!(module.op_count(), 2, "the caller's module is as it was");
//! assert_eq!(
//!     after.to_string(),
//!     "module {
//!   fn @main(%x: f32[2]) -> (%y: f32[2]) {
//!     %0 = onnx.Relu(%x) : f32[2]
//!     return %0
//!   }
//! }
//! "
//! );
//! # Ok(())
//! # }
//! ```
//!
//! # Overview
//!
//! - Passes: [`PassInfo`], [`create_function_pass`] and similar functions, [`FunctionPass`], [`ModulePass`], [`Pass`],
//!   [`Sequential`]. Their bodies use [`sdk`], as in a plugin: [`sdk::Function`], [`sdk::Module`], [`sdk::PassContext`]
//!   and [`sdk::PassError`]. The last two are the pass's view of [`PassContext`] and [`PassError`].
//! - Modules: [`Module`]; [`ir`] to build, edit, parse and print them; [`model_file`] for ONNX and IR text files;
//!   [`analyses`].
//! - Providers of passes: [`Registry`], [`plugin`].
//! - Runs: [`PassContext`], [`config`]; [`PassInstrument`], [`instruments`]; [`PassError`], [`Diagnostic`],
//!   [`diagnostic`].
//! - Pipelines in TOML, as the command runs them: [`pipeline`]. Failures: [`reproducer`], [`replay`], [`oracle`].
//! - Tests of passes on IR text: [`testing`].
//!
//! **Invariant:** a pass that fails changes nothing, and results don't depend on the number of threads.

// Passes.
pub use passdock_core::{
    FunctionPass, ModulePass, Pass, PassDeclaration, PassInfo, PassRef, Phase, RulesFile,
    Sequential, Work, apply_pass_to_function, check_rules, create_function_pass, create_host_pass,
    create_module_pass, create_prim_func_pass, disable_children, filter,
};
#[doc(inline)]
pub use passdock_ir::{Module, verify::interface::same_interface};

// Providers of passes.
pub use passdock_core::{LoadOptions, Provider, Registry};

// Runs.
pub use passdock_core::{
    CancellationToken, ContextBuilder, ContextSettings, DeviceType, Entered, PassContext, Verify,
};
pub use passdock_core::{OnPass, PassRecord, PassRun, PassStatus, Recorder, Rewrites};
pub use passdock_core::{forked, list_configs, register_config_option, set_interrupt, toml};

// Instruments.
pub use passdock_core::{
    Frame, InstrumentRef, InstrumentReport, InstrumentResult, InstrumentSetup, InstrumentSpec,
    PassCall, PassInstrument,
};

// Errors.
pub use passdock_core::{
    Cause, Diagnostic, ErrorKind, ErrorParts, FailureSite, PassError, Severity,
};

pub use passdock_core::{analyses, config};
pub use passdock_diagnostic::terminal;
#[cfg(unix)]
pub use passdock_driver::supervised;
pub use passdock_driver::{
    batch, model_file, oracle, pipeline, provenance, replay, reproducer, testing, trust, waiting,
};
pub use passdock_files as files;
pub use passdock_sandbox::{self as sandbox, SandboxMode};

/// The SDK for writing passes, in closures, structs and plugins.
///
/// Its `PassContext` and `PassError` are the pass's view of the run and of errors. The program's counterparts are
/// [`PassContext`] and [`PassError`] of this crate.
///
/// The examples below are from plugins. In a program, replace `passdock_plugin_api` with `passdock::sdk`.
pub mod sdk {
    pub use passdock_plugin_api::*;
}

/// The IR for programs: the parts of a [`Module`], and functions to build, edit, parse and print modules.
///
/// [`Function`](ir::Function)s give read access to a [`Module`], and `to_string` prints it.
/// [`build_module`](ir::build_module) and [`edit_module`](ir::edit_module) call a closure with the SDK's types.
/// [`Module::insert_copy`] copies a function from another module.
///
/// ```
/// use passdock::ir;
/// use passdock::sdk::{DType, FunctionBuilder, FunctionKind, TypeSpec};
///
/// let module = ir::build_module(|m| {
///     let mut function = m.create("main", FunctionKind::GRAPH, None)?;
///     function.set_opset("", 17)?;
///     let pair = function.add_type(&TypeSpec::shaped(DType::F32, &[2]))?;
///     let mut body = FunctionBuilder::new(&mut function);
///     let x = body.param("x", pair)?;
///     let y = body.value("onnx.Relu", [x])?;
///     Ok(body.finish(&[y])?)
/// })?;
/// let main = module.function_named("main").expect("it was built");
/// assert!(main.ops().all(|(_, op)| main.text(op.name) == "onnx.Relu"));
///
/// let text = module.to_string();
/// let mut read = ir::parse_text("main.ir", &text)?;
/// assert_eq!(read.to_string(), text);
///
/// let helper = "module { fn @helper(%x: f32[n]) -> (%y) { %0 = onnx.Abs(%x) return %0 } }";
/// let other = ir::parse_text("helper.ir", helper)?;
/// read.insert_copy(other.function_named("helper").expect("it was read"))?;
/// assert_eq!(read.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod ir {
    pub use passdock_core::{
        FunctionSnapshot, adopted, constant_data, module_now, replace_module, with_function,
    };
    pub use passdock_core::{build_module, edit_module};
    pub use passdock_driver::model_file::parse_text;
    pub use passdock_driver::pipeline::{InvalidOperator, check_new_op};
    pub use passdock_driver::{body_for, put_functions, raise_opset, replace_body};
    pub use passdock_ir::constant::string_elements;
    pub use passdock_ir::text::{
        Constants, Pieces, PrintOptions, dim_text, parse_type, print_function, print_with,
        type_text,
    };
    pub use passdock_ir::{ConstantData, EditFailure, Function, NewPort, OpName, Payload};
}

/// Crash reports: after [`watch`](crash::watch), a program that crashes reports the running pass.
pub mod crash {
    pub use passdock_crash::{CallKind, Culprit, Termination, TerminationCause};
    pub use passdock_crash::{Panic, caught, keep_quiet};
    #[cfg(unix)]
    pub use passdock_crash::{Then, finish, watch};
}

/// Diagnostics of passes, plugins and the host, as data and as text.
pub mod diagnostic {
    pub use passdock_core::{DiagnosticContext, Renderer, get_renderer, override_renderer};
    pub use passdock_diagnostic::*;
}

/// Discovery and loading of plugins, and reading of manifests without running code.
pub mod plugin {
    pub use passdock_core::boundary::host;
    pub use passdock_loader::*;
}

/// Built-in instruments, and types for writing instruments.
pub mod instruments {
    pub use passdock_core::instrument::built_in::*;
    pub use passdock_core::instrument::{PassFilter, Sink, calls, stderr, stdout};
    pub use passdock_core::{print_ir, printing};
}
