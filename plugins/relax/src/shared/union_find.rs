//! [`UnionFind`]: disjoint sets with path halving.

/// Disjoint sets of the numbers from 0. Each set is represented by one of its members, the root.
#[derive(Default)]
pub(crate) struct UnionFind(Vec<usize>);

impl UnionFind {
    /// Creates `count` sets of one number each.
    pub(crate) fn new(count: usize) -> UnionFind {
        UnionFind((0..count).collect())
    }

    /// Adds the next number as a new set.
    pub(crate) fn push(&mut self) -> usize {
        self.0.push(self.0.len());
        self.0.len() - 1
    }

    /// Returns the root of a number's set. Halves the path for later calls.
    pub(crate) fn root(&mut self, mut member: usize) -> usize {
        while self.0[member] != member {
            self.0[member] = self.0[self.0[member]];
            member = self.0[member];
        }
        member
    }

    /// Merges the sets of two numbers. The smaller root becomes the root of both.
    pub(crate) fn merge(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other)] = one.min(other);
    }

    /// Merges the set with root `child` into the one with root `parent`.
    pub(crate) fn merge_into(&mut self, child: usize, parent: usize) {
        self.0[child] = parent;
    }
}
