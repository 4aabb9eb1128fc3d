//! The mock host's symbols.

use std::cell::RefCell;
use std::collections::HashMap;

use passdock_abi as abi;
use passdock_abi::SymbolId;

thread_local! {
    pub(super) static SYMBOLS: RefCell<MockSymbols> = RefCell::new(MockSymbols::new());
}

/// The symbols of a thread: interned text stays where it is as long as the thread lives.
pub(super) struct MockSymbols {
    pub(super) texts: Vec<Box<str>>,
    pub(super) ids: HashMap<Box<str>, SymbolId>,
}

impl MockSymbols {
    fn new() -> MockSymbols {
        let mut symbols = MockSymbols {
            texts: Vec::new(),
            ids: HashMap::new(),
        };
        for text in abi::symbol::WELL_KNOWN {
            symbols.intern(text);
        }
        symbols
            .texts
            .resize(abi::symbol::FIRST.index(), Box::default());
        symbols
    }

    pub(super) fn intern(&mut self, text: &str) -> SymbolId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = SymbolId(self.texts.len() as u32);
        self.texts.push(text.into());
        self.ids.insert(text.into(), id);
        id
    }
}
