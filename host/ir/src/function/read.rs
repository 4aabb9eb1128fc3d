//! Reading: records by id, lists of records, and relations between entities.

use std::sync::Arc;

use passdock_abi::{
    Attr, ConstId, Constant, DType, Loc, LocId, Op, OpId, Port, Range, Region, RegionId, SymbolId,
    Type, TypeId, Use, UseId, Value, ValueId, symbol,
};

use super::Function;
use crate::constant::ConstantData;
use crate::error::{Edit, EditFailure};
use crate::pool::slice;
use crate::quote::value_text;
use crate::symbols::is_terminator;

impl Function {
    /// Returns an op's record, live or dead.
    ///
    /// # Panics
    /// If the id isn't in this function. This applies to all reads by id here; use [`Function::live_op`] and similar
    /// methods for ids from outside.
    pub fn op(&self, id: OpId) -> &Op {
        &self.ops[id.index()]
    }

    /// Returns a value's record.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// Returns a region's record.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.index()]
    }

    /// Returns a constant's record.
    pub fn constant(&self, id: ConstId) -> &Constant {
        &self.constants[id.index()]
    }

    /// Returns a location's record.
    pub fn loc(&self, id: LocId) -> Option<&Loc> {
        self.locs.get(id.index())
    }

    /// Returns the number of assigned op ids.
    pub fn op_ids(&self) -> usize {
        self.ops.len()
    }

    /// Returns the number of assigned value ids.
    pub fn value_ids(&self) -> usize {
        self.values.len()
    }

    /// Returns the record of a live op.
    ///
    /// # Errors
    /// If the op is erased or not in this function.
    pub fn live_op(&self, id: OpId) -> Edit<&Op> {
        let op = self.ops.get(id.index());
        self.live(op, |op| op.flags & Op::DEAD == 0, "op", id)
    }

    /// Returns the record of a live value.
    ///
    /// # Errors
    /// If the value is erased or not in this function.
    pub fn live_value(&self, id: ValueId) -> Edit<&Value> {
        let value = self.values.get(id.index());
        self.live(value, |value| value.flags & Value::DEAD == 0, "value", id)
    }

    /// Returns the record of a live region.
    ///
    /// # Errors
    /// If the region is erased or not in this function.
    pub fn live_region(&self, id: RegionId) -> Edit<&Region> {
        let region = self.regions.get(id.index());
        let is_live = |region: &Region| region.flags & Region::DEAD == 0;
        self.live(region, is_live, "region", id)
    }

    /// Returns the record of a live constant.
    ///
    /// # Errors
    /// If the constant is erased or not in this function.
    pub fn live_constant(&self, id: ConstId) -> Edit<&Constant> {
        let constant = self.constants.get(id.index());
        let is_live = |constant: &Constant| self.is_live_constant(constant);
        self.live(constant, is_live, "constant", id)
    }

    /// Returns the record of a type.
    ///
    /// # Errors
    /// If the type isn't in this function.
    #[inline]
    pub fn live_type(&self, id: TypeId) -> Edit<&Type> {
        self.live(self.types.get(id.index()), |_| true, "type", id)
    }

    /// Returns the text of a symbol.
    ///
    /// # Errors
    /// If the symbol isn't in the module.
    pub fn live_symbol(&self, id: SymbolId) -> Edit<&str> {
        let unknown = || EditFailure::stale(format!("{id} is not a symbol of the module"));
        self.symbols.get(id).ok_or_else(unknown)
    }

    #[inline]
    fn live<'f, T>(
        &self,
        record: Option<&'f T>,
        is_live: impl Fn(&T) -> bool,
        what: &str,
        id: impl std::fmt::Display,
    ) -> Edit<&'f T> {
        match record {
            Some(record) if is_live(record) => Ok(record),
            Some(_) => Err(EditFailure::stale(format!("{id} was erased"))),
            None => Err(EditFailure::stale(format!(
                "function `@{}` has no {what} {id}",
                self.text(self.name)
            ))),
        }
    }

    /// Checks that a location exists; NONE is allowed.
    ///
    /// # Errors
    /// If it doesn't.
    pub fn check_loc(&self, id: LocId) -> Edit {
        match id.is_none() || self.loc(id).is_some() {
            true => Ok(()),
            false => Err(EditFailure::stale(format!(
                "function `@{}` has no location {id}",
                self.text(self.name)
            ))),
        }
    }

    fn is_live_constant(&self, constant: &Constant) -> bool {
        let region = constant.region;
        let record = self.regions.get(region.index());
        let visible = record.is_some_and(|record| record.flags & Region::DEAD == 0);
        constant.flags & Constant::DEAD == 0 && visible
    }

    /// Iterates over the live ops in id order, without walking regions.
    pub fn live_ops(&self) -> impl Iterator<Item = (OpId, &Op)> + '_ {
        let all = self.ops.iter().enumerate();
        all.filter(|(_, op)| op.flags & Op::DEAD == 0)
            .map(|(at, op)| (OpId(at as u32), op))
    }

    /// Iterates over the live ops without terminators, in id order, as reports count them.
    pub fn ops(&self) -> impl Iterator<Item = (OpId, &Op)> + '_ {
        self.live_ops().filter(|(_, op)| !is_terminator(op.name))
    }

    /// Returns the number of [`Function::ops`].
    pub fn op_count(&self) -> usize {
        self.ops().count()
    }

    /// Iterates over the live constants in id order.
    pub fn live_constants(&self) -> impl Iterator<Item = (ConstId, &Constant)> + '_ {
        let all = self.constants.iter().enumerate();
        all.filter(|(_, constant)| self.is_live_constant(constant))
            .map(|(at, constant)| (ConstId(at as u32), constant))
    }

    /// Returns a constant's data.
    pub fn constant_data(&self, id: ConstId) -> &Arc<ConstantData> {
        &self.data[id.index()]
    }

    /// Returns the elements of an `i64` or `i32` constant of rank 0 or 1, if there are at most `most`.
    pub fn constant_integers(&self, value: ValueId, most: usize) -> Option<Vec<i64>> {
        let id = self.as_constant(value)?;
        let ty = *self.ty(self.value(value).ty);
        let size = match ty.dtype {
            DType::I64 => 8,
            DType::I32 => 4,
            _ => return None,
        };
        if ty.dims.len > 1 || self.constant(id).byte_len > (most * size) as u64 {
            return None;
        }
        let bytes = self.constant_data(id).bytes().ok()?;
        let number = |element: &[u8]| match *element {
            [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => 0,
        };
        Some(bytes.chunks_exact(size).map(number).collect())
    }

    /// Returns an op's operand slots.
    pub fn operands(&self, op: OpId) -> &[Use] {
        slice(&self.uses, self.op(op).operands)
    }

    /// Returns an operand; NONE if it is omitted or out of range.
    pub fn operand(&self, op: OpId, index: usize) -> ValueId {
        self.operands(op)
            .get(index)
            .map_or(ValueId::NONE, |slot| slot.value)
    }

    /// Iterates over an op's results.
    pub fn results(&self, op: OpId) -> impl ExactSizeIterator<Item = ValueId> + Clone + '_ {
        let ids = slice(&self.ids, self.op(op).results).iter();
        ids.map(|&id| ValueId(id))
    }

    /// Returns the result at an index.
    pub fn result(&self, op: OpId, index: usize) -> Option<ValueId> {
        let ids = slice(&self.ids, self.op(op).results);
        ids.get(index).map(|&id| ValueId(id))
    }

    /// Iterates over an op's regions.
    pub fn regions_of(&self, op: OpId) -> impl DoubleEndedIterator<Item = RegionId> + Clone + '_ {
        let ids = slice(&self.ids, self.op(op).regions).iter();
        ids.map(|&id| RegionId(id))
    }

    /// Iterates over a region's arguments; those of the body are the parameters.
    pub fn args(&self, region: RegionId) -> impl ExactSizeIterator<Item = ValueId> + Clone + '_ {
        let ids = slice(&self.ids, self.region(region).args).iter();
        ids.map(|&id| ValueId(id))
    }

    /// Returns a region's ports, with the ids that [`crate::Entity::Port`] takes.
    pub fn ports(&self, region: RegionId) -> &[Port] {
        slice(&self.ports, self.region(region).ports)
    }

    /// Returns an op's attributes, or the function's if `op` is NONE.
    pub fn attrs(&self, op: OpId) -> &[Attr] {
        let range = if op.is_none() {
            self.function_attrs
        } else {
            self.op(op).attrs
        };
        slice(&self.attrs, range)
    }

    /// Returns an attribute of an op, or of the function if `op` is NONE.
    pub fn attr(&self, op: OpId, name: SymbolId) -> Option<&Attr> {
        self.attrs(op).iter().find(|attr| attr.name == name)
    }

    /// Returns the ids in a range of the id pool.
    pub fn ids_in(&self, range: Range) -> &[u32] {
        slice(&self.ids, range)
    }

    /// Returns the elements of an `INTS` attribute.
    pub fn ints_in(&self, range: Range) -> &[i64] {
        slice(&self.pools.ints, range)
    }

    /// Returns the elements of a `FLOATS` attribute.
    pub fn floats_in(&self, range: Range) -> &[f32] {
        slice(&self.pools.floats, range)
    }

    /// Returns the bytes of a `STRING` or `OPAQUE` attribute.
    pub fn bytes_in(&self, range: Range) -> &[u8] {
        slice(&self.pools.bytes, range)
    }

    /// Iterates over the elements of a `STRINGS` attribute.
    pub fn strings_in(&self, range: Range) -> impl ExactSizeIterator<Item = &[u8]> + '_ {
        slice(&self.pools.strings, range)
            .iter()
            .map(|&range| self.bytes_in(range))
    }

    /// Returns the op that defines a value, if the value is a result.
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        let record = self.value(value);
        (record.flags & Value::KIND == Value::RESULT).then_some(OpId(record.def))
    }

    /// Returns the constant that defines a value.
    pub fn as_constant(&self, value: ValueId) -> Option<ConstId> {
        let record = self.value(value);
        (record.flags & Value::KIND == Value::CONST).then_some(record.constant)
    }

    /// Iterates over the slots that use a value.
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

    /// Iterates over the ops of a region, in order.
    pub fn ops_in(&self, region: RegionId) -> impl Iterator<Item = OpId> + '_ {
        let mut next = self.region(region).first;
        std::iter::from_fn(move || {
            let id = next.option()?;
            next = self.op(id).next;
            Some(id)
        })
        .take(self.ops.len())
    }

    /// Returns the op name of a region's terminator.
    pub(crate) fn terminator_name(&self, region: RegionId) -> SymbolId {
        match region == self.body {
            true => symbol::RETURN,
            false => symbol::YIELD,
        }
    }

    /// Returns a region's terminator.
    pub fn terminator(&self, region: RegionId) -> Option<OpId> {
        let last = self.region(region).last.option()?;
        is_terminator(self.op(last).name).then_some(last)
    }

    /// Whether an op is a terminator.
    pub fn is_terminator(&self, op: OpId) -> bool {
        is_terminator(self.op(op).name)
    }

    /// Whether a result is present, and not an omitted slot, which is printed as `_`.
    pub fn is_present(&self, result: ValueId) -> bool {
        let value = self.value(result);
        value.flags & Value::ABSENT == 0 || value.use_count > 0
    }

    /// Returns the depth of each region by its id, as [`Function::depth`] does. Linear in the number of regions.
    pub fn depths(&self) -> Vec<u32> {
        const UNKNOWN: u32 = u32::MAX;
        let mut depths = vec![UNKNOWN; self.regions.len()];
        let mut path = Vec::new();
        for id in 0..self.regions.len() {
            let mut region = Some(id);
            while let Some(id) = region.filter(|&id| depths[id] == UNKNOWN) {
                path.push(id);
                let holder = self.regions[id].parent.option();
                region = holder.map(|holder| self.op(holder).parent.index());
            }
            let first = region.map_or(0, |id| depths[id] + 1);
            for (depth, id) in (first..).zip(path.drain(..).rev()) {
                depths[id] = depth;
            }
        }
        depths
    }

    /// Returns the number of regions around a region; 0 for the body.
    pub fn depth(&self, region: RegionId) -> u32 {
        let (mut region, mut depth) = (region, 0);
        while let Some(holder) = self.region(region).parent.option() {
            (region, depth) = (self.op(holder).parent, depth + 1);
        }
        depth
    }

    /// Whether `value` may be an operand of an op right before `before` in `region` (NONE: at its end).
    pub fn is_visible(&self, value: ValueId, region: RegionId, before: OpId) -> bool {
        let (defining, def) = (self.region_of(value), self.defining_op(value));
        if defining.is_none() {
            return true;
        }
        let (mut region, mut before) = (region, before);
        while region != defining {
            before = self.region(region).parent;
            if before.is_none() {
                return false;
            }
            region = self.op(before).parent;
        }
        def.is_none_or(|def| before.is_none() || self.op(def).order < self.op(before).order)
    }

    /// Returns the op of `region` that is `op` or contains it.
    pub fn op_around(&self, op: OpId, region: RegionId) -> OpId {
        let mut op = op;
        while self.op(op).parent != region {
            op = self.region(self.op(op).parent).parent;
        }
        op
    }

    /// Returns a value's name for messages: as in IR text, or its id if it has no name.
    pub fn describe(&self, value: ValueId) -> String {
        match self.values.get(value.index()).map(|record| record.name) {
            Some(name) if name.is_some() => value_text(self.text(name)),
            _ => format!("value {value}"),
        }
    }

    /// Returns an op's id and name for messages.
    pub fn describe_op(&self, op: OpId) -> String {
        match self.ops.get(op.index()) {
            Some(record) => format!("{op} ({})", self.text(record.name)),
            None => op.to_string(),
        }
    }
}
