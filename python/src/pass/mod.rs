//! Passes and their environment in Python: contexts, instruments, diagnostics, rules.

pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod diagnostic;
pub(crate) mod handle;
pub(crate) mod holds;
pub(crate) mod info;
pub(crate) mod instrument;
pub(crate) mod rules;
