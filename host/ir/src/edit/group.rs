//! Groups of ops of one region: what they use from outside, what they give.

use passdock_abi::{AttrKind, OpId, RegionId, SymbolId, ValueId};
use rustc_hash::FxHashSet;

use crate::error::{Edit, EditError};
use crate::function::Function;

impl Function {
    /// These ops in program order.
    ///
    /// # Errors
    /// If one of them is gone, ends a region, is there twice, or stands in another region.
    pub(crate) fn siblings(&self, ops: &[OpId], what: &str) -> Edit<Vec<OpId>> {
        for &op in ops {
            let region = self.inner_op(op, what)?.parent;
            if region != self.op(ops[0]).parent {
                return Err(EditError::refused(format!(
                    "{} and {} stand in different regions, so they can't {what} together.",
                    self.describe_op(ops[0]),
                    self.describe_op(op)
                )));
            }
        }
        let mut sorted = ops.to_vec();
        sorted.sort_unstable_by_key(|&op| self.op(op).order);
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let name = self.describe_op(twice[0]);
            let message = format!("{name} is listed twice.");
            return Err(EditError::invalid(message));
        }
        Ok(sorted)
    }

    /// Ops and all that is nested in them, each op before what is in it.
    pub(crate) fn with_nested<'f>(&'f self, ops: &'f [OpId]) -> impl Iterator<Item = OpId> + 'f {
        ops.iter().flat_map(|&op| {
            let nested = self.regions_of(op).flat_map(|region| self.walk(region));
            std::iter::once(op).chain(nested)
        })
    }

    /// The values that ops of one region and what is nested in them use from outside, each once, in
    /// the order in which they are used.
    pub(crate) fn needed(&self, ops: &[OpId]) -> Vec<ValueId> {
        let members: FxHashSet<OpId> = ops.iter().copied().collect();
        let mut inside: FxHashSet<RegionId> = FxHashSet::default();
        let (mut seen, mut needed) = (FxHashSet::default(), Vec::new());
        for user in self.with_nested(ops) {
            inside.extend(self.regions_of(user));
            for value in self.operands(user).iter().map(|slot| slot.value) {
                if value.is_none() || !seen.insert(value) || inside.contains(&self.home(value)) {
                    continue;
                }
                let maker = self.defining_op(value);
                if !maker.is_some_and(|maker| members.contains(&maker)) {
                    needed.push(value);
                }
            }
        }
        needed
    }

    /// The first of these ops, or of those nested in them, that refers to an attribute parameter of
    /// the function, and the parameter.
    pub(crate) fn referring(&self, ops: &[OpId]) -> Option<(OpId, SymbolId)> {
        self.with_nested(ops).find_map(|op| {
            let mut attrs = self.attrs(op).iter();
            let attr = attrs.find(|attr| attr.kind == AttrKind::REFERENCE)?;
            Some((op, SymbolId(attr.bits as u32)))
        })
    }
}
