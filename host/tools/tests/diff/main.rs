//! What differs between two modules: random edits are listed as they were made, and large modules are
//! no trouble. Each kind of difference, as people see it, is in the command's tests.

mod random;
mod scale;
mod spec;
