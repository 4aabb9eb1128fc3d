//! The contract's tables of functions and symbols, and of analyses.

pub(super) mod analysis;
mod copies;
pub(super) mod describe;
pub(super) mod functions;
pub(super) mod symbols;
