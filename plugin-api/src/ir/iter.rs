//! Going over a function's ops.
//!
//! [`Ops`] and [`Function::uses`] are snapshots: they own the ids they found when they were made, so the
//! function can be edited between two steps; what is erased meanwhile is skipped, what is made
//! meanwhile isn't met. [`Walk`] and [`IterUses`] borrow the function and copy nothing: for passes that
//! only look.

use std::collections::HashSet;

use passdock_abi::{OpId, RegionId, UseId, ValueId};

use super::name::Name;
use super::Function;
use crate::ffi::Alive;

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

/// A use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Use {
    /// The op that uses it.
    pub op: OpId,
    /// The index of the operand.
    pub index: usize,
}

/// Uses of a value, looked up one after the other.
#[derive(Clone)]
pub struct IterUses<'a> {
    function: &'a Function,
    next: UseId,
    /// The uses that there can be: a list that somebody wrote into may have no end.
    left: u32,
}

impl Iterator for IterUses<'_> {
    type Item = Use;

    #[inline]
    fn next(&mut self) -> Option<Use> {
        let slot = self.function.raw.use_(self.next.0)?;
        self.left = self.left.checked_sub(1)?;
        let first = self.function.op_record(slot.user).operands.start;
        let index = (self.next.0 - first) as usize;
        self.next = slot.next;
        Some(Use {
            op: slot.user,
            index,
        })
    }
}

impl Function {
    /// All ops, those in nested regions included, in program order. A snapshot: editing goes on
    /// meanwhile, and what is erased is skipped.
    pub fn ops(&self) -> Ops {
        self.walk(self.body())
    }

    /// The ops that stand directly in a region, in order. A snapshot.
    pub fn ops_in(&self, region: RegionId) -> Ops {
        let mut ids = Vec::new();
        let mut next = self.region_record(region).first;
        // A list that somebody wrote into may have no end.
        let most = self.op_count();
        while let Some(record) = self.raw.op(next.0).filter(|_| ids.len() < most) {
            ids.push(next);
            next = record.next;
        }
        Ops::new(self, ids)
    }

    /// All ops of an operator's name, those in nested regions included, in program order. A snapshot.
    ///
    /// None if a function of the module has the operator's name, too: whether an op means the operator or
    /// the function is its runtime's to say ([`OpTraits::is_ambiguous`](crate::OpTraits::is_ambiguous)), so a
    /// rewrite that took it for either would be wrong for somebody. [`Function::all_ops_named`] has those as
    /// well. Of a name that only a function has, these are its calls.
    pub fn ops_named<'n>(&self, name: impl Into<Name<'n>>) -> Ops {
        let mut ids = self.ids_named(name.into());
        // All have the same traits, so one is asked for.
        if matches!(ids.first(), Some(op) if self.traits(*op).is_ambiguous()) {
            ids.clear();
        }
        Ops::new(self, ids)
    }

    /// All ops of a name, be they ops of an operator or calls of a function, in program order. A snapshot.
    pub fn all_ops_named<'n>(&self, name: impl Into<Name<'n>>) -> Ops {
        Ops::new(self, self.ids_named(name.into()))
    }

    fn ids_named(&self, name: Name<'_>) -> Vec<OpId> {
        match name.find(self) {
            Some(name) => self
                .iter()
                .filter(|op| {
                    self.raw
                        .op(op.0)
                        .map_or(false, |record| record.name == name)
                })
                .collect(),
            None => Vec::new(),
        }
    }

    /// All ops of a region and of the regions in it, in program order. A snapshot.
    pub fn walk(&self, region: RegionId) -> Ops {
        let mut ids = Vec::new();
        if region == self.body() {
            ids.reserve(self.op_count());
        }
        ids.extend(Walk::new(self, region));
        Ops::new(self, ids)
    }

    /// The ops of [`Function::ops`], borrowing the function instead of copying ids: the fastest way
    /// to only look.
    pub fn iter(&self) -> Walk<'_> {
        Walk::new(self, self.body())
    }

    /// The ops of [`Function::walk`], borrowing the function.
    pub fn iter_in(&self, region: RegionId) -> Walk<'_> {
        Walk::new(self, region)
    }

    /// The uses of a value. A snapshot.
    #[track_caller]
    pub fn uses(&self, value: ValueId) -> impl Iterator<Item = Use> {
        let uses: Vec<Use> = self.iter_uses(value).collect();
        let alive = self.raw.alive();
        uses.into_iter().filter(move |one| alive.has(one.op))
    }

    /// The uses of a value, as [`Function::uses`], but borrowing the function instead of copying its list: to look
    /// for one. A value may have as many uses as there are ops, so asking this of each op for one value takes
    /// quadratic time.
    #[track_caller]
    pub fn iter_uses(&self, value: ValueId) -> IterUses<'_> {
        let record = self.value_record(value);
        IterUses {
            function: self,
            next: record.map_or(UseId::NONE, |record| record.first_use),
            left: record.map_or(0, |record| record.use_count),
        }
    }

    /// The ops that use a value, each once. A snapshot.
    #[track_caller]
    pub fn users(&self, value: ValueId) -> Ops {
        let count = self.use_count(value);
        let mut ids = Vec::with_capacity(count);
        ids.extend(self.iter_uses(value).map(|used| used.op));
        if count > 1 {
            let mut seen = HashSet::with_capacity(count);
            ids.retain(|op| seen.insert(*op));
        }
        Ops::new(self, ids)
    }
}

/// All ops of a region and of the regions in it, in program order: an op, then what is in it,
/// then the op after it.
#[derive(Clone)]
pub struct Walk<'a> {
    function: &'a Function,
    next: OpId,
    /// The ops to go on at, innermost last.
    pending: Vec<OpId>,
    /// The ops that there can be: a list that somebody wrote into may have no end.
    left: usize,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(function: &'a Function, region: RegionId) -> Walk<'a> {
        Walk {
            function,
            next: function.region_record(region).first,
            pending: Vec::new(),
            left: function.op_count(),
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
        self.left = self.left.checked_sub(1)?;
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

impl<'a> IntoIterator for &'a Function {
    type Item = OpId;
    type IntoIter = Walk<'a>;

    fn into_iter(self) -> Walk<'a> {
        self.iter()
    }
}
