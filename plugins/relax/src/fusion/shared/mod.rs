//! Modules that several fusion passes use.

pub(crate) mod domains;
pub(crate) mod marks;
pub(crate) mod placeholders;
pub(crate) mod restore;
