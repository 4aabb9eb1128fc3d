//! Scopes: the values that names mean.

use passdock_abi::{SymbolId, ValueId};
use rustc_hash::FxHashMap;

/// A name as a key: an interned one or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Name(SymbolId),
    Number(u64),
}

/// The largest distance of a number to those before it for it to be kept beside them.
const GAP: u64 = 1024;

/// The names that are visible. Leaving a region forgets those defined in it.
#[derive(Default)]
pub(super) struct Scope {
    /// The number of symbols there were before this text: a body of three ops may be read into a
    /// module of a million names.
    first: usize,
    /// The value of each symbol that is new.
    named: Vec<ValueId>,
    /// The values of symbols that were there.
    known: FxHashMap<SymbolId, ValueId>,
    /// The values of numbers that come one after another.
    numbered: Vec<ValueId>,
    /// Numbers from further off.
    scattered: FxHashMap<u64, ValueId>,
    log: Vec<Key>,
    /// The place where each value is defined.
    places: Vec<usize>,
    /// The last value of a name in a region that has ended.
    ended: FxHashMap<SymbolId, ValueId>,
}

impl Scope {
    /// A scope without names, given the number of symbols.
    pub(super) fn new(symbols: usize) -> Scope {
        Scope {
            first: symbols,
            ..Scope::default()
        }
    }

    /// The mark to hand to [`Scope::leave`].
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Leaves a region; `nested`: it isn't the function's body.
    pub(super) fn leave(&mut self, mark: usize, nested: bool) {
        for key in self.log.split_off(mark.min(self.log.len())) {
            match key {
                Key::Name(name) => {
                    let value = match name.index().checked_sub(self.first) {
                        Some(at) => std::mem::replace(&mut self.named[at], ValueId::NONE),
                        None => self.known.remove(&name).unwrap_or(ValueId::NONE),
                    };
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
            Key::Name(name) => match name.index().checked_sub(self.first) {
                Some(at) => self.named.get(at)?.option(),
                None => self.known.get(&name).copied(),
            },
            Key::Number(number) => match self.near(number) {
                Some(at) => Some(self.numbered[at]),
                None => self.scattered.get(&number).copied(),
            },
        }
    }

    /// The index of a defined number among those kept beside each other.
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
            Key::Name(name) => match name.index().checked_sub(self.first) {
                Some(at) => {
                    if self.named.len() <= at {
                        self.named.resize(at + 1, ValueId::NONE);
                    }
                    self.named[at] = value;
                }
                None => _ = self.known.insert(name, value),
            },
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
