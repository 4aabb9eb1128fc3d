//! The dataflow graph of a region, with the post-dominator of each op.

use std::ops::Range;

use passdock_plugin_api::prelude::*;

use super::kind::Kind;
use crate::fusion::shared::placeholders::Placeholders;
use crate::shared::column::Column;
use crate::shared::read::{ancestor_in, ops_of};

/// The dataflow graph of a region. There is one node per op, in program order.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    edges: Vec<Edge>,
}

/// A node of the graph.
pub(super) struct Node {
    pub(super) op: OpId,
    pub(super) kind: Kind,
    /// The immediate post-dominator, if it is within the search limit, and the highest kind of the uses on the paths to
    /// it.
    pub(super) post_dominator: Option<(usize, Kind)>,
    edges: Range<usize>,
    /// The depth in the post-dominator tree.
    depth: u32,
}

/// A use of a node's result.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub(super) to: usize,
    kind: Kind,
}

/// The position of each op in its region.
pub(super) type Positions = Column<Option<u32>>;

impl Graph {
    /// Builds the graph of a region. The search for a post-dominator stops after `most` steps, as no group has more
    /// ops.
    pub(super) fn new(
        f: &Function,
        region: RegionId,
        placeholders: &Placeholders<'_>,
        positions: &mut Positions,
        most: usize,
    ) -> Graph {
        let ops = ops_of(f, region);
        for (&op, position) in ops.iter().zip(0..) {
            positions.set(op.index(), Some(position));
        }
        let kinds = ops.iter().map(|&op| Kind::from_op(f, op, placeholders));
        let kinds: Vec<Kind> = kinds.collect();
        let mut graph = Graph {
            nodes: Vec::with_capacity(ops.len()),
            edges: Vec::with_capacity(ops.len()),
        };
        let mut leaves = Vec::with_capacity(ops.len());
        for (&op, &kind) in ops.iter().zip(&kinds) {
            let first = graph.edges.len();
            let mut is_yielded = false;
            for &value in f.results(op) {
                for one in f.iter_uses(value) {
                    let position = positions.get(ancestor_in(f, one.op, region).index());
                    match position.map(|position| position as usize) {
                        Some(to) if ops[to] == one.op => {
                            let kind = Kind::for_use(f, value, one.op, kinds[to]);
                            graph.edges.push(Edge { to, kind });
                        }
                        // The use is in a region of that op.
                        Some(to) => graph.edges.push(Edge {
                            to,
                            kind: Kind::Opaque,
                        }),
                        None => is_yielded = true,
                    }
                }
            }
            leaves.push(is_yielded);
            graph.nodes.push(Node {
                op,
                kind,
                post_dominator: None,
                edges: first..graph.edges.len(),
                depth: 1,
            });
        }
        for at in (0..graph.nodes.len()).rev() {
            if !leaves[at] {
                graph.nodes[at].post_dominator = graph.meeting(at, most);
                graph.nodes[at].depth = match graph.nodes[at].post_dominator {
                    Some((at, _)) => graph.nodes[at].depth + 1,
                    None => 1,
                };
            }
        }
        graph
    }

    /// Returns the uses of a node's results.
    pub(super) fn uses(&self, node: usize) -> &[Edge] {
        &self.edges[self.nodes[node].edges.clone()]
    }

    /// Returns the immediate post-dominator of a node, and the highest kind on the paths to it.
    fn meeting(&self, node: usize, most: usize) -> Option<(usize, Kind)> {
        let (first, rest) = self.uses(node).split_first()?;
        let (mut met, mut kind) = (first.to, first.kind);
        for edge in rest {
            kind = kind.max(edge.kind);
            (met, kind) = self.common(met, edge.to, kind, most)?;
        }
        Some((met, kind))
    }

    /// Returns the nearest common post-dominator of two nodes.
    fn common(
        &self,
        mut one: usize,
        mut other: usize,
        mut kind: Kind,
        most: usize,
    ) -> Option<(usize, Kind)> {
        // Each step adds an op to the group.
        let mut left = most;
        while one != other {
            left = left.checked_sub(1)?;
            let (a, b) = (self.nodes[one].depth, self.nodes[other].depth);
            let mut step = |node: &mut usize| -> Option<()> {
                let (next, passed) = self.nodes[*node].post_dominator?;
                kind = kind.max(passed);
                *node = next;
                Some(())
            };
            if a >= b {
                step(&mut one)?;
            }
            if b >= a {
                step(&mut other)?;
            }
        }
        Some((one, kind))
    }
}
