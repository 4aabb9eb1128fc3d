//! One function: reads through its view, edits through the host's table.

use std::cell::Cell;
use std::rc::Rc;

use passdock_abi as abi;
use passdock_abi::{
    ConstId, Dim, ExprKind, LocId, OpId, Position, Range, RegionId, Status, SymbolId, TypeId,
    ValueId,
};

use super::parts::{attr_desc, port, stride, ConstantParts, OpParts, TypeParts};
use super::read::{pool, record, Pooled, Record, Records};
use super::tables::{text, there, Tables};
use crate::data::{AttrValue, EditError};

/// A handle, its view, and the tables to call.
pub(crate) struct RawFunction {
    pub(crate) tables: &'static Tables,
    pub(super) handle: *mut abi::Function,
    view: *const abi::FunctionView,
    /// Made when the first iterator is, so that a pass that doesn't iterate pays nothing.
    alive: Cell<Option<Alive>>,
}

/// A watch that an iterator keeps instead of a borrow: tells which ops are still there, and knows
/// when the function isn't.
#[derive(Clone)]
pub(crate) struct Alive(Rc<Cell<*const abi::FunctionView>>);

impl Alive {
    pub(super) fn new(view: *const abi::FunctionView) -> Alive {
        Alive(Rc::new(Cell::new(view)))
    }

    /// Ends the function: from now on nothing is there.
    pub(super) fn end(&self) {
        self.0.set(std::ptr::null());
    }

    /// Whether anybody else holds it.
    pub(super) fn is_watched(&self) -> bool {
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

/// A call of the host's function table that answers a status.
macro_rules! call {
    ($self:ident.$name:ident($op:expr; $($argument:expr),*)) => {
        match $self.tables.functions.$name {
            Some(function) => {
                // SAFETY: the handle lives as long as `self`; what the arguments point to lives
                // until the call returns, and is as the contract says.
                let status = unsafe { function($self.handle, $($argument),*) };
                $self.done(status, stringify!($name), $op)
            }
            None => Err(EditError::unsupported(stringify!($name), $op)),
        }
    };
}
pub(super) use call;

impl RawFunction {
    /// # Safety
    /// The reference is as the contract says and lives as long as the answer, and nobody else
    /// edits the function meanwhile.
    #[inline]
    pub(crate) unsafe fn new(tables: &'static Tables, function: abi::FunctionRef) -> RawFunction {
        RawFunction {
            tables,
            handle: function.handle,
            view: function.view,
            alive: Cell::new(None),
        }
    }

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
    pub(super) fn identity(&self) -> (usize, SymbolId) {
        (seen!(self.symbols) as usize, self.name())
    }

    pub(crate) fn reference(&self) -> abi::FunctionRef {
        abi::FunctionRef {
            handle: self.handle,
            view: self.view,
        }
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
    pub(crate) fn ids<T: Pooled>(&self, range: Range) -> &[T] {
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
        let all = Range {
            start: 0,
            len: column.len,
        };
        self.range(column, all)
    }

    #[inline]
    fn range<T: Record>(&self, column: abi::Column, range: Range) -> Records<'_, T> {
        // SAFETY: the callers above name a column of this view with the record it holds.
        unsafe { Records::new(column, range) }
    }

    /// The text of a symbol.
    #[inline]
    pub(crate) fn text(&self, symbol: SymbolId) -> &str {
        match self.tables.symbols.text {
            // SAFETY: the module's symbols live, and stay where they are, as long as the module.
            Some(function) => unsafe { text(function(seen!(self.symbols), symbol)) },
            None => "",
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<SymbolId> {
        let find = self.tables.symbols.find?;
        // SAFETY: `name` lives until the call returns.
        unsafe { find(seen!(self.symbols), abi::Str::new(name)) }.option()
    }

    pub(crate) fn intern(&self, name: &str) -> Result<SymbolId, EditError> {
        let intern = there(self.tables.symbols.intern, "intern", None)?;
        // SAFETY: `name` lives until the call returns.
        let symbol = unsafe { intern(seen!(self.symbols), abi::Str::new(name)) };
        symbol.option().ok_or_else(|| {
            let message = format!(
                "a name of {} bytes is longer than the host takes; use a shorter one",
                name.len()
            );
            EditError::new(Status::INVALID, message, None)
        })
    }

    /// The traits that a definition gives an op of this name; 0 without one.
    pub(crate) fn traits(&self, name: SymbolId) -> u64 {
        match self.tables.ops.traits {
            // SAFETY: the handle lives as long as `self`.
            Some(function) => unsafe { function(self.handle, name) },
            None => 0,
        }
    }

    /// Turns a status into a result with the host's sentence.
    #[inline]
    pub(super) fn done(
        &self,
        status: Status,
        call: &str,
        op: Option<OpId>,
    ) -> Result<(), EditError> {
        if status.is_ok() {
            return Ok(());
        }
        Err(self.error(status, call, op))
    }

    #[cold]
    fn error(&self, status: Status, call: &str, op: Option<OpId>) -> EditError {
        let said = match self.tables.functions.last_error {
            // SAFETY: the handle lives; the text does until the next call on it, and is copied.
            Some(function) => unsafe { text(function(self.handle)) },
            None => "",
        };
        EditError::described(status, said, call, op).within(self.name())
    }

    pub(crate) fn constant_data(&self, constant: ConstId) -> Result<&[u8], EditError> {
        let mut out = abi::Bytes::EMPTY;
        call!(self.constant_data(None; constant, &mut out))?;
        if out.ptr.is_null() || out.len == 0 {
            return Ok(&[]);
        }
        // SAFETY: the host's bytes, alive and unchanged until the next edit.
        Ok(unsafe { std::slice::from_raw_parts(out.ptr, out.len) })
    }

    pub(crate) fn create_op(
        &mut self,
        parts: &OpParts<'_>,
        at: Position,
    ) -> Result<OpId, EditError> {
        let mut out = OpId::NONE;
        parts.with(|desc| call!(self.create_op(None; desc, &at, &mut out)))?;
        Ok(out)
    }

    pub(crate) fn replace_op(&mut self, old: OpId, parts: &OpParts<'_>) -> Result<OpId, EditError> {
        let mut out = OpId::NONE;
        parts.with(|desc| call!(self.replace_op(Some(old); old, desc, &mut out)))?;
        Ok(out)
    }

    pub(crate) fn replace_op_with(
        &mut self,
        old: OpId,
        values: &[ValueId],
    ) -> Result<(), EditError> {
        call!(self.replace_op_with(Some(old); old, values.as_ptr(), values.len()))
    }

    pub(crate) fn erase_op(&mut self, op: OpId) -> Result<(), EditError> {
        call!(self.erase_op(Some(op); op))
    }

    pub(crate) fn move_op(&mut self, op: OpId, at: Position) -> Result<(), EditError> {
        call!(self.move_op(Some(op); op, &at))
    }

    pub(crate) fn set_operand(
        &mut self,
        op: OpId,
        index: u32,
        value: ValueId,
    ) -> Result<(), EditError> {
        call!(self.set_operand(Some(op); op, index, value))
    }

    pub(crate) fn replace_uses(&mut self, from: ValueId, to: ValueId) -> Result<(), EditError> {
        call!(self.replace_uses(None; from, to))
    }

    pub(crate) fn set_attr(
        &mut self,
        op: OpId,
        name: SymbolId,
        value: &AttrValue,
    ) -> Result<(), EditError> {
        let mut lists = Vec::new();
        let desc = attr_desc(name, value, &mut lists);
        call!(self.set_attr(op.option(); op, &desc))
    }

    pub(crate) fn add_attr_param(
        &mut self,
        name: SymbolId,
        default: Option<&AttrValue>,
    ) -> Result<(), EditError> {
        let mut lists = Vec::new();
        let mut desc = abi::AttrDesc {
            name,
            ..abi::AttrDesc::EMPTY
        };
        if let Some(value) = default {
            desc = attr_desc(name, value, &mut lists);
        }
        desc.flags = abi::Attr::PARAM;
        call!(self.set_attr(None; OpId::NONE, &desc))
    }

    pub(crate) fn remove_attr(&mut self, op: OpId, name: SymbolId) -> Result<(), EditError> {
        call!(self.remove_attr(op.option(); op, name))
    }

    pub(crate) fn set_type(&mut self, value: ValueId, ty: TypeId) -> Result<(), EditError> {
        call!(self.set_value_type(None; value, ty))
    }

    pub(crate) fn set_name(&mut self, value: ValueId, name: &str) -> Result<(), EditError> {
        call!(self.set_value_name(None; value, abi::Str::new(name)))
    }

    pub(crate) fn add_type(&mut self, parts: &TypeParts<'_>) -> Result<TypeId, EditError> {
        let mut out = TypeId::NONE;
        call!(self.add_type(None; &parts.desc(), &mut out))?;
        Ok(out)
    }

    pub(crate) fn add_expr(
        &mut self,
        kind: ExprKind,
        left: Dim,
        right: Dim,
    ) -> Result<Dim, EditError> {
        let mut out = Dim::UNKNOWN;
        call!(self.add_expr(None; kind, left, right, &mut out))?;
        Ok(out)
    }

    pub(crate) fn add_constant(&mut self, parts: &ConstantParts<'_>) -> Result<ValueId, EditError> {
        let desc = abi::ConstantDesc {
            flags: if parts.splat {
                abi::ConstantDesc::SPLAT
            } else {
                0
            },
            ty: parts.ty,
            region: parts.region,
            name: abi::Str::new(parts.name),
            data: abi::Bytes::new(parts.data),
            ..abi::ConstantDesc::EMPTY
        };
        let mut out = ValueId::NONE;
        call!(self.add_constant(None; &desc, &mut out))?;
        Ok(out)
    }

    pub(crate) fn erase_constant(&mut self, constant: ConstId) -> Result<(), EditError> {
        call!(self.erase_constant(None; constant))
    }

    /// Whether a function of the module, as it is now, has this name; no, if the host can't tell.
    #[inline]
    pub(crate) fn names_function(&self, name: SymbolId) -> bool {
        match self.tables.functions.names_function {
            // SAFETY: the handle lives as long as `self`.
            Some(function) => unsafe { function(self.handle, name) != 0 },
            None => false,
        }
    }

    pub(crate) fn add_arg(
        &mut self,
        region: RegionId,
        name: &str,
        ty: TypeId,
    ) -> Result<ValueId, EditError> {
        let mut out = ValueId::NONE;
        call!(self.add_arg(None; region, &port(name, ty), &mut out))?;
        Ok(out)
    }

    pub(crate) fn set_results<'a>(
        &mut self,
        region: RegionId,
        values: &[ValueId],
        ports: impl Iterator<Item = (&'a str, TypeId)>,
    ) -> Result<(), EditError> {
        let mut ports: Vec<_> = ports.map(|(name, ty)| port(name, ty)).collect();
        ports.resize(values.len(), port("", TypeId::NONE));
        let desc = abi::ResultsDesc {
            port_stride: stride::<abi::PortDesc>(),
            values: values.as_ptr(),
            ports: ports.as_ptr(),
            count: values.len(),
            ..abi::ResultsDesc::EMPTY
        };
        call!(self.set_results(None; region, &desc))
    }

    pub(crate) fn set_opset(&mut self, domain: &str, version: i64) -> Result<(), EditError> {
        call!(self.set_opset(None; abi::Str::new(domain), version))
    }

    pub(crate) fn constant_hash(&self, constant: ConstId) -> Result<u64, EditError> {
        let mut out = 0;
        call!(self.constant_hash(None; constant, &mut out))?;
        Ok(out)
    }

    pub(crate) fn constants_equal(&self, a: ConstId, b: ConstId) -> Result<bool, EditError> {
        let mut out = 0;
        call!(self.constants_equal(None; a, b, &mut out))?;
        Ok(out != 0)
    }

    pub(crate) fn set_loc(&mut self, op: OpId, loc: LocId) -> Result<(), EditError> {
        call!(self.set_loc(Some(op); op, loc))
    }

    pub(crate) fn replace_symbols(
        &mut self,
        symbols: &[SymbolId],
        dims: &[Dim],
    ) -> Result<(), EditError> {
        debug_assert_eq!(symbols.len(), dims.len());
        call!(self.replace_symbols(None; symbols.as_ptr(), dims.as_ptr(), symbols.len()))
    }

    pub(crate) fn remove_args(&mut self, args: &[ValueId]) -> Result<(), EditError> {
        call!(self.remove_args(None; args.as_ptr(), args.len()))
    }

    pub(crate) fn freeze_args(&mut self, args: &[ValueId]) -> Result<(), EditError> {
        call!(self.freeze_args(None; args.as_ptr(), args.len()))
    }

    /// The elements of a value that inference found; `None` if it found none.
    pub(crate) fn known_dims(&self, value: ValueId) -> Option<Vec<Dim>> {
        let function = self.tables.ops.known_dims?;
        let (mut dims, mut count) = (std::ptr::null(), 0);
        // SAFETY: the handle lives as long as `self`; the answers have room.
        let status = unsafe { function(self.handle, value, &mut dims, &mut count) };
        match status.is_ok() {
            false => None,
            true if count == 0 || dims.is_null() => Some(Vec::new()),
            // SAFETY: the host's array, alive until the next call; copied.
            true => Some(unsafe { std::slice::from_raw_parts(dims, count) }.to_vec()),
        }
    }

    pub(crate) fn fuse_locs(&mut self, locs: &[LocId]) -> Result<LocId, EditError> {
        let mut out = LocId::NONE;
        call!(self.fuse_locs(None; locs.as_ptr(), locs.len(), &mut out))?;
        Ok(out)
    }

    pub(crate) fn inline_region(
        &mut self,
        region: RegionId,
        args: &[ValueId],
    ) -> Result<(), EditError> {
        call!(self.inline_region(None; region, args.as_ptr(), args.len()))
    }

    pub(crate) fn name_loc(&mut self, name: &str) -> Result<LocId, EditError> {
        let mut out = LocId::NONE;
        call!(self.name_loc(None; abi::Str::new(name), &mut out))?;
        Ok(out)
    }
}
