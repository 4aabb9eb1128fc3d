//! `relax.transform.CanonicalizeBindings`: propagates copies, whose uses become uses of the original.
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
//! A field of a tuple that is at hand is a copy too, and so is a tuple of all the fields of another. It
//! does not take away a copy that a region gives out and that would have to come back on export: of a
//! parameter, of a constant, of a value from outside the region, or of one that the region gives out
//! already. Nor a copy of a constant that a user couldn't take: see FoldConstant.
//!
//! What the model declares of a copy and nobody knows of the original (a rank, a size, the name of one that has none)
//! is known of the original then, if that is an op's result in the same region. Else the copy stays, as its users would
//! know less. What is declared of an output of the function isn't handed on: nobody checks it.
//!
//! Source: TVM `src/relax/transform/canonicalize_bindings.cc`.

use std::collections::HashMap;

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

use crate::shared::accept;
use crate::shared::read::optional;

pub(crate) fn canonicalize_bindings(f: &mut Function, cx: &PassContext) -> PassResult {
    let mut given = RegionResults::new(f);
    let copies = copies(f);
    let of_constants = of_constants(f, &copies);
    let needed = accept::needed_copies(f, cx, &of_constants);
    hear_from_copies(f, &copies)?;
    for op in f.walk(f.body()) {
        if let Some(original) = original(f, op)
            && !given.needs_copy(f, f.result(op, 0), original)
            && !needed.contains(&f.result(op, 0))
            && !declares_more(f, op, original)
        {
            let copy = f.result(op, 0);
            // The model may declare something else of the copy.
            if optional(f.replace_op_with(op, &[original]))?.is_some() {
                given.replace(copy, original);
            }
        }
    }
    Ok(())
}

/// The value that an op copies, if that is all it does.
fn original(f: &Function, op: OpId) -> Option<ValueId> {
    if f.result_count(op) != 1 {
        return None;
    }
    if f.traits(op).is_identity() {
        return f.operand(op, 0);
    }
    if f.name(op) == "tuple" {
        return taken_apart(f, op);
    }
    if f.name(op) != "tuple_get" {
        return None;
    }
    let tuple = f.defining_op(f.operand(op, 0)?)?;
    let index = usize::try_from(f.int(op, "index")?).ok()?;
    f.operand(tuple, index).filter(|_| f.name(tuple) == "tuple")
}

/// The tuple of which a `tuple` has all the fields, in their order.
fn taken_apart(f: &Function, op: OpId) -> Option<ValueId> {
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

/// Lets originals have what is declared of their copies. All of them before the first copy goes, as one in a branch
/// may have been in the way of what one behind it says.
fn hear_from_copies(f: &mut Function, copies: &[(OpId, ValueId)]) -> PassResult {
    for &(op, original) in copies {
        let home = f.defining_op(original).map(|def| f.parent_region(def));
        if home == Some(f.parent_region(op)) && declares_more(f, op, original) {
            // Where they contradict each other, the copy stays.
            optional(f.set_type(original, f.type_id(f.result(op, 0))))?;
        }
    }
    Ok(())
}

/// Whether users of an op's copy know more of it than the original's type says.
fn declares_more(f: &Function, op: OpId, original: ValueId) -> bool {
    let copy = f.result(op, 0);
    // Of what a function gives out, what is declared isn't handed on: nobody checks it.
    let is_output = || {
        let end = f.terminator(f.body());
        end.is_some_and(|end| f.iter_uses(copy).any(|one| one.op == end))
    };
    f.traits(op).is_identity()
        && f.use_count(copy) > 0
        && says_more(f, f.type_id(original), f.type_id(copy))
        && !is_output()
}

/// Whether a type says what another one of the same value leaves open. A name that was made up says nothing.
fn says_more(f: &Function, own: TypeId, declared: TypeId) -> bool {
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
                    _ => own.kind == DimKind::UNKNOWN && is_named(f, declared),
                })
        }
    }
}

/// Whether a dim is a size, or made of names that the model has.
fn is_named(f: &Function, dim: Dim) -> bool {
    match (dim.as_symbol(), f.dim_expr(dim)) {
        (Some(name), _) => f.invented(name).is_none(),
        (_, Some(expr)) => is_named(f, expr.lhs) && is_named(f, expr.rhs),
        _ => dim.as_const().is_some(),
    }
}

/// The ops that copy, in their order, with what they copy, also by way of other copies.
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

/// Copies of constants, with the constant.
fn of_constants(f: &Function, copies: &[(OpId, ValueId)]) -> HashMap<ValueId, ValueId> {
    let of_constants = copies.iter().copied();
    of_constants
        .filter(|&(_, original)| f.constant(original).is_some())
        .map(|(op, constant)| (f.result(op, 0), constant))
        .collect()
}
