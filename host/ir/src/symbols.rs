//! Interned strings, shared by all functions of a module.
//!
//! Append-only chunks that double in size and never move: reading takes no lock, so functions are
//! rewritten in parallel. No output may depend on the order of symbols.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use hashbrown::HashTable;
use passdock_abi::{SymbolId, symbol};
use rustc_hash::FxBuildHasher;

/// The first chunk holds this many symbols; chunk `k` holds twice as many as chunk `k - 1`.
const FIRST_CHUNK: u32 = 256;
const CHUNKS: usize = 24;
/// The longest text that can be a symbol, in bytes.
pub const MAX_SYMBOL_BYTES: usize = 1 << 20;

/// Whether a symbol is the name of a terminator.
pub fn is_terminator(name: SymbolId) -> bool {
    matches!(name, symbol::RETURN | symbol::YIELD)
}

type Chunk = Box<[Cell]>;

#[derive(Default)]
struct Cell {
    text: OnceLock<Box<str>>,
    may_name_function: AtomicBool,
}

/// The interned strings of a module.
pub struct Symbols {
    chunks: [OnceLock<Chunk>; CHUNKS],
    index: Mutex<Index>,
}

struct Index {
    /// The symbols with their hashes, so that growing doesn't read the texts again.
    table: HashTable<(u64, SymbolId)>,
    len: u32,
}

impl Symbols {
    /// A table that holds the well-known symbols.
    pub fn new() -> Arc<Symbols> {
        let symbols = Symbols {
            chunks: [const { OnceLock::new() }; CHUNKS],
            index: Mutex::new(Index {
                table: HashTable::new(),
                len: 0,
            }),
        };
        for text in symbol::WELL_KNOWN {
            symbols.intern(text);
        }
        symbols.lock().len = symbol::FIRST.0;
        Arc::new(symbols)
    }

    /// The symbol of `text`, made if it is new.
    ///
    /// # Panics
    /// After 2^32 - 257 different texts.
    pub fn intern(&self, text: &str) -> SymbolId {
        let hash = FxBuildHasher.hash_one(text);
        let mut index = self.lock();
        let same = |&(known, id): &(u64, SymbolId)| known == hash && self.text(id) == text;
        if let Some(&(_, id)) = index.table.find(hash, same) {
            return id;
        }
        let id = SymbolId(index.len);
        let (chunk, slot) = place(id);
        let cells = self.chunks[chunk]
            .get_or_init(|| (0..FIRST_CHUNK << chunk).map(|_| Cell::default()).collect());
        // The slot is this id's alone, and ids are given out under the lock.
        let _ = cells[slot].text.set(text.into());
        index.len += 1;
        index
            .table
            .insert_unique(hash, (hash, id), |&(hash, _)| hash);
        id
    }

    /// The symbol of `text`, if it was interned.
    pub fn find(&self, text: &str) -> Option<SymbolId> {
        let hash = FxBuildHasher.hash_one(text);
        self.lock()
            .table
            .find(hash, |&(known, id)| known == hash && self.text(id) == text)
            .map(|&(_, id)| id)
    }

    /// The text of a symbol; `""` for one that isn't of this table.
    pub fn text(&self, id: SymbolId) -> &str {
        self.get(id).unwrap_or("")
    }

    /// The text of a symbol of this table.
    pub fn get(&self, id: SymbolId) -> Option<&str> {
        Some(self.cell(id)?.text.get()?)
    }

    /// Whether a function of some state of the module has, or had, this name. Which states were made
    /// isn't a matter of what one of them holds: if this is so, ask
    /// [`Module::function`](crate::Module::function); mostly it isn't, which is known in no time.
    pub fn may_name_function(&self, id: SymbolId) -> bool {
        self.cell(id)
            .is_some_and(|cell| cell.may_name_function.load(Ordering::Relaxed))
    }

    /// Remembers that a function has this name. It isn't forgotten when the function goes: other
    /// states of the module may still have it.
    pub(crate) fn name_function(&self, id: SymbolId) {
        if let Some(cell) = self.cell(id) {
            cell.may_name_function.store(true, Ordering::Relaxed);
        }
    }

    fn cell(&self, id: SymbolId) -> Option<&Cell> {
        if id.is_none() {
            return None;
        }
        let (chunk, slot) = place(id);
        self.chunks.get(chunk)?.get()?.get(slot)
    }

    /// The number of symbols.
    pub fn count(&self) -> usize {
        self.lock().len as usize
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Index> {
        // A panic inside the lock can only be the allocator's; the table is whole at every step.
        self.index
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Symbols {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Symbols({})", self.count())
    }
}

/// Chunk and slot of a symbol: chunk `k` starts at `FIRST_CHUNK * (2^k - 1)`.
fn place(id: SymbolId) -> (usize, usize) {
    let shifted = u64::from(id.0) + u64::from(FIRST_CHUNK);
    let chunk = (shifted / u64::from(FIRST_CHUNK)).ilog2();
    let start = u64::from(FIRST_CHUNK) << chunk;
    (chunk as usize, (shifted - start) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_symbol_and_keeps_it() {
        let symbols = Symbols::new();
        let ids: Vec<_> = (0..5000)
            .map(|i| symbols.intern(&format!("s{i}")))
            .collect();
        for (i, &id) in ids.iter().enumerate() {
            assert_eq!(symbols.text(id), format!("s{i}"));
            assert_eq!(symbols.intern(&format!("s{i}")), id);
        }
        assert_eq!(symbols.find("never"), None);
        assert_eq!(symbols.get(SymbolId(1 << 30)), None);
    }

    #[test]
    fn well_known_symbols_are_constants() {
        let symbols = Symbols::new();
        for (i, text) in symbol::WELL_KNOWN.iter().enumerate() {
            assert_eq!(symbols.find(text), Some(SymbolId(i as u32)));
        }
        assert_eq!(symbols.text(symbol::YIELD), "yield");
    }

    #[test]
    fn threads_agree() {
        let symbols = Symbols::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..2000).for_each(|i| _ = symbols.intern(&format!("t{i}"))));
            }
        });
        assert_eq!(symbols.count(), symbol::FIRST.index() + 2000);
    }
}
