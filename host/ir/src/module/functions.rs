//! The functions of a module in order, found by name.

use std::collections::{BTreeMap, btree_map};
use std::sync::Arc;

use passdock_abi::SymbolId;
use rustc_hash::FxHashMap;

use crate::function::Function;

/// Functions in order.
#[derive(Clone, Default)]
pub(super) struct Functions {
    /// The functions by numbers that rise in their order.
    list: BTreeMap<usize, NamedFunction>,
    /// The number of each.
    numbers: FxHashMap<SymbolId, usize>,
}

pub(super) type NamedFunction = (SymbolId, Arc<Function>);

impl Functions {
    pub(super) fn iter(&self) -> btree_map::Values<'_, usize, NamedFunction> {
        self.list.values()
    }

    pub(super) fn get(&self, name: SymbolId) -> Option<&Arc<Function>> {
        let (_, function) = self.list.get(self.numbers.get(&name)?)?;
        Some(function)
    }

    pub(super) fn get_mut(&mut self, name: SymbolId) -> Option<&mut Arc<Function>> {
        let (_, function) = self.list.get_mut(self.numbers.get(&name)?)?;
        Some(function)
    }

    /// The functions that nobody else holds.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Function> {
        let all = self.list.values_mut();
        all.filter_map(|(_, function)| Arc::get_mut(function))
    }

    pub(super) fn push(&mut self, name: SymbolId, function: Arc<Function>) {
        let last = self.list.last_key_value();
        let number = last.map_or(0, |(number, _)| number + 1);
        self.numbers.insert(name, number);
        self.list.insert(number, (name, function));
    }

    pub(super) fn remove(&mut self, name: SymbolId) -> Option<Arc<Function>> {
        let (_, function) = self.list.remove(&self.numbers.remove(&name)?)?;
        Some(function)
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&Function) -> bool) {
        self.list.retain(|_, (_, function)| keep(function));
        self.numbers
            .retain(|_, number| self.list.contains_key(number));
    }
}
