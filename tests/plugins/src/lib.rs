//! Plugins that tests link and load.

pub mod conformance;
pub mod misbehaving;
pub mod outliner;
pub mod tap;
