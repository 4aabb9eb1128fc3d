//! Commands about one model that need no process for plugins.

pub(super) mod blame;
pub(super) mod convert;
pub(super) mod extract;
mod op_lines;
