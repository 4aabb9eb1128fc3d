//! Types and names of values.

use passdock_abi::{Constant, OpId, Port, SymbolId, TypeId, TypeKind, Value, ValueId};

use crate::error::Edit;
use crate::function::Function;
use crate::names::NameTable;

impl Function {
    /// Refines a value's type: known parts that `ty` leaves open are kept. The unknown type resets the type; a constant
    /// gets the type of its data.
    ///
    /// # Errors
    /// If the value is erased or the type isn't a type of this function, or the type contradicts the known one.
    pub fn set_type(&mut self, value: ValueId, ty: TypeId) -> Edit {
        let record = self.live_value(value)?;
        let (old, constant) = (record.ty, record.constant);
        let is_constant = record.flags & Value::KIND == Value::CONST;
        let forgets = self.live_type(ty)?.kind == TypeKind::UNKNOWN;
        let new = match self.merge_types(old, ty) {
            _ if forgets && is_constant => self.constants[constant.index()].ty,
            _ if forgets => ty,
            Some(merged) => merged,
            None => return self.check_type_change(value, ty),
        };
        self.change_type(value, new);
        Ok(())
    }

    /// Sets the type that an op definition infers for a value. It overrides the known type, even if they contradict.
    ///
    /// # Errors
    /// If the value is erased or the type isn't a type of this function. Also, with the type set, if it contradicts the
    /// known one.
    pub fn infer_type(&mut self, value: ValueId, ty: TypeId) -> Edit {
        let old = self.live_value(value)?.ty;
        self.live_type(ty)?;
        let checked = self.check_type_change(value, ty);
        let new = self.override_type(old, ty);
        self.change_type(value, new);
        checked
    }

    fn change_type(&mut self, value: ValueId, ty: TypeId) {
        if self.values[value.index()].ty != ty {
            self.values[value.index()].ty = ty;
            self.touch_value(value);
        }
    }

    /// Marks a value's type to be declared by an exporter, separately from its definition.
    ///
    /// # Errors
    /// If the value is erased.
    pub fn declare_type(&mut self, value: ValueId) -> Edit {
        if self.live_value(value)?.flags & Value::DECLARED == 0 {
            self.values[value.index()].flags |= Value::DECLARED;
            self.touch_value(value);
        }
        Ok(())
    }

    /// Names a value; a name that is taken gets a numeric suffix. A value may have the name of a port through which its
    /// region yields it.
    ///
    /// # Errors
    /// If the value is erased.
    pub fn set_name(&mut self, value: ValueId, name: &str) -> Edit {
        let old = self.live_value(value)?.name;
        if old.is_some() && self.text(old) == name {
            return Ok(());
        }
        if name.is_empty() {
            self.values[value.index()].name = SymbolId::NONE;
        } else if let Some(name) = self.port_name(value, name) {
            self.values[value.index()].name = name;
        } else {
            self.set_unique_name(value, name);
        }
        self.free_name(old);
        self.touch_named(value);
        Ok(())
    }

    /// Reserves and returns the name if it is that of a port which yields the value, and no value has it.
    fn port_name(&mut self, value: ValueId, name: &str) -> Option<SymbolId> {
        let name = self.symbols.find(name)?;
        let ends = self.terminator(self.region_of(value))?;
        let ports = self.ports(self.op(ends).parent);
        let first = self.op(ends).operands.start;
        let is_port = self.uses(value).any(|(id, slot)| {
            let port = ports.get(id.0.wrapping_sub(first) as usize);
            slot.user == ends && port.is_some_and(|port| port.name == name)
        });
        (is_port && self.name_table().take_port_name(name)).then_some(name)
    }

    /// Marks the records that contain a value's name as changed.
    pub(crate) fn touch_named(&mut self, value: ValueId) {
        self.touch_value(value);
        self.touch_definition(value);
        self.touch_users(value);
    }

    /// Marks the record that declares a value as changed.
    pub(crate) fn touch_value(&mut self, value: ValueId) {
        self.values[value.index()].flags |= Value::TOUCHED;
        let region = self.region_of(value);
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

/// Choosing, moving and releasing the names of values.
impl Function {
    /// Reserves a name that no value has yet: `base`, or `base` with a number.
    pub fn fresh_name(&mut self, base: &str) -> SymbolId {
        let symbols = self.symbols.clone();
        self.name_table().take(base, &symbols)
    }

    pub(crate) fn set_unique_name(&mut self, value: ValueId, name: &str) {
        let name = self.fresh_name(name);
        self.values[value.index()].name = name;
    }

    /// Reserves the names of ports.
    pub(crate) fn hold_port_names(&mut self, ports: &[Port]) {
        if let Some(names) = &mut self.names {
            names.add_ports(ports);
        }
    }

    /// Releases the name of one value.
    pub(crate) fn free_name(&mut self, name: SymbolId) {
        if let Some(names) = &mut self.names {
            names.remove(name);
        }
    }

    /// Moves the name of an erased value to its replacement, if that has none. In another region, or if other values
    /// share the name, it gets a numeric suffix.
    pub(crate) fn transfer_name(&mut self, from: ValueId, to: ValueId) {
        let name = self.value(from).name;
        if name.is_none() || self.value(to).name.is_some() {
            return;
        }
        if self.name_table().is_shared(name) || self.region_of(from) != self.region_of(to) {
            let base = self.text(name).to_owned();
            self.set_unique_name(to, &base);
        } else {
            self.values[to.index()].name = name;
            self.values[from.index()].name = SymbolId::NONE;
        }
        self.touch_named(to);
    }

    /// Renames the results of an op that share a name with other values, because these may be visible at the op's new
    /// position.
    pub(crate) fn rename_shared(&mut self, op: OpId) {
        let results: Vec<ValueId> = self.results(op).collect();
        for result in results {
            self.rename_if_shared(result);
        }
    }

    /// Renames a value whose name is shared.
    pub(crate) fn rename_if_shared(&mut self, value: ValueId) {
        let name = self.value(value).name;
        if name.is_some() && self.name_table().is_shared(name) {
            let base = self.text(name).to_owned();
            self.set_unique_name(value, &base);
            self.free_name(name);
            self.touch_named(value);
        }
    }

    fn name_table(&mut self) -> &mut NameTable {
        let (values, ports) = (&self.values, &self.ports);
        let make = || NameTable::new(values, ports);
        self.names.get_or_insert_with(make)
    }
}
