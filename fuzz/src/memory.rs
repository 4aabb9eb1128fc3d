//! An assertion that limits the memory that a function allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The system's allocator, with a count of each thread's allocated bytes.
struct Counting;

fn count(change: isize) {
    // An exiting thread no longer has its counters.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + change);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

// SAFETY: every call is forwarded to the system's allocator, and counting doesn't allocate. `realloc` is the trait's
// default, so both blocks count while memory moves.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the requirements on the caller are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The allocation limit of an empty input, in bytes.
const BASE: usize = 1 << 20;
/// The additional limit for each byte of the input. The measured maximum is 222, for an initializer of two bytes.
const PER_BYTE: usize = 400;

/// Runs `work` on an input of `len` bytes. Its peak memory must stay within the limit for that length.
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
