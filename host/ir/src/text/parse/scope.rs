//! Which value a name means.

use passdock_abi::{SymbolId, ValueId};
use rustc_hash::FxHashMap;

/// A name as a key: an interned one or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Name(SymbolId),
    Number(u64),
}

/// How far a number may be from those before it to be kept beside them.
const GAP: u64 = 1024;

/// The names that are visible. Leaving a region forgets those defined in it.
#[derive(Default)]
pub(super) struct Scope {
    /// Per symbol.
    named: Vec<ValueId>,
    /// Per number, as long as they come one after another.
    numbered: Vec<ValueId>,
    /// Numbers from further off.
    scattered: FxHashMap<u64, ValueId>,
    log: Vec<Key>,
    /// Per value: where it is defined.
    places: Vec<usize>,
    /// The last value of a name in a region that has ended.
    ended: FxHashMap<SymbolId, ValueId>,
}

impl Scope {
    /// What to hand to [`Scope::leave`].
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Leaves a region; `nested`: it isn't the function's body.
    pub(super) fn leave(&mut self, mark: usize, nested: bool) {
        for key in self.log.split_off(mark.min(self.log.len())) {
            match key {
                Key::Name(name) => {
                    let value = std::mem::replace(&mut self.named[name.index()], ValueId::NONE);
                    if nested {
                        self.ended.insert(name, value);
                    }
                }
                Key::Number(number) => match self.near(number) {
                    Some(at) => self.numbered[at] = ValueId::NONE,
                    _ => _ = self.scattered.remove(&number),
                },
            }
        }
        if !nested {
            self.ended = FxHashMap::default();
        }
    }

    /// The last value of a name in a region that has ended, and where it is defined.
    pub(super) fn ended(&self, name: SymbolId) -> Option<(ValueId, usize)> {
        let &value = self.ended.get(&name)?;
        Some((value, self.places.get(value.index()).copied()?))
    }

    pub(super) fn get(&self, key: Key) -> Option<ValueId> {
        match key {
            Key::Name(name) => self.named.get(name.index())?.option(),
            Key::Number(number) => match self.near(number) {
                Some(at) => Some(self.numbered[at]),
                None => self.scattered.get(&number).copied(),
            },
        }
    }

    /// Where a number that is defined stands among those that are near each other.
    fn near(&self, number: u64) -> Option<usize> {
        let at = usize::try_from(number).ok()?;
        self.numbered.get(at)?.option().map(|_| at)
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
            Key::Number(number) if number <= self.numbered.len() as u64 + GAP => {
                let at = number as usize;
                if self.numbered.len() <= at {
                    self.numbered.resize(at + 1, ValueId::NONE);
                }
                self.numbered[at] = value;
            }
            Key::Number(number) => _ = self.scattered.insert(number, value),
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
