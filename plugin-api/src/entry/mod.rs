//! What the host calls: the plugin's table and the C functions in it, each through the gate.
#![allow(unsafe_code)]

mod attach;
mod calls;
mod watch;

pub use attach::{attach, Slot};
