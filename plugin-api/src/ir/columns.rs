//! The host's analyses of a function, read in place: [`Liveness`], [`Order`], [`Effects`], [`Names`].
//!
//! Each is computed on request, in time linear in the size of the function, and cached until the next edit. They borrow
//! the function.

use passdock_abi as abi;
use passdock_abi::{NameUse, OpEntry, OpId, ValueId};

use super::Function;
use crate::data::EditError;
use crate::data::OpTraits;
use crate::ffi::{Record, Records};

impl Function {
    /// Returns the last uses of values.
    ///
    /// # Errors
    /// If the host has no analyses.
    #[inline]
    pub fn liveness(&self) -> Result<Liveness<'_>, EditError> {
        Ok(Liveness(self.analyzed(abi::ANALYSIS_LIVENESS)?))
    }

    /// Returns the positions of ops in the whole function.
    ///
    /// # Errors
    /// If the host has no analyses.
    #[inline]
    pub fn order(&self) -> Result<Order<'_>, EditError> {
        Ok(Order(self.analyzed(abi::ANALYSIS_ORDER)?))
    }

    /// Returns the side effects of ops.
    ///
    /// # Errors
    /// If the host has no analyses.
    #[inline]
    pub fn effects(&self) -> Result<Effects<'_>, EditError> {
        Ok(Effects(self.analyzed(abi::ANALYSIS_EFFECTS)?))
    }

    /// Returns the names of ops and of called functions.
    ///
    /// # Errors
    /// If the host has no analyses.
    #[inline]
    pub fn names(&self) -> Result<Names<'_>, EditError> {
        Ok(Names(self.analyzed(abi::ANALYSIS_NAMES)?))
    }

    /// Returns the records of an analysis. `T` must be its record type.
    #[allow(unsafe_code)]
    fn analyzed<T: Record>(&self, name: &str) -> Result<Records<'_, T>, EditError> {
        let column = self.raw_column(name)?;
        // SAFETY: the ABI defines the records of each analysis; the callers above use these types.
        Ok(unsafe { Records::all(column) })
    }
}

/// The last uses of values: an analysis of the host.
#[derive(Clone)]
pub struct Liveness<'f>(Records<'f, abi::Liveness>);

impl Liveness<'_> {
    /// Returns the last op in the value's region that uses the value, or that contains such a user. The value is dead
    /// after this op. `None` if it has no users.
    #[inline]
    pub fn last_use(&self, value: ValueId) -> Option<OpId> {
        self.0.get(value.index())?.last_use.option()
    }
}

/// The positions of ops in the whole function. For an erased op, methods return `false` or `None`.
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

    /// Returns the number of ops before an op, in all regions.
    #[inline]
    pub fn position(&self, op: OpId) -> Option<usize> {
        Some(self.of(op)?.position as usize)
    }

    /// Returns the nesting depth of the region that contains an op; 0 for the body.
    #[inline]
    pub fn depth(&self, op: OpId) -> Option<usize> {
        Some(self.of(op)?.depth as usize)
    }

    /// Whether `a` precedes `b` in program order. An op precedes the ops that are nested in it.
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

/// The side effects of ops.
#[derive(Clone)]
pub struct Effects<'f>(Records<'f, abi::OpEffects>);

impl Effects<'_> {
    /// Returns the traits of an op, as [`Function::traits`]; `return`, `yield`, `tuple` and `tuple_get` are pure. An op
    /// without a definition has none.
    #[inline]
    pub fn traits(&self, op: OpId) -> OpTraits {
        OpTraits(self.0.get(op.index()).map_or(0, |record| record.traits))
    }

    /// Returns the effects of an op and all ops nested in it: pure if all of them are; random, stateful, reading,
    /// writing, allocating if one of them is.
    #[inline]
    pub fn of(&self, op: OpId) -> OpTraits {
        OpTraits(self.0.get(op.index()).map_or(0, |record| record.effects))
    }

    /// Whether an op, with all ops nested in it, has no side effects.
    #[inline]
    pub fn is_pure(&self, op: OpId) -> bool {
        self.of(op).0 & OpEntry::PURE != 0
    }
}

/// The distinct names of ops, in the order of their first use.
#[derive(Clone)]
pub struct Names<'f>(Records<'f, NameUse>);

impl Names<'_> {
    /// Returns the names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = NameUse> + '_ {
        self.0.clone()
    }
}
