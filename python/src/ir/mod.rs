//! The IR in Python: objects for modules, functions, ops and values, and the edits of a function.

pub(crate) mod attr;
pub(crate) mod call;
pub(crate) mod constant;
pub(crate) mod definition;
pub(crate) mod edit;
pub(crate) mod failure;
pub(crate) mod function;
pub(crate) mod module;
pub(crate) mod new_op;
pub(crate) mod op;
pub(crate) mod part;
pub(crate) mod region;
pub(crate) mod types;
pub(crate) mod value;
