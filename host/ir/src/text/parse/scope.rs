//! Scopes: the visible names and their values.

use passdock_abi::{SymbolId, ValueId};
use rustc_hash::FxHashMap;

/// A name as a key: an interned string or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Name(SymbolId),
    Number(u32),
}

/// The visible names. Leaving a region removes the names defined in it.
#[derive(Default)]
pub(super) struct Scope {
    /// The value of each name.
    values: FxHashMap<Key, ValueId>,
    /// The names in the order of their definitions, with the position of each.
    log: Vec<(Key, usize)>,
    /// The last value of each name in an ended region, and the position of its definition.
    ended: FxHashMap<SymbolId, (ValueId, usize)>,
}

impl Scope {
    /// Returns a mark for [`Scope::leave`].
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Leaves a region; `nested` is `false` for the function's body.
    pub(super) fn leave(&mut self, mark: usize, nested: bool) {
        if !nested {
            *self = Scope::default();
            return;
        }
        for (key, at) in self.log.drain(mark.min(self.log.len())..) {
            let value = self.values.remove(&key);
            if let (Key::Name(name), Some(value)) = (key, value) {
                self.ended.insert(name, (value, at));
            }
        }
    }

    /// Returns the last value of a name in an ended region, and the position of its definition.
    pub(super) fn ended(&self, name: SymbolId) -> Option<(ValueId, usize)> {
        self.ended.get(&name).copied()
    }

    /// Returns the value of a name.
    pub(super) fn get(&self, key: Key) -> Option<ValueId> {
        self.values.get(&key).copied()
    }

    /// Defines a name; the error is the position of an earlier definition.
    pub(super) fn define(&mut self, key: Key, value: ValueId, at: usize) -> Result<(), usize> {
        if self.values.insert(key, value).is_some() {
            let known = self.log.iter().find(|(known, _)| *known == key);
            return Err(known.map_or(at, |(_, at)| *at));
        }
        self.log.push((key, at));
        Ok(())
    }

    /// Iterates over the visible names.
    pub(super) fn names(&self) -> impl Iterator<Item = SymbolId> + '_ {
        self.log.iter().filter_map(|(key, _)| match key {
            Key::Name(name) => Some(*name),
            Key::Number(_) => None,
        })
    }
}
