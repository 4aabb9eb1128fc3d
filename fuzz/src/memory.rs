//! How much memory a piece of work takes at most.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, counting what each thread holds.
pub struct Counting;

fn count(change: isize) {
    // A thread that ends has no counters any more; nobody asks for them then.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + change);
        let _ = MOST.try_with(|most| most.set(most.get().max(now.get())));
    });
}

// SAFETY: every call is the system allocator's own; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // While it moves, both are there.
        count(size as isize);
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// What any input may take.
const BASE: usize = 1 << 20;
/// And so much more for each byte of it: an initializer of two bytes is the worst known, at 222.
const PER_BYTE: usize = 400;

/// The most that an input of a KiB or more took a byte.
pub static MOST_PER_BYTE: AtomicUsize = AtomicUsize::new(0);

/// Does some work on an input of `len` bytes, which must not hold more memory at a time than that
/// bounds.
pub fn bounded<T>(what: &str, len: usize, work: impl FnOnce() -> T) -> T {
    let before = NOW.get();
    MOST.set(before);
    let done = work();
    let most = (MOST.get() - before) as usize;
    let bound = BASE + PER_BYTE * len;
    assert!(
        most <= bound,
        "{what} {len} bytes took {most} bytes of memory; the bound is {bound}"
    );
    if len >= 1024 {
        MOST_PER_BYTE.fetch_max(most / len, Relaxed);
    }
    done
}
