//! Testing passes with the real host: [`check`] runs the `passdock` program on IR text, with the plugin that cargo just
//! built.

mod cli;
mod compare;

pub use cli::{check, check_unchanged, Check};
