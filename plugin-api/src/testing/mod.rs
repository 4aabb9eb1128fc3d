//! Testing passes, with the real host on IR text: [`check`] runs the `passdock` program with the
//! plugin that cargo just built.

mod cli;
mod compare;
mod dump;

pub use cli::{check, check_unchanged, Check};
pub use dump::dump;
