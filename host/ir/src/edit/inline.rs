//! Inlining a region's ops without copying them, for example for an `if` with a constant condition.

use passdock_abi::{ConstId, Constant, OpId, RegionId, Value, ValueId};

use crate::error::{Edit, invalid, reject};
use crate::function::Function;
use crate::function::origin::{Entity, SourceSpan};

impl Function {
    /// Moves a region's ops and constants right before the op that contains it, and replaces the region's arguments
    /// with `args`. The values become visible in the outer region; only the terminator stays in the inlined region.
    ///
    /// Takes time linear in the number of ops of the region; nested regions move with their ops.
    ///
    /// # Errors
    /// If the region is erased or is the body, or the number of arguments is wrong, or an argument isn't visible.
    pub fn inline_region(&mut self, region: RegionId, args: &[ValueId]) -> Edit {
        let holder = self.live_region(region)?.parent;
        self.check_inline(region, holder, args)?;
        let into = self.op(holder).parent;
        let replaced: Vec<ValueId> = self.args(region).collect();
        for (arg, &value) in replaced.into_iter().zip(args) {
            self.substitute(arg, value);
        }
        for constant in self.nested_constants.remove(&region).unwrap_or_default() {
            self.move_constant(constant, into);
        }
        let terminator = self.terminator(region);
        let ops: Vec<OpId> = self.ops_in(region).collect();
        for op in ops.into_iter().filter(|&op| Some(op) != terminator) {
            self.unlink_op(op);
            self.link_op(op, into, holder);
            self.rename_shared(op);
        }
        self.touch_region(region);
        self.touch_region(into);
        Ok(())
    }

    fn check_inline(&self, region: RegionId, holder: OpId, args: &[ValueId]) -> Edit {
        if holder.is_none() {
            reject!("cannot inline the body of a function: it has no parent op");
        }
        self.check_args(region, args)?;
        self.check_operands(args, self.op(holder).parent, holder)?;
        for (arg, &value) in self.args(region).zip(args).filter(|(_, v)| v.is_some()) {
            self.check_type_change(arg, self.value(value).ty)?;
        }
        Ok(())
    }

    /// Rejects values unless there is one for each argument of a region.
    pub(crate) fn check_args(&self, region: RegionId, values: &[ValueId]) -> Edit {
        let (expected, found) = (self.args(region).len(), values.len());
        if expected == found {
            return Ok(());
        }
        invalid!("wrong number of arguments for the region: expected {expected}, found {found}")
    }

    /// Replaces all uses of an argument with a value. If the value is NONE, the operands are omitted.
    fn substitute(&mut self, arg: ValueId, value: ValueId) {
        if value.is_some() {
            self.move_uses(arg, value);
            return;
        }
        self.touch_users(arg);
        while let Some(slot) = self.value(arg).first_use.option() {
            self.unlink_use(slot);
        }
    }

    /// Moves a constant of a region to the surrounding region.
    fn move_constant(&mut self, id: ConstId, into: RegionId) {
        let record = self.constants[id.index()];
        let value = record.value;
        if record.flags & Constant::DEAD != 0 {
            return;
        }
        let is_default = value.is_some() && self.value(value).flags & Value::KIND == Value::ARG;
        let region = if is_default { record.region } else { into };
        if region != self.body {
            self.nested_constants.entry(region).or_default().push(id);
        }
        if is_default {
            return;
        }
        self.constants[id.index()].region = into;
        if value.is_none() {
            return;
        }
        // An initializer of one graph can't be found in the list of another graph.
        if record.flags & Constant::NODE == 0 {
            self.constants[id.index()].flags |= Constant::TOUCHED;
            if self.origins.get(Entity::Constant(id)).is_some() {
                self.origins.set(Entity::Constant(id), SourceSpan::NONE);
            }
        }
        self.rename_if_shared(value);
    }
}
