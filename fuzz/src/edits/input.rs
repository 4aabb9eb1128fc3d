//! The bytes of an input. The current pass or op definition consumes them to choose its actions.

use std::cell::RefCell;
use std::vec;

/// The maximum length of an input. It is limited because each call may enlarge a function.
const MAX_LEN: usize = 2048;

thread_local! {
    static INPUT: RefCell<vec::IntoIter<u8>> = RefCell::default();
}

/// Starts at the first byte of an input.
pub(super) fn start(input: &[u8]) {
    let input = Vec::from(&input[..input.len().min(MAX_LEN)]);
    INPUT.set(input.into_iter());
}

/// Whether the input has more bytes.
pub(super) fn has_more() -> bool {
    INPUT.with_borrow(|input| input.len() > 0)
}

/// Returns the next byte; 0 after the last one.
pub(super) fn byte() -> u8 {
    INPUT.with_borrow_mut(Iterator::next).unwrap_or_default()
}

/// Returns a number below `end`, or 0.
pub(super) fn below(end: usize) -> usize {
    usize::from(byte()) % end.max(1)
}

/// Returns `true` once in `count` bytes, and never after the last one.
pub(super) fn one_in(count: u8) -> bool {
    byte() % count == count - 1
}

/// Returns one of the items.
pub(super) fn pick<T: Copy>(items: &[T]) -> T {
    items[below(items.len())]
}

/// Returns `right`, and in one of 128 cases an item of `wrong`.
pub(super) fn mostly<T: Copy>(right: T, wrong: &[T]) -> T {
    match one_in(128) {
        true => pick(wrong),
        false => right,
    }
}
