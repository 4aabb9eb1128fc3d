//! Reductions: their axes are an operand since version 13 (`ReduceSum`) or 18 (the others).

use passdock_plugin_api::prelude::*;

use super::adapter::{Adapter, Site, Stop};
use super::axes;

pub(super) const ADAPTERS: &[Adapter] = &[
    Adapter {
        operators: &["ReduceSum"],
        version: 13,
        adapt: axes_of_some,
    },
    Adapter {
        operators: &[
            "ReduceL1",
            "ReduceL2",
            "ReduceLogSum",
            "ReduceLogSumExp",
            "ReduceMax",
            "ReduceMean",
            "ReduceMin",
            "ReduceProd",
            "ReduceSumSquare",
        ],
        version: 18,
        adapt: axes_of_some,
    },
];

/// No axes are all of them, before and after: `noop_with_empty_axes` is 0 unless it is set.
fn axes_of_some(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    if site.f.ints(op, "axes").is_some_and(<[i64]>::is_empty) {
        site.f.remove_attr(op, "axes")?;
    }
    axes::to_operand(site, op)
}
