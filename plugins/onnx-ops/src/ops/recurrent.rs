//! Recurrent layers.

use passdock_plugin_api::{Dim, attrs};

use super::operator::Operator;
use crate::infer::{Infer, Inferred, invalid};

pub(super) const OPERATORS: &[Operator] = &[
    GRU,
    GRU.since(14).attrs(attrs![
        activation_alpha: floats, activation_beta: floats, activations: strings, clip: float,
        direction: string = "forward", hidden_size: int, layout: int = 0,
        linear_before_reset: int = 0,
    ]),
    LSTM,
    LSTM.since(14).attrs(attrs![
        activation_alpha: floats, activation_beta: floats, activations: strings, clip: float,
        direction: string = "forward", hidden_size: int, input_forget: int = 0,
        layout: int = 0,
    ]),
    RNN,
    RNN.since(14).attrs(attrs![
        activation_alpha: floats, activation_beta: floats,
        activations: strings = ["Tanh", "Tanh"], clip: float, direction: string = "forward",
        hidden_size: int, layout: int = 0,
    ]),
];

const GRU: Operator = Operator::new("onnx.GRU", 7, (3, 6))
    .results((0, 2))
    .attrs(attrs![
        activation_alpha: floats, activation_beta: floats, activations: strings, clip: float,
        direction: string = "forward", hidden_size: int, linear_before_reset: int = 0,
    ])
    .infers(layer);

const LSTM: Operator = Operator::new("onnx.LSTM", 7, (3, 8))
    .results((0, 3))
    .attrs(attrs![
        activation_alpha: floats, activation_beta: floats, activations: strings, clip: float,
        direction: string = "forward", hidden_size: int, input_forget: int = 0,
    ])
    .infers(layer);

const RNN: Operator = Operator::new("onnx.RNN", 7, (3, 6))
    .results((0, 2))
    .attrs(attrs![
        activation_alpha: floats, activation_beta: floats,
        activations: strings = ["Tanh", "Tanh"], clip: float, direction: string = "forward",
        hidden_size: int,
    ])
    .infers(layer);

/// Infers all hidden states, the last hidden state, and an LSTM's last cell state.
fn layer(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let batch_first = op.flag("layout", false)?;
    let (steps, batch) = match op.dims(0).as_deref() {
        Some(&[batch, steps, _]) if batch_first => (steps, batch),
        Some(&[steps, batch, _]) => (steps, batch),
        Some(dims) => return invalid!("`X` has rank {}, expected 3", dims.len()),
        None => (Dim::UNKNOWN, Dim::UNKNOWN),
    };
    let ways = match op.enum_value("direction", &["forward", "reverse", "bidirectional"])? {
        "bidirectional" => Dim::constant(2),
        _ => Dim::constant(1),
    };
    let hidden = match (op.int("hidden_size")?, op.dims(2).as_deref()) {
        (Some(size), _) => Dim::constant(size),
        (None, Some(&[_, _, hidden])) => hidden,
        _ => Dim::UNKNOWN,
    };
    let (all, last) = if batch_first {
        (vec![batch, steps, ways, hidden], vec![batch, ways, hidden])
    } else {
        (vec![steps, ways, batch, hidden], vec![ways, batch, hidden])
    };
    op.set(0, dtype, Some(all))?;
    op.set(1, dtype, Some(last.clone()))?;
    op.set(2, dtype, Some(last))
}
