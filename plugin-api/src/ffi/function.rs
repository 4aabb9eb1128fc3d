//! [`Function`]: a handle of a function, and reads through its view.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::ptr::{slice_from_raw_parts, slice_from_raw_parts_mut};
use std::rc::Rc;

use passdock_abi as abi;
use passdock_abi::{Dim, Metadata, OpId, Range, RegionId, SymbolId, ValueId};

use super::column::{pool, record, Record, Records};
use super::tables::{self, RawSymbols, Tables};
use crate::data::EditError;

/// A function of the module: read in place through `&self`, edited through `&mut self`.
///
/// Ids (`OpId`, `ValueId`, …) are plain numbers that belong to one function. To use an id of an erased entity, or of
/// another function, is a bug in the pass. Reads then panic with a message that names the id: the host reports it as
/// the pass's failure and restores the module. Edits return an error. A value may be [`ValueId::NONE`], an omitted
/// operand, for which reads return an empty result.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// Erases dead ops, users before their operands.
/// fn erase_unused(f: &mut Function, _cx: &PassContext) -> PassResult {
///     for op in f.ops().rev() {
///         let is_used = f.results(op).iter().any(|&result| f.use_count(result) > 0);
///         if f.traits(op).is_pure() && f.result_count(op) > 0 && !is_used {
///             f.erase_op(op)?;
///         }
///     }
///     Ok(())
/// }
/// ```
///
/// A pass borrows a function: it can't move it, replace it, or swap it with another one.
///
/// ```compile_fail,E0277
/// use passdock_plugin_api::prelude::*;
///
/// fn swap(one: &mut Function, other: &mut Function) {
///     std::mem::swap(one, other); // the type is unsized
/// }
/// ```
#[repr(C)]
pub struct Function {
    pub(crate) raw: RawFunction,
    /// Makes the type unsized. Otherwise a `&mut Function` could be swapped with one of a shorter lifetime.
    no_size: [()],
}

/// The owner of a [`Function`].
#[doc(hidden)]
#[repr(transparent)]
pub struct FunctionHandle(RawFunction);

impl Deref for FunctionHandle {
    type Target = Function;

    #[inline]
    fn deref(&self) -> &Function {
        let raw: *const RawFunction = &self.0;
        // SAFETY: a `Function` is a `RawFunction` followed by a slice of `()`, whose length is the pointer's metadata:
        // 0.
        unsafe { &*(slice_from_raw_parts(raw.cast::<()>(), 0) as *const Function) }
    }
}

impl DerefMut for FunctionHandle {
    #[inline]
    fn deref_mut(&mut self) -> &mut Function {
        let raw: *mut RawFunction = &mut self.0;
        // SAFETY: as above.
        unsafe { &mut *(slice_from_raw_parts_mut(raw.cast::<()>(), 0) as *mut Function) }
    }
}

impl Function {
    /// Returns the metadata of an op, in order: keys and texts that no operator reads, for people and other tools. In
    /// an ONNX file they are the `metadata_props` of the node. Empty for an invalid id, and for a host without
    /// metadata.
    pub fn op_metadata(&self, op: OpId) -> Vec<(String, String)> {
        owned(self.raw_op_metadata(op))
    }

    /// Returns the metadata of a value, in order: keys and texts. In an ONNX file they are the `metadata_props` of its
    /// `ValueInfo` or of its initializer. Empty for an invalid id, and for a host without metadata.
    pub fn value_metadata(&self, value: ValueId) -> Vec<(String, String)> {
        owned(self.raw_value_metadata(value))
    }

    /// Creates a handle to a host's function, for hosts that run passes of this SDK.
    ///
    /// # Safety
    /// `function` conforms to the ABI, outlives the handle, and isn't edited by others while the handle lives.
    #[doc(hidden)]
    pub unsafe fn from_raw(tables: &'static Tables, function: abi::FunctionRef) -> FunctionHandle {
        FunctionHandle(RawFunction {
            tables,
            handle: function.handle,
            view: function.view,
            alive: Cell::new(None),
        })
    }

    #[doc(hidden)]
    pub fn tables(&self) -> &'static Tables {
        self.raw.tables
    }

    /// Returns the reference that the handle was created from; for hosts.
    #[doc(hidden)]
    pub fn as_raw(&self) -> abi::FunctionRef {
        abi::FunctionRef {
            handle: self.raw.handle,
            view: self.raw.view,
        }
    }
}

/// A function: a handle, its view, and the host's tables.
pub(crate) struct RawFunction {
    pub(crate) tables: &'static Tables,
    pub(crate) handle: *mut abi::Function,
    view: *const abi::FunctionView,
    /// Created with the first iterator, so that passes without iterators don't pay for it.
    alive: Cell<Option<Alive>>,
}

/// A token that an iterator holds instead of a borrow. It checks whether an op, and the function, is still alive.
#[derive(Clone)]
pub(crate) struct Alive(Rc<Cell<*const abi::FunctionView>>);

impl Alive {
    pub(crate) fn new(view: *const abi::FunctionView) -> Alive {
        Alive(Rc::new(Cell::new(view)))
    }

    /// Ends the function: all its ops count as erased.
    pub(crate) fn end(&self) {
        self.0.set(std::ptr::null());
    }

    /// Whether there is another copy of the token.
    pub(crate) fn is_watched(&self) -> bool {
        Rc::strong_count(&self.0) > 1
    }

    /// Whether an op is alive.
    #[inline]
    pub(crate) fn has(&self, op: OpId) -> bool {
        let view = self.0.get();
        if view.is_null() {
            return false;
        }
        // SAFETY: the owner of the handle calls `end` before the view is freed.
        let ops = unsafe { std::ptr::addr_of!((*view).ops).read() };
        // SAFETY: as above.
        match unsafe { record::<abi::Op>(&ops, op.0) } {
            Some(record) => record.flags & abi::Op::DEAD == 0,
            None => false,
        }
    }
}

impl Drop for RawFunction {
    #[inline]
    fn drop(&mut self) {
        if let Some(alive) = self.alive.take() {
            alive.end();
        }
    }
}

/// Reads a field of the view. There is never a reference to the whole view, because that of an older host may be
/// smaller: a field that is newer than the oldest host is read only after a check of `struct_size`.
macro_rules! seen {
    ($self:ident.$field:ident) => {{
        // SAFETY: the view lives as long as `self`, changes only in calls that take `&mut self`, and has all fields of
        // the oldest host.
        #[allow(unused_unsafe)]
        let seen = unsafe { std::ptr::addr_of!((*$self.view).$field).read() };
        seen
    }};
}
pub(crate) use seen;

/// Defines accessors of columns of records.
macro_rules! records {
    ($($name:ident: $record:ident in $column:ident;)*) => {$(
        #[inline]
        pub(crate) fn $name(&self, index: u32) -> Option<abi::$record> {
            // SAFETY: the view's `$column` column holds `$record`s, and lives as long as `self`.
            unsafe { record(&seen!(self.$column), index) }
        }
    )*};
}

impl RawFunction {
    /// Returns the function's name.
    pub(crate) fn name(&self) -> SymbolId {
        seen!(self.name)
    }

    /// Returns the function's kind.
    pub(crate) fn kind(&self) -> abi::FunctionKind {
        seen!(self.kind)
    }

    /// Returns the function's body.
    #[inline]
    pub(crate) fn body(&self) -> RegionId {
        seen!(self.body)
    }

    /// Returns the version, which increases with each edit.
    pub(crate) fn version(&self) -> u64 {
        seen!(self.version)
    }

    /// Returns the number of live ops.
    pub(crate) fn op_count(&self) -> u32 {
        seen!(self.op_count)
    }

    /// Returns the number of op ids, erased ones included.
    pub(crate) fn op_ids(&self) -> u32 {
        seen!(self.ops).len
    }

    /// Returns the number of constant ids, erased ones included.
    pub(crate) fn constant_ids(&self) -> u32 {
        seen!(self.constants).len
    }

    /// Returns the function's attributes.
    pub(crate) fn function_attrs(&self) -> Range {
        seen!(self.function_attrs)
    }

    /// Returns an identity of the function, for messages and during a computation.
    pub(crate) fn identity(&self) -> (usize, SymbolId) {
        (seen!(self.symbols) as usize, self.name())
    }

    pub(crate) fn alive(&self) -> Alive {
        let alive = self.alive.take().unwrap_or_else(|| Alive::new(self.view));
        self.alive.set(Some(alive.clone()));
        alive
    }

    records! {
        op: Op in ops;
        value: Value in values;
        use_: Use in uses;
        region: Region in regions;
        ty: Type in types;
        expr: DimExpr in exprs;
        constant: Constant in constants;
        loc: Loc in locs;
        string: Range in strings;
    }

    /// Returns a range of the id pool.
    #[inline]
    pub(crate) fn ids<T: Record>(&self, range: Range) -> &[T] {
        debug_assert_eq!(std::mem::size_of::<T>(), 4);
        // SAFETY: `ids` holds `u32`s, which every id is.
        unsafe { pool(&seen!(self.ids), range) }
    }

    #[inline]
    pub(crate) fn ints(&self, range: Range) -> &[i64] {
        // SAFETY: `ints` holds `i64`s.
        unsafe { pool(&seen!(self.ints), range) }
    }

    #[inline]
    pub(crate) fn floats(&self, range: Range) -> &[f32] {
        // SAFETY: `floats` holds `f32`s.
        unsafe { pool(&seen!(self.floats), range) }
    }

    #[inline]
    pub(crate) fn bytes(&self, range: Range) -> &[u8] {
        // SAFETY: `bytes` holds `u8`s.
        unsafe { pool(&seen!(self.bytes), range) }
    }

    /// Returns a range of operand slots.
    #[inline]
    pub(crate) fn use_range(&self, range: Range) -> Records<'_, abi::Use> {
        self.range(seen!(self.uses), range)
    }

    #[inline]
    pub(crate) fn attr_range(&self, range: Range) -> Records<'_, abi::Attr> {
        self.range(seen!(self.attrs), range)
    }

    #[inline]
    pub(crate) fn dim_range(&self, range: Range) -> Records<'_, Dim> {
        self.range(seen!(self.dims), range)
    }

    #[inline]
    pub(crate) fn port_range(&self, range: Range) -> Records<'_, abi::Port> {
        self.range(seen!(self.ports), range)
    }

    pub(crate) fn opsets(&self) -> Records<'_, abi::Opset> {
        let column = seen!(self.opsets);
        // SAFETY: the column of a view, which holds `Opset`s.
        unsafe { Records::all(column) }
    }

    #[inline]
    fn range<T: Record>(&self, column: abi::Column, range: Range) -> Records<'_, T> {
        // SAFETY: the callers pass a column of this view with its type of record.
        unsafe { Records::new(column, range) }
    }

    /// Returns the symbols of the module.
    #[inline]
    pub(crate) fn symbols(&self) -> RawSymbols<'_> {
        // SAFETY: the symbols live, at the same address, as long as the module.
        unsafe { RawSymbols::new(self.tables, seen!(self.symbols)) }
    }
}

fn owned(metadata: Result<&[Metadata], EditError>) -> Vec<(String, String)> {
    let entries = metadata.unwrap_or_default().iter();
    // SAFETY: the host's texts are valid until the next call on the function.
    let text = |text| unsafe { tables::text(text) }.to_owned();
    entries
        .map(|entry| (text(entry.key), text(entry.text)))
        .collect()
}
