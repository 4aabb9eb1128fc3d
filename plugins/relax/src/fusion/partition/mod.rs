//! Passes that divide a model among targets: an accelerator takes what it can, the rest stays.
//!
//! What a target takes is a function with the attribute `Target`; whoever makes such functions, `AnnotateTarget` or a
//! vendor's own pass, `MergeRegions` puts them together, and `PartitionGraph` makes partitions of them.

pub mod annotate_target;
pub mod merge_regions;
pub mod partition_graph;
mod regions;

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use crate::fusion::group::{Group, Groups};
use crate::fusion::shared::marks::{TARGET, text_of};
use crate::fusion::shared::restore::{Kernel, constants_by_name};
use crate::shared::call_graph::graph_functions;

/// The functions that targets take, and whose they are.
fn targets(m: &Module<'_>) -> Result<HashMap<SymbolId, String>, EditError> {
    let mut targets = HashMap::new();
    for name in graph_functions(m) {
        if let Some(target) = text_of(&m.snapshot(name)?, TARGET) {
            targets.insert(name, target);
        }
    }
    Ok(targets)
}

/// Makes functions of groups of calls of such functions, in whose bodies the functions' ops stand.
/// Functions that nobody calls any more are removed.
fn regroup(
    m: &mut Module<'_>,
    taken: &HashMap<SymbolId, String>,
    wanted: Vec<(SymbolId, Group)>,
) -> PassResult {
    let mut groups = Groups::default();
    let mut kernels = HashMap::new();
    for &name in taken.keys() {
        kernels.insert(name, Kernel::new(m.snapshot(name)?));
    }
    for (holder, group) in wanted {
        let Some(done) = groups.make(m, holder, &group)? else {
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

/// The domain of a function's name.
fn domain_of(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(domain, _)| domain)
}
