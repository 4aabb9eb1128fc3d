//! Plugins that tests and benchmarks link and load.

pub mod bench;
pub mod conformance;
pub mod misbehaving;
pub mod outliner;
pub mod tap;
pub mod wrong_ops;
