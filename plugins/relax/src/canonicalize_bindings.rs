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
//! Source: TVM `src/relax/transform/canonicalize_bindings.cc`.

use std::collections::HashMap;

use passdock_plugin_api::Status;
use passdock_plugin_api::prelude::*;

use crate::shared::accept;

pub(crate) fn canonicalize_bindings(f: &mut Function, cx: &PassContext) -> PassResult {
    let mut given = GivenOut::of(f);
    let copies = copied_constants(f);
    let needed = accept::needed_copies(f, cx, &copies);
    for op in f.walk(f.body()) {
        if let Some(original) = original(f, op)
            && !given.needs_copy(f, f.result(op, 0), original)
            && !needed.contains(&f.result(op, 0))
        {
            let copy = f.result(op, 0);
            match f.replace_op_with(op, &[original]) {
                Ok(()) => given.replace(copy, original),
                // The model declares something else of the copy.
                Err(error) if error.status == Status::REFUSED => {}
                Err(error) => return Err(error.into()),
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
    if f.name(tuple) == "tuple" {
        f.operand(tuple, index)
    } else {
        None
    }
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

/// Copies of constants, also by way of other copies, with the constant.
fn copied_constants(f: &Function) -> HashMap<ValueId, ValueId> {
    let mut copies = HashMap::new();
    for op in f.walk(f.body()) {
        if let Some(original) = original(f, op) {
            let original = copies.get(&original).copied().unwrap_or(original);
            if f.constant(original).is_some() {
                copies.insert(f.result(op, 0), original);
            }
        }
    }
    copies
}
