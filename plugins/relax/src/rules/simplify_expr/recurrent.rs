//! Initial states of recurrent ops: zeros are the default.

use passdock_plugin_api::prelude::*;

use crate::shared::read::like;

pub(super) static RULES: Rules = rules! {
    rule state_of_zeros { %y = onnx.LSTM|onnx.GRU|onnx.RNN(%xs...) } => without_zeros;
    rule states_of_zeros { %y, %h = onnx.LSTM|onnx.GRU|onnx.RNN(%xs...) } => without_zeros;
    rule states_and_cells_of_zeros { %y, %h, %c = onnx.LSTM(%xs...) } => without_zeros;
};

/// The maximum number of views to look through.
const VIEWS: usize = 8;

/// The maximum size of a constant to check, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Removes initial states that are zeros.
fn without_zeros(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    const STATES: [usize; 2] = [5, 6];
    let f = r.function();
    let mut operands = m.values("xs").to_vec();
    let mut found = false;
    for at in STATES {
        let state = operands.get(at).copied().and_then(ValueId::option);
        if let Some(state) = state
            && is_zeros(f, state)?
        {
            operands[at] = ValueId::NONE;
            found = true;
        }
    }
    let new_op = like(f, m.root(), &[])?;
    NoMatch::unless(found)?;
    while operands.last().is_some_and(|last| last.is_none()) {
        operands.pop();
    }
    let count = f.result_count(m.root());
    let new_op = new_op.operands(operands).untyped_results(count);
    r.op_results(new_op).map(Some)
}

/// Whether all elements of a float tensor are 0.0, none of them -0.0.
fn is_zeros(f: &Function, value: ValueId) -> Result<bool, EditError> {
    const VIEWING: [&str; 9] = [
        "onnx.Expand",
        "onnx.Reshape",
        "onnx.Unsqueeze",
        "onnx.Squeeze",
        "onnx.Transpose",
        "onnx.Identity",
        "onnx.Slice",
        "onnx.Split",
        "onnx.Gather",
    ];
    let is_zero = |bytes: &[u8]| bytes.len() <= MAX_BYTES && bytes.iter().all(|byte| *byte == 0);
    let mut value = value;
    for _ in 0..VIEWS {
        if let Some(bytes) = f.constant_data(value)? {
            return Ok(is_zero(bytes));
        }
        let Some(op) = f
            .defining_op(value)
            .filter(|op| !f.traits(*op).is_ambiguous())
        else {
            return Ok(false);
        };
        match f.name(op) {
            "onnx.ConstantOfShape" => {
                return Ok(match f.attr(op, "value") {
                    None | Some(Attr::Unset) => true,
                    Some(Attr::Tensor(id)) => is_zero(f.constant_bytes(id)?),
                    Some(_) => false,
                });
            }
            name if VIEWING.contains(&name) => match f.operand(op, 0) {
                Some(operand) => value = operand,
                None => return Ok(false),
            },
            _ => return Ok(false),
        }
    }
    Ok(false)
}
