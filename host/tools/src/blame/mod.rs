//! The passes that made or changed an op.
//!
//! The pipeline runs once, and the modules around each pass are kept. From the result back, an op is followed through
//! the pairs of [`diff`](mod@crate::diff). Where a pass made it, the ops that it was made of are followed: those with
//! its nodes' names. The rule that did it is found by a search among the pass's rewrites, as bisecting does it.

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
    /// Its function.
    pub function: String,
    /// The ONNX nodes that it comes from.
    pub names: Vec<String>,
    /// Whether it is in the pipeline's result, and not only in the model.
    pub is_there: bool,
    /// The changes, in the order of the passes.
    pub steps: Vec<BlameStep>,
}

/// A change of an op, or of one that it was made of, by a pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlameStep {
    /// The pass.
    pub pass: String,
    /// The pass that required it.
    pub requested_by: Option<String>,
    /// The kind of change.
    pub what: BlameAction,
    /// The rule that did it, if one did.
    pub rule: Option<String>,
    /// The ONNX nodes that the op comes from.
    pub names: Vec<String>,
    /// The lines of the ops before.
    pub before: Vec<String>,
    /// The lines of the ops after.
    pub after: Vec<String>,
    /// The producers of operands, for an op whose line is the same.
    pub makers: Vec<Makers>,
}

/// The producer of an operand before and after a pass: an op's line, a constant or an argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Makers {
    /// The producer before.
    pub before: String,
    /// The producer after.
    pub after: String,
}

/// A kind of change of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlameAction {
    /// The pass made the op.
    Made,
    /// The pass changed the op's operands or attributes.
    Changed,
    /// The pass removed the op.
    Removed,
    /// The pass made an existing op the producer of the output.
    Moved,
}

/// Runs a pipeline on a module, and returns the history of an op: one of the result or, if it is gone there,
/// of the module. The op is named by a result or a node, or by its number in the brief text of the result.
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
    let (result, runs) = rerun.run_kept(module.clone());
    let last = result?;
    let trail = Trail {
        rerun: &rerun,
        runs: &runs,
    };
    let (op_ref, module, is_there) = match find::op(&last, op).or_else(|| find::number(&last, op)) {
        Some(op_ref) => (op_ref, &last, true),
        None => match find::op(module, op) {
            Some(op_ref) => (op_ref, module, false),
            None => return Err(find::unknown(&last, module, op)),
        },
    };
    let steps = match is_there {
        true => trail.back(op_ref.clone(), op)?,
        false => trail.forward(op_ref.clone())?,
    };
    Ok(Blame {
        op: op_ref.line(module),
        names: op_ref.names(module),
        function: op_ref.function,
        is_there,
        steps,
    })
}
