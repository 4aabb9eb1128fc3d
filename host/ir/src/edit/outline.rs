//! Groups of ops of one region: their captured values, and outlining them into a function.

use passdock_abi::{
    AttrKind, ConstId, FunctionKind, OpId, Port, RegionId, SymbolId, TypeId, TypeKind, ValueId,
};
use rustc_hash::FxHashSet;

use super::{NewOp, NewPort};
use crate::error::{Edit, invalid, reject};
use crate::function::Function;
use crate::function::transfer::Transfer;

impl Function {
    /// Sorts ops in program order.
    ///
    /// # Errors
    /// If an op is erased, is a terminator, is duplicated, or is in another region than the first.
    pub(crate) fn siblings(&self, ops: &[OpId], what: &str) -> Edit<Vec<OpId>> {
        for &op in ops {
            let region = self.inner_op(op, what)?.parent;
            if region != self.op(ops[0]).parent {
                reject!(
                    "cannot {what} {} and {} together: they are in different regions",
                    self.describe_op(ops[0]),
                    self.describe_op(op)
                );
            }
        }
        let mut sorted = ops.to_vec();
        sorted.sort_unstable_by_key(|&op| self.op(op).order);
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let name = self.describe_op(twice[0]);
            invalid!("{name} is listed twice");
        }
        Ok(sorted)
    }

    /// Iterates over ops and their nested ops, in pre-order.
    pub fn with_nested<'f>(&'f self, ops: &'f [OpId]) -> impl Iterator<Item = OpId> + 'f {
        ops.iter().flat_map(|&op| {
            let nested = self.regions_of(op).flat_map(|region| self.walk(region));
            std::iter::once(op).chain(nested)
        })
    }

    /// Returns the values that ops of one region and their nested ops use from outside, without duplicates, in the
    /// order of their first use.
    pub(crate) fn needed(&self, ops: &[OpId]) -> Vec<ValueId> {
        let members: FxHashSet<OpId> = ops.iter().copied().collect();
        let mut inside: FxHashSet<RegionId> = FxHashSet::default();
        let (mut seen, mut needed) = (FxHashSet::default(), Vec::new());
        for user in self.with_nested(ops) {
            inside.extend(self.regions_of(user));
            for value in self.operands(user).iter().map(|slot| slot.value) {
                if value.is_none() || !seen.insert(value) || inside.contains(&self.region_of(value))
                {
                    continue;
                }
                let producer = self.defining_op(value);
                if !producer.is_some_and(|producer| members.contains(&producer)) {
                    needed.push(value);
                }
            }
        }
        needed
    }

    /// Returns the first of the ops and their nested ops that refers to an attribute parameter of the function, and the
    /// parameter.
    pub(crate) fn referring(&self, ops: &[OpId]) -> Option<(OpId, SymbolId)> {
        self.with_nested(ops).find_map(|op| {
            let mut attrs = self.attrs(op).iter();
            let attr = attrs.find(|attr| attr.kind == AttrKind::REFERENCE)?;
            Some((op, SymbolId(attr.bits as u32)))
        })
    }
}

/// The result of outlining.
pub struct OutlinedOps {
    /// The new function.
    pub function: Function,
    /// The op that calls it.
    pub call: OpId,
}

/// Ops to outline, with their inputs and outputs.
struct Plan {
    /// The ops, in program order.
    ops: Vec<OpId>,
    region: RegionId,
    /// The op before which the call is inserted; NONE for the end of the region.
    before: OpId,
    /// The operands of the call.
    inputs: Vec<ValueId>,
    /// The constants that only these ops use.
    constants: Vec<ConstId>,
    /// The results with uses outside.
    outputs: Vec<ValueId>,
    /// Ops between the outlined ops that depend on `outputs`, in program order: they move after the call.
    trailing: Vec<OpId>,
}

impl Function {
    /// Moves ops into a new function, and inserts a call after the definitions of their operands.
    ///
    /// The function is named `name`, which no function of the module may have, and has this function's opsets. Its
    /// parameters are the values that the ops use and don't define, in order of their first use. Constants without
    /// other uses move into the function. Its results are the ops' results that have uses outside. The ops keep
    /// their locations; the call has none.
    ///
    /// # Errors
    /// If the ops are in different regions, include a terminator or refer to attribute parameters; if an op between
    /// them depends on one and is needed by another; if no result is used outside; or if this isn't a graph function.
    pub fn outline(&mut self, ops: &[OpId], name: SymbolId) -> Edit<OutlinedOps> {
        let plan = self.plan_outline(ops)?;
        let types: Vec<TypeId> = plan.outputs.iter().map(|&v| self.value(v).ty).collect();
        let call = NewOp {
            operands: &plan.inputs,
            result_types: &types,
            ..NewOp::new(name)
        };
        self.check_new(&call, plan.region, plan.before)?;
        let function = self.outlined(&plan, name);
        let call = self.insert_op(&call, plan.region, plan.before);
        let results: Vec<ValueId> = self.results(call).collect();
        for (&from, &to) in plan.outputs.iter().zip(&results) {
            self.replace_result(from, to);
        }
        for &op in &plan.trailing {
            self.unlink_op(op);
            self.link_op(op, plan.region, plan.before);
            self.touch_op(op);
        }
        // Users are erased before their operands.
        for &op in plan.ops.iter().rev() {
            self.erase_checked(op);
        }
        for &constant in &plan.constants {
            self.erase_constant(constant)?;
        }
        Ok(OutlinedOps { function, call })
    }

    /// Checks ops to outline and plans the outlining.
    fn plan_outline(&self, ops: &[OpId]) -> Edit<Plan> {
        if self.kind != FunctionKind::GRAPH {
            reject!("only ops of graph functions can be outlined");
        }
        let ops = self.siblings(ops, "outline")?;
        let Some(&last) = ops.last() else {
            invalid!("no ops to outline");
        };
        if let Some((op, param)) = self.referring(&ops) {
            reject!(
                "cannot outline {}: it refers to attribute parameter `{}` of its function",
                self.describe_op(op),
                self.text(param)
            );
        }
        let inside: FxHashSet<OpId> = self.with_nested(&ops).collect();
        let is_inside = |user| inside.contains(&user);
        let uses_inside = |value| self.uses(value).all(|(_, slot)| is_inside(slot.user));
        let (mut inputs, mut constants) = (Vec::new(), Vec::new());
        for value in self.needed(&ops) {
            match self.as_constant(value) {
                Some(constant) if uses_inside(value) => constants.push(constant),
                _ => inputs.push(value),
            }
        }
        let results = ops.iter().flat_map(|&op| self.results(op));
        let outputs: Vec<ValueId> = results.filter(|&value| !uses_inside(value)).collect();
        if outputs.is_empty() {
            reject!(
                "cannot outline the ops up to {}: no other op uses their results",
                self.describe_op(last)
            );
        }
        let record = self.op(last);
        let trailing = self.between(&ops, last, &outputs)?;
        Ok(Plan {
            region: record.parent,
            before: record.next,
            inputs,
            constants,
            outputs,
            trailing,
            ops,
        })
    }

    /// Returns the ops before `last` that depend on the outputs of outlined ops, in program order. An error if an
    /// outlined op depends on one of them.
    fn between(&self, ops: &[OpId], last: OpId, outputs: &[ValueId]) -> Edit<Vec<OpId>> {
        let members: FxHashSet<OpId> = ops.iter().copied().collect();
        let (region, end) = (self.op(last).parent, self.op(last).order);
        let mut found = FxHashSet::default();
        let mut pending = outputs.to_vec();
        while let Some(value) = pending.pop() {
            for (_, slot) in self.uses(value) {
                let user = self.op_around(slot.user, region);
                let producer = self.defining_op(value);
                if members.contains(&user) {
                    if let Some(other) = producer.filter(|producer| !members.contains(producer)) {
                        reject!(
                            "cannot outline the ops: {} uses their results, and its result {} is used by {}; outline \
                             it as well, or only the ops before or after it",
                            self.describe_op(other),
                            self.describe(value),
                            self.describe_op(user)
                        );
                    }
                } else if self.op(user).order < end && found.insert(user) {
                    pending.extend(self.results(user));
                }
            }
        }
        let mut found: Vec<OpId> = found.into_iter().collect();
        found.sort_unstable_by_key(|&op| self.op(op).order);
        Ok(found)
    }

    /// Builds the outlined function.
    fn outlined(&self, plan: &Plan, name: SymbolId) -> Function {
        let mut created = Function::new(self.symbols.clone(), FunctionKind::GRAPH, name);
        for opset in &self.opsets {
            created.set_opset(opset.domain, opset.version);
        }
        let body = created.body;
        let mut copy = Transfer::new(Some(self), &mut created, RegionId::NONE, Default::default());
        for &value in &plan.inputs {
            let ty = copy.ty(self.value(value).ty);
            let param = copy.into.push_arg(body, &NewPort { name: "", ty });
            copy.take_name(value, param);
            copy.values.insert(value, param);
        }
        copy.list(&plan.ops, body, OpId::NONE);
        let values: Vec<ValueId> = plan
            .outputs
            .iter()
            .map(|value| copy.values[value])
            .collect();
        let ports = plan.outputs.iter().map(|&value| {
            let record = self.value(value);
            let is_known = self.ty(record.ty).kind != TypeKind::UNKNOWN;
            Port {
                name: record.name,
                ty: if is_known {
                    copy.ty(record.ty)
                } else {
                    TypeId::NONE
                },
                flags: Port::TOUCHED,
                reserved: 0,
            }
        });
        let ports: Vec<Port> = ports.collect();
        created.end_region(body, &values, &ports);
        created
    }
}
