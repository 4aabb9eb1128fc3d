//! Creating ops.

use passdock_abi::{
    ConstId, LocId, Op, OpId, Range, RegionId, SymbolId, TypeId, UseId, Value, ValueId,
};

use super::NewAttr;
use crate::error::{Edit, EditFailure, invalid, reject};
use crate::function::{Function, MAX_LIST, MAX_RECORDS};
use crate::pool::push_range;
use crate::symbols::is_terminator;

/// The insertion point of a new or moved op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The region; ignored if `before` is set.
    pub region: RegionId,
    /// The op before which the new op is inserted; NONE for the end of the region, before the terminator if there is
    /// one.
    pub before: OpId,
}

impl Position {
    /// Creates a position right before an op.
    pub fn before(op: OpId) -> Position {
        Position {
            region: RegionId::NONE,
            before: op,
        }
    }

    /// Creates a position at a region's end, before its terminator.
    pub fn end(region: RegionId) -> Position {
        Position {
            region,
            before: OpId::NONE,
        }
    }
}

/// The name and type of a new argument or port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewPort<'a> {
    /// The name; may be empty.
    pub name: &'a str,
    /// The type; NONE if unknown.
    pub ty: TypeId,
}

/// An empty region to create.
#[derive(Clone, Copy, Debug)]
pub struct NewRegion<'a> {
    /// The name among the op's regions.
    pub name: SymbolId,
    /// The arguments.
    pub args: &'a [NewPort<'a>],
}

/// An op to create.
#[derive(Clone, Copy, Debug)]
pub struct NewOp<'a> {
    /// The canonical name.
    pub name: SymbolId,
    /// The location.
    pub loc: LocId,
    /// The operands; NONE for omitted optional operands.
    pub operands: &'a [ValueId],
    /// The type of each result; NONE if unknown. In a replacement, NONE is the type of the replaced result.
    pub result_types: &'a [TypeId],
    /// The attributes.
    pub attrs: &'a [NewAttr<'a>],
    /// The regions.
    pub regions: &'a [NewRegion<'a>],
    /// Whether a replacement takes the regions of the replaced op.
    pub take_regions: bool,
    /// Whether a replacement takes the attributes of the replaced op, before `attrs`.
    pub take_attrs: bool,
}

impl<'a> NewOp<'a> {
    /// Creates an op with a name and nothing else.
    pub fn new(name: SymbolId) -> NewOp<'a> {
        NewOp {
            name,
            loc: LocId::NONE,
            operands: &[],
            result_types: &[],
            attrs: &[],
            regions: &[],
            take_regions: false,
            take_attrs: false,
        }
    }
}

impl Function {
    /// Creates an op.
    ///
    /// # Errors
    /// If the insertion point is invalid, an operand isn't visible there, or a name, type, location or attribute is
    /// invalid.
    pub fn create_op(&mut self, new: &NewOp<'_>, at: Position) -> Edit<OpId> {
        let (region, before) = self.resolve(at)?;
        self.check_new(new, region, before)?;
        Ok(self.insert_op(new, region, before))
    }

    /// Resolves a position to its region and the op after it.
    pub(crate) fn resolve(&self, at: Position) -> Edit<(RegionId, OpId)> {
        if at.before.is_some() {
            return Ok((self.live_op(at.before)?.parent, at.before));
        }
        self.live_region(at.region)?;
        Ok((at.region, self.terminator(at.region).unwrap_or(OpId::NONE)))
    }

    /// Rejects an op that can't be created.
    pub(crate) fn check_new(&self, new: &NewOp<'_>, region: RegionId, before: OpId) -> Edit {
        let name = self.live_symbol(new.name)?;
        crate::name::check_canonical(name).map_err(EditFailure::invalid)?;
        if is_terminator(new.name) {
            reject!("cannot create `{name}`; set the results of its region instead");
        }
        let lists = [
            ("operands", new.operands.len()),
            ("results", new.result_types.len()),
            ("attributes", new.attrs.len()),
            ("regions", new.regions.len()),
        ];
        for (what, len) in lists {
            if len > MAX_LIST {
                invalid!("`{name}` would have {len} {what}; the limit is {MAX_LIST}");
            }
        }
        self.check_capacity(lists.iter().map(|(_, len)| len).sum())?;
        self.check_operands(new.operands, region, before)?;
        self.check_types(new.result_types.iter().copied())?;
        self.check_loc(new.loc)?;
        for attr in new.attrs {
            self.check_op_attr(attr)?;
        }
        for nested in new.regions {
            self.check_region(nested, region)?;
        }
        Ok(())
    }

    /// Rejects types that aren't types of this function; NONE is unknown.
    pub(crate) fn check_types(&self, types: impl IntoIterator<Item = TypeId>) -> Edit {
        let mut given = types.into_iter().filter(|ty| ty.is_some());
        given.try_for_each(|ty| self.live_type(ty).map(drop))
    }

    /// Rejects records that might exceed the capacity of the arenas.
    pub(crate) fn check_capacity(&self, needed: usize) -> Edit {
        let used = self.uses.len().max(self.ids.len()).max(self.values.len());
        if used.saturating_add(needed) > MAX_RECORDS {
            reject!("the function is full: an arena holds at most 2^32 - 2 records");
        }
        Ok(())
    }

    /// Creates a checked op.
    pub(crate) fn insert_op(&mut self, new: &NewOp<'_>, region: RegionId, before: OpId) -> OpId {
        let op = self.make_op(new.name, region, new.loc);
        self.ops[op.index()].operands = self.make_slots(op, new.operands);
        let first = self.values.len() as u32;
        for (index, &ty) in new.result_types.iter().enumerate() {
            self.make_value(Value::RESULT, op.0, index as u32, ty);
        }
        let results = first..self.values.len() as u32;
        self.ops[op.index()].results = push_range(&mut self.ids, results);
        self.link_op(op, region, before);
        self.write_attrs(op, new.attrs);
        for nested in new.regions {
            self.insert_region(op, nested);
        }
        self.touch_op(op);
        op
    }

    /// Creates an op without operands, results or attributes, which isn't linked into a region yet.
    pub(crate) fn make_op(&mut self, name: SymbolId, region: RegionId, loc: LocId) -> OpId {
        let op = OpId(self.ops.len() as u32);
        self.ops.push(Op {
            name,
            flags: 0,
            operands: Range::EMPTY,
            results: Range::EMPTY,
            attrs: Range::EMPTY,
            regions: Range::EMPTY,
            parent: region,
            prev: OpId::NONE,
            next: OpId::NONE,
            loc,
            order: 0,
        });
        self.live_ops += 1;
        op
    }

    /// Creates a value without uses.
    pub(crate) fn make_value(&mut self, kind: u32, def: u32, index: u32, ty: TypeId) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(Value {
            ty: if ty.is_none() { TypeId(0) } else { ty },
            name: SymbolId::NONE,
            flags: kind | Value::TOUCHED,
            def,
            index,
            first_use: UseId::NONE,
            use_count: 0,
            constant: ConstId::NONE,
        });
        id
    }
}
