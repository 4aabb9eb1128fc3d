//! Queries about functions that several tools use.

use passdock_abi::{ConstId, LocId, LocKind, OpId, SymbolId, TypeId, Value, ValueId};
use passdock_ir::edit::NewPort;
use passdock_ir::{Edit, Function};

/// Returns the unused constants.
pub(crate) fn unused_constants(f: &Function) -> Vec<ConstId> {
    let unused = f.live_constants().filter(|(_, constant)| {
        let value = constant.value.option().map(|value| f.value(value));
        value.is_some_and(|v| v.flags & Value::KIND == Value::CONST && v.use_count == 0)
    });
    unused.map(|(id, _)| id).collect()
}

/// Returns the names of the ONNX nodes at a location.
pub(crate) fn node_names(f: &Function, loc: LocId) -> impl Iterator<Item = &str> {
    let named = f.single_locs(loc).filter(|loc| loc.kind == LocKind::NAME);
    named
        .map(|loc| f.text(loc.name))
        .filter(|name| !name.is_empty())
}

/// Returns the operands of an op, and those of the ops nested in it.
pub(crate) fn operands_inside(f: &Function, op: OpId) -> impl Iterator<Item = ValueId> + '_ {
    let nested = f.regions_of(op).flat_map(|region| f.walk(region));
    let ops = std::iter::once(op).chain(nested);
    ops.flat_map(|op| f.operands(op)).map(|slot| slot.value)
}

/// A result of a function: the value, its name and its type.
pub(crate) type FunctionResult = (ValueId, String, TypeId);

/// Returns the results of a function; `None` if its body has no terminator.
pub(crate) fn function_results(f: &Function) -> Option<Vec<FunctionResult>> {
    let slots = f.operands(f.terminator(f.body())?).iter();
    let name = |name: SymbolId| name.option().map_or("", |name| f.text(name)).to_owned();
    let results = slots.zip(f.ports(f.body()));
    let results = results.map(|(slot, port)| (slot.value, name(port.name), port.ty));
    Some(results.collect())
}

/// Sets the results of a function.
pub(crate) fn set_results(f: &mut Function, results: &[FunctionResult]) -> Edit {
    let values: Vec<ValueId> = results.iter().map(|(value, ..)| *value).collect();
    let ports = results
        .iter()
        .map(|(_, name, ty)| NewPort { name, ty: *ty });
    let ports: Vec<NewPort<'_>> = ports.collect();
    f.set_results(f.body(), &values, &ports)
}
