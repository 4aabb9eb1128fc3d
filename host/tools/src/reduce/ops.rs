//! Removal of ops, parameters and constants from a function, which stays valid.

use passdock_abi::{AttrKind, ConstId, DType, OpId, SymbolId, TypeKind, Value, ValueId};
use passdock_ir::edit::NewPort;
use passdock_ir::{ConstantData, Function, Module, Payload};
use rustc_hash::FxHashSet;

use crate::queries::{function_results, set_results, unused_constants};

/// The replacement of a removed op's results.
#[derive(Clone, Copy)]
pub(super) enum Instead {
    /// A new parameter of the function. Values that become unused are added to the function's results.
    ParameterAndResult,
    /// A new parameter of the function. The function's results don't change.
    Parameter,
    /// An operand of the same type. An op without one isn't removed.
    Operand,
}

/// Returns the ops of a function, including nested ones, without terminators.
pub(super) fn ops(f: &Function) -> Vec<OpId> {
    let ops = f.walk(f.body());
    ops.filter(|&op| !f.is_terminator(op)).collect()
}

/// Removes all ops except `kept`, each with the ops nested in it.
pub(super) fn keep_ops(f: &mut Function, kept: &[OpId], instead: Instead) -> Option<()> {
    let all = ops(f);
    let kept: FxHashSet<OpId> = kept.iter().copied().collect();
    let mut used: Vec<ValueId> = Vec::new();
    if matches!(instead, Instead::ParameterAndResult) {
        let kept = all.iter().filter(|op| kept.contains(op));
        let in_body = kept.filter(|op| f.op(**op).parent == f.body());
        let results = in_body.flat_map(|&op| f.results(op));
        used.extend(results.filter(|&result| f.value(result).use_count > 0));
    }
    // In reverse order, so that the users of an op are removed before it.
    for op in all.into_iter().rev() {
        if kept.contains(&op) || f.live_op(op).is_err() {
            continue;
        }
        match instead {
            Instead::Operand => bypass(f, op),
            _ => cut(f, op)?,
        }
    }
    used.retain(|&value| f.value(value).use_count == 0);
    add_results(f, &used)
}

/// Whether a model can run with arbitrary elements of a value: a float tensor of known rank.
pub(super) fn may_be_parameter(f: &Function, value: ValueId) -> bool {
    let id = f.value(value).ty;
    let is_float = |dtype| [DType::F16, DType::BF16, DType::F32, DType::F64].contains(&dtype);
    let ty = f.live_type(id).ok();
    f.shape(id).is_some() && ty.is_some_and(|ty| ty.kind == TypeKind::TENSOR && is_float(ty.dtype))
}

/// Adds values to the results, in exchange for results that are parameters.
pub(super) fn add_results(f: &mut Function, values: &[ValueId]) -> Option<()> {
    let Some(mut results) = function_results(f).filter(|_| !values.is_empty()) else {
        return Some(());
    };
    results.retain(|(value, ..)| f.value(*value).flags & Value::KIND != Value::ARG);
    for &value in values {
        let Value { name, ty, .. } = *f.value(value);
        let name = name.option().unwrap_or_else(|| f.fresh_name("result"));
        results.push((value, f.text(name).to_owned(), ty));
    }
    set_results(f, &results).ok()
}

/// Removes an op, and replaces its used results with parameters.
pub(super) fn cut(f: &mut Function, op: OpId) -> Option<()> {
    let results: Vec<ValueId> = f.results(op).collect();
    let mut named: Vec<(ValueId, SymbolId)> = Vec::new();
    for result in results {
        let value = f.value(result);
        let (ty, name) = (value.ty, value.name);
        if value.use_count == 0 {
            continue;
        }
        let param = f.add_arg(f.body(), &NewPort { name: "", ty }).ok()?;
        f.replace_uses(result, param).ok()?;
        named.push((param, name));
    }
    f.erase_op(op).ok()?;
    // The names of the op's results are free now.
    named
        .into_iter()
        .try_for_each(|(param, name)| rename(f, param, name))
}

/// Renames a value to a name that another value had.
fn rename(f: &mut Function, value: ValueId, name: SymbolId) -> Option<()> {
    let Some(name) = name.option() else {
        return Some(());
    };
    let name = f.text(name).to_owned();
    f.set_name(value, &name).ok()
}

/// Replaces an op with its operands, if each result has one of its type.
fn bypass(f: &mut Function, op: OpId) {
    let results: Vec<ValueId> = f.results(op).collect();
    let operands: Vec<ValueId> = f.operands(op).iter().map(|slot| slot.value).collect();
    let replacement = |&result: &ValueId| {
        let Value { ty, use_count, .. } = *f.value(result);
        if use_count == 0 {
            return Some(ValueId::NONE);
        }
        let mut operands = operands.iter().copied();
        operands.find(|value| value.is_some() && f.value(*value).ty == ty)
    };
    let replacements: Option<Vec<ValueId>> = results.iter().map(replacement).collect();
    if let Some(replacements) = replacements {
        // An op whose replacement is rejected stays.
        _ = f.replace_op_with(op, &replacements);
    }
}

/// Returns the unused parameters.
pub(super) fn unused_params(f: &Function) -> Vec<ValueId> {
    let params = f.args(f.body());
    params
        .filter(|&param| f.value(param).use_count == 0)
        .collect()
}

/// Erases the unused constants except `but`. A constant that can't be erased stays.
pub(super) fn erase_unused(f: &mut Function, but: &FxHashSet<ConstId>) {
    for id in unused_constants(f) {
        if !but.contains(&id) {
            _ = f.erase_constant(id);
        }
    }
}

/// Returns the constants that text abbreviates and that can be filled with one element.
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

/// Fills a constant with its first element, as a splat.
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
    // A parameter's default isn't a value by itself.
    if f.value(record.value).flags & Value::KIND != Value::CONST {
        return f.set_default(record.value, record.ty, splat).ok().map(drop);
    }
    let name = f.value(record.value).name;
    let new = f.add_constant(record.ty, splat, record.region, "").ok()?;
    f.replace_uses(record.value, new).ok()?;
    f.erase_constant(id).ok()?;
    rename(f, new, name)
}

/// Returns the non-region attributes of ops, and the attributes of the function.
pub(super) fn attrs(f: &Function) -> Vec<(OpId, SymbolId)> {
    let is_region = |kind: AttrKind| matches!(kind, AttrKind::REGION | AttrKind::REGIONS);
    let attrs_of = |op: OpId| {
        let attrs = f.attrs(op).iter().filter(move |attr| !is_region(attr.kind));
        attrs.map(move |attr| (op, attr.name))
    };
    let ops = f.walk(f.body()).chain([OpId::NONE]);
    ops.flat_map(attrs_of).collect()
}

/// Returns the names of all callees. A function with callers can't change its parameters.
pub(super) fn called(module: &Module) -> FxHashSet<SymbolId> {
    let functions = module.functions();
    let callees = functions.flat_map(|f| f.walk(f.body()).map(move |op| f.op(op).name));
    callees.collect()
}
