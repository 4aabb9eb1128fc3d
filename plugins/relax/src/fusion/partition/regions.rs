//! Which calls of a region can be one function together.

use std::cmp::Reverse;
use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use crate::shared::union_find::UnionFind;

/// The groups of calls that are connected and that nothing leaves and comes back to, each in program order.
///
/// Each op is as deep as the number of times that a way to it leaves a target. What is of one target, connected and
/// equally deep is a group: a way that leaves it is deeper from then on, so it never comes back. A group that only goes
/// to what is deeper becomes as deep as that, if it is one group with it then.
pub(super) fn groups(
    f: &Function,
    region: RegionId,
    targets: &HashMap<SymbolId, String>,
) -> Vec<Vec<OpId>> {
    let ops: Vec<OpId> = f.ops_in(region).collect();
    let places: HashMap<OpId, usize> = ops.iter().copied().zip(0..).collect();
    let mut graph = Depths {
        targets: ops.iter().map(|&op| targets.get(&f.symbol(op))).collect(),
        depths: Vec::with_capacity(ops.len()),
        sets: UnionFind::new(ops.len()),
        users: vec![Vec::new(); ops.len()],
    };
    for (at, &op) in ops.iter().enumerate() {
        graph.add(at, &makers(f, op, region, &places));
    }
    graph.deepen();
    graph.groups(&ops)
}

/// Ops on the way to groups, by their places.
struct Depths<'t> {
    targets: Vec<Option<&'t String>>,
    depths: Vec<usize>,
    sets: UnionFind,
    users: Vec<Vec<usize>>,
}

impl Depths<'_> {
    /// How much deeper a user of an op is at least.
    fn step(&self, maker: usize, user: usize) -> usize {
        let target = self.targets[maker];
        usize::from(target.is_some() && target != self.targets[user])
    }

    /// Adds the next op, behind what makes its operands.
    fn add(&mut self, at: usize, makers: &[usize]) {
        let depths = makers
            .iter()
            .map(|&maker| self.depths[maker] + self.step(maker, at));
        let depth = depths.max().unwrap_or(0);
        self.depths.push(depth);
        for &maker in makers {
            self.users[maker].push(at);
            self.join(maker, at);
        }
    }

    /// Makes one group of those of two ops, if they are of one target and equally deep.
    fn join(&mut self, one: usize, other: usize) {
        let target = self.targets[one];
        if target.is_some()
            && target == self.targets[other]
            && self.depths[one] == self.depths[other]
        {
            self.sets.merge(one, other);
        }
    }

    /// Lets groups be as deep as what they go to, deepest first; what no target takes goes with it.
    fn deepen(&mut self) {
        let mut members = vec![Vec::new(); self.depths.len()];
        for at in 0..self.depths.len() {
            members[self.sets.root(at)].push(at);
        }
        let mut roots: Vec<usize> = (0..members.len())
            .filter(|&at| !members[at].is_empty())
            .collect();
        // Of the equally deep, nothing goes from what a target takes to what none does.
        roots.sort_by_key(|&at| {
            let is_free = self.targets[at].is_none();
            (Reverse(self.depths[at]), is_free, Reverse(at))
        });
        for at in roots {
            let mut ways = Vec::new();
            for &maker in &members[at] {
                let users = self.users[maker].iter().copied();
                ways.extend(users.map(|user| (maker, user)));
            }
            ways.retain(|&(_, user)| self.sets.root(user) != at);
            let least = ways
                .iter()
                .map(|&(maker, user)| self.depths[user] - self.step(maker, user));
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
                for (maker, user) in ways {
                    self.join(maker, user);
                }
            }
        }
    }

    /// What targets take, by group, in program order.
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
