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
//! Reading order: [`PassInfo`] and [`Pass`]; [`Registry`] and [`plugin`]; [`PassContext`] and
//! [`config`]; [`Sequential`], then `resolve.rs` (the order) and `run.rs` (the run loop, on one
//! screen); [`PassInstrument`] and [`instruments`]; [`diagnostic`] and [`PassError`];
//! [`pipeline`], which is what the command runs; [`analyses`]; [`model_file`], [`stats`](mod@stats) and
//! [`diff`](mod@diff); [`terminal`]; last [`boundary`], where the
//! plugin contract meets the IR. When something fails: [`reproducer`], [`replay`], [`bisect`](mod@bisect) and
//! [`reduce`](mod@reduce).
//!
//! **Invariant:** a pass that fails changes nothing, and nothing depends on how many threads run.
//! `unsafe` is in [`boundary`], in the loading of libraries and in calls to ONNX Runtime only.

pub use passdock_core::*;
pub use passdock_driver::{judge, model_file, pipeline, replay, reproducer, testing};
