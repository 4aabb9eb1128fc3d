//! Grouping of calls of a region that can become one function.

use std::cmp::Reverse;
use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use crate::shared::union_find::UnionFind;

/// Returns groups of connected calls such that no path leaves a group and returns to it. Each group is in program
/// order.
///
/// The depth of an op is the maximum number of times that a path to it leaves a target. Calls of one target that are
/// connected and equally deep form a group. A path that leaves a group gets deeper, so it never returns. If all users
/// of a group are deeper, the group may be moved to their depth, to be merged with one of them.
pub(super) fn groups(
    f: &Function,
    region: RegionId,
    targets: &HashMap<SymbolId, String>,
) -> Vec<Vec<OpId>> {
    let ops: Vec<OpId> = f.ops_in(region).collect();
    let order: HashMap<OpId, usize> = ops.iter().copied().zip(0..).collect();
    let mut graph = Depths {
        targets: ops.iter().map(|&op| targets.get(&f.symbol(op))).collect(),
        depths: Vec::with_capacity(ops.len()),
        sets: UnionFind::new(ops.len()),
        users: vec![Vec::new(); ops.len()],
    };
    for (at, &op) in ops.iter().enumerate() {
        graph.add(at, &sources(f, op, region, &order));
    }
    graph.deepen();
    graph.groups(&ops)
}

/// The ops of a region during grouping, by position.
struct Depths<'t> {
    targets: Vec<Option<&'t String>>,
    depths: Vec<usize>,
    sets: UnionFind,
    users: Vec<Vec<usize>>,
}

impl Depths<'_> {
    /// Returns the minimum difference in depth between an op and its user.
    fn step(&self, producer: usize, user: usize) -> usize {
        let target = self.targets[producer];
        usize::from(target.is_some() && target != self.targets[user])
    }

    /// Adds the next op, after the ops that define its operands.
    fn add(&mut self, at: usize, producers: &[usize]) {
        let depths = producers
            .iter()
            .map(|&producer| self.depths[producer] + self.step(producer, at));
        let depth = depths.max().unwrap_or(0);
        self.depths.push(depth);
        for &producer in producers {
            self.users[producer].push(at);
            self.join(producer, at);
        }
    }

    /// Merges the groups of two ops if they have the same target and depth.
    fn join(&mut self, one: usize, other: usize) {
        let target = self.targets[one];
        if target.is_some()
            && target == self.targets[other]
            && self.depths[one] == self.depths[other]
        {
            self.sets.merge(one, other);
        }
    }

    /// Moves groups to the depth of their users where possible, deepest first. Ops without a target always move.
    fn deepen(&mut self) {
        let mut members = vec![Vec::new(); self.depths.len()];
        for at in 0..self.depths.len() {
            members[self.sets.root(at)].push(at);
        }
        let mut roots: Vec<usize> = (0..members.len())
            .filter(|&at| !members[at].is_empty())
            .collect();
        // At equal depth, annotated ops have no users without a target.
        roots.sort_by_key(|&at| {
            let is_free = self.targets[at].is_none();
            (Reverse(self.depths[at]), is_free, Reverse(at))
        });
        for at in roots {
            let mut ways = Vec::new();
            for &producer in &members[at] {
                let users = self.users[producer].iter().copied();
                ways.extend(users.map(|user| (producer, user)));
            }
            ways.retain(|&(_, user)| self.sets.root(user) != at);
            let least = ways
                .iter()
                .map(|&(producer, user)| self.depths[user] - self.step(producer, user));
            let Some(depth) = least.min().filter(|&depth| depth > self.depths[at]) else {
                continue;
            };
            let is_met = |&(_, user): &(usize, usize)| {
                self.targets[user] == self.targets[at] && self.depths[user] == depth
            };
            if self.targets[at].is_none() || ways.iter().any(is_met) {
                for &member in &members[at] {
                    self.depths[member] = depth;
                }
                for (producer, user) in ways {
                    self.join(producer, user);
                }
            }
        }
    }

    /// Returns the groups of annotated calls, each in program order.
    fn groups(mut self, ops: &[OpId]) -> Vec<Vec<OpId>> {
        let mut groups: Vec<Vec<OpId>> = Vec::new();
        let mut known: HashMap<usize, usize> = HashMap::new();
        for (at, &op) in ops.iter().enumerate() {
            if self.targets[at].is_some() {
                let root = self.sets.root(at);
                let group = *known.entry(root).or_insert_with(|| {
                    groups.push(Vec::new());
                    groups.len() - 1
                });
                groups[group].push(op);
            }
        }
        groups
    }
}

/// Returns the ops of a region whose results an op, or an op nested in it, uses.
fn sources(f: &Function, op: OpId, region: RegionId, order: &HashMap<OpId, usize>) -> Vec<usize> {
    let nested = f.regions(op).iter().flat_map(|&inner| f.iter_in(inner));
    let users = std::iter::once(op).chain(nested);
    let values = users.flat_map(|user| f.operands(user));
    let producers = values.filter_map(|value| f.defining_op(value));
    let own = producers.filter(|&producer| f.parent_region(producer) == region);
    own.filter_map(|producer| order.get(&producer).copied())
        .collect()
}
