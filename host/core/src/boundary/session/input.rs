//! The checks of a plugin's arguments: pointers, lengths, texts, versions of structs.
//!
//! A pointer that is neither null nor misaligned is believed, since nothing can tell; everything
//! else that a plugin could get wrong is an error with a sentence.

use std::mem::MaybeUninit;

use passdock_abi as abi;
use passdock_ir::symbols::MAX_SYMBOL_BYTES;
use passdock_ir::{Edit, EditError};

/// The most elements of a list: more than any list of the contract has.
const MAX_COUNT: usize = 1 << 30;

/// The most places of one message.
const MAX_LABELS: usize = 1 << 16;

/// A struct of the contract that is passed by pointer and starts with its own size.
///
/// # Safety
/// `repr(C)`, and the first field is `struct_size: u32`.
pub(in crate::boundary) unsafe trait Sized: Copy {
    /// The struct's name in messages.
    const NAME: &'static str;
}

macro_rules! described {
    ($($name:ident),*) => {$(
        // SAFETY: declared so in the contract.
        unsafe impl Sized for abi::$name {
            const NAME: &'static str = stringify!($name);
        }
    )*};
}

described!(
    TypeDesc,
    AttrDesc,
    OpDesc,
    ConstantDesc,
    CloneDesc,
    CloneOpsDesc,
    OutlineDesc,
    FunctionDesc,
    Diagnostic,
    Failure
);

/// A checked struct that starts with its size.
///
/// # Safety
/// A pointer that is not null and aligned points to as many bytes as its first field says.
pub(in crate::boundary) unsafe fn described<'a, T: Sized>(at: *const T) -> Edit<&'a T> {
    check_pointer(at, T::NAME)?;
    // SAFETY: the caller's promise; the struct starts with its size.
    let size = unsafe { at.cast::<u32>().read() } as usize;
    // The contract's first version has all fields of today's; a shorter struct is a mistake.
    if size < size_of::<T>() {
        let message = format!(
            "`struct_size` of a {} is {size}, at least {} is needed.",
            T::NAME,
            size_of::<T>()
        );
        return Err(EditError::invalid(message));
    }
    // SAFETY: the struct is there as far as this side knows it.
    Ok(unsafe { &*at })
}

/// A copy of the part of such a struct that the plugin has, the rest 0; at least `least` bytes must
/// be there.
///
/// # Safety
/// As [`described`]; and all zeros is a `T`.
pub(in crate::boundary) unsafe fn prefix<T: Sized>(at: *const T, least: usize) -> Edit<T> {
    check_pointer(at, T::NAME)?;
    // SAFETY: the caller's promise; the struct starts with its size.
    let size = unsafe { at.cast::<u32>().read() } as usize;
    if size < least {
        let message = format!(
            "`struct_size` of a {} is {size}, at least {least} is needed.",
            T::NAME
        );
        return Err(EditError::invalid(message));
    }
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: at most the bytes that are there are read, and at most a `T` is written; all zeros,
    // and what was written over them, is a `T`.
    unsafe {
        let (from, to) = (at.cast::<u8>(), copy.as_mut_ptr().cast::<u8>());
        from.copy_to_nonoverlapping(to, size.min(size_of::<T>()));
        Ok(copy.assume_init())
    }
}

/// A list whose elements stand `stride` bytes apart, copied.
///
/// # Safety
/// A pointer that is not null and aligned points to `count` elements.
pub(in crate::boundary) unsafe fn strided<T: Copy>(
    at: *const T,
    count: usize,
    stride: u32,
    what: &str,
) -> Edit<Vec<T>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    check_pointer(at, what)?;
    let stride = stride as usize;
    if stride < size_of::<T>() || !stride.is_multiple_of(align_of::<T>()) || count > MAX_LABELS {
        let message = format!("The list of {what} has {count} elements of {stride} bytes.");
        return Err(EditError::invalid(message));
    }
    // SAFETY: the caller's promise.
    let element = |i: usize| unsafe { at.cast::<u8>().add(i * stride).cast::<T>().read() };
    Ok((0..count).map(element).collect())
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
        let message = format!("The list of {what} has {count} elements.");
        return Err(EditError::invalid(message));
    }
    // SAFETY: the caller's promise; the length fits.
    Ok(unsafe { std::slice::from_raw_parts(at, count) })
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
        return Err(EditError::invalid(message));
    }
    std::str::from_utf8(bytes).map_err(|_| EditError::invalid(format!("The {what} isn't UTF-8.")))
}

/// Writes a result to the plugin's memory.
///
/// # Safety
/// A pointer that is not null and aligned points to room for a `T`.
pub(in crate::boundary) unsafe fn answer<T>(out: *mut T, value: T) {
    // SAFETY: the caller's promise; `check_out` was asked before anything was changed.
    unsafe { out.write(value) }
}

/// Writes the result of `make` to the plugin's memory, which is checked before anything is done.
///
/// # Safety
/// As [`answer`].
pub(in crate::boundary) unsafe fn answer_with<T>(
    out: *mut T,
    make: impl FnOnce() -> Edit<T>,
) -> Edit {
    check_out(out)?;
    // SAFETY: the caller's promise.
    unsafe { answer(out, make()?) };
    Ok(())
}

/// Writes a list of results to the plugin's memory.
///
/// # Safety
/// `out` has room for as many.
pub(in crate::boundary) unsafe fn answer_all<T>(out: *mut T, values: Vec<T>) {
    for (at, value) in values.into_iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { answer(out.add(at), value) };
    }
}

/// Refuses a pointer that no result can be written to.
pub(in crate::boundary) fn check_out<T>(out: *mut T) -> Edit {
    check_pointer(out, "place for the answer")
}

fn check_pointer<T>(at: *const T, what: &str) -> Edit {
    let wrong = match at {
        at if at.is_null() => "null",
        at if !at.is_aligned() => "misaligned",
        _ => return Ok(()),
    };
    let message = format!("The pointer to the {what} is {wrong}.");
    Err(EditError::invalid(message))
}
