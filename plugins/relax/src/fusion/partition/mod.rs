//! Passes that partition a model for targets: an accelerator runs the ops that it supports, and the rest of the model
//! stays as it is.
//!
//! Ops for a target are in functions with the attribute `Target`. `AnnotateTarget` or a vendor's pass creates such
//! functions, `MergeRegions` merges them, and `PartitionGraph` converts them to partitions.

pub mod annotate_target;
pub mod merge_regions;
pub mod partition_graph;
mod regions;

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use crate::fusion::group::{Group, Groups};
use crate::fusion::shared::marks::{TARGET, string_attr};
use crate::fusion::shared::restore::{Kernel, constants_by_name};
use crate::shared::call_graph::graph_functions;

/// Returns the functions that are annotated with a target, and the target's name.
fn targets(m: &Module<'_>) -> Result<HashMap<SymbolId, String>, EditError> {
    let mut targets = HashMap::new();
    for name in graph_functions(m) {
        if let Some(target) = string_attr(&m.snapshot(name)?, TARGET) {
            targets.insert(name, target);
        }
    }
    Ok(targets)
}

/// Outlines groups of calls of annotated functions into new functions, and inlines the calls there. Functions without
/// callers are removed.
fn regroup(
    m: &mut Module<'_>,
    taken: &HashMap<SymbolId, String>,
    new_groups: Vec<(SymbolId, Group)>,
) -> PassResult {
    let mut groups = Groups::default();
    let mut kernels = HashMap::new();
    for &name in taken.keys() {
        kernels.insert(name, Kernel::new(m.snapshot(name)?));
    }
    for (holder, group) in new_groups {
        let Some(done) = groups.outline(m, holder, &group)? else {
            continue;
        };
        if done.is_new {
            let f = m.edit(done.function)?;
            let calls: Vec<OpId> = f.ops_in(f.body()).collect();
            for call in calls {
                let Some(kernel) = kernels.get(&f.symbol(call)) else {
                    continue;
                };
                kernel.check(f, call).map_err(PassError::new)?;
                let constants = constants_by_name(f);
                kernel.restore(f, call, &constants)?;
            }
        }
    }
    drop(kernels);
    let calls = m.call_graph()?;
    let mut unused: Vec<SymbolId> = taken.keys().copied().collect();
    unused.retain(|&name| calls.callers(name).next().is_none());
    unused.sort_unstable_by_key(|name| name.0);
    for name in unused {
        m.remove(name)?;
    }
    Ok(())
}

/// Returns the domain part of a function's name.
fn domain_of(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(domain, _)| domain)
}
