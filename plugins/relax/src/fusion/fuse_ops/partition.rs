//! Partitioning of a graph into fusion groups.

use std::collections::HashSet;

use passdock_plugin_api::prelude::*;

use super::graph::Graph;
use super::kind::Kind;
use crate::fusion::group::MAX_INSIDE;
use crate::shared::union_find::UnionFind;

/// Size limits of groups.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The maximum number of ops.
    pub(super) ops: usize,
    /// The maximum number of parameters and results together; 0 means unlimited.
    pub(super) args: usize,
}

/// Returns the groups of at least two ops, each in program order.
pub(super) fn partition(f: &Function, graph: &Graph, limits: Limits) -> Vec<Vec<usize>> {
    let mut partition = Partition::new(f, graph, limits);
    // First ops that follow out-fusable ops, then injective ops.
    for is_late in [false, true] {
        for node in 0..graph.nodes.len() {
            partition.fuse(node, is_late);
        }
    }
    partition.groups()
}

/// The groups during partitioning.
struct Partition<'g> {
    f: &'g Function,
    graph: &'g Graph,
    limits: Limits,
    sets: UnionFind,
    /// Per root (also former roots), the kind of the group.
    kinds: Vec<Kind>,
    /// Per root, whether the group has an out-fusable op.
    anchored: Vec<bool>,
    /// Per root, the number of ops. Per node, the next node of the group in a circular list.
    sizes: Vec<usize>,
    next: Vec<usize>,
    /// The nodes, and the roots of groups, that the current search has visited.
    seen: Marks,
    met: Marks,
}

/// A set of nodes that is cleared in constant time.
struct Marks {
    turns: Vec<usize>,
    turn: usize,
}

impl Marks {
    fn new(nodes: usize) -> Marks {
        Marks {
            turns: vec![0; nodes],
            turn: 0,
        }
    }

    fn clear(&mut self) {
        self.turn += 1;
    }

    /// Adds a node. Returns whether it is new.
    fn insert(&mut self, node: usize) -> bool {
        std::mem::replace(&mut self.turns[node], self.turn) != self.turn
    }
}

impl<'g> Partition<'g> {
    fn new(f: &'g Function, graph: &'g Graph, limits: Limits) -> Partition<'g> {
        let kinds: Vec<Kind> = graph.nodes.iter().map(|node| node.kind).collect();
        Partition {
            f,
            graph,
            limits,
            sets: UnionFind::new(kinds.len()),
            anchored: kinds.iter().map(|kind| *kind == Kind::OutFusable).collect(),
            sizes: vec![1; kinds.len()],
            next: (0..kinds.len()).collect(),
            seen: Marks::new(kinds.len()),
            met: Marks::new(kinds.len()),
            kinds,
        }
    }

    /// Fuses a node with its post-dominator if the kinds and limits permit.
    fn fuse(&mut self, node: usize, is_late: bool) {
        let Some((sink, way)) = self.graph.nodes[node].post_dominator else {
            return;
        };
        if self.sets.root(node) == self.sets.root(sink) {
            return;
        }
        let is_allowed: fn(Kind, bool) -> bool = match self.kinds[node] {
            Kind::OutFusable if !is_late && way == Kind::Elementwise => {
                |kind, _| kind <= Kind::Broadcast
            }
            Kind::Elementwise | Kind::Broadcast if way <= Kind::Reduction => |kind, is_sink| {
                kind <= Kind::Injective
                    || (is_sink && matches!(kind, Kind::Reduction | Kind::OutFusable))
            },
            Kind::Injective if is_late => |kind, _| kind <= Kind::Injective,
            _ => return,
        };
        let Some(nodes) = self.between(node, sink, is_allowed) else {
            return;
        };
        if self.limits.args > 0 && self.args_of(&nodes, sink) > self.limits.args {
            return;
        }
        for node in nodes {
            self.merge(node, sink);
        }
    }

    /// Returns a node and the nodes on the paths to its post-dominator, if the kinds of their groups are allowed and
    /// the merged group isn't too large.
    fn between(
        &mut self,
        node: usize,
        sink: usize,
        is_allowed: fn(Kind, bool) -> bool,
    ) -> Option<Vec<usize>> {
        let root = self.sets.root(sink);
        self.met.clear();
        self.met.insert(root);
        let mut size = self.sizes[root];
        if !is_allowed(self.kinds[root], true) {
            return None;
        }
        self.seen.clear();
        self.seen.insert(node);
        let (mut found, mut pending) = (vec![node], vec![node]);
        while let Some(next) = pending.pop() {
            let root = self.sets.root(next);
            if self.met.insert(root) {
                size += self.sizes[root];
            }
            if size > self.limits.ops || (next != node && !is_allowed(self.kinds[root], false)) {
                return None;
            }
            for edge in self.graph.uses(next) {
                if edge.to != sink && self.seen.insert(edge.to) {
                    found.push(edge.to);
                    pending.push(edge.to);
                }
            }
        }
        Some(found)
    }

    /// Merges the group of `node` into that of `sink`.
    fn merge(&mut self, node: usize, sink: usize) {
        let (child, parent) = (self.sets.root(node), self.sets.root(sink));
        if child == parent {
            return;
        }
        self.sets.merge_into(child, parent);
        self.sizes[parent] += self.sizes[child];
        // Joins the two circular lists.
        self.next.swap(child, parent);
        if self.anchored[child] {
            self.anchored[parent] = true;
            self.kinds[parent] = self.kinds[parent].max(self.kinds[child]);
        }
    }

    /// Returns the number of parameters and results of the group that these nodes and the sink would form.
    fn args_of(&mut self, nodes: &[usize], sink: usize) -> usize {
        let mut roots: HashSet<usize> = HashSet::from([self.sets.root(sink)]);
        roots.extend(nodes.iter().map(|&node| self.sets.root(node)));
        let members = roots.iter().flat_map(|&root| self.members(root));
        let ops: HashSet<OpId> = members.map(|at| self.graph.nodes[at].op).collect();
        let f = self.f;
        let (mut args, mut results) = (HashSet::new(), 0);
        for &op in &ops {
            for value in f.operands(op).filter(|value| value.is_some()) {
                let is_inside = f.defining_op(value).is_some_and(|op| ops.contains(&op));
                let is_small = f.constant(value).is_some()
                    && f.type_of(value).element_count() <= Some(MAX_INSIDE);
                if !is_inside && !is_small {
                    args.insert(value);
                }
            }
            let results_of = f.results(op).iter();
            results += results_of
                .filter(|&&value| f.iter_uses(value).any(|one| !ops.contains(&one.op)))
                .count();
        }
        args.len() + results
    }

    /// Returns the nodes of a node's group, starting with that node.
    fn members(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let next = move |&at: &usize| Some(self.next[at]).filter(|&next| next != node);
        std::iter::successors(Some(node), next)
    }

    fn groups(mut self) -> Vec<Vec<usize>> {
        let is_root = |&node: &usize| self.sets.root(node) == node && self.sizes[node] > 1;
        let roots: Vec<usize> = (0..self.sizes.len()).filter(is_root).collect();
        let roots = roots.into_iter();
        let mut groups: Vec<Vec<usize>> = roots.map(|root| self.members(root).collect()).collect();
        groups
            .iter_mut()
            .for_each(|members| members.sort_unstable());
        groups.sort_unstable_by_key(|members| members[members.len() - 1]);
        groups
    }
}
