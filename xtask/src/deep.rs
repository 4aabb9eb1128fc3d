//! `cargo xtask deep …`: what takes longer than anyone waits for.

mod flips;
mod fusion;
mod fuzz;
mod layouts;
mod miri;
mod mutants;
mod rules;
mod wheel;

pub(crate) use flips::flips;
pub(crate) use fusion::fusion;
pub(crate) use fuzz::fuzz;
pub(crate) use layouts::layouts;
pub(crate) use miri::miri;
pub(crate) use mutants::mutants;
pub(crate) use rules::rules;
pub(crate) use wheel::wheel;
