//! Operand slots and their use lists.

use passdock_abi::{OpId, Range, RegionId, Use, UseId, Value, ValueId};

use crate::error::{Edit, EditFailure, invalid, reject};
use crate::function::{Function, MAX_LIST};
use crate::symbols::is_terminator;

impl Function {
    /// Sets an operand, or appends one at the next index; NONE omits the operand.
    ///
    /// # Errors
    /// If the op is erased or has no such operand, or the value isn't visible to it.
    pub fn set_operand(&mut self, op: OpId, index: usize, value: ValueId) -> Edit {
        let record = *self.live_op(op)?;
        let len = record.operands.len as usize;
        self.check_operand(value, record.parent, op, index)?;
        if index < len {
            let slot = UseId(record.operands.start + index as u32);
            if self.uses[slot.index()].value == value {
                return Ok(());
            }
            self.unlink_use(slot);
            self.link_use(slot, value);
        } else if is_terminator(record.name) {
            let name = self.describe_op(op);
            reject!(
                "cannot set operand {index} of {name}, the terminator of a region with {len} results; set the \
                 results of the region instead"
            );
        } else if index == len && len < MAX_LIST {
            self.append_operand(op, value);
        } else {
            let name = self.describe_op(op);
            invalid!("cannot set operand {index} of {name}, which has {len} operands");
        }
        self.touch_op(op);
        Ok(())
    }

    /// Rejects operands that aren't visible right before `before` in a region.
    pub(crate) fn check_operands(
        &self,
        values: &[ValueId],
        region: RegionId,
        before: OpId,
    ) -> Edit {
        let mut indexed = values.iter().enumerate();
        indexed.try_for_each(|(index, &value)| self.check_operand(value, region, before, index))
    }

    /// Rejects an operand that isn't visible right before `before` in a region.
    pub(crate) fn check_operand(
        &self,
        value: ValueId,
        region: RegionId,
        before: OpId,
        index: usize,
    ) -> Edit {
        if value.is_none() {
            return Ok(());
        }
        self.live_value(value)?;
        if self.is_visible(value, region, before) {
            return Ok(());
        }
        let value = self.describe(value);
        Err(EditFailure::rejected(format!(
            "{value} is not visible at operand {index}; a value is visible after its definition, in its \
             region and in nested regions"
        )))
    }

    /// Creates the operand slots of a new op.
    pub(crate) fn make_slots(&mut self, op: OpId, operands: &[ValueId]) -> Range {
        let start = self.uses.len() as u32;
        for &value in operands {
            let slot = UseId(self.uses.len() as u32);
            self.uses.push(Use {
                value: ValueId::NONE,
                user: op,
                next: UseId::NONE,
                prev: UseId::NONE,
            });
            self.link_use(slot, value);
        }
        Range {
            start,
            len: operands.len() as u32,
        }
    }

    fn append_operand(&mut self, op: OpId, value: ValueId) {
        let range = self.ops[op.index()].operands;
        if (range.start + range.len) as usize == self.uses.len() {
            self.make_slots(op, &[value]);
            self.ops[op.index()].operands.len += 1;
            return;
        }
        // The slots after the list belong to another op: move the list to the end.
        let mut operands: Vec<ValueId> = self.operands(op).iter().map(|slot| slot.value).collect();
        operands.push(value);
        self.drop_slots(op);
        self.ops[op.index()].operands = self.make_slots(op, &operands);
    }

    /// Removes an op's slots from the use lists.
    pub(crate) fn drop_slots(&mut self, op: OpId) {
        let range = self.ops[op.index()].operands;
        for slot in range.start..range.start + range.len {
            self.unlink_use(UseId(slot));
            self.uses[slot as usize].user = OpId::NONE;
        }
        self.ops[op.index()].operands = Range::EMPTY;
    }

    pub(crate) fn link_use(&mut self, slot: UseId, value: ValueId) {
        self.uses[slot.index()].value = value;
        if value.is_none() {
            return;
        }
        self.make_present(value);
        let head = &mut self.values[value.index()];
        let next = std::mem::replace(&mut head.first_use, slot);
        head.use_count += 1;
        (self.uses[slot.index()].next, self.uses[slot.index()].prev) = (next, UseId::NONE);
        if next.is_some() {
            self.uses[next.index()].prev = slot;
        }
    }

    /// Clears the mark of an omitted result or of a scratch constant: a used value is neither.
    pub(crate) fn make_present(&mut self, value: ValueId) {
        let record = &mut self.values[value.index()];
        let flags = record.flags & (Value::ABSENT | Value::SCRATCH);
        if flags == 0 {
            return;
        }
        record.flags &= !flags;
        let def = record.def;
        match flags {
            Value::SCRATCH => self.touch_region(self.body),
            _ => self.touch_op(OpId(def)),
        }
    }

    pub(crate) fn unlink_use(&mut self, slot: UseId) {
        let Use {
            value, next, prev, ..
        } = self.uses[slot.index()];
        if value.is_none() {
            return;
        }
        match prev.option() {
            Some(prev) => self.uses[prev.index()].next = next,
            None => self.values[value.index()].first_use = next,
        }
        if next.is_some() {
            self.uses[next.index()].prev = prev;
        }
        self.values[value.index()].use_count -= 1;
        let record = &mut self.uses[slot.index()];
        (record.value, record.next, record.prev) = (ValueId::NONE, UseId::NONE, UseId::NONE);
    }
}
