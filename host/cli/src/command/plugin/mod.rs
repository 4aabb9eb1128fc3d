//! Commands for plugin authors.

pub(super) mod check;
pub(super) mod install;
pub(super) mod new;
