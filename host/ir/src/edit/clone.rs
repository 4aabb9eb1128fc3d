//! Copying ops and regions (for inlining, fusing and unrolling), and copying functions to another module.

use std::sync::Arc;

use passdock_abi::{Capture, ConstId, Op, OpId, Range, RegionId, TypeId, Value, ValueId};
use rustc_hash::FxHashMap;

use super::{NewOp, NewPort, NewRegion, Position};
use crate::error::{Edit, EditFailure, reject};
use crate::function::origin::Entity;
use crate::function::transfer::Transfer;
use crate::function::{Function, MAX_DEPTH};
use crate::module::Module;
use crate::name::check_canonical;
use crate::pool::push_range;
use crate::symbols::{Symbols, is_terminator};

/// A region whose ops are copied, without its terminator.
#[derive(Clone, Copy, Debug)]
pub struct CloneRegion<'a> {
    /// The region to copy.
    pub region: RegionId,
    /// The function that contains it; `None` for the edited function.
    pub source: Option<&'a Function>,
    /// The insertion point.
    pub at: Position,
    /// The values that replace its arguments.
    pub args: &'a [ValueId],
    /// Pairs of a value of the source, defined outside the region, and its replacement here. If the source is the
    /// edited function, values that aren't listed are used directly.
    pub captures: &'a [Capture],
}

/// Ops to copy, including their nested regions.
#[derive(Clone, Copy, Debug)]
pub struct CloneOps<'a> {
    /// The ops, of one region, in any order. The copies are in program order.
    pub ops: &'a [OpId],
    /// The function that contains them; `None` for the edited function.
    pub source: Option<&'a Function>,
    /// The insertion point.
    pub at: Position,
    /// Pairs of a value of the source that the ops don't define, and its replacement here. If the source is the edited
    /// function, values that aren't listed are used directly.
    pub captures: &'a [Capture],
}

impl Function {
    /// Copies a region's ops and returns the copies of its terminator's operands.
    ///
    /// # Errors
    /// If the insertion point is invalid, an argument is missing or invalid, or a captured value has no valid
    /// replacement.
    pub fn clone_region(&mut self, clone: &CloneRegion<'_>) -> Edit<Vec<ValueId>> {
        let (region, before) = self.resolve(clone.at)?;
        let map = self.check_clone(clone, region, before)?;
        let root = clone.region;
        let mut copy = Transfer::new(clone.source, self, root, map);
        copy.ops(region, before);
        let Some(terminator) = copy.source().terminator(root) else {
            return Ok(Vec::new());
        };
        Ok(copy.values(terminator))
    }

    /// Copies ops and returns the results of the copies: those of the first op of the list, then of the next, and so
    /// on.
    ///
    /// Constants that the ops use are copied, too. A reference to an attribute parameter becomes a reference to this
    /// function's parameter of the same name.
    ///
    /// # Errors
    /// If the ops are in different regions, the insertion point is invalid, or a value that they use has no
    /// replacement.
    pub fn clone_ops(&mut self, clone: &CloneOps<'_>) -> Edit<Vec<ValueId>> {
        let (region, before) = self.resolve(clone.at)?;
        let source = clone.source.unwrap_or(self);
        let ops = source.siblings(clone.ops, "copy")?;
        let map = self.check_clone_ops(clone, &ops, region, before)?;
        let mut copy = Transfer::new(clone.source, self, RegionId::NONE, map);
        copy.list(&ops, region, before);
        let results = |&op| copy.source().results(op);
        let results = clone.ops.iter().flat_map(results);
        Ok(results.map(|result| copy.values[&result]).collect())
    }

    /// Rejects an invalid copy of ops; returns the replacements of `captures`.
    fn check_clone_ops(
        &self,
        clone: &CloneOps<'_>,
        ops: &[OpId],
        region: RegionId,
        before: OpId,
    ) -> Edit<FxHashMap<ValueId, ValueId>> {
        let source = clone.source.unwrap_or(self);
        let mut nested = ops.iter().flat_map(|&op| source.regions_of(op));
        if clone.source.is_none() && nested.any(|inner| self.encloses(inner, region)) {
            reject!("cannot copy an op into itself");
        }
        let map = clone
            .captures
            .iter()
            .map(|capture| (capture.value, capture.replacement))
            .collect();
        self.check_copy(clone.source, ops, RegionId::NONE, &map, (region, before))?;
        Ok(map)
    }

    /// Rejects an invalid copy of a region; returns the replacements of its arguments and of `captures`.
    pub(super) fn check_clone(
        &self,
        clone: &CloneRegion<'_>,
        region: RegionId,
        before: OpId,
    ) -> Edit<FxHashMap<ValueId, ValueId>> {
        let (source, root) = (clone.source.unwrap_or(self), clone.region);
        source.live_region(root)?;
        source.check_args(root, clone.args)?;
        if clone.source.is_none() && self.encloses(root, region) {
            reject!("cannot copy a region into itself");
        }
        let args = source.args(root).zip(clone.args.iter().copied());
        let captures = clone.captures.iter();
        let captures = captures.map(|capture| (capture.value, capture.replacement));
        let map = args.chain(captures).collect();
        let ops: Vec<OpId> = source.ops_in(root).collect();
        self.check_copy(clone.source, &ops, root, &map, (region, before))?;
        Ok(map)
    }

    /// Rejects a copy of `ops`, or of the whole region `root`, if a captured value has no valid replacement or regions
    /// would nest too deeply.
    fn check_copy(
        &self,
        source: Option<&Function>,
        ops: &[OpId],
        root: RegionId,
        map: &FxHashMap<ValueId, ValueId>,
        (region, before): (RegionId, OpId),
    ) -> Edit {
        for (index, (&from, &to)) in map.iter().enumerate() {
            self.check_operand(to, region, before, index)?;
            source.unwrap_or(self).live_value(from)?;
            if source.is_none() && to.is_some() {
                self.check_type_change(from, self.value(to).ty)?;
            }
        }
        let from = source.unwrap_or(self);
        // Constants of the region are copied, too.
        let is_free = |value: &ValueId| !map.contains_key(value) && from.region_of(*value) != root;
        let captured = from.needed(ops).into_iter().filter(is_free);
        for (index, value) in captured.enumerate() {
            // A value of the same function has to be visible here; a value of another function has to be a constant.
            match source {
                None => self.check_operand(value, region, before, index)?,
                Some(source) if source.as_constant(value).is_some() => {}
                Some(source) => {
                    let name = source.describe(value);
                    let subject = match root.is_none() {
                        true => "the ops use",
                        false => "the region captures",
                    };
                    reject!("{subject} {name}, which has no entry in the list of captures");
                }
            }
        }
        let depths = from
            .with_nested(ops)
            .map(|op| from.depth(from.op(op).parent));
        if let Some(deepest) = depths.max() {
            let levels = deepest - from.depth(from.op(ops[0]).parent);
            if levels + self.depth(region) > MAX_DEPTH {
                reject!("the copy would be nested deeper than {MAX_DEPTH} levels");
            }
        }
        Ok(())
    }

    /// Converts a type of another function of the module to a type of this one. Dims keep their symbols.
    ///
    /// # Errors
    /// If the other function has no such type.
    pub fn type_from(&mut self, source: &Function, ty: TypeId) -> Edit<TypeId> {
        source.live_type(ty)?;
        let root = RegionId::NONE;
        Ok(Transfer::new(Some(source), self, root, FxHashMap::default()).ty(ty))
    }

    /// Returns a copy for a module with the given symbol table.
    pub fn copied_to(&self, symbols: &Arc<Symbols>) -> Function {
        self.copied_as(self.text(self.name), symbols)
    }

    /// Returns a copy with another name.
    fn copied_as(&self, name: &str, symbols: &Arc<Symbols>) -> Function {
        let name = symbols.intern(name);
        let mut created = Function::new(symbols.clone(), self.kind, name);
        let (from, to) = (self.body, created.body);
        for opset in &self.opsets {
            created.set_opset(symbols.intern(self.text(opset.domain)), opset.version);
        }
        let mut copy = Transfer::new(Some(self), &mut created, from, FxHashMap::default());
        copy.function_header(self);
        copy.ops(to, OpId::NONE);
        if let Some(terminator) = self.terminator(from) {
            copy.terminator(terminator, from, to);
        }
        created
    }

    /// Returns the region in which a value is defined.
    pub fn region_of(&self, value: ValueId) -> RegionId {
        let record = self.value(value);
        match record.flags & Value::KIND {
            Value::RESULT => self.op(OpId(record.def)).parent,
            Value::ARG => RegionId(record.def),
            _ => self.constant(record.constant).region,
        }
    }

    /// Whether a value is defined in a region or one nested in it.
    pub fn is_within(&self, value: ValueId, region: RegionId) -> bool {
        self.encloses(region, self.region_of(value))
    }

    /// Whether a region is `outer` or nested in it.
    pub(crate) fn encloses(&self, outer: RegionId, region: RegionId) -> bool {
        let mut region = region;
        while region != outer {
            let Some(holder) = self.region(region).parent.option() else {
                return false;
            };
            region = self.op(holder).parent;
        }
        true
    }
}

impl Module {
    /// Appends a copy of another module's function. The bytes of its constants are shared. Unused constants aren't
    /// copied, nor are the links to the file from which the function was read. Its calls refer to functions by name.
    ///
    /// # Errors
    /// If the module has a function of that name already.
    pub fn insert_copy(&mut self, function: &Function) -> Edit {
        let copy = function.copied_to(self.symbols());
        self.insert(copy)
    }

    /// Inserts a copy of another module's function under a name, replacing a function of that name. Otherwise like
    /// [`Module::insert_copy`].
    ///
    /// # Errors
    /// If the name isn't the canonical name of a function.
    pub fn put_copy(&mut self, function: &Function, name: &str) -> Edit {
        check_canonical(name).map_err(EditFailure::invalid)?;
        let copy = function.copied_as(name, self.symbols());
        match self.function(copy.name()) {
            Some(_) => self.replace(copy),
            None => self.insert(copy),
        }
    }
}

/// A copy in progress; its arguments are checked.
impl Transfer<'_> {
    /// Copies the root's ops and their nested regions.
    pub(super) fn ops(&mut self, region: RegionId, before: OpId) {
        let first = self.source().region(self.root).first;
        self.chains(vec![(first, region, before)]);
    }

    /// Copies ops, which are in program order, and their nested regions.
    pub(crate) fn list(&mut self, ops: &[OpId], region: RegionId, before: OpId) {
        for &op in ops {
            let record = *self.source().op(op);
            let mut nested = Vec::new();
            self.one(op, &record, (region, before), &mut nested);
            self.chains(nested);
        }
    }

    /// Copies chains of ops, last chain first, and their nested regions; uses an explicit stack instead of recursion.
    fn chains(&mut self, mut pending: Vec<(OpId, RegionId, OpId)>) {
        while let Some((op, region, before)) = pending.pop() {
            let Some(op) = op.option() else { continue };
            let record = *self.source().op(op);
            if is_terminator(record.name) {
                if record.parent != self.root {
                    self.terminator(op, record.parent, region);
                }
                continue;
            }
            pending.push((record.next, region, before));
            self.one(op, &record, (region, before), &mut pending);
        }
    }

    /// Copies one op with empty regions, and adds the contents of the regions to `pending`.
    fn one(
        &mut self,
        op: OpId,
        record: &Op,
        (region, before): (RegionId, OpId),
        pending: &mut Vec<(OpId, RegionId, OpId)>,
    ) {
        let created = self.op(op, record, region, before);
        let nested: Vec<RegionId> = self.source().regions_of(op).collect();
        for inner in nested {
            let copy = self.region_header(inner, created);
            pending.push((self.source().region(inner).first, copy, OpId::NONE));
        }
        self.into.ops[created.index()].attrs = self.attrs(op);
    }

    /// Copies the parts of a function other than its ops: parameters with their defaults, attributes, documentation.
    fn function_header(&mut self, source: &Function) {
        let (from, to) = (source.body, self.into.body);
        self.args(from, to);
        for arg in source.args(from) {
            let (record, copy) = (source.value(arg), self.values[&arg]);
            let is_declared = record.flags & Value::DECLARED;
            self.into.values[copy.index()].flags |= is_declared;
            if let Some(default) = record.constant.option() {
                let ty = self.ty(source.constant(default).ty);
                let data = source.constant_data(default).clone();
                let id = self.into.insert_tensor(ty, data, to);
                self.into.constants[id.index()].value = copy;
                self.into.values[copy.index()].constant = id;
            }
        }
        self.into.function_attrs = self.attrs(OpId::NONE);
        self.into.regions[to.index()].loc = self.loc(source.region(from).loc);
        self.carry(Entity::Function, Entity::Function);
        self.carry(Entity::Region(from), Entity::Region(to));
    }

    fn op(&mut self, op: OpId, record: &Op, region: RegionId, before: OpId) -> OpId {
        let operands = self.values(op);
        let results: Vec<ValueId> = self.source().results(op).collect();
        let types: Vec<TypeId> = results
            .iter()
            .map(|&result| self.ty(self.source().value(result).ty))
            .collect();
        let new = NewOp {
            operands: &operands,
            result_types: &types,
            loc: self.loc(record.loc),
            ..NewOp::new(self.symbol(record.name))
        };
        let created = self.into.insert_op(&new, region, before);
        let copies: Vec<ValueId> = self.into.results(created).collect();
        for (&from, &to) in results.iter().zip(&copies) {
            self.take_name(from, to);
            // If the file declares the value's type, the copy in another function is declared, too.
            let copied_flags = Value::ABSENT | self.source.map_or(0, |_| Value::DECLARED);
            let copied_flags = self.source().value(from).flags & copied_flags;
            self.into.values[to.index()].flags |= copied_flags;
            self.carry(Entity::Value(from), Entity::Value(to));
            self.values.insert(from, to);
        }
        self.carry(Entity::Op(op), Entity::Op(created));
        self.into.ops[created.index()].flags |= record.flags & Op::ANNOTATED;
        created
    }

    fn region_header(&mut self, from: RegionId, op: OpId) -> RegionId {
        let record = *self.source().region(from);
        let name = self.symbol(record.name);
        let to = self.into.insert_region(op, &NewRegion { name, args: &[] });
        self.into.regions[to.index()].loc = self.loc(record.loc);
        self.carry(Entity::Region(from), Entity::Region(to));
        self.regions.insert(from, to);
        self.args(from, to);
        to
    }

    /// Copies the arguments of a region.
    fn args(&mut self, from: RegionId, to: RegionId) {
        let args: Vec<ValueId> = self.source().args(from).collect();
        for arg in args {
            let ty = self.ty(self.source().value(arg).ty);
            let copy = self.into.push_arg(to, &NewPort { name: "", ty });
            self.take_name(arg, copy);
            self.carry(Entity::Value(arg), Entity::Value(copy));
            self.values.insert(arg, copy);
        }
    }

    /// Copies the terminator of a region.
    fn terminator(&mut self, terminator: OpId, from: RegionId, to: RegionId) {
        let values = self.values(terminator);
        let mut ports = self.source().ports(from).to_vec();
        for port in &mut ports {
            port.name = self.symbol(port.name);
            port.ty = self.ty(port.ty);
        }
        self.into.end_region(to, &values, &ports);
    }

    /// Copies the attributes of an op whose regions are copied already, or of the function if `from` is NONE.
    fn attrs(&mut self, from: OpId) -> Range {
        let mut attrs = self.source().attrs(from).to_vec();
        for attr in &mut attrs {
            *attr = self.attr(attr);
        }
        push_range(&mut self.into.attrs, attrs)
    }

    /// Returns the copies of an op's operands.
    pub(super) fn values(&mut self, op: OpId) -> Vec<ValueId> {
        let operands = self.source().operands(op).iter();
        let mut values: Vec<ValueId> = operands.map(|slot| slot.value).collect();
        for value in &mut values {
            *value = self.value(*value);
        }
        values
    }

    fn value(&mut self, value: ValueId) -> ValueId {
        if value.is_none() {
            return value;
        }
        if let Some(&known) = self.values.get(&value) {
            return known;
        }
        // A region is copied before the ops in it.
        let copied = |region| region == self.root || self.regions.contains_key(&region);
        let copied = self.source.is_some() || copied(self.source().region_of(value));
        let copy = match self.source().as_constant(value) {
            Some(constant) if copied => self.constant(value, constant),
            _ => value,
        };
        self.values.insert(value, copy);
        copy
    }

    fn constant(&mut self, value: ValueId, constant: ConstId) -> ValueId {
        let ty = self.ty(self.source().constant(constant).ty);
        let data = self.source().constant_data(constant).clone();
        // A constant of a copied region moves to the copy, which may yield it.
        let region = self.regions.get(&self.source().region_of(value));
        let region = region.copied().unwrap_or(self.into.body);
        let copy = self.into.insert_constant(ty, data, region);
        self.take_name(value, copy);
        copy
    }

    /// Copies the documentation and metadata of an entity.
    fn carry(&mut self, from: Entity, to: Entity) {
        if let Some(extras) = self.source().origins.extras(from).cloned() {
            self.into.origins.set_extras(to, extras);
        }
        // Both functions were read from the same file, which has the other fields of the op or declaration.
        let origin = self.source().origins.get(from);
        let same = Arc::ptr_eq(&self.source().symbols, &self.into.symbols);
        if matches!(from, Entity::Op(_) | Entity::Value(_)) && same && origin.is_some() {
            self.into.origins.set(to, origin);
        }
    }

    pub(crate) fn take_name(&mut self, from: ValueId, to: ValueId) {
        let name = self.source().value(from).name;
        if name.is_some() {
            let symbols = self.source().symbols().clone();
            self.into.set_unique_name(to, symbols.text(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Module, text, verify};

    const TWO: &str = "module {
  fn @main(%x: !f32[n,2], %scale: f32[] = const f32[] 2.0) -> (%y: f32[n,2]) opset(\"\" = 17, \"acme\" = 1) \
    loc(\"graph\") doc(\"what it does\") attributes {kind = \"encoder\", mean = tensor f32[2] [0.0, 1.0]} {
    %unused = const f32[] 1.0
    %half = const f32[2] [0.5, 0.5]
    %c = acme.IsLarge(%x)
    %y = onnx.If(%c) {then_branch = region, else_branch = region} : f32[n,2]
      region then_branch {
        %a = onnx.Mul(%x, %half) : f32[n,2]
        yield %a
      }
      region else_branch -> (%b) {
        %0 = other(%x, %scale) : f32[n,2]
        yield %0
      }
    return %y
  }
}
";

    #[test]
    fn function_is_copied_to_another_module() {
        let source = text::parse(TWO).unwrap();
        let other = "module {\n  fn @other(%x, %scale) -> (%r) {\n    return %x\n  }\n}\n";
        let mut module = text::parse(other).unwrap();
        let main = source.function_named("main").unwrap();
        module.insert_copy(main).unwrap();
        verify::verify_module(&module).unwrap();
        let copied = module.function_named("main").unwrap().clone();
        let options = text::PrintOptions::default();
        let expected = text::print_function(main, &options);
        assert_eq!(
            text::print_function(&copied, &options),
            expected.replace("  %unused = const f32[] 1.0\n", ""),
        );
        let error = module.insert_copy(main).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the module already has a function `@main`"
        );
        let mut empty = Module::new();
        empty.insert_copy(&copied).unwrap();
        assert_eq!(empty.op_count(), main.op_count());
    }
}
