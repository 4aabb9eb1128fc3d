//! `relax.transform.CanonicalizeBindings`: lets the uses of a copy use the original.
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
//! A field of a tuple that is at hand is a copy too. It does not take away a copy that a region
//! gives out and that would have to come back on export: of a parameter, of a constant, of a value
//! from outside the region, or of one that the region gives out already.
//!
//! Source: TVM `src/relax/transform/canonicalize_bindings.cc`.

use passdock_plugin_api::prelude::*;

use crate::given_out::GivenOut;

pub(crate) fn canonicalize_bindings(f: &mut Function, _cx: &PassContext) -> PassResult {
    let mut given = GivenOut::of(f);
    for op in f.walk(f.body()) {
        if let Some(original) = original(f, op)
            && !given.needs_copy(f, op, original)
        {
            given.replace(f.result(op, 0), original);
            f.replace_op_with(op, &[original])?;
        }
    }
    Ok(())
}

/// What an op copies, if that is all it does.
fn original(f: &Function, op: OpId) -> Option<ValueId> {
    if f.result_count(op) != 1 {
        return None;
    }
    if f.traits(op).is_identity() {
        return f.operand(op, 0);
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
