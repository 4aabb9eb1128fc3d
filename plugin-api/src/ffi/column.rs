//! Access to a view's columns: records, and pools of numbers and ids.

use std::marker::PhantomData;

use passdock_abi as abi;

/// A record of a column, or an element of a pool.
///
/// # Safety
/// The type is a number, or `repr(C)` and consists of integers.
pub(crate) unsafe trait Record: Copy {}

macro_rules! records {
    ($($record:ty),* $(,)?) => {
        // SAFETY: numbers, and `repr(C)` structs of integers.
        $(unsafe impl Record for $record {})*
    };
}

records! {
    abi::Op, abi::Value, abi::Use, abi::Region, abi::Port, abi::Attr, abi::Type, abi::Dim, abi::DimExpr, abi::Constant,
    abi::Loc, abi::Opset, abi::Range, abi::FunctionEntry, abi::Liveness, abi::OpOrder, abi::OpEffects, abi::NameUse,
    u8, i64, f32, abi::ValueId, abi::RegionId, abi::TypeId, abi::ConstId, abi::LocId,
}

/// Returns a record, or `None` if the index is out of range.
///
/// # Safety
/// `column` belongs to a live view and has records of type `T`.
#[inline]
pub(crate) unsafe fn record<T: Record>(column: &abi::Column, index: u32) -> Option<T> {
    if index < column.len {
        // SAFETY: in bounds.
        Some(unsafe { column.base.cast::<T>().add(index as usize).read() })
    } else {
        None
    }
}

/// Returns a range of a pool; empty if the range is out of bounds.
///
/// # Safety
/// `column` belongs to a live view, is a pool of `T`, and doesn't change for `'a`.
#[inline]
pub(crate) unsafe fn pool<'a, T: Record>(column: &abi::Column, range: abi::Range) -> &'a [T] {
    let end = range.start as u64 + range.len as u64;
    if range.len == 0 || end > column.len as u64 {
        return &[];
    }
    // SAFETY: in bounds of a dense array that doesn't change for `'a`.
    unsafe {
        let first = column.base.cast::<T>().add(range.start as usize);
        std::slice::from_raw_parts(first, range.len as usize)
    }
}

/// An iterator over a range of a column's records.
#[derive(Clone)]
pub(crate) struct Records<'a, T> {
    column: abi::Column,
    at: u32,
    end: u32,
    borrow: PhantomData<&'a T>,
}

impl<'a, T: Record> Records<'a, T> {
    /// # Safety
    /// `column` belongs to a view, has records of type `T`, and doesn't change for `'a`.
    #[inline]
    pub(crate) unsafe fn new(column: abi::Column, range: abi::Range) -> Records<'a, T> {
        let end = range.start.saturating_add(range.len);
        let inside = end <= column.len;
        Records {
            column,
            at: if inside { range.start } else { 0 },
            end: if inside { end } else { 0 },
            borrow: PhantomData,
        }
    }

    /// Iterates over all records of a column.
    ///
    /// # Safety
    /// See [`Records::new`].
    pub(crate) unsafe fn all(column: abi::Column) -> Records<'a, T> {
        let (start, len) = (0, column.len);
        // SAFETY: the caller guarantees the same.
        unsafe { Records::new(column, abi::Range { start, len }) }
    }

    /// Returns the record at `index`, relative to the current position.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<T> {
        if index >= self.len() {
            return None;
        }
        // SAFETY: the caller of `new` guarantees a valid column.
        unsafe { record(&self.column, self.at + index as u32) }
    }
}

impl<'a, T: Record> Iterator for Records<'a, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let next = self.get(0)?;
        self.at += 1;
        Some(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = (self.end - self.at) as usize;
        (len, Some(len))
    }
}

impl<T: Record> ExactSizeIterator for Records<'_, T> {}
