//! Defaults of attributes, from op definitions.
#![allow(unsafe_code)]

use passdock_abi as abi;
use passdock_abi::{AttrEntry, AttrKind, OpId};

use super::context::PassContext;
use crate::data::{optional, AttrValue, EditError};
use crate::ffi::{elements, strided, text};
use crate::ir::Function;

impl PassContext {
    /// Returns the default of an attribute, from the op's definition; `None` if it has none or there is no definition.
    ///
    /// # Errors
    /// If the op is stale, or the host is older than this call.
    pub fn attr_default(
        &self,
        function: &Function,
        op: OpId,
        name: &str,
    ) -> Result<Option<AttrValue>, EditError> {
        let (first, count, stride) = match optional(self.raw_attributes(function, op))? {
            Some(listed) => listed,
            None => return Ok(None),
        };
        // SAFETY: the definition's entries, `stride` bytes apart, which are never freed.
        let entry = unsafe {
            let mut entries = strided::<AttrEntry>(first, count as usize, stride as usize);
            entries.find(|entry| text(entry.name) == name)
        };
        // SAFETY: as above.
        Ok(entry.and_then(|entry| unsafe { default(&entry) }))
    }
}

/// Returns the default of an entry.
///
/// # Safety
/// The entry conforms to the ABI, and its data is alive.
unsafe fn default(entry: &AttrEntry) -> Option<AttrValue> {
    if entry.flags & AttrEntry::DEFAULT == 0 {
        return None;
    }
    Some(match entry.kind {
        AttrKind::INT => AttrValue::Int(entry.bits as i64),
        AttrKind::FLOAT => AttrValue::Float(f32::from_bits(entry.bits as u32)),
        // SAFETY: the caller guarantees, here and below, `count` elements of the kind.
        AttrKind::STRING => {
            AttrValue::String(unsafe { elements(entry.data.cast::<u8>(), entry.count) }.to_vec())
        }
        // SAFETY: as above.
        AttrKind::INTS => {
            AttrValue::Ints(unsafe { elements(entry.data.cast::<i64>(), entry.count) }.to_vec())
        }
        // SAFETY: as above.
        AttrKind::FLOATS => {
            AttrValue::Floats(unsafe { elements(entry.data.cast::<f32>(), entry.count) }.to_vec())
        }
        AttrKind::STRINGS => {
            // SAFETY: as above.
            let texts = unsafe { elements(entry.data.cast::<abi::Str>(), entry.count) }.iter();
            // SAFETY: as above.
            AttrValue::Strings(texts.map(|one| unsafe { text(*one) }.into()).collect())
        }
        _ => return None,
    })
}
