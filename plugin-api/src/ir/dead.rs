//! [`Function`]: erasing dead code after a rewrite.

use passdock_abi::{symbol, LocId, OpId, ValueId};

use super::Function;
use crate::data::EditError;

impl Function {
    /// Replaces an op with values as [`Function::replace_op_with`], then erases the ops that became dead: calls
    /// [`Function::erase_dead`] for each value that the op and its nested ops used.
    ///
    /// After the rewrite of a chain of ops, nothing of the chain remains if its ops are known to be pure. Ops without a
    /// definition aren't erased.
    ///
    /// # Examples
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// /// Replaces `Sqrt(Mul(x, x))` with `Abs(x)`, and erases the `Mul` unless it has another user.
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
    /// See [`Function::replace_op_with`].
    pub fn replace_with_and_erase_dead(
        &mut self,
        old: OpId,
        values: &[ValueId],
    ) -> Result<(), EditError> {
        let used = self.used_by(old);
        self.replace_op_with(old, values)?;
        self.erase_all_dead(used).map(drop)
    }

    /// Erases the constant or op that defines a value, if it is dead; then the values that only it used, and so on.
    ///
    /// An op is dead if its results have no users and its definition declares it as pure. Arguments aren't erased. A
    /// value that has users or is already erased is not an error.
    ///
    /// **An op without a definition is never erased**, because it may have side effects. In a host without op
    /// definitions only constants and tuples are erased. The command warns of such ops at the start of a run
    /// (`unknown-operators`). A program that embeds passdock must load the definitions; those of ONNX's operators are
    /// in the standard plugin `onnx-ops`.
    ///
    /// # Errors
    /// If the host rejects the edit.
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

    /// Whether an op's results have no users, and it has no side effects.
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

    /// Returns the values that an op and its nested ops use.
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
