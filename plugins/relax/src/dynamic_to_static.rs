//! `relax.transform.DynamicToStatic`: replaces dynamic shape operands with constants where all sizes give the same
//! result.
//!
//! ```ir
//! fn @main(%x: f32[n,s,64]) -> (%y: f32[n,s,4,16]) opset("" = 17) {
//!   %zero = const i64[1] [0]
//!   %one = const i64[1] [1]
//!   %heads = const i64[2] [4, 16]
//!   %0 = onnx.Shape(%x) : i64[3]
//!   %1 = onnx.Gather(%0, %zero) : i64[1]
//!   %2 = onnx.Gather(%0, %one) : i64[1]
//!   %3 = onnx.Concat(%1, %2, %heads) {axis = 0} : i64[4]
//!   %4 = onnx.Reshape(%x, %3) : f32[n,s,4,16]
//!   return %4
//! }
//! →
//! fn @main(%x: f32[n,s,64]) -> (%y: f32[n,s,4,16]) opset("" = 17) {
//!   %zero = const i64[1] [0]
//!   %one = const i64[1] [1]
//!   %heads = const i64[2] [4, 16]
//!   %5 = const i64[4] [0, 0, 4, 16]
//!   %0 = onnx.Shape(%x) : i64[3]
//!   %1 = onnx.Gather(%0, %zero) : i64[1]
//!   %2 = onnx.Gather(%0, %one) : i64[1]
//!   %3 = onnx.Concat(%1, %2, %heads) {axis = 0} : i64[4]
//!   %4 = onnx.Reshape(%x, %5) : f32[n,s,4,16]
//!   return %4
//! }
//! ```
//!
//! Values whose elements are all known become constants at all uses. DeadCodeElimination removes the ops that computed
//! them. If some elements are unknown:
//!
//! - Reshape copies dims that stay in position (0). It infers one dim (-1) if all others are known and nonzero, so that
//!   only one size is possible. If the original shape infers another dim (-1), its size from the type replaces it.
//! - Expand uses 1 for dims that are already as long as requested.
//! - Slice uses the maximum integer where `ends` is the size of the axis.
//!
//! A value with unknown elements is replaced by an earlier value with equal elements: dims with the same symbol are
//! equal in all tensors. A value whose elements are dims of one tensor is gathered from its `Shape`. If all users of a
//! `Shape` gather contiguous ranges of it, each becomes a `Shape` with `start` and `end` (since opset 15).
//!
//! ```ir
//! fn @main(%x: f32[n,s,64], %y: f32[1,1]) -> (%z: f32[n,s]) opset("" = 17) {
//!   %zero = const i64[] 0
//!   %one = const i64[] 1
//!   %front = const i64[1] [0]
//!   %0 = onnx.Shape(%x) : i64[3]
//!   %1 = onnx.Gather(%0, %zero) : i64[]
//!   %2 = onnx.Gather(%0, %one) : i64[]
//!   %3 = onnx.Unsqueeze(%1, %front) : i64[1]
//!   %4 = onnx.Unsqueeze(%2, %front) : i64[1]
//!   %5 = onnx.Concat(%3, %4) {axis = 0} : i64[2]
//!   %6 = onnx.Expand(%y, %5) : f32[n,s]
//!   return %6
//! }
//! →
//! fn @main(%x: f32[n,s,64], %y: f32[1,1]) -> (%z: f32[n,s]) opset("" = 17) {
//!   %zero = const i64[] 0
//!   %one = const i64[] 1
//!   %front = const i64[1] [0]
//!   %0 = const i64[1] [0]
//!   %1 = const i64[1] [1]
//!   %2 = onnx.Shape(%x) : i64[3]
//!   %3 = onnx.Gather(%2, %zero) : i64[]
//!   %4 = onnx.Gather(%2, %one) : i64[]
//!   %5 = onnx.Gather(%2, %0) {axis = 0} : i64[1]
//!   %6 = onnx.Gather(%2, %1) {axis = 0} : i64[1]
//!   %7 = onnx.Shape(%x) {end = 2} : i64[2]
//!   %8 = onnx.Expand(%y, %7) : f32[n,s]
//!   return %8
//! }
//! ```
//!
//! The result of an op never changes, for any sizes of the unknown dims, including 0. A Reshape to `[n, m, 64]` stays
//! if neither `n` nor `m` is copied, since nothing can be inferred if `n` is 0.
//!
//! Source: TVM `src/relay/transforms/dynamic_to_static.cc`.

mod same_sizes;

use std::collections::HashMap;

use passdock_plugin_api::ExprKind;
use passdock_plugin_api::prelude::*;

use crate::fold_constant::is_shape_data;
use crate::shared::accept;
use crate::shared::operators::is_operator;
use crate::shared::read::{axis_in, int_or};
use same_sizes::same_sizes;

pub(crate) fn dynamic_to_static(f: &mut Function, cx: &PassContext) -> PassResult {
    let operators = [
        ("onnx.Reshape", 1, static_reshape as Rule),
        ("onnx.Expand", 1, static_expand),
        ("onnx.Slice", 2, static_ends),
    ];
    let operators: Vec<(SymbolId, usize, Rule)> = operators
        .into_iter()
        .filter(|(name, ..)| is_operator(cx, name))
        .filter_map(|(name, slot, rule)| Some((f.find_symbol(name)?, slot, rule)))
        .collect();
    // Cached, because an op may use many constants.
    let mut rejected: HashMap<OpId, bool> = HashMap::new();
    for op in f.ops() {
        let traits = f.traits(op);
        if computes_shape(f, op) && traits.is_defined() && traits.is_pure() {
            // InferType reports invalid ops.
            if cx.infer(f, op).is_ok() {
                make_known_constant(f, cx, op, &mut rejected)?;
            }
            continue;
        }
        let name = f.symbol(op);
        let Some(&(_, slot, rule)) = operators.iter().find(|(known, ..)| *known == name) else {
            continue;
        };
        let Some(operand) = f.operand(op, slot).filter(|&v| f.constant(v).is_none()) else {
            continue;
        };
        if let Some(sizes) = rule(f, op, operand)
            && !is_rejected(f, cx, op)
            && f.shape(operand) == Some(vec![sizes.len() as i64])
            && let Some(constant) = add_constant(f, f.type_id(operand), &sizes)?
        {
            f.set_operand(op, slot, constant)?;
        }
    }
    if is_operator(cx, "onnx.Shape") && is_operator(cx, "onnx.Gather") {
        same_sizes(f)?;
    }
    Ok(())
}

/// A rule of an operator: returns the constant operand that can replace a dynamic one without a change of the result.
type Rule = fn(&Function, OpId, ValueId) -> Option<Vec<i64>>;

/// Whether an op computes shape data: small integers, or values derived from them.
fn computes_shape(f: &Function, op: OpId) -> bool {
    !f.results(op).is_empty() && is_shape_data(f, op)
}

/// Whether type inference rejects an op with its operands as they are known. As constants, these operands would make
/// the model invalid instead of failing at run time.
fn is_rejected(f: &mut Function, cx: &PassContext, op: OpId) -> bool {
    let operands: Vec<ValueId> = f.operands(op).collect();
    accept::rejection_reason(f, cx, op, &operands).is_some()
}

/// Replaces uses of results whose elements are all known with constants.
fn make_known_constant(
    f: &mut Function,
    cx: &PassContext,
    op: OpId,
    rejected: &mut HashMap<OpId, bool>,
) -> PassResult {
    for result in f.results(op).to_vec() {
        if f.use_count(result) == 0 {
            continue;
        }
        let dims = f.known_dims(result);
        let known = dims.and_then(|dims| dims.into_iter().map(Dim::as_const).collect());
        let Some(known): Option<Vec<i64>> = known else {
            continue;
        };
        let users: Vec<OpId> = f.users(result).collect();
        if f.type_of(result).element_count() == Some(known.len() as u64)
            && !users.into_iter().any(|user| {
                *rejected
                    .entry(user)
                    .or_insert_with(|| is_rejected(f, cx, user))
            })
            && let Some(constant) = add_constant(f, f.type_id(result), &known)?
        {
            f.replace_uses(result, constant)?;
        }
    }
    Ok(())
}

/// Adds a constant of integers or bools. Returns `None` if an element doesn't fit the type.
fn add_constant(f: &mut Function, ty: TypeId, ints: &[i64]) -> Result<Option<ValueId>, EditError> {
    let dtype = f.ty(ty).dtype();
    let mut bytes = Vec::new();
    for &int in ints {
        match (dtype, i32::try_from(int)) {
            (Some(DType::I64), _) => bytes.extend(int.to_le_bytes()),
            (Some(DType::I32), Ok(int)) => bytes.extend(int.to_le_bytes()),
            (Some(DType::BOOL), _) => bytes.push(u8::from(int != 0)),
            _ => return Ok(None),
        }
    }
    f.add_constant(&ConstantSpec::new(ty, &bytes)).map(Some)
}

/// Returns the shape operand of a Reshape: known sizes, 0 for dims that are copied, -1 for a dim that is inferred.
///
/// A single known dim of the result's type isn't enough: if the requested size is 0, the size of the input's dim at
/// that index replaces it.
fn static_reshape(f: &Function, op: OpId, shape: ValueId) -> Option<Vec<i64>> {
    let known: Option<Vec<i64>> = f.shape(f.result(op, 0));
    if let Some(known) = known.filter(|known| known.iter().all(|&size| size > 0)) {
        return Some(known);
    }
    let expected = f.known_dims(shape)?;
    let dims = |value: ValueId| f.dims(value).into_iter().flatten().collect::<Vec<Dim>>();
    let (old, new) = (dims(f.operand(op, 0)?), dims(f.result(op, 0)));
    let copies_at_zero = int_or(f, op, "allowzero", 0)? == 0;
    let mut open = None;
    let mut sizes = Vec::new();
    for (at, &dim) in expected.iter().enumerate() {
        let stays = copies_at_zero && old.get(at).is_some_and(|old| old.is_same(dim));
        sizes.push(match dim.as_const() {
            Some(size) => size,
            None if stays => 0,
            None if open.is_none() => {
                open = Some(at);
                -1
            }
            None => return None,
        });
    }
    let Some(open) = open else {
        return Some(sizes);
    };
    // Replaces a -1 of the original shape with the known size. If the open size is 0, it is now taken from the copied
    // dim. If no dim is copied, ONNX doesn't define a -1 next to a 0.
    let is_zero = |copied: &Dim| is_zero_with(f, *copied, expected[open]);
    if copies_at_zero && old.get(open).is_none_or(is_zero) {
        let known = |at: usize| new.get(at).and_then(|dim| dim.as_const());
        for at in (0..sizes.len()).filter(|&at| at != open && expected[at] == Dim::constant(-1)) {
            sizes[at] = known(at).unwrap_or(-1);
        }
    }
    let is_positive = |at: usize| match sizes[at] {
        0 if copies_at_zero => old.get(at).and_then(|dim| dim.as_const()) > Some(0),
        size => size > 0,
    };
    // Otherwise the size can't be inferred, or more than one is possible.
    let mut others = (0..sizes.len()).filter(|&at| at != open);
    others.all(is_positive).then_some(sizes)
}

/// Whether a size is 0 whenever `other` is 0: all factors of `other` are factors of the size.
fn is_zero_with(f: &Function, size: Dim, other: Dim) -> bool {
    let own = factors(f, size);
    let is_own = |factor: &Dim| match factor.as_const() {
        Some(number) => number != 0,
        None => own.iter().any(|own| own.is_same(*factor)),
    };
    factors(f, other).iter().all(is_own)
}

/// Returns the factors of a size.
fn factors(f: &Function, size: Dim) -> Vec<Dim> {
    let (mut open, mut factors) = (vec![size], Vec::new());
    while let Some(dim) = open.pop() {
        match f.dim_expr(dim).filter(|sides| sides.kind == ExprKind::MUL) {
            Some(sides) => open.extend([sides.lhs, sides.rhs]),
            None => factors.push(dim),
        }
    }
    factors
}

/// Returns the shape operand of an Expand: known sizes, 1 for dims that already have the requested size.
fn static_expand(f: &Function, op: OpId, shape: ValueId) -> Option<Vec<i64>> {
    let expected = f.known_dims(shape)?;
    let old: Vec<Dim> = f.dims(f.operand(op, 0)?)?.collect();
    let new: Vec<Dim> = f.dims(f.result(op, 0))?.collect();
    // Both are aligned at the last dim.
    let from_back = |dims: &[Dim], at: usize| {
        let from_end = expected.len() - at;
        let at = dims.len().checked_sub(from_end)?;
        Some(dims[at])
    };
    let size = |(at, &dim): (usize, &Dim)| match dim.as_const() {
        Some(size) => Some(size),
        None if from_back(&old, at).is_some_and(|old| old.is_same(dim)) => Some(1),
        None => from_back(&new, at)?.as_const(),
    };
    expected.iter().enumerate().map(size).collect()
}

/// Returns the `ends` operand of a Slice: known indices, the maximum integer for the end of an axis.
fn static_ends(f: &Function, op: OpId, ends: ValueId) -> Option<Vec<i64>> {
    let dims: Vec<Dim> = f.dims(f.operand(op, 0)?)?.collect();
    let ints = |slot| match f.operand(op, slot) {
        Some(value) => f.constant_ints(value).ok().flatten().map(Some),
        None => Some(None),
    };
    let (axes, steps) = (ints(3)?, ints(4)?);
    let largest = match f.dtype(ends) {
        Some(DType::I32) => i64::from(i32::MAX),
        _ => i64::MAX,
    };
    let end = |(at, dim): (usize, Dim)| {
        if let Some(end) = dim.as_const() {
            return Some(end);
        }
        let axis = match &axes {
            Some(axes) => *axes.get(at)?,
            None => at as i64,
        };
        let forward = match &steps {
            Some(steps) => *steps.get(at)? > 0,
            None => true,
        };
        let size = dims[axis_in(axis, dims.len())?];
        (forward && size.is_same(dim)).then_some(largest)
    };
    let known = f.known_dims(ends)?;
    known.into_iter().enumerate().map(end).collect()
}
