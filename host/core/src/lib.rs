//! The pass host: registry, context, pipelines, instruments, plugins.
