//! Evaluation without a host.

use crate::eval::{Call, FoldedAll, refuse};
use crate::ops;

/// Evaluates an op without a host. Absent attributes have the operator's defaults.
///
/// # Errors
/// The reason why the op can't be evaluated.
pub fn evaluate<'a>(call: &Call<'a>) -> FoldedAll<'a> {
    let Some(operator) = ops::find(call.name, call.version) else {
        return refuse!("no definition of `{}` in opset {}", call.name, call.version);
    };
    operator.check(call)?;
    operator.check_operands(call.inputs.len())?;
    let Some(evaluate) = operator.evaluate else {
        return refuse!("definition of `{}` has no evaluation", call.name);
    };
    let results = evaluate.results(&Call {
        attr_defs: operator.attrs.unwrap_or_default(),
        ..*call
    })?;
    if results.len() < call.outputs {
        return refuse!(
            "evaluation computes {} of {} results",
            results.len(),
            call.outputs
        );
    }
    Ok(results)
}
