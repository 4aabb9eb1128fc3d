//! Which passes made or changed an op.
//!
//! The pipeline runs once, and the modules around each pass are kept. From the result back, an op is followed by the
//! pairs of [`diff`](mod@crate::diff); where a pass made it, so are the ops that it came from, which have its nodes'
//! names. Which rule it was is a search among the pass's rewrites, as bisecting does it.

mod around;
mod find;
mod output;
mod rule;
mod trail;

use passdock_core::{PassError, Registry};
use passdock_driver::pipeline::{Request, Rerun};
use passdock_ir::Module;
use serde::{Deserialize, Serialize};

use self::trail::Trail;

/// What passes did with an op.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blame {
    /// The op's line, as IR text has it.
    pub op: String,
    /// The function that it is in.
    pub function: String,
    /// The nodes that it comes from.
    pub names: Vec<String>,
    /// Whether it is in what the pipeline makes, and not only in the model.
    pub is_there: bool,
    /// What was done, in the order of the passes.
    pub steps: Vec<BlameStep>,
}

/// What a pass did with an op, or with one that it came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlameStep {
    /// The pass.
    pub pass: String,
    /// The pass that required it.
    pub requested_by: Option<String>,
    /// What it did.
    pub what: Deed,
    /// The rule by which it did, if it did by one.
    pub rule: Option<String>,
    /// The nodes that the op comes from.
    pub names: Vec<String>,
    /// The lines of the ops that were there instead.
    pub before: Vec<String>,
    /// The lines of what came of them.
    pub after: Vec<String>,
    /// Of an op whose line is the same: what makes its operands.
    pub makers: Vec<Makers>,
}

/// What made an operand, and what makes it after a pass: an op's line, a constant, an argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Makers {
    /// What made it.
    pub before: String,
    /// What makes it.
    pub after: String,
}

/// What a pass does with an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deed {
    /// It made the op.
    Made,
    /// It changed the op's operands or attributes.
    Changed,
    /// It removed the op.
    Removed,
    /// It had the output made by an op that was there before.
    Moved,
}

/// Runs a pipeline on a module, and tells what its passes did with an op: one of the result or, if it isn't there any
/// more, of the module. It goes by the name of a result or of a node, or by its number in the brief text of the result.
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
    let there = find::op(&last, op);
    let (place, module, is_there) = match there.or_else(|| find::number(&last, op)) {
        Some(place) => (place, &last, true),
        None => match find::op(module, op) {
            Some(place) => (place, module, false),
            None => return Err(find::unknown(&last, module, op)),
        },
    };
    let steps = match is_there {
        true => trail.back(place.clone(), op)?,
        false => trail.forward(place.clone())?,
    };
    Ok(Blame {
        op: place.line(module),
        names: place.names(module),
        function: place.function,
        is_there,
        steps,
    })
}
