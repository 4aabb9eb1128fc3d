//! What is made when it is first asked for.

use std::cell::Cell;
use std::marker::PhantomData;

/// A place for a value that few ask for: until somebody does, it costs a word to make and a look to drop.
pub(crate) struct Late<T> {
    /// A box, or null. Once there is one, it stays.
    made: Cell<*mut T>,
    owned: PhantomData<T>,
}

impl<T> Late<T> {
    #[inline]
    pub(crate) fn new() -> Late<T> {
        Late {
            made: Cell::new(std::ptr::null_mut()),
            owned: PhantomData,
        }
    }

    /// The value, made now if there is none.
    pub(crate) fn get_or(&self, make: impl FnOnce() -> T) -> &T {
        if self.made.get().is_null() {
            let made = make();
            // `make` may have asked, too: what it got stays.
            if self.made.get().is_null() {
                self.made.set(Box::into_raw(Box::new(made)));
            }
        }
        // SAFETY: a box of ours, which stays until `self` is dropped, and of which nobody has a `&mut`.
        unsafe { &*self.made.get() }
    }
}

impl<T> Drop for Late<T> {
    #[inline]
    fn drop(&mut self) {
        if !self.made.get().is_null() {
            free(self.made.get());
        }
    }
}

/// Drops the box of what is being dropped.
#[cold]
fn free<T>(made: *mut T) {
    // SAFETY: made by `Late::get_or`, and not used after this.
    drop(unsafe { Box::from_raw(made) });
}
