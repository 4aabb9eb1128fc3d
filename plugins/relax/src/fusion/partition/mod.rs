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

/// The functions that targets take, and whose they are.
fn targets(m: &Module<'_>) -> Result<HashMap<SymbolId, String>, EditError> {
    let mut targets = HashMap::new();
    for entry in m.functions().filter(|f| f.kind == FunctionKind::GRAPH) {
        if let Some(target) = text_of(&m.snapshot(entry.name)?, TARGET) {
            targets.insert(entry.name, target);
        }
    }
    Ok(targets)
}

/// Makes functions of groups of calls of such functions, in whose bodies the functions' ops stand; answers them.
/// Functions that nobody calls any more are removed.
fn regroup(
    m: &mut Module<'_>,
    taken: &HashMap<SymbolId, String>,
    wanted: Vec<Wanted>,
) -> Result<Vec<SymbolId>, PassError> {
    let mut makers: HashMap<String, Groups> = HashMap::new();
    let mut kernels = HashMap::new();
    for &name in taken.keys() {
        kernels.insert(name, Kernel::new(m.snapshot(name)?));
    }
    let mut made = Vec::new();
    for one in wanted {
        if !makers.contains_key(&one.domain) {
            makers.insert(one.domain.clone(), Groups::new(m, &one.domain)?);
        }
        let Some(groups) = makers.get_mut(&one.domain) else {
            continue;
        };
        let group = Group {
            ops: &one.calls,
            name: &one.name,
            attrs: &one.attrs,
            places: None,
            most_inside: one.most_inside,
        };
        let Some(done) = groups.make(m, one.holder, group)? else {
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
            made.push(done.function);
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
    Ok(made)
}

/// A function to make of calls.
struct Wanted {
    holder: SymbolId,
    calls: Vec<OpId>,
    domain: String,
    name: String,
    attrs: Vec<(&'static str, AttrValue)>,
    most_inside: u64,
}

/// The domain of a function's name.
fn domain_of(name: &str) -> String {
    let end = name.rfind('.').unwrap_or(0);
    name[..end].to_owned()
}
