//! Graphs of named nodes: circles and layers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::Arrow;

/// Nodes, and for each pair that is connected the arrows from one to the other.
pub(crate) struct Graph<'s> {
    nodes: BTreeSet<&'s str>,
    edges: BTreeMap<(&'s str, &'s str), Vec<&'s Arrow>>,
}

impl<'s> Graph<'s> {
    pub(super) fn new(nodes: impl IntoIterator<Item = &'s str>) -> Self {
        Graph {
            nodes: nodes.into_iter().collect(),
            edges: BTreeMap::new(),
        }
    }

    /// Adds an arrow, unless it stays where it is.
    pub(super) fn add(&mut self, from: &'s str, to: &'s str, arrow: &'s Arrow) {
        if from != to {
            self.edges.entry((from, to)).or_default().push(arrow);
        }
    }

    /// Pairs of nodes, and the arrows from the first to the second.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (&'s str, &'s str, &[&'s Arrow])> {
        self.edges
            .iter()
            .map(|((from, to), arrows)| (*from, *to, arrows.as_slice()))
    }

    /// The arrows from one node to another.
    pub(crate) fn arrows(&self, from: &str, to: &str) -> &[&'s Arrow] {
        let mut edges = self.edges.iter();
        let found = edges.find(|((a, b), _)| (*a, *b) == (from, to));
        found.map_or(&[], |(_, arrows)| arrows)
    }

    fn next(&self, node: &'s str) -> impl Iterator<Item = &'s str> {
        self.edges
            .keys()
            .filter(move |(from, _)| *from == node)
            .map(|(_, to)| *to)
    }

    /// All nodes that arrows lead to from one, itself only around a circle.
    pub(super) fn reached(&self, start: &'s str) -> BTreeSet<&'s str> {
        let mut reached = BTreeSet::new();
        let mut left = vec![start];
        while let Some(node) = left.pop() {
            left.extend(self.next(node).filter(|next| reached.insert(*next)));
        }
        reached
    }

    /// Sets of nodes each of which leads to all others of its set, itself included.
    pub(crate) fn circles(&self) -> Vec<BTreeSet<&'s str>> {
        let reached: BTreeMap<&str, BTreeSet<&str>> = self
            .nodes
            .iter()
            .map(|node| (*node, self.reached(node)))
            .collect();
        let mut circles = Vec::new();
        let mut done = BTreeSet::new();
        for (node, ahead) in &reached {
            if ahead.contains(node) && !done.contains(node) {
                let circle: BTreeSet<&str> = ahead
                    .iter()
                    .filter(|other| reached[**other].contains(node))
                    .copied()
                    .collect();
                done.extend(circle.iter().copied());
                circles.push(circle);
            }
        }
        circles
    }

    /// The shortest way through nodes of a circle back to where it began, without the return.
    pub(crate) fn shortest(&self, circle: &BTreeSet<&'s str>) -> Vec<&'s str> {
        circle
            .iter()
            .filter_map(|start| self.way_back(start))
            .min_by_key(Vec::len)
            .unwrap_or_default()
    }

    fn way_back(&self, start: &'s str) -> Option<Vec<&'s str>> {
        let mut came_from = BTreeMap::new();
        let mut left = VecDeque::from([start]);
        while let Some(node) = left.pop_front() {
            for next in self.next(node) {
                if next == start {
                    let mut way = vec![node];
                    while let Some(before) = came_from.get(way[way.len() - 1]) {
                        way.push(*before);
                    }
                    way.reverse();
                    return Some(way);
                }
                if !came_from.contains_key(next) {
                    came_from.insert(next, node);
                    left.push_back(next);
                }
            }
        }
        None
    }

    /// Layers from the bottom: a node's arrows lead to lower layers, or around its circle.
    pub(crate) fn layers(&self) -> Vec<Vec<&'s str>> {
        let circles = self.circles();
        let together = |node: &'s str| {
            let circle = circles.iter().find(|circle| circle.contains(node));
            circle.cloned().unwrap_or_else(|| BTreeSet::from([node]))
        };
        let mut layers: Vec<Vec<&str>> = Vec::new();
        let mut below = BTreeSet::new();
        while below.len() < self.nodes.len() {
            let layer: Vec<&str> = self
                .nodes
                .iter()
                .copied()
                .filter(|node| !below.contains(node))
                .filter(|node| {
                    let together = together(node);
                    together
                        .iter()
                        .flat_map(|member| self.next(member))
                        .all(|next| below.contains(next) || together.contains(next))
                })
                .collect();
            below.extend(layer.iter().copied());
            layers.push(layer);
        }
        layers
    }
}

#[cfg(test)]
impl Graph<'static> {
    /// A graph of edges such as `a b`.
    pub(super) fn of_text(edges: &'static [&'static str]) -> Self {
        static ARROW: Arrow = Arrow {
            from: 0,
            to: 0,
            line: 1,
            path: String::new(),
            is_reexport: false,
        };
        let mut graph = Graph::new(edges.iter().flat_map(|edge| edge.split(' ')));
        for edge in edges {
            let (from, to) = edge.split_once(' ').expect("two nodes");
            graph.add(from, to, &ARROW);
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::Graph;

    #[test]
    fn circles_are_apart_and_the_shortest_way_is_found() {
        let graph = Graph::of_text(&[
            "a b", "b c", "c a", "c b", "c d", "d e", "e d", "e f", "f f",
        ]);
        let circles = graph.circles();
        let shown: Vec<String> = circles
            .iter()
            .map(|circle| circle.iter().copied().collect())
            .collect();
        assert_eq!(shown, ["abc", "de"]);
        assert_eq!(graph.shortest(&circles[0]), ["b", "c"]);
    }

    #[test]
    fn layers_begin_at_the_bottom_and_keep_circles_together() {
        let graph = Graph::of_text(&["a b", "a c", "b d", "c d", "x y", "y x", "y a"]);
        assert_eq!(
            graph.layers(),
            [vec!["d"], vec!["b", "c"], vec!["a"], vec!["x", "y"]]
        );
    }
}
