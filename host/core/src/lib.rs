//! The pass host: registry, context, pipelines, instruments, plugins.

pub mod boundary;
pub mod diagnostic;
pub mod plugin;
