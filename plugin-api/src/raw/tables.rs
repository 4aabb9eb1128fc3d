//! The host's tables, as far as both sides know them, and its texts.

use std::ffi::c_void;
use std::fmt;

use passdock_abi as abi;
use passdock_abi::Status;

use crate::data::EditError;

/// The host's tables as this SDK knows them. What an older host doesn't have is `None`.
#[derive(Clone, Copy)]
pub struct Tables {
    /// The address of the host's own table, which tells hosts apart.
    host: usize,
    pub(crate) symbols: abi::SymbolApi,
    pub(crate) functions: abi::FunctionApi,
    pub(crate) modules: abi::ModuleApi,
    pub(crate) context: abi::ContextApi,
    pub(crate) ops: abi::OpApi,
    pub(crate) analyses: abi::AnalysisApi,
}

impl Tables {
    /// Reads the part of the host's tables that both sides know; `None` if the host speaks another
    /// major version, or is older than the last break.
    ///
    /// # Safety
    /// `host` and the tables it points to are as the contract says and live for ever.
    pub unsafe fn new(host: *const abi::Host) -> Option<Tables> {
        if host.is_null() {
            return None;
        }
        // SAFETY: the caller's promise; `prefix` reads no further than both sides know.
        unsafe {
            let address = host as usize;
            let host = prefix(host);
            if host.abi.major != abi::ABI.major
                || host.abi.minor < abi::OLDEST_MINOR
                || host.ir.major != abi::IR.major
            {
                return None;
            }
            Some(Tables {
                host: address,
                symbols: prefix(host.symbols),
                functions: prefix(host.functions),
                modules: prefix(host.modules),
                context: prefix(host.context),
                ops: prefix(host.ops),
                analyses: prefix(extension(&host, abi::analysis::EXTENSION).cast()),
            })
        }
    }

    /// Refuses what another host handed out: two hosts may be in one process, and neither knows the
    /// other's handles.
    pub(crate) fn expect(&self, other: &Tables, what: &str) -> Result<(), EditError> {
        if self.host == other.host {
            return Ok(());
        }
        Err(Tables::strange(what))
    }

    #[cold]
    fn strange(what: &str) -> EditError {
        let message = format!(
            "{} is another host's, and two hosts are in this process; a call takes what one of them \
             handed out",
            what
        );
        EditError::new(Status::INVALID, message, None)
    }

    /// The context on top of this thread's stack.
    pub(crate) fn current(&self) -> Option<*mut abi::Context> {
        let function = self.context.current?;
        // SAFETY: the contract asks nothing of the caller.
        let handle = unsafe { function() };
        if handle.is_null() {
            None
        } else {
            Some(handle)
        }
    }
}

/// An optional power of the host's, or null.
///
/// # Safety
/// As [`Tables::new`].
unsafe fn extension(host: &abi::Host, id: &str) -> *const c_void {
    match host.get_extension {
        // SAFETY: the caller's promise; the text lives until the call returns.
        Some(function) => unsafe { function(abi::Str::new(id)) },
        None => std::ptr::null(),
    }
}

/// A record of which every field may be all zeros, and that starts with its size as a `u32`.
///
/// # Safety
/// As said.
unsafe trait Table: Copy {}
// SAFETY: `repr(C)`, `struct_size` first, then integers, pointers and `Option<fn>`s.
unsafe impl Table for abi::Host {}
// SAFETY: as above.
unsafe impl Table for abi::SymbolApi {}
// SAFETY: as above.
unsafe impl Table for abi::FunctionApi {}
// SAFETY: as above.
unsafe impl Table for abi::ModuleApi {}
// SAFETY: as above.
unsafe impl Table for abi::ContextApi {}
// SAFETY: as above.
unsafe impl Table for abi::OpApi {}
// SAFETY: as above.
unsafe impl Table for abi::AnalysisApi {}

/// The part of a table that the other side has, the rest zero. A null pointer is an empty table.
///
/// # Safety
/// `table` is null, or points to as many readable bytes as its first field says.
unsafe fn prefix<T: Table>(table: *const T) -> T {
    let mut copy = std::mem::MaybeUninit::<T>::zeroed();
    if !table.is_null() {
        // SAFETY: at most the bytes that are there are read, at most a `T` is written, and they
        // don't overlap.
        unsafe {
            let there = *table.cast::<u32>() as usize;
            let size = there.min(std::mem::size_of::<T>());
            std::ptr::copy_nonoverlapping(table.cast::<u8>(), copy.as_mut_ptr().cast::<u8>(), size);
        }
    }
    // SAFETY: all zeros is a `T`, and so is what the host wrote over it.
    unsafe { copy.assume_init() }
}

/// Text of the host, while its owner lives.
///
/// # Safety
/// `text` is as the contract says and lives for `'a`.
pub(crate) unsafe fn text<'a>(text: abi::Str) -> &'a str {
    if text.ptr.is_null() || text.len == 0 {
        return "";
    }
    // SAFETY: the caller's promise. The host promises UTF-8, and it is checked all the same where
    // it isn't on a hot path; here a debug build checks.
    unsafe {
        let bytes = std::slice::from_raw_parts(text.ptr, text.len);
        debug_assert!(std::str::from_utf8(bytes).is_ok());
        std::str::from_utf8_unchecked(bytes)
    }
}

/// A list of the host's texts, while their owner lives.
#[derive(Clone, Copy)]
pub(crate) struct Texts<'a>(&'a [abi::Str]);

impl<'a> Texts<'a> {
    /// # Safety
    /// `first` points to `count` texts that are as the contract says and live for `'a`; it isn't read
    /// if there are none.
    pub(crate) unsafe fn new(first: *const abi::Str, count: usize) -> Texts<'a> {
        if count == 0 {
            return Texts(&[]);
        }
        // SAFETY: the caller's promise.
        Texts(unsafe { std::slice::from_raw_parts(first, count) })
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = &'a str> {
        // SAFETY: the promise of `new`'s caller.
        self.0.iter().map(|one| unsafe { text(*one) })
    }
}

impl fmt::Debug for Texts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
