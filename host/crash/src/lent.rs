//! Memory that the host lends to plugins in a process that checks them. It becomes inaccessible when it expires.
//!
//! Addresses are never reused, and a list of address ranges has what they were lent for, so that a signal handler can
//! explain a late access. A check of very many or large modules can therefore run out of addresses, which terminates
//! the process with [`CANNOT_LEND`].

use std::fmt::Display;
use std::io::{self, Write};
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The exit status of a process that can't lend more memory, which is a limit of the host and not an error of a plugin.
pub const CANNOT_LEND: u8 = 75;

/// The purpose of lent memory, which determines when it expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LentFor {
    /// The header of a view, until the function that received it returns.
    View,
    /// Columns and the bytes of constants, until the next call that may change the function.
    Columns,
    /// The result of a call, until the next call on the same handle.
    Result,
    /// The result of a layout query, until the next one.
    Layouts,
    /// The argument of a callback, until the callback returns.
    Callback,
}

impl LentFor {
    const ALL: [LentFor; 5] = [
        LentFor::View,
        LentFor::Columns,
        LentFor::Result,
        LentFor::Layouts,
        LentFor::Callback,
    ];

    /// Returns the rule of the plugin ABI that an access after the end breaks, and how to follow it.
    #[cfg(unix)]
    fn rule(self) -> &'static str {
        match self {
            LentFor::View => {
                "it used a view after the function that received the view had returned; don't keep views or handles \
                 (\"Lifetime\" in passdock.h)"
            }
            LentFor::Columns => {
                "it used memory of a view, of an analysis or of `constant_data` after a call that may change the \
                 function, or after the function that received the view had returned; read it again after each call \
                 that takes a `passdock_function *` or `passdock_module *` that isn't const (\"Views\" in passdock.h)"
            }
            LentFor::Result => {
                "it used the result of a call, such as `last_error`, `known_dims` or `op_metadata`, after the next \
                 call on the same handle; copy the result"
            }
            LentFor::Layouts => {
                "it used the result of `layout` or `alter_layout` after the next such call on the function; copy the \
                 result"
            }
            LentFor::Callback => {
                "it used memory that a function of the plugin received, such as the value of an option, the name of a \
                 pass or the dims of an operand, after that function had returned; copy it"
            }
        }
    }
}

/// Memory that a plugin may read, until it is dropped.
#[derive(Debug)]
pub struct LentMemory {
    at: NonNull<u8>,
    /// The content that the host wrote.
    content: Box<[u8]>,
}

// SAFETY: the owner has exclusive access to the pages at `at`, apart from plugins, which only read them.
unsafe impl Send for LentMemory {}

impl LentMemory {
    /// Copies bytes to new pages.
    pub fn new(lent_for: LentFor, content: Box<[u8]>) -> LentMemory {
        let at = allocate(lent_for, content.len());
        let mut memory = LentMemory { at, content };
        memory.restore();
        memory
    }

    /// Returns the address, which is valid until `self` is dropped.
    pub fn as_ptr(&self) -> *mut u8 {
        self.at.as_ptr()
    }

    /// Replaces the content by another one of the same length.
    pub fn write(&mut self, content: &[u8]) {
        self.content.copy_from_slice(content);
        self.restore();
    }

    /// Returns the current content, which the plugin may have changed.
    pub fn current(&self) -> &[u8] {
        // SAFETY: the pages are readable until `self` is dropped.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.content.len()) }
    }

    /// Whether the plugin wrote to the memory.
    pub fn is_changed(&self) -> bool {
        *self.current() != *self.content
    }

    fn restore(&mut self) {
        let (from, len) = (self.content.as_ptr(), self.content.len());
        // SAFETY: the pages are writable until `self` is dropped, and at least as long as the content.
        unsafe { from.copy_to_nonoverlapping(self.at.as_ptr(), len) };
    }
}

impl Drop for LentMemory {
    fn drop(&mut self) {
        // SAFETY: the pages belong to `self`.
        unsafe { pages::discard(self.at.as_ptr(), whole_pages(self.content.len())) };
    }
}

/// Returns the rule that an access to an address broke, if the memory there was lent and has expired. Called by signal
/// handlers.
#[cfg(unix)]
pub(crate) fn broken_rule(address: u64) -> Option<&'static str> {
    let address = usize::try_from(address).ok()?;
    let chunks = CHUNKS.iter().take(USED.load(Ordering::Acquire));
    let contains = |chunk: &&Chunk| {
        let start = chunk.start.load(Ordering::Relaxed);
        (start..start + chunk.len.load(Ordering::Relaxed)).contains(&address)
    };
    let chunk = { chunks }.find(contains)?;
    let lent_for = LentFor::ALL.get(chunk.lent_for.load(Ordering::Relaxed))?;
    Some(lent_for.rule())
}

/// The size of a chunk, unless it is for a larger block.
const CHUNK: usize = 1 << 26;

/// Reserved address space for memory that is lent for the same.
struct Chunk {
    start: AtomicUsize,
    len: AtomicUsize,
    lent_for: AtomicUsize,
}

static CHUNKS: [Chunk; 4096] = [const {
    Chunk {
        start: AtomicUsize::new(0),
        len: AtomicUsize::new(0),
        lent_for: AtomicUsize::new(0),
    }
}; 4096];

/// The number of chunks in use.
static USED: AtomicUsize = AtomicUsize::new(0);

/// The unused addresses of the last chunk for each [`LentFor`].
static FREE: Mutex<[Range<usize>; LentFor::ALL.len()]> =
    Mutex::new([const { 0..0 }; LentFor::ALL.len()]);

/// Returns new pages, which are accessible.
fn allocate(lent_for: LentFor, len: usize) -> NonNull<u8> {
    let len = whole_pages(len);
    let mut all = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    let free = &mut all[lent_for as usize];
    if free.len() < len {
        *free = add_chunk(lent_for, len.max(CHUNK));
    }
    let at = ptr::with_exposed_provenance_mut(free.start);
    free.start += len;
    // SAFETY: the pages are in a reserved chunk, and no other call gets them.
    unsafe { pages::commit(at, len) };
    NonNull::new(at).expect("no chunk is at address 0")
}

/// Reserves a chunk. `FREE` is locked.
fn add_chunk(lent_for: LentFor, len: usize) -> Range<usize> {
    let used = USED.load(Ordering::Relaxed);
    let Some(chunk) = CHUNKS.get(used) else {
        cannot_lend("all addresses were used");
    };
    let start = pages::reserve(len).addr();
    chunk.start.store(start, Ordering::Relaxed);
    chunk.len.store(len, Ordering::Relaxed);
    chunk.lent_for.store(lent_for as usize, Ordering::Relaxed);
    USED.store(used + 1, Ordering::Release);
    start..start + len
}

/// Terminates the process. Callers have frames of plugins above them, so they can neither return an error nor panic.
fn cannot_lend(reason: impl Display) -> ! {
    let message = "the host cannot lend more memory to the plugin";
    _ = writeln!(
        io::stderr(),
        "{message}: {reason}; check fewer modules at a time"
    );
    #[cfg(unix)]
    crate::finish(CANNOT_LEND);
    std::process::exit(CANNOT_LEND.into())
}

/// Returns the size of the pages for a number of bytes. It is positive, so that empty memory has an address, too.
fn whole_pages(len: usize) -> usize {
    len.max(1).next_multiple_of(pages::size())
}

/// The system's calls.
#[cfg(unix)]
mod pages {
    use std::ffi::c_void;
    use std::ptr;

    use rustix::mm::{self, MapFlags, MprotectFlags, ProtFlags};

    use super::cannot_lend;

    pub(super) fn size() -> usize {
        rustix::param::page_size()
    }

    /// Reserves address space. Accesses to it are faults.
    pub(super) fn reserve(len: usize) -> *mut c_void {
        // SAFETY: the system chooses unused addresses.
        let area = unsafe {
            mm::mmap_anonymous(ptr::null_mut(), len, ProtFlags::empty(), MapFlags::PRIVATE)
        };
        let area = area.unwrap_or_else(|error| cannot_lend(error));
        area.expose_provenance();
        area
    }

    /// Makes pages accessible.
    ///
    /// # Safety
    /// The pages are reserved and unused.
    pub(super) unsafe fn commit(at: *mut u8, len: usize) {
        let flags = MprotectFlags::READ | MprotectFlags::WRITE;
        // SAFETY: the caller's promise.
        let done = unsafe { mm::mprotect(at.cast(), len, flags) };
        done.unwrap_or_else(|error| cannot_lend(error));
    }

    /// Makes pages inaccessible and frees their memory.
    ///
    /// # Safety
    /// Only plugins that keep pointers for too long access the pages afterwards.
    pub(super) unsafe fn discard(at: *mut u8, len: usize) {
        let flags = MapFlags::PRIVATE | MapFlags::FIXED;
        // SAFETY: the caller's promise. New pages replace the old ones at the same addresses.
        let done = unsafe { mm::mmap_anonymous(at.cast(), len, ProtFlags::empty(), flags) };
        done.unwrap_or_else(|error| cannot_lend(error));
    }
}

/// The system's calls.
#[cfg(windows)]
mod pages {
    use std::ffi::c_void;
    use std::{io, ptr};

    use super::cannot_lend;

    const COMMIT: u32 = 0x1000;
    const RESERVE: u32 = 0x2000;
    const DECOMMIT: u32 = 0x4000;
    const NO_ACCESS: u32 = 1;
    const READ_WRITE: u32 = 4;

    // SAFETY: the declarations have the signatures of the system's functions.
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn VirtualAlloc(at: *mut c_void, len: usize, kind: u32, protection: u32) -> *mut c_void;
        fn VirtualFree(at: *mut c_void, len: usize, kind: u32) -> i32;
    }

    pub(super) fn size() -> usize {
        4096
    }

    /// Reserves address space. Accesses to it are faults.
    pub(super) fn reserve(len: usize) -> *mut c_void {
        // SAFETY: the system chooses unused addresses.
        let area = unsafe { VirtualAlloc(ptr::null_mut(), len, RESERVE, NO_ACCESS) };
        if area.is_null() {
            cannot_lend(io::Error::last_os_error());
        }
        area.expose_provenance();
        area
    }

    /// Makes pages accessible.
    ///
    /// # Safety
    /// The pages are reserved and unused.
    pub(super) unsafe fn commit(at: *mut u8, len: usize) {
        // SAFETY: the caller's promise.
        let done = unsafe { VirtualAlloc(at.cast(), len, COMMIT, READ_WRITE) };
        if done.is_null() {
            cannot_lend(io::Error::last_os_error());
        }
    }

    /// Makes pages inaccessible and frees their memory.
    ///
    /// # Safety
    /// Only plugins that keep pointers for too long access the pages afterwards.
    pub(super) unsafe fn discard(at: *mut u8, len: usize) {
        // SAFETY: the caller's promise.
        let done = unsafe { VirtualFree(at.cast(), len, DECOMMIT) };
        if done == 0 {
            cannot_lend(io::Error::last_os_error());
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn content_is_compared_and_addresses_are_explained() {
        let mut memory = LentMemory::new(LentFor::Columns, Box::from(*b"columns"));
        assert_eq!(memory.current(), b"columns");
        // SAFETY: the memory is lent until it is dropped.
        unsafe { memory.as_ptr().write(b'C') };
        assert!(memory.is_changed());
        memory.write(b"another");
        assert!(!memory.is_changed());
        let address = memory.as_ptr().addr();
        drop(memory);
        assert_eq!(broken_rule(address as u64), Some(LentFor::Columns.rule()));
        let other = LentMemory::new(LentFor::Columns, Box::default());
        assert_ne!(other.as_ptr().addr(), address);
        assert_eq!(broken_rule(0), None);
    }
}
