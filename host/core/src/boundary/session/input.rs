//! The checks of a plugin's arguments: pointers, lengths, strings, sizes of structs.
//!
//! A pointer that is neither null nor misaligned is trusted, since it can't be checked further. Everything else that a
//! plugin could get wrong is an error with a message.

use std::mem::MaybeUninit;
use std::ptr;

use passdock_abi as abi;
use passdock_abi::Grows;
use passdock_ir::symbols::MAX_SYMBOL_BYTES;
use passdock_ir::{Edit, EditFailure};

/// The maximum size of a request struct, in bytes.
const MAX_STRUCT: usize = 1 << 16;

/// The maximum number of elements of a list, greater than that of any list of the plugin ABI.
const MAX_COUNT: usize = 1 << 30;

/// Checks and copies a struct that starts with its size. Fields that one side doesn't have are 0 or ignored.
///
/// # Safety
/// A non-null, aligned pointer points to as many bytes as its first field specifies.
#[inline]
pub(in crate::boundary) unsafe fn described<T: Grows>(at: *const T) -> Edit<T> {
    check_pointer(at, T::NAME)?;
    // SAFETY: the caller's promise.
    unsafe { copied(at, usize::MAX) }
}

/// Copies a struct that starts with its size, of at most `room` bytes.
///
/// # Safety
/// See [`described`]; the pointer is aligned.
#[inline]
unsafe fn copied<T: Grows>(at: *const T, room: usize) -> Edit<T> {
    // SAFETY: the caller's promise; the struct starts with its size.
    let size = unsafe { at.cast::<u32>().read() } as usize;
    if size < size_of::<u32>() || size > room {
        return Err(size_mismatch::<T>(size));
    }
    if size >= size_of::<T>() {
        if T::ASKS && size > size_of::<T>() {
            // SAFETY: the caller's promise.
            unsafe { check_rest(at, size)? };
        }
        // SAFETY: `size` covers a whole `T`.
        return checked(unsafe { at.read() });
    }
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: only `size` bytes are read, fewer than a `T` has. A `T` is valid for zeros and for any plugin's bytes.
    unsafe {
        let (from, to) = (at.cast::<u8>(), copy.as_mut_ptr().cast::<u8>());
        from.copy_to_nonoverlapping(to, size);
        checked(copy.assume_init())
    }
}

/// Rejects nonzero fields of a later ABI version: ignoring them would change the meaning of the request.
///
/// # Safety
/// `size` bytes are readable, more than a `T` has.
#[cold]
unsafe fn check_rest<T: Grows>(at: *const T, size: usize) -> Edit {
    if size > MAX_STRUCT {
        return Err(size_mismatch::<T>(size));
    }
    let (at, len) = (at.cast::<u8>(), size_of::<T>());
    // SAFETY: the caller's promise.
    let rest = unsafe { std::slice::from_raw_parts(at.add(len), size - len) };
    match rest.iter().all(|&byte| byte == 0) {
        true => Ok(()),
        false => Err(EditFailure::unsupported(format!(
            "unsupported fields of `{}` after byte {len}",
            T::NAME
        ))),
    }
}

#[cold]
fn size_mismatch<T: Grows>(size: usize) -> EditFailure {
    EditFailure::invalid(format!(
        "invalid `struct_size` {size} of `{}`: expected the size of the struct in bytes",
        T::NAME
    ))
}

/// Returns the error for an unknown kind.
#[cold]
pub(in crate::boundary) fn unknown(what: &str, kind: u32) -> EditFailure {
    EditFailure::unsupported(format!("unknown {what} kind {kind}"))
}

/// Rejects unknown flags and nonzero reserved fields.
#[inline]
fn checked<T: Grows>(copy: T) -> Edit<T> {
    match copy.unknown_flags() {
        0 => Ok(copy),
        unknown => Err(unknown_flags::<T>(unknown)),
    }
}

#[cold]
fn unknown_flags<T: Grows>(unknown: u32) -> EditFailure {
    EditFailure::unsupported(format!("unknown flag {unknown:#x} of `{}`", T::NAME))
}

/// Fills a plugin's struct that starts with its size, up to the smaller of both sides' sizes.
///
/// # Safety
/// See [`described`]; the bytes are writable.
pub(in crate::boundary) unsafe fn fill<T: Grows>(out: *mut T, value: T) -> Edit {
    check_pointer(out, T::NAME)?;
    // SAFETY: the caller's promise; the struct starts with its size.
    let room = unsafe { out.cast::<u32>().read() } as usize;
    if room < size_of::<u32>() {
        return Err(size_mismatch::<T>(room));
    }
    let size = room.min(size_of::<T>());
    // SAFETY: the size is at most `room`. The size is the first field.
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

/// Checks a list of structs that start with their size.
///
/// # Safety
/// A non-null, aligned pointer points to `count` elements, `stride` bytes apart, which are valid as long as
/// the result is used.
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
            let message = format!("invalid list of {what}: {count} elements of {stride} bytes");
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
    pub(in crate::boundary) fn len(&self) -> usize {
        self.count
    }

    /// Copies each element as [`described`] does.
    #[inline]
    pub(in crate::boundary) fn iter(self) -> impl ExactSizeIterator<Item = Edit<T>> {
        (0..self.count).map(move |at| {
            // SAFETY: the promise of `strided`'s caller. The stride is a multiple of the alignment.
            unsafe { copied(self.first.byte_add(at * self.stride), self.stride) }
        })
    }
}

/// Checks a struct without a size field.
///
/// # Safety
/// A non-null, aligned pointer points to a `T`.
pub(in crate::boundary) unsafe fn plain<'a, T: Copy>(at: *const T, what: &str) -> Edit<&'a T> {
    check_pointer(at, what)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { &*at })
}

/// Checks a list of elements.
///
/// # Safety
/// A non-null, aligned pointer points to `count` elements.
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
    // SAFETY: the caller's promise. The length is at most `MAX_COUNT`.
    Ok(unsafe { std::slice::from_raw_parts(at, count) })
}

#[cold]
fn too_long(count: usize, what: &str) -> EditFailure {
    EditFailure::invalid(format!("the list of {what} is too long: {count} elements"))
}

/// Checks a string of at most [`MAX_SYMBOL_BYTES`].
///
/// # Safety
/// A pointer that is not null points to as many bytes as the length specifies.
pub(in crate::boundary) unsafe fn text<'a>(text: abi::Str, what: &str) -> Edit<&'a str> {
    // SAFETY: the caller's promise.
    unsafe { long_text(text, what, MAX_SYMBOL_BYTES) }
}

/// Checks a string of at most `limit` bytes.
///
/// # Safety
/// See [`text`].
pub(in crate::boundary) unsafe fn long_text<'a>(
    text: abi::Str,
    what: &str,
    limit: usize,
) -> Edit<&'a str> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { list(text.ptr, text.len, what)? };
    if bytes.len() > limit {
        let message = format!(
            "the {what} is too long: {} bytes, but the limit is {limit}",
            bytes.len()
        );
        return Err(EditFailure::invalid(message));
    }
    std::str::from_utf8(bytes).map_err(|_| EditFailure::invalid(format!("the {what} is not UTF-8")))
}

/// The maximum length of a message for the user, in bytes. Longer ones are truncated.
pub(in crate::boundary) const MAX_MESSAGE_BYTES: usize = 1 << 14;

/// Converts a string for the user. It is shortened to `limit` bytes, and invalid UTF-8 is replaced: an error would hide
/// the message from the user.
///
/// # Safety
/// See [`text`].
pub(in crate::boundary) unsafe fn lossy_text(
    text: abi::Str,
    what: &str,
    limit: usize,
) -> Edit<String> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { list(text.ptr, text.len, what)? };
    match bytes.split_at_checked(limit) {
        Some((start, rest)) if !rest.is_empty() => {
            let start = String::from_utf8_lossy(start);
            Ok(format!("{start}… ({} more bytes are omitted)", rest.len()))
        }
        _ => Ok(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// Writes the result of `make` to the plugin's memory. The pointer is checked before `make` is called.
///
/// # Safety
/// A non-null, aligned pointer points to writable memory for a `T`.
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
/// `out` has room for all values.
pub(in crate::boundary) unsafe fn write_all<T>(out: *mut T, values: Vec<T>) {
    for (at, value) in values.into_iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { out.add(at).write(value) };
    }
}

/// Rejects a null or misaligned pointer to a result.
#[inline]
pub(in crate::boundary) fn check_out<T>(out: *mut T) -> Edit {
    check_pointer(out, "result")
}

#[inline]
fn check_pointer<T>(at: *const T, what: &str) -> Edit {
    if at.is_null() || !at.is_aligned() {
        return Err(invalid_pointer(at.is_null(), what));
    }
    Ok(())
}

#[cold]
fn invalid_pointer(is_null: bool, what: &str) -> EditFailure {
    let problem = if is_null { "null" } else { "misaligned" };
    EditFailure::invalid(format!("the pointer to the {what} is {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> String {
        let text = abi::Str {
            ptr: bytes.as_ptr(),
            len: bytes.len(),
        };
        // SAFETY: the bytes live until it returns.
        unsafe { lossy_text(text, "message", MAX_MESSAGE_BYTES) }.unwrap()
    }

    #[test]
    fn invalid_or_long_text_is_sanitized() {
        assert_eq!(decode(b"plain"), "plain");
        assert_eq!(decode(b"odd \xff one"), "odd \u{fffd} one");
        let long = decode("é".repeat(100_000).as_bytes());
        assert!(long.starts_with("éé"));
        assert!(long.ends_with("é… (183616 more bytes are omitted)"));
        assert_eq!(decode(&[b'x'; MAX_MESSAGE_BYTES]).len(), MAX_MESSAGE_BYTES);
    }
}
