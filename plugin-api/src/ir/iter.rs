//! Iterators over a function's ops.
//!
//! [`Ops`] and [`Function::uses`] are snapshots: they own the ids, so the function may be edited during the iteration.
//! Erased ops are skipped, and new ones aren't visited. [`Walk`] and [`IterUses`] borrow the function and copy nothing:
//! for passes that only read.

use std::collections::HashSet;

use passdock_abi::{OpId, RegionId, UseId, ValueId};

use super::name::Name;
use super::Function;
use crate::ffi::Alive;

/// A snapshot of ops, in the order at the time of the call.
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

/// Iterates from the end, so that users precede their operands.
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
    /// The user.
    pub op: OpId,
    /// The index of the operand.
    pub index: usize,
}

/// An iterator over the uses of a value.
#[derive(Clone)]
pub struct IterUses<'a> {
    function: &'a Function,
    next: UseId,
    /// The maximum number of remaining uses: a list that a faulty plugin has written to may be cyclic.
    remaining: u32,
}

impl Iterator for IterUses<'_> {
    type Item = Use;

    #[inline]
    fn next(&mut self) -> Option<Use> {
        let slot = self.function.raw.use_(self.next.0)?;
        self.remaining = self.remaining.checked_sub(1)?;
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
    /// Returns all ops in program order, including nested regions. It is a snapshot: the function may be edited during
    /// the iteration, and erased ops are skipped.
    pub fn ops(&self) -> Ops {
        self.walk(self.body())
    }

    /// Returns the ops of a region in order, without nested ones. A snapshot.
    pub fn ops_in(&self, region: RegionId) -> Ops {
        let mut ids = Vec::new();
        let mut next = self.region_record(region).first;
        // A list that a faulty plugin has written to may be cyclic.
        let most = self.op_count();
        while let Some(record) = self.raw.op(next.0).filter(|_| ids.len() < most) {
            ids.push(next);
            next = record.next;
        }
        Ops::new(self, ids)
    }

    /// Returns all ops of an operator in program order, including nested regions. A snapshot.
    ///
    /// Returns nothing if a function of the module has the operator's name, too. A runtime may use either of them
    /// ([`OpTraits::is_ambiguous`](crate::OpTraits::is_ambiguous)), so a rewrite that assumes one of them may be wrong.
    /// [`Function::all_ops_named`] includes such ops. If only a function has the name, the ops are its calls.
    pub fn ops_named<'n>(&self, name: impl Into<Name<'n>>) -> Ops {
        let mut ids = self.ids_named(name.into());
        // All have the same traits.
        if matches!(ids.first(), Some(op) if self.traits(*op).is_ambiguous()) {
            ids.clear();
        }
        Ops::new(self, ids)
    }

    /// Returns all ops with this name in program order, whether they are ops of an operator or calls of a function. A
    /// snapshot.
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

    /// Returns all ops of a region and its nested regions, in program order. A snapshot.
    pub fn walk(&self, region: RegionId) -> Ops {
        let mut ids = Vec::new();
        if region == self.body() {
            ids.reserve(self.op_count());
        }
        ids.extend(Walk::new(self, region));
        Ops::new(self, ids)
    }

    /// Iterates over the ops of [`Function::ops`], but borrows the function instead of copying ids: the fastest way to
    /// only read.
    pub fn iter(&self) -> Walk<'_> {
        Walk::new(self, self.body())
    }

    /// Iterates over the ops of [`Function::walk`], but borrows the function.
    pub fn iter_in(&self, region: RegionId) -> Walk<'_> {
        Walk::new(self, region)
    }

    /// Returns the uses of a value. A snapshot.
    #[track_caller]
    pub fn uses(&self, value: ValueId) -> impl Iterator<Item = Use> {
        let uses: Vec<Use> = self.iter_uses(value).collect();
        let alive = self.raw.alive();
        uses.into_iter().filter(move |one| alive.has(one.op))
    }

    /// Iterates over the uses of a value as [`Function::uses`], but borrows the function instead of copying the list:
    /// for searches. A value may have as many uses as there are ops: iterating over the uses of one value for each op
    /// takes quadratic time.
    #[track_caller]
    pub fn iter_uses(&self, value: ValueId) -> IterUses<'_> {
        let record = self.value_record(value);
        IterUses {
            function: self,
            next: record.map_or(UseId::NONE, |record| record.first_use),
            remaining: record.map_or(0, |record| record.use_count),
        }
    }

    /// Returns the users of a value, each once. A snapshot.
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

/// An iterator over all ops of a region and its nested regions in program order: an op, then the ops in its regions,
/// then the next op.
#[derive(Clone)]
pub struct Walk<'a> {
    function: &'a Function,
    next: OpId,
    /// The ops to continue at, innermost last.
    pending: Vec<OpId>,
    /// The maximum number of remaining ops: a list that a faulty plugin has written to may be cyclic.
    remaining: usize,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(function: &'a Function, region: RegionId) -> Walk<'a> {
        Walk {
            function,
            next: function.region_record(region).first,
            pending: Vec::new(),
            remaining: function.op_count(),
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
        self.remaining = self.remaining.checked_sub(1)?;
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
