//! The host's tables, truncated to the part that both sides support, and its strings.

use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use passdock_abi as abi;
use passdock_abi::{OpId, Status, SymbolId};

use crate::data::EditError;

/// The tables of a host. Functions that an older host lacks are `None`.
pub struct Tables {
    host: *const abi::Host,
    /// The tables of the host that was seen before this one, or null.
    next: *const Tables,
    pub(crate) host_name: &'static str,
    pub(crate) host_version: &'static str,
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

/// The tables of all hosts that the library has seen, the last one first. An application and a module in it may both
/// be hosts. Tables are never freed, because the library is never unloaded.
static ALL: AtomicPtr<Tables> = AtomicPtr::new(ptr::null_mut());

impl Tables {
    /// Returns the tables of a host, and reads them at the first call.
    ///
    /// # Safety
    /// `host` and its tables conform to the ABI and live for the rest of the process.
    #[inline]
    pub unsafe fn of(host: *const abi::Host) -> &'static Tables {
        match Tables::find(host) {
            Some(tables) => tables,
            // SAFETY: the caller guarantees a valid host.
            None => unsafe { Tables::read(host) },
        }
    }

    /// Returns the tables of a host that the library has seen.
    #[inline]
    fn find(host: *const abi::Host) -> Option<&'static Tables> {
        let mut next: *const Tables = ALL.load(Ordering::Acquire);
        // SAFETY: the list contains only tables, which are never freed.
        while let Some(tables) = unsafe { next.as_ref() } {
            if tables.host == host {
                return Some(tables);
            }
            next = tables.next;
        }
        None
    }

    /// # Safety
    /// See [`Tables::of`].
    #[cold]
    unsafe fn read(host: *const abi::Host) -> &'static Tables {
        static WRITER: Mutex<()> = Mutex::new(());
        let _writer = WRITER.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tables) = Tables::find(host) {
            return tables;
        }
        // SAFETY: the caller guarantees valid tables; `prefix` reads only the part that both sides support.
        let new = Box::new(unsafe {
            let table = prefix(host);
            Tables {
                host,
                next: ALL.load(Ordering::Acquire),
                host_name: text(table.name),
                host_version: text(table.version),
                symbols: prefix(table.symbols),
                functions: prefix(table.functions),
                modules: prefix(table.modules),
                context: prefix(table.context),
                ops: prefix(table.ops),
                definitions: prefix(table.definitions),
                analyses: prefix(table.analyses),
            }
        });
        let new = Box::leak(new);
        ALL.store(new, Ordering::Release);
        new
    }

    /// Rejects a handle of another host: a process may have two hosts, and a handle is valid only in its own.
    pub(crate) fn expect(&self, other: &Tables, what: &str) -> Result<(), EditError> {
        if self.host == other.host {
            return Ok(());
        }
        let message = format!("{} belongs to another host in this process", what);
        Err(EditError::new(Status::INVALID, message, None))
    }
}

/// Rejects a host of another major version.
///
/// # Safety
/// `host` conforms to the ABI.
pub(crate) unsafe fn check(host: *const abi::Host) -> Result<(), String> {
    // SAFETY: the caller guarantees a valid table.
    let abi::Host { abi, ir, .. } = unsafe { prefix(host) };
    let (own, own_ir) = (abi::ABI, abi::IR);
    if abi.major == own.major && ir.major == own_ir.major {
        return Ok(());
    }
    Err(format!(
        "the plugin has ABI {}.{} and IR {}.{}, but the host has ABI {}.{} and IR {}.{}",
        own.major, own.minor, own_ir.major, own_ir.minor, abi.major, abi.minor, ir.major, ir.minor
    ))
}

/// Iterates over an array with the stride of the other side. Copies the part of each element that both sides have;
/// the rest is zero.
///
/// # Safety
/// `first` points to `count` elements of this stride, whose fields may all be 0.
pub(crate) unsafe fn strided<T>(
    first: *const T,
    count: usize,
    stride: usize,
) -> impl Iterator<Item = T> {
    (0..count).map(move |at| {
        let mut copy = std::mem::MaybeUninit::<T>::zeroed();
        let size = stride.min(std::mem::size_of::<T>());
        // SAFETY: the caller guarantees valid elements.
        unsafe {
            let element = first.cast::<u8>().add(at * stride);
            std::ptr::copy_nonoverlapping(element, copy.as_mut_ptr().cast::<u8>(), size);
            copy.assume_init()
        }
    })
}

/// Copies the part of a struct that both sides have; the rest is zero. Null counts as an empty struct.
///
/// # Safety
/// `table` is null, or points to as many readable bytes as its first field states.
pub(crate) unsafe fn prefix<T: abi::Grows>(table: *const T) -> T {
    let mut copy = std::mem::MaybeUninit::<T>::zeroed();
    if !table.is_null() {
        // SAFETY: reads at most the bytes of the struct and writes at most a `T`; they don't overlap.
        unsafe {
            let table_size = *table.cast::<u32>() as usize;
            let size = table_size.min(std::mem::size_of::<T>());
            std::ptr::copy_nonoverlapping(table.cast::<u8>(), copy.as_mut_ptr().cast::<u8>(), size);
        }
    }
    // SAFETY: all zeros is a valid `T`, and so is the host's prefix.
    unsafe { copy.assume_init() }
}

/// Converts a string of the host.
///
/// # Safety
/// `text` conforms to the ABI and lives for `'a`.
pub(crate) unsafe fn text<'a>(text: abi::Str) -> &'a str {
    // SAFETY: the caller guarantees a valid string, which is UTF-8 by the rules of the ABI. For speed, only debug
    // builds check it here.
    unsafe {
        let bytes = elements(text.ptr, text.len);
        debug_assert!(std::str::from_utf8(bytes).is_ok());
        std::str::from_utf8_unchecked(bytes)
    }
}

/// Converts bytes of the host.
///
/// # Safety
/// `bytes` conform to the ABI and live for `'a`.
pub(crate) unsafe fn bytes<'a>(bytes: abi::Bytes) -> &'a [u8] {
    // SAFETY: the caller guarantees valid bytes.
    unsafe { elements(bytes.ptr, bytes.len) }
}

/// Converts an array of the host.
///
/// # Safety
/// `first` is null, or points to `count` elements that live for `'a`.
pub(crate) unsafe fn elements<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller guarantees valid elements.
    unsafe { std::slice::from_raw_parts(first, count) }
}

/// Returns a zeroed value, which the host fills.
///
/// # Safety
/// All zeros is a valid value of the type.
pub(crate) unsafe fn zeroed<T>() -> T {
    // SAFETY: the caller guarantees it.
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
    /// `handle` belongs to a view whose module lives for `'a`.
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

    /// Returns the string of a symbol.
    #[inline]
    pub(crate) fn text(self, symbol: SymbolId) -> &'a str {
        match self.tables.symbols.text {
            // SAFETY: the caller of `new` guarantees a valid handle; the string lives as long as the module.
            Some(function) => unsafe { text(function(self.handle, symbol)) },
            None => "",
        }
    }

    /// Returns the symbol of a string, if it is interned.
    pub(crate) fn find(self, name: &str) -> Option<SymbolId> {
        let find = self.tables.symbols.find?;
        // SAFETY: as above; `name` lives until the call returns.
        unsafe { find(self.handle, abi::Str::new(name)) }.option()
    }

    /// Interns a string and returns its symbol.
    pub(crate) fn intern(self, name: &str) -> Result<SymbolId, EditError> {
        let intern = host_function(self.tables.symbols.intern, "intern", None)?;
        // SAFETY: as above; `name` lives until the call returns.
        let symbol = unsafe { intern(self.handle, abi::Str::new(name)) };
        symbol.option().ok_or_else(|| {
            let message = format!("a name of {} bytes is too long for the host", name.len());
            EditError::new(Status::INVALID, message, None)
        })
    }
}

/// A list of strings of the host.
#[derive(Clone, Copy)]
pub(crate) struct Texts<'a>(&'a [abi::Str]);

impl<'a> Texts<'a> {
    /// # Safety
    /// `first` points to `count` strings that conform to the ABI and live for `'a`. It isn't read if `count` is 0.
    pub(crate) unsafe fn new(first: *const abi::Str, count: usize) -> Texts<'a> {
        // SAFETY: the caller guarantees valid strings.
        Texts(unsafe { elements(first, count) })
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = &'a str> {
        // SAFETY: the caller of `new` guarantees valid strings.
        self.0.iter().map(|one| unsafe { text(*one) })
    }
}

impl fmt::Debug for Texts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Returns a function of the host. Fails if the host is too old to have it.
pub(crate) fn host_function<F>(
    function: Option<F>,
    name: &str,
    op: Option<OpId>,
) -> Result<F, EditError> {
    function.ok_or_else(|| EditError::unsupported(name, op))
}
