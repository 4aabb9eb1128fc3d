//! The cost of a function: the type that one plugin publishes and another reads.

use abi_stable::{std_types::RVec, StableAbi};
use passdock_plugin_share::SharedAnalysis;

/// The cost of the ops in a function.
#[repr(C)]
#[derive(StableAbi)]
pub struct Cost {
    /// The number of elements that each op computes, by op id; 0 if it is unknown.
    pub elements: RVec<u64>,
    /// The number of ops whose number of elements is unknown.
    pub unknown: u32,
}

impl SharedAnalysis for Cost {
    const KEY: &'static str = "acme.Cost/1";
}
