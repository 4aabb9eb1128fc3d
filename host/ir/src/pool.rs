//! Pools: vectors that store the lists of many records, each as a range.

use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use hashbrown::HashTable;
use passdock_abi::{Attr, AttrKind, Range, RegionId, SymbolId};
use rustc_hash::FxBuildHasher;

/// Converts a range to indexes.
pub(crate) fn span(range: Range) -> std::ops::Range<usize> {
    range.start as usize..range.start as usize + range.len as usize
}

/// Returns the entries of a range; empty if it is out of bounds.
pub(crate) fn slice<T>(pool: &[T], range: Range) -> &[T] {
    pool.get(span(range)).unwrap_or(&[])
}

/// Returns the entries of a region in a list sorted by region.
pub(crate) fn in_region<T>(sorted: &[(RegionId, T)], region: RegionId) -> &[(RegionId, T)] {
    let start = sorted.partition_point(|entry| entry.0 < region);
    let len = sorted[start..].partition_point(|entry| entry.0 == region);
    &sorted[start..start + len]
}

/// Appends items to a pool; returns their range.
pub(crate) fn push_range<T>(pool: &mut Vec<T>, items: impl IntoIterator<Item = T>) -> Range {
    let start = pool.len() as u32;
    pool.extend(items);
    Range {
        start,
        len: pool.len() as u32 - start,
    }
}

/// Returns the index of an interned record; adds the record if it is new.
pub(crate) fn intern_record<T: Copy + Eq + Hash>(
    records: &mut Vec<T>,
    index: &mut HashTable<u32>,
    record: T,
) -> u32 {
    let hash = FxBuildHasher.hash_one(record);
    if let Some(&known) = index.find(hash, |&id| records[id as usize] == record) {
        return known;
    }
    let id = records.len() as u32;
    records.push(record);
    index.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(records[id as usize]));
    id
}

/// Creates an attribute without a value.
pub(crate) fn bare_attr(name: SymbolId) -> Attr {
    Attr {
        name,
        kind: AttrKind::NONE,
        bits: 0,
        list: Range::EMPTY,
        flags: 0,
        stands_for: AttrKind::NONE,
    }
}

/// The pools that store the lists of plain attributes. Copies of a function share each pool until one of them adds a
/// list to it: decision tree models have hundreds of megabytes of lists.
#[derive(Clone, Default)]
pub(crate) struct AttrPools {
    pub(crate) ints: Arc<Vec<i64>>,
    pub(crate) floats: Arc<Vec<f32>>,
    /// The ranges of strings in `bytes`.
    pub(crate) strings: Arc<Vec<Range>>,
    pub(crate) bytes: Arc<Vec<u8>>,
}

impl AttrPools {
    /// Whether two copies still share all pools.
    pub(crate) fn are_shared(&self, other: &AttrPools) -> bool {
        Arc::ptr_eq(&self.ints, &other.ints)
            && Arc::ptr_eq(&self.floats, &other.floats)
            && Arc::ptr_eq(&self.strings, &other.strings)
            && Arc::ptr_eq(&self.bytes, &other.bytes)
    }

    /// Copies the list of a plain attribute from other pools. Attributes of other kinds don't change.
    pub(crate) fn copy_list(&mut self, from: &AttrPools, attr: &mut Attr) {
        let list = attr.list;
        attr.list = match attr.kind {
            AttrKind::STRING | AttrKind::OPAQUE => self.add_bytes(slice(&from.bytes, list)),
            AttrKind::INTS => self.add_ints(slice(&from.ints, list).iter().copied()),
            AttrKind::FLOATS => self.add_floats(slice(&from.floats, list).iter().copied()),
            AttrKind::STRINGS => {
                let texts = slice(&from.strings, list).iter();
                self.add_strings(texts.map(|&text| slice(&from.bytes, text)))
            }
            _ => list,
        };
    }

    /// Appends a list of integers.
    pub(crate) fn add_ints(&mut self, ints: impl IntoIterator<Item = i64>) -> Range {
        push_range(Arc::make_mut(&mut self.ints), ints)
    }

    /// Appends a list of floating-point numbers.
    pub(crate) fn add_floats(&mut self, floats: impl IntoIterator<Item = f32>) -> Range {
        push_range(Arc::make_mut(&mut self.floats), floats)
    }

    /// Appends a string.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) -> Range {
        push_range(Arc::make_mut(&mut self.bytes), bytes.iter().copied())
    }

    /// Appends a list of strings whose bytes are already in `bytes`.
    pub(crate) fn add_ranges(&mut self, ranges: impl IntoIterator<Item = Range>) -> Range {
        push_range(Arc::make_mut(&mut self.strings), ranges)
    }

    /// Appends a list of strings.
    pub(crate) fn add_strings<'s>(&mut self, texts: impl Iterator<Item = &'s [u8]>) -> Range {
        let bytes = Arc::make_mut(&mut self.bytes);
        let texts = texts.map(|text| push_range(bytes, text.iter().copied()));
        push_range(Arc::make_mut(&mut self.strings), texts)
    }
}
