//! Going over the ops of a region and of the regions in it.

use passdock_abi::{OpId, RegionId};

use crate::function::Function;

/// Ops in pre-order; keeps its own stack. It ends, however ops are linked: it meets no more than there
/// are.
pub struct OpWalk<'f> {
    function: &'f Function,
    next: OpId,
    /// The ops to go on with: first those of the regions still to enter, then the op after.
    after: Vec<OpId>,
    /// The number of ops that it may still meet.
    left: usize,
}

impl Function {
    /// All ops of a region and the regions nested in it, each before those nested in it.
    pub fn walk(&self, region: RegionId) -> OpWalk<'_> {
        OpWalk {
            function: self,
            next: self.region(region).first,
            after: Vec::new(),
            left: self.op_ids(),
        }
    }
}

impl Iterator for OpWalk<'_> {
    type Item = OpId;

    fn next(&mut self) -> Option<OpId> {
        while self.next.is_none() {
            self.next = self.after.pop()?;
        }
        self.left = self.left.checked_sub(1)?;
        let id = self.next;
        let op = self.function.op(id);
        self.next = op.next;
        if op.regions.len > 0 {
            self.after.push(op.next);
            let firsts = self
                .function
                .regions_of(id)
                .map(|region| self.function.region(region));
            self.after.extend(firsts.rev().map(|region| region.first));
            self.next = OpId::NONE;
        }
        Some(id)
    }
}
