//! Scratch constants and trial operands. None of them is an edit.

use std::sync::Arc;

use passdock_abi::{ConstId, OpId, TypeId, Value, ValueId};

use crate::constant::ConstantData;
use crate::error::{Edit, invalid};
use crate::function::Function;

impl Function {
    /// Creates a constant that isn't part of the function until an op uses it.
    ///
    /// # Errors
    /// If the data doesn't match the type.
    pub fn add_scratch(&mut self, ty: TypeId, data: Arc<ConstantData>) -> Edit<ValueId> {
        self.check_constant(ty, &data)?;
        let constant = self.push_tensor(ty, data, self.body);
        let value = self.make_constant_value(constant, ty);
        self.values[value.index()].flags |= Value::SCRATCH;
        Ok(value)
    }

    /// Drops a scratch constant and its bytes.
    pub(crate) fn erase_scratch(&mut self, id: ConstId) {
        self.erase_constant_record(id);
        self.data[id.index()] = ConstantData::inline([]);
    }

    /// Replaces an op's operands temporarily and returns the original ones in `operands`. Use lists don't change: until
    /// the operands are restored, the function may only be used to read this op. It counts as another version, so
    /// results that are cached in the meantime aren't valid afterwards.
    ///
    /// # Errors
    /// If the op is erased, or the number of values isn't its number of operands.
    pub fn show_operands(&mut self, op: OpId, operands: &mut [ValueId]) -> Edit {
        self.swap_shown_operands(op, operands)?;
        self.begin_trial();
        Ok(())
    }

    /// Restores the operands replaced by [`Function::show_operands`], in reverse order of the calls. The function has
    /// its previous version again.
    ///
    /// # Errors
    /// See [`Function::show_operands`].
    pub fn take_back_operands(&mut self, op: OpId, operands: &mut [ValueId]) -> Edit {
        self.swap_shown_operands(op, operands)?;
        self.end_trial();
        Ok(())
    }

    fn swap_shown_operands(&mut self, op: OpId, operands: &mut [ValueId]) -> Edit {
        let range = self.live_op(op)?.operands;
        if range.len as usize != operands.len() {
            invalid!(
                "wrong number of operands for {}: expected {}, found {}",
                self.describe_op(op),
                range.len,
                operands.len()
            );
        }
        for &value in operands.iter().filter(|value| value.is_some()) {
            self.live_value(value)?;
        }
        let slots = &mut self.uses[range.start as usize..][..operands.len()];
        for (slot, operand) in slots.iter_mut().zip(operands) {
            std::mem::swap(&mut slot.value, operand);
        }
        Ok(())
    }
}
