//! Taking ops, parameters and constants out of a function so that what is left is valid.

use passdock_abi::{AttrKind, ConstId, DType, OpId, SymbolId, TypeId, Value, ValueId, symbol};
use passdock_ir::edit::NewPort;
use passdock_ir::{ConstantData, Function, Module, Payload};
use rustc_hash::FxHashSet;

use crate::queries::{callee, unused_constants};

/// The stand-in for the results of an op that goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Instead {
    /// A parameter of the function, which it gets for that. What nobody uses then becomes a result.
    ParameterAndResult,
    /// A parameter of the function; its results stay.
    Parameter,
    /// An operand of the same type; an op without one stays.
    Operand,
}

/// The ops of a function, nested ones too, without terminators.
pub(super) fn ops(f: &Function) -> Vec<OpId> {
    let is_op = |op: &OpId| !matches!(f.op(*op).name, symbol::RETURN | symbol::YIELD);
    f.walk(f.body()).filter(is_op).collect()
}

/// Takes out the ops that aren't kept. An op goes with all that is nested in it.
pub(super) fn keep_ops(f: &mut Function, kept: &[OpId], instead: Instead) -> Option<()> {
    let used = match instead {
        Instead::ParameterAndResult => used_results(f, kept),
        _ => Vec::new(),
    };
    let kept: FxHashSet<OpId> = kept.iter().copied().collect();
    // From the end on, so that what goes doesn't need what goes, too.
    for op in ops(f).into_iter().rev() {
        if kept.contains(&op) || f.live_op(op).is_err() {
            continue;
        }
        match instead {
            Instead::ParameterAndResult | Instead::Parameter => cut(f, op)?,
            Instead::Operand => bypass(f, op),
        }
    }
    let free = used
        .into_iter()
        .filter(|&value| f.value(value).use_count == 0);
    let free: Vec<ValueId> = free.collect();
    give_out(f, &free)
}

/// The results of ops of the function's body that others use.
fn used_results(f: &Function, ops: &[OpId]) -> Vec<ValueId> {
    let ops = ops.iter().filter(|&&op| f.op(op).parent == f.body());
    let results = ops.flat_map(|&op| f.results(op));
    results
        .filter(|&result| f.value(result).use_count > 0)
        .collect()
}

/// A result of a function: the value, its name and its type.
pub(super) type FunctionResult = (ValueId, String, TypeId);

/// The results of a function.
pub(super) fn results(f: &Function) -> Option<Vec<FunctionResult>> {
    let slots = f.operands(f.terminator(f.body())?).iter();
    let name = |name: SymbolId| name.option().map_or("", |name| f.text(name)).to_owned();
    let results = slots.zip(f.ports(f.body()));
    let results = results.map(|(slot, port)| (slot.value, name(port.name), port.ty));
    Some(results.collect())
}

pub(super) fn set_results(f: &mut Function, results: &[FunctionResult]) -> Option<()> {
    let values: Vec<ValueId> = results.iter().map(|(value, ..)| *value).collect();
    let ports = results
        .iter()
        .map(|(_, name, ty)| NewPort { name, ty: *ty });
    let ports: Vec<NewPort<'_>> = ports.collect();
    f.set_results(f.body(), &values, &ports).ok()
}

/// Makes values results, in place of parameters that are.
pub(super) fn give_out(f: &mut Function, values: &[ValueId]) -> Option<()> {
    if values.is_empty() {
        return Some(());
    }
    let Some(mut results) = results(f) else {
        return Some(());
    };
    results.retain(|(value, ..)| f.value(*value).flags & Value::KIND != Value::ARG);
    for &value in values {
        let Value { name, ty, .. } = *f.value(value);
        let name = match name.is_some() {
            true => name,
            false => f.fresh_name("result"),
        };
        results.push((value, f.text(name).to_owned(), ty));
    }
    set_results(f, &results)
}

/// Takes an op out: parameters stand for what others use of its results.
pub(super) fn cut(f: &mut Function, op: OpId) -> Option<()> {
    let results: Vec<ValueId> = f.results(op).collect();
    let mut named: Vec<(ValueId, SymbolId)> = Vec::new();
    for result in results {
        let Value {
            ty,
            name,
            use_count,
            ..
        } = *f.value(result);
        if use_count == 0 {
            continue;
        }
        let param = f.add_arg(f.body(), &NewPort { name: "", ty }).ok()?;
        f.replace_uses(result, param).ok()?;
        named.push((param, name));
    }
    f.erase_op(op).ok()?;
    // Its name is free now.
    for (param, name) in named {
        if name.is_some() {
            let name = f.text(name).to_owned();
            f.set_name(param, &name).ok()?;
        }
    }
    Some(())
}

/// Leaves an op that nothing can stand for.
fn bypass(f: &mut Function, op: OpId) {
    let results: Vec<ValueId> = f.results(op).collect();
    let operands: Vec<ValueId> = f.operands(op).iter().map(|slot| slot.value).collect();
    let stand_in = |&result: &ValueId| {
        let Value { ty, use_count, .. } = *f.value(result);
        if use_count == 0 {
            return Some(ValueId::NONE);
        }
        let operands = operands.iter().copied();
        let mut alike = operands.filter(|value| value.is_some() && f.value(*value).ty == ty);
        alike.next()
    };
    let instead: Option<Vec<ValueId>> = results.iter().map(stand_in).collect();
    if let Some(instead) = instead {
        // Refused, the op stays.
        _ = f.replace_op_with(op, &instead);
    }
}

/// The parameters that nobody uses.
pub(super) fn unused_params(f: &Function) -> Vec<ValueId> {
    let params = f.args(f.body());
    params
        .filter(|&param| f.value(param).use_count == 0)
        .collect()
}

/// Erases the unused constants that aren't among some; one that can't be erased stays.
pub(super) fn erase_unused(f: &mut Function, but: &FxHashSet<ConstId>) {
    for id in unused_constants(f) {
        if !but.contains(&id) {
            _ = f.erase_constant(id);
        }
    }
}

/// The constants of more elements than text shows, as far as one element can stand for all.
pub(super) fn large_constants(f: &Function) -> Vec<ConstId> {
    let large = f.live_constants().filter(|(id, constant)| {
        let data = f.constant_data(*id);
        let is_value = constant.value.is_some();
        let dtype = f.ty(constant.ty).dtype;
        let whole = dtype.bits() >= 8 && dtype != DType::STRING;
        let is_splat = matches!(data.payload(), Payload::Splat { .. });
        is_value && whole && !is_splat && data.len() > 64 * u64::from(dtype.bits() / 8)
    });
    large.map(|(id, _)| id).collect()
}

/// Fills a constant with its first element.
pub(super) fn flatten(f: &mut Function, id: ConstId) -> Option<()> {
    let record = *f.live_constant(id).ok()?;
    let dtype = f.ty(record.ty).dtype;
    let size = dtype.bits() as usize / 8;
    let data = f.constant_data(id);
    let splat = ConstantData::new(Payload::Splat {
        dtype,
        element: data.bytes().ok()?.get(..size)?.into(),
        count: data.len() / size as u64,
    });
    // A parameter's default is no value of its own.
    if f.value(record.value).flags & Value::KIND != Value::CONST {
        return f.set_default(record.value, record.ty, splat).ok().map(drop);
    }
    let name = f.value(record.value).name;
    let new = f.add_constant(record.ty, splat, record.region, "").ok()?;
    f.replace_uses(record.value, new).ok()?;
    f.erase_constant(id).ok()?;
    if name.is_some() {
        let name = f.text(name).to_owned();
        f.set_name(new, &name).ok()?;
    }
    Some(())
}

/// The attributes of ops that aren't regions, and those of the function itself.
pub(super) fn attrs(f: &Function) -> Vec<(OpId, SymbolId)> {
    let is_region = |kind: AttrKind| matches!(kind, AttrKind::REGION | AttrKind::REGIONS);
    let of = |op: OpId| {
        let attrs = f.attrs(op).iter().filter(move |attr| !is_region(attr.kind));
        attrs.map(move |attr| (op, attr.name))
    };
    let ops = f.walk(f.body()).chain([OpId::NONE]);
    ops.flat_map(of).collect()
}

/// Whether anything calls a function: its parameters are the callers' business, too.
pub(super) fn is_called(module: &Module, name: SymbolId) -> bool {
    let mut functions = module.functions();
    functions.any(|f| f.walk(f.body()).any(|op| callee(f, op) == Some(name)))
}
