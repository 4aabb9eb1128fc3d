//! Comparing use lists with operand slots.

use passdock_abi::{OpId, UseId, Value, ValueId};

use super::{Checker, Invariant};

impl Checker<'_> {
    /// Checks use lists. Linear, because each is followed once, and only over slots that no earlier list contained.
    pub(super) fn uses(&mut self) {
        let f = self.f;
        let mut listed = vec![false; f.uses.len()];
        for (at, value) in f.values.iter().enumerate() {
            let id = ValueId(at as u32);
            let dead = value.flags & Value::DEAD != 0;
            let mut next = value.first_use;
            let (mut prev, mut count) = (UseId::NONE, 0_u32);
            let mut right = !dead || next.is_none();
            while let Some(slot) = next.option() {
                let record = f.uses.get(slot.index());
                let owned = self.slots.get(slot.index()) == Some(&true);
                let fresh = listed.get(slot.index()) == Some(&false);
                let Some(record) = record
                    .filter(|record| owned && fresh && record.value == id && record.prev == prev)
                else {
                    right = false;
                    break;
                };
                listed[slot.index()] = true;
                (prev, next) = (slot, record.next);
                count += 1;
            }
            if !right || count != value.use_count {
                let name = f.describe(id);
                let message = format!("the use list of {name} is broken after {count} uses");
                self.report(Invariant::Uses, OpId::NONE, message);
            }
        }
        let missing = f.uses.iter().enumerate().find(|(at, slot)| {
            let owned = self.slots.get(*at) == Some(&true);
            owned && slot.value.is_some() && !listed[*at]
        });
        if let Some((at, slot)) = missing {
            let (user, value) = (f.describe_op(slot.user), f.describe(slot.value));
            let message = format!(
                "slot {} of {user} is missing from the use list of {value}",
                UseId(at as u32)
            );
            self.report(Invariant::Uses, slot.user, message);
        }
    }
}
