//! The commands for authors of plugins.

pub(super) mod check;
pub(super) mod new;
