//! [`UnionFind`]: sets that are merged.

/// Disjoint sets of the numbers from 0 on, each named by one of its members, the root.
#[derive(Default)]
pub(crate) struct UnionFind(Vec<usize>);

impl UnionFind {
    /// As many sets of one number each.
    pub(crate) fn new(count: usize) -> UnionFind {
        UnionFind((0..count).collect())
    }

    /// Adds the next number, in a set of its own.
    pub(crate) fn push(&mut self) -> usize {
        self.0.push(self.0.len());
        self.0.len() - 1
    }

    /// The root of a number's set; the way there is halved for the next time.
    pub(crate) fn root(&mut self, mut member: usize) -> usize {
        while self.0[member] != member {
            self.0[member] = self.0[self.0[member]];
            member = self.0[member];
        }
        member
    }

    /// Merges the sets of two numbers; the smaller root is that of both.
    pub(crate) fn merge(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other)] = one.min(other);
    }

    /// Merges the set of one root into that of another.
    pub(crate) fn merge_into(&mut self, child: usize, parent: usize) {
        self.0[child] = parent;
    }
}
