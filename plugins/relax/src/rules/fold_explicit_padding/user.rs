//! Users that can pad instead of a `Pad`.

use passdock_plugin_api::prelude::*;

use super::padding::Padding;
use crate::shared::read::{defined_by, explicit_pads, int_or, operand, operator, size};

/// A user of a `Pad`, with its own amounts and the amounts of the `Pad` added.
pub(super) struct User {
    pub(super) op: OpId,
    pub(super) pads: Vec<i64>,
    /// Whether to set `count_include_pad`.
    pub(super) counts: bool,
}

impl User {
    pub(super) fn from_op(f: &Function, op: OpId, padding: &Padding) -> Result<User, EditError> {
        NoMatch::unless(!f.traits(op).is_ambiguous())?;
        let own = explicit_pads(f, op, padding.pads.len()).ok_or(NoMatch)?;
        let pads: Vec<i64> = own.iter().zip(&padding.pads).map(|(a, b)| a + b).collect();
        let pads_nothing = own.iter().all(|&pad| pad == 0);
        let mut user = User {
            op,
            pads,
            counts: false,
        };
        let fits = match f.name(op) {
            "onnx.Conv" => padding.fill.is_zero() && has_rank(f, op, 1, padding),
            "onnx.ConvInteger" => padding.is(f, operand(f, op, 2))? && has_rank(f, op, 1, padding),
            "onnx.QLinearConv" => padding.is(f, operand(f, op, 2))? && has_rank(f, op, 3, padding),
            "onnx.AveragePool" => {
                let counts = int_or(f, op, "count_include_pad", 0) == Some(1);
                user.counts = !counts;
                let may_count = counts
                    || pads_nothing
                        && int_or(f, op, "count_include_pad", 0) == Some(0)
                        && f.opset("").is_some_and(|version| version >= 7);
                padding.fill.is_zero() && may_count && fits_windows(f, op, padding.x, &user.pads)
            }
            "onnx.MaxPool" => {
                let is_least = padding.fill.is_lowest()
                    || padding.fill.is_zero() && pads_nothing && is_not_negative(f, padding.x)?;
                is_least && f.result_count(op) == 1 && fits_windows(f, op, padding.x, &user.pads)
            }
            _ => false,
        };
        NoMatch::unless(fits)?;
        Ok(user)
    }
}

/// Whether the weights have as many spatial axes as the padding.
fn has_rank(f: &Function, op: OpId, weights: usize, padding: &Padding) -> bool {
    let rank = f.operand(op, weights).and_then(|weights| f.rank(weights));
    rank == Some(padding.pads.len() / 2 + 2)
}

/// Whether a pool of `x` may have these amounts. Each window must contain an element of `x` and end within the padding.
/// Runtimes reject a pad as large as the window.
fn fits_windows(f: &Function, op: OpId, x: ValueId, pads: &[i64]) -> bool {
    let axes = pads.len() / 2;
    let ones = |name: &str| match f.attr(op, name) {
        None => Some(vec![1; axes]),
        Some(Attr::Ints(steps)) if steps.len() == axes => Some(steps.to_vec()),
        Some(_) => None,
    };
    let windows = f.ints(op, "kernel_shape");
    let steps = ones("strides").zip(ones("dilations"));
    let (Some(windows), Some((strides, dilations))) = (windows, steps) else {
        return false;
    };
    let rounds_down = int_or(f, op, "ceil_mode", 0) == Some(0);
    let fits = |axis: usize| {
        let (start, end) = (pads[axis], pads[axes + axis]);
        let (window, stride, dilation) = (windows[axis], strides[axis], dilations[axis]);
        let size = size(f, x, axis + 2);
        let rest = || {
            let span = (window - 1).checked_mul(dilation)?.checked_add(1)?;
            let padded = size?.checked_add(start)?.checked_add(end)?;
            padded.checked_sub(span)?.checked_rem(stride)
        };
        // The elements of a window are `dilation` apart, so an axis of at least that size contains one of them.
        start.max(end) < window
            && (dilation == 1 || size >= Some(dilation))
            && (rounds_down || stride == 1 || rest() == Some(0))
    };
    windows.len() == axes && (0..axes).all(fits) && has_elements(f, x)
}

/// Whether all spatial axes have a constant size above 0: runtimes reject pools whose windows have only padding.
fn has_elements(f: &Function, value: ValueId) -> bool {
    let mut spatial = f.dims(value).into_iter().flatten().skip(2);
    spatial.all(|dim| dim.as_const().is_some_and(|size| size > 0))
}

/// Whether all elements of a value are known to be at least 0.
fn is_not_negative(f: &Function, value: ValueId) -> Result<bool, EditError> {
    const NAMES: &str = "Relu Abs Exp HardSigmoid Sigmoid Softmax Softplus";
    let producer = value.option().and_then(|value| f.defining_op(value));
    let name = producer.and_then(|op| operator(f, op).strip_prefix("onnx."));
    if name.is_some_and(|name| NAMES.split(' ').any(|one| one == name)) {
        return Ok(true);
    }
    let Some(clip) = defined_by(f, value, "onnx.Clip") else {
        return Ok(false);
    };
    let bound = |at: usize, name: &str| match f.operand(clip, at).and_then(ValueId::option) {
        Some(bound) => f.constant_floats(bound),
        None => Ok(match f.attr(clip, name) {
            Some(Attr::Float(bound)) => Some(vec![f64::from(bound)]),
            _ => None,
        }),
    };
    let has_upper =
        f.operand(clip, 2).is_some_and(|bound| bound.is_some()) || f.attr(clip, "max").is_some();
    let is_positive =
        |bound: Option<Vec<f64>>| matches!(bound.as_deref(), Some([bound]) if *bound >= 0.0);
    // If the bounds cross, the upper one is the result.
    Ok(is_positive(bound(1, "min")?) && (!has_upper || is_positive(bound(2, "max")?)))
}
