//! Pools: the vectors that hold the lists of many records, each a range of one.

use passdock_abi::Range;

/// Entries of a pool; empty if the range lies outside.
pub(crate) fn slice<T>(pool: &[T], range: Range) -> &[T] {
    let start = range.start as usize;
    pool.get(start..start + range.len as usize).unwrap_or(&[])
}

/// Appends to a pool.
pub(crate) fn push_range<T>(pool: &mut Vec<T>, items: impl IntoIterator<Item = T>) -> Range {
    let start = pool.len() as u32;
    pool.extend(items);
    Range {
        start,
        len: pool.len() as u32 - start,
    }
}
