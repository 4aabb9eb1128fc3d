//! The host's tables, as far as both sides know them, and its texts.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;

use passdock_abi as abi;
use passdock_abi::{OpId, Status, SymbolId};

use crate::data::EditError;

/// The host's tables as this SDK knows them. What an older host doesn't have is `None`.
#[derive(Clone, Copy)]
pub struct Tables {
    /// The host itself, which some of its functions want to know.
    host: *const abi::Host,
    pub(crate) symbols: abi::SymbolApi,
    pub(crate) functions: abi::FunctionApi,
    pub(crate) modules: abi::ModuleApi,
    pub(crate) context: abi::ContextApi,
    pub(crate) ops: abi::OpApi,
    pub(crate) definitions: abi::DefinitionApi,
    pub(crate) analyses: abi::AnalysisApi,
}

// SAFETY: the host's table never changes, and its functions may be called on any thread.
unsafe impl Send for Tables {}
// SAFETY: as above.
unsafe impl Sync for Tables {}

impl Tables {
    /// Reads the part of the host's tables that both sides know.
    ///
    /// # Errors
    /// A sentence, if the host speaks another major version, or is older than the last break.
    ///
    /// # Safety
    /// `host` and the tables it points to are as the contract says and live for ever.
    pub unsafe fn new(host: *const abi::Host) -> Result<Tables, String> {
        // SAFETY: the caller's promise; `prefix` reads no further than both sides know.
        unsafe {
            let table = prefix(host);
            check(table.abi, table.ir)?;
            Ok(Tables {
                host,
                symbols: prefix(table.symbols),
                functions: prefix(table.functions),
                modules: prefix(table.modules),
                context: prefix(table.context),
                ops: prefix(table.ops),
                definitions: prefix(table.definitions),
                analyses: prefix(extension(host, &table, abi::ANALYSIS_EXTENSION).cast()),
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
        // SAFETY: the host lives for ever.
        let handle = unsafe { function(self.host) };
        Some(handle).filter(|handle| !handle.is_null())
    }
}

/// Refuses a host that this plugin doesn't understand.
fn check(abi: abi::Version, ir: abi::Version) -> Result<(), String> {
    let (own, own_ir) = (abi::ABI, abi::IR);
    if abi.major == own.major && abi.minor >= abi::OLDEST_MINOR && ir.major == own_ir.major {
        return Ok(());
    }
    Err(format!(
        "it speaks ABI {}.{} and IR {}.{}, and this host speaks ABI {}.{} and IR {}.{}; ABI {}.{} \
         is the oldest that it works with",
        own.major,
        own.minor,
        own_ir.major,
        own_ir.minor,
        abi.major,
        abi.minor,
        ir.major,
        ir.minor,
        own.major,
        abi::OLDEST_MINOR
    ))
}

/// An optional power of the host's, or null.
///
/// # Safety
/// As [`Tables::new`].
unsafe fn extension(host: *const abi::Host, table: &abi::Host, id: &str) -> *const c_void {
    match table.get_extension {
        // SAFETY: the caller's promise; the text lives until the call returns.
        Some(function) => unsafe { function(host, abi::Str::new(id)) },
        None => std::ptr::null(),
    }
}

/// The elements of an array whose stride the other side knows: of each, what both sides know, and zeros.
///
/// # Safety
/// `first` points to so many elements of such a stride, whose fields may all be 0.
pub(crate) unsafe fn strided<T>(
    first: *const T,
    count: usize,
    stride: usize,
) -> impl Iterator<Item = T> {
    (0..count).map(move |at| {
        let mut copy = std::mem::MaybeUninit::<T>::zeroed();
        let size = stride.min(std::mem::size_of::<T>());
        // SAFETY: the caller's promise.
        unsafe {
            let element = first.cast::<u8>().add(at * stride);
            std::ptr::copy_nonoverlapping(element, copy.as_mut_ptr().cast::<u8>(), size);
            copy.assume_init()
        }
    })
}

/// The part of a struct that the other side has, the rest zero. A null pointer is an empty one.
///
/// # Safety
/// `table` is null, or points to as many readable bytes as its first field says.
pub(crate) unsafe fn prefix<T: abi::Grows>(table: *const T) -> T {
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
    // SAFETY: the caller's promise. The host promises UTF-8, and it is checked all the same where
    // it isn't on a hot path; here a debug build checks.
    unsafe {
        let bytes = elements(text.ptr, text.len);
        debug_assert!(std::str::from_utf8(bytes).is_ok());
        std::str::from_utf8_unchecked(bytes)
    }
}

/// Bytes of the host, while their owner lives.
///
/// # Safety
/// `bytes` are as the contract says and live for `'a`.
pub(crate) unsafe fn bytes<'a>(bytes: abi::Bytes) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { elements(bytes.ptr, bytes.len) }
}

/// Elements of the host, while their owner lives.
///
/// # Safety
/// `first` is null, or points to `count` elements that live for `'a`.
pub(crate) unsafe fn elements<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(first, count) }
}

/// Room for what the host writes.
///
/// # Safety
/// All zeros is a value of the type.
pub(crate) unsafe fn zeroed<T>() -> T {
    // SAFETY: the caller's promise.
    unsafe { std::mem::zeroed() }
}

/// The symbols of a module.
#[derive(Clone, Copy)]
pub(crate) struct RawSymbols<'a> {
    tables: &'static Tables,
    handle: *const abi::Symbols,
    module: PhantomData<&'a ()>,
}

impl<'a> RawSymbols<'a> {
    /// # Safety
    /// `handle` is that of a view whose module lives for `'a`.
    #[inline]
    pub(crate) unsafe fn new(
        tables: &'static Tables,
        handle: *const abi::Symbols,
    ) -> RawSymbols<'a> {
        let module = PhantomData;
        RawSymbols {
            tables,
            handle,
            module,
        }
    }

    /// The text of a symbol.
    #[inline]
    pub(crate) fn text(self, symbol: SymbolId) -> &'a str {
        match self.tables.symbols.text {
            // SAFETY: the promise of `new`'s caller; the text lives as long as the module.
            Some(function) => unsafe { text(function(self.handle, symbol)) },
            None => "",
        }
    }

    /// The symbol of a text, if the module has one.
    pub(crate) fn find(self, name: &str) -> Option<SymbolId> {
        let find = self.tables.symbols.find?;
        // SAFETY: as above; `name` lives until the call returns.
        unsafe { find(self.handle, abi::Str::new(name)) }.option()
    }

    /// The symbol of a text, made if it is new.
    pub(crate) fn intern(self, name: &str) -> Result<SymbolId, EditError> {
        let intern = there(self.tables.symbols.intern, "intern", None)?;
        // SAFETY: as above; `name` lives until the call returns.
        let symbol = unsafe { intern(self.handle, abi::Str::new(name)) };
        symbol.option().ok_or_else(|| {
            let message = format!(
                "a name of {} bytes is longer than the host takes; use a shorter one",
                name.len()
            );
            EditError::new(Status::INVALID, message, None)
        })
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
        // SAFETY: the caller's promise.
        Texts(unsafe { elements(first, count) })
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

/// A function of the host's, unless the host is too old to have it.
pub(crate) fn there<F>(function: Option<F>, name: &str, op: Option<OpId>) -> Result<F, EditError> {
    function.ok_or_else(|| EditError::unsupported(name, op))
}
