//! The ABI tables of functions, symbols and analyses.

pub(super) mod analysis;
mod copies;
pub(super) mod describe;
pub(super) mod functions;
pub(super) mod symbols;
