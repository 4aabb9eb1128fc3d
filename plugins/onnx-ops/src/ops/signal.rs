//! Signals: Fourier transforms and windows.

use passdock_plugin_api::{DType, Dim, OpTraits, attrs};

use super::operator::{Operator, body};
use crate::eval::{Evaluation, create};
use crate::infer::{Infer, Inferred, invalid};

const GROWS: OpTraits = OpTraits::GROWS;

pub(super) const OPERATORS: &[Operator] = &[
    windows("onnx.BlackmanWindow", create::blackman_window).decomposes(body!("BlackmanWindow")),
    DFT,
    DFT.since(20)
        .operands((1, 3))
        .attrs(attrs![inverse: int = 0, onesided: int = 0]),
    windows("onnx.HammingWindow", create::hamming_window).decomposes(body!("HammingWindow")),
    windows("onnx.HannWindow", create::hann_window).decomposes(body!("HannWindow")),
    Operator::new("onnx.MelWeightMatrix", 17, (5, 5))
        .attrs(attrs![output_datatype: int = 1])
        .with(GROWS)
        .infers(mel_weights),
    Operator::new("onnx.STFT", 17, (2, 4))
        .attrs(attrs![onesided: int = 1])
        .infers(stft),
];

/// An operator that creates a window.
const fn windows(name: &'static str, evaluate: Evaluation) -> Operator {
    Operator::new(name, 17, (1, 1))
        .attrs(attrs![output_datatype: int = 1, periodic: int = 1])
        .with(GROWS)
        .infers(window)
        .folds(evaluate)
}

const DFT: Operator = Operator::new("onnx.DFT", 17, (1, 2))
    .attrs(attrs![axis: int = 1, inverse: int = 0, onesided: int = 0])
    .infers(dft);

/// Infers `[size]` if the size is a single element.
fn window(op: &Infer) -> Inferred {
    let dtype = op.dtype_attr("output_datatype")?.unwrap_or(DType::F32);
    let size = op.size(0);
    if size.as_const() == Some(0) {
        return invalid!("window size is 0");
    }
    let is_single = match op.dims(0).as_deref() {
        None | Some([]) => true,
        Some(&[count]) => count.as_const() == Some(1),
        Some(_) => false,
    };
    op.set(0, dtype, is_single.then(|| vec![size]))
}

/// Infers `[dft_length / 2 + 1, num_mel_bins]`.
fn mel_weights(op: &Infer) -> Inferred {
    let dtype = op.dtype_attr("output_datatype")?.unwrap_or(DType::F32);
    op.set(0, dtype, Some(vec![half(op, op.size(1)), op.size(0)]))
}

/// Infers the operand's dims, with `dft_length` along the axis, or half of it plus one if one-sided. The last dim is 2,
/// or 1 if the inverse of a one-sided transform is real.
fn dft(op: &Infer) -> Inferred {
    op.set_from(op.dtype(0)?, |mut dims| {
        let rank = dims.len();
        let Some(last) = rank.checked_sub(1).filter(|&last| last > 0) else {
            return invalid!("signal has rank {rank}, expected at least 2");
        };
        let (one_sided, inverse) = (op.flag("onesided", false)?, op.flag("inverse", false)?);
        let axis = match (op.version >= 20, op.has(2)) {
            (false, _) => Some(op.int_or("axis", 1)?),
            (true, false) => Some(-2),
            (true, true) => op.size(2).as_const(),
        };
        dims[last] = Dim::constant(if one_sided && inverse { 1 } else { 2 });
        let Some(axis) = axis else {
            // Along any axis, a signal that isn't cropped or padded keeps its size.
            if op.has(1) || one_sided {
                dims[..last].fill(Dim::UNKNOWN);
            }
            return Ok(dims);
        };
        let axis = op.axis(axis, dims.len())?;
        if axis == last {
            return invalid!("axis {axis} holds the real and imaginary parts");
        }
        let length = match (op.has(1), one_sided && inverse) {
            (true, _) => op.size(1),
            (false, true) => op.mul(op.shift(dims[axis], -1), Dim::constant(2)),
            (false, false) => dims[axis],
        };
        dims[axis] = match one_sided && !inverse {
            true => half(op, length),
            false => length,
        };
        Ok(dims)
    })
}

/// Infers `[batch, (signal_length - frame_length) / frame_step + 1, bins, 2]`, where `bins` is `frame_length`, or half
/// of it plus one if one-sided.
fn stft(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let (batch, signal) = match op.dims(0).as_deref() {
        Some(&[batch, signal, _] | &[batch, signal]) => (batch, signal),
        Some(dims) => return invalid!("signal has rank {}, expected 2 or 3", dims.len()),
        None => (Dim::UNKNOWN, Dim::UNKNOWN),
    };
    let frame = match (op.has(3), op.has(2)) {
        (true, true) => op.agree(op.size(3), op.dim(2, 0))?,
        (true, false) => op.size(3),
        (false, true) => op.dim(2, 0),
        (false, false) => signal,
    };
    let frames = match (frame.as_const(), op.size(1).as_const()) {
        _ if signal.is_same(frame) => Dim::constant(1),
        (Some(frame), Some(step)) => op.windows(signal, frame.saturating_neg(), step),
        _ => Dim::UNKNOWN,
    };
    let bins = match op.flag("onesided", true)? {
        true => half(op, frame),
        false => frame,
    };
    op.set(0, dtype, Some(vec![batch, frames, bins, Dim::constant(2)]))
}

/// Returns the number of distinct frequencies of a real signal.
fn half(op: &Infer, length: Dim) -> Dim {
    op.shift(op.div(length, 2), 1)
}
