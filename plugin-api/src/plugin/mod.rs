//! Plugins: how they are declared, and their manifest.

mod manifest;
mod spec;

pub use manifest::{check, copy, render};
pub use spec::{ConfigSpec, FunctionPass, ModulePass, PassRun, PassSpec, PluginSpec, StaticPlugin};
