//! Equivalence classes of constants: two constants are in one class if their types and bytes are equal.
//!
//! A constant's bytes are read only if the other function has a constant of the same type and length, and not if both
//! are at the same offset of the same file. Equal hashes are confirmed byte by byte.

use std::sync::Arc;

use passdock_abi::{ConstId, DType};
use passdock_core::{ErrorKind, PassError};
use passdock_ir::{ConstantData, Function, Payload, text};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::elements::{Element, elements};

/// The class of each constant of two functions.
pub(super) struct Contents {
    classes: [FxHashMap<ConstId, u32>; 2],
}

/// The numerical difference of two constants of one type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NumericDiff {
    /// The number of elements.
    pub elements: u64,
    /// The number of elements that differ in their bits.
    pub mismatched: u64,
    /// The largest absolute difference of two elements that are numbers.
    pub max_abs: f64,
}

/// Constants with their data.
type Constants<'f> = Vec<(ConstId, &'f ConstantData)>;

/// A key under which equal constants are found.
#[derive(PartialEq, Eq, Hash)]
enum Key<'d> {
    /// A mapping and an offset. The file's name isn't enough, because another file may have it by now.
    Mapped(*const (), u64),
    /// A file name and an offset.
    External(&'d str, u64),
    /// The hash of the bytes.
    Hash(u64),
    /// A constant without an equal one in the other function.
    Unique(usize, ConstId),
}

impl Key<'_> {
    /// Returns the location of the data in a file. Data at equal locations is equal.
    fn data_range(data: &ConstantData) -> Option<Key<'_>> {
        match data.payload() {
            Payload::Mapped(range) => {
                Some(Key::Mapped(Arc::as_ptr(&range.source).cast(), range.offset))
            }
            Payload::External(range) => Some(Key::External(range.source.name(), range.offset)),
            _ => None,
        }
    }
}

impl Contents {
    pub(super) fn new(functions: [&Function; 2]) -> Result<Contents, PassError> {
        let unreadable = |message: String| PassError::new(ErrorKind::Read, message);
        // Candidates for equality, by type and length.
        let mut buckets: FxHashMap<(String, u64), [Constants<'_>; 2]> = FxHashMap::default();
        for (side, f) in functions.into_iter().enumerate() {
            for (id, constant) in f.live_constants() {
                let data = &**f.constant_data(id);
                let key = (text::type_text(f, constant.ty), data.len());
                buckets.entry(key).or_default()[side].push((id, data));
            }
        }
        let mut classes = [FxHashMap::default(), FxHashMap::default()];
        let mut next = 0;
        for bucket in buckets.values() {
            let ranges = bucket.each_ref().map(|constants| -> FxHashSet<Key<'_>> {
                constants
                    .iter()
                    .filter_map(|(_, data)| Key::data_range(data))
                    .collect()
            });
            let is_shared =
                |data_range: &Key<'_>| ranges.iter().all(|ranges| ranges.contains(data_range));
            let is_read = bucket.iter().all(|constants| !constants.is_empty());
            let mut by_key: FxHashMap<Key<'_>, Vec<(&ConstantData, u32)>> = FxHashMap::default();
            for (side, constants) in bucket.iter().enumerate() {
                for &(id, data) in constants {
                    let key = match Key::data_range(data).filter(is_shared) {
                        Some(data_range) => data_range,
                        None if is_read => Key::Hash(data.hash().map_err(unreadable)?),
                        None => Key::Unique(side, id),
                    };
                    let is_hash = matches!(key, Key::Hash(_));
                    let alike = by_key.entry(key).or_default();
                    let mut class = None;
                    for &(other, other_class) in alike.iter() {
                        if !is_hash || other.same(data).map_err(unreadable)? {
                            class = Some(other_class);
                            break;
                        }
                    }
                    let class = class.unwrap_or_else(|| {
                        next += 1;
                        alike.push((data, next));
                        next
                    });
                    classes[side].insert(id, class);
                }
            }
        }
        Ok(Contents { classes })
    }

    /// Returns the class of a constant.
    pub(super) fn class(&self, side: usize, id: ConstId) -> Option<u32> {
        self.classes[side].get(&id).copied()
    }
}

/// Compares two constants of one type, if their elements are numbers and their bytes can be read.
pub(super) fn numeric_diff(
    dtype: DType,
    count: u64,
    old: &ConstantData,
    new: &ConstantData,
) -> Option<NumericDiff> {
    if matches!(dtype, DType::C64 | DType::C128) {
        return None;
    }
    let (old, new) = (old.bytes().ok()?, new.bytes().ok()?);
    let mut diff = NumericDiff {
        elements: 0,
        mismatched: 0,
        max_abs: 0.0,
    };
    for (old, new) in elements(dtype, old, count).zip(elements(dtype, new, count)) {
        let is_same = match (old, new) {
            (Element::Float(old), Element::Float(new)) => old.to_bits() == new.to_bits(),
            (Element::Integer(old), Element::Integer(new)) => old == new,
            _ => return None,
        };
        diff.elements += 1;
        diff.mismatched += u64::from(!is_same);
        let distance = old.distance(new);
        if distance.is_finite() {
            diff.max_abs = diff.max_abs.max(distance);
        }
    }
    Some(diff)
}
