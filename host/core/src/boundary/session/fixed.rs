//! A box whose content others have pointers into.

use std::ops::Deref;
use std::ptr::NonNull;

/// An owner of something that stays where it is, and that plugins hold pointers to. A `Box` would say,
/// each time it is moved, that nobody else has a pointer.
pub(in crate::boundary) struct Fixed<T>(NonNull<T>);

impl<T> Fixed<T> {
    pub(in crate::boundary) fn new(content: T) -> Fixed<T> {
        Fixed(NonNull::from(Box::leak(Box::new(content))))
    }

    /// The address, good while this lives.
    pub(in crate::boundary) fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T> Deref for Fixed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: leaked in `new`, and dropped by `drop` alone.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for Fixed<T> {
    fn drop(&mut self) {
        // SAFETY: leaked in `new`, and dropped here, once.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
