//! TVM's ConstantChecker: an analysis that finds candidates for folding.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::symbol;

use super::typed::is_typed;
use crate::shared::column::Column;

/// The ops that might be folded, assuming that their operands are folded if possible. The result is cached until the
/// function is edited, so a function without candidates is only analyzed once.
pub(super) struct ConstantChecker {
    /// Per op id. New ops count as candidates.
    pub(super) flags: Column<bool>,
    /// Whether there is any candidate.
    pub(super) found: bool,
}

impl Analysis for ConstantChecker {
    fn compute(f: &Function, _cx: &PassContext) -> Result<ConstantChecker, PassError> {
        let effects = f.effects()?;
        let decided = ["onnx.If", "if", "onnx.Loop"].map(|name| f.find_symbol(name));
        let mut flags = Column::new(true);
        // Per value id, whether it may be constant.
        let mut results = Column::new(false);
        let mut found = false;
        for op in f.iter() {
            let is_constant = |value: ValueId| {
                value.is_none() || f.constant(value).is_some() || results.get(value.index())
            };
            let traits = effects.traits(op);
            let symbol = f.symbol(op);
            let mut operands = f.operands(op).enumerate();
            let all_constant = f.operand_count(op) > 0
                && operands.all(|(at, value)| is_constant(value) || is_typed(f, op, at));
            let is_control = decided.contains(&Some(symbol));
            let is_candidate = if is_control {
                f.operands(op).take(2).any(is_constant)
            } else if symbol == symbol::TUPLE_GET {
                true
            } else {
                all_constant && !f.is_terminator(op)
                    || may_fold(f, op, traits) && is_shape_data(f, op)
            };
            flags.set(op.index(), is_candidate);
            found |= is_candidate;
            // A tuple of constants is constant.
            let is_tuple = [symbol::TUPLE, symbol::TUPLE_GET].contains(&symbol);
            let may_be_constant = may_fold(f, op, traits) || is_control || is_tuple;
            if is_candidate && may_be_constant {
                for result in f.results(op) {
                    results.set(result.index(), true);
                }
            }
        }
        Ok(ConstantChecker { flags, found })
    }
}

/// Whether ops of this kind are folded.
pub(super) fn may_fold(f: &Function, op: OpId, traits: OpTraits) -> bool {
    traits.folds() && traits.is_deterministic() && f.operand_count(op) > 0
}

/// Whether an op computes shape data: small integers, or values derived from them. These may be known although the
/// operands aren't constant, because some dims are.
pub(crate) fn is_shape_data(f: &Function, op: OpId) -> bool {
    let is_small = |&result: &ValueId| {
        matches!(f.dtype(result), Some(DType::I64 | DType::I32 | DType::BOOL))
            && f.rank(result).is_none_or(|rank| rank < 2)
    };
    f.results(op).iter().all(is_small)
}
