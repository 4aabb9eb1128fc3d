//! `relax.transform.CanonicalizeBindings`: propagates copies: uses of a copy become uses of the original.
//!
//! ```ir
//! fn @main(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) {
//!   %0 = onnx.Identity(%x) : f32[4]
//!   %1 = onnx.Relu(%0) : f32[4]
//!   return %1
//! }
//! →
//! fn @main(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) {
//!   %0 = onnx.Relu(%x) : f32[4]
//!   return %0
//! }
//! ```
//!
//! `tuple_get` of a `tuple` in the same function is a copy as well, and so is a `tuple` of all fields of another tuple.
//! A copy stays if a region yields it and export would have to add it again. That is the case if the original is a
//! parameter, a constant, a value from outside the region, or already yielded by the region. A copy of a constant also
//! stays if a user can't accept the constant; see FoldConstant.
//!
//! The model may declare more about a copy than about its original: a rank, a size, or a name for an unnamed size. That
//! information moves to the original if the original is an op's result in the same region. Otherwise, the copy stays,
//! as its users would lose information. Declared types of the function's outputs don't propagate, because runtimes
//! don't check them.
//!
//! Source: TVM `src/relax/transform/canonicalize_bindings.cc`.

use std::collections::HashMap;

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

use crate::shared::accept;
use crate::shared::read::unless_no_match;

pub(crate) fn canonicalize_bindings(f: &mut Function, cx: &PassContext) -> PassResult {
    let mut given = RegionResults::new(f);
    let copies = copies(f);
    let of_constants = of_constants(f, &copies);
    let needed = accept::needed_copies(f, cx, &of_constants);
    refine_from_copies(f, &copies)?;
    for op in f.walk(f.body()) {
        if let Some(original) = original(f, op)
            && !given.needs_copy(f, f.result(op, 0), original)
            && !needed.contains(&f.result(op, 0))
            && !declares_more(f, op, original)
        {
            let copy = f.result(op, 0);
            // The declared type of the copy may contradict that of the original.
            if unless_no_match(f.replace_op_with(op, &[original]))?.is_some() {
                given.replace(copy, original);
            }
        }
    }
    Ok(())
}

/// Returns the operand that an op copies, or `None` if the op does anything else.
fn original(f: &Function, op: OpId) -> Option<ValueId> {
    if f.result_count(op) != 1 {
        return None;
    }
    if f.traits(op).is_identity() {
        return f.operand(op, 0);
    }
    if f.name(op) == "tuple" {
        return rebuilt_tuple(f, op);
    }
    if f.name(op) != "tuple_get" {
        return None;
    }
    let tuple = f.defining_op(f.operand(op, 0)?)?;
    let index = usize::try_from(f.int(op, "index")?).ok()?;
    f.operand(tuple, index).filter(|_| f.name(tuple) == "tuple")
}

/// Returns the tuple that a `tuple` op rebuilds: its operands are all fields of that tuple, in order.
fn rebuilt_tuple(f: &Function, op: OpId) -> Option<ValueId> {
    let field = |(at, value)| {
        let get = f
            .defining_op(value)
            .filter(|&get| f.name(get) == "tuple_get")?;
        let tuple = f.operand(get, 0)?;
        (f.int(get, "index") == Some(at as i64)).then_some(tuple)
    };
    let mut fields = f.operands(op).enumerate().map(field);
    let tuple = fields.next()??;
    let ty = f.type_of(tuple);
    let whole = ty.kind() == TypeKind::TUPLE && ty.items().len() == f.operand_count(op);
    (whole && fields.all(|other| other == Some(tuple))).then_some(tuple)
}

/// Refines the types of originals by those that are declared for their copies. This runs before any copy is removed:
/// the type of a copy in a branch may contradict that of a later copy.
fn refine_from_copies(f: &mut Function, copies: &[(OpId, ValueId)]) -> PassResult {
    for &(op, original) in copies {
        let defining = f.defining_op(original).map(|def| f.parent_region(def));
        if defining == Some(f.parent_region(op)) && declares_more(f, op, original) {
            // If the types contradict each other, the copy stays.
            unless_no_match(f.set_type(original, f.type_id(f.result(op, 0))))?;
        }
    }
    Ok(())
}

/// Whether the type of an op's copy has information that the original's type lacks, and a user may rely on it.
fn declares_more(f: &Function, op: OpId, original: ValueId) -> bool {
    let copy = f.result(op, 0);
    // The declared types of outputs aren't checked, so they don't propagate.
    let is_output = || {
        let end = f.terminator(f.body());
        end.is_some_and(|end| f.iter_uses(copy).any(|one| one.op == end))
    };
    f.traits(op).is_identity()
        && f.use_count(copy) > 0
        && is_refined_by(f, f.type_id(original), f.type_id(copy))
        && !is_output()
}

/// Whether `declared` refines `own`, where both are types of one value. Generated names don't count.
fn is_refined_by(f: &Function, own: TypeId, declared: TypeId) -> bool {
    if own == declared {
        return false;
    }
    let (own, declared) = (f.ty(own), f.ty(declared));
    if declared.kind() == TypeKind::UNKNOWN || own.kind() == TypeKind::UNKNOWN {
        return declared.kind() != TypeKind::UNKNOWN;
    }
    match (own.dims(), declared.dims()) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(own), Some(declared)) => {
            own.zip(declared)
                .any(|(own, declared)| match declared.kind {
                    DimKind::CONST => own.kind != DimKind::CONST,
                    _ => !own.is_known() && is_named(f, declared),
                })
        }
    }
}

/// Whether a dim is a constant, or an expression of names that the model declares.
fn is_named(f: &Function, dim: Dim) -> bool {
    match (dim.as_symbol(), f.dim_expr(dim)) {
        (Some(name), _) => f.invented(name).is_none(),
        (_, Some(expr)) => is_named(f, expr.lhs) && is_named(f, expr.rhs),
        _ => dim.as_const().is_some(),
    }
}

/// Returns the ops that copy, in program order, with their originals. Chains of copies are resolved.
fn copies(f: &Function) -> Vec<(OpId, ValueId)> {
    let (mut copies, mut originals) = (Vec::new(), HashMap::new());
    for op in f.walk(f.body()) {
        if let Some(original) = original(f, op) {
            let original = originals.get(&original).copied().unwrap_or(original);
            originals.insert(f.result(op, 0), original);
            copies.push((op, original));
        }
    }
    copies
}

/// Returns the copies of constants, each with its constant.
fn of_constants(f: &Function, copies: &[(OpId, ValueId)]) -> HashMap<ValueId, ValueId> {
    let of_constants = copies.iter().copied();
    of_constants
        .filter(|&(_, original)| f.constant(original).is_some())
        .map(|(op, constant)| (f.result(op, 0), constant))
        .collect()
}
