//! Queries of functions that more than one tool needs.

use passdock_abi::{AttrKind, ConstId, OpId, SymbolId, TypeId, Value, ValueId, symbol};
use passdock_ir::edit::NewPort;
use passdock_ir::{Edit, Function};

/// Returns the constants that nothing uses.
pub(crate) fn unused_constants(f: &Function) -> Vec<ConstId> {
    let unused = f.live_constants().filter(|(_, constant)| {
        let value = constant.value.option().map(|value| f.value(value));
        value.is_some_and(|v| v.flags & Value::KIND == Value::CONST && v.use_count == 0)
    });
    unused.map(|(id, _)| id).collect()
}

/// Returns the name of the function that an op calls, if it calls one: a `call` has it as an attribute, another op
/// is named like it.
pub(crate) fn callee(f: &Function, op: OpId) -> Option<SymbolId> {
    let name = f.op(op).name;
    if name != symbol::CALL {
        return Some(name);
    }
    let attr = f.attr(op, symbol::CALLEE)?;
    let text = (attr.kind == AttrKind::STRING).then(|| f.bytes_in(attr.list))?;
    f.symbols().find(std::str::from_utf8(text).ok()?)
}

/// A result of a function: the value, its name and its type.
pub(crate) type FunctionResult = (ValueId, String, TypeId);

/// Returns the results of a function.
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
