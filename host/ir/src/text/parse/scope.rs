//! Which value a name means.

use passdock_abi::{SymbolId, ValueId};
use rustc_hash::FxHashMap;

/// A name as a key: an interned one or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Name(SymbolId),
    Number(u64),
}

/// The names that are visible. Leaving a region forgets those defined in it.
#[derive(Default)]
pub(super) struct Scope {
    /// Per symbol.
    named: Vec<ValueId>,
    numbered: FxHashMap<u64, ValueId>,
    log: Vec<Key>,
    /// Per value: where it is defined.
    places: Vec<usize>,
}

impl Scope {
    /// What to hand to [`Scope::leave`].
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    pub(super) fn leave(&mut self, mark: usize) {
        for key in self.log.drain(mark..) {
            match key {
                Key::Name(name) => self.named[name.index()] = ValueId::NONE,
                Key::Number(number) => _ = self.numbered.remove(&number),
            }
        }
    }

    pub(super) fn get(&self, key: Key) -> Option<ValueId> {
        match key {
            Key::Name(name) => self.named.get(name.index())?.option(),
            Key::Number(number) => self.numbered.get(&number).copied(),
        }
    }

    /// Defines a name; `Err` is where it is defined already.
    pub(super) fn define(&mut self, key: Key, value: ValueId, place: usize) -> Result<(), usize> {
        if let Some(known) = self.get(key) {
            return Err(self.places.get(known.index()).copied().unwrap_or(0));
        }
        match key {
            Key::Name(name) => {
                if self.named.len() <= name.index() {
                    self.named.resize(name.index() + 1, ValueId::NONE);
                }
                self.named[name.index()] = value;
            }
            Key::Number(number) => _ = self.numbered.insert(number, value),
        }
        self.log.push(key);
        if self.places.len() <= value.index() {
            self.places.resize(value.index() + 1, 0);
        }
        self.places[value.index()] = place;
        Ok(())
    }

    /// The names that are visible.
    pub(super) fn names(&self) -> impl Iterator<Item = SymbolId> + '_ {
        self.log.iter().filter_map(|key| match key {
            Key::Name(name) => Some(*name),
            Key::Number(_) => None,
        })
    }
}
