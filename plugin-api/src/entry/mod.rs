//! The plugin's table, and its C functions. Each call passes through the gate.

mod attach;
mod calls;
mod table;
mod watch;

pub use attach::{attach, Slot};
