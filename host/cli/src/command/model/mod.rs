//! Commands about one model.

pub(super) mod blame;
pub(super) mod convert;
pub(super) mod extract;
mod op_lines;
