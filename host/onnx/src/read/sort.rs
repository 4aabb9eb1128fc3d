//! Topological sorting of the nodes of a model whose file isn't sorted.
//!
//! ONNX requires that a node comes after those that it depends on, but many files violate this. The dependencies of a
//! node include those of graphs inside it, so all graphs are walked together. A use of a name is an edge in the graph
//! that defines the name. The edge starts at that graph's node that contains the use.

use rustc_hash::FxHashMap;

use crate::format::attribute::Attribute;
use crate::format::body::BodyKind;
use crate::format::error::{OnnxError, Result};
use crate::format::fields::bodies;
use crate::format::schema::{graph, node, sparse, tensor};
use crate::format::wire::{Message, string_of};

/// The order of each graph's nodes, by the start of the graph in the file.
pub(super) type Orders = FxHashMap<u64, Vec<u32>>;

/// The index for definitions by inputs and initializers, which don't depend on nodes.
const NO_NODE: u32 = u32::MAX;

struct Open<'a> {
    message: Message<'a>,
    kind: BodyKind,
    nodes: Vec<Message<'a>>,
    /// The index of the current node; [`NO_NODE`] before the first one.
    current: u32,
    /// Graphs of the current node that aren't walked yet.
    inside: Vec<Message<'a>>,
    /// Dependencies: a node, and the node that it needs.
    edges: Vec<(u32, u32)>,
    defined: Vec<&'a [u8]>,
}

#[derive(Default)]
struct Sorter<'a> {
    /// The definitions of a name as depth and node, innermost last.
    names: FxHashMap<&'a [u8], Vec<(usize, u32)>>,
    open: Vec<Open<'a>>,
    orders: Orders,
}

/// Sorts the nodes of a body and of the graphs nested in it.
pub(super) fn orders(message: Message<'_>, kind: BodyKind) -> Result<Orders> {
    let mut sorter = Sorter::default();
    sorter.open(message, kind)?;
    sorter.run()
}

impl<'a> Sorter<'a> {
    fn open(&mut self, message: Message<'a>, kind: BodyKind) -> Result {
        let depth = self.open.len();
        let mut defined = Vec::new();
        for input in bodies(message, kind.input()) {
            defined.push(kind.port_name(input?)?);
        }
        if kind == BodyKind::Graph {
            for tensor in bodies(message, graph::INITIALIZER) {
                defined.push(string_of(tensor?, tensor::NAME)?);
            }
            for sparse in bodies(message, graph::SPARSE_INITIALIZER) {
                if let Some(values) = sparse?.last(sparse::VALUES)? {
                    defined.push(string_of(values, tensor::NAME)?);
                }
            }
        }
        let nodes: Vec<Message<'a>> = bodies(message, kind.node()).collect::<Result<_>>()?;
        for name in &defined {
            self.names.entry(name).or_default().push((depth, NO_NODE));
        }
        for (index, &node) in nodes.iter().enumerate() {
            for output in bodies(node, node::OUTPUT) {
                let name = output?.bytes;
                // An omitted operand or result.
                if name.is_empty() {
                    continue;
                }
                self.names
                    .entry(name)
                    .or_default()
                    .push((depth, index as u32));
                defined.push(name);
            }
        }
        self.open.push(Open {
            message,
            kind,
            nodes,
            current: NO_NODE,
            inside: Vec::new(),
            edges: Vec::new(),
            defined,
        });
        Ok(())
    }

    fn run(mut self) -> Result<Orders> {
        while let Some(open) = self.open.last_mut() {
            if let Some(inside) = open.inside.pop() {
                self.open(inside, BodyKind::Graph)?;
                continue;
            }
            let next = open.current.wrapping_add(1);
            open.current = next;
            let Some(&node) = open.nodes.get(next as usize) else {
                self.close()?;
                continue;
            };
            for attribute in bodies(node, node::ATTRIBUTE) {
                let attribute = Attribute::read(attribute?)?;
                if attribute.is_graphs() {
                    for body in attribute.bodies() {
                        open.inside.push(body?);
                    }
                }
            }
            for input in bodies(node, node::INPUT) {
                self.used(input?.bytes);
            }
        }
        Ok(self.orders)
    }

    /// Adds the dependencies of the current nodes on a name.
    fn used(&mut self, name: &[u8]) {
        let Some(&(depth, index)) = self.names.get(name).and_then(|meanings| meanings.last())
        else {
            return;
        };
        let open = &mut self.open[depth];
        if index != NO_NODE && (open.current as usize) < open.nodes.len() {
            open.edges.push((open.current, index));
        }
    }

    fn close(&mut self) -> Result {
        let Some(open) = self.open.last() else {
            return Ok(());
        };
        let outputs = bodies(open.message, open.kind.output());
        let names = outputs.map(|output| open.kind.port_name(output?));
        let names: Vec<&[u8]> = names.collect::<Result<_>>()?;
        names.into_iter().for_each(|name| self.used(name));
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        for name in open.defined {
            if let Some(meanings) = self.names.get_mut(name) {
                meanings.pop();
            }
        }
        let order = sorted(open.nodes.len(), open.edges).map_err(|node| {
            let at = open.nodes[node].at;
            OnnxError::at(at, "the node depends on its own result").inside(format!("node[{node}]"))
        })?;
        self.orders.insert(open.message.at, order);
        Ok(())
    }
}

/// Returns the nodes in topological order, otherwise in their own. The error is a node on a cycle.
fn sorted(nodes: usize, mut edges: Vec<(u32, u32)>) -> std::result::Result<Vec<u32>, usize> {
    edges.sort_unstable();
    edges.dedup();
    let first = |node: u32| edges.partition_point(|edge| edge.0 < node);
    let (mut order, mut done) = (Vec::with_capacity(nodes), vec![false; nodes]);
    let mut waiting = vec![false; nodes];
    let mut stack: Vec<(u32, usize)> = Vec::new();
    for root in 0..nodes as u32 {
        if done[root as usize] {
            continue;
        }
        waiting[root as usize] = true;
        stack.push((root, first(root)));
        while let Some((node, edge)) = stack.last_mut() {
            match edges.get(*edge).filter(|edge| edge.0 == *node) {
                Some(&(_, needed)) => {
                    *edge += 1;
                    if waiting[needed as usize] {
                        return Err(needed as usize);
                    }
                    if !done[needed as usize] {
                        waiting[needed as usize] = true;
                        stack.push((needed, first(needed)));
                    }
                }
                None => {
                    let node = *node;
                    (waiting[node as usize], done[node as usize]) = (false, true);
                    order.push(node);
                    stack.pop();
                }
            }
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sort_is_stable_and_moves_few_nodes() {
        assert_eq!(sorted(3, vec![(1, 0), (2, 1), (2, 0)]), Ok(vec![0, 1, 2]));
        assert_eq!(
            sorted(4, vec![(0, 2), (1, 0), (3, 1)]),
            Ok(vec![2, 0, 1, 3])
        );
        assert_eq!(sorted(2, vec![(0, 1), (1, 0)]), Err(0));
        assert_eq!(sorted(1, vec![(0, 0)]), Err(0));
        let chain: Vec<(u32, u32)> = (0..99_999).map(|i| (i, i + 1)).collect();
        let order = sorted(100_000, chain).unwrap();
        assert!(order.iter().rev().copied().eq(0..100_000));
    }
}
