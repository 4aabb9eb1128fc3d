//! The inputs and outputs of a group, and the call that replaces it.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::AttrKind;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record::{Capture, Constant};

use super::{FunctionAttrs, MAX_INSIDE};
use crate::shared::read::{after, ancestor_in, ops_of};

/// The ops of a group, and the values that cross its boundary.
pub(crate) struct Plan {
    /// The ops in program order, and the index of each.
    pub(super) ops: Vec<OpId>,
    pub(super) members: HashMap<OpId, usize>,
    /// The values that become operands of the call.
    pub(super) inputs: Vec<ValueId>,
    /// The constants that move into the function, in order of first use.
    pub(super) constants: Vec<ValueId>,
    /// The results that other ops use.
    pub(crate) outputs: Vec<ValueId>,
    /// The attribute parameters that the ops refer to.
    pub(super) params: Vec<(SymbolId, AttrKind)>,
    /// Whether an op has regions.
    pub(super) has_regions: bool,
    /// The ops between the group's ops that use its results, in program order.
    trailing: Vec<OpId>,
    /// Whether no value leaves the group and returns through other ops.
    pub(super) is_convex: bool,
    most_inside: u64,
}

impl Plan {
    /// Creates a plan for ops of one region, in any order.
    pub(super) fn new(f: &Function, ops: &[OpId], most_inside: u64) -> Plan {
        let mut ops = ops.to_vec();
        sort(f, &mut ops);
        Plan::from_ops(f, ops, Vec::new(), None, most_inside)
    }

    /// Creates a plan for all ops of a region except the terminator. The region's arguments are the first inputs, and
    /// its constants move along.
    pub(crate) fn from_region(f: &Function, region: RegionId) -> Plan {
        Plan::from_ops(
            f,
            ops_of(f, region),
            f.args(region).to_vec(),
            Some(region),
            0,
        )
    }

    fn from_ops(
        f: &Function,
        ops: Vec<OpId>,
        inputs: Vec<ValueId>,
        region: Option<RegionId>,
        most_inside: u64,
    ) -> Plan {
        let mut plan = Plan {
            ops: Vec::new(),
            members: ops.iter().copied().zip(0..).collect(),
            inputs,
            constants: Vec::new(),
            outputs: Vec::new(),
            params: Vec::new(),
            has_regions: false,
            trailing: Vec::new(),
            is_convex: true,
            most_inside,
        };
        let (mut seen, mut nested) = (HashSet::new(), HashSet::from_iter(region));
        for &op in &ops {
            plan.record_inputs(f, op, &mut seen, &nested);
            for &region in f.regions(op) {
                plan.has_regions = true;
                nested.insert(region);
                let inside: Vec<OpId> = f.iter_in(region).collect();
                nested.extend(inside.iter().flat_map(|&op| f.regions(op)));
                for op in inside {
                    plan.record_inputs(f, op, &mut seen, &nested);
                }
            }
        }
        for &op in &ops {
            for &value in f.results(op) {
                if plan.is_used_outside(f, op, value) {
                    plan.outputs.push(value);
                }
            }
        }
        plan.ops = ops;
        let trailing = plan.between(f);
        plan.is_convex = trailing.is_some();
        plan.trailing = trailing.unwrap_or_default();
        plan
    }

    /// Records the values and attribute parameters that an op needs from outside the group.
    fn record_inputs(
        &mut self,
        f: &Function,
        op: OpId,
        seen: &mut HashSet<ValueId>,
        nested: &HashSet<RegionId>,
    ) {
        for value in f.operands(op) {
            let producer = f.defining_op(value);
            let is_inside = producer.is_some_and(|producer| {
                self.members.contains_key(&producer) || nested.contains(&f.parent_region(producer))
            });
            let region = f.arg_region(value);
            if value.is_none()
                || is_inside
                || region.is_some_and(|region| nested.contains(&region))
                || !seen.insert(value)
            {
                continue;
            }
            let constant = f.constant(value).and_then(|id| f.constant_record(id));
            match constant {
                Some(record) if nested.contains(&record.region) => {}
                // Users of the model may override constants that are also inputs.
                Some(record) if record.flags & Constant::KEPT != 0 => self.inputs.push(value),
                Some(_) if has_at_most(f, value, self.most_inside) => self.constants.push(value),
                _ => self.inputs.push(value),
            }
        }
        for (_, attr) in f.attrs(op) {
            if let Attr::Reference(param, kind) = attr
                && !self.params.iter().any(|(known, _)| *known == param)
            {
                self.params.push((param, kind));
            }
        }
    }

    fn is_used_outside(&self, f: &Function, op: OpId, value: ValueId) -> bool {
        let region = f.parent_region(op);
        f.iter_uses(value)
            .any(|one| !self.members.contains_key(&ancestor_in(f, one.op, region)))
    }

    /// Returns the ops before the last one that depend on the outputs; `None` if the group depends on one of them.
    fn between(&self, f: &Function) -> Option<Vec<OpId>> {
        let &last = self.ops.last()?;
        let region = f.parent_region(last);
        let mut found = HashSet::new();
        let mut pending = self.outputs.clone();
        while let Some(value) = pending.pop() {
            let producer = f.defining_op(value);
            for one in f.iter_uses(value) {
                let user = ancestor_in(f, one.op, region);
                if self.members.contains_key(&user) {
                    if producer.is_some_and(|op| !self.members.contains_key(&op)) {
                        return None;
                    }
                } else if f.is_before(user, last) && found.insert(user) {
                    pending.extend(f.results(user));
                }
            }
        }
        let mut found: Vec<OpId> = found.into_iter().collect();
        sort(f, &mut found);
        Some(found)
    }

    /// Returns the inner values: results that no other op uses, in order.
    pub(super) fn inner<'f>(&'f self, f: &'f Function) -> impl Iterator<Item = ValueId> + 'f {
        let outputs: HashSet<ValueId> = self.outputs.iter().copied().collect();
        let results = self.ops.iter().flat_map(|&op| f.results(op)).copied();
        results.filter(move |value| !outputs.contains(value))
    }

    /// Returns the names of the group's ops and values in the format of [`NAMES`](super::NAMES).
    pub(super) fn names(&self, f: &Function) -> Vec<Vec<u8>> {
        let locs = self.ops.iter().map(|&op| f.loc_name(op));
        let values = self.inner(f).chain(self.constants.iter().copied());
        let names = locs.chain(values.map(|value| f.value_name(value)));
        names
            .map(|name| name.unwrap_or("").as_bytes().to_vec())
            .collect()
    }

    /// Erases the large constants that moved into the function, if they are unused; otherwise the model would contain
    /// them twice.
    pub(super) fn erase_large(&self, f: &mut Function) -> Result<(), EditError> {
        for &value in &self.constants {
            let constant = f.constant(value);
            if let Some(constant) = constant.filter(|_| f.use_count(value) == 0)
                && !has_at_most(f, value, MAX_INSIDE)
            {
                f.erase_constant(constant)?;
            }
        }
        Ok(())
    }

    /// Creates the function.
    pub(crate) fn create(
        &self,
        m: &mut Module<'_>,
        holder: SymbolId,
        name: &str,
        attrs: &FunctionAttrs,
    ) -> Result<SymbolId, EditError> {
        let symbol = m.edit(holder)?.intern(name)?;
        m.create(name, FunctionKind::GRAPH, Some(holder.into()))?;
        let (f, created) = m.edit_both(holder, symbol)?;
        let body = created.body();
        let mut captures = Vec::with_capacity(self.inputs.len());
        for &value in &self.inputs {
            let ty = created.type_from(f, f.type_id(value))?;
            let param = created.add_arg(body, f.value_name(value).unwrap_or(""), ty)?;
            let replacement = param;
            captures.push(Capture { value, replacement });
        }
        for &(param, _) in &self.params {
            created.add_attr_param(param, None)?;
        }
        let copies = created.clone_ops_from(f, &self.ops, Position::end_of(body), &captures)?;
        let originals = self.ops.iter().flat_map(|&op| f.results(op));
        let copies: HashMap<ValueId, ValueId> = originals.copied().zip(copies).collect();
        let mut results = Vec::with_capacity(self.outputs.len());
        for &value in &self.outputs {
            let ty = match f.type_of(value).kind() {
                TypeKind::UNKNOWN => TypeId::NONE,
                _ => created.type_from(f, f.type_id(value))?,
            };
            results.push((f.value_name(value).unwrap_or(""), ty, copies[&value]));
        }
        created.set_named_results(body, &results)?;
        for (name, value) in attrs {
            created.set_function_attr(*name, value.clone())?;
        }
        Ok(symbol)
    }

    /// Replaces the ops with a call of the function.
    pub(crate) fn call(
        &self,
        f: &mut Function,
        function: SymbolId,
        attrs: FunctionAttrs,
    ) -> Result<OpId, EditError> {
        let types = self.outputs.iter().map(|&value| f.type_id(value));
        let mut call = OpBuilder::new(function)
            .operands(self.inputs.iter().copied())
            .results(types);
        for &(param, kind) in &self.params {
            call = call.attr(param, AttrValue::Reference(param, kind));
        }
        for (name, value) in attrs {
            call = call.attr(name, value);
        }
        let call = call.loc(f.fused_loc(&self.ops)?);
        let last = self.ops[self.ops.len() - 1];
        if f.results(last) == &self.outputs[..] {
            let created = f.replace_op(last, call)?;
            for &op in self.ops.iter().rev().skip(1) {
                f.erase_op(op)?;
            }
            return Ok(created);
        }
        let at = after(f, last);
        let call = f.create_op(call, at)?;
        // In reverse order, so that users move before the ops that they use.
        let mut trailing = at;
        for &op in self.trailing.iter().rev() {
            f.move_op(op, trailing)?;
            trailing = Position::before(op);
        }
        let results = f.results(call).iter().copied();
        let replacements: HashMap<ValueId, ValueId> =
            self.outputs.iter().copied().zip(results).collect();
        let mut named = Vec::new();
        for &op in self.ops.iter().rev() {
            for value in f.results(op).to_vec() {
                if let Some(&result) = replacements.get(&value) {
                    named.extend(f.value_name(value).map(|name| (result, name.to_owned())));
                    f.replace_uses(value, result)?;
                }
            }
            f.erase_op(op)?;
        }
        for (value, name) in named {
            f.set_value_name(value, &name)?;
        }
        Ok(call)
    }
}

/// Sorts ops of one region into program order.
fn sort(f: &Function, ops: &mut [OpId]) {
    ops.sort_by(|&a, &b| f.is_before(b, a).cmp(&f.is_before(a, b)));
}

/// Whether a constant has at most `most` elements.
fn has_at_most(f: &Function, value: ValueId, most: u64) -> bool {
    let count = f.type_of(value).element_count();
    count.is_some_and(|count| count <= most)
}
