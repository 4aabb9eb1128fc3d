//! Minimum cuts of a graph, by Dinic's algorithm.

use std::collections::VecDeque;

/// The side of nodes that are always in the low-precision type.
pub(super) const SOURCE: u32 = 0;
/// The side of nodes that never are.
pub(super) const SINK: u32 = 1;

/// Infinite capacity: more than the cost of any cut.
const ENDLESS: u32 = u32::MAX / 4;

/// The maximum number of rounds. Each takes time linear in the graph, and increases the length of the shortest
/// augmenting path.
const MAX_ROUNDS: usize = 200;

#[derive(Clone, Copy)]
struct Edge {
    to: u32,
    left: u32,
}

/// A flow network.
pub(super) struct Graph {
    /// Each edge, followed by its reverse edge.
    edges: Vec<Edge>,
    out: Vec<Vec<u32>>,
}

impl Graph {
    /// Creates a graph of `nodes` nodes without edges, including the source and the sink.
    pub(super) fn new(nodes: usize) -> Graph {
        Graph {
            edges: Vec::new(),
            out: vec![Vec::new(); nodes],
        }
    }

    pub(super) fn node(&mut self) -> u32 {
        self.out.push(Vec::new());
        self.out.len() as u32 - 1
    }

    /// Adds a cost of 1 if `from` is on the source's side and `to` isn't.
    pub(super) fn costs(&mut self, from: u32, to: u32) {
        self.edge(from, to, 1);
    }

    /// Requires that `to` is on the source's side if `from` is.
    pub(super) fn implies(&mut self, from: u32, to: u32) {
        self.edge(from, to, ENDLESS);
    }

    fn edge(&mut self, from: u32, to: u32, capacity: u32) {
        if from == to || from == SINK || to == SOURCE {
            return;
        }
        for (from, to, left) in [(from, to, capacity), (to, from, 0)] {
            self.out[from as usize].push(self.edges.len() as u32);
            self.edges.push(Edge { to, left });
        }
    }

    /// Returns the cost of a minimum cut, and whether each node is on the source's side, which is as small as possible.
    ///
    /// `None` if the limit of rounds is exceeded, or if every cut violates an implication.
    pub(super) fn cut(mut self) -> Option<(u32, Vec<bool>)> {
        let mut cost = 0_u32;
        for _ in 0..MAX_ROUNDS {
            let depth = self.depths();
            if depth[SINK as usize] == u32::MAX {
                let is_source = depth.iter().map(|depth| *depth != u32::MAX).collect();
                return Some((cost, is_source));
            }
            cost = cost.checked_add(self.block(&depth)?)?;
        }
        None
    }

    /// Returns the distance of each node from the source.
    fn depths(&self) -> Vec<u32> {
        let mut depth = vec![u32::MAX; self.out.len()];
        depth[SOURCE as usize] = 0;
        let mut queue = VecDeque::from([SOURCE]);
        while let Some(node) = queue.pop_front() {
            for &edge in &self.out[node as usize] {
                let Edge { to, left } = self.edges[edge as usize];
                if left > 0 && depth[to as usize] == u32::MAX {
                    depth[to as usize] = depth[node as usize] + 1;
                    queue.push_back(to);
                }
            }
        }
        depth
    }

    /// Sends a blocking flow along shortest paths, and returns its amount.
    fn block(&mut self, depth: &[u32]) -> Option<u32> {
        let mut next = vec![0_usize; self.out.len()];
        let mut sent = 0_u32;
        // The edges of the current path from the source.
        let mut way: Vec<u32> = Vec::new();
        loop {
            let at = way
                .last()
                .map_or(SOURCE, |edge| self.edges[*edge as usize].to);
            if at == SINK {
                let least = way.iter().map(|edge| self.edges[*edge as usize].left);
                let least = least.min()?;
                if least >= ENDLESS / 2 {
                    return None;
                }
                sent = sent.checked_add(least)?;
                let mut full = way.len();
                for (position, &edge) in way.iter().enumerate().rev() {
                    self.edges[edge as usize].left -= least;
                    self.edges[edge as usize ^ 1].left += least;
                    if self.edges[edge as usize].left == 0 {
                        full = position;
                    }
                }
                // Continues from the first saturated edge.
                way.truncate(full);
                continue;
            }
            let edges = &self.out[at as usize];
            let open = (next[at as usize]..edges.len()).find(|&index| {
                let Edge { to, left } = self.edges[edges[index] as usize];
                left > 0 && depth[to as usize] == depth[at as usize].saturating_add(1)
            });
            match open {
                Some(index) => {
                    next[at as usize] = index;
                    way.push(edges[index]);
                }
                None => {
                    next[at as usize] = edges.len();
                    if way.pop().is_none() {
                        return Some(sent);
                    }
                    // The edge is a dead end.
                    let before = way
                        .last()
                        .map_or(SOURCE, |edge| self.edges[*edge as usize].to);
                    next[before as usize] += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Graph, SINK, SOURCE};

    #[test]
    fn cut_is_minimal() {
        // Random graphs with four inner nodes, compared with all possible cuts.
        let mut seed = 1_u64;
        for _ in 0..2000 {
            let mut graph = Graph::new(6);
            let (mut costs, mut implied) = (Vec::new(), Vec::new());
            for from in 0..6_u32 {
                for to in 0..6_u32 {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    match seed >> 60 {
                        0..=4 => {
                            graph.costs(from, to);
                            costs.push((from, to));
                        }
                        5 if (from, to) != (SOURCE, SINK) => {
                            graph.implies(from, to);
                            implied.push((from, to));
                        }
                        _ => {}
                    }
                }
            }
            let cost = |sides: u32| {
                let is_source =
                    |node: u32| node == SOURCE || node != SINK && sides >> node & 1 == 1;
                let is_cut = |&&(from, to): &&(u32, u32)| is_source(from) && !is_source(to);
                let breaks = implied.iter().filter(is_cut).count();
                (breaks == 0).then(|| costs.iter().filter(is_cut).count())
            };
            let cheapest = (0..64).filter_map(cost).min();
            let found = graph.cut();
            let found = found.map(|(sum, sides)| {
                let bits = (0..6).filter(|node| sides[*node]).map(|node| 1 << node);
                assert_eq!(cost(bits.sum()), Some(sum as usize));
                sum as usize
            });
            assert_eq!(found, cheapest);
        }
    }
}
