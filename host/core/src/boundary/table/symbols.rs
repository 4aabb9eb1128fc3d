//! `SymbolApi`: the module's interned strings.

use passdock_abi as abi;
use passdock_abi::{Str, SymbolId};
use passdock_ir::Symbols;

use crate::boundary::session::{gate, input};

/// # Safety
/// The contract's: the handle is null or that of a view whose module lives.
unsafe fn symbols<'a>(handle: *const abi::Symbols) -> Option<&'a Symbols> {
    // SAFETY: views hold the address of their module's `Symbols`, which live as long as it.
    unsafe { handle.cast::<Symbols>().as_ref() }
}

pub(in crate::boundary) unsafe extern "C" fn text(
    handle: *const abi::Symbols,
    id: SymbolId,
) -> Str {
    gate::guard(Str::EMPTY, || {
        // SAFETY: the contract's.
        let symbols = unsafe { symbols(handle) };
        symbols.map_or(Str::EMPTY, |symbols| Str::new(symbols.text(id)))
    })
}

pub(in crate::boundary) unsafe extern "C" fn intern(
    handle: *const abi::Symbols,
    text: Str,
) -> SymbolId {
    gate::guard(SymbolId::NONE, || {
        // SAFETY: the contract's, for both.
        match unsafe { (symbols(handle), input::text(text, "symbol")) } {
            (Some(symbols), Ok(text)) => symbols.intern(text),
            _ => SymbolId::NONE,
        }
    })
}

pub(in crate::boundary) unsafe extern "C" fn find(
    handle: *const abi::Symbols,
    text: Str,
) -> SymbolId {
    gate::guard(SymbolId::NONE, || {
        // SAFETY: the contract's, for both.
        match unsafe { (symbols(handle), input::text(text, "symbol")) } {
            (Some(symbols), Ok(text)) => symbols.find(text).unwrap_or(SymbolId::NONE),
            _ => SymbolId::NONE,
        }
    })
}
