//! `SymbolApi`: the module's interned strings.

use passdock_abi as abi;
use passdock_abi::{Str, SymbolId};
use passdock_ir::Symbols;

use crate::boundary::session::{gate, input};

/// # Safety
/// The handle is null, or comes from a view of a live module.
unsafe fn symbols<'a>(handle: *const abi::Symbols) -> Option<&'a Symbols> {
    // SAFETY: views have the address of their module's `Symbols`, which live as long as the module.
    unsafe { handle.cast::<Symbols>().as_ref() }
}

pub(in crate::boundary) unsafe extern "C" fn text(
    handle: *const abi::Symbols,
    id: SymbolId,
) -> Str {
    gate::guard(Str::EMPTY, || {
        // SAFETY: the handle is valid by the plugin ABI.
        let symbols = unsafe { symbols(handle) };
        symbols.map_or(Str::EMPTY, |symbols| Str::new(symbols.text(id)))
    })
}

/// Calls `look_up` with the symbols and a checked string.
///
/// # Safety
/// See [`symbols`] and [`input::text`].
unsafe fn symbol(
    handle: *const abi::Symbols,
    text: Str,
    look_up: impl FnOnce(&Symbols, &str) -> Option<SymbolId>,
) -> SymbolId {
    gate::guard(SymbolId::NONE, || {
        // SAFETY: the caller's promise.
        let (symbols, text) = unsafe { (symbols(handle), input::text(text, "symbol")) };
        let symbol = symbols.zip(text.ok());
        let symbol = symbol.and_then(|(symbols, text)| look_up(symbols, text));
        symbol.unwrap_or(SymbolId::NONE)
    })
}

pub(in crate::boundary) unsafe extern "C" fn intern(
    handle: *const abi::Symbols,
    text: Str,
) -> SymbolId {
    // SAFETY: the handle and the text are valid by the plugin ABI.
    unsafe { symbol(handle, text, |symbols, text| Some(symbols.intern(text))) }
}

pub(in crate::boundary) unsafe extern "C" fn find(
    handle: *const abi::Symbols,
    text: Str,
) -> SymbolId {
    // SAFETY: the handle and the text are valid by the plugin ABI.
    unsafe { symbol(handle, text, Symbols::find) }
}
