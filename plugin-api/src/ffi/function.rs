//! One function: what a pass holds of it, and reads through its view.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::ptr::{slice_from_raw_parts, slice_from_raw_parts_mut};
use std::rc::Rc;

use passdock_abi as abi;
use passdock_abi::{Dim, OpId, Range, RegionId, SymbolId};

use super::column::{pool, record, Record, Records};
use super::tables::{RawSymbols, Tables};

/// A function of the module: read in place through `&self`, edited through `&mut self`.
///
/// Ids (`OpId`, `ValueId`, …) are plain numbers that belong to one function. An id that was
/// erased, or that belongs to another function, is a mistake in the pass: reads panic with a
/// sentence that names it (the host reports it as the pass's failure and keeps the module), edits
/// answer an error. A value may be [`ValueId::NONE`], an operand left out: reads answer "nothing".
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// Erases ops whose results nobody uses, the last one first.
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
/// A function is lent to the pass: it can't be moved, replaced, or swapped with another.
///
/// ```compile_fail,E0277
/// use passdock_plugin_api::prelude::*;
///
/// fn swap(one: &mut Function, other: &mut Function) {
///     std::mem::swap(one, other); // it has no size
/// }
/// ```
#[repr(C)]
pub struct Function {
    pub(crate) raw: RawFunction,
    /// Makes it a type without a size. What is lent as `&mut` could otherwise be swapped with what
    /// lives shorter.
    no_size: [()],
}

/// The owner of a [`Function`], which lends it.
#[doc(hidden)]
#[repr(transparent)]
pub struct FunctionHandle(RawFunction);

impl Deref for FunctionHandle {
    type Target = Function;

    #[inline]
    fn deref(&self) -> &Function {
        let raw: *const RawFunction = &self.0;
        // SAFETY: a `Function` is a `RawFunction` and, behind it, an array of as many `()` as said:
        // none.
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
    /// A handle of a host's function, for hosts that hand their own to passes written with this
    /// SDK.
    ///
    /// # Safety
    /// `function` is as the contract says, nobody else edits it while the answer lives, and it
    /// outlives the answer.
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

    /// The reference that the handle was made from; for hosts.
    #[doc(hidden)]
    pub fn as_raw(&self) -> abi::FunctionRef {
        abi::FunctionRef {
            handle: self.raw.handle,
            view: self.raw.view,
        }
    }
}

/// One function: a handle, its view, and the tables to call.
pub(crate) struct RawFunction {
    pub(crate) tables: &'static Tables,
    pub(crate) handle: *mut abi::Function,
    view: *const abi::FunctionView,
    /// Made when the first iterator is, so that a pass that doesn't iterate pays nothing.
    alive: Cell<Option<Alive>>,
}

/// A watch that an iterator keeps instead of a borrow: tells which ops are still there, and knows
/// when the function isn't.
#[derive(Clone)]
pub(crate) struct Alive(Rc<Cell<*const abi::FunctionView>>);

impl Alive {
    pub(crate) fn new(view: *const abi::FunctionView) -> Alive {
        Alive(Rc::new(Cell::new(view)))
    }

    /// Ends the function: from now on nothing is there.
    pub(crate) fn end(&self) {
        self.0.set(std::ptr::null());
    }

    /// Whether anybody else holds it.
    pub(crate) fn is_watched(&self) -> bool {
        Rc::strong_count(&self.0) > 1
    }

    /// Whether an op is there.
    #[inline]
    pub(crate) fn has(&self, op: OpId) -> bool {
        let view = self.0.get();
        if view.is_null() {
            return false;
        }
        // SAFETY: whoever owns the handle ends this before the view goes away.
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

/// A field of the view. There is never a reference to the whole view, of which an older host has less
/// than this side knows: a field that is newer than the oldest host is read only after a look at
/// `struct_size`.
macro_rules! seen {
    ($self:ident.$field:ident) => {{
        // SAFETY: the view lives as long as `self`, changes only in calls that take `&mut self`, and
        // has all fields of the oldest host.
        #[allow(unused_unsafe)]
        let seen = unsafe { std::ptr::addr_of!((*$self.view).$field).read() };
        seen
    }};
}
pub(crate) use seen;

/// Columns of records by the record's type.
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
    /// The function's name.
    pub(crate) fn name(&self) -> SymbolId {
        seen!(self.name)
    }

    /// The function's kind.
    pub(crate) fn kind(&self) -> abi::FunctionKind {
        seen!(self.kind)
    }

    /// The function's body.
    #[inline]
    pub(crate) fn body(&self) -> RegionId {
        seen!(self.body)
    }

    /// The number that grows with every edit.
    pub(crate) fn version(&self) -> u64 {
        seen!(self.version)
    }

    /// The number of live ops.
    pub(crate) fn op_count(&self) -> u32 {
        seen!(self.op_count)
    }

    /// The number of ops' ids.
    pub(crate) fn op_ids(&self) -> u32 {
        seen!(self.ops).len
    }

    /// The number of constants' ids.
    pub(crate) fn constant_ids(&self) -> u32 {
        seen!(self.constants).len
    }

    /// The function's own attributes.
    pub(crate) fn function_attrs(&self) -> Range {
        seen!(self.function_attrs)
    }

    /// The function's identity, in messages and while something is computed.
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

    /// Ids of a range of the id pool.
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

    /// A range of operand slots.
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
        // SAFETY: the callers above name a column of this view with the record it holds.
        unsafe { Records::new(column, range) }
    }

    /// The symbols of the module.
    #[inline]
    pub(crate) fn symbols(&self) -> RawSymbols<'_> {
        // SAFETY: they live, and stay where they are, as long as the module.
        unsafe { RawSymbols::new(self.tables, seen!(self.symbols)) }
    }
}
