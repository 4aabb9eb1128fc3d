//! [`SourceLocations`]: the locations of new ops. Fusing locations at each step of a long chain would copy longer and
//! longer lists. So each rewrite only records the replaced ops, and the locations are set at the end.

use std::ops::Range;

use passdock_abi::{LocId, OpId};

use crate::data::EditError;
use crate::ir::Function;

/// The ops and locations that each new op replaces.
#[derive(Default)]
pub(super) struct SourceLocations {
    /// The replaced locations of all rewrites, consecutively.
    parts: Vec<Part>,
    /// The range of `parts` of each rewrite.
    rewrites: Vec<Range<usize>>,
    created: Vec<OpId>,
    /// The rewrite that created each op, plus 1.
    by_op: Vec<u32>,
}

#[derive(Clone, Copy)]
enum Part {
    Loc(LocId),
    /// All locations of an earlier rewrite.
    Rewrite(usize),
}

impl SourceLocations {
    /// Records that a rewrite replaced ops with these locations, the most important one first. An op that was created
    /// by an earlier rewrite keeps its locations.
    pub(super) fn note(&mut self, from: &[(OpId, LocId)], created: &[OpId]) {
        let start = self.parts.len();
        let created_ops = created.iter().map(|op| (*op, LocId::NONE));
        for (op, loc) in created_ops.chain(from.iter().copied()) {
            let rewrite = self.rewrite_of(op).map(Part::Rewrite);
            self.parts.push(rewrite.unwrap_or(Part::Loc(loc)));
        }
        self.rewrites.push(start..self.parts.len());
        for op in created {
            let at = op.0 as usize;
            if at >= self.by_op.len() {
                self.by_op.resize(at + 1, 0);
            }
            self.by_op[at] = self.rewrites.len() as u32;
            self.created.push(*op);
        }
    }

    pub(super) fn rewrite_of(&self, op: OpId) -> Option<usize> {
        let rewrite = *self.by_op.get(op.0 as usize)?;
        (rewrite as usize).checked_sub(1)
    }

    /// Sets the locations of the ops that are still live.
    pub(super) fn set_locations(self, f: &mut Function) -> Result<(), EditError> {
        let mut locs = vec![None; self.rewrites.len()];
        let mut seen = vec![0; self.rewrites.len()];
        for op in &self.created {
            let rewrite = match self.rewrite_of(*op) {
                Some(rewrite) if f.is_live(*op) => rewrite,
                _ => continue,
            };
            let loc = match locs[rewrite] {
                Some(loc) => loc,
                None => f.fused_locs(&self.locs_of(rewrite, &mut seen))?,
            };
            locs[rewrite] = Some(loc);
            if f.loc(*op) != loc {
                f.set_loc(*op, loc)?;
            }
        }
        Ok(())
    }

    /// Returns the locations of a rewrite, in order. `seen` has the rewrite for which each entry was last visited.
    fn locs_of(&self, rewrite: usize, seen: &mut [usize]) -> Vec<LocId> {
        let mut locs = Vec::new();
        let mut next = vec![Part::Rewrite(rewrite)];
        while let Some(part) = next.pop() {
            match part {
                Part::Loc(loc) => locs.push(loc),
                Part::Rewrite(at) if seen[at] != rewrite + 1 => {
                    seen[at] = rewrite + 1;
                    next.extend(self.parts[self.rewrites[at].clone()].iter().rev());
                }
                Part::Rewrite(_) => {}
            }
        }
        locs
    }
}
