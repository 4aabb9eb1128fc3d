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
const GAP: usize = 1024;

/// Values by number: a list of those that come one after another, and a map of the others.
#[derive(Default)]
struct Table {
    /// The number that the list begins with.
    first: usize,
    /// The largest distance of a number to the list's end for it to be put there.
    gap: usize,
    list: Vec<ValueId>,
    others: FxHashMap<u64, ValueId>,
}

impl Table {
    /// The place of a number in the list, if it is behind where that begins.
    fn place(&self, number: u64) -> Option<usize> {
        usize::try_from(number).ok()?.checked_sub(self.first)
    }

    fn get(&self, number: u64) -> Option<ValueId> {
        let listed = self.place(number).and_then(|at| self.list.get(at));
        match listed.and_then(|value| value.option()) {
            None => self.others.get(&number).copied(),
            found => found,
        }
    }

    fn insert(&mut self, number: u64, value: ValueId) {
        let end = self.list.len().saturating_add(self.gap);
        match self.place(number).filter(|&at| at <= end) {
            Some(at) => {
                if self.list.len() <= at {
                    self.list.resize(at + 1, ValueId::NONE);
                }
                self.list[at] = value;
            }
            None => _ = self.others.insert(number, value),
        }
    }

    fn remove(&mut self, number: u64) -> ValueId {
        let listed = self.place(number).and_then(|at| self.list.get_mut(at));
        match listed.filter(|value| value.is_some()) {
            Some(value) => std::mem::replace(value, ValueId::NONE),
            None => self.others.remove(&number).unwrap_or(ValueId::NONE),
        }
    }
}

/// The names that are visible. Leaving a region forgets those defined in it.
#[derive(Default)]
pub(super) struct Scope {
    /// The values of symbols. The list has those that are new: a body of three ops may be read into
    /// a module of a million names.
    names: Table,
    numbers: Table,
    log: Vec<Key>,
    /// The place where each value is defined.
    places: Vec<usize>,
    /// The last value of a name in a region that has ended.
    ended: FxHashMap<SymbolId, ValueId>,
}

impl Scope {
    /// A scope without names, given the number of symbols there were before the text.
    pub(super) fn new(symbols: usize) -> Scope {
        let (mut names, mut numbers) = (Table::default(), Table::default());
        (names.first, names.gap) = (symbols, usize::MAX);
        numbers.gap = GAP;
        Scope {
            names,
            numbers,
            ..Scope::default()
        }
    }

    /// The mark to hand to [`Scope::leave`].
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Leaves a region; `nested`: it isn't the function's body.
    pub(super) fn leave(&mut self, mark: usize, nested: bool) {
        for key in self.log.drain(mark.min(self.log.len())..) {
            match key {
                Key::Name(name) => {
                    let value = self.names.remove(name.0.into());
                    if nested {
                        self.ended.insert(name, value);
                    }
                }
                Key::Number(number) => _ = self.numbers.remove(number),
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
            Key::Name(name) => self.names.get(name.0.into()),
            Key::Number(number) => self.numbers.get(number),
        }
    }

    /// Defines a name; `Err` is where it is defined already.
    pub(super) fn define(&mut self, key: Key, value: ValueId, place: usize) -> Result<(), usize> {
        if let Some(known) = self.get(key) {
            return Err(self.places.get(known.index()).copied().unwrap_or(0));
        }
        match key {
            Key::Name(name) => self.names.insert(name.0.into(), value),
            Key::Number(number) => self.numbers.insert(number, value),
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
