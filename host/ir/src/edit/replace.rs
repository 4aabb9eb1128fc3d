//! Replacing ops, uses and bodies, and moving ops.

use passdock_abi::{
    Attr, AttrKind, ConstId, Dim, DimKind, Op, OpId, Range, RegionId, SymbolId, TypeId, UseId,
    Value, ValueId,
};
use rustc_hash::FxHashMap;

use super::{CloneRegion, NewOp, Position};
use crate::error::{Edit, EditFailure, invalid, reject};
use crate::function::Function;
use crate::function::origin::Entity;
use crate::function::transfer::Transfer;
use crate::pool::{slice, span};
use crate::symbols::is_terminator;

impl Function {
    /// Creates an op before `old`, moves the uses of the old results to the new ones, and erases `old`. The new results
    /// take the names of the old ones, and their types where none is given. The new op keeps the origin, documentation
    /// and metadata of the old one.
    ///
    /// # Errors
    /// See [`Function::create_op`]; also if a used result of the old op has no counterpart of a compatible type.
    pub fn replace_op(&mut self, old: OpId, new: &NewOp<'_>) -> Edit<OpId> {
        let record = *self.inner_op(old, "replace")?;
        self.check_new(new, record.parent, old)?;
        if new.take_attrs && !new.take_regions {
            self.check_no_region_attr(old)?;
        }
        let results: Vec<ValueId> = self.results(old).collect();
        if new.result_types.len() < results.len() {
            let removed = results[new.result_types.len()..].iter().copied();
            self.check_unused(old, removed)?;
        }
        let mut types = new.result_types.to_vec();
        for (ty, &result) in types.iter_mut().zip(&results) {
            *ty = ty.option().unwrap_or(self.value(result).ty);
            self.check_type_change(result, *ty)?;
        }
        let loc = new.loc.option().unwrap_or(record.loc);
        let created = NewOp {
            loc,
            result_types: &types,
            attrs: &[],
            ..*new
        };
        let op = self.insert_op(&created, record.parent, old);
        if new.take_attrs {
            self.ops[op.index()].attrs = record.attrs;
            self.ops[old.index()].attrs = Range::EMPTY;
        }
        self.write_attrs(op, new.attrs);
        if new.take_regions {
            self.take_regions(old, op);
        }
        let replacements: Vec<ValueId> = self.results(op).collect();
        for (&from, &to) in results.iter().zip(&replacements) {
            self.replace_result(from, to);
        }
        self.inherit(old, op);
        self.erase_checked(old);
        Ok(op)
    }

    /// Copies the origin, documentation and metadata of a replaced op to its replacement, and its location unless the
    /// replacement has one.
    fn inherit(&mut self, old: OpId, new: OpId) {
        let loc = self.op(old).loc;
        let new_loc = &mut self.ops[new.index()].loc;
        *new_loc = new_loc.option().unwrap_or(loc);
        self.carry_to_replacements(old);
        self.carry_op(old, new);
    }

    /// Copies the origin, documentation and metadata of an erased op to the new ops right before it whose locations
    /// contain its location: its replacements. Skips up to `FEW` replacements of other ops between them.
    pub(crate) fn carry_to_replacements(&mut self, old: OpId) {
        const FEW: usize = 8;
        let record = *self.op(old);
        if record.loc.is_none() || !self.has_source(old) {
            return;
        }
        let old_loc = self.single_locs(record.loc).next().copied();
        let (mut before, mut others) = (record.prev, 0);
        while let Some(op) = before.option().filter(|_| others < FEW) {
            let created = *self.op(op);
            if created.flags & Op::TOUCHED == 0
                || !self
                    .single_locs(created.loc)
                    .any(|loc| Some(*loc) == old_loc)
            {
                break;
            }
            if self.has_source(op) {
                others += 1;
            } else {
                self.carry_op(old, op);
            }
            before = created.prev;
        }
    }

    fn carry_op(&mut self, old: OpId, new: OpId) {
        let flags = self.op(old).flags & Op::ANNOTATED;
        self.origins.carry(Entity::Op(old), Entity::Op(new));
        self.ops[new.index()].flags |= flags;
    }

    /// Whether a pass created the op, and it doesn't replace another one yet.
    fn is_new(&self, op: OpId) -> bool {
        self.op(op).flags & Op::TOUCHED != 0 && !self.has_source(op)
    }

    /// Whether the op is, or replaced, a known op of the model.
    fn has_source(&self, op: OpId) -> bool {
        let entity = Entity::Op(op);
        self.origins.get(entity).is_some() || self.origins.extras(entity).is_some()
    }

    /// Rejects a replacement that takes an op's region attributes without its regions.
    fn check_no_region_attr(&self, old: OpId) -> Edit {
        let is_region = |attr: &&Attr| matches!(attr.kind, AttrKind::REGION | AttrKind::REGIONS);
        match self.attrs(old).iter().find(is_region) {
            None => Ok(()),
            Some(attr) => Err(EditFailure::rejected(format!(
                "cannot take the attributes without the regions: attribute `{}` of {} is a region",
                self.text(attr.name),
                self.describe_op(old)
            ))),
        }
    }

    /// Replaces a result: moves its name, its uses and its origin to the new one.
    pub(crate) fn replace_result(&mut self, from: ValueId, to: ValueId) {
        const INHERITED: u32 = Value::DECLARED | Value::ABSENT;
        self.values[to.index()].name = self.values[from.index()].name;
        self.values[to.index()].flags |= self.values[from.index()].flags & INHERITED;
        self.values[from.index()].name = SymbolId::NONE;
        self.move_uses(from, to);
        self.origins.carry(Entity::Value(from), Entity::Value(to));
    }

    /// Moves the uses of the old results to the given values and erases `old`. NONE is allowed for an unused result. A
    /// new op whose result takes the name of an old one keeps the old op's origin, documentation and metadata, as after
    /// [`Function::replace_op`].
    ///
    /// # Errors
    /// If the op is erased, the number of values isn't its number of results, or a value can't replace its result.
    pub fn replace_op_with(&mut self, old: OpId, values: &[ValueId]) -> Edit {
        self.inner_op(old, "replace")?;
        let results: Vec<ValueId> = self.results(old).collect();
        if results.len() != values.len() {
            let name = self.describe_op(old);
            invalid!(
                "wrong number of values to replace the results of {name}: expected {}, found {}",
                results.len(),
                values.len()
            );
        }
        for (&from, &to) in results.iter().zip(values) {
            if to.is_none() {
                self.check_unused(old, std::iter::once(from))?;
                continue;
            }
            self.live_value(to)?;
            if self.defining_op(to) == Some(old) {
                let name = self.describe_op(old);
                reject!("cannot replace {name} with its own result");
            }
            self.check_move(from, to)?;
        }
        for (&from, &to) in results.iter().zip(values) {
            if to.is_some() && self.value(to).name.is_none() {
                self.transfer_name(from, to);
                if let Some(new) = self.defining_op(to).filter(|&op| self.is_new(op)) {
                    self.inherit(old, new);
                }
            }
            self.move_uses(from, to);
        }
        self.erase_checked(old);
        Ok(())
    }

    /// Moves all uses of a value to another.
    ///
    /// # Errors
    /// If the new value isn't visible at every use, or the types contradict.
    pub fn replace_uses(&mut self, from: ValueId, to: ValueId) -> Edit {
        self.live_value(from)?;
        if from == to {
            return Ok(());
        }
        self.check_move(from, to)?;
        self.move_uses(from, to);
        Ok(())
    }

    /// Moves an op within its region.
    ///
    /// # Errors
    /// If the position is in another region, an operand isn't defined before it, or a result is used before it.
    pub fn move_op(&mut self, op: OpId, at: Position) -> Edit {
        let record = *self.inner_op(op, "move")?;
        let (region, before) = self.resolve(at)?;
        if before == op {
            return Ok(());
        }
        if region != record.parent {
            reject!("{} can only move within its region", self.describe_op(op));
        }
        let order = |id: OpId| id.option().map_or(u64::MAX, |id| self.op(id).order);
        let target = order(before);
        // A move up: its operands and captured values have to be defined before the new position.
        if target < record.order {
            let defined = |value| self.is_visible(value, region, before);
            if let Some(value) = self
                .needed(&[op])
                .into_iter()
                .find(|&value| !defined(value))
            {
                let (op, value) = (self.describe_op(op), self.describe(value));
                reject!("cannot move {op} before the definition of its operand {value}");
            }
        }
        // A move down: its results may not be used before the new position.
        for result in self.results(op) {
            for (_, slot) in self.uses(result) {
                if order(self.op_around(slot.user, region)) < target {
                    let (op, user) = (self.describe_op(op), self.describe_op(slot.user));
                    reject!("cannot move {op} after {user}, which uses its result");
                }
            }
        }
        if target < record.order {
            self.rename_shared(op);
        }
        self.unlink_op(op);
        self.link_op(op, region, before);
        self.touch_op(op);
        Ok(())
    }

    /// Returns a live op that isn't a terminator. For a terminator, returns the error that `what` isn't possible.
    pub(crate) fn inner_op(&self, op: OpId, what: &str) -> Edit<&Op> {
        let record = self.live_op(op)?;
        if is_terminator(record.name) {
            let name = self.describe_op(op);
            reject!("cannot {what} {name}: it is the terminator of its region");
        }
        Ok(record)
    }

    fn check_unused(&self, op: OpId, mut values: impl Iterator<Item = ValueId>) -> Edit {
        match values.find(|&value| self.value(value).use_count > 0) {
            None => Ok(()),
            Some(value) => Err(EditFailure::rejected(format!(
                "cannot replace {}: its result {} is used and has no replacement",
                self.describe_op(op),
                self.describe(value)
            ))),
        }
    }

    /// Rejects a type that contradicts a value's type.
    pub(crate) fn check_type_change(&self, value: ValueId, ty: TypeId) -> Edit {
        let old = self.value(value).ty;
        if ty.is_none() || self.is_compatible(old, ty) {
            return Ok(());
        }
        Err(EditFailure::rejected(format!(
            "type `{}` contradicts `{}`, the type of {}; a type can be refined, not changed",
            crate::text::type_text(self, ty),
            crate::text::type_text(self, old),
            self.describe(value)
        )))
    }

    /// Rejects moving uses to a value that isn't visible at each use, or has a contradicting type.
    fn check_move(&self, from: ValueId, to: ValueId) -> Edit {
        let target = *self.live_value(to)?;
        self.check_type_change(from, target.ty)?;
        let record = self.value(from);
        // A value visible at the definition of `from` is visible at all its uses.
        let everywhere = match record.flags & Value::KIND {
            Value::RESULT => {
                let op = OpId(record.def);
                self.is_visible(to, self.op(op).parent, op)
            }
            Value::ARG => {
                let region = RegionId(record.def);
                let first = self.region(region).first;
                self.is_visible(to, region, first)
            }
            _ => false,
        };
        if everywhere {
            return Ok(());
        }
        for (_, slot) in self.uses(from) {
            if !self.is_visible(to, self.op(slot.user).parent, slot.user) {
                reject!(
                    "{} cannot replace {}: it is not visible at the use in {}",
                    self.describe(to),
                    self.describe(from),
                    self.describe_op(slot.user)
                );
            }
        }
        Ok(())
    }

    /// Moves the use list of one value to the front of another's.
    pub(crate) fn move_uses(&mut self, from: ValueId, to: ValueId) {
        let first = self.values[from.index()].first_use;
        let Some(mut last) = first.option() else {
            return;
        };
        self.touch_users(from);
        self.make_present(to);
        loop {
            let slot = &mut self.uses[last.index()];
            slot.value = to;
            match slot.next.option() {
                Some(next) => last = next,
                None => break,
            }
        }
        let moved = std::mem::take(&mut self.values[from.index()].use_count);
        self.values[from.index()].first_use = UseId::NONE;
        let head = &mut self.values[to.index()];
        let rest = std::mem::replace(&mut head.first_use, first);
        head.use_count += moved;
        self.uses[last.index()].next = rest;
        if rest.is_some() {
            self.uses[rest.index()].prev = last;
        }
    }

    /// Moves the regions of one op to another.
    fn take_regions(&mut self, from: OpId, to: OpId) {
        let moved_regions = std::mem::replace(&mut self.ops[from.index()].regions, Range::EMPTY);
        for &region in slice(&self.ids, moved_regions) {
            self.regions[region as usize].parent = to;
        }
        let own = self.ops[to.index()].regions;
        if own.len == 0 {
            self.ops[to.index()].regions = moved_regions;
            return;
        }
        let start = self.ids.len() as u32;
        self.ids.extend_from_within(span(moved_regions));
        self.ids.extend_from_within(span(own));
        let len = moved_regions.len + own.len;
        self.ops[to.index()].regions = Range { start, len };
    }
}

impl Function {
    /// Replaces the body with a copy of `source`'s body. Parameters are matched by position, and dim symbols of
    /// `source`'s parameters are replaced by this function's dims. Domains that only `source` imports are imported;
    /// `since` is that of [`Function::imports_of`].
    ///
    /// # Errors
    /// Before anything is changed: if the numbers or types of the parameters or results don't match, or an op has
    /// another meaning in this function's opsets.
    pub fn replace_body(
        &mut self,
        source: &Function,
        since: impl Fn(SymbolId, i64) -> Option<i64>,
    ) -> Edit {
        let (body, at) = (self.body, Position::end(self.body));
        let dim_symbols = self.check_interface(source)?;
        let needed = self.imports_of(source, source.walk(source.body), since)?;
        let args: Vec<ValueId> = self.args(body).collect();
        let clone = CloneRegion {
            region: source.body,
            source: Some(source),
            at,
            args: &args,
            captures: &[],
        };
        let (region, before) = self.resolve(at)?;
        let map = self.check_clone(&clone, region, before)?;
        let ports = self.ports(body).to_vec();
        self.end_region(body, &[], &[]);
        let last = |f: &Function| f.op(f.terminator(body)?).prev.option();
        while let Some(op) = last(self) {
            self.erase_checked(op);
        }
        for constant in (0..self.constants.len() as u32).map(ConstId) {
            // Defaults of parameters can't be erased and stay.
            _ = self.erase_constant(constant);
        }
        let (_, before) = self.resolve(at)?;
        let mut copy = Transfer::new(Some(source), self, source.body, map);
        copy.dim_symbols = dim_symbols;
        copy.ops(body, before);
        let end = source.terminator(source.body);
        let values = end.map_or(Vec::new(), |end| copy.values(end));
        self.end_region(body, &values, &ports);
        self.add_imports(&needed);
        Ok(())
    }

    /// Rejects a body of another function whose parameters or results don't match this one's. Returns the mapping of
    /// its dim symbols to dims of this function, if any of them differ.
    fn check_interface(&mut self, source: &Function) -> Edit<Option<FxHashMap<SymbolId, Dim>>> {
        let mismatch = |f: &Function, why: String| {
            let (own, other_type) = (f.text(f.name), source.text(source.name));
            let message =
                format!("cannot replace the body of `@{own}` with that of `@{other_type}`: {why}");
            EditFailure::rejected(message)
        };
        let sides = [self.interface(), source.interface()];
        let (mut dim_symbols, mut is_renamed) = (FxHashMap::default(), false);
        for (at, what) in ["parameter", "result"].into_iter().enumerate() {
            let [own, other_type] = [&sides[0][at], &sides[1][at]];
            if own.len() != other_type.len() {
                let why = format!(
                    "wrong number of {what}s: expected {}, found {}",
                    own.len(),
                    other_type.len()
                );
                return Err(mismatch(self, why));
            }
            for (index, (&own, &other_type)) in own.iter().zip(other_type).enumerate() {
                let found = other_type.option().map(|ty| self.type_from(source, ty));
                let found = found.transpose()?.unwrap_or(TypeId::NONE);
                if !self.is_compatible(own, found) {
                    let [own, found] = [own, found].map(|ty| crate::text::type_text(self, ty));
                    let why = format!("expected type `{own}` for {what} {index}, found `{found}`");
                    return Err(mismatch(self, why));
                }
                let is_param = at == 0 && own != found && own.is_some() && found.is_some();
                if let Some((here, there)) = self
                    .shape(own)
                    .zip(source.shape(other_type))
                    .filter(|_| is_param)
                {
                    let named = there.iter().zip(here);
                    let named = named.filter(|(there, here)| {
                        there.kind == DimKind::SYMBOL && here.kind != DimKind::UNKNOWN
                    });
                    let named = named.map(|(there, here)| (SymbolId(there.value as u32), *here));
                    named.for_each(|(name, here)| _ = dim_symbols.entry(name).or_insert(here));
                }
                is_renamed |= is_param;
            }
        }
        Ok(is_renamed.then_some(dim_symbols))
    }

    /// Returns the types of the parameters, and the declared types of the results.
    fn interface(&self) -> [Vec<TypeId>; 2] {
        let params = self.args(self.body).map(|arg| self.value(arg).ty);
        let end = self.terminator(self.body);
        let values = end.into_iter().flat_map(|end| self.operands(end));
        let results = self
            .ports(self.body)
            .iter()
            .zip(values)
            .map(|(port, slot)| {
                let own = || slot.value.option().map(|value| self.value(value).ty);
                port.ty.option().or_else(own).unwrap_or(TypeId::NONE)
            });
        [params.collect(), results.collect()]
    }
}
