//! The functions of a module in order, found by name.

use std::sync::Arc;

use passdock_abi::SymbolId;
use rustc_hash::FxHashMap;

use crate::function::Function;

/// Functions in order. A removed one leaves a gap, and gaps are dropped when there are more of them
/// than functions, so that removing all of n functions one by one takes n steps.
#[derive(Clone, Default)]
pub(super) struct Functions {
    slots: Vec<Option<NamedFunction>>,
    places: FxHashMap<SymbolId, u32>,
}

pub(super) type NamedFunction = (SymbolId, Arc<Function>);

impl Functions {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn iter(&self) -> InOrder<'_> {
        InOrder {
            slots: self.slots.iter(),
            left: self.places.len(),
        }
    }

    pub(super) fn get(&self, name: SymbolId) -> Option<&Arc<Function>> {
        let entry = self.slots[*self.places.get(&name)? as usize].as_ref();
        entry.map(|(_, function)| function)
    }

    pub(super) fn get_mut(&mut self, name: SymbolId) -> Option<&mut Arc<Function>> {
        let entry = self.slots[*self.places.get(&name)? as usize].as_mut();
        entry.map(|(_, function)| function)
    }

    /// The functions that nobody else holds.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Function> {
        let all = self.slots.iter_mut().flatten();
        all.filter_map(|(_, function)| Arc::get_mut(function))
    }

    pub(super) fn push(&mut self, name: SymbolId, function: Arc<Function>) {
        self.places.insert(name, self.slots.len() as u32);
        self.slots.push(Some((name, function)));
    }

    pub(super) fn remove(&mut self, name: SymbolId) -> Option<Arc<Function>> {
        let place = self.places.remove(&name)?;
        let removed = self.slots[place as usize].take();
        if self.slots.len() > 2 * self.places.len() {
            self.retain(|_| true);
        }
        removed.map(|(_, function)| function)
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&Function) -> bool) {
        let slots = std::mem::take(&mut self.slots);
        self.places.clear();
        let entries = slots.into_iter().flatten();
        entries
            .filter(|(_, function)| keep(function))
            .for_each(|(name, function)| self.push(name, function));
    }
}

#[derive(Clone)]
pub(super) struct InOrder<'m> {
    slots: std::slice::Iter<'m, Option<NamedFunction>>,
    left: usize,
}

impl<'m> Iterator for InOrder<'m> {
    type Item = &'m NamedFunction;

    fn next(&mut self) -> Option<&'m NamedFunction> {
        let next = self.slots.find_map(Option::as_ref)?;
        self.left -= 1;
        Some(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for InOrder<'_> {}
