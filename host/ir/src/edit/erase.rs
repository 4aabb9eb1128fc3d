//! Erasing ops with their nested regions.

use passdock_abi::{ConstId, Constant, Op, OpId, Range, Region, RegionId, Value, ValueId};

use crate::error::{Edit, reject};
use crate::function::Function;
use crate::pool::span;

impl Function {
    /// Erases an op and its regions; its results have to be unused.
    ///
    /// # Errors
    /// If the op is erased, is a terminator, or has used results.
    pub fn erase_op(&mut self, op: OpId) -> Edit {
        self.inner_op(op, "erase")?;
        let used = self
            .results(op)
            .find(|&result| self.value(result).use_count > 0);
        if let Some(result) = used {
            let user = self
                .uses(result)
                .next()
                .map_or(OpId::NONE, |(_, slot)| slot.user);
            let (name, result, user) = (
                self.describe_op(op),
                self.describe(result),
                self.describe_op(user),
            );
            reject!(
                "cannot erase {name}: its result {result} is used by {user}; replace the uses first"
            );
        }
        self.erase_checked(op);
        Ok(())
    }

    /// Erases an op that was checked to be unused.
    pub(crate) fn erase_checked(&mut self, op: OpId) {
        self.carry_to_replacements(op);
        self.touch_region(self.ops[op.index()].parent);
        self.unlink_op(op);
        let mut pending = vec![op];
        while let Some(op) = pending.pop() {
            self.drop_slots(op);
            let record = &mut self.ops[op.index()];
            record.flags |= Op::DEAD;
            let (results, regions) = (record.results, record.regions);
            self.live_ops -= 1;
            self.erase_value_records(results);
            for at in span(regions) {
                let region = RegionId(self.ids[at]);
                self.regions[region.index()].flags |= Region::DEAD;
                self.erase_value_records(self.regions[region.index()].args);
                for constant in self.nested_constants.remove(&region).unwrap_or_default() {
                    self.erase_constant_record(constant);
                }
                let mut next = self.regions[region.index()].first;
                while let Some(nested) = next.option() {
                    pending.push(nested);
                    next = self.ops[nested.index()].next;
                }
            }
        }
    }

    fn erase_value_records(&mut self, ids: Range) {
        for at in span(ids) {
            self.erase_value_record(ValueId(self.ids[at]));
        }
    }

    pub(crate) fn erase_value_record(&mut self, value: ValueId) {
        let record = &mut self.values[value.index()];
        record.flags |= Value::DEAD;
        let name = record.name;
        self.free_name(name);
    }

    /// Marks a constant and its value as erased.
    pub(crate) fn erase_constant_record(&mut self, id: ConstId) {
        let record = &mut self.constants[id.index()];
        record.flags |= Constant::DEAD;
        let value = record.value;
        if value.is_some() {
            self.erase_value_record(value);
        }
    }
}
