//! The pass host: registry, context, pipelines, instruments, plugins.

pub mod plugin;
