//! The passes that created or changed an op.
//!
//! The pipeline runs once, and the modules around each pass are kept. The op is followed backwards from the result
//! through the pairs of [`diff`](mod@crate::diff). At a pass that created it, its sources are followed: ops that shared
//! a result name or an ONNX node with it. The responsible rule is found by a search over the pass's rewrites, as in
//! `bisect`.

mod find;
mod paired;
mod trail;

use passdock_core::{PassError, Registry};
use passdock_driver::pipeline::{Request, Rerun};
use passdock_ir::Module;
use serde::{Deserialize, Serialize};

use self::trail::Trail;

/// The history of an op.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blame {
    /// The op's line in IR text.
    pub op: String,
    /// The function that contains the op.
    pub function: String,
    /// The ONNX nodes that it comes from.
    pub nodes: Vec<String>,
    /// Whether the op is in the pipeline's result; otherwise it is only in the model.
    pub present: bool,
    /// The changes, in the order in which the passes ran.
    pub steps: Vec<BlameStep>,
}

/// A change of an op, or of one of its sources, by a pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlameStep {
    /// The pass.
    pub pass: String,
    /// The pass that required it.
    pub requested_by: Option<String>,
    /// The kind of change.
    pub action: BlameAction,
    /// The rule that made the change, if one did.
    pub rule: Option<String>,
    /// The ONNX nodes that the op comes from.
    pub nodes: Vec<String>,
    /// The lines of the ops before.
    pub before: Vec<String>,
    /// The lines of the ops after.
    pub after: Vec<String>,
    /// The operands with new defining ops, for an op whose line didn't change.
    pub producers: Vec<OperandProducers>,
}

/// The producer of an operand before and after a pass: an op's line, a constant or a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperandProducers {
    /// The producer before.
    pub before: String,
    /// The producer after.
    pub after: String,
}

/// A kind of change of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlameAction {
    /// The pass created the op.
    Created,
    /// The pass changed the op's operands or attributes.
    Changed,
    /// The pass removed the op.
    Removed,
    /// The pass made an existing op the producer of the output.
    Moved,
}

/// Runs a pipeline on a module and returns the history of an op of the result, or of the module if the result doesn't
/// have it. The op is given by a result or node name, or by its number in the brief text of the result.
///
/// # Errors
/// If the pipeline can't be built or fails, or if there is no such op.
pub fn blame(
    registry: &Registry,
    request: &Request,
    module: &Module,
    op: &str,
) -> Result<Blame, PassError> {
    let rerun = Rerun::new(registry, request)?;
    let (result, runs) = rerun.run_recorded(module.clone());
    let last = result?;
    let trail = Trail {
        rerun: &rerun,
        runs: &runs,
    };
    let (op_ref, module, present) = match find::op(&last, op).or_else(|| find::number(&last, op)) {
        Some(op_ref) => (op_ref, &last, true),
        None => match find::op(module, op) {
            Some(op_ref) => (op_ref, module, false),
            None => return Err(find::unknown(&last, module, op)),
        },
    };
    let steps = match present {
        true => trail.back(op_ref.clone(), op)?,
        false => trail.forward(op_ref.clone())?,
    };
    Ok(Blame {
        op: op_ref.line(module),
        nodes: op_ref.nodes(module),
        function: op_ref.function,
        present,
        steps,
    })
}
