//! What a function costs: the type that one plugin publishes, and another reads.

use abi_stable::{std_types::RVec, StableAbi};
use passdock_plugin_share::SharedAnalysis;

/// What the ops of a function cost.
#[repr(C)]
#[derive(StableAbi)]
pub struct Cost {
    /// Elements that an op computes, by op id; 0 where no type says how many.
    pub elements: RVec<u64>,
    /// How many ops have results whose number of elements isn't known.
    pub unknown: u32,
}

impl SharedAnalysis for Cost {
    const KEY: &'static str = "acme.Cost/1";
}
