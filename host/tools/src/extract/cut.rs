//! The removal of the ops outside of the part.

use passdock_abi::{OpId, SymbolId, TypeId, Value, ValueId};
use passdock_ir::edit::NewPort;
use passdock_ir::{EditFailure, Function, Module};
use rustc_hash::{FxHashMap, FxHashSet};

use super::find::Selection;
use crate::queries::{callee, unused_constants};

pub(super) fn cut(f: &mut Function, found: &Selection) -> Result<(), EditFailure> {
    let declared = declared_outputs(f);
    let stand_ins = stand_ins(f, &found.inputs)?;
    let given = |value: &ValueId| stand_ins.get(value).map_or(*value, |made| made.parameter);
    let values: Vec<ValueId> = found
        .outputs
        .iter()
        .map(|(value, _)| given(value))
        .collect();
    let ports = found.outputs.iter().map(|(value, name)| NewPort {
        name,
        ty: *declared
            .get(&(*value, name.clone()))
            .unwrap_or(&f.value(*value).ty),
    });
    let ports: Vec<NewPort<'_>> = ports.collect();
    f.set_results(f.body(), &values, &ports)?;
    erase_ops(f, &found.ops)?;
    for id in unused_constants(f) {
        f.erase_constant(id)?;
    }
    for (input, made) in &stand_ins {
        // Where its op is kept for other results, the parameter has the name all the same.
        if f.live_value(*input).is_ok() {
            f.set_name(*input, "")?;
        }
        // Not `set_name`: the model's output of this name, which is gone, would keep it taken.
        let name = f.symbols().intern(&made.name);
        f.import_name(made.parameter, name);
    }
    let mut kept: FxHashSet<ValueId> = found.inputs.iter().copied().collect();
    kept.extend(stand_ins.values().map(|made| made.parameter));
    let idle = |arg: &ValueId| f.value(*arg).use_count == 0 && !kept.contains(arg);
    let idle: Vec<ValueId> = f.args(f.body()).filter(idle).collect();
    f.remove_args(&idle)
}

/// The types of the outputs as the model declares them.
fn declared_outputs(f: &Function) -> FxHashMap<(ValueId, String), TypeId> {
    let Some(end) = f.terminator(f.body()) else {
        return FxHashMap::default();
    };
    let ports = f.operands(end).iter().zip(f.ports(f.body()));
    let typed = ports.filter(|(_, port)| port.ty.is_some() && port.name.is_some());
    let keyed = typed.map(|(slot, port)| ((slot.value, f.text(port.name).to_owned()), port.ty));
    keyed.collect()
}

/// The parameter that stands for a value inside the part.
struct StandIn {
    parameter: ValueId,
    name: String,
}

/// Gives the function a parameter for each input that is none.
fn stand_ins(
    f: &mut Function,
    inputs: &[ValueId],
) -> Result<FxHashMap<ValueId, StandIn>, EditFailure> {
    let mut made = FxHashMap::default();
    for &input in inputs {
        let record = *f.value(input);
        if record.flags & Value::KIND == Value::ARG {
            continue;
        }
        let name = record
            .name
            .option()
            .map_or("", |name| f.text(name))
            .to_owned();
        let port = NewPort {
            name: "",
            ty: record.ty,
        };
        let parameter = f.add_arg(f.body(), &port)?;
        f.replace_uses(input, parameter)?;
        made.insert(input, StandIn { parameter, name });
    }
    Ok(made)
}

/// Erases the body's ops that aren't kept, from the end on: what goes isn't used by what goes, too.
fn erase_ops(f: &mut Function, kept: &FxHashSet<OpId>) -> Result<(), EditFailure> {
    let end = f.terminator(f.body());
    let ops = f.ops_in(f.body());
    let gone = ops.filter(|op| !kept.contains(op) && Some(*op) != end);
    let gone: Vec<OpId> = gone.collect();
    for op in gone.into_iter().rev() {
        f.erase_op(op)?;
    }
    Ok(())
}

/// Drops the functions that `main` doesn't reach by calls.
pub(super) fn drop_uncalled(module: &mut Module, main: SymbolId) {
    let mut called: FxHashSet<SymbolId> = FxHashSet::default();
    let mut stack = vec![main];
    while let Some(name) = stack.pop() {
        let Some(f) = module.function(name) else {
            continue;
        };
        if called.insert(name) {
            stack.extend(f.walk(f.body()).filter_map(|op| callee(f, op)));
        }
    }
    module.retain(|f| called.contains(&f.name()));
}
