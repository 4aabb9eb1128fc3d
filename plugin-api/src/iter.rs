//! Going over a function's ops.
//!
//! [`Ops`] and [`Uses`] are snapshots: they own the ids they found when they were made, so the
//! function can be edited between two steps; what is erased meanwhile is skipped, what is made
//! meanwhile isn't met. [`Walk`] borrows the function and copies nothing: for passes that only
//! look.

use passdock_abi::{OpId, RegionId};

use crate::function::Function;
use crate::raw::Alive;

/// Ops, in the order they had when this was made.
pub struct Ops {
    ids: std::vec::IntoIter<OpId>,
    alive: Alive,
}

impl Ops {
    pub(crate) fn new(function: &Function, ids: Vec<OpId>) -> Ops {
        Ops {
            ids: ids.into_iter(),
            alive: function.raw.alive(),
        }
    }
}

impl Iterator for Ops {
    type Item = OpId;

    #[inline]
    fn next(&mut self) -> Option<OpId> {
        let alive = &self.alive;
        self.ids.find(|op| alive.has(*op))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.ids.len()))
    }
}

/// From the end: users before what they use.
impl DoubleEndedIterator for Ops {
    #[inline]
    fn next_back(&mut self) -> Option<OpId> {
        let alive = &self.alive;
        self.ids.rfind(|op| alive.has(*op))
    }
}

/// One use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The op that uses it.
    pub op: OpId,
    /// As which operand.
    pub index: usize,
}

/// Uses of a value, as they were when this was made.
pub struct Uses {
    uses: std::vec::IntoIter<Use>,
    alive: Alive,
}

impl Uses {
    pub(crate) fn new(function: &Function, uses: Vec<Use>) -> Uses {
        Uses {
            uses: uses.into_iter(),
            alive: function.raw.alive(),
        }
    }
}

impl Iterator for Uses {
    type Item = Use;

    #[inline]
    fn next(&mut self) -> Option<Use> {
        let alive = &self.alive;
        self.uses.find(|one| alive.has(one.op))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.uses.len()))
    }
}

/// All ops of a region and of the regions in it, in program order: an op, then what is in it,
/// then the op after it.
#[derive(Clone)]
pub struct Walk<'a> {
    function: &'a Function,
    next: OpId,
    /// Where to go on, innermost last.
    pending: Vec<OpId>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(function: &'a Function, region: RegionId) -> Walk<'a> {
        Walk {
            function,
            next: function.region_record(region).first,
            pending: Vec::new(),
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = OpId;

    #[inline]
    fn next(&mut self) -> Option<OpId> {
        if self.next.is_none() {
            self.next = self.pending.pop()?;
        }
        let op = self.next;
        let record = self.function.raw.op(op.0)?;
        self.next = record.next;
        if record.regions.len > 0 {
            self.pending.extend(self.next.option());
            let regions: &[RegionId] = self.function.raw.ids(record.regions);
            for region in regions.iter().rev() {
                let first = self.function.region_record(*region).first;
                self.pending.extend(first.option());
            }
            self.next = self.pending.pop().unwrap_or(OpId::NONE);
        }
        Some(op)
    }
}
