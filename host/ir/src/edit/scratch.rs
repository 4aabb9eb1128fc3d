//! Scratch: trials beside a function. None of them is an edit.

use std::sync::Arc;

use passdock_abi::{ConstId, OpId, TypeId, Value, ValueId};

use crate::constant::ConstantData;
use crate::error::{Edit, invalid};
use crate::function::Function;

impl Function {
    /// Makes a constant that is no part of the function until an op uses it.
    ///
    /// # Errors
    /// If the data isn't what the type takes.
    pub fn add_scratch(&mut self, ty: TypeId, data: Arc<ConstantData>) -> Edit<ValueId> {
        self.check_constant(ty, &data)?;
        let constant = self.push_tensor(ty, data, self.body);
        let value = self.make_constant_value(constant, ty);
        self.values[value.index()].flags |= Value::SCRATCH;
        Ok(value)
    }

    /// Drops a scratch constant and its bytes.
    pub(crate) fn erase_scratch(&mut self, id: ConstId) {
        self.bury_constant(id);
        self.data[id.index()] = ConstantData::inline([]);
    }

    /// Shows other operands in an op's slots, and hands back those that were there. The shown ones
    /// don't count as used: they have to be taken back before the function is used for anything but
    /// reading this op. Until then it is another version: results for it are good for no other.
    ///
    /// # Errors
    /// If the op is gone, or there are not as many values as it has operands.
    pub fn show_operands(&mut self, op: OpId, operands: &mut [ValueId]) -> Edit {
        self.swap_shown_operands(op, operands)?;
        self.begin_trial();
        Ok(())
    }

    /// Puts back the operands that were there before [`Function::show_operands`], the last shown
    /// first; the function is the version that it was.
    ///
    /// # Errors
    /// As [`Function::show_operands`].
    pub fn take_back_operands(&mut self, op: OpId, operands: &mut [ValueId]) -> Edit {
        self.swap_shown_operands(op, operands)?;
        self.end_trial();
        Ok(())
    }

    fn swap_shown_operands(&mut self, op: OpId, operands: &mut [ValueId]) -> Edit {
        let range = self.live_op(op)?.operands;
        if range.len as usize != operands.len() {
            invalid!(
                "{} has {} operands, and {} were given to stand for them.",
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
