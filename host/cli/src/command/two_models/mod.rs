//! The commands about two models, whose exit statuses are those of diff(1).

pub(crate) mod compare;
pub(crate) mod diff;
