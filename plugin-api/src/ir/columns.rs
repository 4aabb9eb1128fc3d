//! The host's analyses of a function, read in place: [`Liveness`], [`Order`], [`Effects`],
//! [`Names`].
//!
//! All are computed when they are first asked for, in time linear in the function, and found again
//! as long as nobody edits it. They borrow the function.

use passdock_abi as abi;
use passdock_abi::{NameUse, OpEntry, OpId, ValueId};

use super::Function;
use crate::data::EditError;
use crate::data::OpTraits;
use crate::ffi::{Record, Records};

impl Function {
    /// The last uses of values.
    ///
    /// # Errors
    /// If the host has no analyses.
    #[inline]
    pub fn liveness(&self) -> Result<Liveness<'_>, EditError> {
        Ok(Liveness(self.analysed(abi::ANALYSIS_LIVENESS)?))
    }

    /// The places of ops in the whole function.
    ///
    /// # Errors
    /// If the host has no analyses.
    #[inline]
    pub fn order(&self) -> Result<Order<'_>, EditError> {
        Ok(Order(self.analysed(abi::ANALYSIS_ORDER)?))
    }

    /// The effects of ops, beside giving results.
    ///
    /// # Errors
    /// If the host has no analyses.
    #[inline]
    pub fn effects(&self) -> Result<Effects<'_>, EditError> {
        Ok(Effects(self.analysed(abi::ANALYSIS_EFFECTS)?))
    }

    /// The names of ops and of called functions.
    ///
    /// # Errors
    /// If the host has no analyses.
    #[inline]
    pub fn names(&self) -> Result<Names<'_>, EditError> {
        Ok(Names(self.analysed(abi::ANALYSIS_NAMES)?))
    }

    /// The records of an analysis, which has those of the name.
    #[allow(unsafe_code)]
    fn analysed<T: Record>(&self, name: &str) -> Result<Records<'_, T>, EditError> {
        let column = self.raw_column(name)?;
        // SAFETY: the contract says which records the analysis of a name has; the callers above ask for these.
        Ok(unsafe { Records::all(column) })
    }
}

/// The last uses of values.
#[derive(Clone)]
pub struct Liveness<'f>(Records<'f, abi::Liveness>);

impl Liveness<'_> {
    /// The last op of the value's own region that uses it, or that holds an op which does: behind
    /// it nobody needs the value. `None` if nobody uses it.
    #[inline]
    pub fn last_use(&self, value: ValueId) -> Option<OpId> {
        self.0.get(value.index())?.last_use.option()
    }
}

/// The places of ops in the whole function. An op that is gone stands nowhere: every question about
/// it answers "no".
#[derive(Clone)]
pub struct Order<'f>(Records<'f, abi::OpOrder>);

impl Order<'_> {
    #[inline]
    fn of(&self, op: OpId) -> Option<abi::OpOrder> {
        let order = self.0.get(op.index())?;
        if order.position == u32::MAX {
            return None;
        }
        Some(order)
    }

    /// The number of ops before an op, in all regions.
    #[inline]
    pub fn position(&self, op: OpId) -> Option<usize> {
        Some(self.of(op)?.position as usize)
    }

    /// The nesting depth of the region that an op stands in; the body is at 0.
    #[inline]
    pub fn depth(&self, op: OpId) -> Option<usize> {
        Some(self.of(op)?.depth as usize)
    }

    /// Whether `a` stands before `b` in program order; an op stands before what is nested in it.
    #[inline]
    pub fn is_before(&self, a: OpId, b: OpId) -> bool {
        match (self.of(a), self.of(b)) {
            (Some(a), Some(b)) => a.position < b.position,
            _ => false,
        }
    }

    /// Whether `inner` is nested in `outer`, at any depth.
    #[inline]
    pub fn is_nested(&self, inner: OpId, outer: OpId) -> bool {
        match (self.of(inner), self.of(outer)) {
            (Some(inner), Some(outer)) => {
                outer.position < inner.position && inner.position < outer.end
            }
            _ => false,
        }
    }
}

/// The effects of ops, beside giving results.
#[derive(Clone)]
pub struct Effects<'f>(Records<'f, abi::OpEffects>);

impl Effects<'_> {
    /// The traits that an op's definition gives it, as [`Function::traits`] does; `return`, `yield`, `tuple` and
    /// `tuple_get` are pure. None of an op that nobody defines.
    #[inline]
    pub fn traits(&self, op: OpId) -> OpTraits {
        OpTraits(self.0.get(op.index()).map_or(0, |record| record.traits))
    }

    /// The effects of an op with everything nested in it: pure if all are; random, stateful,
    /// reading, writing, allocating if one is.
    #[inline]
    pub fn of(&self, op: OpId) -> OpTraits {
        OpTraits(self.0.get(op.index()).map_or(0, |record| record.effects))
    }

    /// Whether an op, with everything nested in it, has no effect but its results.
    #[inline]
    pub fn is_pure(&self, op: OpId) -> bool {
        self.of(op).0 & OpEntry::PURE != 0
    }
}

/// The names of ops and of called functions: as many as there are different
/// ones, in the order in which the function first uses them.
#[derive(Clone)]
pub struct Names<'f>(Records<'f, NameUse>);

impl Names<'_> {
    /// Names of ops and of callees, as [`NameUse::flags`] says.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = NameUse> + '_ {
        self.0.clone()
    }

    /// The names of ops.
    pub fn of_ops(&self) -> impl Iterator<Item = NameUse> + '_ {
        self.iter().filter(|used| used.flags & NameUse::CALLEE == 0)
    }
}
