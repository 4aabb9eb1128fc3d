//! [`Function`]: erasing what nobody needs any more, after a rewrite.

use passdock_abi::{symbol, LocId, OpId, ValueId};

use super::Function;
use crate::data::EditError;

impl Function {
    /// Replaces an op by values as [`Function::replace_op_with`] does, then erases what only it used:
    /// [`Function::erase_dead`] of each value that it and what is nested in it used. So a rewrite of a whole chain
    /// leaves nothing of it, if its ops are known to be pure (an op that no loaded plugin defines stays):
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// /// Replaces `Sqrt(Mul(x, x))` by `Abs(x)`; the `Mul` goes unless another op uses it.
    /// fn abs(f: &mut Function, cx: &PassContext) -> PassResult {
    ///     for sqrt in f.ops_named("onnx.Sqrt") {
    ///         let mul = match f.operand(sqrt, 0).and_then(|v| f.defining_op(v)) {
    ///             Some(mul) if f.name(mul) == "onnx.Mul" => mul,
    ///             _ => continue,
    ///         };
    ///         if let (Some(x), true) = (f.operand(mul, 0), f.operand(mul, 0) == f.operand(mul, 1)) {
    ///             let abs = OpBuilder::new("onnx.Abs").operand(x);
    ///             let abs = cx.create_value(f, abs, Position::before(sqrt))?;
    ///             f.replace_with_and_erase_dead(sqrt, &[abs])?;
    ///         }
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`Function::replace_op_with`].
    pub fn replace_with_and_erase_dead(
        &mut self,
        old: OpId,
        values: &[ValueId],
    ) -> Result<(), EditError> {
        let used = self.used_by(old);
        self.replace_op_with(old, values)?;
        self.erase_all_dead(used).map(drop)
    }

    /// Erases what makes a value that nobody uses: the constant, or the op if nobody uses any of its results; then
    /// what only that used, and so on. Ops stay that may have an effect beside their results, or whose
    /// definition doesn't say that they have none; arguments stay, too. A value that is used or gone is no error.
    ///
    /// So **an op that no loaded plugin defines stays**: nobody knows that it has no effect. In a host without op
    /// definitions nothing but constants and tuples goes. The command warns of such ops at the start of a run
    /// (`unknown-operators`), and a program that embeds passdock has to load what defines them: of ONNX's operators
    /// that is the standard plugin `onnx-ops`.
    ///
    /// # Errors
    /// If the host refuses to erase.
    pub fn erase_dead(&mut self, value: ValueId) -> Result<(), EditError> {
        self.erase_all_dead(vec![value]).map(drop)
    }

    pub(crate) fn erase_all_dead(
        &mut self,
        mut pending: Vec<ValueId>,
    ) -> Result<Vec<(OpId, LocId)>, EditError> {
        let mut erased = Vec::new();
        while let Some(value) = pending.pop() {
            if !self.is_live_value(value) || self.use_count(value) > 0 {
                continue;
            }
            if let Some(constant) = self.constant(value) {
                self.erase_constant(constant)?;
            } else if let Some(op) = self.defining_op(value).filter(|op| self.is_dead(*op)) {
                let used = self.used_by(op);
                erased.push((op, self.loc(op)));
                self.erase_op(op)?;
                pending.extend(used);
            }
        }
        Ok(erased)
    }

    /// Whether nobody uses an op's results, and it has no effect beside them.
    fn is_dead(&self, op: OpId) -> bool {
        let mut nested = self
            .regions(op)
            .iter()
            .flat_map(|region| self.iter_in(*region));
        self.results(op)
            .iter()
            .all(|result| self.use_count(*result) == 0)
            && self.has_no_effect(op)
            && nested.all(|inner| self.has_no_effect(inner))
    }

    fn has_no_effect(&self, op: OpId) -> bool {
        match self.symbol(op) {
            symbol::RETURN | symbol::YIELD | symbol::TUPLE | symbol::TUPLE_GET => true,
            _ => self.traits(op).is_pure(),
        }
    }

    /// The values that an op and what is nested in it use.
    pub(crate) fn used_by(&self, op: OpId) -> Vec<ValueId> {
        if !self.is_live(op) {
            return Vec::new();
        }
        let nested = self
            .regions(op)
            .iter()
            .flat_map(|region| self.iter_in(*region));
        let users = std::iter::once(op).chain(nested);
        users.flat_map(|user| self.operands(user)).collect()
    }
}
