//! Constants: types, sizes, and the entities that refer to them.

use passdock_abi::{ConstId, Constant, OpId, Region, Value};

use super::{Checker, Invariant};

impl Checker<'_> {
    pub(super) fn constants(&mut self) {
        let f = self.f;
        for (at, constant) in f.constants.iter().enumerate() {
            let region = f.regions.get(constant.region.index());
            let removed = region.is_some_and(|region| region.flags & Region::DEAD != 0);
            if constant.flags & Constant::DEAD != 0 || removed {
                continue;
            }
            let id = ConstId(at as u32);
            if let Some(message) = self.constant(id, constant) {
                self.report(Invariant::Constants, OpId::NONE, message);
            }
        }
    }

    /// Returns the violation of a constant's invariants as a message.
    fn constant(&self, id: ConstId, constant: &Constant) -> Option<String> {
        let f = self.f;
        let data = f.data.get(id.index())?;
        if f.regions.get(constant.region.index()).is_none() || !self.is_loc(constant.loc) {
            return Some(format!("{id} has an invalid region or location"));
        }
        if constant.storage != data.storage() || constant.byte_len != data.len() {
            return Some(format!("the record of {id} does not match its data"));
        }
        if let Err(error) = f.check_constant(constant.ty, data) {
            return Some(format!("{id} is invalid: {}", error.message));
        }
        let value = f.values.get(constant.value.option()?.index());
        let own = value.is_some_and(|value| {
            let kind = value.flags & Value::KIND;
            let is_live = value.flags & Value::DEAD == 0;
            let typed = f.live_type(value.ty).is_ok() && f.is_compatible(constant.ty, value.ty);
            let is_const = kind == Value::CONST && typed;
            is_live && value.constant == id && (is_const || kind == Value::ARG)
        });
        (!own).then(|| {
            format!(
                "{id} belongs to {}, which does not refer to it",
                constant.value
            )
        })
    }
}
