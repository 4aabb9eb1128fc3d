//! Sessions: the objects behind the handles that plugins hold while the host calls them, and the
//! gate that their calls pass through.

pub(super) mod context;
pub(super) mod ending;
pub(super) mod fixed;
pub(super) mod frame;
pub(super) mod function;
pub(super) mod gate;
pub(super) mod input;
pub(super) mod laid_out;
pub(super) mod module;
mod outline;
pub(super) mod rewrites;
