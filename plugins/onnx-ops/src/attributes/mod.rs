//! What attributes mean, and what their values may be: said once for all operators that have one in
//! common.

mod entry;
mod look_up;
mod others;
mod standard;

pub(crate) use look_up::{check, documented, words};
