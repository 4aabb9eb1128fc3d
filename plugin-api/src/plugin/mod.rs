//! Plugins: the macros that declare them, and their manifest.

mod manifest;
mod sequential;
mod spec;

pub use manifest::{copy, render};
pub use sequential::{ChildSpec, SequentialSpec};
pub use spec::{
    or_empty, ConfigSpec, FunctionPass, ModulePass, PassFunction, PassSpec, PluginSpec,
    StaticPlugin,
};
