//! A box with a stable address, for content that plugins have pointers into.

use std::ops::Deref;
use std::ptr::NonNull;

/// An owner of a heap allocation that plugins hold pointers to. Moving a `Box` would assert that its pointer is unique,
/// and so invalidate the plugins' pointers.
pub(in crate::boundary) struct Fixed<T>(NonNull<T>);

impl<T> Fixed<T> {
    pub(in crate::boundary) fn new(content: T) -> Fixed<T> {
        Fixed(NonNull::from(Box::leak(Box::new(content))))
    }

    /// Returns the address, which is valid until `self` is dropped.
    pub(in crate::boundary) fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T> Deref for Fixed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the pointer comes from `Box::leak` in `new`, and only `drop` frees it.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for Fixed<T> {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from `Box::leak` in `new`, and is freed only here.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
