//! Normalizations, softmaxes and Dropout.

use passdock_plugin_api::{DType, Dim, OpTraits, attrs};

use super::operator::{Operator, body};
use super::shape::{along_last, same_type};
use crate::eval::{choose, normalize, softmax};
use crate::infer::{Infer, Inferred, invalid};

const fn same(name: &'static str, since: i64, operands: (u32, u32)) -> Operator {
    Operator::new(name, since, operands).infers(same_type)
}

/// An operator that reduces and scales. Elementwise ops after it can be fused into it.
const fn scaled(name: &'static str, since: i64, operands: (u32, u32)) -> Operator {
    same(name, since, operands).with(OpTraits::OUT_FUSABLE)
}

pub(super) const OPERATORS: &[Operator] = &[
    BATCH_NORMALIZATION.attrs(attrs![
        epsilon: float = 1e-5, momentum: float = 0.9, spatial: int = 1,
    ]),
    BATCH_NORMALIZATION
        .since(9)
        .attrs(attrs![epsilon: float = 1e-5, momentum: float = 0.9]),
    BATCH_NORMALIZATION.since(14).results((1, 3)).attrs(attrs![
        epsilon: float = 1e-5, momentum: float = 0.9, training_mode: int = 0,
    ]),
    same("onnx.Dropout", 7, (1, 1))
        .results((1, 2))
        .attrs(attrs![ratio: float = 0.5])
        .with(OpTraits::IDENTITY)
        .infers(dropout),
    // Since opset 12, an operand may enable training, which makes the result random.
    same("onnx.Dropout", 12, (1, 3))
        .results((1, 2))
        .attrs(attrs![seed: int])
        .only(OpTraits::RANDOM)
        .infers(dropout),
    GROUP_NORMALIZATION,
    GROUP_NORMALIZATION.since(21).attrs(attrs![
        epsilon: float = 1e-5, num_groups: required int, stash_type: int = 1,
    ]),
    HARDMAX,
    HARDMAX.since(13).attrs(attrs![axis: int = -1]),
    scaled("onnx.InstanceNormalization", 1, (3, 3)).any_attrs(),
    scaled("onnx.InstanceNormalization", 6, (3, 3)).attrs(attrs![epsilon: float = 1e-5]),
    scaled("onnx.LayerNormalization", 17, (2, 3))
        .results((1, 3))
        .attrs(attrs![axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1])
        .infers(layer_normalization)
        .folds_all(normalize::layer_normalization)
        .decomposes(body!("LayerNormalization")),
    LOG_SOFTMAX,
    LOG_SOFTMAX.since(13).attrs(attrs![axis: int = -1]),
    scaled("onnx.LpNormalization", 1, (1, 1))
        .attrs(attrs![axis: int = -1, p: int = 2])
        .infers(along_last),
    same("onnx.LRN", 1, (1, 1)).attrs(attrs![
        alpha: float = 0.0001, beta: float = 0.75, bias: float = 1.0, size: required int,
    ]),
    scaled("onnx.MeanVarianceNormalization", 9, (1, 1))
        .attrs(attrs![axes: ints = [0, 2, 3]])
        .infers(mean_variance)
        .decomposes(body!("MeanVarianceNormalization")),
    scaled("onnx.RMSNormalization", 23, (2, 2))
        .attrs(attrs![axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1])
        .infers(rms_normalization)
        .decomposes(body!("RMSNormalization")),
    SOFTMAX,
    SOFTMAX.since(13).attrs(attrs![axis: int = -1]),
];

const BATCH_NORMALIZATION: Operator = scaled("onnx.BatchNormalization", 7, (5, 5))
    .results((1, 5))
    .infers(batch_normalization)
    .folds_all(normalize::batch_normalization);

const GROUP_NORMALIZATION: Operator = scaled("onnx.GroupNormalization", 18, (3, 3))
    .attrs(attrs![epsilon: float = 1e-5, num_groups: required int])
    .infers(group_normalization)
    .decomposes(body!("GroupNormalization"));

const HARDMAX: Operator = same("onnx.Hardmax", 1, (1, 1))
    .attrs(attrs![axis: int = 1])
    .infers(along_last)
    .with(OpTraits::IDEMPOTENT)
    .folds(choose::hardmax);

const LOG_SOFTMAX: Operator = scaled("onnx.LogSoftmax", 1, (1, 1))
    .attrs(attrs![axis: int = 1])
    .infers(along_last)
    .folds(softmax::log_softmax)
    .decomposes(body!("LogSoftmax"));

const SOFTMAX: Operator = scaled("onnx.Softmax", 1, (1, 1))
    .attrs(attrs![axis: int = 1])
    .infers(along_last)
    .folds(softmax::softmax)
    .decomposes(body!("Softmax"));

/// Infers the operand's dims and the element type of the scale.
fn rms_normalization(op: &Infer) -> Inferred {
    op.set_from(op.dtype(1)?, |dims| {
        op.axis(op.int_or("axis", -1)?, dims.len())?;
        Ok(dims)
    })
}

/// Infers the operand's type, and checks the axes in the attribute.
fn mean_variance(op: &Infer) -> Inferred {
    same_type(op)?;
    if let (Some(dims), Some(axes)) = (op.dims(0), op.ints("axes")?) {
        op.axes(&axes, dims.len())?;
    }
    Ok(())
}

/// Infers the operand's type. The channels, its second dim, must be a multiple of the groups.
fn group_normalization(op: &Infer) -> Inferred {
    same_type(op)?;
    if let (Some(&[_, channels, ..]), Some(groups)) = (op.dims(0).as_deref(), op.int("num_groups")?)
    {
        op.parts(channels, groups)?;
    }
    Ok(())
}

/// Infers the operand's type, and a mask of its shape: bools, or the operand's type before opset 10.
fn dropout(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let mask = if op.version >= 10 { DType::BOOL } else { dtype };
    op.set(1, mask, op.dims(0))?;
    op.set(0, dtype, op.dims(0))
}

/// Infers the operand's type. Mean and inverse deviation have dims of 1 for the normalized axes.
fn layer_normalization(op: &Infer) -> Inferred {
    op.set(0, op.dtype(0)?, op.dims(0))?;
    let stash = op.dtype_attr("stash_type")?.unwrap_or(DType::F32);
    let Some(mut dims) = op.dims(0) else {
        return Ok(());
    };
    let at = op.axis(op.int_or("axis", -1)?, dims.len())?;
    dims[at..].fill(Dim::constant(1));
    op.set(1, stash, Some(dims.clone()))?;
    op.set(2, stash, Some(dims))
}

/// Infers the operand's type. In training mode, further results are mean and variance `[C]` of their operands' types,
/// before opset 14 twice.
fn batch_normalization(op: &Infer) -> Inferred {
    let dims = op.dims(0);
    let channels = match dims.as_deref() {
        Some([_, channels, ..]) => *channels,
        // A batch of scalars has one channel.
        Some([_]) => Dim::constant(1),
        Some([]) => return invalid!("`X` has rank 0, expected at least 1"),
        None => Dim::UNKNOWN,
    };
    let channels = (1..5).try_fold(channels, |channels, index| {
        let names = ["scale", "B", "input_mean", "input_var"];
        let [length] = op.dims_of(index, names[index - 1])?;
        op.agree(channels, length)
    })?;
    for index in 1..5 {
        let operand = if index % 2 == 1 { 3 } else { 4 };
        if let Ok(dtype) = op.dtype(operand) {
            op.set(index, dtype, Some(vec![channels]))?;
        }
    }
    op.set(0, op.dtype(0)?, dims)
}
