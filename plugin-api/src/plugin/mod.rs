//! Plugins: how they are declared, and their manifest.

mod check;
mod manifest;
mod names;
mod sequential;
mod spec;

pub use check::check;
pub use manifest::{copy, render};
pub use sequential::{ChildSpec, SequentialSpec};
pub use spec::{
    ConfigSpec, FunctionPass, ModulePass, PassFunction, PassSpec, PluginSpec, StaticPlugin,
};
