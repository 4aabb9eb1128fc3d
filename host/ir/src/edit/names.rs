//! The names of values: chosen, handed on and given up.

use passdock_abi::{OpId, Port, SymbolId, ValueId};

use crate::function::Function;
use crate::names::NameTable;

impl Function {
    /// A name that no value has yet: `base`, or `base` with a number.
    pub fn fresh_name(&mut self, base: &str) -> SymbolId {
        let symbols = self.symbols.clone();
        self.name_table().take(base, &symbols)
    }

    pub(crate) fn give_name(&mut self, value: ValueId, name: &str) {
        let name = self.fresh_name(name);
        self.values[value.index()].name = name;
    }

    /// Adds the names of ports to those that are taken.
    pub(crate) fn hold_port_names(&mut self, ports: &[Port]) {
        if let Some(names) = &mut self.names {
            names.add_ports(ports);
        }
    }

    /// Takes a name from one value.
    pub(crate) fn free_name(&mut self, name: SymbolId) {
        if let Some(names) = &mut self.names {
            names.remove(name);
        }
    }

    /// Moves the name of a value that goes to the one that replaces it, if that has none. In
    /// another region, where the name may mean something else to others, it gets a number.
    pub(crate) fn hand_name(&mut self, from: ValueId, to: ValueId) {
        let name = self.value(from).name;
        if name.is_none() || self.value(to).name.is_some() {
            return;
        }
        if self.name_table().is_shared(name) || self.home(from) != self.home(to) {
            let base = self.text(name).to_owned();
            self.give_name(to, &base);
        } else {
            self.values[to.index()].name = name;
            self.values[from.index()].name = SymbolId::NONE;
        }
        self.touch_named(to);
    }

    /// Renames the results of an op that share their names: where the op goes, they may be visible to
    /// the others.
    pub(crate) fn rename_shared(&mut self, op: OpId) {
        let results: Vec<ValueId> = self.results(op).collect();
        for result in results {
            self.rename_if_shared(result);
        }
    }

    /// Renames a value that shares its name.
    pub(crate) fn rename_if_shared(&mut self, value: ValueId) {
        let name = self.value(value).name;
        if name.is_some() && self.name_table().is_shared(name) {
            let base = self.text(name).to_owned();
            self.give_name(value, &base);
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
