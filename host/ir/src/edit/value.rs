//! Types and names of values.

use passdock_abi::{Constant, OpId, SymbolId, TypeId, TypeKind, Value, ValueId};

use crate::error::Edit;
use crate::function::Function;

impl Function {
    /// Refines a value's type: known parts that `ty` leaves open stay. The unknown type forgets
    /// them, which is how a type is taken back.
    ///
    /// # Errors
    /// If the value or the type is none of this function, or the type contradicts what is known.
    pub fn set_type(&mut self, value: ValueId, ty: TypeId) -> Edit {
        let old = self.live_value(value)?.ty;
        let forgets = self.live_type(ty)?.kind == TypeKind::UNKNOWN;
        let new = match self.merge_types(old, ty) {
            _ if forgets => ty,
            Some(merged) => merged,
            None => return self.check_type_change(value, ty),
        };
        if old != new {
            self.values[value.index()].ty = new;
            self.touch_value(value);
            self.retyped += 1;
        }
        Ok(())
    }

    /// Names a value; a name that is taken gets a number.
    ///
    /// # Errors
    /// If the value is gone.
    pub fn set_name(&mut self, value: ValueId, name: &str) -> Edit {
        let old = self.live_value(value)?.name;
        if old.is_some() && self.text(old) == name {
            return Ok(());
        }
        if name.is_empty() {
            self.values[value.index()].name = SymbolId::NONE;
        } else {
            self.give_name(value, name);
        }
        self.free_name(old);
        self.touch_named(value);
        Ok(())
    }

    /// Marks the records that have a value's name as changed.
    pub(crate) fn touch_named(&mut self, value: ValueId) {
        self.touch_value(value);
        self.touch_definition(value);
        self.touch_users(value);
    }

    /// Marks the record that declares a value as changed.
    pub(crate) fn touch_value(&mut self, value: ValueId) {
        self.values[value.index()].flags |= Value::TOUCHED;
        let region = self.home(value);
        self.touch_region(region);
    }

    fn touch_definition(&mut self, value: ValueId) {
        let record = self.values[value.index()];
        if record.flags & Value::KIND == Value::RESULT {
            self.touch_op(OpId(record.def));
        }
        if let Some(constant) = record.constant.option() {
            self.constants[constant.index()].flags |= Constant::TOUCHED;
        }
    }
}
