//! What differs between two modules: each kind of difference, and random edits that are listed as
//! they were made.

mod cases;
mod random;
mod scale;
mod spec;
