//! Which names values have.
//!
//! A file may give one name to values of sibling regions, so names are counted: one that an edit
//! gives is taken as long as anybody has it.

use passdock_abi::{OpId, Port, SymbolId, Value, ValueId};
use rustc_hash::FxHashMap;

use crate::function::Function;

/// The names of a function; built when a name is first chosen.
#[derive(Clone, Default)]
pub(crate) struct Names {
    held: FxHashMap<SymbolId, Holders>,
    /// The number to try next where a name is taken.
    next: FxHashMap<SymbolId, u32>,
}

/// Who has a name.
#[derive(Clone, Copy, Default)]
struct Holders {
    values: u32,
    port: bool,
}

impl Names {
    fn new(f: &Function) -> Names {
        let mut names = Names::default();
        let live = f.values.iter().filter(|v| v.flags & Value::DEAD == 0);
        live.for_each(|value| names.add(value.name));
        f.ports.iter().for_each(|port| names.add_port(port.name));
        names
    }

    fn add(&mut self, name: SymbolId) {
        if name.is_some() {
            self.held.entry(name).or_default().values += 1;
        }
    }

    fn add_port(&mut self, name: SymbolId) {
        if name.is_some() {
            self.held.entry(name).or_default().port = true;
        }
    }

    fn remove(&mut self, name: SymbolId) {
        if let Some(holders) = self.held.get_mut(&name) {
            holders.values = holders.values.saturating_sub(1);
            if holders.values == 0 && !holders.port {
                self.held.remove(&name);
            }
        }
    }
}

impl Function {
    /// A name nobody has yet: `base`, or `base` with a number.
    pub fn fresh_name(&mut self, base: &str) -> SymbolId {
        let symbols = self.symbols.clone();
        self.name_table();
        let names = self.names.get_or_insert_default();
        let wanted = symbols.intern(base);
        let mut name = wanted;
        while names.held.contains_key(&name) {
            let number = names.next.entry(wanted).or_insert(1);
            name = symbols.intern(&format!("{base}_{number}"));
            *number += 1;
        }
        names.add(name);
        name
    }

    pub(crate) fn give_name(&mut self, value: ValueId, name: &str) {
        let name = self.fresh_name(name);
        self.values[value.index()].name = name;
    }

    /// Ports have these names now.
    pub(crate) fn hold_port_names(&mut self, ports: &[Port]) {
        if let Some(names) = &mut self.names {
            ports.iter().for_each(|port| names.add_port(port.name));
        }
    }

    /// A value doesn't have this name any more.
    pub(crate) fn free_name(&mut self, name: SymbolId) {
        if let Some(names) = &mut self.names {
            names.remove(name);
        }
    }

    /// Gives the name of a value that goes to the one that takes its place, if that has none. In
    /// another region, where the name may mean something else to others, it gets a number.
    pub(crate) fn hand_name(&mut self, from: ValueId, to: ValueId) {
        let name = self.value(from).name;
        if name.is_none() || self.value(to).name.is_some() {
            return;
        }
        self.name_table();
        let held = self.names.get_or_insert_default().held.get(&name);
        if held.is_some_and(|held| held.values > 1) || self.home(from) != self.home(to) {
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
        if name.is_none() {
            return;
        }
        self.name_table();
        let held = self.names.get_or_insert_default().held.get(&name);
        if held.is_some_and(|held| held.values > 1) {
            let base = self.text(name).to_owned();
            self.give_name(value, &base);
            self.free_name(name);
            self.touch_named(value);
        }
    }

    fn name_table(&mut self) {
        if self.names.is_none() {
            self.names = Some(Names::new(self));
        }
    }
}
