//! The ops of a function that may be computed in the low-precision type, and the float32 values between them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use passdock_plugin_api::Use;
use passdock_plugin_api::prelude::*;

use super::category::{self, Categories, Category};
use super::constants::Constants;
use super::operators::{self, Signature};
use super::{CAST, FLOAT, Low, ToMixedPrecision, trial};

/// An op, parameter or result that may be in the low-precision type.
pub(super) struct Member {
    pub(super) kind: Kind,
    pub(super) role: Role,
    /// The operands that change type with it, as indices in [`Flows::all`].
    pub(super) operands: Vec<u32>,
    /// Whether it was assigned the low-precision type.
    pub(super) low: bool,
}

/// The role of a member. Parameters and results of the model have the default role: they follow.
#[derive(Clone, Default)]
pub(super) struct Role {
    /// Whether the member is always in the low-precision type; otherwise it follows.
    pub(super) always: bool,
    /// Whether the member rounds its operands and computes in float32.
    pub(super) rounds: bool,
    signature: Rc<Signature>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Op(OpId),
    /// A parameter of the model.
    Param(ValueId),
    /// A result of the model, and the terminator of the body.
    Port(OpId),
}

/// The definition of a float32 value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Definition {
    Member(u32),
    /// A constant.
    Constant,
    /// A `Cast` of this low-precision value.
    Low(ValueId),
    /// A definition that is always float32.
    Float,
}

/// A float32 value that a member uses or defines.
pub(super) struct Flow {
    pub(super) value: ValueId,
    pub(super) from: Definition,
    /// The members that use it.
    pub(super) to: Vec<u32>,
    /// `Cast`s of the value to the low-precision type.
    pub(super) casts: Vec<OpId>,
    /// Whether it has other uses, which need float32.
    pub(super) floats: bool,
    /// The number of its uses by members and `Cast`s.
    known_uses: usize,
}

/// The members and values of a function.
pub(super) struct Flows {
    pub(super) members: Vec<Member>,
    pub(super) all: Vec<Flow>,
    by_value: HashMap<ValueId, u32>,
    by_op: HashMap<OpId, u32>,
    /// The `Cast`s to the low-precision type that are recorded with their operands.
    casts: HashSet<OpId>,
    /// The members that are results of the model, by index of the result.
    ports: HashMap<usize, u32>,
    pub(super) constants: Constants,
    pub(super) low: Low,
}

/// The classification of an operator.
#[derive(Clone)]
enum Named {
    Nothing,
    Cast,
    Member(Role),
    /// A vendor's operator, whose type rule must be tried.
    Tried(Role),
}

impl Flows {
    pub(super) fn new(
        f: &mut Function,
        cx: &PassContext,
        options: &ToMixedPrecision,
        categories: &Categories<'_>,
        low: Low,
    ) -> Result<Flows, PassError> {
        let mut flows = Flows {
            members: Vec::new(),
            all: Vec::new(),
            by_value: HashMap::new(),
            by_op: HashMap::new(),
            casts: HashSet::new(),
            ports: HashMap::new(),
            constants: Constants::new(low),
            low,
        };
        let is_free = !options.keep_io && f.function_name() == "main";
        if is_free {
            flows.add_params(f);
        }
        let mut names: HashMap<SymbolId, Named> = HashMap::new();
        for op in f.ops() {
            let name = f.symbol(op);
            let named = match names.get(&name) {
                Some(named) => named.clone(),
                None => {
                    let named = named(f, cx, op, options, categories, low);
                    names.insert(name, named.clone());
                    named
                }
            };
            match named {
                Named::Cast => flows.add_cast(f, op),
                _ if is_quantized(f, op) || reduces(f, op) => {}
                Named::Nothing => {}
                Named::Member(role) => flows.add_op(f, op, role),
                Named::Tried(mut role) => {
                    if let Some(signature) = trial::signature(f, cx, op, low)? {
                        role.signature = Rc::new(signature);
                        flows.add_op(f, op, role);
                    }
                }
            }
        }
        if is_free {
            flows.add_ports(f);
        }
        for flow in &mut flows.all {
            flow.floats = f.use_count(flow.value) > flow.known_uses;
        }
        Ok(flows)
    }

    /// Returns the member that a use of a value belongs to.
    pub(super) fn user(&self, used: Use) -> Option<&Member> {
        if let Some(&member) = self.by_op.get(&used.op) {
            let member = &self.members[member as usize];
            return Some(member).filter(|one| one.role.signature.operands.contains(used.index));
        }
        let port = &self.members[*self.ports.get(&used.index)? as usize];
        (port.kind == Kind::Port(used.op)).then_some(port)
    }

    /// Whether an op is a `Cast` that is recorded with its operand.
    pub(super) fn is_cast(&self, op: OpId) -> bool {
        self.casts.contains(&op)
    }

    /// Returns the member for a result of the model.
    pub(super) fn port(&self, index: usize) -> Option<&Member> {
        Some(&self.members[*self.ports.get(&index)? as usize])
    }

    /// Whether a value is defined in the low-precision type.
    pub(super) fn is_defined_low(&self, flow: &Flow) -> bool {
        match flow.from {
            Definition::Member(member) => {
                let member = &self.members[member as usize];
                member.low && !member.role.rounds
            }
            _ => false,
        }
    }

    fn add_params(&mut self, f: &Function) {
        for &param in f.params() {
            if is_float(f, param) && f.default_of(param).is_none() {
                let flow = self.flow(f, param);
                self.add(Kind::Param(param), Role::default(), vec![], vec![flow]);
            }
        }
    }

    fn add_ports(&mut self, f: &Function) {
        let Some(end) = f.terminator(f.body()) else {
            return;
        };
        let declared: Vec<TypeId> = f.ports(f.body()).map(|port| port.ty).collect();
        for (index, value) in f.operands(end).enumerate() {
            let declared = declared.get(index).copied().unwrap_or(TypeId::NONE);
            let is_float = declared.is_none() || f.ty(declared).dtype() == Some(DType::F32);
            if let (Some(&flow), true) = (self.by_value.get(&value), is_float) {
                let member = self.add(Kind::Port(end), Role::default(), vec![flow], vec![]);
                self.ports.insert(index, member);
            }
        }
    }

    fn add_op(&mut self, f: &Function, op: OpId, role: Role) {
        let signature = &role.signature;
        let listed = |(index, value): (usize, ValueId)| {
            (value.is_some() && signature.operands.contains(index)).then_some(value)
        };
        let operands: Vec<ValueId> = f.operands(op).enumerate().filter_map(listed).collect();
        let results = f.results(op).iter().enumerate();
        let results = results.filter(|(index, _)| signature.results.contains(*index));
        let results = results.map(|(_, result)| *result);
        let results: Vec<ValueId> = results.filter(|result| !f.is_absent(*result)).collect();
        let mut all = operands.iter().chain(&results);
        if operands.is_empty() || !all.all(|value| is_float(f, *value)) {
            return;
        }
        let operands = operands.iter().map(|value| self.flow(f, *value)).collect();
        let results = results.iter().map(|value| self.flow(f, *value)).collect();
        let member = self.add(Kind::Op(op), role, operands, results);
        self.by_op.insert(op, member);
    }

    fn add_cast(&mut self, f: &Function, op: OpId) {
        let (Some(operand), Some(to)) = (f.operand(op, 0), f.int(op, "to")) else {
            return;
        };
        let result = f.result(op, 0);
        let low = self.low.dtype;
        if f.dtype(operand) == Some(low) && to == FLOAT && is_float(f, result) {
            let flow = self.flow(f, result);
            self.all[flow as usize].from = Definition::Low(operand);
        }
        if !is_float(f, operand) {
            return;
        }
        // A yielded value must be defined in its region.
        let mut uses = f.iter_uses(result);
        if to == self.low.onnx && !uses.any(|used| f.is_terminator(used.op)) {
            let flow = self.flow(f, operand);
            // Casts of constants are left to constant folding.
            if self.all[flow as usize].from != Definition::Constant {
                self.all[flow as usize].casts.push(op);
                self.casts.insert(op);
                self.all[flow as usize].known_uses += 1;
            }
            return;
        }
        let signature = Signature {
            operands: operators::Slots::new(vec![true]),
            ..Signature::default()
        };
        let role = Role {
            signature: Rc::new(signature),
            ..Role::default()
        };
        self.add_op(f, op, role);
    }

    fn add(&mut self, kind: Kind, role: Role, operands: Vec<u32>, results: Vec<u32>) -> u32 {
        let number = self.members.len() as u32;
        for &operand in &operands {
            let flow = &mut self.all[operand as usize];
            flow.known_uses += 1;
            if flow.to.last() != Some(&number) {
                flow.to.push(number);
            }
        }
        for &result in &results {
            self.all[result as usize].from = Definition::Member(number);
        }
        self.members.push(Member {
            kind,
            role,
            operands,
            low: false,
        });
        number
    }

    /// Returns the flow of a value, and creates it if necessary.
    fn flow(&mut self, f: &Function, value: ValueId) -> u32 {
        let next = self.all.len() as u32;
        let number = *self.by_value.entry(value).or_insert(next);
        if number == next {
            self.all.push(Flow {
                value,
                from: match f.constant(value) {
                    Some(_) => Definition::Constant,
                    None => Definition::Float,
                },
                to: Vec::new(),
                casts: Vec::new(),
                floats: false,
                known_uses: 0,
            });
        }
        number
    }
}

pub(super) fn is_float(f: &Function, value: ValueId) -> bool {
    let ty = f.type_of(value);
    ty.is_tensor() && ty.dtype() == Some(DType::F32)
}

/// Whether an op is adjacent to a `DequantizeLinear` or `QuantizeLinear`. Runtimes compute such ops in integers.
fn is_quantized(f: &Function, op: OpId) -> bool {
    let mut operands = f.operands(op).filter_map(|operand| f.defining_op(operand));
    let mut results = f.results(op).iter().flat_map(|&result| f.iter_uses(result));
    operands.any(|producer| f.name(producer) == "onnx.DequantizeLinear")
        || results.any(|used| f.name(used.op) == "onnx.QuantizeLinear")
}

/// Whether an op scatters with a reduction, which ONNX Runtime doesn't support in low-precision types.
fn reduces(f: &Function, op: OpId) -> bool {
    let scatters = matches!(f.name(op), "onnx.ScatterElements" | "onnx.ScatterND");
    scatters
        && f.attr(op, "reduction")
            .is_some_and(|how| !matches!(how, Attr::String(b"none")))
}

/// Classifies the operator of an op.
fn named(
    f: &Function,
    cx: &PassContext,
    op: OpId,
    options: &ToMixedPrecision,
    categories: &Categories<'_>,
    low: Low,
) -> Named {
    let name = f.name(op);
    if f.traits(op).is_ambiguous() || f.callee(op).is_some() {
        return Named::Nothing;
    }
    if name == CAST {
        return Named::Cast;
    }
    let always = match categories.category(name) {
        Category::Never => return Named::Nothing,
        Category::Always => true,
        Category::Follow => false,
    };
    let Some(own) = name.strip_prefix("onnx.") else {
        return Named::Tried(Role {
            always,
            ..Role::default()
        });
    };
    let rounds = options.accumulate_float32 && category::accumulates(name);
    if rounds && !always {
        // An op that follows would need casts in both directions.
        return Named::Nothing;
    }
    let opset = f.opset("").unwrap_or(0);
    let Some(signature) = operators::signature(own, opset, low) else {
        if always || categories.is_named(name) {
            too_early(f, cx, op, own, opset, low);
        }
        return Named::Nothing;
    };
    // Before the statistics had a separate type parameter, they would be rounded.
    let is_rounded = own == "BatchNormalization" && signature.operands.count() > 1;
    if is_rounded && !categories.is_named(name) {
        return Named::Nothing;
    }
    Named::Member(Role {
        always,
        rounds,
        signature: Rc::new(signature.clone()),
    })
}

/// Emits a note if an operator supports the type only in later opsets.
fn too_early(f: &Function, cx: &PassContext, op: OpId, own: &str, opset: i64, low: Low) {
    let Some(first) = operators::first_opset(own, low).filter(|first| *first > opset) else {
        return;
    };
    let message = format!(
        "`{own}` ops stay in float32: {} requires opset {first}, but the function imports opset {opset}",
        low.name
    );
    let note = Diagnostic::note(message).code("relax::precision-opset");
    let help = format!("raise the opset with `relax.transform.RaiseOpset` and `to = {first}`");
    cx.emit(&note.at(OpSpan::name(op).within(f)).help(help));
}
