//! `relax.transform.SimplifyInference`: removes ops that have an effect only in training.
//!
//! ```ir
//! fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 13) {
//!   %ratio = const f32[] 0.5
//!   %0 = onnx.Relu(%x) : f32[2,3]
//!   %1, %mask = onnx.Dropout(%0, %ratio) : f32[2,3], bool[2,3]
//!   %2 = onnx.Neg(%1) : f32[2,3]
//!   return %2
//! }
//! →
//! fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 13) {
//!   %ratio = const f32[] 0.5
//!   %0 = onnx.Relu(%x) : f32[2,3]
//!   %1 = onnx.Neg(%0) : f32[2,3]
//!   return %1
//! }
//! ```
//!
//! An `onnx.Dropout` is replaced by its operand if it doesn't run in training mode, or if its ratio is constant 0. It
//! doesn't run in training mode if `training_mode` is absent or constant false, or if the version doesn't have it. If
//! its mask is used, the op stays and only computes the mask.
//!
//! With the option `batch_norm`, an `onnx.BatchNormalization` in inference mode becomes
//! `x * (scale / sqrt(var + epsilon)) + (bias - mean * …)`. FoldConstant reduces that to two ops if scale, bias, mean
//! and variance are constant. By default the op stays, because two ops are no improvement over one.
//!
//! Ops that may run in training mode stay. So does a `BatchNormalization` of unknown rank, or one that isn't `spatial`.
//! Its operands must all be `f32` or all `f64`, since smaller types would be rounded more often.
//!
//! Source: TVM `src/relay/transforms/simplify_inference.cc`.

use passdock_plugin_api::element;
use passdock_plugin_api::prelude::*;

use crate::channels::affine::is_inference;
use crate::shared::operators::is_operator;
use crate::shared::read::{add_tensor, float_or, operand};

options! {
    /// Options of SimplifyInference.
    pub struct SimplifyInference {
        /// Whether to decompose BatchNormalization as well.
        batch_norm: bool = false,
    }
}

pub(crate) fn simplify_inference(f: &mut Function, cx: &PassContext) -> PassResult {
    let options = cx.options::<SimplifyInference>()?;
    let all = |names: &[&str]| names.iter().all(|name| is_operator(cx, name));
    if all(&["onnx.Dropout", "onnx.Identity"]) {
        let mut given = RegionResults::new(f);
        for op in f.ops_named("onnx.Dropout") {
            if !is_training(f, op)? {
                skip_dropout(f, op, &mut given)?;
            }
        }
    }
    if options.batch_norm && all(&BATCH_NORM) {
        for op in f.ops_named("onnx.BatchNormalization") {
            if let Ok(norm) = BatchNorm::from_op(f, op) {
                decompose_norm(f, cx, op, &norm)?;
            }
        }
    }
    Ok(())
}

/// The operators that the decomposition of a BatchNormalization reads and creates.
const BATCH_NORM: [&str; 7] = [
    "onnx.BatchNormalization",
    "onnx.Add",
    "onnx.Div",
    "onnx.Mul",
    "onnx.Reshape",
    "onnx.Sqrt",
    "onnx.Sub",
];

/// Whether a Dropout may drop elements.
fn is_training(f: &Function, op: OpId) -> Result<bool, EditError> {
    if f.opset("").is_none_or(|version| version < 12) {
        // From version 7 to 11, the runtime decides about training; before, an attribute does.
        return Ok(f.opset("").is_none_or(|version| version < 7));
    }
    let is_training = match f.operand(op, 2) {
        None => false,
        Some(is_training) => f.constant_data(is_training)? != Some(&[0][..]),
    };
    let ratio = f.constant_data(operand(f, op, 1))?;
    // In all float types, 0.0 is all zero bytes.
    let drops_nothing = ratio.is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0));
    Ok(is_training && !drops_nothing)
}

/// Replaces the first result of a Dropout with its operand.
fn skip_dropout(f: &mut Function, op: OpId, given: &mut RegionResults) -> PassResult {
    let results = f.results(op).to_vec();
    let (Some(operand), Some((&result, masks))) = (f.operand(op, 0), results.split_first()) else {
        return Ok(());
    };
    let has_mask = masks.iter().any(|&mask| f.use_count(mask) > 0);
    if has_mask && f.use_count(result) == 0 {
        return Ok(());
    }
    let replacement = if given.needs_copy(f, result, operand) {
        // The region must yield a value that it defines.
        let copy = OpBuilder::new("onnx.Identity").operand(operand);
        let copy = copy.result(f.type_id(result)).loc(f.loc(op));
        let copy = f.create_op(copy, Position::before(op))?;
        f.result(copy, 0)
    } else {
        operand
    };
    given.replace(result, replacement);
    if has_mask {
        f.replace_uses(result, replacement)?;
        return Ok(());
    }
    let mut values = vec![ValueId::NONE; results.len()];
    values[0] = replacement;
    f.replace_op_with(op, &values)?;
    Ok(())
}

/// A BatchNormalization in inference mode.
struct BatchNorm {
    operands: [ValueId; 5],
    dtype: DType,
    epsilon: f32,
    rank: usize,
}

impl BatchNorm {
    fn from_op(f: &Function, op: OpId) -> Result<BatchNorm, NoMatch> {
        NoMatch::unless(is_inference(f, op) && f.opset("") >= Some(7))?;
        let operands = [0, 1, 2, 3, 4].map(|at| operand(f, op, at));
        let dtype = f.dtype(operands[0]).ok_or(NoMatch)?;
        NoMatch::unless(matches!(dtype, DType::F32 | DType::F64))?;
        NoMatch::unless(operands.iter().all(|&value| f.dtype(value) == Some(dtype)))?;
        Ok(BatchNorm {
            operands,
            dtype,
            epsilon: float_or(f, op, "epsilon", 1e-5).ok_or(NoMatch)?,
            rank: f.rank(operands[0]).ok_or(NoMatch)?,
        })
    }
}

/// Replaces a BatchNormalization with a multiplication and an addition.
fn decompose_norm(f: &mut Function, cx: &PassContext, op: OpId, norm: &BatchNorm) -> PassResult {
    let [x, scale, bias, mean, var] = norm.operands;
    let dtype = norm.dtype;
    let mut bytes = Vec::new();
    element::push(dtype, norm.epsilon.into(), &mut bytes);
    let epsilon = add_tensor(f, dtype, &[], &bytes)?;
    // Lists per channel, which is axis 1, are broadcast over all other axes.
    let mut shape = vec![1; norm.rank.max(2) - 1];
    shape[0] = -1;
    let shape = f.add_ints(&shape)?;
    let (at, loc) = (Position::before(op), f.loc(op));
    let mut make = |name: &str, operands: &[ValueId]| {
        let created = OpBuilder::new(name).operands(operands.iter().copied());
        cx.create_value(f, created.loc(loc), at)
    };
    let safe = make("onnx.Add", &[var, epsilon])?;
    let deviation = make("onnx.Sqrt", &[safe])?;
    let mut factor = make("onnx.Div", &[scale, deviation])?;
    let moved = make("onnx.Mul", &[mean, factor])?;
    let mut offset = make("onnx.Sub", &[bias, moved])?;
    if norm.rank > 2 {
        factor = make("onnx.Reshape", &[factor, shape])?;
        offset = make("onnx.Reshape", &[offset, shape])?;
    }
    let scaled = make("onnx.Mul", &[x, factor])?;
    f.replace_op(op, OpBuilder::new("onnx.Add").operands([scaled, offset]))?;
    Ok(f.erase_dead(shape)?)
}
