//! The attributes that the definition of an op lists.

use std::mem::{size_of, MaybeUninit};
use std::ptr;
use std::slice;

use passdock_abi as abi;
use passdock_abi::{AttrEntry, AttrKind, OpId, Status};

use super::context::RawContext;
use super::function::RawFunction;
use super::tables::text;
use crate::data::{AttrValue, EditError};

impl RawContext {
    /// The default of an attribute in the definition of an op; `None` if it has none, or nothing is known.
    pub(crate) fn attr_default(
        &self,
        function: &RawFunction,
        op: OpId,
        name: &str,
    ) -> Result<Option<AttrValue>, EditError> {
        let (first, count, stride) = match self.attributes(function, op) {
            Ok(listed) => listed,
            Err(error) if error.status == Status::NOT_FOUND => return Ok(None),
            Err(error) => return Err(error),
        };
        for at in 0..count as usize {
            // SAFETY: the definition's entries, so many bytes apart, which live for ever.
            let (entry, found) = unsafe {
                let entry = entry(
                    first.cast::<u8>().add(at * stride as usize),
                    stride as usize,
                );
                (entry, text(entry.name))
            };
            if found == name {
                // SAFETY: as above.
                return Ok(unsafe { default(&entry) });
            }
        }
        Ok(None)
    }
}

/// The part of an entry that both sides know, the rest zero.
///
/// # Safety
/// `stride` bytes are readable there, an entry or the beginning of one.
unsafe fn entry(at: *const u8, stride: usize) -> AttrEntry {
    let mut entry = MaybeUninit::<AttrEntry>::zeroed();
    let len = stride.min(size_of::<AttrEntry>());
    // SAFETY: the caller's promise; all zeros is an entry, and so is what is written over it.
    unsafe {
        ptr::copy_nonoverlapping(at, entry.as_mut_ptr().cast::<u8>(), len);
        entry.assume_init()
    }
}

/// The default that an entry says.
///
/// # Safety
/// The entry is as the contract says, and what it points to lives.
unsafe fn default(entry: &AttrEntry) -> Option<AttrValue> {
    if entry.flags & AttrEntry::DEFAULT == 0 {
        return None;
    }
    Some(match entry.kind {
        AttrKind::INT => AttrValue::Int(entry.bits as i64),
        AttrKind::FLOAT => AttrValue::Float(f32::from_bits(entry.bits as u32)),
        // SAFETY: the caller's promise, here and below: so many elements of the kind.
        AttrKind::STRING => AttrValue::String(unsafe { list::<u8>(entry) }.to_vec()),
        // SAFETY: as above.
        AttrKind::INTS => AttrValue::Ints(unsafe { list::<i64>(entry) }.to_vec()),
        // SAFETY: as above.
        AttrKind::FLOATS => AttrValue::Floats(unsafe { list::<f32>(entry) }.to_vec()),
        AttrKind::STRINGS => {
            // SAFETY: as above.
            let texts = unsafe { list::<abi::Str>(entry) }.iter();
            // SAFETY: as above.
            AttrValue::Strings(texts.map(|one| unsafe { text(*one) }.into()).collect())
        }
        _ => return None,
    })
}

/// # Safety
/// As [`default`], and the elements are `T`s.
unsafe fn list<'e, T>(entry: &AttrEntry) -> &'e [T] {
    match entry.count {
        0 => &[],
        // SAFETY: the caller's promise.
        count => unsafe { slice::from_raw_parts(entry.data.cast::<T>(), count) },
    }
}
