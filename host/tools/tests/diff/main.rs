//! Differences of two modules: random edits are reported exactly, and large modules take linear time. The command's
//! tests show each kind of difference as it is printed.

mod random;
mod scale;
mod spec;
