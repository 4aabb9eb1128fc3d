//! Types that a model's file declares beside the values: an ONNX graph's `value_info`.

use passdock_abi::{Constant, OpId, TypeId, TypeKind, Value, ValueId};
use passdock_ir::{Function, Module};
use rustc_hash::FxHashSet;

/// Has the types of all values of the main graph and of the graphs in it declared, as far as they are known. What a
/// graph takes and gives out says its types itself, an initializer its own. Functions of the model are left alone:
/// their values have other types in each call.
pub(crate) fn declare_types(module: &mut Module) {
    let Some(main) = module.function_named("main").map(|f| f.name()) else {
        return;
    };
    let Some(f) = module.function_mut(main) else {
        return;
    };
    for value in undeclared(f) {
        // A value that is there can be declared.
        _ = f.declare_type(value);
    }
}

fn undeclared(f: &Function) -> Vec<ValueId> {
    let given_out: FxHashSet<ValueId> = given_out(f).collect();
    let results = f.walk(f.body()).flat_map(|op| f.results(op));
    let nodes = f
        .live_constants()
        .filter(|(_, constant)| constant.flags & Constant::NODE != 0);
    let constants = nodes.filter_map(|(_, constant)| constant.value.option());
    let values = results.chain(constants).filter(|value| {
        let record = f.value(*value);
        record.flags & Value::ABSENT == 0 && !given_out.contains(value) && is_known(f, record.ty)
    });
    values.collect()
}

/// What the graphs give out of the ops in them.
fn given_out(f: &Function) -> impl Iterator<Item = ValueId> {
    let ends = |op: &OpId| f.terminator(f.op(*op).parent) == Some(*op);
    let ends = f.walk(f.body()).filter(ends);
    ends.flat_map(move |op| {
        let home = f.op(op).parent;
        let values = f.operands(op).iter().map(|slot| slot.value);
        values.filter(move |value| value.is_some() && f.home(*value) == home)
    })
}

/// Whether ONNX can say a type, down to its elements'.
fn is_known(f: &Function, ty: TypeId) -> bool {
    let Ok(record) = f.live_type(ty) else {
        return false;
    };
    match record.kind {
        TypeKind::TENSOR | TypeKind::SPARSE => record.dtype != passdock_abi::DType::NONE,
        TypeKind::SEQUENCE | TypeKind::OPTIONAL => f.items_of(record).all(|item| is_known(f, item)),
        _ => false,
    }
}
