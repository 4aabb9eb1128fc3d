//! Testing passes, with the real host on IR text: [`check`] runs the `passdock` program with the
//! plugin that cargo just built.

mod cli;
mod compare;

pub use cli::{check, check_unchanged, Check};
