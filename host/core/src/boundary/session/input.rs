//! The checks of a plugin's arguments: pointers, lengths, texts, versions of structs.
//!
//! A pointer that is neither null nor misaligned is believed, since nothing can tell; everything
//! else that a plugin could get wrong is an error with a sentence.

use std::mem::MaybeUninit;
use std::ptr;

use passdock_abi as abi;
use passdock_abi::Grows;
use passdock_ir::symbols::MAX_SYMBOL_BYTES;
use passdock_ir::{Edit, EditFailure};

/// The most bytes of a struct that asks for something.
const MAX_STRUCT: usize = 1 << 16;

/// The most elements of a list: more than any list of the contract has.
const MAX_COUNT: usize = 1 << 30;

/// A struct that starts with its size, checked and copied: as much of it as both sides know, the
/// rest 0.
///
/// # Safety
/// A pointer that is not null and aligned points to as many bytes as its first field says.
#[inline]
pub(in crate::boundary) unsafe fn described<T: Grows>(at: *const T) -> Edit<T> {
    check_pointer(at, T::NAME)?;
    // SAFETY: the caller's promise.
    unsafe { copied(at, usize::MAX) }
}

/// A copy of a struct that starts with its size, of which no more than `room` bytes are there.
///
/// # Safety
/// As [`described`], of an aligned pointer.
#[inline]
unsafe fn copied<T: Grows>(at: *const T, room: usize) -> Edit<T> {
    // SAFETY: the caller's promise; the struct starts with its size.
    let size = unsafe { at.cast::<u32>().read() } as usize;
    if size < size_of::<u32>() || size > room {
        return Err(wrong_size::<T>(size));
    }
    if size >= size_of::<T>() {
        if T::ASKS && size > size_of::<T>() {
            // SAFETY: the caller's promise.
            unsafe { check_rest(at, size)? };
        }
        // SAFETY: the struct is there as far as this side knows it.
        return checked(unsafe { at.read() });
    }
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: the bytes that are there are read, fewer than a `T` has; all zeros, and what was
    // written over them, is a `T`.
    unsafe {
        let (from, to) = (at.cast::<u8>(), copy.as_mut_ptr().cast::<u8>());
        from.copy_to_nonoverlapping(to, size);
        checked(copy.assume_init())
    }
}

/// Refuses what is said where a later contract has more fields: done without it, something else would be done.
///
/// # Safety
/// So many bytes are there, more than a `T` has.
#[cold]
unsafe fn check_rest<T: Grows>(at: *const T, size: usize) -> Edit {
    if size > MAX_STRUCT {
        return Err(wrong_size::<T>(size));
    }
    let (at, known) = (at.cast::<u8>(), size_of::<T>());
    // SAFETY: the caller's promise.
    let rest = unsafe { std::slice::from_raw_parts(at.add(known), size - known) };
    match rest.iter().all(|&byte| byte == 0) {
        true => Ok(()),
        false => Err(EditFailure::unsupported(format!(
            "This host knows {known} bytes of `{}`, and something is said behind them.",
            T::NAME
        ))),
    }
}

#[cold]
fn wrong_size<T: Grows>(size: usize) -> EditFailure {
    EditFailure::invalid(format!(
        "`struct_size` of a {} is {size}; it is the size of the struct in bytes.",
        T::NAME
    ))
}

/// The error about a kind that this host doesn't know.
#[cold]
pub(in crate::boundary) fn unknown(what: &str, kind: u32) -> EditFailure {
    EditFailure::unsupported(format!("This host knows no {what} of kind {kind}."))
}

/// Refuses flags that this host doesn't know, and words that mean nothing yet.
#[inline]
fn checked<T: Grows>(copy: T) -> Edit<T> {
    match copy.unknown_flags() {
        0 => Ok(copy),
        unknown => Err(unknown_flags::<T>(unknown)),
    }
}

#[cold]
fn unknown_flags<T: Grows>(unknown: u32) -> EditFailure {
    EditFailure::unsupported(format!(
        "This host knows no flag {unknown:#x} of `{}`.",
        T::NAME
    ))
}

/// Fills a struct of the plugin's that starts with its size, as far as both sides know it.
///
/// # Safety
/// As [`described`], and the bytes may be written.
pub(in crate::boundary) unsafe fn fill<T: Grows>(out: *mut T, value: T) -> Edit {
    check_pointer(out, T::NAME)?;
    // SAFETY: the caller's promise; the struct starts with its size.
    let room = unsafe { out.cast::<u32>().read() } as usize;
    if room < size_of::<u32>() {
        return Err(wrong_size::<T>(room));
    }
    let size = room.min(size_of::<T>());
    // SAFETY: no more than there is room for; the size is the first field.
    unsafe {
        let (from, to) = (ptr::from_ref(&value).cast::<u8>(), out.cast::<u8>());
        from.copy_to_nonoverlapping(to, size);
        out.cast::<u32>().write(size as u32);
    }
    Ok(())
}

/// A list of structs that start with their size, `stride` bytes apart.
#[derive(Clone, Copy)]
pub(in crate::boundary) struct Strided<T> {
    first: *const T,
    count: usize,
    stride: usize,
}

/// A checked list of structs that start with their size.
///
/// # Safety
/// A pointer that is not null and aligned points to `count` elements, `stride` bytes apart, which
/// stay as long as the result is used.
#[inline]
pub(in crate::boundary) unsafe fn strided<T: Grows>(
    first: *const T,
    count: usize,
    stride: u32,
    what: &str,
) -> Edit<Strided<T>> {
    let stride = stride as usize;
    if count > 0 {
        check_pointer(first, what)?;
        if stride < size_of::<u32>() || !stride.is_multiple_of(align_of::<T>()) || count > MAX_COUNT
        {
            let message = format!("The list of {what} has {count} elements of {stride} bytes.");
            return Err(EditFailure::invalid(message));
        }
    }
    Ok(Strided {
        first,
        count,
        stride,
    })
}

impl<T: Grows> Strided<T> {
    /// The number of elements.
    pub(in crate::boundary) fn len(&self) -> usize {
        self.count
    }

    /// Each element, as much of it as both sides know.
    #[inline]
    pub(in crate::boundary) fn iter(self) -> impl ExactSizeIterator<Item = Edit<T>> {
        (0..self.count).map(move |at| {
            // SAFETY: the promise of `strided`'s caller; the stride keeps the alignment.
            unsafe { copied(self.first.byte_add(at * self.stride), self.stride) }
        })
    }
}

/// A checked struct without a size.
///
/// # Safety
/// A pointer that is not null and aligned points to a `T`.
pub(in crate::boundary) unsafe fn plain<'a, T: Copy>(at: *const T, what: &str) -> Edit<&'a T> {
    check_pointer(at, what)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { &*at })
}

/// A checked list of elements.
///
/// # Safety
/// A pointer that is not null and aligned points to `count` elements.
#[inline]
pub(in crate::boundary) unsafe fn list<'a, T>(
    at: *const T,
    count: usize,
    what: &str,
) -> Edit<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    check_pointer(at, what)?;
    if count > MAX_COUNT {
        return Err(too_long(count, what));
    }
    // SAFETY: the caller's promise; the length fits.
    Ok(unsafe { std::slice::from_raw_parts(at, count) })
}

#[cold]
fn too_long(count: usize, what: &str) -> EditFailure {
    EditFailure::invalid(format!("The list of {what} has {count} elements."))
}

/// A checked text, not longer than a symbol.
///
/// # Safety
/// A pointer that is not null points to as many bytes as the length says.
pub(in crate::boundary) unsafe fn text<'a>(text: abi::Str, what: &str) -> Edit<&'a str> {
    // SAFETY: the caller's promise.
    unsafe { long_text(text, what, MAX_SYMBOL_BYTES) }
}

/// A checked text of at most `limit` bytes.
///
/// # Safety
/// As [`text`].
pub(in crate::boundary) unsafe fn long_text<'a>(
    text: abi::Str,
    what: &str,
    limit: usize,
) -> Edit<&'a str> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { list(text.ptr, text.len, what)? };
    if bytes.len() > limit {
        let message = format!("The {what} has {} bytes.", bytes.len());
        return Err(EditFailure::invalid(message));
    }
    std::str::from_utf8(bytes).map_err(|_| EditFailure::invalid(format!("The {what} isn't UTF-8.")))
}

/// The most bytes of a text for the user that are kept.
pub(in crate::boundary) const MAX_SAID_BYTES: usize = 1 << 14;

/// A text for the user that nobody would learn of if it were refused: what is beyond `limit` bytes of it is left out,
/// and what isn't UTF-8 is replaced.
///
/// # Safety
/// As [`text`].
pub(in crate::boundary) unsafe fn said_text(
    text: abi::Str,
    what: &str,
    limit: usize,
) -> Edit<String> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { list(text.ptr, text.len, what)? };
    match bytes.split_at_checked(limit) {
        Some((kept, rest)) if !rest.is_empty() => {
            let kept = String::from_utf8_lossy(kept);
            Ok(format!("{kept}… ({} more bytes are left out)", rest.len()))
        }
        _ => Ok(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// Writes the result of `make` to the plugin's memory, which is checked before anything is done.
///
/// # Safety
/// A pointer that is not null and aligned points to room for a `T`.
#[inline]
pub(in crate::boundary) unsafe fn write_with<T>(
    out: *mut T,
    make: impl FnOnce() -> Edit<T>,
) -> Edit {
    check_out(out)?;
    // SAFETY: the caller's promise.
    unsafe { out.write(make()?) };
    Ok(())
}

/// Writes a list of results to the plugin's memory.
///
/// # Safety
/// `out` has room for as many.
pub(in crate::boundary) unsafe fn write_all<T>(out: *mut T, values: Vec<T>) {
    for (at, value) in values.into_iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { out.add(at).write(value) };
    }
}

/// Refuses a pointer that no result can be written to.
#[inline]
pub(in crate::boundary) fn check_out<T>(out: *mut T) -> Edit {
    check_pointer(out, "place for the answer")
}

#[inline]
fn check_pointer<T>(at: *const T, what: &str) -> Edit {
    if at.is_null() || !at.is_aligned() {
        return Err(wrong_pointer(at.is_null(), what));
    }
    Ok(())
}

#[cold]
fn wrong_pointer(is_null: bool, what: &str) -> EditFailure {
    let wrong = if is_null { "null" } else { "misaligned" };
    EditFailure::invalid(format!("The pointer to the {what} is {wrong}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(bytes: &[u8]) -> String {
        let text = abi::Str {
            ptr: bytes.as_ptr(),
            len: bytes.len(),
        };
        // SAFETY: the bytes live until it returns.
        unsafe { said_text(text, "message", MAX_SAID_BYTES) }.unwrap()
    }

    #[test]
    fn what_a_plugin_says_last_is_taken_whatever_it_is() {
        assert_eq!(said(b"plain"), "plain");
        assert_eq!(said(b"odd \xff one"), "odd \u{fffd} one");
        let long = said("é".repeat(100_000).as_bytes());
        assert!(long.starts_with("éé"));
        assert!(long.ends_with("é… (183616 more bytes are left out)"));
        assert_eq!(said(&[b'x'; MAX_SAID_BYTES]).len(), MAX_SAID_BYTES);
    }
}
