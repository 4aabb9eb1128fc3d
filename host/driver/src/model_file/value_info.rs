//! Declared types of a model's values: an ONNX graph's `value_info`.

use passdock_abi::{Constant, OpId, TypeId, TypeKind, ValueId};
use passdock_ir::{Function, Module};
use rustc_hash::FxHashSet;

/// Declares the known types of all values of the main graph and its subgraphs. Inputs, outputs and initializers are
/// left out, because their types are stored elsewhere. Local functions are skipped: the types of their values differ
/// between calls.
pub(crate) fn declare_types(module: &mut Module) {
    let Some(main) = module.function_named("main").map(|f| f.name()) else {
        return;
    };
    let Some(f) = module.function_mut(main) else {
        return;
    };
    for value in undeclared(f) {
        // Declaring the type of a live value can't fail.
        _ = f.declare_type(value);
    }
}

fn undeclared(f: &Function) -> Vec<ValueId> {
    let yielded: FxHashSet<ValueId> = yielded(f).collect();
    let results = f.walk(f.body()).flat_map(|op| f.results(op));
    let nodes = f
        .live_constants()
        .filter(|(_, constant)| constant.flags & Constant::NODE != 0);
    let constants = nodes.filter_map(|(_, constant)| constant.value.option());
    let values = results.chain(constants).filter(|value| {
        f.is_present(*value) && !yielded.contains(value) && is_known(f, f.value(*value).ty)
    });
    values.collect()
}

/// Returns the op results that graphs yield.
fn yielded(f: &Function) -> impl Iterator<Item = ValueId> {
    let ends = |op: &OpId| f.terminator(f.op(*op).parent) == Some(*op);
    let ends = f.walk(f.body()).filter(ends);
    ends.flat_map(move |op| {
        let parent = f.op(op).parent;
        let values = f.operands(op).iter().map(|slot| slot.value);
        values.filter(move |value| value.is_some() && f.region_of(*value) == parent)
    })
}

/// Returns `true` if ONNX can represent a type. Element types must be known.
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
