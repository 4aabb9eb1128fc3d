//! Testing passes: with the real host on IR text, and without one.
//!
//! [`check`] is for a plugin's integration tests: it runs the `passdock` program with the plugin
//! that cargo just built. [`mock::scratch`] needs no program: it is a function in memory, for unit
//! tests of code that reads and edits.

mod cli;
mod dump;

pub use cli::{check, check_unchanged, Check};
pub use dump::dump;
