//! A function: flat arenas with the records of the plugin ABI, and methods to read them.
//!
//! The edits are in [`crate::edit`]. No other module accesses the arenas, so the invariants that the verifier checks
//! hold between calls.

mod cached;
mod compact;
pub(crate) mod differences;
pub(crate) mod expr;
pub(crate) mod locs;
mod memory;
mod merge;
pub mod origin;
pub(crate) mod premises;
mod read;
pub(crate) mod reserve;
pub(crate) mod transfer;
pub mod types;
mod unchanged;
pub(crate) mod walk;

use std::sync::Arc;

use hashbrown::HashTable;
use passdock_abi::{
    Attr, Column, ConstId, Constant, Dim, DimExpr, FunctionKind, FunctionView, Loc, LocId, Op,
    OpId, Opset, Port, Range, Region, RegionId, SymbolId, Type, TypeId, Use, Value,
};
use rustc_hash::FxHashMap;

use crate::cache::CachedValues;
use crate::constant::ConstantData;
use crate::function::origin::Origins;
use crate::names::NameTable;
use crate::pool::AttrPools;
use crate::symbols::Symbols;

/// The maximum depth of nested regions.
pub const MAX_DEPTH: u32 = 10_000;
/// The maximum number of operands, results or attributes of one op.
pub const MAX_LIST: usize = 1 << 24;
/// The maximum number of records of one arena; larger ids are reserved.
pub(crate) const MAX_RECORDS: usize = u32::MAX as usize - 1;

/// A function. A clone copies the arenas and shares the constants' bytes and the lists of attributes.
#[derive(Clone)]
pub struct Function {
    pub(crate) symbols: Arc<Symbols>,
    pub(crate) name: SymbolId,
    pub(crate) kind: FunctionKind,
    pub(crate) body: RegionId,
    pub(crate) version: u64,
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
    /// The number of terms of each expression.
    pub(crate) expr_terms: Vec<u32>,
    pub(crate) constants: Vec<Constant>,
    pub(crate) locs: Vec<Loc>,
    pub(crate) opsets: Vec<Opset>,
    pub(crate) ids: Vec<u32>,
    pub(crate) pools: AttrPools,
    pub(crate) function_attrs: Range,
    pub(crate) live_ops: u32,
    /// The data of each constant.
    pub(crate) data: Vec<Arc<ConstantData>>,
    /// The constants of nested regions, which are erased with their region.
    pub(crate) nested_constants: FxHashMap<RegionId, Vec<ConstId>>,
    pub(crate) origins: Origins,
    /// The types with their hashes.
    pub(crate) type_index: HashTable<(u64, TypeId)>,
    pub(crate) expr_index: HashTable<u32>,
    pub(crate) loc_index: HashTable<u32>,
    pub(crate) names: Option<NameTable>,
    pub(crate) cached: CachedValues,
}

impl Function {
    /// Creates a function with an empty body.
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
            pools: AttrPools::default(),
            function_attrs: Range::EMPTY,
            live_ops: 0,
            data: Vec::new(),
            nested_constants: FxHashMap::default(),
            origins: Origins::default(),
            type_index: HashTable::new(),
            expr_index: HashTable::new(),
            loc_index: HashTable::new(),
            names: None,
            cached: CachedValues::default(),
        };
        function.add_unknown_type();
        function
    }

    /// Returns the arenas as plugins see them; valid until the next edit.
    #[inline]
    pub fn view(&self) -> FunctionView {
        FunctionView {
            kind: self.kind,
            name: self.name,
            body: self.body,
            version: self.version,
            symbols: Arc::as_ptr(&self.symbols).cast(),
            ops: column(&self.ops),
            values: column(&self.values),
            uses: column(&self.uses),
            regions: column(&self.regions),
            ports: column(&self.ports),
            attrs: column(&self.attrs),
            types: column(&self.types),
            dims: column(&self.dims),
            exprs: column(&self.exprs),
            constants: column(&self.constants),
            locs: column(&self.locs),
            opsets: column(&self.opsets),
            ids: column(&self.ids),
            ints: column(&self.pools.ints),
            floats: column(&self.pools.floats),
            strings: column(&self.pools.strings),
            bytes: column(&self.pools.bytes),
            function_attrs: self.function_attrs,
            op_count: self.live_ops,
            ..FunctionView::EMPTY
        }
    }

    /// Returns the module's symbols.
    pub fn symbols(&self) -> &Arc<Symbols> {
        &self.symbols
    }

    /// Returns the text of a symbol.
    pub fn text(&self, id: SymbolId) -> &str {
        self.symbols.text(id)
    }

    /// Returns the canonical name.
    pub fn name(&self) -> SymbolId {
        self.name
    }

    /// Returns the kind: graph or prim.
    pub fn kind(&self) -> FunctionKind {
        self.kind
    }

    /// Returns the body region.
    pub fn body(&self) -> RegionId {
        self.body
    }

    /// Returns the version, which increases with every edit.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether the function changed since it was imported.
    pub fn is_touched(&self) -> bool {
        self.touched
    }

    /// Returns the origins of its entities.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// Returns the origins of its entities for an importer to set.
    pub fn origins_mut(&mut self) -> &mut Origins {
        &mut self.origins
    }

    /// Returns the imported opset versions, in declared order.
    pub fn opsets(&self) -> &[Opset] {
        &self.opsets
    }

    /// Returns the imported version of a domain (`""` is ONNX's own).
    pub fn opset(&self, domain: SymbolId) -> Option<i64> {
        self.opsets
            .iter()
            .find(|opset| opset.domain == domain)
            .map(|opset| opset.version)
    }

    /// Returns the number of live ops including terminators, as in the view.
    #[inline]
    pub fn live_op_count(&self) -> u32 {
        self.live_ops
    }
}

/// Returns records as plugins see them.
#[inline]
pub fn column<T>(records: &[T]) -> Column {
    Column {
        base: records.as_ptr().cast(),
        len: records.len() as u32,
        reserved: 0,
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
