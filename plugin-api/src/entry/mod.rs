//! What the host calls: the plugin's table and the C functions in it, each through the gate.

mod attach;
mod bound;
mod table;
mod watch;

pub use attach::{attach, Slot};
