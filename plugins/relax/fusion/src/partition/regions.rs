//! Which calls of a region can be one function together.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

/// The groups of calls that are connected and that nothing leaves and comes back to, each in program order.
///
/// Each op is as deep as the number of times that a way to it leaves a target. What is of one target, connected and
/// equally deep is a group: a way that leaves it is deeper from then on, so it never comes back.
pub(super) fn groups(
    f: &Function,
    region: RegionId,
    targets: &HashMap<SymbolId, String>,
) -> Vec<Vec<OpId>> {
    let ops: Vec<OpId> = f.ops_in(region).collect();
    let places: HashMap<OpId, usize> = ops.iter().copied().zip(0..).collect();
    let target_of = |op: OpId| targets.get(&f.symbol(op));
    let (mut depths, mut parents) = (Vec::with_capacity(ops.len()), Vec::new());
    for (at, &op) in ops.iter().enumerate() {
        let own = target_of(op);
        let makers = makers(f, op, region, &places);
        let depth_behind = |&maker: &usize| -> usize {
            let target = target_of(ops[maker]);
            depths[maker] + usize::from(target.is_some() && target != own)
        };
        let depth = makers.iter().map(depth_behind).max().unwrap_or(0);
        parents.push(at);
        for maker in makers.into_iter().filter(|_| own.is_some()) {
            if target_of(ops[maker]) == own && depths[maker] == depth {
                let (root, other) = (root(&mut parents, at), root(&mut parents, maker));
                parents[root] = other;
            }
        }
        depths.push(depth);
    }
    let mut groups: Vec<Vec<OpId>> = Vec::new();
    let mut known: HashMap<usize, usize> = HashMap::new();
    for (at, &op) in ops.iter().enumerate() {
        if target_of(op).is_some() {
            let root = root(&mut parents, at);
            let group = *known.entry(root).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(op);
        }
    }
    groups
}

/// The ops of a region that an op, or what is nested in it, uses results of.
fn makers(f: &Function, op: OpId, region: RegionId, places: &HashMap<OpId, usize>) -> Vec<usize> {
    let nested = f.regions(op).iter().flat_map(|&inner| f.iter_in(inner));
    let users = std::iter::once(op).chain(nested);
    let values = users.flat_map(|user| f.operands(user));
    let makers = values.filter_map(|value| f.defining_op(value));
    let own = makers.filter(|&maker| f.parent_region(maker) == region);
    own.filter_map(|maker| places.get(&maker).copied())
        .collect()
}

fn root(parents: &mut [usize], node: usize) -> usize {
    let mut root = node;
    while parents[root] != root {
        parents[root] = parents[parents[root]];
        root = parents[root];
    }
    root
}
