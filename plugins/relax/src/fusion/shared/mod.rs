//! What several passes do.

pub(crate) mod domains;
pub(crate) mod marks;
pub(crate) mod placeholders;
pub(crate) mod restore;
