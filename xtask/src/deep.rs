//! `cargo xtask deep …`: what takes longer than anyone waits for.

mod fuzz;
mod mutants;

pub(crate) use fuzz::fuzz;
pub(crate) use mutants::mutants;
