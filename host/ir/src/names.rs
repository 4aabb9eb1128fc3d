//! The names of a function's values and ports.
//!
//! A file may use one name for values of sibling regions, so the table counts the holders of a name: it is taken while
//! any value or port has it.

use passdock_abi::{Port, SymbolId, Value};
use rustc_hash::FxHashMap;

use crate::symbols::Symbols;

/// The names of a function; built when the first name is chosen.
#[derive(Clone, Default)]
pub(crate) struct NameTable {
    held: FxHashMap<SymbolId, Holders>,
    /// The next suffix to try for a name that is taken.
    next: FxHashMap<SymbolId, u32>,
}

/// The values and ports that have a name.
#[derive(Clone, Copy, Default)]
struct Holders {
    values: u32,
    port: bool,
}

impl NameTable {
    /// Collects the names of live values and of ports.
    pub(crate) fn new(values: &[Value], ports: &[Port]) -> NameTable {
        let mut names = NameTable::default();
        let live = values.iter().filter(|v| v.flags & Value::DEAD == 0);
        live.for_each(|value| names.add(value.name));
        names.add_ports(ports);
        names
    }

    /// Reserves a name that no value has yet: `base`, or `base` with a number.
    pub(crate) fn take(&mut self, base: &str, symbols: &Symbols) -> SymbolId {
        let requested = symbols.intern(base);
        let mut name = requested;
        while self.held.contains_key(&name) {
            let number = self.next.entry(requested).or_insert(1);
            name = symbols.intern(&format!("{base}_{number}"));
            *number += 1;
        }
        self.add(name);
        name
    }

    /// Reserves a name if only ports have it; returns `true` if so.
    pub(crate) fn take_port_name(&mut self, name: SymbolId) -> bool {
        let held = self.held.get_mut(&name).filter(|held| held.values == 0);
        held.map(|held| held.values = 1).is_some()
    }

    /// Whether several values have a name.
    pub(crate) fn is_shared(&self, name: SymbolId) -> bool {
        self.held.get(&name).is_some_and(|held| held.values > 1)
    }

    fn add(&mut self, name: SymbolId) {
        if name.is_some() {
            self.held.entry(name).or_default().values += 1;
        }
    }

    /// Adds the names of ports.
    pub(crate) fn add_ports(&mut self, ports: &[Port]) {
        for port in ports.iter().filter(|port| port.name.is_some()) {
            self.held.entry(port.name).or_default().port = true;
        }
    }

    /// Releases the name of one value.
    pub(crate) fn remove(&mut self, name: SymbolId) {
        if let Some(holders) = self.held.get_mut(&name) {
            holders.values = holders.values.saturating_sub(1);
            if holders.values == 0 && !holders.port {
                self.held.remove(&name);
            }
        }
    }
}
