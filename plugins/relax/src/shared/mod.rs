//! Helpers that several passes use: traversal, queries and edits.

pub(crate) mod accept;
pub(crate) mod attr_params;
pub(crate) mod bodies;
pub(crate) mod call_graph;
pub(crate) mod callee;
pub(crate) mod column;
pub(crate) mod cursor;
pub(crate) mod literal;
pub(crate) mod operators;
pub(crate) mod purity;
pub(crate) mod read;
pub(crate) mod retype;
pub(crate) mod schedule;
pub(crate) mod signature;
pub(crate) mod union_find;
