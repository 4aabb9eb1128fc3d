//! Signals: Fourier transforms and windows.

use passdock_plugin_api::{OpTraits, attrs};

use super::Operator;
use crate::decompose;

const GROWS: OpTraits = OpTraits::GROWS;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.BlackmanWindow", 17, (1, 1))
        .attrs(attrs![output_datatype: int = 1, periodic: int = 1])
        .with(GROWS)
        .decomposes(decompose::make::blackman_window),
    Operator::new("onnx.DFT", 17, (1, 2))
        .attrs(attrs![axis: int = 1, inverse: int = 0, onesided: int = 0]),
    Operator::new("onnx.DFT", 20, (1, 3)).attrs(attrs![inverse: int = 0, onesided: int = 0]),
    Operator::new("onnx.HammingWindow", 17, (1, 1))
        .attrs(attrs![output_datatype: int = 1, periodic: int = 1])
        .with(GROWS)
        .decomposes(decompose::make::hamming_window),
    Operator::new("onnx.HannWindow", 17, (1, 1))
        .attrs(attrs![output_datatype: int = 1, periodic: int = 1])
        .with(GROWS)
        .decomposes(decompose::make::hann_window),
    Operator::new("onnx.MelWeightMatrix", 17, (5, 5))
        .attrs(attrs![output_datatype: int = 1])
        .with(GROWS),
    Operator::new("onnx.STFT", 17, (2, 4)).attrs(attrs![onesided: int = 1]),
];
