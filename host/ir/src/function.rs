//! A function: flat arenas of the contract's records, and everything one reads of them.
//!
//! Edits stand in [`crate::edit`]; both are the only ways in, so the invariants that the verifier
//! lists hold between calls.

use std::sync::Arc;

use hashbrown::HashTable;
use passdock_abi::{
    Attr, Column, ConstId, Constant, Dim, DimExpr, FunctionKind, FunctionView, Loc, LocId, Op,
    OpId, Opset, Port, Range, Region, RegionId, SymbolId, Type, TypeId, Use, UseId, Value, ValueId,
    symbol,
};
use rustc_hash::FxHashMap;

use crate::constant::ConstantData;
use crate::edit::Names;
use crate::error::{Edit, EditError};
use crate::kept::Kept;
use crate::origin::Origins;
use crate::symbols::Symbols;
use crate::types::{TypeSpec, slice};
use crate::walk::Walk;

/// How deep regions may nest.
pub const MAX_DEPTH: u32 = 10_000;
/// How many operands, results or attributes one op may have.
pub const MAX_LIST: usize = 1 << 24;
/// How many records one arena may have: ids above are reserved.
pub const MAX_RECORDS: usize = u32::MAX as usize - 1;

/// A view of nothing.
pub const EMPTY_VIEW: FunctionView = FunctionView {
    struct_size: size_of::<FunctionView>() as u32,
    kind: FunctionKind(0),
    name: SymbolId::NONE,
    body: RegionId::NONE,
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
};

/// A function. Its clone copies the arenas and shares the constants' bytes.
#[derive(Clone)]
pub struct Function {
    pub(crate) symbols: Arc<Symbols>,
    pub(crate) name: SymbolId,
    pub(crate) kind: FunctionKind,
    pub(crate) body: RegionId,
    pub(crate) version: u64,
    /// How many of the edits that the version counts gave a value another type.
    pub(crate) retyped: u64,
    pub(crate) touched: bool,
    pub(crate) ops: Vec<Op>,
    pub(crate) values: Vec<Value>,
    pub(crate) uses: Vec<Use>,
    pub(crate) regions: Vec<Region>,
    pub(crate) ports: Vec<Port>,
    pub(crate) attrs: Vec<Attr>,
    pub(crate) types: Vec<Type>,
    pub(crate) dims: Vec<Dim>,
    pub(crate) exprs: Vec<DimExpr>,
    /// Per expression: how many sides it is made of, all told.
    pub(crate) expr_terms: Vec<u32>,
    pub(crate) constants: Vec<Constant>,
    pub(crate) locs: Vec<Loc>,
    pub(crate) opsets: Vec<Opset>,
    pub(crate) ids: Vec<u32>,
    pub(crate) ints: Vec<i64>,
    pub(crate) floats: Vec<f32>,
    pub(crate) strings: Vec<Range>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) function_attrs: Range,
    pub(crate) live_ops: u32,
    /// Per constant.
    pub(crate) data: Vec<Arc<ConstantData>>,
    /// Per region: more than that of the region around it, and how deep it is nested unless `loose`.
    pub(crate) levels: Vec<u32>,
    /// Per region: one far around it, as [`Function::outermost_inside`] jumps; `loose`: not to be used.
    pub(crate) far: Vec<RegionId>,
    /// Whether regions came to be nested less deep than their levels say.
    pub(crate) loose: bool,
    /// The constants of nested regions, which die with their region.
    pub(crate) nested_constants: FxHashMap<RegionId, Vec<ConstId>>,
    pub(crate) origins: Origins,
    pub(crate) type_index: HashTable<u32>,
    pub(crate) expr_index: HashTable<u32>,
    pub(crate) loc_index: HashTable<u32>,
    pub(crate) names: Option<Names>,
    pub(crate) kept: Kept,
}

impl Function {
    /// A function with an empty body.
    pub fn new(symbols: Arc<Symbols>, kind: FunctionKind, name: SymbolId) -> Function {
        let body = Region {
            parent: OpId::NONE,
            name: SymbolId::NONE,
            args: Range::EMPTY,
            ports: Range::EMPTY,
            first: OpId::NONE,
            last: OpId::NONE,
            flags: Region::TOUCHED,
            loc: LocId::NONE,
        };
        let mut function = Function {
            symbols,
            name,
            kind,
            body: RegionId(0),
            version: 0,
            retyped: 0,
            touched: true,
            ops: Vec::new(),
            values: Vec::new(),
            uses: Vec::new(),
            regions: vec![body],
            ports: Vec::new(),
            attrs: Vec::new(),
            types: Vec::new(),
            dims: Vec::new(),
            exprs: Vec::new(),
            expr_terms: Vec::new(),
            constants: Vec::new(),
            locs: Vec::new(),
            opsets: Vec::new(),
            ids: Vec::new(),
            ints: Vec::new(),
            floats: Vec::new(),
            strings: Vec::new(),
            bytes: Vec::new(),
            function_attrs: Range::EMPTY,
            live_ops: 0,
            data: Vec::new(),
            levels: vec![0],
            far: vec![RegionId(0)],
            loose: false,
            nested_constants: FxHashMap::default(),
            origins: Origins::default(),
            type_index: HashTable::new(),
            expr_index: HashTable::new(),
            loc_index: HashTable::new(),
            names: None,
            kept: Kept::default(),
        };
        // Type 0 is "unknown" in every function.
        function.add_type(TypeSpec::Unknown);
        function
    }

    /// The arenas as a plugin sees them; right until the next edit.
    #[inline]
    pub fn view(&self) -> FunctionView {
        let mut view = EMPTY_VIEW;
        self.fill_view(&mut view);
        view
    }

    /// Writes the arenas as a plugin sees them over a view, field by field: an empty pass is paid
    /// for with little else.
    #[inline]
    pub fn fill_view(&self, view: &mut FunctionView) {
        view.kind = self.kind;
        view.name = self.name;
        view.body = self.body;
        view.version = self.version;
        view.symbols = Arc::as_ptr(&self.symbols).cast();
        view.ops = column(&self.ops);
        view.values = column(&self.values);
        view.uses = column(&self.uses);
        view.regions = column(&self.regions);
        view.ports = column(&self.ports);
        view.attrs = column(&self.attrs);
        view.types = column(&self.types);
        view.dims = column(&self.dims);
        view.exprs = column(&self.exprs);
        view.constants = column(&self.constants);
        view.locs = column(&self.locs);
        view.opsets = column(&self.opsets);
        view.ids = column(&self.ids);
        view.ints = column(&self.ints);
        view.floats = column(&self.floats);
        view.strings = column(&self.strings);
        view.bytes = column(&self.bytes);
        view.function_attrs = self.function_attrs;
        view.op_count = self.live_ops;
    }

    /// The module's symbols.
    pub fn symbols(&self) -> &Arc<Symbols> {
        &self.symbols
    }

    /// The text of a symbol.
    pub fn text(&self, id: SymbolId) -> &str {
        self.symbols.text(id)
    }

    /// Its canonical name.
    pub fn name(&self) -> SymbolId {
        self.name
    }

    /// Graph or prim.
    pub fn kind(&self) -> FunctionKind {
        self.kind
    }

    /// Its body.
    pub fn body(&self) -> RegionId {
        self.body
    }

    /// Grows with every edit.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether edits of a copy of `original`, which this is, came to nothing: whoever tries types out gives
    /// values other ones, and then those that they had.
    pub fn is_still(&self, original: &Function) -> bool {
        let others = |function: &Function| function.version - function.retyped;
        self.version == original.version
            || others(self) == others(original)
                && (self.values.iter().zip(&original.values)).all(|(a, b)| a.ty == b.ty)
    }

    /// Whether anything of it changed since it was imported.
    pub fn is_touched(&self) -> bool {
        self.touched
    }

    /// Where its entities come from.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// For importers.
    pub fn origins_mut(&mut self) -> &mut Origins {
        &mut self.origins
    }

    /// Its opset versions, in declared order.
    pub fn opsets(&self) -> &[Opset] {
        &self.opsets
    }

    /// The version of a domain (`""` is ONNX's own), if it is declared.
    pub fn opset(&self, domain: SymbolId) -> Option<i64> {
        self.opsets
            .iter()
            .find(|opset| opset.domain == domain)
            .map(|opset| opset.version)
    }

    /// Live ops without terminators: what reports count.
    pub fn op_count(&self) -> usize {
        let is_terminator = |op: &&Op| matches!(op.name, symbol::RETURN | symbol::YIELD);
        let live = self.ops.iter().filter(|op| op.flags & Op::DEAD == 0);
        live.filter(|op| !is_terminator(op)).count()
    }

    /// Live ops, terminators included: what views count.
    #[inline]
    pub fn live_ops(&self) -> u32 {
        self.live_ops
    }

    /// An op's record, dead or alive.
    ///
    /// # Panics
    /// If the id isn't of this function, as for all reads by id here; ids from outside go through
    /// [`Function::live_op`] and its kin.
    pub fn op(&self, id: OpId) -> &Op {
        &self.ops[id.index()]
    }

    /// A value's record.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// A region's record.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.index()]
    }

    /// A constant's record.
    pub fn constant(&self, id: ConstId) -> &Constant {
        &self.constants[id.index()]
    }

    /// A location's record.
    pub fn loc(&self, id: LocId) -> Option<&Loc> {
        self.locs.get(id.index())
    }

    /// How many op ids were given out.
    pub fn op_ids(&self) -> usize {
        self.ops.len()
    }

    /// How many value ids were given out.
    pub fn value_ids(&self) -> usize {
        self.values.len()
    }

    /// An op, if it is alive.
    pub fn live_op(&self, id: OpId) -> Edit<&Op> {
        match self.ops.get(id.index()) {
            Some(op) if op.flags & Op::DEAD == 0 => Ok(op),
            Some(_) => Err(EditError::stale(format!("{id} was erased."))),
            None => Err(self.unknown("op", id)),
        }
    }

    /// A value, if it is alive.
    pub fn live_value(&self, id: ValueId) -> Edit<&Value> {
        match self.values.get(id.index()) {
            Some(value) if value.flags & Value::DEAD == 0 => Ok(value),
            Some(_) => Err(EditError::stale(format!("The value {id} is gone."))),
            None => Err(self.unknown("value", id)),
        }
    }

    /// A region, if it is alive.
    pub fn live_region(&self, id: RegionId) -> Edit<&Region> {
        match self.regions.get(id.index()) {
            Some(region) if region.flags & Region::DEAD == 0 => Ok(region),
            Some(_) => Err(EditError::stale(format!("{id} was erased with its op."))),
            None => Err(self.unknown("region", id)),
        }
    }

    /// A constant, if it is alive.
    pub fn live_constant(&self, id: ConstId) -> Edit<&Constant> {
        match self.constants.get(id.index()) {
            Some(constant) if self.is_live_constant(constant) => Ok(constant),
            Some(_) => Err(EditError::stale(format!("{id} was erased."))),
            None => Err(self.unknown("constant", id)),
        }
    }

    /// A type id that is one of this function's.
    pub fn live_type(&self, id: TypeId) -> Edit<&Type> {
        self.types
            .get(id.index())
            .ok_or_else(|| self.unknown("type", id))
    }

    fn unknown(&self, what: &str, id: impl std::fmt::Display) -> EditError {
        let name = self.text(self.name);
        EditError::stale(format!("There is no {what} {id} in function @{name}."))
    }

    fn is_live_constant(&self, constant: &Constant) -> bool {
        let region = constant.region;
        let record = self.regions.get(region.index());
        let visible = record.is_some_and(|record| record.flags & Region::DEAD == 0);
        constant.flags & Constant::DEAD == 0 && visible
    }

    /// The constants that are alive, in id order.
    pub fn live_constants(&self) -> impl Iterator<Item = (ConstId, &Constant)> + '_ {
        let all = self.constants.iter().enumerate();
        all.filter(|(_, constant)| self.is_live_constant(constant))
            .map(|(at, constant)| (ConstId(at as u32), constant))
    }

    /// A constant's data.
    pub fn constant_data(&self, id: ConstId) -> &Arc<ConstantData> {
        &self.data[id.index()]
    }

    /// An op's operand slots.
    pub fn operands(&self, op: OpId) -> &[Use] {
        slice(&self.uses, self.op(op).operands)
    }

    /// An operand; NONE if it is left out or there is no such slot.
    pub fn operand(&self, op: OpId, index: usize) -> ValueId {
        self.operands(op)
            .get(index)
            .map_or(ValueId::NONE, |slot| slot.value)
    }

    /// An op's results.
    pub fn results(&self, op: OpId) -> impl ExactSizeIterator<Item = ValueId> + Clone + '_ {
        slice(&self.ids, self.op(op).results)
            .iter()
            .map(|&id| ValueId(id))
    }

    /// A result.
    pub fn result(&self, op: OpId, index: usize) -> Option<ValueId> {
        slice(&self.ids, self.op(op).results)
            .get(index)
            .map(|&id| ValueId(id))
    }

    /// An op's regions.
    pub fn regions_of(&self, op: OpId) -> impl DoubleEndedIterator<Item = RegionId> + Clone + '_ {
        slice(&self.ids, self.op(op).regions)
            .iter()
            .map(|&id| RegionId(id))
    }

    /// A region's arguments; of the body, the parameters.
    pub fn args(&self, region: RegionId) -> impl ExactSizeIterator<Item = ValueId> + Clone + '_ {
        slice(&self.ids, self.region(region).args)
            .iter()
            .map(|&id| ValueId(id))
    }

    /// A region's ports, with the ids that [`crate::Entity::Port`] takes.
    pub fn ports(&self, region: RegionId) -> &[Port] {
        slice(&self.ports, self.region(region).ports)
    }

    /// An op's attributes; of NONE, the function's.
    pub fn attrs(&self, op: OpId) -> &[Attr] {
        let range = if op.is_none() {
            self.function_attrs
        } else {
            self.op(op).attrs
        };
        slice(&self.attrs, range)
    }

    /// An op's attribute; of NONE, the function's.
    pub fn attr(&self, op: OpId, name: SymbolId) -> Option<&Attr> {
        self.attrs(op).iter().find(|attr| attr.name == name)
    }

    /// The ids in a range of the id pool.
    pub fn ids_in(&self, range: Range) -> &[u32] {
        slice(&self.ids, range)
    }

    /// An `INTS` attribute's numbers.
    pub fn ints_in(&self, range: Range) -> &[i64] {
        slice(&self.ints, range)
    }

    /// A `FLOATS` attribute's numbers.
    pub fn floats_in(&self, range: Range) -> &[f32] {
        slice(&self.floats, range)
    }

    /// A `STRING` or `OPAQUE` attribute's bytes.
    pub fn bytes_in(&self, range: Range) -> &[u8] {
        slice(&self.bytes, range)
    }

    /// A `STRINGS` attribute's strings.
    pub fn strings_in(&self, range: Range) -> impl ExactSizeIterator<Item = &[u8]> + '_ {
        slice(&self.strings, range)
            .iter()
            .map(|&range| self.bytes_in(range))
    }

    /// The op that defines a value, if it is a result.
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        let record = self.value(value);
        (record.flags & Value::KIND == Value::RESULT).then_some(OpId(record.def))
    }

    /// The constant a value is.
    pub fn as_constant(&self, value: ValueId) -> Option<ConstId> {
        let record = self.value(value);
        (record.flags & Value::KIND == Value::CONST).then_some(record.constant)
    }

    /// The slots that use a value.
    pub fn uses(&self, value: ValueId) -> impl Iterator<Item = (UseId, &Use)> + '_ {
        let mut next = self.value(value).first_use;
        std::iter::from_fn(move || {
            let id = next.option()?;
            let slot = &self.uses[id.index()];
            next = slot.next;
            Some((id, slot))
        })
        .take(self.uses.len())
    }

    /// The ops of a region, in order.
    pub fn ops_in(&self, region: RegionId) -> impl Iterator<Item = OpId> + '_ {
        let mut next = self.region(region).first;
        std::iter::from_fn(move || {
            let id = next.option()?;
            next = self.op(id).next;
            Some(id)
        })
        .take(self.ops.len())
    }

    /// All ops of a region and the regions nested in it, each before those nested in it.
    pub fn walk(&self, region: RegionId) -> Walk<'_> {
        Walk::new(self, region)
    }

    /// A region's terminator.
    pub fn terminator(&self, region: RegionId) -> Option<OpId> {
        let last = self.region(region).last.option()?;
        matches!(self.op(last).name, symbol::RETURN | symbol::YIELD).then_some(last)
    }

    /// Whether `value` may be an operand of an op that stands right before `before` in `region`
    /// (NONE: at its end).
    pub fn is_visible(&self, value: ValueId, region: RegionId, before: OpId) -> bool {
        let record = self.value(value);
        let (home, def) = match record.flags & Value::KIND {
            Value::RESULT => (self.op(OpId(record.def)).parent, OpId(record.def)),
            Value::ARG => (RegionId(record.def), OpId::NONE),
            _ => (self.constant(record.constant).region, OpId::NONE),
        };
        if home.is_none() {
            return true;
        }
        let (mut region, mut before) = (region, before);
        if self.level(region) > self.level(home) {
            before = self.region(self.outermost_inside(region, home)).parent;
            region = self.op(before).parent;
        }
        region == home
            && (def.is_none() || before.is_none() || self.op(def).order < self.op(before).order)
    }

    /// A value as messages name it: as text names it, or by its id if it has no name.
    pub fn describe(&self, value: ValueId) -> String {
        match self.values.get(value.index()).map(|record| record.name) {
            Some(name) if name.is_some() => crate::text::value_text(self.text(name)),
            _ => format!("the value {value}"),
        }
    }

    /// An op as messages name it.
    pub fn describe_op(&self, op: OpId) -> String {
        match self.ops.get(op.index()) {
            Some(record) => format!("{op} ({})", self.text(record.name)),
            None => op.to_string(),
        }
    }
}

#[inline]
fn column<T>(records: &[T]) -> Column {
    Column {
        base: records.as_ptr().cast(),
        len: records.len() as u32,
        stride: size_of::<T>() as u32,
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Function(@{}, {} ops)",
            self.text(self.name),
            self.live_ops
        )
    }
}
