//! Evaluation without a host.

use crate::eval::{Call, FoldedAll, reject};
use crate::ops;

/// Evaluates an op without a host. Absent attributes have the operator's defaults.
///
/// # Errors
/// The reason why the op can't be evaluated.
pub fn evaluate<'a>(call: &Call<'a>) -> FoldedAll<'a> {
    let Some(operator) = ops::find(call.name, call.version) else {
        return reject!("no definition of `{}` in opset {}", call.name, call.version);
    };
    operator.check(call)?;
    operator.check_operands(call.inputs.len())?;
    let Some(evaluate) = operator.evaluate else {
        return reject!("definition of `{}` has no evaluation", call.name);
    };
    evaluate.all_results(&Call {
        attr_defs: operator.attrs.unwrap_or_default(),
        ..*call
    })
}
