//! A bound on the memory that a piece of work holds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The system's allocator, counting what each thread holds.
struct Counting;

fn count(change: isize) {
    // A thread that ends has no counters any more.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + change);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

// SAFETY: every call is the system allocator's own; counting allocates nothing. A reallocation is the trait's own:
// while memory moves, both parts are held.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The bytes that any input may take.
const BASE: usize = 1 << 20;
/// The bytes on top for each byte of it: an initializer of two bytes takes the most, 222.
const PER_BYTE: usize = 400;

/// Does some work on an input of `len` bytes, which must not hold more memory at a time than that bounds.
pub fn bounded<T>(what: &str, len: usize, work: impl FnOnce() -> T) -> T {
    let before = HELD.get();
    PEAK.set(before);
    let result = work();
    let peak = (PEAK.get() - before) as usize;
    let bound = BASE + PER_BYTE * len;
    assert!(
        peak <= bound,
        "{what} {len} bytes took {peak} bytes, {bound} at most"
    );
    result
}
