//! Queries of functions that more than one tool needs.

use passdock_abi::{AttrKind, ConstId, OpId, SymbolId, Value, symbol};
use passdock_ir::Function;

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
