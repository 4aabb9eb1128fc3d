//! The mock host's function: arenas as the contract wants them, and the edits.

use std::ffi::c_void;

use passdock_abi as abi;
use passdock_abi::{
    AttrDesc, AttrKind, Bytes, Column, ConstId, ConstantDesc, LocId, OpDesc, OpId, PortDesc,
    Position, Range, RegionId, Status, SymbolId, TypeDesc, TypeId, UseId, ValueId,
};

use super::kept::Kept;
use super::symbols::SYMBOLS;
use crate::raw::text;

pub(super) type Edit<T> = Result<T, (Status, String)>;

pub(super) struct MockFunction {
    pub(super) view: *mut abi::FunctionView,
    pub(super) error: String,
    pub(super) ops: Vec<abi::Op>,
    pub(super) values: Vec<abi::Value>,
    uses: Vec<abi::Use>,
    pub(super) regions: Vec<abi::Region>,
    pub(super) ports: Vec<abi::Port>,
    attrs: Vec<abi::Attr>,
    types: Vec<abi::Type>,
    dims: Vec<abi::Dim>,
    constants: Vec<abi::Constant>,
    pub(super) opsets: Vec<abi::Opset>,
    pub(super) data: Vec<Vec<u8>>,
    pub(super) ids: Vec<u32>,
    ints: Vec<i64>,
    floats: Vec<f32>,
    strings: Vec<Range>,
    bytes: Vec<u8>,
    function_attrs: Range,
    pub(super) analyses: Kept,
}

impl Drop for MockFunction {
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw` in `new`.
        drop(unsafe { Box::from_raw(self.view) });
    }
}

fn column<T>(records: &[T]) -> Column {
    Column {
        base: records.as_ptr().cast(),
        len: records.len() as u32,
        stride: std::mem::size_of::<T>() as u32,
    }
}

pub(super) fn range(start: usize, end: usize) -> Range {
    Range {
        start: start as u32,
        len: (end - start) as u32,
    }
}

impl MockFunction {
    pub(super) fn new() -> Box<MockFunction> {
        let view = Box::into_raw(Box::new(abi::FunctionView {
            struct_size: std::mem::size_of::<abi::FunctionView>() as u32,
            kind: abi::FunctionKind::GRAPH,
            name: SYMBOLS.with(|symbols| symbols.borrow_mut().intern("main")),
            body: RegionId(0),
            version: 0,
            symbols: std::ptr::null(),
            ops: Column::EMPTY,
            values: Column::EMPTY,
            uses: Column::EMPTY,
            regions: Column::EMPTY,
            ports: Column::EMPTY,
            attrs: Column::EMPTY,
            types: Column::EMPTY,
            dims: Column::EMPTY,
            exprs: Column::EMPTY,
            constants: Column::EMPTY,
            locs: Column::EMPTY,
            opsets: Column::EMPTY,
            ids: Column::EMPTY,
            ints: Column::EMPTY,
            floats: Column::EMPTY,
            strings: Column::EMPTY,
            bytes: Column::EMPTY,
            function_attrs: Range::EMPTY,
            op_count: 0,
            reserved: 0,
        }));
        let mut function = Box::new(MockFunction {
            view,
            error: String::new(),
            ops: Vec::new(),
            values: Vec::new(),
            uses: Vec::new(),
            regions: Vec::new(),
            ports: Vec::new(),
            attrs: Vec::new(),
            types: Vec::new(),
            dims: Vec::new(),
            constants: Vec::new(),
            opsets: Vec::new(),
            data: Vec::new(),
            ids: Vec::new(),
            ints: Vec::new(),
            floats: Vec::new(),
            strings: Vec::new(),
            bytes: Vec::new(),
            function_attrs: Range::EMPTY,
            analyses: Default::default(),
        });
        function.add_region(OpId::NONE, SymbolId::NONE);
        function
    }

    pub(super) fn refresh(&mut self) {
        // SAFETY: ours; nobody holds a borrow of the view while the host runs.
        let view = unsafe { &mut *self.view };
        view.version += 1;
        view.ops = column(&self.ops);
        view.values = column(&self.values);
        view.uses = column(&self.uses);
        view.regions = column(&self.regions);
        view.ports = column(&self.ports);
        view.attrs = column(&self.attrs);
        view.types = column(&self.types);
        view.dims = column(&self.dims);
        view.constants = column(&self.constants);
        view.opsets = column(&self.opsets);
        view.ids = column(&self.ids);
        view.ints = column(&self.ints);
        view.floats = column(&self.floats);
        view.strings = column(&self.strings);
        view.bytes = column(&self.bytes);
        view.function_attrs = self.function_attrs;
        let live = self.ops.iter().filter(|op| op.flags & abi::Op::DEAD == 0);
        view.op_count = live.count() as u32;
    }

    pub(super) fn add_region(&mut self, parent: OpId, name: SymbolId) -> RegionId {
        self.regions.push(abi::Region {
            parent,
            name,
            args: Range::EMPTY,
            ports: Range::EMPTY,
            first: OpId::NONE,
            last: OpId::NONE,
            flags: 0,
            loc: LocId::NONE,
        });
        RegionId(self.regions.len() as u32 - 1)
    }

    pub(super) fn live(&self, op: OpId) -> Edit<abi::Op> {
        match self.ops.get(op.index()) {
            Some(record) if record.flags & abi::Op::DEAD == 0 => Ok(*record),
            _ => Err((
                Status::STALE,
                format!("{} names nothing, or something erased", op),
            )),
        }
    }

    pub(super) fn live_value(&self, value: ValueId) -> Edit<()> {
        match self.values.get(value.index()) {
            Some(record) if record.flags & abi::Value::DEAD == 0 => Ok(()),
            _ if value.is_none() => Ok(()),
            _ => Err((
                Status::STALE,
                format!("{} names nothing, or something erased", value),
            )),
        }
    }

    pub(super) fn add_value(&mut self, ty: TypeId, kind: u32, def: u32, index: usize) -> ValueId {
        self.values.push(abi::Value {
            ty,
            name: SymbolId::NONE,
            flags: kind,
            def,
            index: index as u32,
            first_use: UseId::NONE,
            use_count: 0,
            constant: ConstId::NONE,
        });
        ValueId(self.values.len() as u32 - 1)
    }

    pub(super) fn link_use(&mut self, slot: usize, value: ValueId) {
        self.uses[slot].value = value;
        self.uses[slot].prev = UseId::NONE;
        self.uses[slot].next = UseId::NONE;
        if value.is_none() {
            return;
        }
        let head = self.values[value.index()].first_use;
        self.uses[slot].next = head;
        if head.is_some() {
            self.uses[head.index()].prev = UseId(slot as u32);
        }
        let record = &mut self.values[value.index()];
        record.first_use = UseId(slot as u32);
        record.use_count += 1;
    }

    pub(super) fn unlink_use(&mut self, slot: usize) {
        let one = self.uses[slot];
        if one.value.is_some() {
            match one.prev.option() {
                Some(prev) => self.uses[prev.index()].next = one.next,
                None => self.values[one.value.index()].first_use = one.next,
            }
            if let Some(next) = one.next.option() {
                self.uses[next.index()].prev = one.prev;
            }
            self.values[one.value.index()].use_count -= 1;
        }
    }

    pub(super) fn set_operands(&mut self, op: OpId, operands: &[ValueId]) {
        let old = self.ops[op.index()].operands;
        for slot in old.start..old.start + old.len {
            self.unlink_use(slot as usize);
            self.uses[slot as usize].user = OpId::NONE;
        }
        let start = self.uses.len();
        for value in operands {
            self.uses.push(abi::Use {
                value: ValueId::NONE,
                user: op,
                next: UseId::NONE,
                prev: UseId::NONE,
            });
            self.link_use(self.uses.len() - 1, *value);
        }
        self.ops[op.index()].operands = range(start, self.uses.len());
    }

    pub(super) fn operands(&self, op: OpId) -> Vec<ValueId> {
        let slots = self.ops[op.index()].operands;
        let slots = slots.start..slots.start + slots.len;
        slots.map(|slot| self.uses[slot as usize].value).collect()
    }

    pub(super) fn results(&self, op: OpId) -> Vec<ValueId> {
        let ids = self.ops[op.index()].results;
        let ids = ids.start..ids.start + ids.len;
        ids.map(|id| ValueId(self.ids[id as usize])).collect()
    }

    pub(super) fn is_terminator(&self, op: OpId) -> bool {
        let name = self.ops[op.index()].name;
        name == abi::symbol::RETURN || name == abi::symbol::YIELD
    }

    pub(super) fn link_op(&mut self, op: OpId, at: Position) -> Edit<()> {
        let (region, before) = match at.before.option() {
            Some(before) => (self.live(before)?.parent, before),
            None => {
                let last = match self.regions.get(at.region.index()) {
                    Some(region) => region.last,
                    None => return Err((Status::STALE, format!("{} names nothing", at.region))),
                };
                let ends = last.is_some() && self.is_terminator(last);
                (at.region, if ends { last } else { OpId::NONE })
            }
        };
        let prev = match before.option() {
            Some(before) => self.ops[before.index()].prev,
            None => self.regions[region.index()].last,
        };
        let record = &mut self.ops[op.index()];
        record.parent = region;
        record.prev = prev;
        record.next = before;
        match prev.option() {
            Some(prev) => self.ops[prev.index()].next = op,
            None => self.regions[region.index()].first = op,
        }
        match before.option() {
            Some(before) => self.ops[before.index()].prev = op,
            None => self.regions[region.index()].last = op,
        }
        // Quadratic, as nothing in a real host is.
        let mut order = 0;
        let mut next = self.regions[region.index()].first;
        while let Some(op) = next.option() {
            order += 1;
            self.ops[op.index()].order = order;
            next = self.ops[op.index()].next;
        }
        Ok(())
    }

    pub(super) fn unlink_op(&mut self, op: OpId) {
        let one = self.ops[op.index()];
        match one.prev.option() {
            Some(prev) => self.ops[prev.index()].next = one.next,
            None => self.regions[one.parent.index()].first = one.next,
        }
        match one.next.option() {
            Some(next) => self.ops[next.index()].prev = one.prev,
            None => self.regions[one.parent.index()].last = one.prev,
        }
    }

    /// # Safety
    /// `desc` is as the contract says.
    pub(super) unsafe fn create(&mut self, desc: &OpDesc, at: Position) -> Edit<OpId> {
        // SAFETY: the caller's promise, here and below.
        let operands = unsafe { list(desc.operands, desc.operand_count) };
        for value in operands {
            self.live_value(*value)?;
        }
        let op = OpId(self.ops.len() as u32);
        self.ops.push(abi::Op {
            name: desc.name,
            flags: 0,
            operands: Range::EMPTY,
            results: Range::EMPTY,
            attrs: Range::EMPTY,
            regions: Range::EMPTY,
            parent: RegionId::NONE,
            prev: OpId::NONE,
            next: OpId::NONE,
            loc: desc.loc,
            order: 0,
        });
        if let Err(error) = self.link_op(op, at) {
            self.ops.pop();
            return Err(error);
        }
        self.set_operands(op, operands);
        // SAFETY: as above.
        let types = unsafe { list(desc.result_types, desc.result_count) };
        let mut results = Vec::new();
        for (index, ty) in types.iter().enumerate() {
            results.push(self.add_value(*ty, abi::Value::RESULT, op.0, index).0);
        }
        self.ops[op.index()].results = self.add_ids(results);
        // SAFETY: as above.
        for attr in unsafe { list(desc.attrs, desc.attr_count) } {
            // SAFETY: as above.
            unsafe { self.set_attr(op, attr) };
        }
        let mut regions = Vec::new();
        // SAFETY: as above.
        for region in unsafe { list(desc.regions, desc.region_count) } {
            let id = self.add_region(op, region.name);
            // SAFETY: as above.
            for port in unsafe { list(region.args, region.arg_count) } {
                self.add_arg(id, *port);
            }
            regions.push(id.0);
        }
        self.ops[op.index()].regions = self.add_ids(regions);
        Ok(op)
    }

    pub(super) fn add_ids(&mut self, ids: Vec<u32>) -> Range {
        let start = self.ids.len();
        self.ids.extend(ids);
        range(start, self.ids.len())
    }

    pub(super) fn add_arg(&mut self, region: RegionId, port: PortDesc) -> ValueId {
        let args = self.regions[region.index()].args;
        let (from, to) = (args.start as usize, (args.start + args.len) as usize);
        let mut ids = self.ids[from..to].to_vec();
        let value = self.add_value(port.ty, abi::Value::ARG, region.0, ids.len());
        // SAFETY: the contract: text of the caller, alive until we return.
        let name = unsafe { text(port.name) };
        if !name.is_empty() {
            let name = SYMBOLS.with(|symbols| symbols.borrow_mut().intern(name));
            self.values[value.index()].name = name;
        }
        ids.push(value.0);
        self.regions[region.index()].args = self.add_ids(ids);
        value
    }

    /// # Safety
    /// `desc` is as the contract says.
    pub(super) unsafe fn set_attr(&mut self, op: OpId, desc: &AttrDesc) {
        let mut attr = abi::Attr {
            name: desc.name,
            kind: desc.kind,
            bits: desc.bits,
            list: Range::EMPTY,
            flags: 0,
            stands_for: desc.stands_for,
        };
        // SAFETY: the contract: `data` is an array of what `kind` says.
        unsafe {
            attr.list = match desc.kind {
                AttrKind::INTS => extend(&mut self.ints, desc.data, desc.count),
                AttrKind::FLOATS => extend(&mut self.floats, desc.data, desc.count),
                AttrKind::STRING => extend(&mut self.bytes, desc.data, desc.count),
                AttrKind::STRINGS => {
                    let start = self.strings.len();
                    for text in list(desc.data.cast::<Bytes>(), desc.count) {
                        let text = extend(&mut self.bytes, text.ptr.cast(), text.len);
                        self.strings.push(text);
                    }
                    range(start, self.strings.len())
                }
                _ => Range::EMPTY,
            };
        }
        let mut attrs = self.attrs_of(op);
        attrs.retain(|old| old.name != attr.name);
        attrs.push(attr);
        self.put_attrs(op, attrs);
    }

    pub(super) fn attrs_of(&self, op: OpId) -> Vec<abi::Attr> {
        let attrs = match op.option() {
            Some(op) => self.ops[op.index()].attrs,
            None => self.function_attrs,
        };
        self.attrs[attrs.start as usize..(attrs.start + attrs.len) as usize].to_vec()
    }

    pub(super) fn put_attrs(&mut self, op: OpId, attrs: Vec<abi::Attr>) {
        let start = self.attrs.len();
        self.attrs.extend(attrs);
        let attrs = range(start, self.attrs.len());
        match op.option() {
            Some(op) => self.ops[op.index()].attrs = attrs,
            None => self.function_attrs = attrs,
        }
    }

    pub(super) fn replace_uses(&mut self, from: ValueId, to: ValueId) {
        while let Some(slot) = self.values[from.index()].first_use.option() {
            self.unlink_use(slot.index());
            self.link_use(slot.index(), to);
        }
    }

    pub(super) fn replace_with(&mut self, old: OpId, values: &[ValueId]) -> Edit<()> {
        self.live(old)?;
        let results = self.results(old);
        if results.len() != values.len() {
            let message = format!(
                "{} has {} results, and {} values were given for them",
                old,
                results.len(),
                values.len()
            );
            return Err((Status::REFUSED, message));
        }
        for value in values {
            self.live_value(*value)?;
        }
        for (from, to) in results.into_iter().zip(values) {
            self.replace_uses(from, *to);
        }
        self.erase(old)
    }

    pub(super) fn erase(&mut self, op: OpId) -> Edit<()> {
        self.live(op)?;
        for result in self.results(op) {
            if self.values[result.index()].use_count > 0 {
                let message = format!("{} can't be erased: its result {} is used", op, result);
                return Err((Status::REFUSED, message));
            }
        }
        self.unlink_op(op);
        let mut pending = vec![op];
        while let Some(op) = pending.pop() {
            self.set_operands(op, &[]);
            self.ops[op.index()].flags |= abi::Op::DEAD;
            for result in self.results(op) {
                self.values[result.index()].flags |= abi::Value::DEAD;
            }
            let regions = self.ops[op.index()].regions;
            for at in regions.start..regions.start + regions.len {
                let region = self.ids[at as usize] as usize;
                self.regions[region].flags |= abi::Region::DEAD;
                let mut next = self.regions[region].first;
                while let Some(inner) = next.option() {
                    pending.push(inner);
                    next = self.ops[inner.index()].next;
                }
            }
        }
        Ok(())
    }

    /// # Safety
    /// `desc` is as the contract says.
    pub(super) unsafe fn add_type(&mut self, desc: &TypeDesc) -> TypeId {
        // SAFETY: the caller's promise.
        let dims = unsafe { list(desc.dims, desc.dim_count) };
        for (index, ty) in self.types.iter().enumerate() {
            let known = &self.dims[ty.dims.start as usize..(ty.dims.start + ty.dims.len) as usize];
            if (ty.kind, ty.dtype, ty.flags) == (desc.kind, desc.dtype, desc.flags) && known == dims
            {
                return TypeId(index as u32);
            }
        }
        let start = self.dims.len();
        self.dims.extend(dims);
        self.types.push(abi::Type {
            kind: desc.kind,
            dtype: desc.dtype,
            lanes: desc.lanes,
            flags: desc.flags,
            dims: range(start, self.dims.len()),
            aux: Range::EMPTY,
            name: desc.name,
            reserved: 0,
        });
        TypeId(self.types.len() as u32 - 1)
    }

    /// # Safety
    /// `desc` is as the contract says.
    pub(super) unsafe fn add_constant(&mut self, desc: &ConstantDesc) -> ValueId {
        let id = ConstId(self.constants.len() as u32);
        let value = self.add_value(desc.ty, abi::Value::CONST, id.0, 0);
        self.values[value.index()].constant = id;
        // SAFETY: the caller's promise.
        let data = unsafe { list(desc.data.ptr, desc.data.len) };
        self.constants.push(abi::Constant {
            value,
            ty: desc.ty,
            region: RegionId(0),
            storage: abi::Storage::INLINE,
            flags: 0,
            loc: LocId::NONE,
            anchor: OpId::NONE,
            reserved: 0,
            byte_len: data.len() as u64,
        });
        self.data.push(data.to_vec());
        value
    }
}

/// # Safety
/// `len` values are there, alive for `'a`; or `len` is 0.
pub(super) unsafe fn list<'a, T>(ptr: *const T, len: usize) -> &'a [T] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(ptr, len) }
}

/// # Safety
/// `data` holds `count` values of the pool's type.
unsafe fn extend<T: Copy>(pool: &mut Vec<T>, data: *const c_void, count: usize) -> Range {
    let start = pool.len();
    // SAFETY: the caller's promise.
    pool.extend(unsafe { list(data.cast::<T>(), count) });
    range(start, pool.len())
}
