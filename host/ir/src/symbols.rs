//! Interned strings, shared by all functions of a module.
//!
//! The strings are in append-only chunks that double in size and never move. Reads take no lock, so functions can be
//! rewritten in parallel. No output may depend on the order of symbols.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use hashbrown::HashTable;
use passdock_abi::{SymbolId, symbol};
use rustc_hash::FxBuildHasher;

/// The number of symbols in the first chunk; chunk `k` holds twice as many as chunk `k - 1`.
const FIRST_CHUNK: u32 = 256;
const CHUNKS: usize = 24;
/// The maximum length of a symbol, in bytes.
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
    /// The symbols with their hashes, so that growing the table doesn't rehash the strings.
    table: HashTable<(u64, SymbolId)>,
    len: u32,
}

impl Symbols {
    /// Creates a table that contains the well-known symbols.
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

    /// Interns `text`.
    ///
    /// # Panics
    /// After 2^32 - 257 different strings.
    pub fn intern(&self, text: &str) -> SymbolId {
        let hash = FxBuildHasher.hash_one(text);
        let mut index = self.lock();
        let same = |&(known, id): &(u64, SymbolId)| known == hash && self.text(id) == text;
        if let Some(&(_, id)) = index.table.find(hash, same) {
            return id;
        }
        let id = SymbolId(index.len);
        let (chunk, slot) = chunk_slot(id);
        let cells = self.chunks[chunk]
            .get_or_init(|| (0..FIRST_CHUNK << chunk).map(|_| Cell::default()).collect());
        // Only this id uses the slot, and ids are assigned under the lock.
        let _ = cells[slot].text.set(text.into());
        index.len += 1;
        index
            .table
            .insert_unique(hash, (hash, id), |&(hash, _)| hash);
        id
    }

    /// Returns the symbol of `text` if it is interned.
    pub fn find(&self, text: &str) -> Option<SymbolId> {
        let hash = FxBuildHasher.hash_one(text);
        self.lock()
            .table
            .find(hash, |&(known, id)| known == hash && self.text(id) == text)
            .map(|&(_, id)| id)
    }

    /// Returns the text of a symbol; `""` if the symbol isn't in this table.
    pub fn text(&self, id: SymbolId) -> &str {
        self.get(id).unwrap_or("")
    }

    /// Returns the text of a symbol of this table.
    pub fn get(&self, id: SymbolId) -> Option<&str> {
        Some(self.cell(id)?.text.get()?)
    }

    /// Whether a function in some state of the module has, or had, this name. A cheap filter: if it returns `true`,
    /// look the function up with [`Module::function`](crate::Module::function).
    pub fn may_name_function(&self, id: SymbolId) -> bool {
        self.cell(id)
            .is_some_and(|cell| cell.may_name_function.load(Ordering::Relaxed))
    }

    /// Records that a function has this name, so that ops of this name call it. The IR's own ops, such as `if`, call no
    /// function. Removing the function doesn't clear the flag: other states of the module may still contain it.
    pub(crate) fn name_function(&self, id: SymbolId) {
        if let Some(cell) = self.cell(id).filter(|_| id >= symbol::FIRST) {
            cell.may_name_function.store(true, Ordering::Relaxed);
        }
    }

    fn cell(&self, id: SymbolId) -> Option<&Cell> {
        if id.is_none() {
            return None;
        }
        let (chunk, slot) = chunk_slot(id);
        self.chunks.get(chunk)?.get()?.get(slot)
    }

    /// Returns the number of symbols.
    pub fn count(&self) -> usize {
        self.lock().len as usize
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Index> {
        // Only the allocator can panic under the lock, and the table is consistent after every step.
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

/// Returns the chunk and slot of a symbol: chunk `k` starts at `FIRST_CHUNK * (2^k - 1)`.
fn chunk_slot(id: SymbolId) -> (usize, usize) {
    let shifted = u64::from(id.0) + u64::from(FIRST_CHUNK);
    let chunk = (shifted / u64::from(FIRST_CHUNK)).ilog2();
    let start = u64::from(FIRST_CHUNK) << chunk;
    (chunk as usize, (shifted - start) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_have_one_symbol() {
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
    fn threads_intern_the_same_symbols() {
        let symbols = Symbols::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..2000).for_each(|i| _ = symbols.intern(&format!("t{i}"))));
            }
        });
        assert_eq!(symbols.count(), symbol::FIRST.index() + 2000);
    }
}
